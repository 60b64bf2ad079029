"""A server whose lock table is small: the promised number of writers fits, more are told of."""

import subprocess
import unittest

from tests.support.cases import clean_environment, records, tenon
from tests.support.cluster import BINARIES, Clusters
from tests.support.dev import wait_for

PORT = 5432
ROOM = {"max_locks_per_transaction": 64, "max_connections": 40, "max_prepared_transactions": 0}
# 64 locks for each of 40 connections hold the 1,024 buckets of two writers, not of three.
WRITERS_THAT_FIT = 2
ENTER = ("SELECT tenon.enter((SELECT array_agg(b) FROM generate_series(0, 1023) AS b), "
         "(SELECT array_agg(1::bigint) FROM generate_series(0, 1023)));")


class Writer:
    """A transaction that holds the lock of every bucket until it is ended."""

    def __init__(self, clusters):
        self.process = subprocess.Popen(
            [BINARIES / "psql", "-h", clusters.folder, "-p", str(PORT), "-U", "tenon", "-d",
             "tenon", "-X", "-At", "-v", "VERBOSITY=verbose"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=clean_environment())
        self.process.stdin.write(f"BEGIN; {ENTER} \\echo end\n")
        self.process.stdin.flush()
        lines = iter(self.process.stdout.readline, "end\n")
        self.said = "".join(lines)

    def end(self):
        self.process.communicate("\\q\n")


class LockRoom(unittest.TestCase):
    def setUp(self):
        self.clusters = Clusters()
        self.addCleanup(self.clusters.remove)
        self.clusters.make_server("small", PORT, **ROOM)
        self.environment = {"TENON_POSTGRES_CONNINFO": self.clusters.conninfo(PORT),
                            "TENON_REDIS_ADDRESS": f"unix:{self.clusters.folder}/no-redis.sock"}
        self.assertEqual(tenon("migrate", environment=self.environment).returncode, 0)

    def judge(self, cores):
        """What doctor says of the lock table when each core has two connections for writers."""
        done = tenon("doctor", "-o", "json", environment={
            **self.environment, "TENON_PROCESS_CORES": str(cores),
            "TENON_POSTGRES_MULTIPLEXED": "1", "TENON_POSTGRES_EXCLUSIVE_MAX": "1"})
        findings = {finding["id"]: finding for finding in records(done.stdout)}
        return findings["postgres.lock_table"]["severity"]

    def write_at_once(self, count):
        """What each of so many writers heard while all the others hold their locks."""
        writers = []
        try:
            for _ in range(count):
                writers.append(Writer(self.clusters))
            return [writer.said for writer in writers]
        finally:
            for writer in writers:
                writer.end()

    def test_what_doctor_allows_fits_and_what_it_refuses_runs_out(self):
        self.assertEqual(self.judge(cores=1), "ok")
        self.assertEqual(self.judge(cores=2), "warning")
        for said in self.write_at_once(WRITERS_THAT_FIT):
            self.assertNotIn("ERROR", said)
        # PostgreSQL shares out some slack; far beyond its settings it has none.
        refused = [said for said in self.write_at_once(30) if "ERROR" in said]
        self.assertTrue(refused)
        for said in refused:
            self.assertIn("53200", said)
        # Refused is a transaction, not the server.
        wait_for("room", lambda: "ERROR" not in self.write_at_once(1)[0])
