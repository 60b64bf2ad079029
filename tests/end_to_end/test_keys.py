"""`tenon keys`, and what commands that end something leave."""

import collections
import json
import shutil
import subprocess
import tempfile
import unittest
import uuid

from tests.support.cases import ServerCase, records, tenon
from tests.support.dev import Client, Dev


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class Keys(ServerCase):
    def keys(self, *arguments, code=0):
        done = tenon("keys", *arguments, "--data", self.server.data)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def listed(self, *arguments):
        return {record["id"]: record
                for record in records(self.keys("list", *arguments, "-o", "json").stdout)}

    def test_make_shows_the_key_once(self):
        name = "once-" + uuid.uuid4().hex
        done = self.keys("make", name, "--scope", "links:read", "-o", "json")
        made = records(done.stdout)[0]
        self.assertRegex(made["key"], r"^tnk_[0-9A-Za-z_-]{20,}$")
        self.assertRegex(made["id"], r"^key_")
        record = self.listed()[made["id"]]
        self.assertEqual((record["name"], record["scopes"]), (name, ["links:read"]))
        self.assertNotIn(made["key"], self.keys("list").stdout)
        self.assertIn(name, self.keys("list").stdout)

    def test_text_holds_the_key(self):
        self.assertRegex(self.keys("make", "text").stdout, r"tnk_[0-9A-Za-z_-]{20,}")

    def test_lists_are_per_project(self):
        made = records(self.keys("make", "elsewhere", "--project", "elsewhere", "-o",
                                 "json").stdout)[0]
        self.assertNotIn(made["id"], self.listed())
        self.assertIn(made["id"], self.listed("--project", "elsewhere"))

    def test_last_use_is_shown(self):
        made = records(self.keys("make", "used", "-o", "json").stdout)[0]
        client = Client(self.server.url, made["key"])
        self.addCleanup(client.close)
        self.assertEqual(client.ask("GET", "/v1/links").status, 200)
        # Noted now and then, and at an orderly stop.
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.assertTrue(self.listed()[made["id"]].get("last_used_at"))

    def test_revoked_keys_say_so(self):
        made = records(self.keys("make", "ended", "-o", "json").stdout)[0]
        self.keys("revoke", made["id"])
        record = self.listed().get(made["id"])
        self.assertTrue(record is None or record.get("revoked_at"), record)

    def test_no_command_deletes_a_row(self):
        """Those that end something: a command that deletes has to ask for the name of it."""
        made = records(self.keys("make", "ended", "-o", "json").stdout)[0]
        client = Client(self.server.url, made["key"])
        self.addCleanup(client.close)
        made_link = client.ask("POST", "/v1/links", {"url": "https://example.com/"})
        self.assertEqual(made_link.status, 201, made_link.text)
        before = self.rows()
        self.assertGreater(before["links.links"], 0)
        self.keys("rotate", made["id"], "--overlap", "0")
        self.keys("revoke", made["id"])
        for command in (("migrate", "plan"), ("migrate",), ("doctor",)):
            done = tenon(*command, "--data", self.server.data)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(tenon("stop", "--data", self.server.data).returncode, 0)
        self.server.start()
        after = self.rows()
        lost = {table for table in before if after[table] < before[table]}
        self.assertLessEqual(lost, {"tenon.processes"})  # leases, which a stop gives back

    def rows(self):
        """How many rows each table of Tenon has, in all databases together."""
        facts = json.loads((self.server.data / "run.json").read_text())
        nodes = [node.split(":", 1)[1] for node in facts["nodes"].split(";") if node.strip()]
        total = collections.Counter()
        for conninfo in (facts["postgres"], *nodes):
            total.update(self.rows_in(conninfo.strip()))
        return total

    def rows_in(self, conninfo):
        statement = (
            "SELECT format('%s.%s', schemaname, tablename), (xpath('/row/count/text()', "
            "query_to_xml(format('SELECT count(*) FROM %I.%I', schemaname, tablename), false, "
            "true, '')))[1] FROM pg_tables "
            "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")
        done = subprocess.run(["psql", "-X", "-At", "-F", " ", "-c", statement, conninfo],
                              capture_output=True, text=True, timeout=30, check=True)
        return {name: int(count) for name, count in map(str.split, done.stdout.splitlines())}

    def test_a_name_stands_for_its_one_key_without_an_end(self):
        name = "named-" + uuid.uuid4().hex
        first = records(self.keys("make", name, "-o", "json").stdout)[0]
        second = records(self.keys("rotate", name, "-o", "json").stdout)[0]
        third = records(self.keys("rotate", name, "-o", "json").stdout)[0]
        self.assertEqual(len({made["id"] for made in (first, second, third)}), 3)
        self.keys("revoke", name)
        listed = self.listed()
        self.assertTrue(listed[third["id"]]["revoked_at"])
        self.assertNotIn("revoked_at", listed[first["id"]])
        self.assertIn("0 keys", self.keys("revoke", name, code=1).stderr)
        twins = [records(self.keys("make", name, "-o", "json").stdout)[0] for _ in range(2)]
        self.assertIn("2 keys", self.keys("rotate", name, code=1).stderr)
        self.keys("revoke", twins[0]["id"])
        self.keys("rotate", name)

    def test_the_text_of_a_key_is_not_repeated(self):
        made = records(self.keys("make", "told", "-o", "json").stdout)[0]
        self.assertNotIn(made["key"], self.keys("revoke", made["key"], code=1).stderr)

    def test_unknown_and_malformed_ids(self):
        made = records(self.keys("make", "other", "-o", "json").stdout)[0]
        unknown = made["id"][:-1] + ("0" if made["id"][-1] != "0" else "1")
        for action in ("rotate", "revoke"):
            for given in (unknown, "key_", "nothing", made["key"]):
                done = self.keys(action, given, code=1)
                with self.subTest(action=action, given=given):
                    self.assertEqual(done.stdout, "")
                    self.assertEqual(len(done.stderr.strip().splitlines()), 1)

    def test_without_engines(self):
        folder = tempfile.mkdtemp(prefix="tenon-test-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        done = tenon("keys", "list", "--data", folder, "--set",
                     "postgres.conninfo=host=/nowhere user=tenon dbname=tenon",
                     "--set", "postgres.connect_timeout=200ms")
        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
        self.assertIn("/nowhere", done.stderr)


if __name__ == "__main__":
    unittest.main()
