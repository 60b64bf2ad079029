"""Machines and data folders that `tenon dev` does not expect: it works, or says in a sentence why
not and what mends it."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import unittest

from tests.support.cases import DevCase, clean_environment, may_unshare, tenon
from tests.support.dev import PROGRAM, processes_in, wait_for

IS_ROOT = os.geteuid() == 0


def run_in(prefix, *arguments):
    """Runs a command of the program behind another one, such as unshare."""
    return subprocess.run([*prefix, str(PROGRAM), *map(str, arguments)], text=True, timeout=180,
                          capture_output=True, stdin=subprocess.DEVNULL, env=clean_environment())


def hiding(command):
    """A prefix: what follows sees a file system that `command` has changed for it alone."""
    return ("unshare", "-m", "bash", "-ec", command + ' && exec "$@"', "bash")


class Accounts(DevCase):
    """Who starts it."""

    def as_account(self, user):
        """What runs a command as an account that has no home and no locale."""
        return ("env", "-u", "HOME", "-u", "USER", "LANG=C", "LC_ALL=C", "setpriv",
                f"--reuid={user}", f"--regid={user}", "--clear-groups")

    @unittest.skipUnless(IS_ROOT, "only root becomes somebody else")
    def test_an_ordinary_account(self):
        user = pwd.getpwnam("nobody").pw_uid
        dev = self.new_dev(prefix=self.as_account(user))
        os.chown(dev.owned, user, user)
        dev.start()
        code = self.make(dev)
        for pid in dev.engine_processes():
            self.assertEqual(os.stat(f"/proc/{pid}").st_uid, user)
        self.assertEqual(dev.stop(), 0, dev.log())
        dev.start()
        self.assert_leads(dev, code)

    @unittest.skipUnless(IS_ROOT, "only root becomes somebody else")
    def test_an_account_without_a_passwd_entry_works_or_is_told_why_not(self):
        folder = self.new_folder()
        os.chown(folder, 54321, 54321)
        dev = self.new_dev(data=folder / "data", prefix=self.as_account(54321))
        try:
            dev.start()
        except AssertionError:
            self.assertEqual(dev.process.returncode, 1)
            said = (folder / "dev-data.log").read_text()
            self.assertEqual(len(said.strip().splitlines()), 1, said)
            self.assertIn("54321", said)
            return
        self.assert_leads(dev, self.make(dev))

    @unittest.skipUnless(IS_ROOT, "only root gives rights away")
    def test_a_folder_that_the_engines_account_cannot_reach(self):
        folder = self.new_folder(mode=0o700)
        dev = self.new_dev(data=folder / "data").start()
        self.addCleanup(shutil.rmtree, dev.engines(), ignore_errors=True)
        self.assertEqual(dev.engines().parent, pathlib.Path("/var/lib/tenon"))
        self.assertIn(str(dev.engines()), dev.log())
        code = self.make(dev)
        self.assertEqual(dev.stop(), 0)
        dev.start()
        self.assert_leads(dev, code)
        dev.stop()

    def test_an_empty_environment_and_an_unknown_locale(self):
        # No PATH, no HOME, and a locale of which this machine has never heard.
        for locale in ("LANG=C", "LC_ALL=tlh_QO.UTF-8"):
            with self.subTest(locale=locale):
                dev = self.new_dev(prefix=("env", "-i", locale)).start()
                self.assert_leads(dev, self.make(dev, "https://example.com/"))
                self.assertEqual(dev.stop(), 0, dev.log())


@unittest.skipUnless(may_unshare(), "this account may not hide programs and networks")
class Machines(DevCase):
    """What the machine lacks."""

    def test_postgresql_is_not_installed(self):
        data = self.new_folder() / "data"
        done = run_in(hiding("mount -t tmpfs tmpfs /usr/lib/postgresql"), "dev", "--data", data)
        self.assert_sentence(done, "PostgreSQL is not installed", "apt-get install postgresql")
        self.assertEqual(processes_in(data), set())

    def test_redis_is_not_installed(self):
        data = self.new_folder() / "data"
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        hidden = hiding(f"mount --bind /dev/null {pathlib.Path(program).resolve()}")
        done = run_in(hidden, "dev", "--data", data)
        self.assert_sentence(done, "Redis is not installed", "apt-get install redis-server")
        wait_for("the end of PostgreSQL", lambda: not processes_in(data))

    def serve_in_network(self, network):
        """Starts, makes a link and follows it, and stops, in a network of its own."""
        data = self.new_folder() / "data"
        self.addCleanup(tenon, "stop", "--data", data)
        script = network + """
            "$1" dev --detach --data "$2" -o none
            eval "$("$1" status --data "$2" -o env)"
            curl -sS -f -o /dev/null -H "Authorization: Bearer $TENON_KEY" \\
                --json '{"url": "https://example.com/", "alias": "first"}' "$TENON_URL/v1/links"
            curl -sS -o /dev/null -w '%{http_code}' "$TENON_URL/first"
            "$1" stop --data "$2" -o none
        """
        done = subprocess.run(["unshare", "-n", "bash", "-ec", script, "bash", PROGRAM, data],
                              capture_output=True, text=True, timeout=300,
                              env=clean_environment())
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "302", ""))

    def test_no_network(self):
        self.serve_in_network("ip link set lo up")

    def test_no_ipv6(self):
        self.serve_in_network("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6\n"
                              "ip link set lo up")

    def test_a_full_disk(self):
        folder = self.new_folder() / "disk"
        folder.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=755", "tmpfs",
                                  folder], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest("nothing may be mounted here: " + mounted.stderr)
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=True)
        dev = self.new_dev(data=folder)
        refused = tenon("dev", "--data", folder, *dev.arguments, timeout=180)
        self.assert_sentence(refused, folder, "is full", "free some")
        self.resize(folder, 600)
        dev.start()
        code = self.make(dev)
        self.fill(folder / "filler")
        self.assert_serves_without_space(dev, code)
        (folder / "filler").unlink()
        wait_for("a link", lambda: self.create(dev).status == 201)
        self.assertEqual(dev.stop(), 0, dev.log())
        self.fill(folder / "filler")
        refused = tenon("dev", "--data", folder, "--port", "0", timeout=180)
        self.assert_sentence(refused, folder, "No space left on device")
        (folder / "filler").unlink()
        dev.start()
        self.assert_leads(dev, code)
        self.assertEqual(dev.stop(), 0, dev.log())

    def create(self, dev):
        client = dev.client()
        self.addCleanup(client.close)
        return client.ask("POST", "/v1/links", {"url": "https://example.com/" + "x" * 1500})

    def assert_serves_without_space(self, dev, code):
        """Links go on being followed, and those who make some are asked to repeat it."""
        answers = []

        def is_refused():
            answers.append(self.create(dev))
            return answers[-1].status == 503

        wait_for("a refusal", is_refused)
        self.assertLessEqual({answer.status for answer in answers}, {201, 503})
        self.assertIn("retry-after", answers[-1].headers)
        self.assert_leads(dev, code)

    def resize(self, folder, megabytes):
        subprocess.run(["mount", "-o", f"remount,size={megabytes}m", folder], check=True)

    def fill(self, path):
        with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))
        with contextlib.suppress(OSError), open(path, "ab", buffering=0) as file:
            while True:
                file.write(bytes(4096))


class Folders(DevCase):
    """Where its data lies, and what lies there already."""

    def test_a_path_of_150_characters(self):
        folder = self.new_folder()
        data = folder / ("d" * (150 - len(str(folder)) - 1))
        self.assertEqual(len(str(data)), 150)
        dev = self.new_dev(data=data).start()
        code = self.make(dev)
        self.assertEqual(dev.stop(), 0)
        dev.start()
        self.assert_leads(dev, code)

    def test_a_path_with_spaces_and_quotes(self):
        dev = self.new_dev(data=self.new_folder() / "it's a \"folder\" of ünits").start()
        self.assert_leads(dev, self.make(dev))

    def zombie(self):
        """The pid of a process that has ended and that nobody has asked about."""
        process = subprocess.Popen(["true"])
        self.addCleanup(process.wait)
        stat = pathlib.Path(f"/proc/{process.pid}/stat")
        wait_for("the end", lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")
        return process.pid

    def test_a_stale_postmaster_pid(self):
        dev = self.new_dev().start()
        code = self.make(dev)
        self.assertEqual(dev.stop(), 0)
        stale = dev.engines() / "postgres/postmaster.pid"
        owner = stale.parent.stat()
        # This very process: alive, and no PostgreSQL; then one that is dead and not yet buried.
        for pid in (os.getpid(), self.zombie()):
            stale.write_text(f"{pid}\n{stale.parent}\n1700000000\n5432\n/tmp\n\n  1 1\nready\n")
            os.chown(stale, owner.st_uid, owner.st_gid)
            dev.start()
            self.assert_leads(dev, code)
            self.assertEqual(dev.stop(), 0, dev.log())

    def test_lost_data_is_not_made_anew_in_silence(self):
        dev = self.new_dev().start()
        code = self.make(dev)
        self.assertEqual(dev.stop(), 0)
        cluster = dev.engines() / "postgres"
        cluster.rename(cluster.with_name("elsewhere"))
        done = tenon("dev", "--data", dev.data, "--port", "0")
        self.assert_sentence(done, cluster, "put it back", f"rm -r {dev.data}")
        self.assertFalse(cluster.exists())
        cluster.with_name("elsewhere").rename(cluster)
        dev.start()
        self.assert_leads(dev, code)

    def test_data_of_another_postgresql_is_not_touched(self):
        dev = self.new_dev().start()
        self.assertEqual(dev.stop(), 0)
        version = dev.engines() / "postgres/PG_VERSION"
        present = version.read_text()
        version.write_text("14\n")
        before = sorted((str(path), path.stat().st_mtime_ns)
                        for path in version.parent.rglob("*") if path.is_file())
        done = tenon("dev", "--data", dev.data, "--port", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("14", done.stderr)
        self.assertIn(present.strip(), done.stderr)
        after = sorted((str(path), path.stat().st_mtime_ns)
                       for path in version.parent.rglob("*") if path.is_file())
        self.assertEqual(after, before)

    def test_a_folder_that_cannot_be_written(self):
        done = tenon("dev", "--data", "/proc/nowhere/data", "--port", "0")
        self.assert_sentence(done, "/proc/nowhere")
        blocked = self.new_folder() / "file"
        blocked.write_text("")
        self.assert_sentence(tenon("dev", "--data", blocked / "data", "--port", "0"), blocked)

    def test_a_ready_file_that_cannot_be_written(self):
        done = tenon("dev", "--data", self.new_folder() / "data", "--port", "0", "--ready-file",
                     "/proc/nowhere/ready.json", timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc/nowhere/ready.json", done.stderr)

    def test_nothing_runs_here(self):
        folder = self.new_folder()
        for form in ("text", "json", "env"):
            done = tenon("status", "--data", folder, "-o", form)
            self.assert_sentence(done, folder, code=5)
        self.assertEqual(list(folder.iterdir()), [])


PASSING = ("postgres: autovacuum worker", "postgres: parallel worker", "postgres: startup")


def kind_of(pid):
    """What a process of an engine is, as `ps` shows it, without what tells two of a kind apart."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
    if words.startswith("postgres: "):
        return " ".join(words.split()[:3])
    return pathlib.Path(words.split(" ")[0]).name


