"""Traces that leave by OTLP/HTTP, and a server that a collector cannot harm."""

import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest
import uuid

from tests.support.cases import ServerCase, tenon
from tests.support.collector import Collector, facts
from tests.support.dev import Dev, wait_for
from tests.support.serve import Serve

CALLER = "b7ad6b7169203331"
DROPPED = re.compile(r'^tenon_trace_spans_dropped_total\{reason="(\w+)"\} (\d+)$', re.MULTILINE)


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


def parent(trace, sampled=True):
    return {"traceparent": f"00-{trace}-{CALLER}-{'01' if sampled else '00'}"}


class TraceCase(ServerCase):
    def collector(self, **options):
        collector = Collector(**options)
        self.addCleanup(collector.close)
        return collector

    def serve(self, endpoint, **environment):
        serving = Serve.beside(self.server, TENON_TRACE_OTLP_ENDPOINT=endpoint, **environment)
        self.addCleanup(serving.stop)
        serving.start()
        client = serving.client()
        self.addCleanup(client.close)
        return serving, client

    def create(self, client, headers=None):
        made = client.ask("POST", "/v1/links", {"url": "https://example.com/x"}, headers)
        self.assertEqual(made.status, 201, made.text)
        return made

    def trace_of(self, collector, trace):
        """The spans of a trace once its request's own, which ends last, is there."""
        def whole():
            spans = collector.spans(trace)
            return spans if any(span["kind"] == 2 for span in spans) else None
        return wait_for("the span of a request", whole)

    def dropped(self, client):
        """{reason: count}"""
        text = client.ask("GET", "/metrics").text
        return {reason: int(count) for reason, count in DROPPED.findall(text)}


class Spans(TraceCase):
    def test_a_request_its_batches_and_round_trips_are_one_trace(self):
        collector = self.collector()
        _, client = self.serve(f"http://127.0.0.1:{collector.port}")
        trace = uuid.uuid4().hex
        made = self.create(client, {**parent(trace), "tracestate": "vendor=1"})
        spans = self.trace_of(collector, trace)
        _, path, content_type, body = collector.posts[0]
        self.assertEqual((path, content_type), ("/v1/traces", "application/json"))
        resource = facts(body["resourceSpans"][0]["resource"])
        self.assertEqual(resource["service.name"], "tenon")
        request, = (span for span in spans if span["kind"] == 2)
        self.assertEqual(request["parentSpanId"], CALLER)
        self.assertEqual(request["name"], "POST /v1/links")
        self.assertEqual(request["traceState"], "vendor=1")
        told = facts(request)
        for name, value in (("http.request.method", "POST"), ("http.route", "/v1/links"),
                            ("url.path", "/v1/links"), ("http.response.status_code", 201),
                            ("client.address", "127.0.0.1")):
            self.assertEqual(told[name], value)
        self.assertEqual(made.headers["traceparent"], f"00-{trace}-{request['spanId']}-01")
        self.assertEqual(made.headers["tracestate"], "vendor=1")
        self.assert_links_up(spans, request)

    def assert_links_up(self, spans, request):
        """Every other span has its parent among them, lies within the request, and leads to it."""
        by_id = {span["spanId"]: span for span in spans}
        self.assertEqual(len(by_id), len(spans), "an id was used twice")
        trips = [span for span in spans if facts(span).get("db.system.name") == "postgresql"]
        self.assertTrue(trips)
        for span in spans:
            if span is request:
                continue
            above = by_id[span["parentSpanId"]]
            self.assertLessEqual(int(above["startTimeUnixNano"]), int(span["startTimeUnixNano"]))
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
            while above is not request:
                above = by_id[above["parentSpanId"]]

    def test_only_what_was_asked_for_leaves(self):
        collector = self.collector()
        _, client = self.serve(f"http://127.0.0.1:{collector.port}/v1/traces")
        self.create(client)
        self.create(client, parent(uuid.uuid4().hex, sampled=False))
        last = uuid.uuid4().hex
        self.create(client, parent(last))
        self.trace_of(collector, last)
        self.assertEqual({span["traceId"] for span in collector.spans()}, {last})

    def test_a_ratio_samples_what_begins_here(self):
        collector = self.collector()
        _, client = self.serve(f"http://127.0.0.1:{collector.port}", TENON_TRACE_SAMPLE_RATIO="1")
        made = self.create(client)
        spans = self.trace_of(collector, made.headers["tenon-request-id"])
        request, = (span for span in spans if span["kind"] == 2)
        self.assertNotIn("parentSpanId", request)
        unsampled = uuid.uuid4().hex
        self.create(client, parent(unsampled, sampled=False))
        self.assertEqual(client.ask("GET", "/" + made.json["code"]).status, 302)

        def redirect():
            return [span for span in collector.spans()
                    if facts(span).get("http.route") == "/{code}"]
        found = wait_for("the span of a redirect", redirect)
        self.assertEqual(facts(found[0])["http.response.status_code"], 302)
        self.assertEqual(collector.spans(unsampled), [])

    def test_what_was_recorded_last_is_sent_at_the_stop(self):
        collector = self.collector()
        serving, client = self.serve(f"http://127.0.0.1:{collector.port}")
        trace = uuid.uuid4().hex
        self.create(client, parent(trace))
        serving.stop()
        self.assertEqual(serving.process.returncode, 0)
        self.assertTrue([span for span in collector.spans(trace) if span["kind"] == 2])


