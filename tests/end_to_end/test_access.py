"""Who may do what: keys, scopes, and the walls between projects."""

import concurrent.futures
import threading
import unittest
import uuid

from tests.support.cases import ServerCase, records, tenon
from tests.support.dev import Dev, wait_for


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class KeysCase(ServerCase):
    def keys(self, *arguments):
        done = tenon("keys", *arguments, "--data", self.server.data, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return records(done.stdout)

    def new_key(self, *arguments):
        """A key's record with its text under "key" and its id under "id"."""
        return self.keys("make", "test-" + uuid.uuid4().hex[:8], *arguments)[0]

    def with_key(self, text):
        client = self.new_client()
        client.key = text
        return client


class Credentials(KeysCase):
    def assert_unauthenticated(self, answer):
        self.assert_problem(answer, 401)
        self.assertTrue(answer.headers["www-authenticate"].startswith("Bearer"))

    def test_every_endpoint_that_wants_a_key_refuses_none(self):
        document = self.client.ask("GET", "/openapi.json").json
        visitor, asked = self.new_client(key=False), 0
        for path, methods in document["paths"].items():
            for method in methods:
                if not path.startswith("/v1/"):
                    continue
                answer = visitor.ask(method.upper(), path.replace("{code}", "x"),
                                     None if method in ("get", "delete") else {})
                with self.subTest(method=method, path=path):
                    self.assert_unauthenticated(answer)
                asked += 1
        self.assertGreaterEqual(asked, 6)

    def test_malformed_credentials(self):
        key = self.server.key
        for given in ("", "Bearer", "Bearer ", key, f"Basic {key}", f"Bearer {key} {key}",
                      "Bearer tnk_", "Bearer tnk_short", "Bearer " + "x" * 5000,
                      "Bearer tnk_" + "!" * 43, f"Bearer {key}x", f"Bearer {key[:-1]}",
                      f"Bearer {key.upper()}", "Bearer null"):
            with self.subTest(given=given[:40]):
                answer = self.visitor.ask("GET", "/v1/links", None, {"Authorization": given})
                self.assert_unauthenticated(answer)

    def test_the_scheme_is_read_without_case(self):
        answer = self.visitor.ask("GET", "/v1/links", None,
                                  {"Authorization": f"bEARER {self.server.key}"})
        self.assertEqual(answer.status, 200)

    def test_one_character_changed_anywhere(self):
        key = self.server.key
        self.assertTrue(key.startswith("tnk_"))
        for place in range(len(key)):
            changed = key[:place] + ("A" if key[place] != "A" else "B") + key[place + 1:]
            answer = self.with_key(changed).ask("GET", "/v1/links")
            with self.subTest(place=place):
                self.assert_unauthenticated(answer)

    def test_a_key_is_not_taken_from_the_query(self):
        answer = self.visitor.ask("GET", f"/v1/links?key={self.server.key}")
        self.assert_unauthenticated(answer)

    def test_no_answer_or_log_shows_a_key(self):
        answer = self.with_key(self.server.key + "x").ask("GET", "/v1/links")
        self.assertNotIn(self.server.key, answer.text)
        self.assertNotIn(self.server.key, self.client.ask("GET", "/metrics").text)


class Lives(KeysCase):
    def test_a_new_key_works_at_once(self):
        made = self.new_key()
        self.assertEqual(self.with_key(made["key"]).ask("GET", "/v1/links").status, 200)

    def test_a_revoked_key_ends_within_seconds(self):
        made = self.new_key()
        client = self.with_key(made["key"])
        self.assertEqual(client.ask("GET", "/v1/links").status, 200)
        self.keys("revoke", made["id"])
        wait_for("the end of the key", lambda: client.ask("GET", "/v1/links").status == 401, 15)
        self.assert_problem(client.ask("POST", "/v1/links", {"url": "https://example.com/"}), 401)

    def test_rotation_overlaps_without_a_401(self):
        old = self.new_key()
        client = self.with_key(old["key"])
        new = self.keys("rotate", old["id"])[0]
        self.assertNotEqual(new["key"], old["key"])
        for _ in range(20):
            self.assertEqual(client.ask("GET", "/v1/links").status, 200)
            self.assertEqual(self.with_key(new["key"]).ask("GET", "/v1/links").status, 200)

    def test_nobody_meets_a_401_while_keys_are_rotated_under_load(self):
        old = self.new_key()
        # Every worker takes the newest key with its own delay, as programs of a deployment do.
        keys, stopped, outcomes = [old], threading.Event(), []

        def hammer(lag):
            client, rounds = self.server.client(), 0
            while not stopped.is_set():
                client.key = keys[max(0, len(keys) - 1 - lag)]["key"]
                for method, path, body in (("GET", "/v1/links?limit=1", None),
                                           ("POST", "/v1/links", {"url": "https://example.com/"})):
                    outcomes.append((lag, len(keys), client.ask(method, path, body).status))
                rounds += 1
                if rounds % 50 == 0:
                    client.close()  # the next connection may be another core's
            client.close()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            workers = [pool.submit(hammer, lag) for lag in (0, 0, 0, 0, 1, 1, 2, 2)]
            try:
                for number in range(1, 4):
                    seen = len(outcomes)
                    wait_for("some load", lambda: len(outcomes) > seen + 200)
                    keys.append(self.keys("rotate", keys[-1]["id"], "--overlap", "1")[0])
                    self.assertEqual(len(keys), number + 1)
                seen = len(outcomes)
                wait_for("load on the last key", lambda: len(outcomes) > seen + 200)
            finally:
                stopped.set()
            for worker in workers:
                worker.result()
        self.assertEqual({status for _, _, status in outcomes}, {200, 201})
        self.assertEqual({(lag, known) for lag, known, _ in outcomes},
                         {(lag, known) for lag in range(3) for known in range(1, 5)})
        self.assertEqual(self.server.stop(), 0)  # writes down who was used
        self.server.start()
        listed = {key["id"]: key for key in self.keys("list")}
        for key in keys:
            self.assertIn("last_used_at", listed[key["id"]])
            self.assertEqual("expires_at" in listed[key["id"]], key is not keys[-1])

    def test_rotation_without_overlap_ends_the_old_key(self):
        old = self.new_key()
        client = self.with_key(old["key"])
        self.assertEqual(client.ask("GET", "/v1/links").status, 200)
        new = self.keys("rotate", old["id"], "--overlap", "0")[0]
        wait_for("the end of the old key", lambda: client.ask("GET", "/v1/links").status == 401, 15)
        self.assertEqual(self.with_key(new["key"]).ask("GET", "/v1/links").status, 200)

    def test_a_rotated_key_keeps_its_scopes(self):
        old = self.new_key("--scope", "links:read")
        new = self.with_key(self.keys("rotate", old["id"])[0]["key"])
        self.assertEqual(new.ask("GET", "/v1/links").status, 200)
        self.assert_problem(new.ask("POST", "/v1/links", {"url": "https://example.com/"}), 403)

    def test_a_rotated_key_remembers_idempotency_keys(self):
        old = self.new_key()
        headers, body = {"Idempotency-Key": uuid.uuid4().hex}, {"url": "https://example.com/"}
        first = self.with_key(old["key"]).ask("POST", "/v1/links", body, headers)
        new = self.keys("rotate", old["id"])[0]["key"]
        again = self.with_key(new).ask("POST", "/v1/links", body, headers)
        self.assertEqual(again.text, first.text)
        self.assertEqual(again.headers.get("idempotency-replayed"), "true")


class Scopes(KeysCase):
    def refuse(self, client, method, path, scope, body=None):
        with self.subTest(method=method, path=path):
            answer = client.ask(method, path, body)
            problem = self.assert_problem(answer, 403, "http.scope_missing")
            self.assertIn(scope, problem["detail"])

    def test_a_reader_cannot_write(self):
        code = self.make()["code"]
        reader = self.with_key(self.new_key("--scope", "links:read")["key"])
        self.assertEqual(reader.ask("GET", f"/v1/links/{code}").status, 200)
        self.assertEqual(reader.ask("GET", "/v1/links").status, 200)
        body = {"url": "https://example.com/"}
        self.refuse(reader, "POST", "/v1/links", "links:write", body)
        self.refuse(reader, "POST", "/v1/links/bulk", "links:write", {"links": [body]})
        self.refuse(reader, "PATCH", f"/v1/links/{code}", "links:write", {"title": "x"})
        self.refuse(reader, "DELETE", f"/v1/links/{code}", "links:write")

    def test_a_writer_cannot_read(self):
        writer = self.with_key(self.new_key("--scope", "links:write")["key"])
        code = self.make(client=writer)["code"]
        self.refuse(writer, "GET", f"/v1/links/{code}", "links:read")
        self.refuse(writer, "GET", "/v1/links", "links:read")

    def test_both_scopes(self):
        both = self.with_key(
            self.new_key("--scope", "links:read", "--scope", "links:write")["key"])
        code = self.make(client=both)["code"]
        self.assertEqual(both.ask("GET", f"/v1/links/{code}").status, 200)


class Projects(KeysCase):
    def setUp(self):
        super().setUp()
        self.other = self.with_key(self.new_key("--project", "other")["key"])

    def test_the_answer_does_not_tell_whether_the_link_exists(self):
        code = self.make(alias="hidden-" + uuid.uuid4().hex)["code"]
        missing = code[:-1] + ("0" if code[-1] != "0" else "1")
        hidden, absent = (self.other.ask("GET", f"/v1/links/{name}").json
                          for name in (code, missing))
        for problem in (hidden, absent):
            del problem["trace_id"]
        self.assertEqual({**hidden, "detail": hidden["detail"].replace(code, missing)}, absent)

    def test_lists_show_only_the_own_project(self):
        mine = {self.make()["code"] for _ in range(3)}
        theirs = {self.make(client=self.other)["code"] for _ in range(3)}
        for client, own, foreign in ((self.client, mine, theirs), (self.other, theirs, mine)):
            links = client.ask("GET", "/v1/links?limit=500").json["links"]
            listed = {link["code"] for link in links}
            self.assertTrue(own <= listed and not foreign & listed)

    def test_projects_do_not_share_idempotency_keys(self):
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        first = self.client.ask("POST", "/v1/links", {"url": "https://example.com/1"}, headers)
        second = self.other.ask("POST", "/v1/links", {"url": "https://example.com/2"}, headers)
        self.assertEqual((first.status, second.status), (201, 201), second.text)
        self.assertNotEqual(first.json["code"], second.json["code"])

    def test_an_alias_of_another_project_is_taken_without_saying_whose(self):
        alias = "shared-" + uuid.uuid4().hex
        self.make(alias=alias, url="https://example.com/secret")
        answer = self.other.ask("POST", "/v1/links", {"url": "https://example.com/",
                                                      "alias": alias})
        self.assert_problem(answer, 409, "links.alias_taken")
        self.assertNotIn("secret", answer.text)
        self.assertNotIn("demo", answer.text)


if __name__ == "__main__":
    unittest.main()
