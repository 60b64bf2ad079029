"""docs/configuration.md is what the program says about itself."""

import difflib
import unittest

from tests.support.cases import tenon
from tests.support.dev import ROOT

COMMITTED = ROOT / "docs/configuration.md"
UPDATE = "tests/run --update"


def printed():
    done = tenon("config", "docs")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def update():
    COMMITTED.write_text(printed())


class Reference(unittest.TestCase):
    def test_the_committed_reference_is_the_printed_one(self):
        self.assertTrue(COMMITTED.exists(), f"{COMMITTED} is missing: run {UPDATE}")
        committed, present = COMMITTED.read_text(), printed()
        changes = difflib.unified_diff(committed.splitlines(), present.splitlines(),
                                       "docs/configuration.md", "printed", lineterm="")
        self.assertEqual(committed, present,
                         f"run {UPDATE} and commit it:\n" + "\n".join(list(changes)[:60]))


if __name__ == "__main__":
    unittest.main()
