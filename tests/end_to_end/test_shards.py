"""Three nodes and a control database: what one node's users see, and what faults change."""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from tests.support.cases import ServerCase, all_at_once, clean_environment, records, tenon
from tests.support.dev import (PROGRAM, Client, Dev, kill_processes_in, processes_in,
                               wait_for)

NODES = ("node-1", "node-2", "node-3")
PORTS = {"postgres": 5432, "node-1": 5433, "node-2": 5434, "node-3": 5435}
TARGET = "https://example.com/page"


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0", "--shards", "3")).start()


def tearDownModule():
    ServerCase.server.remove()


def sockets(dev):
    return json.loads((dev.data / "run.json").read_text())["postgres"].split()[0].split("=")[1]


def sql(dev, cluster, statement, user="tenon"):
    """One statement in a private cluster; the lines of its answer."""
    psql = next(iter(sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"))))
    done = subprocess.run(
        [psql, "-h", sockets(dev), "-p", str(PORTS[cluster]), "-U", user, "-d", "tenon", "-X",
         "-At", "-v", "ON_ERROR_STOP=1", "-c", statement],
        check=True, capture_output=True, text=True, env=clean_environment())
    return done.stdout.split()


def count(dev, cluster, table):
    return int(sql(dev, cluster, f"SELECT count(*) FROM {table}")[0])


def create(client, number, **headers):
    return client.ask("POST", "/v1/links", {"url": f"{TARGET}/{number}"}, headers)


def check_named(client, name):
    """The line of /readyz that begins with a name."""
    checks = client.ask("GET", "/readyz").json["checks"]
    return next(check for check in checks if check["name"] == name)


class Stopped:
    """A private cluster that ended and cannot be started until this is left."""

    def __init__(self, dev, cluster):
        self.folder = dev.engines() / cluster
        self.settings = self.folder / "postgresql.auto.conf"

    def __enter__(self):
        self.kept = self.settings.read_text()
        self.settings.write_text("no_such_setting = 1\n")
        wait_for("the end of the cluster", lambda: kill_processes_in(self.folder))
        return self

    def __exit__(self, *_):
        self.settings.write_text(self.kept)


class Second:
    """A `tenon serve` beside a `tenon dev`, on its engines."""

    def __init__(self, dev, control=None, folder=None, user="tenon"):
        state = json.loads((dev.data / "run.json").read_text())
        self.owned = tempfile.TemporaryDirectory(prefix="tenon-test-")
        self.folder = pathlib.Path(folder or self.owned.name)
        self.dev = dev
        own = f"user={user}"
        self.environment = clean_environment(
            TENON_POSTGRES_CONNINFO=(control or state["postgres"]).replace("user=tenon", own),
            TENON_POSTGRES_NODES=state["nodes"].replace("user=tenon", own),
            TENON_REDIS_ADDRESS=state["redis"],
            TENON_HTTP_PORT="0", TENON_PROCESS_STATE_FOLDER=str(self.folder),
            TENON_PROCESS_CORES="1", TENON_LOG_FORM="json")
        self.process = None

    def start(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(PROGRAM), "serve"], env=self.environment,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.url = wait_for("requests to be served", self.find_url)
        self.client = Client(self.url, self.dev.key)
        return self

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def find_url(self):
        for line in self.text().splitlines():
            if '"requests are served"' in line:
                return json.loads(line)["url"]
        if self.process.poll() is not None:
            raise AssertionError(f"tenon serve ended with {self.process.returncode}: {self.text()}")
        return None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        self.owned.cleanup()


class Nodes(ServerCase):
    def test_links_spread_over_all_nodes_and_none_lies_in_the_control_database(self):
        before = {node: count(self.server, node, "links.links") for node in NODES}
        for number in range(60):
            made = create(self.client, number, **{"Idempotency-Key": f"spread-{number}"})
            self.assertEqual(made.status, 201, made.text)
            followed = self.visitor.ask("GET", "/" + made.json["code"])
            self.assertEqual(followed.headers["location"], f"{TARGET}/{number}")
        for node in NODES:
            self.assertGreater(count(self.server, node, "links.links"), before[node], node)
        self.assertEqual(count(self.server, "postgres", "links.links"), 0)

    def test_every_bucket_has_one_node_and_its_fence_there(self):
        owned = sql(self.server, "postgres",
                    "SELECT count(DISTINCT bucket), count(*) FROM tenon.map_buckets")
        self.assertEqual(owned, ["1024|1024"])
        fences = [bucket for node in NODES
                  for bucket in sql(self.server, node, "SELECT bucket FROM tenon.fences")]
        self.assertEqual(sorted(map(int, fences)), list(range(1024)))

    def test_a_page_of_links_is_merged_from_all_nodes(self):
        codes = []
        for number in range(25):
            codes.append(create(self.client, number,
                                **{"Idempotency-Key": f"page-{number}"}).json["code"])
        listed, cursor = [], ""
        while len(listed) < 25:
            page = self.client.ask("GET", f"/v1/links?limit=7{cursor}").json
            listed += [link["code"] for link in page["links"]]
            cursor = f"&cursor={page.get('next_cursor')}"
        self.assertEqual(listed[:25], codes[::-1])

    def test_a_fresh_key_is_known_on_every_node_at_once(self):
        made = tenon("keys", "make", "fresh", "--data", self.server.data, "-o", "json")
        key = records(made.stdout)[0]["key"]
        self.assertEqual(self.server.client(key).ask("GET", "/v1/links").status, 200)
        for node in NODES:
            names = sql(self.server, node, "SELECT name FROM access.api_keys")
            self.assertIn("fresh", names, node)

    def test_a_role_without_rights_to_the_schema_serves(self):
        for cluster in PORTS:
            sql(self.server, cluster, "CREATE ROLE serves LOGIN", user="postgres")
        state = json.loads((self.server.data / "run.json").read_text())
        done = tenon("migrate", environment={"TENON_POSTGRES_CONNINFO": state["postgres"],
                                             "TENON_POSTGRES_NODES": state["nodes"],
                                             "TENON_POSTGRES_SERVING_ROLE": "serves"})
        self.assertEqual(done.returncode, 0, done.stderr)
        with Second(self.server, user="serves") as second:
            for number in range(9):
                made = create(second.client, number, **{"Idempotency-Key": f"role-{number}"})
                self.assertEqual(made.status, 201, made.text)
        with self.assertRaises(subprocess.CalledProcessError):
            sql(self.server, "node-1", "DROP TABLE links.links", user="serves")

    def test_a_reference_row_that_another_program_changed_is_copied(self):
        sql(self.server, "postgres", "UPDATE access.projects SET name = 'by-hand' "
                                     "WHERE name = 'demo'")
        try:
            for node in NODES:
                wait_for(f"the copy on {node}", lambda node=node: sql(
                    self.server, node, "SELECT name FROM access.projects") == ["by-hand"])
        finally:
            sql(self.server, "postgres", "UPDATE access.projects SET name = 'demo'")

    def test_a_lost_node_is_not_made_anew_in_silence(self):
        code = create(self.client, 1).json["code"]
        node = self.server.engines() / "node-2"
        self.server.stop()
        node.rename(node.with_name("elsewhere"))
        try:
            refused = tenon("dev", "--data", self.server.data, "--port", "0")
            self.assertEqual((refused.returncode, refused.stdout), (1, ""), refused.stderr)
            self.assertEqual(len(refused.stderr.strip().splitlines()), 1, refused.stderr)
            for told in (node, "put it back", f"rm -r {self.server.data}"):
                self.assertIn(str(told), refused.stderr)
            self.assertFalse(node.exists())
        finally:
            node.with_name("elsewhere").rename(node)
            self.server.start()
        self.assertEqual(self.server.client(key=False).ask("GET", "/" + code).status, 302)

    def test_another_number_of_shards_is_refused(self):
        self.server.stop()
        try:
            refused = tenon("dev", "--data", self.server.data, "--shards", "2")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("was made with --shards 3", refused.stderr)
        finally:
            self.server.arguments = ["--port", "0"]
            self.server.start()
        self.assertTrue(check_named(self.server.client(), "postgres node-3")["up"])


class Faults(ServerCase):
    def test_one_node_stopped_its_links_answer_503_and_all_others_go_on(self):
        made = [create(self.client, number, **{"Idempotency-Key": f"stopped-{number}"}).json
                for number in range(40)]
        away = set(sql(self.server, "node-2", "SELECT code FROM links.links"))
        with Stopped(self.server, "node-2"):
            wait_for("the node's absence",
                     lambda: not check_named(self.visitor, "postgres node-2")["up"])
            self.assertEqual(self.visitor.ask("GET", "/readyz").status, 200)
            for link in made:
                answer = self.client.ask("GET", "/v1/links/" + link["code"])
                if link["code"] in away:
                    self.assertEqual(answer.status, 503, answer.text)
                    self.assertGreaterEqual(int(answer.headers["retry-after"]), 1)
                else:
                    self.assertEqual(answer.status, 200, answer.text)
            during = [create(self.client, number, **{"Idempotency-Key": f"during-{number}"})
                      for number in range(40)]
            self.assertEqual({answer.status for answer in during}, {201, 503})
        wait_for("the node's return", lambda: check_named(self.visitor, "postgres node-2")["up"])
        # /readyz speaks for every core, so nobody is refused from here on, whichever answers.
        for link in made:
            client = self.new_client()
            self.assertEqual(client.ask("GET", "/v1/links/" + link["code"]).status, 200)
            client.close()
        for number in range(40):
            key = {"Idempotency-Key": f"during-{number}"}
            wait_for("a link", lambda number=number, key=key:
                     create(self.client, number, **key).status == 201)

    def test_without_the_control_database_everything_goes_on_and_keys_wait(self):
        with Second(self.server) as second:
            with Stopped(self.server, "postgres"):
                for process in (self.client, second.client):
                    wait_for("the control database's absence", lambda process=process: not
                             check_named(process, "postgres control")["up"])
                    self.assertEqual(create(process, 1).status, 201)
                    self.assertEqual(process.ask("GET", "/v1/links?limit=1").status, 200)
                refused = tenon("keys", "make", "late", "--data", self.server.data)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn("control database is away", refused.stderr)
                # A restart finds the map that was kept.
                second.kill()
                second.start()
                self.assertEqual(create(second.client, 2).status, 201)
        wait_for("the control database's return",
                 lambda: check_named(self.client, "postgres control")["up"])

    def test_without_a_map_a_start_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as empty:
            second = Second(self.server, control="host=/nowhere dbname=tenon", folder=empty)
            done = subprocess.run([str(PROGRAM), "serve"], env=second.environment,
                                  capture_output=True, text=True, timeout=60)
            second.owned.cleanup()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("The control database is away", done.stderr)
        self.assertIn("no map was kept in " + empty, done.stderr)

    def test_a_process_with_an_old_map_writes_nothing(self):
        with Second(self.server) as first:
            kept = first.folder / "map.json"
            self.assertTrue(kept.exists())
            self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
            with Second(self.server, control="host=/nowhere dbname=tenon",
                        folder=first.folder) as stale:
                self.raise_epochs()
                before = sum(count(self.server, node, "links.links") for node in NODES)
                statuses = all_at_once(10, lambda _: self.flood(stale.url))
                self.assertEqual({status for some in statuses for status in some}, {503})
                self.assertEqual(sum(map(len, statuses)), 10_000)
                after = sum(count(self.server, node, "links.links") for node in NODES)
                self.assertEqual(after, before)
                # Those who hear of the new map go on.
                wait_for("the new map", lambda: create(self.client, 1).status == 201)

    def test_a_bulk_cut_off_between_its_nodes_is_finished_by_its_repeat(self):
        key = self.key_beside("node-2")
        items = [{"url": f"{TARGET}/bulk/{key}/{number}"} for number in range(60)]
        self.cut_off(items, key)
        wait_for("the node's return", lambda: self.is_reached("node-2"))
        before = self.made(key)
        self.assertEqual(before["node-2"], 0)
        self.assertGreater(before["node-1"], 0)
        self.assertGreater(before["node-3"], 0)
        # Every core finds its own way back to the node, so who is refused repeats.
        whole = wait_for("the whole array", lambda: self.bulk(self.client, items, key))
        self.assertEqual([verdict["link"]["url"] for verdict in whole.json["results"]],
                         [item["url"] for item in items])
        self.assertEqual(sum(self.made(key).values()), 60)
        again = self.bulk(self.client, items, key)
        self.assertEqual(again.headers.get("idempotency-replayed"), "true")
        self.assertEqual(again.text, whole.text)
        self.assertEqual(sum(self.made(key).values()), 60)

    def cut_off(self, items, key):
        """Sends the array to a second process, whose writes node-2 does not answer, and kills that
        process once the other nodes have committed theirs; then node-2, with what it was sent."""
        with Second(self.server) as second:
            stopped = processes_in(self.server.engines() / "node-2")
            with concurrent.futures.ThreadPoolExecutor(1) as sender:
                for pid in stopped:
                    os.kill(pid, signal.SIGSTOP)
                try:
                    asked = sender.submit(self.bulk, second.client, items, key)
                    wait_for("the other nodes' commits", lambda: all(
                        self.made(key, node) for node in ("node-1", "node-3")))
                    second.kill()
                    self.assertIsNotNone(asked.exception(timeout=15))
                finally:
                    second.kill()
                    for pid in stopped:
                        os.kill(pid, signal.SIGKILL)

    def bulk(self, client, items, key):
        answer = client.ask("POST", "/v1/links/bulk", {"links": items}, {"Idempotency-Key": key})
        return answer if answer.status == 200 else None

    def made(self, key, node=None):
        """How many links of the array lie on a node, or on each."""
        of = {name: int(sql(self.server, name, "SELECT count(*) FROM links.links WHERE url LIKE "
                                               f"'%/bulk/{key}/%'")[0])
              for name in ([node] if node else NODES)}
        return of[node] if node else of

    def is_reached(self, node):
        try:
            return sql(self.server, node, "SELECT 1") == ["1"] and \
                check_named(self.visitor, f"postgres {node}")["up"]
        except subprocess.CalledProcessError:
            return False

    def key_beside(self, away):
        """A fresh key whose claim lies on another node: found by a claim that is then deleted."""
        for number in range(100):
            key = f"cut-off-{number}"
            self.assertEqual(create(self.client, 0, **{"Idempotency-Key": key}).status, 201)
            for node in NODES:
                found = sql(self.server, node, f"DELETE FROM tenon.claims WHERE key = '{key}' "
                                               "RETURNING 'found'")
                if "found" in found and node != away:
                    return key
        raise AssertionError("no key lies elsewhere")

    def raise_epochs(self):
        for node in NODES:
            sql(self.server, node, "UPDATE tenon.fences SET epoch = epoch + 1")
        sql(self.server, "postgres", "UPDATE tenon.map_buckets SET epoch = epoch + 1")

    def flood(self, url):
        client = Client(url, self.server.key)
        return [create(client, number).status for number in range(1_000)]


if __name__ == "__main__":
    unittest.main()
