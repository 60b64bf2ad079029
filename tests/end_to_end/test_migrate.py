"""Every migration fails once on the second of three nodes, and is taken up where it stopped."""

import unittest

from tests.support.cases import records, tenon
from tests.support.cluster import Clusters

PORT = 5432
NODES = ("one", "two", "three")

# Refuses the first statement of the migration that comes after `at` others, as a node might whose
# disk is full or which has an object of that name.
TROUBLE = """
CREATE SCHEMA trouble;
GRANT USAGE ON SCHEMA trouble TO tenon;
CREATE TABLE trouble.at (migrations integer NOT NULL);
INSERT INTO trouble.at VALUES (0);
GRANT SELECT ON trouble.at TO tenon;
CREATE FUNCTION trouble.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    applied integer;
BEGIN
    IF to_regclass('tenon.migrations') IS NULL THEN
        RETURN;
    END IF;
    EXECUTE 'SELECT count(*) FROM tenon.migrations' INTO applied;
    IF applied = (SELECT migrations FROM trouble.at) THEN
        RAISE EXCEPTION 'this node is in trouble' USING ERRCODE = '53100';
    END IF;
END
$$;
CREATE EVENT TRIGGER trouble ON ddl_command_start EXECUTE FUNCTION trouble.refuse();
"""


class FailingMigration(unittest.TestCase):
    def setUp(self):
        self.clusters = Clusters()
        self.addCleanup(self.clusters.remove)
        self.clusters.make_server("cluster", PORT)
        for node in NODES:
            self.clusters.sql(PORT, f"CREATE DATABASE {node} OWNER tenon", "postgres", "postgres")
        self.clusters.sql(PORT, TROUBLE, "postgres", "two")
        nodes = "; ".join(f"{node}: host={self.clusters.folder} port={PORT} user=tenon "
                          f"dbname={node}" for node in NODES)
        self.environment = {"TENON_POSTGRES_CONNINFO": self.clusters.conninfo(PORT),
                            "TENON_POSTGRES_NODES": nodes}

    def migrate(self, *arguments):
        return tenon("migrate", *arguments, environment=self.environment)

    def names(self):
        """All migrations, in their order."""
        steps = records(self.migrate("plan", "-o", "json").stdout)
        return list(dict.fromkeys(step["migration"] for step in steps))

    def applied(self, node):
        return int(self.clusters.sql(PORT, "SELECT count(*) FROM tenon.migrations", database=node))

    def fail_after(self, migrations):
        self.clusters.sql(PORT, f"UPDATE trouble.at SET migrations = {migrations}", "postgres",
                          "two")

    def assert_not_served(self, reason):
        refused = tenon("serve", environment=self.environment)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn(reason, refused.stderr)
        self.assertIn("Run `tenon migrate`", refused.stderr)

    def test_each_fails_on_the_second_node_and_goes_on_from_there(self):
        names = self.names()
        self.assertGreater(len(names), 5)
        for number, name in enumerate(names):
            with self.subTest(migration=name):
                self.fail_after(number)
                failed = self.migrate()
                self.assertEqual(failed.returncode, 1, failed.stderr)
                for said in ("two", name.removesuffix(".sql"), "line", "53100", "in trouble"):
                    self.assertIn(said, failed.stderr)
                self.assertEqual(self.applied("two"), number)
        self.fail_after(len(names) - 1)
        self.assertEqual(self.applied("one"), len(names))
        untouched = "SELECT to_regnamespace('tenon') IS NULL"
        self.assertEqual(self.clusters.sql(PORT, untouched, database="three"), "t")
        self.assert_not_served("holds no map")

        self.fail_after(-1)
        mended = self.migrate()
        self.assertEqual(mended.returncode, 0, mended.stderr)
        self.assertEqual({self.applied(node) for node in NODES}, {len(names)})
        # An upgrade that stopped before the last file of the second node.
        self.clusters.sql(PORT, "DELETE FROM tenon.migrations WHERE (room, number) = "
                          "(SELECT room, max(number) FROM tenon.migrations WHERE room = 'links' "
                          "GROUP BY room)", database="two")
        self.assert_not_served("Node two lacks links/")
