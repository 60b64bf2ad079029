"""How benchmarks tell what they measured beside what is promised."""

import json


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
