#!/usr/bin/env python3
"""Halts PostgreSQL, then Redis, then the server itself under load, and lets each go on.

Shown: links followed before go on without PostgreSQL for the time they are cached, creates are
refused with 503 or 504 and succeed when they are repeated, Redis is missed by nobody, everything
is back soon after its cause is, and nothing acknowledged is lost.

  tests/faults/halt_dev.py --seconds 10 --server-seconds 5 --clients 16
"""

import argparse
import collections
import http.client
import os
import pathlib
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.support.dev import Client, Dev, processes_in, wait_for  # noqa: E402
from tests.support.ledger import Ledger, create, settle_doubts, verify, work  # noqa: E402

# links.cache_ttl is 5 s with up to a tenth of jitter; what was followed just before the halt goes
# on for this long at least.
CACHED_SECONDS = 3.0


class Followers:
    """Clients that follow one link all the time; what they saw, with the time of each answer."""

    def __init__(self, dev, code, count):
        self.seen = []
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.follow, args=(dev.url, code))
                        for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def follow(self, url, code):
        client = Client(url, timeout=20)
        while not self.stop.is_set():
            began = time.monotonic()
            try:
                status = client.ask("GET", "/" + code, headers={"Tenon-Timeout": "1s"}).status
            except (OSError, http.client.HTTPException):
                status = 0
            self.seen.append((began, time.monotonic(), status))
            self.stop.wait(0.005)
        client.close()

    def between(self, begin, end):
        """How often each status came for requests that were sent and answered in a span."""
        return collections.Counter(
            status for sent, answered, status in list(self.seen)
            if begin <= sent and answered < end)

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def victims(dev, name):
    if name == "server":
        return [dev.process.pid]
    return sorted(processes_in(dev.engines() / name))


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def time_until_created(dev, ledger, name):
    """Seconds until a fresh client has a link made."""
    began = time.monotonic()
    client = Client(dev.url, dev.key, timeout=5)
    wait_for(f"a link after the halt of {name}",
             lambda: create(client, ledger, f"after-{name}", f"https://example.com/after-{name}"))
    client.close()
    return time.monotonic() - began


def halt(dev, options, ledger, name, seconds):
    """Halts one victim under load; the followers, when it was, and how long the way back took."""
    client = dev.client()
    hot = {"url": f"https://example.com/hot-{name}"}
    code = client.ask("POST", "/v1/links", hot).json["code"]
    client.close()
    stop = threading.Event()
    makers = [threading.Thread(target=work, args=(dev, ledger, stop, f"{name}-{number}"))
              for number in range(options.clients)]
    for thread in makers:
        thread.start()
    followers = Followers(dev, code, 4)
    wait_for("followers", lambda: len(followers.seen) > 50)
    pids = victims(dev, name)
    began = time.monotonic()
    send(pids, signal.SIGSTOP)
    time.sleep(seconds)
    ended = time.monotonic()
    send(pids, signal.SIGCONT)
    back = time_until_created(dev, ledger, name)
    stop.set()
    for thread in makers:
        thread.join()
    followers.end()
    return followers, (began, ended), back


def judge_postgres(ledger, followers, span):
    began, ended = span
    early = followers.between(began, min(began + CACHED_SECONDS, ended))
    if set(early) != {302}:
        ledger.complain(f"cached redirects without PostgreSQL: {dict(early)}")
    late = followers.between(began, ended)
    if not set(late) <= {302, 503, 504}:
        ledger.complain(f"redirects without PostgreSQL: {dict(late)}")


def judge_redis(ledger, followers, span, refused):
    seen = followers.between(*span)
    if set(seen) != {302} or refused:
        ledger.complain(f"without Redis: redirects {dict(seen)}, creates refused {refused}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10,
                        help="how long PostgreSQL, then Redis are halted (default 10)")
    parser.add_argument("--server-seconds", type=float, default=5,
                        help="how long the server is halted (default 5)")
    parser.add_argument("--clients", type=int, default=16, help="that make links (default 16)")
    parser.add_argument("--back-limit", type=float, default=2.0,
                        help="seconds until links are made again (default 2)")
    return parser.parse_args()


def main():
    options = parse()
    ledger, backs = Ledger(), {}
    dev = Dev(arguments=["--port", "0"])
    try:
        dev.start()
        for name in ("postgres", "redis", "server"):
            before = sum(ledger.refused.values())
            seconds = options.server_seconds if name == "server" else options.seconds
            followers, span, backs[name] = halt(dev, options, ledger, name, seconds)
            refused = sum(ledger.refused.values()) - before
            if name == "postgres":
                judge_postgres(ledger, followers, span)
            if name == "redis":
                judge_redis(ledger, followers, span, refused)
            print(f"{name:<9} halted {seconds:.0f} s: redirects meanwhile "
                  f"{dict(followers.between(*span))}, creates refused {refused}, "
                  f"back after {backs[name]:.2f} s", file=sys.stderr, flush=True)
        settle_doubts(dev, ledger)
        verify(dev, ledger)
        if dev.stop() != 0:
            ledger.complain(f"the last stop ended with {dev.process.returncode}:\n{dev.log()}")
    finally:
        log = dev.log()
        dev.remove()
    for name, back in backs.items():
        if back > options.back_limit:
            ledger.complain(f"{name}: {back:.2f} s until links were made again, promised "
                            f"{options.back_limit} s")
    print(f"links acknowledged     {len(ledger.acknowledged)}")
    print(f"creates refused        {dict(ledger.refused)}, all made when repeated")
    slowest = max(backs.values())
    print(f"slowest way back       {slowest:.2f} s (promised {options.back_limit:.0f} s)")
    return ledger.tell(log)


if __name__ == "__main__":
    sys.exit(main())
