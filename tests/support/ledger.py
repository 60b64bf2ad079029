"""Clients that make links under faults, and what must be true of them afterwards."""

import collections
import http.client
import random
import threading
import uuid

from tests.support.dev import Client, wait_for


class Ledger:
    """What the clients asked for and what was acknowledged."""

    def __init__(self):
        self.lock = threading.Lock()
        self.acknowledged = {}   # key -> (url, code)
        self.in_doubt = {}       # key -> url
        self.refused = collections.Counter()  # status -> how often
        self.problems = []

    def acknowledge(self, key, url, code):
        with self.lock:
            self.in_doubt.pop(key, None)
            before = self.acknowledged.setdefault(key, (url, code))
            if before != (url, code):
                self.problems.append(f"key {key} answered {before[1]} and then {code}")

    def doubt(self, key, url):
        with self.lock:
            if key not in self.acknowledged:
                self.in_doubt[key] = url

    def refuse(self, answer):
        with self.lock:
            self.refused[answer.status] += 1
            if answer.status == 503 and "retry-after" not in answer.headers:
                self.problems.append(f"503 without Retry-After: {answer.text}")

    def tell(self, log):
        """Prints what was violated, with the server's last lines; the exit status."""
        print(f"violations             {len(self.problems)} (promised 0)")
        for problem in self.problems[:20]:
            print(f"  {problem}")
        if self.problems:
            print(f"\nthe server's last lines:\n{log}")
        return 1 if self.problems else 0

    def complain(self, text):
        with self.lock:
            self.problems.append(text)


def create(client, ledger, key, url):
    """One attempt; False when no answer or a 503 came, and the key stays in doubt."""
    ledger.doubt(key, url)
    try:
        answer = client.ask("POST", "/v1/links", {"url": url}, {"Idempotency-Key": key})
    except (OSError, http.client.HTTPException):
        return False
    if answer.status == 201:
        ledger.acknowledge(key, url, answer.json["code"])
        return True
    if answer.status in (503, 504, 409):
        ledger.refuse(answer)
        return False
    ledger.complain(f"unexpected answer {answer.status}: {answer.text}")
    return True


def work(dev, ledger, stop, seed):
    """A client: new keys, and every attempt without an answer again until the run is over."""
    rng = random.Random(seed)
    client = Client(dev.url, dev.key, timeout=10)
    while not stop.is_set():
        key = str(uuid.UUID(int=rng.getrandbits(128)))
        url = f"https://example.com/{key}"
        while not create(client, ledger, key, url) and not stop.is_set():
            stop.wait(0.02)
    client.close()


def settle_doubts(dev, ledger):
    client = dev.client()
    for key, url in list(ledger.in_doubt.items()):
        wait_for(f"an answer for {key}", lambda: create(client, ledger, key, url))
    client.close()


def all_links(client):
    cursor = ""
    while True:
        page = client.ask("GET", f"/v1/links?limit=500{cursor}").json
        yield from page["links"]
        if "next_cursor" not in page:
            return
        cursor = "&cursor=" + page["next_cursor"]


def verify(dev, ledger):
    client = dev.client()
    by_url = {}
    for link in all_links(client):
        by_url.setdefault(link["url"], []).append(link["code"])
    for url, codes in by_url.items():
        if len(codes) > 1:
            ledger.complain(f"{url} has {len(codes)} links: {codes}")
    for key, (url, code) in ledger.acknowledged.items():
        if by_url.get(url) != [code]:
            ledger.complain(f"{url} was acknowledged as {code}, stored is {by_url.get(url)}")
        answer = client.ask("GET", f"/{code}")
        if answer.status != 302 or answer.headers.get("location") != url:
            ledger.complain(f"/{code} answers {answer.status} {answer.headers.get('location')}")
    client.close()
