"""HTTP itself: errors, methods, limits, raw bytes on the wire, and the paths beside /v1."""

import json
import random
import re
import unittest
import uuid

from tests.support.cases import ServerCase
from tests.support.dev import Dev

JSON = {"Content-Type": "application/json"}
GOOD = '{"url":"https://example.com/"}'


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class Bodies(ServerCase):
    def post(self, text, headers=None):
        return self.client.ask("POST", "/v1/links", text, {**JSON, **(headers or {})})

    def refuse(self, text, status=400, slug=None, **place):
        with self.subTest(text=text[:60]):
            return self.assert_problem(self.post(text), status, slug, **place)

    def test_unknown_members_are_named_with_the_nearest(self):
        self.refuse('{"url":"https://example.com/","titel":"x"}', pointer="/titel",
                    mentions="title")
        self.refuse('{"ulr":"https://example.com/"}', pointer="/ulr", mentions="url")
        self.refuse('{"ulr":"https://example.com/"}', pointer="/url")
        self.refuse('{"url":"https://example.com/","zzzzzzzzzz":1}', pointer="/zzzzzzzzzz")

    def test_all_refused_members_are_told_at_once(self):
        problem = self.refuse('{"url":5,"title":true,"status":"x","expires_at":"x"}')
        self.assertEqual({error["pointer"] for error in problem["errors"]},
                         {"/url", "/title", "/status", "/expires_at"})

    def test_names_with_special_characters_are_escaped_in_pointers(self):
        self.refuse('{"url":"https://example.com/","a/b~c":1}', pointer="/a~1b~0c")

    def test_what_is_no_object_of_the_endpoint(self):
        for text in ("", " ", "null", "[]", '"x"', "5", "true", "{", '{"url"', '{"url":}',
                     GOOD + "x", GOOD + GOOD, "{'url':'x'}", '{url:"x"}', '{"url":"x",}',
                     "\ufeff" + GOOD, '{"url":"https://example.com/" // comment\n}'):
            self.refuse(text.encode())

    def test_wrong_types(self):
        for value in ("5", "null", "true", '["https://example.com/"]', '{"href":"x"}'):
            self.refuse('{"url":' + value + "}", pointer="/url")
        for value in ('"true"', "1", '"yes"', "[]"):
            self.refuse('{"url":"https://example.com/","forward_query":' + value + "}",
                        pointer="/forward_query")

    def test_numbers(self):
        for value in ("302.5", "0x12e", "NaN", "Infinity", "0302", "+302", "302.", ".5", "-",
                      '"302"', "2147483650"):
            self.refuse('{"url":"https://example.com/","status":' + value + "}")

    def test_nul_in_every_string_of_a_bulk_spares_the_others(self):
        items = [{"url": "https://example.com/ok"}]
        for name in ("alias", "title", "domain"):
            body = {"links": items + [{"url": "https://example.com/", name: "a\0b"}] + items}
            answer = self.client.ask("POST", "/v1/links/bulk", body)
            with self.subTest(name=name):
                self.assertLess(answer.status, 500)
                if answer.status == 200:
                    self.assertEqual([("link" in verdict) for verdict in answer.json["results"]],
                                     [True, False, True])

    def test_many_members(self):
        members = ",".join(f'"m{n}":{n}' for n in range(20_000))
        answer = self.post('{"url":"https://example.com/",' + members + "}")
        self.assert_problem(answer, 400)
        self.assertLess(len(answer.text), 100_000)

    def test_media_types(self):
        for given in ("application/json", "application/json; charset=utf-8", "Application/JSON",
                      "application/json;charset=UTF-8"):
            with self.subTest(given=given):
                self.assertEqual(self.post(GOOD, {"Content-Type": given}).status, 201)

    def test_a_connection_serves_on_after_refused_bodies(self):
        with self.raw() as wire:
            for text in (b"{", b"[]", GOOD.encode(), b"\xff"):
                wire.send(f"POST /v1/links HTTP/1.1\r\nHost: {wire.host}\r\n"
                          f"Authorization: Bearer {self.server.key}\r\n"
                          f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n")
                wire.send(text)
                self.assertEqual(wire.read()[0], 201 if text == GOOD.encode() else 400)

    def test_mutilated_bodies_never_fail_the_server(self):
        rng = random.Random(20_261_130)
        body = json.dumps({"url": "https://exämple.com/a?b=c#d", "alias": "x", "title": "T\u2028",
                           "status": 302, "expires_at": "2031-01-01T00:00:00Z"}).encode()
        for turn in range(400):
            mutilated = bytearray(body)
            for _ in range(rng.randrange(1, 4)):
                place = rng.randrange(len(mutilated))
                action = rng.randrange(3)
                if action == 0:
                    mutilated[place] = rng.randrange(256)
                elif action == 1:
                    del mutilated[place:place + rng.randrange(1, 5)]
                else:
                    mutilated[place:place] = bytes([rng.randrange(256)])
            answer = self.post(bytes(mutilated))
            self.assertLess(answer.status, 500, f"turn {turn}: {bytes(mutilated)!r} {answer.text}")


class Requests(ServerCase):
    def test_unknown_query_parameters(self):
        self.assert_problem(self.client.ask("GET", "/v1/links?limt=5"), 400, parameter="limt",
                            mentions="limit")
        self.assert_problem(self.client.ask("GET", "/v1/links?limit=5&x"), 400, parameter="x")
        self.assert_problem(self.client.ask("GET", "/v1/links?limit=5&limit=6"), 400,
                            parameter="limit")
        for path in ("/v1/links?limit=%zz", "/v1/links?domain=%00", "/v1/links?domain=%ff",
                     "/v1/links?%6cimit=5&limit=5"):
            with self.subTest(path=path):
                self.assertIn(self.client.ask("GET", path).status, (400, 422))

    def test_wrong_methods(self):
        for method, path, allowed in (("PUT", "/v1/links", {"GET", "POST"}),
                                      ("DELETE", "/v1/links", {"GET", "POST"}),
                                      ("POST", "/v1/links/x", {"GET", "PATCH", "DELETE"}),
                                      ("GET", "/v1/links/bulk/x", None),
                                      ("POST", "/healthz", {"GET"}),
                                      ("DELETE", "/metrics", {"GET"}),
                                      ("POST", "/some-code", {"GET", "HEAD"}),
                                      ("DELETE", "/some-code", {"GET", "HEAD"})):
            with self.subTest(method=method, path=path):
                answer = self.client.ask(method, path)
                if allowed is None:
                    self.assert_problem(answer, 404)
                    continue
                self.assert_problem(answer, 405)
                given = {name.strip() for name in answer.headers["allow"].split(",")}
                self.assertLessEqual(allowed, given)
                self.assertNotIn(method, given)

    def test_unknown_endpoints(self):
        for path in ("/v1/nothing", "/v1", "/v1/", "/v1/links/", "/v1/links/a/b", "/v2/links",
                     "/v1//links", "/healthz/x"):
            for method in ("GET", "POST"):
                with self.subTest(method=method, path=path):
                    answer = self.client.ask(method, path)
                    self.assertIn(answer.status, (404, 405))

    def test_unknown_methods(self):
        for method in ("FOO", "TRACE", "CONNECT", "PROPFIND"):
            with self.raw() as wire:
                wire.send(f"{method} /v1/links HTTP/1.1\r\nHost: {wire.host}\r\n\r\n")
                with self.subTest(method=method):
                    self.assertIn(wire.read()[0], (400, 405, 501))

    def test_options(self):
        answer = self.client.ask("OPTIONS", "/v1/links")
        self.assertIn(answer.status, (200, 204))
        allowed = {name.strip() for name in answer.headers["allow"].split(",")}
        self.assertLessEqual({"GET", "POST"}, allowed)

    def test_head_is_get_without_its_body(self):
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs", "/metrics"):
            got, head = self.client.ask("GET", path), self.client.ask("HEAD", path)
            with self.subTest(path=path):
                self.assertEqual((head.status, head.text), (got.status, ""))
                self.assertEqual(head.headers["content-type"], got.headers["content-type"])

    def test_every_answer_carries_a_request_id(self):
        ids = set()
        for method, path in (("GET", "/v1/links"), ("GET", "/v1/nothing"), ("PUT", "/v1/links"),
                             ("GET", "/healthz"), ("GET", "/openapi.json")):
            answer = self.client.ask(method, path)
            with self.subTest(method=method, path=path):
                ids.add(answer.headers["tenon-request-id"])
                if answer.status >= 400:
                    self.assertEqual(answer.json["trace_id"], answer.headers["tenon-request-id"])
        self.assertEqual(len(ids), 5)

    def test_a_trace_is_taken_over(self):
        trace = uuid.uuid4().hex
        answer = self.client.ask("GET", "/v1/links/no-such-link", None,
                                 {"traceparent": f"00-{trace}-{trace[:16]}-01"})
        self.assertEqual(answer.json["trace_id"], trace)
        for malformed in ("", "x", f"00-{'0' * 32}-{trace[:16]}-01", f"ff-{trace}-{trace[:16]}-01",
                          f"00-{trace.upper()}-{trace[:16]}-01Z"):
            answer = self.client.ask("GET", "/v1/links/no-such-link", None,
                                     {"traceparent": malformed})
            with self.subTest(traceparent=malformed):
                self.assertEqual(answer.status, 404)
                self.assertNotEqual(answer.json["trace_id"], trace)

    def test_a_deadline_of_the_clients(self):
        for given in ("1", "x", "-1s", "1.5s", "", "0ms", "9" * 30 + "s", "1m", " "):
            answer = self.client.ask("GET", "/v1/links", None, {"Tenon-Timeout": given})
            with self.subTest(given=given):
                self.assert_problem(answer, 400, parameter="Tenon-Timeout")
        for given in ("800ms", "2s", "300s"):
            answer = self.client.ask("GET", "/v1/links", None, {"Tenon-Timeout": given})
            self.assertEqual(answer.status, 200)
        answer = self.client.ask("POST", "/v1/links", {"url": "https://example.com/"},
                                 {"Tenon-Timeout": "1ms"})
        self.assertIn(answer.status, (201, 504))


class Wire(ServerCase):
    def head(self):
        return (f"Authorization: Bearer {self.server.key}\r\n"
                "Content-Type: application/json\r\n")

    def request(self, wire, line, headers="", body=b""):
        wire.send(f"{line} HTTP/1.1\r\nHost: {wire.host}\r\n{headers}\r\n".encode() + body)

    def test_pipelined_requests_are_answered_in_their_order(self):
        codes = [self.make(url=f"https://example.com/{n}")["code"] for n in range(10)]
        with self.raw() as wire:
            text = ""
            for turn in range(100):
                code = codes[turn % 10] if turn % 3 else f"unknown-{turn}"
                text += f"GET /{code} HTTP/1.1\r\nHost: {wire.host}\r\n\r\n"
                if turn % 10 == 9:
                    text += (f"GET /v1/links/{codes[0]} HTTP/1.1\r\nHost: {wire.host}\r\n"
                             f"Authorization: Bearer {self.server.key}\r\n\r\n")
            wire.send(text)
            for turn in range(100):
                status, headers, _ = wire.read()
                if turn % 3:
                    self.assertEqual((status, headers["location"]),
                                     (302, f"https://example.com/{turn % 10}"))
                else:
                    self.assertEqual(status, 404)
                if turn % 10 == 9:
                    status, _, body = wire.read()
                    self.assertEqual((status, json.loads(body)["code"]), (200, codes[0]))

    def test_a_request_in_single_bytes(self):
        with self.raw() as wire:
            for byte in f"GET /healthz HTTP/1.1\r\nHost: {wire.host}\r\n\r\n".encode():
                wire.send(bytes([byte]))
            self.assertEqual(wire.read()[0], 200)

    def test_connection_close_and_http_1_0(self):
        with self.raw() as wire:
            self.request(wire, "GET /healthz", "Connection: close\r\n")
            self.assertEqual(wire.read()[0], 200)
            self.assertTrue(wire.is_closed())
        with self.raw() as wire:
            wire.send(f"GET /healthz HTTP/1.0\r\nHost: {wire.host}\r\n\r\n")
            self.assertEqual(wire.read()[0], 200)
            self.assertTrue(wire.is_closed())

    def test_a_chunked_body(self):
        with self.raw() as wire:
            half = len(GOOD) // 2
            chunks = "".join(f"{len(part):x}\r\n{part}\r\n" for part in (GOOD[:half], GOOD[half:]))
            self.request(wire, "POST /v1/links", self.head() + "Transfer-Encoding: chunked\r\n",
                         (chunks + "0\r\n\r\n").encode())
            self.assertEqual(wire.read()[0], 201)

    def test_expect_100_continue(self):
        with self.raw() as wire:
            self.request(wire, "POST /v1/links",
                         self.head() + f"Content-Length: {len(GOOD)}\r\nExpect: 100-continue\r\n")
            self.assertEqual(wire.read_head()[0], 100)
            wire.send(GOOD)
            self.assertEqual(wire.read()[0], 201)
        with self.raw() as wire:
            self.request(wire, "GET /healthz", "Expect: the-unexpected\r\n")
            self.assertEqual(wire.read()[0], 417)

    def test_a_body_too_large_is_refused_before_it_is_read(self):
        with self.raw() as wire:
            self.request(wire, "POST /v1/links",
                         self.head() + "Content-Length: 2000000\r\n")
            status, headers, _ = wire.read()
            self.assertEqual((status, headers["content-type"]), (413, "application/problem+json"))
        with self.raw() as wire:
            self.request(wire, "POST /v1/links",
                         self.head() + "Content-Length: 2000000\r\nExpect: 100-continue\r\n")
            self.assertEqual(wire.read()[0], 413)
        self.assertEqual(self.client.ask("POST", "/v1/links", GOOD + " " * 1_000_000, JSON).status,
                         201)

    def test_an_absolute_target(self):
        code = self.make()["code"]
        with self.raw() as wire:
            wire.send(f"GET http://{wire.host}/{code} HTTP/1.1\r\nHost: {wire.host}\r\n\r\n")
            self.assertEqual(wire.read()[0], 302)


class Beside(ServerCase):
    """The paths beside /v1."""

    def test_health_and_readiness(self):
        for path in ("/healthz", "/readyz"):
            answer = self.visitor.ask("GET", path)
            self.assertEqual(answer.status, 200, answer.text)

    def test_metrics_are_prometheus_text(self):
        self.visit(self.make()["code"])
        answer = self.visitor.ask("GET", "/metrics")
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))
        name = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
        label = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
        sample = re.compile(rf"({name})(\{{(?:{label}(?:,{label})*,?)?\}})? (\S+)( -?\d+)?")
        types, seen = {}, set()
        self.assertTrue(answer.text.endswith("\n"))
        for line in answer.text.splitlines():
            if line.startswith("# TYPE "):
                _, _, family, kind = line.split(" ")
                self.assertNotIn(family, types, "a family is declared once")
                self.assertIn(kind, ("counter", "gauge", "histogram", "summary", "untyped"))
                types[family] = kind
            elif not line.startswith("#") and line:
                found = sample.fullmatch(line)
                self.assertTrue(found, line)
                float(found[3].replace("+Inf", "inf"))
                self.assertNotIn((found[1], found[2]), seen, f"twice: {line}")
                seen.add((found[1], found[2]))
                family = re.sub(r"_(bucket|sum|count)$", "", found[1])
                self.assertTrue(found[1] in types or family in types, f"no TYPE: {line}")
        self.assertTrue([family for family in types if family.startswith("tenon_")])

    def test_the_openapi_document(self):
        document = self.visitor.ask("GET", "/openapi.json").json
        self.assertTrue(document["openapi"].startswith("3.1."))
        paths = document["paths"]
        self.assertLessEqual({"/v1/links", "/v1/links/bulk", "/v1/links/{code}"}, set(paths))
        for path in ("/v1/links", "/v1/links/bulk"):
            names = [self.resolve(document, parameter)["name"]
                     for parameter in paths[path]["post"]["parameters"]]
            self.assertIn("Idempotency-Key", names)
        identifiers = [operation["operationId"] for methods in paths.values()
                       for operation in methods.values() if "operationId" in operation]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        for reference in re.findall(r'"\$ref":\s*"([^"]+)"', json.dumps(document)):
            self.assertTrue(self.resolve(document, {"$ref": reference}))

    def resolve(self, document, node):
        """What a node stands for: itself, or what it refers to."""
        if "$ref" not in node:
            return node
        for part in node["$ref"].removeprefix("#/").split("/"):
            document = document[part]
        return document

    def test_the_documented_examples_are_accepted(self):
        document = self.visitor.ask("GET", "/openapi.json").json
        schema = document["paths"]["/v1/links"]["post"]["requestBody"]["content"][
            "application/json"]["schema"]
        schema = self.resolve(document, schema)
        self.assertEqual(schema["required"], ["url"])
        body = {name: field["examples"][0] if "examples" in field else field["example"]
                for name, field in schema["properties"].items()}
        del body["domain"]
        body["alias"] += uuid.uuid4().hex
        self.assertEqual(self.client.ask("POST", "/v1/links", body).status, 201)

    def test_the_api_page_works_offline(self):
        answer = self.visitor.ask("GET", "/docs")
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.headers["content-type"].startswith("text/html"))
        self.assertNotRegex(answer.text,
                            r"""(?i)(src|href|url|import|fetch)\s*[=(]\s*["']?https?:""")
        self.assertNotRegex(answer.text, r"""(?i)["'(=]//[a-z]""")

    def test_the_root(self):
        self.assertLess(self.visitor.ask("GET", "/").status, 500)


if __name__ == "__main__":
    unittest.main()