class Trouble(TraceCase):
    def assert_unharmed(self, serving, client):
        """It serves, and it stops in order."""
        self.create(client, parent(uuid.uuid4().hex))
        self.assertEqual(client.ask("GET", "/readyz").status, 200)
        serving.stop()
        self.assertEqual(serving.process.returncode, 0)

    def said(self, serving):
        """What the log says of the collector."""
        return [line for line in serving.lines() if "collector" in line["message"]]

    def test_a_collector_that_is_away(self):
        with socket.create_server(("127.0.0.1", 0)) as held:
            port = held.getsockname()[1]
        serving, client = self.serve(f"http://127.0.0.1:{port}")
        self.create(client, parent(uuid.uuid4().hex))
        wait_for("spans that are given up",
                 lambda: self.dropped(client).get("unreachable", 0) > 0, 60)
        self.assertEqual(len(self.said(serving)), 1, "it warns once, not at every attempt")
        self.assert_unharmed(serving, client)

    def test_a_collector_that_never_answers(self):
        collector = self.collector()
        collector.hold()
        serving, client = self.serve(f"http://127.0.0.1:{collector.port}",
                                     TENON_TRACE_OTLP_TIMEOUT="100ms")
        self.create(client, parent(uuid.uuid4().hex))
        wait_for("spans that are given up",
                 lambda: self.dropped(client).get("unreachable", 0) > 0, 60)
        self.assert_unharmed(serving, client)

    def test_a_stop_does_not_wait_for_a_slow_collector(self):
        collector = self.collector()
        collector.hold()
        serving, client = self.serve(f"http://127.0.0.1:{collector.port}",
                                     TENON_TRACE_OTLP_TIMEOUT="60s",
                                     TENON_PROCESS_SHUTDOWN_BOUND="2s")
        self.create(client, parent(uuid.uuid4().hex))
        wait_for("a post under way", lambda: collector.posts)
        self.assert_unharmed(serving, client)

    def test_a_busy_collector_is_asked_again_when_it_says(self):
        collector = self.collector()
        collector.answers = [(503, {"Retry-After": "2"})]
        serving, client = self.serve(f"http://127.0.0.1:{collector.port}")
        trace = uuid.uuid4().hex
        self.create(client, parent(trace))
        wait_for("the second attempt", lambda: len(collector.posts) == 2)
        (first, *_, one), (second, *_, two) = collector.posts
        self.assertEqual(one, two)
        self.assertGreaterEqual(second - first, 2)
        self.assertEqual(set(self.dropped(client).values()), {0})
        wait_for("the line that it works again",
                 lambda: [line["level"] for line in self.said(serving)] == ["warning", "info"])
        self.assert_unharmed(serving, client)

    def test_a_collector_that_refuses(self):
        collector = self.collector()
        collector.answers = [(400, {})]
        serving, client = self.serve(f"http://127.0.0.1:{collector.port}")
        self.create(client, parent(uuid.uuid4().hex))
        wait_for("spans that were refused", lambda: self.dropped(client).get("refused", 0) > 0)
        self.assertEqual(len(collector.posts), 1)
        self.assert_unharmed(serving, client)


class Settings(TraceCase):
    def test_values_that_mean_nothing_are_refused(self):
        for name, value, mentions in (
                ("OTLP_ENDPOINT", "collector:4318", "http://127.0.0.1:4318/v1/traces"),
                ("OTLP_ENDPOINT", "http://me:secret@collector/", "trace.otlp_endpoint"),
                ("SAMPLE_RATIO", "1.5", "from 0 to 1"), ("SAMPLE_RATIO", "-1", "from 0 to 1")):
            checked = tenon("config", "check", environment={f"TENON_TRACE_{name}": value})
            with self.subTest(name=name, value=value):
                self.assertEqual(checked.returncode, 3)
                self.assertIn(mentions, checked.stdout + checked.stderr)

    def test_https_checks_the_certificate(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-traces-"))
        self.addCleanup(shutil.rmtree, folder)
        key, certificate = folder / "key.pem", folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
                        certificate], check=True, capture_output=True, timeout=30)
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate, key)
        collector = self.collector(tls=tls)
        _, client = self.serve(f"https://localhost:{collector.port}",
                               SSL_CERT_FILE=str(certificate))
        trace = uuid.uuid4().hex
        self.create(client, parent(trace))
        self.trace_of(collector, trace)
        # Nobody vouches for it, and it is not of that name.
        for endpoint, trusted in ((f"https://localhost:{collector.port}", "/dev/null"),
                                  (f"https://127.0.0.1:{collector.port}", str(certificate))):
            other = uuid.uuid4().hex
            serving, client = self.serve(endpoint, SSL_CERT_FILE=trusted)
            self.create(client, parent(other))
            wait_for("the reason in the log",
                     lambda s=serving: any("certificate verify failed" in line.get("reason", "")
                                           for line in s.lines()))
            self.assertEqual(collector.spans(other), [])


if __name__ == "__main__":
    unittest.main()
