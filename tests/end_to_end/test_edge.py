"""What stands between clients and the API: proxies, browsers, compression, TLS."""

import gzip
import http.client
import json
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest
import urllib.parse
import uuid

from tests.support.cases import RawConnection, ServerCase, tenon
from tests.support.dev import PROGRAM, Dev, wait_for
from tests.support.serve import Serve

PAGE = "https://app.example.com"


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


class EdgeCase(ServerCase):
    def serve(self, **environment):
        serving = Serve.beside(self.server, **environment)
        self.addCleanup(serving.stop)
        return serving.start()

    def raw_to(self, serving):
        wire = RawConnection(serving.url)
        self.addCleanup(wire.close)
        return wire


class Proxies(EdgeCase):
    def seen(self, serving, headers):
        """The scheme by which the client is believed to have come, and whose id the answer has."""
        client = serving.client(key=False)
        self.addCleanup(client.close)
        answer = client.ask("GET", "/openapi.json", None, headers)
        url = answer.json["servers"][0]["url"]
        return urllib.parse.urlsplit(url).scheme, answer.headers["tenon-request-id"]

    def test_strangers_are_not_believed(self):
        own = uuid.uuid4().hex
        told = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https",
                "Forwarded": "for=203.0.113.9;proto=https", "X-Request-Id": own}
        for options in ({}, {"TENON_HTTP_TRUSTED_PROXIES": "192.0.2.0/24,2001:db8::/32"}):
            scheme, identifier = self.seen(self.serve(**options), told)
            with self.subTest(options=options):
                self.assertEqual(scheme, "http")
                self.assertNotEqual(identifier, own)

    def test_listed_proxies_are_believed(self):
        serving = self.serve(TENON_HTTP_TRUSTED_PROXIES="127.0.0.1,::1,10.0.0.0/8")
        own = uuid.uuid4().hex
        for headers in ({"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"},
                        {"X-Forwarded-For": "203.0.113.9, 10.0.0.2",
                         "X-Forwarded-Proto": "https, http"},
                        {"Forwarded": 'for="[2001:db8::9]";proto=https, for=10.0.0.2;proto=http'}):
            with self.subTest(headers=headers):
                self.assertEqual(self.seen(serving, {**headers, "X-Request-Id": own}),
                                 ("https", own))
        for headers in ({}, {"X-Forwarded-For": "?", "X-Forwarded-Proto": "?"},
                        {"Forwarded": 'for="'}, {"X-Forwarded-For": "," * 4000},
                        {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https, http"}):
            with self.subTest(headers=str(headers)[:60]):
                self.assertEqual(self.seen(serving, headers)[0], "http")

    def test_networks_that_mean_nothing_are_refused(self):
        checked = tenon("config", "check",
                        environment={"TENON_HTTP_TRUSTED_PROXIES": "10.1.2.3/8"})
        self.assertEqual(checked.returncode, 3)
        self.assertIn("write 10.0.0.0/8", checked.stdout + checked.stderr)


class Browsers(EdgeCase):
    def preflight(self, client, origin, path="/v1/links"):
        return client.ask("OPTIONS", path, None, {
            "Origin": origin, "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type,idempotency-key"})

    def test_no_page_may_call_unless_it_is_listed(self):
        problem = self.assert_problem(self.preflight(self.visitor, PAGE), 403,
                                      "http.origin_refused")
        self.assertIn("http.cors_origins", problem["detail"])
        answer = self.client.ask("GET", "/v1/links", None, {"Origin": PAGE})
        self.assertEqual(answer.status, 200)
        self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_a_listed_page_calls_and_reads(self):
        serving = self.serve(TENON_HTTP_CORS_ORIGINS=PAGE)
        client = serving.client()
        self.addCleanup(client.close)
        allowed = self.preflight(client, PAGE)
        self.assertEqual(allowed.status, 204, allowed.text)
        self.assertEqual(allowed.headers["access-control-allow-origin"], PAGE)
        self.assertIn("POST", allowed.headers["access-control-allow-methods"])
        sent = {name.strip().lower()
                for name in allowed.headers["access-control-allow-headers"].split(",")}
        self.assertLessEqual({"authorization", "content-type", "idempotency-key"}, sent)
        made = client.ask("POST", "/v1/links", {"url": "https://example.com/"},
                          {"Origin": PAGE, "Idempotency-Key": uuid.uuid4().hex})
        self.assertEqual(made.status, 201, made.text)
        self.assertEqual(made.headers["access-control-allow-origin"], PAGE)
        self.assertIn("Tenon-Request-Id", made.headers["access-control-expose-headers"])
        wrong = client.ask("POST", "/v1/links", {}, {"Origin": PAGE})
        self.assertEqual(wrong.headers["access-control-allow-origin"], PAGE)
        visit = client.ask("GET", "/" + made.json["code"], None, {"Origin": PAGE})
        self.assertEqual(visit.status, 302)
        self.assertNotIn("access-control-allow-origin", visit.headers)

    def test_a_refused_page_is_told_why_and_so_is_the_log(self):
        serving = self.serve(TENON_HTTP_CORS_ORIGINS=PAGE)
        client = serving.client()
        self.addCleanup(client.close)
        stranger = "https://app.example.com.evil.example"
        problem = self.assert_problem(self.preflight(client, stranger), 403, "http.origin_refused")
        self.assertIn(stranger, problem["detail"])
        hidden = client.ask("GET", "/v1/links", None, {"Origin": stranger})
        self.assertEqual(hidden.status, 200)
        self.assertNotIn("access-control-allow-origin", hidden.headers)
        self.assertIn("Origin", hidden.headers["vary"])

        def told():
            return [line for line in serving.lines() if stranger in json.dumps(line)]

        wait_for("the line about the origin", lambda: len(told()) == 2)
        self.assertIn("http.cors_origins", json.dumps(told()))


class Compression(EdgeCase):
    def fetch(self, path, coding):
        with self.raw() as wire:
            wire.send(f"GET {path} HTTP/1.1\r\nHost: {wire.host}\r\nAccept-Encoding: {coding}\r\n"
                      f"Authorization: Bearer {self.server.key}\r\n\r\n")
            return wire.read()

    def test_long_texts_leave_compressed(self):
        for _ in range(10):
            self.make(title="long enough to be worth it " * 3)
        for path in ("/openapi.json", "/docs", "/v1/links", "/metrics"):
            with self.subTest(path=path):
                status, headers, small = self.fetch(path, "br;q=1.0, gzip;q=0.5")
                self.assertEqual((status, headers["content-encoding"]), (200, "gzip"))
                self.assertIn("Accept-Encoding", headers["vary"])
                _, headers, whole = self.fetch(path, "gzip;q=0")
                self.assertNotIn("content-encoding", headers)
                self.assertIn("Accept-Encoding", headers["vary"])
                self.assertLess(len(small), len(whole) / 2)
                if path != "/metrics":
                    self.assertEqual(gzip.decompress(small), whole)
        self.assertNotIn("content-encoding", self.fetch("/healthz", "gzip")[1])

    def test_curl_undoes_it(self):
        done = subprocess.run(["curl", "-sS", "--compressed", self.server.url + "/openapi.json"],
                              capture_output=True, text=True, timeout=30, check=True)
        self.assertIn("paths", json.loads(done.stdout))

    def test_compressed_requests_are_refused(self):
        answer = self.client.ask("POST", "/v1/links",
                                 gzip.compress(b'{"url":"https://example.com/"}'),
                                 {"Content-Type": "application/json", "Content-Encoding": "gzip"})
        self.assert_problem(answer, 415, "http.content_encoding")
        self.assertEqual(answer.headers["accept-encoding"], "identity")


class Tls(EdgeCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-test-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.certificate, self.key = self.folder / "certificate.pem", self.folder / "key.pem"
        self.sign(1)
        self.options = {"TENON_HTTP_TLS_CERTIFICATE": str(self.certificate),
                        "TENON_HTTP_TLS_KEY": str(self.key)}

    def sign(self, serial):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                        "-set_serial", str(serial), "-keyout", self.key, "-out", self.certificate],
                       check=True, capture_output=True, timeout=30)

    def trust(self):
        return ssl.create_default_context(cafile=self.certificate)

    def connect(self, serving, context=None):
        port = urllib.parse.urlsplit(serving.url).port
        plain = socket.create_connection(("127.0.0.1", port), 15)
        self.addCleanup(plain.close)
        wrapped = (context or self.trust()).wrap_socket(plain, server_hostname="localhost")
        self.addCleanup(wrapped.close)
        return wrapped

    def test_the_api_and_short_links_within_tls(self):
        serving = self.serve(**self.options)
        self.assertTrue(serving.url.startswith("https://"), serving.url)
        port = urllib.parse.urlsplit(serving.url).port
        connection = http.client.HTTPSConnection("localhost", port, timeout=15,
                                                 context=self.trust())
        self.addCleanup(connection.close)
        body = json.dumps({"url": "https://example.com/x", "title": "t" * 200})
        connection.request("POST", "/v1/links", body,
                           {"Authorization": f"Bearer {serving.key}",
                            "Content-Type": "application/json"})
        made = json.loads(connection.getresponse().read())
        self.assertTrue(made["short_url"].startswith("https://"), made)
        connection.request("GET", "/" + made["code"])
        response = connection.getresponse()
        response.read()
        self.assertEqual((response.status, response.headers["location"]),
                         (302, "https://example.com/x"))
        connection.request("GET", "/openapi.json")
        document = json.loads(connection.getresponse().read())
        self.assertEqual(document["servers"][0]["url"], f"https://localhost:{port}")

    def test_curl_verifies_and_reads(self):
        serving = self.serve(**self.options)
        for extra in ((), ("--tlsv1.2", "--tls-max", "1.2"), ("--http1.1",), ("--compressed",)):
            done = subprocess.run(["curl", "-sS", "--cacert", self.certificate, *extra,
                                   serving.url + "/openapi.json"],
                                  capture_output=True, text=True, timeout=30)
            with self.subTest(extra=extra):
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("paths", json.loads(done.stdout))

    def test_versions_and_protocols(self):
        serving = self.serve(**self.options)
        context = self.trust()
        context.set_alpn_protocols(["h2", "http/1.1"])
        wrapped = self.connect(serving, context)
        self.assertEqual(wrapped.version(), "TLSv1.3")
        self.assertEqual(wrapped.selected_alpn_protocol(), "http/1.1")
        old = self.trust()
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(OSError):
            self.connect(serving, old)

    def test_a_plain_request_is_told_to_use_https(self):
        serving = self.serve(**self.options)
        with self.raw_to(serving) as wire:
            wire.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            status, _, body = wire.read()
            self.assertEqual(status, 400)
            self.assertIn("https", json.loads(body)["detail"])
            self.assertTrue(wire.is_closed())

    def test_a_renewed_certificate_is_taken_up(self):
        serving = self.serve(**self.options)
        kept = self.connect(serving)
        self.assertEqual(kept.getpeercert()["serialNumber"], "01")
        self.sign(2)

        def renewed():
            try:
                with self.connect(serving) as wrapped:
                    return wrapped.getpeercert()["serialNumber"] == "02"
            except ssl.SSLCertVerificationError:
                return False

        wait_for("the new certificate", renewed)
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertTrue(kept.recv(1000).startswith(b"HTTP/1.1 200 "))
        self.certificate.write_text("no certificate")
        wait_for("the line about it", lambda: [
            line for line in serving.lines() if "cannot be used" in json.dumps(line)])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.connect(serving, context)

    def test_files_that_cannot_be_used_are_refused_in_a_sentence(self):
        environment = Serve.beside(self.server, **self.options).environment
        for damage, mentions in ((lambda: self.key.write_text("x"), "http.tls_key"),
                                 (lambda: self.certificate.unlink(), "http.tls_certificate")):
            damage()
            done = subprocess.run([str(PROGRAM), "serve"], env=environment,
                                  capture_output=True, text=True, timeout=60)
            with self.subTest(mentions=mentions):
                self.assertEqual(done.returncode, 1)
                self.assertIn(mentions, done.stderr)
        half = tenon("config", "check", environment={"TENON_HTTP_TLS_KEY": str(self.key)})
        self.assertEqual(half.returncode, 3)


if __name__ == "__main__":
    unittest.main()
