"""What benchmarks share: PostgreSQL's tools, and how they tell measured beside promised."""

import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINES = ROOT / "scripts/with-engines"


def need_engines(**environment):
    """Starts this program anew within with-engines, unless it runs there."""
    if "TENON_TEST_POSTGRES" not in os.environ:
        program = str(pathlib.Path(sys.argv[0]).resolve())
        os.execve(ENGINES, [str(ENGINES), sys.executable, program, *sys.argv[1:]],
                  {**os.environ, **environment})


def postgres_tool(name):
    return next(iter(sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))))


def words_of(conninfo):
    """libpq's keywords as options of PostgreSQL's programs."""
    options = {"host": "-h", "port": "-p", "user": "-U", "dbname": None}
    words = []
    for part in conninfo.split():
        key, value = part.split("=", 1)
        words += [value] if options[key] is None else [options[key], value]
    return words


def line(name, measured, at_least=None, at_most=None):
    """One result: a figure without a bar is told and judged by nobody."""
    promised = (f">= {at_least:.2f}" if at_least is not None
                else f"<= {at_most:.2f}" if at_most is not None else "-")
    ok = ((at_least is None or measured >= at_least) and (at_most is None or measured <= at_most))
    return {"name": name, "measured": round(measured, 3), "promised": promised, "ok": ok}


def report(lines, output):
    """Prints the results as text or JSON; the exit status: 1 when a bar was missed."""
    missed = not all(entry["ok"] for entry in lines)
    if output == "json":
        print(json.dumps(lines, indent=2))
        return int(missed)
    for entry in lines:
        verdict = "ok" if entry["ok"] else "MISSED"
        figures = f"{entry['measured']:>8.2f}   promised {entry['promised']:<8} {verdict}"
        print(f"{entry['name']:<55} {figures}")
    return int(missed)
