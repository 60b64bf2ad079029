"""The command line: exit codes, terminals, configuration, keys and migrations."""

import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from tests.support.cases import DatabaseCase, ServerCase, clean_environment, records, tenon
from tests.support.dev import PROGRAM, Client, Dev, processes_in, wait_for


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


def new_folder(test):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-test-"))
    test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder


class ExitCodes(ServerCase):
    """One command for each exit code of docs/operations.md."""

    def test_0_ok(self):
        done = tenon("status", "--data", self.server.data)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(tenon("--version").stdout, r"^tenon \d+\.\d+")

    def assert_sentence(self, done, code, *mentioned):
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for text in mentioned:
            self.assertIn(text, done.stderr)

    def test_1_failed(self):
        done = tenon("keys", "revoke", "no-such-key", "--data", self.server.data)
        self.assert_sentence(done, 1, "no-such-key", "keys list")

    def test_2_usage(self):
        for arguments in ((), ("nothing",), ("keys",), ("keys", "make"), ("keys", "rotate"),
                          ("config", "show", "x"), ("config", "show", "--set", "http.port"),
                          ("keys", "rotate", "x", "--overlap", "soon")):
            with self.subTest(arguments=arguments):
                self.assert_sentence(tenon(*arguments), 2, "--help")

    def test_3_a_check_failed(self):
        done = tenon("config", "check", environment={"TENON_HTTP_PROT": "1"})
        self.assertEqual((done.returncode, done.stderr), (3, ""))

    def test_4_not_authenticated(self):
        server = Dev(arguments=("--port", "0")).start()
        self.addCleanup(server.remove)
        self.assertEqual(tenon("keys", "revoke", "dev", "--data", server.data).returncode, 0)
        done = wait_for("the end of the key", lambda: self.refused_status(server))
        self.assertEqual(done.returncode, 4)
        self.assertIn("not accepted", done.stderr)
        self.assertEqual(server.stop(), 0)
        server.start()
        self.assertEqual(tenon("status", "--data", server.data).returncode, 0)

    def refused_status(self, server):
        done = tenon("status", "--data", server.data)
        return done if done.returncode != 0 else None

    def test_5_not_ready(self):
        folder = new_folder(self)
        self.assert_sentence(tenon("status", "--data", folder), 5, f"tenon dev --data {folder}")
        away = ("--set", "postgres.conninfo=host=/nowhere user=tenon dbname=tenon",
                "--set", "postgres.connect_timeout=200ms")
        self.assert_sentence(tenon("migrate", *away), 5, "/nowhere")

    def start_and_interrupt(self, *arguments, when, again=False):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=clean_environment())
        self.addCleanup(process.kill)
        wait_for("the moment to interrupt", when)
        process.send_signal(signal.SIGINT)
        if again:
            pending = pathlib.Path(f"/proc/{process.pid}/status")
            wait_for("the first signal being taken",
                     lambda: re.search(r"^ShdPnd:\s*0+$", pending.read_text(), re.MULTILINE))
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def test_130_interrupted(self):
        silent = socket.socket()  # takes connections, and answers nothing
        self.addCleanup(silent.close)
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(20)
        conninfo = f"host=127.0.0.1 port={silent.getsockname()[1]} user=tenon sslmode=disable"
        for command in (("migrate", "plan"), ("keys", "list")):
            accepted = []

            def has_connected():
                accepted.append(silent.accept()[0])
                return accepted[-1].recv(1)

            with self.subTest(command=command):
                done = self.start_and_interrupt(
                    *command, "--set", f"postgres.conninfo={conninfo}",
                    "--set", "postgres.connect_timeout=60s", when=has_connected)
                self.assert_sentence(done, 130, "interrupted")
            for connection in accepted:
                connection.close()

    def test_130_interrupted_twice(self):
        folder = new_folder(self)
        folder.chmod(0o755)
        done = self.start_and_interrupt(
            "dev", "--data", folder / "data", "--port", "0", again=True,
            when=lambda: (folder / "data/log/initdb.log").exists())
        self.assertEqual(done.returncode, 130)
        wait_for("the end of the engines", lambda: not processes_in(folder))


