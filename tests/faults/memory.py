#!/usr/bin/env python3
"""Measures the server's memory while requests and connections come and go.

Shown: after many requests, and after many connections that ended in every way, the memory of the
server is what it was after the first thousand requests, within a tenth and 8 MB. The tenth is for
what the allocator keeps in pieces, the 8 MB for buffers of as many connections as were open at
once; a leak of a few bytes per request or connection passes both at full size.

What is measured is the server's own memory (RssAnon of /proc), the least within --settle seconds
after the load: the allocator gives back what is free a little later, and a leak never. All requests
are about the same few links, since a cache that fills up to links.cache_bytes is no leak. wrk sends
them where it is installed (scripts/setup bench), else this program.

  tests/faults/memory.py --requests 20000 --connections 500
  tests/faults/memory.py --requests 10000000 --connections 10000 --at-once 2000
"""

import argparse
import http.client
import pathlib
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.support.cases import all_at_once  # noqa: E402
from tests.support.dev import Dev  # noqa: E402

FIRST = 1_000
LINKS = 50
CLIENTS = 32
SLACK_SHARE, SLACK_BYTES = 0.10, 8 << 20

# One request in 100 makes a link with one of 1,000 keys, so that most of them are repeats; the rest
# reads, follows, and is refused in two ways.
MIX = """
local codes = {%s}
local token = "Bearer %s"
local json = {["Authorization"] = token, ["Content-Type"] = "application/json"}
local number = 0
request = function()
    number = number + 1
    local code = codes[number %% #codes + 1]
    local kind = number %% 100
    if kind == 0 then
        json["Idempotency-Key"] = "memory-" .. number %% 100000
        return wrk.format("POST", "/v1/links", json, '{"url": "https://example.com/kept"}')
    elseif kind < 10 then
        return wrk.format("GET", "/v1/links/" .. code, {["Authorization"] = token})
    elseif kind < 12 then
        return wrk.format("GET", "/v1/links?limit=20", {["Authorization"] = token})
    elseif kind < 15 then
        return wrk.format("GET", "/no-such-" .. kind)
    elseif kind == 15 then
        return wrk.format("GET", "/v1/links/" .. code, {["Authorization"] = "Bearer wrong"})
    end
    return wrk.format("GET", "/" .. code)
end
"""


