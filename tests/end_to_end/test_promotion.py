"""A primary that dies, its standby that is promoted, and the old primary that comes back."""

import json
import signal
import subprocess
import unittest

from tests.support.cases import clean_environment, records, tenon
from tests.support.cluster import Clusters
from tests.support.dev import PROGRAM, Client, wait_for

OLD, NEW = 5432, 5433


class Promotion(unittest.TestCase):
    def setUp(self):
        self.clusters = Clusters()
        self.addCleanup(self.clusters.remove)
        self.clusters.make_server("old", OLD)
        self.environment = {
            "TENON_POSTGRES_CONNINFO": self.clusters.conninfo(OLD, NEW),
            "TENON_REDIS_ADDRESS": f"unix:{self.clusters.folder}/no-redis.sock",
            "TENON_HTTP_PORT": "0", "TENON_LOG_FORM": "json", "TENON_PROCESS_CORES": "2"}
        self.command("migrate")
        self.key = records(self.command("keys", "make", "promotion", "-o", "json"))[0]["key"]
        self.clusters.run("pg_basebackup", "-h", self.clusters.folder, "-p", OLD, "-U", "postgres",
                          "-D", "new", "-R", "-X", "stream", "-c", "fast")
        self.clusters.start("new", NEW)
        self.serve()

    def command(self, *arguments):
        done = tenon(*arguments, environment=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def serve(self):
        path = self.clusters.folder / "serve.log"
        with open(path, "wb") as log:
            self.process = subprocess.Popen([str(PROGRAM), "serve"], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log,
                                            env=clean_environment(**self.environment))
        self.addCleanup(self.end)

        def address():
            self.assertIsNone(self.process.poll(), path.read_text())
            whole, _, _ = path.read_text().rpartition("\n")
            lines = [json.loads(line) for line in whole.splitlines() if line.startswith("{")]
            return [line["url"] for line in lines if "url" in line]

        self.client = Client(wait_for("the address that is served", address)[0], self.key)
        self.addCleanup(self.client.close)

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.wait(30)

    def create(self, number):
        answer = self.client.ask("POST", "/v1/links", {"url": f"https://example.com/{number}"})
        self.assertIn(answer.status, (201, 503, 504), answer.text)
        return answer.status == 201 and answer.json["code"]

    def links(self, port):
        return set(self.clusters.sql(port, "SELECT code FROM links.links").split())

    def wait_for_standby(self):
        at = self.clusters.sql(OLD, "SELECT pg_current_wal_lsn()")
        wait_for("the standby", lambda: self.clusters.sql(
            NEW, f"SELECT pg_last_wal_replay_lsn() >= '{at}'") == "t")

    def assert_refused(self, port, sqlstate):
        """The server itself refuses the fence to whoever writes there."""
        with self.assertRaisesRegex(AssertionError, sqlstate):
            self.clusters.sql(port, "SELECT tenon.enter('{1,2,3}', '{1,1,1}')")

    def test_no_write_before_the_fences_and_none_on_the_old_timeline(self):
        before = {self.create(number) for number in range(10)}
        self.assertNotIn(False, before)
        self.wait_for_standby()
        self.assert_refused(NEW, "55000")  # a standby

        # Promoted while nobody looks, the node refuses every write by itself.
        self.process.send_signal(signal.SIGSTOP)
        self.clusters.kill("old")
        self.clusters.sql(NEW, "SELECT pg_promote()", "postgres")
        self.assertEqual(self.clusters.sql(NEW, "SELECT tenon.timeline()"), "2")
        self.assert_refused(NEW, "TN001")
        self.assertEqual(self.links(NEW), before)

        # Seen, its fences are confirmed, and all goes on.
        self.process.send_signal(signal.SIGCONT)
        after = {wait_for("a link on the promoted node", lambda: self.create(100))}
        confirmed = "SELECT count(*) FROM tenon.fences WHERE timeline <> 2"
        self.assertEqual(self.clusters.sql(NEW, confirmed), "0")
        self.assertLessEqual(before | after, self.links(NEW))

        # The old one is back, first in the list and still of the opinion that it is the primary.
        self.clusters.start("old", OLD)
        self.assertEqual(self.clusters.sql(OLD, "SELECT tenon.timeline()"), "1")
        self.clusters.sql(OLD, "SELECT tenon.enter('{1}', '{1}')")
        self.lose_every_connection()
        for number in range(200, 230):
            after.add(wait_for("a link", lambda: self.create(number)))
        self.assertEqual(self.links(OLD), before)
        self.assertLessEqual(before | after, self.links(NEW))
        self.assertEqual(self.clusters.sql(
            OLD, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tenon'"), "0")

    def lose_every_connection(self):
        ended = self.clusters.sql(
            NEW, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE application_name = 'tenon'")
        self.assertGreater(int(ended), 0)
        wait_for("new connections", lambda: int(self.clusters.sql(
            NEW, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tenon'")) >= 2)