class Terminal(ServerCase):
    """Colours are for a terminal that wants them; nobody is asked anything outside of one."""

    def in_terminal(self, *arguments, environment=None):
        """What a command writes to a terminal that is its stdin, stdout and stderr."""
        ours, its = pty.openpty()
        wanted = {"TERM": "xterm", "NO_COLOR": "", **(environment or {})}
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=its, stdout=its,
                                   stderr=its, env=clean_environment(**wanted))
        os.close(its)
        text = b""
        with contextlib.suppress(OSError):  # how a terminal tells that nobody writes any more
            while more := os.read(ours, 65536):
                text += more
        os.close(ours)
        process.wait(30)
        return text.decode()

    def test_colours(self):
        status = ("status", "--data", self.server.data)
        self.assertIn("\x1b[32myes", self.in_terminal(*status))
        self.assertIn("\x1b[31mtenon:", self.in_terminal("nothing"))
        self.assertNotIn("\x1b", self.in_terminal(*status, environment={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b", self.in_terminal(*status, environment={"TERM": "dumb"}))
        self.assertNotIn("\x1b", self.in_terminal(*status, "--color", "never"))
        self.assertNotIn("\x1b", self.in_terminal(*status, "-o", "json"))
        self.assertIn("\x1b", self.in_terminal(*status, "--color", "always",
                                               environment={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b", tenon(*status).stdout)
        self.assertIn("\x1b", tenon(*status, "--color", "always").stdout)

    def test_log_lines_of_a_terminal(self):
        folder = new_folder(self)
        folder.chmod(0o755)
        facts = json.loads((self.server.data / "run.json").read_text())
        refused = ("serve", "--set", f"postgres.conninfo={facts['postgres']}",
                   "--set", "redis.address=127.0.0.1:1", "--set", "http.port=0")
        for more, coloured in (((), True), (("--color", "never"), False)):
            with self.subTest(more=more):
                ours, its = pty.openpty()
                self.addCleanup(os.close, ours)
                process = subprocess.Popen([PROGRAM, *refused, *more], stdin=its, stderr=its,
                                           stdout=subprocess.DEVNULL,
                                           env=clean_environment(TERM="xterm", NO_COLOR=""))
                os.close(its)
                self.addCleanup(process.kill)
                self.assertEqual(b"\x1b[" in os.read(ours, 4096), coloured)
                process.send_signal(signal.SIGINT)
                process.wait(30)


class Configuration(unittest.TestCase):
    def setUp(self):
        self.folder = new_folder(self)
        self.file = self.folder / "tenon.toml"

    def check(self, text, environment=None, *arguments):
        self.file.write_text(text)
        return tenon("config", "check", "--config", self.file, *arguments,
                     environment=environment)

    def refused(self, text, *mentioned, environment=None):
        done = self.check(text, environment)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        for part in mentioned:
            self.assertIn(part, done.stdout)
        return done

    def show(self, *arguments, environment=None):
        done = tenon("config", "show", "-o", "json", *arguments, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {record["option"]: record for record in records(done.stdout)}

    def test_the_default_file_is_accepted_as_printed_and_uncommented(self):
        text = tenon("config", "default").stdout
        self.assertEqual(self.check(text).returncode, 0)
        uncommented = re.sub(r"(?m)^# ?(\w+ = )", r"\1", text)
        self.assertGreater(len(re.findall(r"(?m)^\w+ = ", uncommented)), 10)
        done = self.check(uncommented)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_unknown_names_with_their_place_and_the_nearest(self):
        self.refused("[http]\n\nprot = 8080\n", f"{self.file}:3", "http.prot", "port")
        self.refused("[htpp]\nport = 1\n", f"{self.file}:1", "http")
        self.refused("port = 8080\n", f"{self.file}:1")

    def test_refused_values_with_their_place(self):
        self.refused("[http]\nport = 99999\n", f"{self.file}:2", "http.port")
        self.refused("[http]\nport = \"x\"\n", f"{self.file}:2")
        self.refused("[http]\nrequest_timeout = \"soon\"\n", f"{self.file}:2")
        self.refused("[http]\naddresses = 5\n", f"{self.file}:2")
        self.refused("[log]\nlevel = \"loud\"\n", f"{self.file}:2", "warning")

    def test_all_problems_at_once(self):
        self.refused("[http]\nport = -1\nprot = 1\n[redis]\nadress = 1\n",
                     f"{self.file}:2", f"{self.file}:3", f"{self.file}:5")

    def test_what_is_no_toml(self):
        self.refused("[http\nport = 1\n", f"{self.file}:1")
        self.refused("[http]\nport = 1\nport = 2\n", f"{self.file}:3")

    def test_a_missing_file(self):
        done = tenon("config", "check", "--config", self.folder / "none.toml")
        self.assertIn(done.returncode, (1, 3))
        self.assertIn("none.toml", done.stdout + done.stderr)

    def test_check_as_json(self):
        self.file.write_text("[http]\nprot = 1\n")
        done = tenon("config", "check", "--config", self.file, "-o", "json")
        self.assertEqual(done.returncode, 3)
        read = json.loads(done.stdout)
        self.assertFalse(read["ok"])
        self.assertEqual(read["problems"][0]["place"], f"{self.file}:2")

    def test_who_wins_and_where_a_value_comes_from(self):
        self.file.write_text("[http]\nport = 8001\nheader_bytes_max = 2048\n")
        shown = self.show("--config", self.file, "--set", "http.port=8003",
                          environment={"TENON_HTTP_PORT": "8002",
                                       "TENON_HTTP_BODY_BYTES_MAX": "4096"})
        self.assertEqual((shown["http.port"]["value"], shown["http.port"]["origin"]),
                         ("8003", "flag --set"))
        self.assertEqual(shown["http.body_bytes_max"]["origin"], "env TENON_HTTP_BODY_BYTES_MAX")
        self.assertEqual(shown["http.header_bytes_max"]["origin"], f"{self.file}:3")
        self.assertEqual(shown["http.idle_timeout"]["origin"], "default")

    def test_every_option_can_be_set_by_its_variable(self):
        documented = records(tenon("config", "docs", "-o", "json").stdout)
        self.assertGreater(len(documented), 15)
        for option in documented:
            path, variable = option["option"], option["variable"]
            self.assertEqual(variable, "TENON_" + path.upper().replace(".", "_"))
            default = option.get("default") or ""
            value = default.strip('"') if not default.startswith("[") else "127.0.0.1"
            if option.get("secret") or not value:
                value = "text"
            value = {"http.cors_origins": "https://app.example.com",
                     "trace.otlp_endpoint": "http://127.0.0.1:4318/v1/traces"}.get(path, value)
            # One is nothing without the other.
            pair = {"http.tls_certificate": "TENON_HTTP_TLS_KEY",
                    "http.tls_key": "TENON_HTTP_TLS_CERTIFICATE"}.get(path)
            more = {pair: "text"} if pair else {}
            shown = self.show(environment={variable: value, **more})
            with self.subTest(option=path):
                self.assertEqual(shown[path]["origin"], f"env {variable}")

    def test_a_value_from_a_file(self):
        secret = self.folder / "secret"
        secret.write_text("hunter2\n")
        shown = self.show(environment={"TENON_REDIS_PASSWORD_FILE": str(secret)})
        self.assertIn("TENON_REDIS_PASSWORD_FILE", shown["redis.password"]["origin"])
        port = self.folder / "port"
        port.write_text("8123\n")
        shown = self.show(environment={"TENON_HTTP_PORT_FILE": str(port)})
        self.assertEqual(shown["http.port"]["value"], "8123")

    def test_a_variable_and_its_file_together_are_refused(self):
        secret = self.folder / "secret"
        secret.write_text("8123")
        done = self.check("", {"TENON_HTTP_PORT": "8124", "TENON_HTTP_PORT_FILE": str(secret)})
        self.assertEqual(done.returncode, 3)
        self.assertIn("TENON_HTTP_PORT_FILE", done.stdout)
        done = self.check("", {"TENON_HTTP_PORT_FILE": str(self.folder / "none")})
        self.assertEqual(done.returncode, 3)

    def test_an_unknown_variable_is_refused_with_the_nearest(self):
        done = self.check("", {"TENON_HTTP_PROT": "8080"})
        self.assertEqual(done.returncode, 3)
        self.assertIn("TENON_HTTP_PROT", done.stdout)
        self.assertRegex(done.stdout, r"TENON_HTTP_PORT\b|http\.port")

    def test_secrets_are_never_shown(self):
        environment = {"TENON_REDIS_PASSWORD": "hunter2",
                       "TENON_POSTGRES_CONNINFO": "host=db password=hunter2"}
        for form in ("text", "json", "jsonl"):
            done = tenon("config", "show", "-o", form, environment=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("hunter2", done.stdout + done.stderr)

    def test_serve_stops_at_a_refused_configuration(self):
        self.file.write_text("[http]\nprot = 8080\n")
        done = tenon("serve", "--config", self.file, timeout=20)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{self.file}:2", done.stderr)
        self.assertIn("port", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_the_reference_names_every_option(self):
        text = tenon("config", "docs").stdout
        for option in records(tenon("config", "docs", "-o", "json").stdout):
            self.assertIn(option["option"].split(".")[-1], text)


class Migrations(DatabaseCase):
    def migrate(self, *arguments):
        return tenon("migrate", *arguments, "--set", f"postgres.conninfo={self.fresh}")

    def schema(self):
        return self.sql("SELECT relnamespace::regnamespace, relname, relkind FROM pg_class "
                        "WHERE relnamespace::regnamespace::text NOT LIKE 'pg_%' "
                        "AND relnamespace::regnamespace::text <> 'information_schema' "
                        "ORDER BY 1, 2", self.fresh)

    def test_plan_lists_all_and_changes_nothing(self):
        done = self.migrate("plan", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        planned = records(done.stdout)
        self.assertGreaterEqual(len(planned), 2)
        self.assertTrue(any("0001_links.sql" in json.dumps(step) for step in planned))
        self.assertEqual(self.schema(), "")

    def test_migrate_then_nothing_is_left_to_do(self):
        done = self.migrate()
        self.assertEqual(done.returncode, 0, done.stderr)
        schema = self.schema()
        self.assertIn("links", schema)
        self.assertEqual(records(self.migrate("plan", "-o", "json").stdout or "[]"), [])
        self.assertEqual(self.migrate().returncode, 0)
        self.assertEqual(self.schema(), schema)

    def test_the_running_server_has_nothing_pending(self):
        done = tenon("migrate", "plan", "--data", self.server.data, "-o", "json")
        self.assertEqual((done.returncode, records(done.stdout)), (0, []), done.stderr)

    def serve(self):
        folder = new_folder(self)
        config = folder / "tenon.toml"
        config.write_text(f"[http]\nport = 0\n[postgres]\nconninfo = {json.dumps(self.fresh)}\n"
                          f"[redis]\naddress = {json.dumps(self.facts['redis'])}\n")
        log = open(folder / "log", "w+")
        self.addCleanup(log.close)
        process = subprocess.Popen([PROGRAM, "serve", "--config", config], stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL, env=clean_environment())
        self.addCleanup(process.kill)
        return process, folder / "log"

    def test_serve_refuses_a_schema_it_does_not_know(self):
        process, log = self.serve()
        self.assertNotEqual(process.wait(30), 0)
        self.assertIn("migrate", log.read_text())

    def test_serve_on_a_migrated_database(self):
        self.assertEqual(self.migrate().returncode, 0)
        process, log = self.serve()
        port = wait_for("a listening port", lambda: self.port_of(process, log))
        made = records(tenon("keys", "make", "serve", "-o", "json", "--set",
                             f"postgres.conninfo={self.fresh}").stdout)[0]
        client = Client(f"http://127.0.0.1:{port}", made["key"])
        self.addCleanup(client.close)
        wait_for("readiness", lambda: client.ask("GET", "/readyz").status == 200)
        answer = client.ask("POST", "/v1/links", {"url": "https://example.com/served"})
        self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(client.ask("GET", "/" + answer.json["code"]).headers["location"],
                         "https://example.com/served")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0, log.read_text())

    def port_of(self, process, log):
        """The port that the process listens on; fails when it has ended."""
        self.assertIsNone(process.poll(), log.read_text())
        done = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True)
        found = re.search(rf"127\.0\.0\.1:(\d+) .*pid={process.pid},", done.stdout)
        return int(found[1]) if found else None


if __name__ == "__main__":
    unittest.main()
