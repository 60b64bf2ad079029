"""What the tests from outside share: how an answer is judged, and commands of the program."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
import uuid

from tests.support.dev import PROGRAM, Dev

PROBLEMS = "https://tenon.dev/problems/"
CODE = re.compile(r"(?=.*[0-9])(?=.*[A-Z])[0-9A-Za-z]{7}")


def clean_environment(**extra):
    """This process's environment without what would configure the program, and `extra`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TENON_")}
    return {**kept, **extra}


def tenon(*arguments, environment=None, cwd=None, stdin=None, timeout=60):
    """Runs one command of the program to its end."""
    return subprocess.run([str(PROGRAM), *map(str, arguments)], input=stdin or "", text=True,
                          capture_output=True, cwd=cwd, timeout=timeout,
                          env=clean_environment(**(environment or {})))


def may_unshare():
    """True when this account may have mounts and a network of its own, to hide what is there."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "-n", "true"],
                                                capture_output=True).returncode == 0


def records(text):
    """What a command printed by -o json, as a list: one object or an array of them."""
    read = json.loads(text)
    return read if isinstance(read, list) else [read]


def all_at_once(count, work):
    """What `work(number)` gives for 0 .. count-1, all begun at the same moment, each in a thread;
    raises what one of them raised."""
    start = threading.Barrier(count)

    def begin(number):
        start.wait()
        return work(number)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


class RawConnection:
    """Bytes to a server and back, for what an HTTP library would not send."""

    def __init__(self, url, timeout=15):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout)
        self.host = parts.netloc
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def _fill(self):
        more = self.socket.recv(65536)
        self.buffer += more
        return bool(more)

    def read_head(self):
        """(status, headers with lower-case names) of the next response, body not read."""
        while b"\r\n\r\n" not in self.buffer:
            if not self._fill():
                raise ConnectionError(f"closed in the middle of a head: {self.buffer!r}")
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = dict((name.lower(), value.strip())
                       for name, value in (line.split(":", 1) for line in lines))
        return int(first.split()[1]), headers

    def read(self, method="GET"):
        """(status, headers, body) of the next response to `method`."""
        status, headers = self.read_head()
        length = int(headers.get("content-length", 0))
        if method == "HEAD" or status in (204, 304) or status < 200:
            length = 0
        while len(self.buffer) < length:
            if not self._fill():
                raise ConnectionError("closed in the middle of a body")
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return status, headers, body

    def is_closed(self):
        """True when the server has ended the connection and nothing is left to read."""
        try:
            return not self.buffer and not self._fill()
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class ServerCase(unittest.TestCase):
    """Tests against one server that the module starts in setUpModule."""

    server = None

    def setUp(self):
        if self.server.process.poll() is not None:
            # It ended during another test, which failed by that; this one is to tell its own story.
            self.server.start()
        self.client = self.new_client()
        self.visitor = self.new_client(key=False)

    def new_client(self, key=True, timeout=15):
        client = self.server.client(key)
        client.timeout = timeout
        self.addCleanup(client.close)
        return client

    def raw(self):
        connection = RawConnection(self.server.url)
        self.addCleanup(connection.close)
        return connection

    def make(self, body=None, client=None, **fields):
        """Makes a link and returns it."""
        asked = {"url": "https://example.com/", **(body or {}), **fields}
        answer = (client or self.client).ask("POST", "/v1/links", asked)
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json

    def visit(self, code, query="", method="GET"):
        return self.visitor.ask(method, f"/{code}{query}")

    def assert_leads(self, code, url):
        answer = self.visit(code)
        self.assertEqual((answer.status, answer.headers.get("location")), (302, url), answer.text)

    def assert_problem(self, answer, status, slug=None, pointer=None, parameter=None,
                       mentions=None):
        """Judges a problem+json answer and returns it; the place is one of its `errors`."""
        statuses = status if isinstance(status, tuple) else (status,)
        self.assertIn(answer.status, statuses, answer.text)
        self.assertEqual(answer.headers.get("content-type"), "application/problem+json")
        problem = answer.json
        self.assertEqual(problem["status"], answer.status)
        self.assertTrue(problem["type"].startswith(PROBLEMS), problem["type"])
        self.assertTrue(problem["title"])
        self.assertTrue(problem["detail"])
        self.assertRegex(problem["trace_id"], r"^[0-9a-f]{32}$")
        if slug:
            self.assertEqual(problem["type"], PROBLEMS + slug)
        for kind, place in (("pointer", pointer), ("parameter", parameter)):
            if place is None:
                continue
            found = [error for error in problem.get("errors", []) if error.get(kind) == place]
            self.assertTrue(found, f"no error at {place}: {answer.text}")
            self.assertTrue(found[0]["expected"])
            if mentions:
                self.assertIn(mentions, found[0]["expected"])
        return problem


class DatabaseCase(ServerCase):
    """Tests on an empty database each, `self.fresh`, in the module's private PostgreSQL."""

    def setUp(self):
        super().setUp()
        self.facts = json.loads((self.server.data / "run.json").read_text())
        self.name = "fresh_" + uuid.uuid4().hex
        self.owner = self.facts["postgres"]
        self.sql(f"CREATE DATABASE {self.name}", self.owner)
        self.addCleanup(self.sql, f"DROP DATABASE {self.name} WITH (FORCE)", self.owner)
        self.fresh = self.owner.replace("dbname=tenon", f"dbname={self.name}")

    def sql(self, text, conninfo):
        done = subprocess.run(["psql", "-X", "-At", "-v", "ON_ERROR_STOP=1", "-c", text, conninfo],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class DevCase(unittest.TestCase):
    """Tests that start a `tenon dev` each."""

    def new_dev(self, arguments=("--port", "0"), prefix=(), data=None):
        dev = Dev(data=data, arguments=arguments, prefix=prefix)
        self.addCleanup(dev.remove)
        return dev

    def new_folder(self, mode=0o755):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-test-"))
        folder.chmod(mode)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def make(self, dev, url="https://example.com/"):
        client = dev.client()
        self.addCleanup(client.close)
        answer = client.ask("POST", "/v1/links", {"url": url})
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json["code"]

    def assert_leads(self, dev, code, url="https://example.com/"):
        client = dev.client(key=False)
        self.addCleanup(client.close)
        answer = client.ask("GET", f"/{code}")
        self.assertEqual((answer.status, answer.headers.get("location")), (302, url))

    def assert_sentence(self, done, *mentioned, code=1):
        """It ended with `code` and said why in one line on standard error."""
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for text in mentioned:
            self.assertIn(str(text), done.stderr)
