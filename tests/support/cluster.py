"""PostgreSQL clusters of a test's own, for what no shared server can bear."""

import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from tests.support.cases import clean_environment
from tests.support.dev import kill_processes_in, wait_for

BINARIES = next(path for path in sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
                if (path / "initdb").exists())


def as_engine(*command):
    """PostgreSQL refuses to run as root: then the command runs as the account postgres."""
    account = ("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups")
    return [*(account if os.getuid() == 0 else ()), *map(str, command)]


class Clusters:
    """A folder of clusters that listen on Unix sockets there, each under a port of its own."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-clusters-"))
        if os.getuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        os.chmod(self.folder, 0o755)

    def run(self, program, *arguments):
        """Runs one of PostgreSQL's programs to its end and gives what it printed."""
        done = subprocess.run(as_engine(BINARIES / program, *arguments), cwd=self.folder,
                              capture_output=True, text=True, env=clean_environment())
        if done.returncode != 0:
            raise AssertionError(f"{program} {arguments} failed: {done.stderr}")
        return done.stdout

    def make(self, name):
        self.run("initdb", "-D", name, "-U", "postgres", "-E", "UTF8", "--no-locale",
                 "--auth=trust", "-N")

    def start(self, name, port, **settings):
        """Starts a cluster and returns when it answers."""
        all_settings = {"listen_addresses": "", "unix_socket_directories": self.folder,
                        "port": port, "fsync": "off", **settings}
        options = [word for key, value in all_settings.items() for word in ("-c", f"{key}={value}")]
        with open(self.folder / f"{name}.log", "ab") as log:
            subprocess.Popen(as_engine(BINARIES / "postgres", "-D", name, *options),
                             cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                             env=clean_environment(), start_new_session=True)
        wait_for(f"an answer of {name}", lambda: subprocess.run(
            [BINARIES / "pg_isready", "-q", "-h", self.folder, "-p", str(port)],
            env=clean_environment()).returncode == 0)

    def kill(self, name):
        """Ends a cluster as a power cut would."""
        wait_for(f"the end of {name}", lambda: kill_processes_in(self.folder / name))
        (self.folder / name / "postmaster.pid").unlink(missing_ok=True)

    def sql(self, port, statement, user="tenon", database="tenon"):
        """What a statement answers, as text; raises AssertionError with the server's complaint."""
        return self.run("psql", "-h", self.folder, "-p", port, "-U", user, "-d", database, "-X",
                        "-At", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-c",
                        statement).strip()

    def make_database(self, port):
        self.sql(port, "CREATE ROLE tenon LOGIN", "postgres", "postgres")
        self.sql(port, "CREATE DATABASE tenon OWNER tenon", "postgres", "postgres")

    def make_server(self, name, port, **settings):
        """A running cluster with the role and the database that Tenon wants."""
        self.make(name)
        self.start(name, port, **settings)
        self.make_database(port)

    def conninfo(self, *ports):
        hosts = ",".join([str(self.folder)] * len(ports))
        return f"host={hosts} port={','.join(map(str, ports))} user=tenon dbname=tenon"

    def remove(self):
        for path in self.folder.iterdir():
            if path.is_dir():
                self.kill(path.name)
        shutil.rmtree(self.folder, ignore_errors=True)
