"""Bad input: for each sort of it one precise refusal, and a server that is none the worse."""

import itertools
import json
import re
import unittest
import urllib.parse
import uuid

from tests.support.cases import ServerCase, records, tenon
from tests.support.dev import Dev, wait_for

GOOD = b'{"url":"https://example.com/"}'
MIB = 1024 * 1024
# What any test here may leave behind; the inputs themselves are many times as large.
GROWTH_MAX = 48 * MIB


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class BadInput(ServerCase):
    def setUp(self):
        super().setUp()
        self.process = self.server.process.pid
        self.make()
        before = self.resident()
        self.addCleanup(self.assert_unharmed, before)

    def resident(self):
        with open(f"/proc/{self.process}/status", encoding="ascii") as facts:
            return int(re.search(r"VmRSS:\s+(\d+)", facts.read())[1]) * 1024

    def assert_unharmed(self, before):
        """It still runs, serves a new connection and has not grown by what it was sent."""
        self.assertIsNone(self.server.process.poll(), "the server has ended")
        client = self.new_client()
        code = self.make(client=client)["code"]
        self.assertEqual(client.ask("GET", f"/{code}").status, 302)
        self.assertLess(self.resident() - before, GROWTH_MAX)

    def post(self, body, media_type="application/json"):
        return self.client.ask("POST", "/v1/links", body, {"Content-Type": media_type})

    def refuse_body(self, body, status, slug, **place):
        """The body is refused, and the same connection serves on."""
        self.post(GOOD)
        connection = self.client.connection.sock
        with self.subTest(body=body[:60]):
            problem = self.assert_problem(self.post(body), status, slug, **place)
            self.assertEqual(self.post(GOOD).status, 201)
            self.assertIs(self.client.connection.sock, connection)
            return problem

    def refuse_url(self, url, mentions):
        problem = self.refuse_body(json.dumps({"url": url}).encode(), 422, "links.invalid_target",
                                   pointer="/url")
        self.assertIn(mentions, problem["detail"])

    def refuse_bytes(self, data, status, slug, mentions):
        """What cannot be a request is refused, and its connection ends: the rest is not read."""
        with self.raw() as wire, self.subTest(data=data[:60]):
            try:
                wire.send(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            got, headers, body = wire.read()
            problem = json.loads(body)
            self.assertEqual((got, headers["content-type"]), (status, "application/problem+json"))
            self.assertEqual(problem["type"], f"https://tenon.dev/problems/{slug}")
            self.assertIn(mentions, problem["detail"])
            self.assertTrue(wire.is_closed())

    def head(self, more):
        return (f"POST /v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {self.server.key}\r\n{more}\r\n").encode()

    def new_key(self, *arguments):
        done = tenon("keys", "make", "test-" + uuid.uuid4().hex[:8], *arguments, "--data",
                     self.server.data, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return records(done.stdout)[0]["key"]

    def client_of_another_project(self):
        other = self.new_client()
        other.key = self.new_key("--project", "other")
        return other

    def test_a_body_of_100_megabytes(self):
        self.refuse_bytes(self.head("Content-Length: 104857600\r\n"), 413, "http.body_too_large",
                          "at most 1048576 bytes")
        # One that is sent although nobody asked for more.
        with self.raw() as wire:
            wire.send(self.head("Content-Length: 104857600\r\n"))
            try:
                for _ in range(100):
                    wire.send(b" " * MIB)
            except (BrokenPipeError, ConnectionResetError):
                pass
        chunk = b"100000\r\n" + b" " * MIB + b"\r\n"
        self.refuse_bytes(self.head("Transfer-Encoding: chunked\r\n") + chunk + b"1\r\n",
                          413, "http.body_too_large", "at most 1048576 bytes")

    def test_ten_thousand_headers(self):
        start = b"GET /healthz HTTP/1.1\r\nHost: a\r\n"
        self.refuse_bytes(start + b"A: b\r\n" * 10_000 + b"\r\n", 431, "http.header_too_large",
                          "at most 16384 bytes")
        self.refuse_bytes(start + b"A: b\r\n" * 200 + b"\r\n", 431, "http.header_too_large",
                          "at most 100 of them")
        self.refuse_bytes(start + b"A: " + b"b" * 20_000, 431, "http.header_too_large",
                          "at most 16384 bytes")
        self.refuse_bytes(b"GET /" + b"x" * 9_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414,
                          "http.target_too_long", "at most 8192 bytes")

    def test_half_a_request(self):
        whole = self.head(f"Content-Length: {len(GOOD)}\r\n") + GOOD
        halves = [self.raw() for _ in range(40)]
        for number, wire in enumerate(halves):
            wire.send(whole[:len(whole) * number // 40])
        for wire in halves[:20]:
            wire.close()
        # The others may still end theirs.
        for number, wire in enumerate(halves[20:], 20):
            wire.send(whole[len(whole) * number // 40:])
            self.assertEqual(wire.read()[0], 201)

    def test_half_sent_bodies_leave_memory_for_others(self):
        halves = [self.raw() for _ in range(16)]
        head = self.head("Content-Length: 1000000\r\n")
        for wire in halves:
            wire.send(head + b" " * 900_000)
        held = re.compile(r"^tenon_http_bodies_bytes (\S+)$", re.MULTILINE)

        def bytes_held():
            return float(held.search(self.visitor.ask("GET", "/metrics").text)[1])

        wait_for("the bodies", lambda: bytes_held() >= 16 * 900_000)
        self.assertEqual(self.post(GOOD).status, 201)
        for wire in halves:
            wire.close()
        wait_for("their memory", lambda: bytes_held() == 0)

    def test_smuggled_requests(self):
        slug = "http.ambiguous_length"
        for lengths in ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: +5\r\n",
                        "Content-Length: 5, 5\r\n", "Content-Length: -1\r\n",
                        "Content-Length: 99999999999999999999\r\n", "Content-Length: 0x5\r\n"):
            smuggled = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
            self.refuse_bytes(self.head(lengths) + smuggled, 400, slug, "Content-Length")
        for coding in ("gzip", "xchunked", "identity"):
            self.refuse_bytes(self.head(f"Transfer-Encoding: {coding}\r\n") + b"0\r\n\r\n", 501,
                              "http.coding_unsupported", "Content-Length")
        self.refuse_bytes(self.head("Transfer-Encoding: chunked\r\n") + b"xyz\r\n", 400,
                          "http.malformed", "chunks")

    def test_bytes_that_are_no_request(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"hello\r\n\r\n",
                     b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
                     b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: a\r\nX\0Y: b\r\n\r\n"):
            self.refuse_bytes(data, 400, "http.malformed", "")
        self.refuse_bytes(b"GET / HTTP/1.1\nHost: a\n\n", 400, "http.malformed", "CR LF")
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"):
            self.refuse_bytes(data, 400, "http.bad_host", "one Host header")
        self.refuse_bytes(b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "http.version_unsupported",
                          "HTTP/1.1")

    def member(self, name, value):
        """A body that has that member, as bytes; the rest of it is right."""
        start = b"" if name == "url" else b'"url":"https://example.com/",'
        return b"{" + start + b'"%s":' % name.encode() + value + b"}"

    def test_invalid_utf_8(self):
        for name, value in itertools.product(
                ("url", "alias", "title", "domain"),
                (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3")):
            problem = self.refuse_body(self.member(name, b'"%s"' % value), 400, "json.invalid")
            self.assertRegex(problem["detail"], r"byte \d+")

    def test_nul_in_json(self):
        for name in ("url", "alias", "title", "domain"):
            self.refuse_body(self.member(name, b'"a\\u0000b"'), 400, "json.mismatch",
                             pointer=f"/{name}", mentions="U+0000")
            self.refuse_body(self.member(name, b'"a\x00b"'), 400, "json.invalid")

    def test_lone_surrogates_in_json(self):
        for name, value in itertools.product(("url", "alias", "title", "domain"),
                                             (b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud800x"')):
            self.refuse_body(self.member(name, value), 400, "json.invalid")

    def test_numbers_beyond_64_bits(self):
        for value in (b"18446744073709551616", b"-9223372036854775809", b"9" * 400, b"1e400",
                      b"-1e400", b"4294967598"):
            answer = self.post(self.member("status", value))
            with self.subTest(value=value[:30]):
                problem = self.assert_problem(answer, 400)
                self.assertIn(problem["type"].rpartition("/")[2], ("json.mismatch", "json.invalid"))
        self.refuse_body(self.member("status", b"18446744073709551616"), 400, "json.mismatch",
                         pointer="/status", mentions="within 64 bits")

    def test_unknown_fields(self):
        self.refuse_body(b'{"url":"https://example.com/","titel":"x"}', 400, "json.mismatch",
                         pointer="/titel", mentions="title")
        self.assert_problem(self.client.ask("GET", "/v1/links?limt=5"), 400,
                            "http.invalid_parameters", parameter="limt", mentions="limit")

    def test_duplicate_keys(self):
        for second in (b'"url"', b'"\\u0075rl"'):
            self.refuse_body(b'{"url":"https://example.com/",' + second + b':"https://b.example/"}',
                             400, "json.mismatch", pointer="/url")
        self.assert_problem(self.client.ask("GET", "/v1/links?limit=5&limit=6"), 400,
                            "http.invalid_parameters", parameter="limit", mentions="once")

    def test_deep_nesting(self):
        for text in (b"[" * 100_000, b'{"a":' * 50_000,
                     b'{"url":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
                     b'{"links":[' + b"[" * 400_000):
            self.refuse_body(text, 400, "json.invalid")

    def test_a_wrong_content_type(self):
        for given in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
                      "application/jsonp", "application/xml", "*/*", ""):
            with self.subTest(given=given):
                problem = self.assert_problem(self.post(GOOD, given), 415, "http.media_type")
                self.assertIn("application/json", problem["detail"])
        self.assertEqual(self.post(GOOD).status, 201)

    def test_javascript_urls(self):
        for url in ("javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)",
                    "\x01javascript:alert(1)", "data:text/html,hi", "vbscript:x"):
            self.refuse_url(url, "http")

    def test_credentials_in_urls(self):
        for url in ("https://user:secret@example.com/", "https://example.com@evil.example/",
                    "https://:secret@example.com/"):
            self.refuse_url(url, "user name or password")

    def test_a_cursor_of_another_project(self):
        other = self.client_of_another_project()
        for client in (self.client, self.client, other, other):
            self.make(client=client)
        cursor = self.client.ask("GET", "/v1/links?limit=1").json["next_cursor"]
        answer = other.ask("GET", f"/v1/links?limit=1&cursor={cursor}")
        problem = self.assert_problem(answer, 400, "base.invalid_cursor")
        self.assertIn("cursor", problem["detail"])
        self.assertEqual(other.ask("GET", "/v1/links?limit=1").status, 200)

    def operations_on_one(self):
        """(path, method, operation) of what a key is needed for and a path's parameter names."""
        document = self.client.ask("GET", "/openapi.json").json
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if operation["security"] and "{" in path:
                    yield path, method, operation

    def test_another_projects_ids_on_every_endpoint(self):
        other = self.client_of_another_project()
        link = self.make(url="https://example.com/mine", title="Mine")
        # Once through the cache, so that a hit there is compared, too.
        self.assert_leads(link["code"], link["url"])
        # What each name in a path stands for; an endpoint with a new name fails here until it is
        # told what to ask for.
        ids = {"code": link["code"]}
        bodies = {"/v1/links/{code}": {"title": "theirs"}}
        asked = 0
        for path, method, operation in self.operations_on_one():
            names = re.findall(r"\{(\w+)\}", path)
            self.assertLessEqual(set(names), set(ids), f"{path} has a name without an id")
            body = bodies[path] if "requestBody" in operation else None
            answer = other.ask(method.upper(), path.format(**ids), body)
            with self.subTest(method=method, path=path):
                problem = self.assert_problem(answer, 404)
                self.assertTrue(problem["type"].endswith(".not_found"))
                self.assertNotIn("Mine", answer.text)
                self.assertNotIn("mine", answer.text)
            asked += 1
        self.assertGreaterEqual(asked, 3)
        self.assertEqual(self.client.ask("GET", f"/v1/links/{link['code']}").json, link)
        self.assert_leads(link["code"], link["url"])

    def test_an_alias_that_is_a_reserved_path(self):
        paths = self.client.ask("GET", "/openapi.json").json["paths"]
        first = {path.split("/")[1] for path in paths} - {"", "{code}"}
        self.assertLessEqual({"v1", "healthz", "readyz", "metrics", "docs"}, first)
        for alias in sorted(first):
            body = json.dumps({"url": "https://example.com/", "alias": alias}).encode()
            problem = self.refuse_body(body, 422, "links.invalid_alias", pointer="/alias")
            if "." not in alias:
                self.assertIn(alias, problem["detail"])

    def test_an_api_key_with_one_bit_changed(self):
        client = self.new_client()
        key = self.server.key
        for place, bit in itertools.product(range(len(key)), range(7)):
            changed = chr(ord(key[place]) ^ 1 << bit)
            if not "!" <= changed <= "~":
                continue
            client.key = key[:place] + changed + key[place + 1:]
            answer = client.ask("GET", "/v1/links?limit=1")
            with self.subTest(place=place, bit=bit):
                problem = self.assert_problem(answer, 401)
                self.assertTrue(answer.headers["www-authenticate"].startswith("Bearer"))
                self.assertNotIn(client.key, problem["detail"])
        client.key = key
        self.assertEqual(client.ask("GET", "/v1/links?limit=1").status, 200)

    def test_percent_codes_that_are_no_text(self):
        for query in ("domain=%zz", "domain=%00", "domain=%ff", "domain=%"):
            answer = self.client.ask("GET", "/v1/links?" + query)
            with self.subTest(query=query):
                self.assert_problem(answer, 400, "http.invalid_parameters", parameter="domain",
                                    mentions="percent-encoded UTF-8")
        path = "/v1/links/" + urllib.parse.quote(b"a\0b")
        self.assert_problem(self.client.ask("GET", path), 400, "http.invalid_parameters",
                            parameter="code")


if __name__ == "__main__":
    unittest.main()
