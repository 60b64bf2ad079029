#!/usr/bin/env python3
"""Holds the OpenAPI document that `tenon dev` serves against what it answers, by schemathesis.

  tests/schema/check.py                  a minute, the seed that CI has
  tests/schema/check.py --seconds 600 --seed 7

It needs schemathesis, so it is run by scripts/schema, which installs that. TENON_PROGRAM names the
program; without it build/release/tenon is tested.
"""

import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
from tests.support.dev import PROGRAM, Dev  # noqa: E402

# Over this the phases that come first would have taken the time of the last one, too.
EXAMPLES_PER_SECOND = 0.4


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="how long it may take (60)")
    parser.add_argument("--seed", type=int, default=20261130, help="what decides the requests")
    parser.add_argument("--examples", type=int,
                        help="requests per endpoint, phase and mode; by the time when left out")
    parser.add_argument("--schemathesis", default="schemathesis", help="the program to run")
    return parser.parse_args()


def main():
    options = parse()
    if not PROGRAM.exists():
        print(f"{PROGRAM} is missing: run make build, or set TENON_PROGRAM", file=sys.stderr)
        return 1
    examples = options.examples or max(5, int(options.seconds * EXAMPLES_PER_SECOND))
    with Dev(arguments=("--port", "0")) as dev:
        command = [options.schemathesis, "--config-file", str(HERE / "schemathesis.toml"), "run",
                   f"{dev.url}/openapi.json", "--header", f"Authorization: Bearer {dev.key}",
                   "--checks", "all", "--seed", str(options.seed),
                   "--max-examples", str(examples), "--max-time", str(options.seconds)]
        # Its hooks are found beside its configuration.
        done = subprocess.run(command, cwd=HERE, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        if dev.process.poll() is not None:
            print(f"the server ended with {dev.process.returncode}:\n{dev.log()}")
            return 1
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
