"""A real `tenon dev` under test: started, killed, asked over HTTP."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("TENON_PROGRAM", ROOT / "build/release/tenon"))


def wait_for(what, condition, limit=30.0):
    """Polls until `condition()` is truthy and returns it; says what did not come otherwise."""
    until = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"{what} did not happen within {limit} s")
        time.sleep(0.01)


def processes_in(folder):
    """The pids of live processes that work in a folder or below it, zombies left out."""
    found = set()
    prefix = str(pathlib.Path(folder).resolve())
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            where = os.readlink(entry / "cwd")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if state != "Z" and (where == prefix or where.startswith(prefix + "/")):
            found.add(int(entry.name))
    return found


def kill_processes_in(folder):
    """Sends SIGKILL to all of them; True when none is left."""
    alive = processes_in(folder)
    for pid in alive:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return not alive


class Answer:
    """One response: status, headers (lower-case names) and body."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    @property
    def json(self):
        return json.loads(self.text)


class Client:
    """A keep-alive connection; one per thread."""

    def __init__(self, url, key=None, timeout=15):
        self.url = urllib.parse.urlsplit(url)
        self.key = key
        self.timeout = timeout
        self.connection = None

    def ask(self, method, path, body=None, headers=None):
        """Sends one request; raises OSError or HTTPException when no whole answer came."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection(
                self.url.hostname, self.url.port, timeout=self.timeout)
        sent = dict(headers or {})
        if self.key and "Authorization" not in sent:
            sent["Authorization"] = f"Bearer {self.key}"
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        try:
            self.connection.request(method, path, body, sent)
            return Answer(self.connection.getresponse())
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Dev:
    """`tenon dev` on a data folder; by default one of its own that goes with it."""

    shards = 1  # of those who do not ask for a number themselves; tests/run --shards sets it

    def __init__(self, data=None, arguments=(), prefix=()):
        self.owned = None
        if data is None:
            self.owned = tempfile.mkdtemp(prefix="tenon-test-")
            os.chmod(self.owned, 0o755)
            data = pathlib.Path(self.owned) / "data"
        self.data = pathlib.Path(data)
        self.arguments = list(arguments)
        if self.shards > 1 and "--shards" not in self.arguments:
            self.arguments += ["--shards", str(self.shards)]
        self.prefix = list(prefix)
        self.process = None
        self.url = None
        self.key = None
        self.ready_seconds = None

    def start(self, limit=180.0):
        self.data.parent.mkdir(parents=True, exist_ok=True)
        ready = self.data.parent / f"ready-{self.data.name}.json"
        ready.unlink(missing_ok=True)
        log = open(self.data.parent / f"dev-{self.data.name}.log", "ab")
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*self.prefix, str(PROGRAM), "dev", "--data", str(self.data), "--ready-file",
             str(ready), *self.arguments],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()

        def is_ready():
            if self.process.poll() is not None:
                ended = self.process.returncode
                raise AssertionError(f"tenon dev ended with {ended}:\n{self.log()}")
            return ready.exists()

        wait_for("the ready file", is_ready, limit)
        self.ready_seconds = time.monotonic() - began
        facts = json.loads(ready.read_text())
        self.url, self.key = facts["url"], facts["key"]
        return self

    def log(self):
        """The last lines, errors first, which refusals would drown."""
        path = self.data.parent / f"dev-{self.data.name}.log"
        lines = path.read_text(errors="replace").splitlines()
        wrong = [line for line in lines if '"level":"error"' in line]
        return "\n".join([*wrong[:5], *lines[-20:]])

    def client(self, key=True):
        return Client(self.url, self.key if key is True else key)

    def engines(self):
        """Where the engines' data lies."""
        return pathlib.Path((self.data / "where").read_text().strip())

    def engine_processes(self):
        return processes_in(self.engines())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, limit=20.0):
        """Ends it as Ctrl-C does and returns its exit status."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(limit)
        return self.process.returncode

    def remove(self):
        if self.process is not None and self.process.poll() is None:
            self.stop()
        if self.owned:
            shutil.rmtree(self.owned, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.remove()
