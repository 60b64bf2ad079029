"""`tenon dev`: starts, ends, and what may lie in its way."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import unittest
import uuid

from tests.support.cases import DevCase, ServerCase, clean_environment, tenon
from tests.support.dev import PROGRAM, Client, Dev, processes_in, wait_for

IS_ROOT = os.geteuid() == 0


BANNER = []


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()
    log = ServerCase.server.data.parent / "dev-data.log"
    wait_for("the banner", lambda: log.read_text().count("curl ") >= 3)
    BANNER[:] = log.read_text().splitlines()


def tearDownModule():
    ServerCase.server.remove()


def tcp_listeners(pids):
    """Addresses of listening TCP sockets that any of these processes holds."""
    listening = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                listening[fields[9]] = fields[1]
    found = []
    for pid in pids:
        for handle in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
            try:
                inode = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(handle))
            except OSError:
                continue
            if inode and inode[1] in listening:
                found.append(listening[inode[1]])
    return found


class Running(ServerCase):
    """What holds while it runs; one server for all."""

    def test_the_banner_is_short_and_complete(self):
        self.assertLessEqual(len(BANNER), 12, BANNER)
        text = "\n".join(BANNER)
        port = self.server.url.rsplit(":", 1)[1]
        for needed in (f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port}/docs",
                       self.server.key, str(self.server.data), "kept until you delete it",
                       "Ctrl-C", f"rm -r {self.server.data}"):
            self.assertIn(needed, text)
        self.assertRegex(text, r"ready after \d+\.\d s")
        self.assertNotIn("\x1b", text)

    def test_the_curl_lines_of_the_banner_work(self):
        lines = [line for line in BANNER if line.startswith(("export ", "curl "))]
        self.assertEqual(len([line for line in lines if line.startswith("curl ")]), 3, BANNER)
        done = subprocess.run(["bash", "-e"], input="\n".join(lines), capture_output=True,
                              text=True, timeout=20, env=clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("/problems/", done.stdout)
        self.assertNotRegex(done.stdout, r"HTTP/1.1 [45]")

    def test_both_loopback_addresses_answer(self):
        port = re.search(r":(\d+)", self.server.url.removeprefix("http://"))[1]
        for host in ("127.0.0.1", "[::1]"):
            client = Client(f"http://{host}:{port}", self.server.key)
            self.addCleanup(client.close)
            with self.subTest(host=host):
                self.assertEqual(client.ask("GET", "/readyz").status, 200)
                self.assertEqual(client.ask("GET", "/v1/links").status, 200)

    def test_the_engines_listen_on_unix_sockets_only(self):
        pids = self.server.engine_processes() - {self.server.process.pid}
        self.assertGreaterEqual(len(pids), 2)
        self.assertEqual(tcp_listeners(pids), [])

    @unittest.skipUnless(IS_ROOT, "only root gives rights away")
    def test_the_engines_of_root_run_without_its_rights(self):
        for pid in self.server.engine_processes() - {self.server.process.pid}:
            self.assertNotEqual(os.stat(f"/proc/{pid}").st_uid, 0)

    def test_status(self):
        text = tenon("status", "--data", self.server.data)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn(self.server.url, text.stdout)
        read = json.loads(tenon("status", "--data", self.server.data, "-o", "json").stdout)
        self.assertEqual((read["url"], read["key"], read["ready"], read["pid"]),
                         (self.server.url, self.server.key, True, self.server.process.pid))
        self.assertEqual(tenon("status", "--data", self.server.data, "-o", "none").stdout, "")

    def test_status_as_environment(self):
        script = ('eval "$("$1" status --data "$2" -o env)" && '
                  'curl -sS -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $TENON_KEY" '
                  '"$TENON_URL/v1/links"')
        done = subprocess.run(["bash", "-c", script, "bash", PROGRAM, self.server.data],
                              capture_output=True, text=True, env=clean_environment(), timeout=20)
        self.assertEqual(done.stdout, "200", done.stderr)

    def test_the_data_folder_is_private(self):
        for name in ("key", "run.json"):
            self.assertEqual((self.server.data / name).stat().st_mode & 0o077, 0, name)

    def test_a_second_one_on_the_same_folder_is_refused(self):
        done = tenon("dev", "--data", self.server.data, "--port", "0")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn(str(self.server.process.pid), done.stderr)
        self.assertEqual(self.client.ask("GET", "/readyz").status, 200)
        self.assertEqual(tenon("status", "--data", self.server.data).returncode, 0)


class EnginesAway(ServerCase):
    """The table of docs/operations.md: what users see while an engine is away."""

    def setUp(self):
        super().setUp()
        wait_for("readiness", self.is_ready)

    def signal_all(self, name, number):
        engines = self.server.engines()
        folders = [engines / name, *(engines.glob("node-*") if name == "postgres" else ())]
        pids = {pid for folder in folders for pid in processes_in(folder)}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def pause(self, name):
        pids = self.signal_all(name, signal.SIGSTOP)
        self.assertTrue(pids)
        self.addCleanup(self.signal_all, name, signal.SIGCONT)

    def is_ready(self):
        """Everything is up: of several nodes, 200 alone is said by one."""
        return self.client.ask("GET", "/readyz").json["status"] == "ready"

    def test_postgresql_hangs(self):
        code = self.make(url="https://example.com/cached")["code"]
        self.assert_leads(code, "https://example.com/cached")
        self.pause("postgres")
        for _ in range(3):
            answer = self.client.ask("POST", "/v1/links", {"url": "https://example.com/"},
                                     {"Tenon-Timeout": "500ms"})
            self.assert_problem(answer, (503, 504))
            if answer.status == 503:
                self.assertIn("retry-after", answer.headers)
            self.assert_leads(code, "https://example.com/cached")
        unknown = self.visitor.ask("GET", "/not-cached-" + uuid.uuid4().hex, None,
                                   {"Tenon-Timeout": "500ms"})
        self.assertIn(unknown.status, (503, 504), "what is not known is not 'no such link'")
        self.assertEqual(self.client.ask("GET", "/healthz").status, 200)
        self.signal_all("postgres", signal.SIGCONT)
        wait_for("readiness", self.is_ready)
        wait_for("a new link", lambda: self.client.ask(
            "POST", "/v1/links", {"url": "https://example.com/"}).status == 201)
        self.assert_leads(code, "https://example.com/cached")

    def test_postgresql_is_killed(self):
        code = self.make(url="https://example.com/kept")["code"]
        self.assert_leads(code, "https://example.com/kept")  # followed, and so near
        self.signal_all("postgres", signal.SIGKILL)
        self.assert_leads(code, "https://example.com/kept")
        wait_for("readiness", self.is_ready)
        wait_for("a new link", lambda: self.client.ask(
            "POST", "/v1/links", {"url": "https://example.com/"}).status == 201)

    def test_redis_hangs_or_is_killed(self):
        code = self.make(url="https://example.com/no-redis")["code"]
        for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL):
            self.signal_all("redis", number)
            if number == signal.SIGSTOP:
                self.addCleanup(self.signal_all, "redis", signal.SIGCONT)
            self.assert_leads(code, "https://example.com/no-redis")
            fresh = self.make(url="https://example.com/fresh")["code"]
            self.assert_leads(fresh, "https://example.com/fresh")
        wait_for("Redis again", lambda: processes_in(self.server.engines() / "redis"))
        wait_for("readiness", self.is_ready)


class Ends(DevCase):
    def test_data_lasts_and_nothing_is_left_running(self):
        dev = self.new_dev().start()
        key, code = dev.key, self.make(dev)
        for number in (signal.SIGINT, signal.SIGTERM):
            pids = dev.engine_processes() | {dev.process.pid}
            log = dev.data.parent / f"dev-{dev.data.name}.log"
            before = len(log.read_text())
            dev.process.send_signal(number)
            self.assertEqual(dev.process.wait(20), 0, dev.log())
            self.assertEqual([pid for pid in pids if os.path.exists(f"/proc/{pid}")], [])
            self.assertEqual(dev.engine_processes(), set())
            said = log.read_text()[before:]
            self.assertNotRegex(said.lower(), r"warn|error|fail|assert|leak")
            self.assertEqual(tenon("status", "--data", dev.data).returncode, 5)
            dev.start()
            self.assertEqual(dev.key, key)
            self.assert_leads(dev, code)

    def test_a_kill_leaves_nothing_that_hinders_the_next_start(self):
        dev = self.new_dev().start()
        key, code = dev.key, self.make(dev)
        engines = dev.engine_processes()
        dev.kill()
        self.assertEqual(tenon("status", "--data", dev.data).returncode, 5)
        dev.start()
        self.assertEqual(engines & dev.engine_processes(), set())
        self.assertEqual(dev.key, key)
        self.assert_leads(dev, code)

    def test_requests_in_flight_are_finished(self):
        dev = self.new_dev().start()
        outcomes, going = [], threading.Event()

        def work():
            client = Client(dev.url, dev.key)
            while True:
                try:
                    outcomes.append(client.ask("POST", "/v1/links",
                                               {"url": "https://example.com/"}).status)
                    going.set()
                except (OSError, http.client.HTTPException):
                    client.close()
                    return

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        going.wait(20)
        self.assertEqual(dev.stop(), 0, dev.log())
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(outcomes), {201, 503})
        acknowledged = outcomes.count(201)
        dev.start()
        client, stored, cursor = dev.client(), 0, ""
        self.addCleanup(client.close)
        while cursor is not None:
            page = client.ask("GET", f"/v1/links?limit=500{cursor}").json
            stored += len(page["links"])
            cursor = "&cursor=" + page["next_cursor"] if "next_cursor" in page else None
        self.assertGreaterEqual(stored, acknowledged)


class Ports(DevCase):
    def busy_port(self, port=0):
        """A port of 127.0.0.1 that is taken while the test runs."""
        holder = socket.socket()
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.addCleanup(holder.close)
        try:
            holder.bind(("127.0.0.1", port))
            holder.listen()
        except OSError:
            pass  # somebody else holds it, which serves as well
        return holder.getsockname()[1] or port

    def test_an_explicit_port_that_is_busy(self):
        port = self.busy_port()
        done = tenon("dev", "--data", self.new_folder() / "data", "--port", port)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn(str(port), done.stderr)
        self.assertIn(str(os.getpid()), done.stderr)
        self.assertNotIn("curl", done.stdout)

    def test_a_port_that_another_server_of_this_program_holds(self):
        dev = self.new_dev().start()
        port = dev.url.rsplit(":", 1)[1]
        done = tenon("dev", "--data", self.new_folder() / "data", "--port", port)
        self.assertEqual(done.returncode, 1)
        self.assertIn(port, done.stderr)
        self.assertIn(str(dev.process.pid), done.stderr)

    def test_a_port_that_is_busy_leaves_nothing_running(self):
        folder = self.new_folder()
        tenon("dev", "--data", folder / "data", "--port", self.busy_port())
        engines = pathlib.Path((folder / "data/where").read_text().strip())
        wait_for("the end of the engines", lambda: not processes_in(engines))

    def test_without_a_port_the_next_free_one(self):
        for port in (8080, 5432, 6379):
            self.busy_port(port)
        dev = self.new_dev(arguments=()).start()
        port = int(dev.url.rsplit(":", 1)[1])
        self.assertGreater(port, 8080)
        self.assertIn(str(port), dev.log())
        self.assert_leads(dev, self.make(dev))

    def test_an_explicit_free_port(self):
        holder = socket.socket()
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        holder.close()
        dev = self.new_dev(arguments=("--port", str(port))).start()
        self.assertTrue(dev.url.endswith(f":{port}"))

    def test_what_is_no_port(self):
        for port in ("65536", "-1", "x", ""):
            done = tenon("dev", "--data", self.new_folder() / "data", "--port", port)
            with self.subTest(port=port):
                self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    unittest.main()
