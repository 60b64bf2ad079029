"""The same Idempotency-Key gives the same answer, whatever happens in between."""

import unittest
import uuid

from tests.support.cases import ServerCase, all_at_once
from tests.support.dev import Dev


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class Keyed(ServerCase):
    def post(self, body, key, path="/v1/links", client=None):
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        return (client or self.client).ask("POST", path, body, headers)

    def assert_replayed(self, first, again):
        self.assertEqual((again.status, again.text), (first.status, first.text))
        self.assertNotIn("idempotency-replayed", first.headers)
        self.assertEqual(again.headers.get("idempotency-replayed"), "true")

    def new_key(self):
        return str(uuid.uuid4())

    def links_to(self, url):
        """The codes of all links that lead there."""
        codes, cursor = [], ""
        while True:
            page = self.client.ask("GET", f"/v1/links?limit=500{cursor}").json
            codes += [link["code"] for link in page["links"] if link["url"] == url]
            if "next_cursor" not in page:
                return codes
            cursor = "&cursor=" + page["next_cursor"]


class Repeats(Keyed):
    def test_the_same_key_and_body_give_the_same_answer(self):
        key, body = self.new_key(), {"url": "https://example.com/" + self.new_key()}
        first = self.post(body, key)
        self.assertEqual(first.status, 201)
        for _ in range(3):
            self.assert_replayed(first, self.post(body, key))
        self.assertEqual(self.links_to(body["url"]), [first.json["code"]])

    def test_a_repeat_over_another_connection_and_key_of_the_project(self):
        key, body = self.new_key(), {"url": "https://example.com/"}
        first = self.post(body, key)
        self.assert_replayed(first, self.post(body, key, client=self.new_client()))

    def test_another_body_is_refused(self):
        key = self.new_key()
        first = self.post({"url": "https://example.com/one"}, key)
        for other in ({"url": "https://example.com/two"},
                      {"url": "https://example.com/one", "title": "more"},
                      {"url": "https://example.com/one", "status": 302}):
            with self.subTest(other=other):
                self.assert_problem(self.post(other, key), 422, "storage.claim_mismatch")
        self.assert_replayed(first, self.post({"url": "https://example.com/one"}, key))

    def test_order_white_space_and_escapes_of_the_body_do_not_matter(self):
        key = self.new_key()
        first = self.post('{"url":"https://example.com/a","title":"T","status":307}', key)
        self.assertEqual(first.status, 201, first.text)
        for text in ('{"title":"T","status":307,"url":"https://example.com/a"}',
                     '\n{ "status" : 307 ,\t"url":"https://example.com/a", "title" : "T"}\r\n',
                     '{"url":"https:\\/\\/example.com\\/\\u0061","title":"\\u0054","status":307}'):
            with self.subTest(text=text):
                self.assert_replayed(first, self.post(text, key))

    def test_another_key_makes_another_link(self):
        body = {"url": "https://example.com/"}
        self.assertNotEqual(self.post(body, self.new_key()).json["code"],
                            self.post(body, self.new_key()).json["code"])

    def test_with_an_alias(self):
        key, alias = self.new_key(), "keyed-" + self.new_key()
        body = {"url": "https://example.com/a", "alias": alias}
        first = self.post(body, key)
        self.assertEqual(first.status, 201)
        self.assert_replayed(first, self.post(body, key))
        self.assert_problem(self.post({**body, "url": "https://example.com/b"}, key), 422)
        answer = self.post(body, self.new_key())
        self.assert_problem(answer, 409, "links.alias_taken")

    def test_a_repeat_does_not_bring_back_what_was_deleted(self):
        key, body = self.new_key(), {"url": "https://example.com/deleted"}
        first = self.post(body, key)
        code = first.json["code"]
        self.assertEqual(self.client.ask("DELETE", f"/v1/links/{code}").status, 204)
        self.assert_replayed(first, self.post(body, key))
        self.assertEqual(self.visit(code).status, 404)

    def test_a_repeat_gives_the_first_answer_after_an_edit(self):
        key, body = self.new_key(), {"url": "https://example.com/before"}
        first = self.post(body, key)
        self.client.ask("PATCH", f"/v1/links/{first.json['code']}",
                        {"url": "https://example.com/after"})
        self.assert_replayed(first, self.post(body, key))
        self.assert_leads(first.json["code"], "https://example.com/after")

    def test_the_key_of_one_endpoint_is_refused_at_another(self):
        key = self.new_key()
        self.assertEqual(self.post({"url": "https://example.com/"}, key).status, 201)
        answer = self.post({"links": [{"url": "https://example.com/"}]}, key, "/v1/links/bulk")
        self.assert_problem(answer, 422, "storage.claim_mismatch")


