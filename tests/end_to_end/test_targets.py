"""Where links may lead, and what is kept of it."""

import unittest
import urllib.parse

from tests.support.cases import ServerCase
from tests.support.dev import Dev


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class Targets(ServerCase):
    def keeps(self, given, kept):
        with self.subTest(url=given):
            link = self.make(url=given)
            self.assertEqual(link["url"], kept)
            self.assert_leads(link["code"], kept)

    def refuses(self, given, slug="links.invalid_target"):
        answer = self.client.ask("POST", "/v1/links", {"url": given})
        with self.subTest(url=given):
            self.assert_problem(answer, 422, slug)

    def test_kept_as_a_browser_would_write_it(self):
        self.keeps("https://EXAMPLE.com:443/a/../b", "https://example.com/b")
        self.keeps("http://example.com:80", "http://example.com/")
        self.keeps("https://example.com:8443/x", "https://example.com:8443/x")
        self.keeps("https://example.com/a b?q=a b#c d", "https://example.com/a%20b?q=a%20b#c%20d")
        self.keeps("https:\\\\example.com\\path", "https://example.com/path")
        self.keeps("https:example.com/x", "https://example.com/x")
        self.keeps("https://example.com/%7Euser/%2F?x=%2f", "https://example.com/%7Euser/%2F?x=%2f")
        self.keeps("http://[2001:DB8::0:1]/x", "http://[2001:db8::1]/x")

    def test_international_names_become_ascii(self):
        self.keeps("https://bücher.example/straße?q=ä",
                   "https://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%A4")
        self.keeps("https://日本語.example/", "https://xn--wgv71a119e.example/")
        self.keeps("https://BÜCHER.example/", "https://xn--bcher-kva.example/")

    def test_tabs_and_line_ends_vanish_as_in_a_browser(self):
        self.keeps(" https://exa\nmple.com/\ta\r\n", "https://example.com/a")

    def test_other_schemes_are_refused(self):
        for url in ("ftp://example.com/", "file:///etc/passwd", "mailto:a@example.com",
                    "//example.com/", "example.com", "/path", "", "blob:https://a/b"):
            self.refuses(url)

    def test_impossible_hosts_and_ports_are_refused(self):
        for url in ("https://", "https:///", "https://exa mple.com/", "https://example.com:99999/",
                    "https://example.com:port/", "https://[::1/", "https://1.2.3.256/",
                    "https://xn--zzzzzzzz-.example/", "https://a%00b.example/", "https://<x>/"):
            self.refuses(url)

    def test_the_longest_target(self):
        start = "https://example.com/"
        self.make(url=start + "x" * (8192 - len(start)))
        answer = self.client.ask("POST", "/v1/links", {"url": start + "x" * 8192})
        self.assert_problem(answer, (400, 422))

    def own_addresses(self):
        port = urllib.parse.urlsplit(self.server.url).port
        short = urllib.parse.urlsplit(self.make()["short_url"]).netloc
        return [f"http://{short}/x", f"http://127.0.0.1:{port}/x", f"http://localhost:{port}/",
                f"http://[::1]:{port}/x", f"http://2130706433:{port}/x", f"http://0x7f.1:{port}/",
                f"http://LOCALHOST.:{port}/", f"http:\\\\127.0.0.1:{port}\\x",
                f"http://[0:0:0:0:0:0:0:1]:{port}/"]

    def test_the_own_host_is_refused(self):
        for url in self.own_addresses():
            self.refuses(url, "links.target_is_own")

    def test_an_edit_cannot_lead_to_the_own_host_either(self):
        link = self.make()
        for url in self.own_addresses() + [link["short_url"]]:
            answer = self.client.ask("PATCH", f"/v1/links/{link['code']}", {"url": url})
            with self.subTest(url=url):
                self.assert_problem(answer, 422, "links.target_is_own")
        self.assert_leads(link["code"], link["url"])


if __name__ == "__main__":
    unittest.main()
