"""The served OpenAPI document is the committed docs/openapi.json."""

import difflib
import json
import unittest

from tests.support.dev import ROOT, Dev

COMMITTED = ROOT / "docs/openapi.json"
UPDATE = "tests/run --update"
SERVER = "http://127.0.0.1:8080"


def served_document():
    """As a server serves it, at the address that a first start takes."""
    with Dev(arguments=("--port", "0")) as dev:
        client = dev.client(key=False)
        document = client.ask("GET", "/openapi.json").json
        client.close()
        for server in document["servers"]:
            server["url"] = server["url"].replace(dev.url, SERVER)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def update():
    COMMITTED.write_text(served_document())


class OpenApi(unittest.TestCase):
    def test_the_committed_document_is_the_served_one(self):
        served = served_document()
        self.assertTrue(COMMITTED.exists(), f"{COMMITTED} is missing: run {UPDATE}")
        committed = COMMITTED.read_text()
        changes = difflib.unified_diff(committed.splitlines(), served.splitlines(),
                                       "docs/openapi.json", "served", lineterm="")
        self.assertEqual(committed, served,
                         f"run {UPDATE} and commit it:\n" + "\n".join(list(changes)[:60]))


if __name__ == "__main__":
    unittest.main()