class AtOnce(Keyed):
    def race(self, bodies, key, path="/v1/links"):
        """The answers to all bodies, sent at once."""
        clients = [self.new_client() for _ in bodies]
        for client in clients:
            client.ask("GET", "/healthz")
        return all_at_once(len(bodies), lambda number: self.post(bodies[number], key, path,
                                                                 clients[number]))

    def test_64_at_once_make_one_link(self):
        for turn in range(5):
            url, key = "https://example.com/" + self.new_key(), self.new_key()
            answers = self.race([{"url": url}] * 64, key)
            made = [answer for answer in answers if answer.status == 201]
            # One that meets a running one may also be told to come again.
            self.assertLessEqual({answer.status for answer in answers}, {201, 409})
            self.assertEqual(len({answer.json["code"] for answer in made}), 1)
            first = [answer for answer in made if "idempotency-replayed" not in answer.headers]
            self.assertEqual(len(first), 1)
            self.assertEqual(self.links_to(url), [made[0].json["code"]])

    def test_64_bodies_at_once_under_one_key_make_one_link(self):
        key, mark = self.new_key(), self.new_key()
        urls = [f"https://example.com/{mark}/{n}" for n in range(64)]
        answers = self.race([{"url": url} for url in urls], key)
        made = [answer.json for answer in answers if answer.status == 201]
        self.assertEqual(len(made), 1)
        self.assertLessEqual({answer.status for answer in answers}, {201, 409, 422})
        self.assertEqual(sum(len(self.links_to(url)) for url in urls), 1)

    def test_64_at_once_with_an_alias(self):
        body = {"url": "https://example.com/", "alias": "at-once-" + self.new_key()}
        answers = self.race([body] * 64, self.new_key())
        self.assertLessEqual({answer.status for answer in answers}, {201, 409})
        for answer in answers:
            if answer.status == 409:
                self.assert_problem(answer, 409, "storage.claim_running")

    def test_16_bulks_at_once_make_each_link_once(self):
        urls = [f"https://example.com/{self.new_key()}" for _ in range(20)]
        body = {"links": [{"url": url} for url in urls]}
        answers = self.race([body] * 16, self.new_key(), "/v1/links/bulk")
        texts = {answer.text for answer in answers if answer.status == 200}
        self.assertEqual(len(texts), 1)
        for url in urls[::7]:
            self.assertEqual(len(self.links_to(url)), 1)


class Bulks(Keyed):
    def test_a_repeat_gives_all_verdicts_again(self):
        key = self.new_key()
        body = {"links": [{"url": f"https://example.com/{key}/{n}"} for n in range(5)]}
        first = self.post(body, key, "/v1/links/bulk")
        self.assertEqual(first.status, 200, first.text)
        self.assert_replayed(first, self.post(body, key, "/v1/links/bulk"))
        self.assertEqual(len(self.links_to(f"https://example.com/{key}/0")), 1)

    def test_a_repeat_with_refused_items(self):
        key = self.new_key()
        body = {"links": [{"url": f"https://example.com/{key}"}, {"url": "javascript:x"},
                          {"url": "https://example.com/", "alias": "healthz"}]}
        first = self.post(body, key, "/v1/links/bulk")
        self.assert_replayed(first, self.post(body, key, "/v1/links/bulk"))

    def test_another_array_under_the_key_is_refused_whole(self):
        key = self.new_key()
        items = [{"url": f"https://example.com/{key}/{n}"} for n in range(3)]
        self.assertEqual(self.post({"links": items[:2]}, key, "/v1/links/bulk").status, 200)
        for other in (items, items[:1], items[1::-1]):
            with self.subTest(items=len(other)):
                answer = self.post({"links": other}, key, "/v1/links/bulk")
                self.assert_problem(answer, 422, "storage.claim_mismatch")
        self.assertEqual(self.links_to(items[2]["url"]), [])


class Keys(Keyed):
    def test_bounds_of_a_key(self):
        body = {"url": "https://example.com/"}
        stem = self.new_key()
        for key in ("k", stem.ljust(255, "x"), stem + "/~!#$%&'*+-.^_`|:;=?@[]{}<>()\"\\"):
            self.assertIn(self.post(body, key).status, (201, 422))
        for key in ("", stem.ljust(256, "x"), stem + " space", stem + "\xe9", stem + "\tx", " "):
            with self.subTest(key=key):
                self.assert_problem(self.post(body, key), 400, parameter="Idempotency-Key")

    def test_keys_are_told_apart_byte_for_byte(self):
        stem, body = self.new_key(), {"url": "https://example.com/"}
        codes = {self.post(body, key).json["code"]
                 for key in (stem + "a", stem + "A", stem, stem + ".", stem + "%61")}
        self.assertEqual(len(codes), 5)

    def test_a_refused_request_without_effect_can_be_mended_or_is_refused_again(self):
        key = self.new_key()
        refused = self.post({"url": "javascript:x"}, key)
        self.assert_problem(refused, 422, "links.invalid_target")
        self.assert_problem(self.post({"url": "javascript:x"}, key), 422, "links.invalid_target")


class Lasting(Keyed):
    def test_keys_are_remembered_after_a_restart_and_a_kill(self):
        single, bulk = self.new_key(), self.new_key()
        body, items = {"url": "https://example.com/lasting"}, {"links": [
            {"url": "https://example.com/lasting/bulk"}, {"url": "https://example.com/lasting/2"}]}
        first, first_bulk = self.post(body, single), self.post(items, bulk, "/v1/links/bulk")
        for end in (self.server.stop, self.server.kill):
            end()
            self.server.start()
            client = self.new_client()
            self.assert_same_link(first, self.post(body, single, client=client))
            again = self.post(items, bulk, "/v1/links/bulk", client)
            self.assertEqual([verdict["link"]["code"] for verdict in again.json["results"]],
                             [verdict["link"]["code"] for verdict in first_bulk.json["results"]])
            self.assertEqual(again.headers.get("idempotency-replayed"), "true")
            self.assert_problem(self.post({"url": "https://example.com/x"}, single, client=client),
                                422, "storage.claim_mismatch")

    def assert_same_link(self, first, again):
        """The stored answer; only its short_url may follow the server to another port."""
        self.assertEqual(again.status, 201, again.text)
        self.assertEqual(again.headers.get("idempotency-replayed"), "true")
        for name in ("code", "url", "created_at"):
            self.assertEqual(again.json[name], first.json[name])


if __name__ == "__main__":
    unittest.main()