class Kills(DevCase):
    """Every single process of the engines, killed: Tenon's own are in tests/faults/kill_dev.py."""

    def kinds(self, dev):
        """A living process of each kind that does not come and go by itself."""
        return {kind: pid for pid in dev.engine_processes() - {dev.process.pid}
                if (kind := kind_of(pid)) and not kind.startswith(PASSING)}

    def serves(self, client, code):
        made = client.ask("POST", "/v1/links", {"url": "https://example.com/"})
        followed = client.ask("GET", "/" + code)
        self.assertLessEqual({made.status, followed.status}, {201, 302, 503, 504})
        return (made.status, followed.status) == (201, 302)

    def test_a_kill_of_any_single_process(self):
        dev = self.new_dev().start()
        code = self.make(dev)
        client = dev.client()
        self.addCleanup(client.close)
        known = set(self.kinds(dev))
        for expected in ("postgres", "postgres: checkpointer", "postgres: walwriter",
                         "postgres: tenon tenon"):
            self.assertIn(expected, known)
        self.assertTrue([kind for kind in known if kind.startswith(("redis", "valkey"))], known)
        for kind in sorted(known):
            with self.subTest(kind=kind):
                wait_for(f"a {kind}", lambda kind=kind: kind in self.kinds(dev))
                victim = self.kinds(dev)[kind]
                os.kill(victim, signal.SIGKILL)
                wait_for("another one", lambda kind=kind, victim=victim:
                         self.kinds(dev).get(kind, victim) != victim)
                wait_for("readiness", lambda: client.ask("GET", "/readyz").status == 200)
                wait_for("a new link and the first one", lambda: self.serves(client, code))
                self.assertIsNone(dev.process.poll())
        self.assertEqual(dev.stop(), 0, dev.log())
        self.assertEqual(dev.engine_processes(), set())
        dev.start()
        self.assert_leads(dev, code)


if __name__ == "__main__":
    unittest.main()
