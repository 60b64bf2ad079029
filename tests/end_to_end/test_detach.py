"""`tenon dev --detach` and `tenon stop`."""

import json
import os
import pathlib
import pty
import signal
import subprocess
import unittest

from tests.support.cases import DevCase, clean_environment, tenon
from tests.support.dev import PROGRAM, Client, processes_in, wait_for


class Detached(DevCase):
    def start(self, data, *arguments, **options):
        self.addCleanup(tenon, "stop", "--data", data)
        return tenon("dev", "--detach", "--data", data, "--port", "0", *arguments, timeout=180,
                     **options)

    def status(self, data):
        done = tenon("status", "--data", data, "-o", "json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def test_it_returns_when_it_is_ready_and_goes_on(self):
        folder = self.new_folder()
        data = folder / "data"
        done = self.start(data)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        status = self.status(data)
        for told in (status["url"], status["key"], f"tenon stop --data {data}"):
            self.assertIn(told, done.stdout)
        self.assertLessEqual(len(done.stdout.splitlines()), 12)
        client = Client(status["url"], status["key"])
        self.addCleanup(client.close)
        self.assertEqual(client.ask("GET", "/readyz").status, 200)
        made = client.ask("POST", "/v1/links", {"url": "https://example.com/"})
        self.assertEqual(made.status, 201)
        self.assert_own_life(status["pid"], data)
        self.assert_refused_twice(data, status["pid"])
        self.assert_stops(data, status["pid"])
        again = self.start(data, "-o", "json")
        restarted = json.loads(again.stdout)
        self.assertEqual((again.returncode, restarted["key"], restarted["ready"]),
                         (0, status["key"], True))
        client = Client(restarted["url"])
        self.addCleanup(client.close)
        self.assertEqual(client.ask("GET", "/" + made.json["code"]).status, 302)

    def assert_own_life(self, pid, data):
        """It leads a session without a terminal, and holds nothing of who started it."""
        self.assertEqual(os.getsid(pid), pid)
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        self.assertEqual(stat[4], "0", "a terminal controls it")
        handles = {name: os.readlink(f"/proc/{pid}/fd/{name}") for name in ("0", "1", "2")}
        log = str((data / "log/tenon.log").resolve())
        self.assertEqual(handles, {"0": "/dev/null", "1": log, "2": log})

    def assert_refused_twice(self, data, pid):
        done = tenon("dev", "--detach", "--data", data, "--port", "0")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(f"process {pid}", done.stderr)
        self.assertEqual(self.status(data)["pid"], pid)

    def assert_stops(self, data, pid):
        done = tenon("stop", "--data", data, "-o", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout), {"stopped": True, "data": str(data), "pid": pid})
        self.assertFalse(os.path.exists(f"/proc/{pid}/exe"))
        self.assertEqual(processes_in(pathlib.Path((data / "where").read_text().strip())), set())
        self.assertEqual(tenon("status", "--data", data).returncode, 5)
        done = tenon("stop", "--data", data, "-o", "json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["stopped"]), (0, False))

    def test_its_log_does_not_grow_for_ever(self):
        data = self.new_folder() / "data"
        done = self.start(data, "--log-level", "debug")
        self.assertEqual(done.returncode, 0, done.stderr)
        status = self.status(data)
        log = data / "log/tenon.log"
        client = Client(status["url"], status["key"])
        self.addCleanup(client.close)
        for round_ in (1, 2, 3):
            with open(log, "ab") as file:
                file.write(b"x" * (8 << 20) + f"\nround {round_}\n".encode())
            wait_for("a new log", lambda: log.stat().st_size < 8 << 20)
            self.assertEqual(client.ask("GET", "/v1/nothing").status, 404)
            wait_for("lines in the new log", lambda: "/v1/nothing" in log.read_text())
        self.assertEqual({path.name for path in (data / "log").glob("tenon.log*")},
                         {"tenon.log", "tenon.log.1", "tenon.log.2"})
        self.assertIn("round 2", (data / "log/tenon.log.2").read_text()[-5000:])
        self.assertEqual(os.readlink(f"/proc/{status['pid']}/fd/1"), str(log.resolve()))

    def test_it_survives_its_terminal_and_keeps_no_pipe_open(self):
        data = self.new_folder() / "data"
        self.addCleanup(tenon, "stop", "--data", data)
        ours, its = pty.openpty()
        reads, writes = os.pipe()
        os.set_inheritable(writes, True)
        process = subprocess.Popen(
            [PROGRAM, "dev", "--detach", "--data", data, "--port", "0"], stdin=its, stdout=its,
            stderr=its, start_new_session=True, pass_fds=(writes,), env=clean_environment())
        os.close(its)
        os.close(writes)
        self.assertEqual(process.wait(180), 0)
        os.close(ours)  # the terminal goes, with a SIGHUP for those who hang on it
        self.assertEqual(os.read(reads, 1), b"", "the server holds the pipe")
        os.close(reads)
        self.assertTrue(self.status(data)["ready"])

    def test_what_does_not_start_says_why_and_leaves_nothing(self):
        data = self.new_folder() / "data"
        (data / "postgres").mkdir(parents=True)
        (data / "postgres/PG_VERSION").write_text("14\n")
        for _ in range(2):
            done = self.start(data)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertEqual(done.stderr.count("made by PostgreSQL 14"), 1, done.stderr)
            self.assertIn(str(data / "log/tenon.log"), done.stderr)
        self.assertEqual(processes_in(data), set())
        self.assertEqual(tenon("status", "--data", data).returncode, 5)

    def test_an_interrupted_start_leaves_nothing(self):
        data = self.new_folder() / "data"
        process = subprocess.Popen([PROGRAM, "dev", "--detach", "--data", data, "--port", "0"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=clean_environment())
        wait_for("the cluster being made", lambda: (data / "log/initdb.log").exists())
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (130, b""))
        engines = pathlib.Path((data / "where").read_text().strip())
        self.assertEqual(processes_in(engines) | processes_in(data), set())

    def test_stop_ends_one_in_a_terminal_and_one_that_is_starting(self):
        dev = self.new_dev().start()
        self.assertEqual(tenon("stop", "--data", dev.data).returncode, 0)
        self.assertEqual(dev.process.wait(20), 0)
        process = subprocess.Popen(
            [PROGRAM, "dev", "--data", dev.data, "--port", "0"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
        self.addCleanup(process.kill)
        owner = dev.data / "lock"
        wait_for("its lock", lambda: owner.read_text() == str(process.pid))
        self.assertEqual(tenon("stop", "--data", dev.data).returncode, 0)
        self.assertEqual(process.wait(20), 0)

    def test_a_stale_lock_file_names_nobody(self):
        folder = self.new_folder()
        (folder / "lock").write_text(str(os.getpid()))
        done = tenon("stop", "--data", folder)
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing runs", done.stdout)


if __name__ == "__main__":
    unittest.main()