def own_bytes(pid):
    """The memory of a process that no file stands behind."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^RssAnon:\s+(\d+) kB", text, re.MULTILINE)[1]) * 1024


class Load:
    """Sends the mix to a server; what was answered otherwise than meant is told."""

    def __init__(self, dev, codes, folder):
        self.dev, self.codes = dev, codes
        self.script = pathlib.Path(folder) / "mix.lua"
        self.script.write_text(MIX % (", ".join(f'"{code}"' for code in codes), dev.key))
        self.sent = 0
        self.wrong = []

    def ask(self, client, number):
        code = self.codes[number % len(self.codes)]
        kind = number % 100
        answer, meant = self.choose(client, kind, code, number)
        if answer.status != meant:
            self.wrong.append(f"{answer.status} instead of {meant}: {answer.text[:200]}")

    def choose(self, client, kind, code, number):
        if kind == 0:
            key = {"Idempotency-Key": f"memory-{number % 100_000}"}
            return client.ask("POST", "/v1/links", {"url": "https://example.com/kept"}, key), 201
        if kind < 10:
            return client.ask("GET", "/v1/links/" + code), 200
        if kind < 12:
            return client.ask("GET", "/v1/links?limit=20"), 200
        if kind < 15:
            return client.ask("GET", f"/no-such-{kind}"), 404
        if kind == 15:
            refused = {"Authorization": "Bearer wrong"}
            return client.ask("GET", "/v1/links/" + code, None, refused), 401
        return client.ask("GET", "/" + code), 302

    def by_hand(self, count):
        def work(first):
            client = self.dev.client()
            for number in range(first, count, CLIENTS):
                self.ask(client, number)
            client.close()

        all_at_once(CLIENTS, work)
        self.sent += count

    def by_wrk(self, count):
        """At least `count`, since wrk counts seconds; it does not judge the answers."""
        goal = self.sent + count
        while self.sent < goal:
            told = subprocess.run(
                ["wrk", "-t2", f"-c{CLIENTS}", "-d2s" if count < 1_000_000 else "-d20s", "-s",
                 self.script, self.dev.url], capture_output=True, text=True, check=True).stdout
            self.sent += int(re.search(r"(\d+) requests in", told)[1])
            lost = re.search(r"Socket errors:.*", told)
            if lost:
                self.wrong.append(lost[0])

    def send(self, count):
        if shutil.which("wrk"):
            self.by_wrk(count)
        else:
            self.by_hand(count)


def open_one(address, number):
    """A connection that ends in one of five ways, open until it is ended by what is returned."""
    wire = socket.create_connection(address, 15)
    wire.settimeout(15)
    way = number % 5
    if way == 1:
        wire.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Ha")
    elif way == 2:
        wire.sendall(b"POST /v1/links HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{")
    elif way > 2:
        wire.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        if not wire.recv(4096).startswith(b"HTTP/1.1 200 "):
            raise http.client.HTTPException("no 200")
    if way in (0, 2, 4):  # the other side learns by a reset
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return wire


def come_and_go(url, count, at_once):
    """Connections in crowds: so many are open together, then all of them end."""
    parts = urllib.parse.urlsplit(url)
    for first in range(0, count, at_once):
        crowd = [open_one((parts.hostname, parts.port), number)
                 for number in range(first, min(first + at_once, count))]
        for wire in crowd:
            wire.close()


class Judge:
    """Prints what was measured beside its bound."""

    def __init__(self, pid, settle):
        self.pid, self.settle = pid, settle
        self.bound = None
        self.failed = False

    def first(self):
        """The most within the same time, so that a moment's low is no bound for what follows."""
        until = time.monotonic() + min(self.settle, 2)
        most = own_bytes(self.pid)
        while time.monotonic() < until:
            time.sleep(0.1)
            most = max(most, own_bytes(self.pid))
        self.bound = most * (1 + SLACK_SHARE) + SLACK_BYTES
        self.say(f"after the first {FIRST:,} requests", most, "")

    def later(self, when):
        until = time.monotonic() + self.settle
        least = own_bytes(self.pid)
        while least > self.bound and time.monotonic() < until:
            time.sleep(0.1)
            least = min(least, own_bytes(self.pid))
        broken = least > self.bound
        self.failed |= broken
        bound = f"   promised <= {self.bound / 2**20:6.1f} MB {'BROKEN' if broken else 'ok'}"
        self.say(when, least, bound)

    def say(self, when, measured, rest):
        print(f"{when:<45} {measured / 2**20:6.1f} MB{rest}", flush=True)


def make_links(dev):
    client = dev.client()
    made = [client.ask("POST", "/v1/links", {"url": f"https://example.com/{number}"}).json["code"]
            for number in range(LINKS)]
    client.close()
    return made


def measure(dev, options, folder):
    """True when the promise held."""
    load = Load(dev, make_links(dev), folder)
    load.by_hand(FIRST)
    judge = Judge(dev.process.pid, options.settle)
    judge.first()
    load.send(options.requests)
    judge.later(f"after {load.sent:,} requests")
    come_and_go(dev.url, options.connections, options.at_once)
    judge.later(f"after {options.connections:,} connections come and gone")
    load.by_hand(FIRST)
    judge.later(f"after {FIRST:,} requests more")
    for text in load.wrong[:10]:
        print(f"  {text}")
    return not judge.failed and not load.wrong


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=20_000, help="at least (default 20000)")
    parser.add_argument("--connections", type=int, default=500, help="in all (default 500)")
    parser.add_argument("--at-once", type=int, default=250,
                        help="how many of them are open together (default 250)")
    parser.add_argument("--settle", type=float, default=20,
                        help="seconds within which free memory is given back (default 20)")
    parser.add_argument("--shards", type=int, default=1, help="nodes (default 1)")
    return parser.parse_args()


def main():
    options = parse()
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most) if most > 0 else (files, most))
    dev = Dev(arguments=["--port", "0", "--shards", str(options.shards)])
    with tempfile.TemporaryDirectory(prefix="tenon-test-") as folder:
        try:
            dev.start()
            held = measure(dev, options, folder)
            if dev.stop() != 0:
                print(f"the stop ended with {dev.process.returncode}:\n{dev.log()}")
                held = False
        finally:
            dev.remove()
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
