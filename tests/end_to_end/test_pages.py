"""Lists of links, page by page."""

import unittest
import urllib.parse

from tests.support.cases import ServerCase
from tests.support.dev import Dev


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class Pages(ServerCase):
    def pages(self, limit, between=lambda number: None):
        cursor, number = "", 0
        while True:
            answer = self.client.ask("GET", f"/v1/links?limit={limit}{cursor}")
            self.assertEqual(answer.status, 200, answer.text)
            yield answer.json["links"]
            if "next_cursor" not in answer.json:
                return
            cursor = "&cursor=" + urllib.parse.quote(answer.json["next_cursor"])
            between(number)
            number += 1

    def test_nothing_is_skipped_or_repeated_while_links_come_and_go(self):
        body = {"links": [{"url": f"https://example.com/page/{n}"} for n in range(60)]}
        made = [verdict["link"] for verdict in
                self.client.ask("POST", "/v1/links/bulk", body).json["results"]]
        doomed = [self.make(url=f"https://example.com/doomed/{n}")["code"] for n in range(5)]
        self.client.ask("POST", "/v1/links/bulk", body)

        def disturb(number):
            self.make(url="https://example.com/new")
            if number < len(doomed):
                self.client.ask("DELETE", f"/v1/links/{doomed[number]}")

        for limit in (7, 1000 // 13):
            seen = [link["code"] for page in self.pages(limit, disturb) for link in page]
            self.assertEqual(len(seen), len(set(seen)), "a link was repeated")
            missing = {link["code"] for link in made} - set(seen)
            self.assertFalse(missing, "links were skipped")

    def test_newest_first_and_pages_are_full(self):
        for _ in range(3):
            self.make()
        pages = list(self.pages(2))
        times = [link["created_at"] for page in pages for link in page]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertTrue(all(len(page) == 2 for page in pages[:-1]))
        self.assertIn(len(pages[-1]), (1, 2))

    def test_the_last_page_has_no_cursor_even_when_it_is_full(self):
        total = sum(len(page) for page in self.pages(500))
        if total > 500:
            self.skipTest("more links than one page holds")
        answer = self.client.ask("GET", f"/v1/links?limit={total}").json
        self.assertEqual(len(answer["links"]), total)
        self.assertNotIn("next_cursor", answer)

    def cursor(self):
        self.make()
        self.make()
        return self.client.ask("GET", "/v1/links?limit=1").json["next_cursor"]

    def test_a_cursor_of_another_filter_is_refused(self):
        domain = urllib.parse.quote(self.make()["domain"])
        cursor = self.cursor()
        answer = self.client.ask("GET", f"/v1/links?limit=1&cursor={cursor}&domain={domain}")
        self.assert_problem(answer, 400)
        filtered = self.client.ask("GET", f"/v1/links?limit=1&domain={domain}").json["next_cursor"]
        answer = self.client.ask("GET", f"/v1/links?limit=1&cursor={filtered}&domain={domain}")
        self.assertEqual(answer.status, 200, answer.text)
        self.assert_problem(self.client.ask("GET", f"/v1/links?cursor={filtered}"), 400)

    def test_another_limit_may_go_on_with_a_cursor(self):
        answer = self.client.ask("GET", f"/v1/links?limit=3&cursor={self.cursor()}")
        self.assertEqual(answer.status, 200, answer.text)

    def test_a_cursor_changed_anywhere_is_refused(self):
        cursor = self.cursor()
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        for place in range(len(cursor)):
            # The neighbour in the alphabet differs by one bit.
            other = letters[letters.index(cursor[place]) ^ 1]
            changed = cursor[:place] + other + cursor[place + 1:]
            answer = self.client.ask("GET", f"/v1/links?limit=1&cursor={changed}")
            with self.subTest(place=place):
                self.assert_problem(answer, 400, "base.invalid_cursor")

    def test_what_is_no_cursor_is_refused(self):
        cursor = self.cursor()
        for text in ("", "x", "AAAA", cursor[:-1], cursor + "A", cursor * 2, "%00", "'%20OR%201=1"):
            with self.subTest(text=text):
                answer = self.client.ask("GET", f"/v1/links?limit=1&cursor={text}")
                self.assert_problem(answer, 400)

    def test_the_bounds_of_limit(self):
        for limit in ("1", "500"):
            answer = self.client.ask("GET", f"/v1/links?limit={limit}")
            self.assertEqual(answer.status, 200, answer.text)
        for limit in ("0", "501", "-1", "abc", "", "1.5", "99999999999999999999", "0x10", "%2010"):
            with self.subTest(limit=limit):
                answer = self.client.ask("GET", f"/v1/links?limit={limit}")
                self.assert_problem(answer, 400, parameter="limit")

    def test_an_unknown_domain_as_filter(self):
        answer = self.client.ask("GET", "/v1/links?domain=unknown.example")
        self.assert_problem(answer, 422, "links.unknown_domain")


if __name__ == "__main__":
    unittest.main()
