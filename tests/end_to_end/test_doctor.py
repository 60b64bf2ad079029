"""`tenon doctor` on what is well and on what was broken for it."""

import json
import subprocess
import unittest

from tests.support.cases import DatabaseCase, ServerCase, clean_environment, records, tenon
from tests.support.dev import PROGRAM, Dev
from tests.support.serve import Serve


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class Doctor(DatabaseCase):
    def examine(self, *arguments, code=0):
        """The findings by id."""
        done = tenon("doctor", *arguments, "-o", "json")
        self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        findings = {finding["id"]: finding for finding in records(done.stdout)}
        for finding in findings.values():
            self.assertEqual("fix" in finding, finding["severity"] != "ok", finding)
        return findings

    def examine_fresh(self, *arguments, code=0):
        return self.examine("--set", f"postgres.conninfo={self.fresh}",
                            "--set", f"redis.address={self.facts['redis']}", *arguments, code=code)

    def assert_severity(self, findings, identity, severity, mentioned=""):
        self.assertEqual(findings[identity]["severity"], severity, findings[identity])
        self.assertIn(mentioned, findings[identity]["evidence"])

    def migrate(self):
        done = tenon("migrate", "--set", f"postgres.conninfo={self.fresh}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_dev_is_well(self):
        findings = self.examine("--data", self.server.data)
        # How many files may be open, and how many cores there are, is this machine's own matter.
        bad = {identity for identity, finding in findings.items()
               if finding["severity"] in ("warning", "failure")}
        self.assertLessEqual(bad, {"machine.open_files", "postgres.lock_table",
                                   "postgres.connections"})
        self.assert_severity(findings, "server.ready", "ok", self.server.url)
        self.assert_severity(findings, "machine.disk", "ok", str(self.server.data))

    def test_forms(self):
        text = tenon("doctor", "--data", self.server.data).stdout
        self.assertRegex(text.splitlines()[-1], r"^0 failed, \d+ warnings, \d+ notes, \d+ ok$")
        self.assertRegex(text, r"(?m)^ok +postgres\.version +(main|control): PostgreSQL \d+")
        lines = tenon("doctor", "--data", self.server.data, "-o", "jsonl").stdout.splitlines()
        self.assertEqual({json.loads(line)["id"] for line in lines},
                         set(self.examine("--data", self.server.data)))

    def test_an_empty_database(self):
        findings = self.examine_fresh(code=3)
        self.assert_severity(findings, "schema.pending", "failure", "links/0001")
        self.assertIn("tenon migrate", findings["schema.pending"]["fix"])

    def test_a_changed_and_an_unknown_migration(self):
        self.migrate()
        self.assert_severity(self.examine_fresh(), "schema.changed", "ok")
        self.sql("UPDATE tenon.migrations SET checksum = decode(repeat('0', 64), 'hex') "
                 "WHERE room = 'links' AND number = 1", self.fresh)
        self.assert_severity(self.examine_fresh(code=3), "schema.changed", "failure", "links/0001")
        self.sql("UPDATE tenon.migrations SET number = 999 WHERE room = 'links' AND number = 1",
                 self.fresh)
        self.assert_severity(self.examine_fresh(code=3), "schema.ahead", "failure", "links/0999")

    def test_a_setting_that_loses_writes(self):
        self.migrate()
        self.sql(f"ALTER DATABASE {self.name} SET synchronous_commit = off", self.fresh)
        findings = self.examine_fresh(code=3)
        self.assert_severity(findings, "postgres.synchronous_commit", "failure", "off")

    def test_a_superuser(self):
        self.migrate()
        self.fresh = self.fresh.replace("user=tenon", "user=postgres")
        self.assert_severity(self.examine_fresh(), "postgres.role", "warning", "postgres")

    def test_a_plain_owner_is_enough(self):
        """Neither superuser nor replication, and no right to make roles: all of it works."""
        role = "plain_" + self.name
        setup = self.owner.replace("user=tenon", "user=postgres")
        self.sql(f"CREATE ROLE {role} LOGIN", setup)
        self.addCleanup(self.sql, f"DROP ROLE {role}", setup)
        self.addCleanup(self.sql, f"REASSIGN OWNED BY {role} TO tenon",
                        self.fresh.replace("user=tenon", "user=postgres"))
        self.sql(f"ALTER DATABASE {self.name} OWNER TO {role}", setup)
        self.fresh = self.fresh.replace("user=tenon", f"user={role}")
        self.migrate()
        findings = self.examine_fresh()
        self.assert_severity(findings, "postgres.role", "ok", "no superuser and owns the database")
        self.assertNotIn("failure", {finding["severity"] for finding in findings.values()})
        environment = {"TENON_POSTGRES_CONNINFO": self.fresh,
                       "TENON_REDIS_ADDRESS": self.facts["redis"]}
        made = tenon("keys", "make", "first", "-o", "json", environment=environment)
        self.assertEqual(made.returncode, 0, made.stderr)
        serving = Serve.beside(self.server, **environment)
        self.addCleanup(serving.stop)
        client = serving.start().client(key=False)
        self.addCleanup(client.close)
        client.key = records(made.stdout)[0]["key"]
        answer = client.ask("POST", "/v1/links", {"url": "https://example.com/"})
        self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(client.ask("GET", "/" + answer.json["code"]).status, 302)
        self.assertEqual(client.ask("GET", "/v1/links").json["links"], [answer.json])

    def test_more_cores_than_the_database_is_set_up_for(self):
        findings = self.examine("--data", self.server.data, "--set", "process.cores=64")
        self.assert_severity(findings, "postgres.lock_table", "warning", "67584")
        self.assertIn("max_locks_per_transaction", findings["postgres.lock_table"]["fix"])
        self.assert_severity(findings, "postgres.connections", "warning", "640")

    def test_engines_away(self):
        findings = self.examine("--set", "postgres.conninfo=host=/nowhere user=tenon dbname=tenon",
                                "--set", "redis.address=127.0.0.1:1", code=3)
        self.assert_severity(findings, "postgres.reachable", "failure", "/nowhere")
        self.assert_severity(findings, "redis.reachable", "warning")
        self.assertNotIn("postgres.fsync", findings)
        self.assertIn("machine.open_files", findings)

    def test_open_to_the_network_without_tls(self):
        findings = self.examine("--data", self.server.data, "--set",
                                "http.addresses=127.0.0.1,0.0.0.0")
        self.assert_severity(findings, "http.encryption", "warning", "0.0.0.0")

    def test_few_open_files(self):
        done = subprocess.run(
            ["bash", "-c", 'ulimit -n 500 && exec "$@"', "bash", PROGRAM, "doctor", "-o", "json",
             "--data", self.server.data], capture_output=True, text=True, timeout=60,
            env=clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        findings = {finding["id"]: finding for finding in json.loads(done.stdout)}
        self.assert_severity(findings, "machine.open_files", "warning", "500")

    def test_a_refused_configuration(self):
        done = tenon("doctor", environment={"TENON_HTTP_PROT": "1"})
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("TENON_HTTP_PROT", done.stderr)


if __name__ == "__main__":
    unittest.main()
