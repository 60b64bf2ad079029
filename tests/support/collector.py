"""A collector of OpenTelemetry in the test: takes OTLP/HTTP as JSON and answers what it is told."""

import http.server
import json
import threading
import time


class Collector:
    """Listens on a free port of 127.0.0.1; `answers` are given one after the other, then 200.

    An answer is (status, headers). While `hold()` is in force nobody is answered at all.
    """

    def __init__(self, tls=None):
        self.posts = []  # (when, path, content type, body)
        self.answers = []
        self.free = threading.Event()
        self.free.set()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(self, body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # clients that leave are part of the tests
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def take(self, handler, body):
        self.posts.append((time.monotonic(), handler.path, handler.headers["Content-Type"],
                           json.loads(body)))
        self.free.wait(60)
        status, headers = self.answers.pop(0) if self.answers else (200, {})
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "2")
        handler.end_headers()
        handler.wfile.write(b"{}")

    def hold(self):
        self.free.clear()

    def release(self):
        self.free.set()

    def spans(self, trace=None):
        """All spans that were posted so far, those of one trace when it is named."""
        found = []
        for _, _, _, body in list(self.posts):
            for resource in body["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    found += scope["spans"]
        return [span for span in found if trace in (None, span["traceId"])]

    def close(self):
        self.release()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def facts(span):
    """A span's attributes as {name: value}; integers as int."""
    read = {}
    for one in span["attributes"]:
        (kind, value), = one["value"].items()
        read[one["key"]] = int(value) if kind == "intValue" else value
    return read
