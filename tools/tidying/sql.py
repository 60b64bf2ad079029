"""Rules about SQL, in .sql files and in the literals of C++."""

import re

_MACHINE_TIME = re.compile(
    r"\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(\s*\)"
    r"|\b(?:current_timestamp|localtimestamp|current_date|current_time)\b",
    re.I,
)
_LOOKS_LIKE_SQL = re.compile(r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER)\b")
_TABLE = re.compile(
    r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)\s*\((.*?)\)\s*(?:PARTITION[^;]*)?;",
    re.I | re.S,
)
_USE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+(?:ONLY\s+)?([\w.]+)", re.I)
TIME_ROOMS = {"storage", "events", "cache", "access"}
EXEMPTION = "-- redirect: no project"


def without_comments(text):
    return re.sub(r"--[^\n]*", lambda match: " " * len(match[0]), text)


def _pieces(source):
    """(line, text) of every piece of SQL in a file."""
    if source.suffix == ".sql":
        yield 1, source.text
    elif source.is_cpp:
        for literal in source.literals:
            if _LOOKS_LIKE_SQL.search(literal.body):
                yield source.line_at(literal.begin), literal.body


def machine_time(source, _tree):
    if not source.room or source.room in TIME_ROOMS or source.is_test:
        return
    for line, text in _pieces(source):
        for match in _MACHINE_TIME.finditer(without_comments(text)):
            yield source.finding(
                line + text.count("\n", 0, match.start()),
                f"{match[0]} is the database's time: take business time from Clock, as a parameter",
            )


def sharded_tables(tree):
    """Tables with a bucket and a project, as the migrations of all rooms make them."""
    found = set()
    for path in tree.paths:
        if path.startswith("src/") and path.endswith(".sql"):
            for name, body in _TABLE.findall(without_comments(tree.text(path))):
                columns = {line.split()[0].strip('"') for line in body.split("\n") if line.split()}
                if {"bucket", "project"} <= columns:
                    found.add(name.lower())
    return found


def projects(source, tree):
    if not source.room.startswith("services/") or not source.is_cpp or source.is_test:
        return
    sharded = tree.sharded_tables()
    for line, text in _pieces(source):
        plain = without_comments(text)
        used = {name.lower() for name in _USE.findall(plain)} & sharded
        if used and not re.search(r"\bproject\b", plain) and EXEMPTION not in text:
            yield source.finding(
                line, f"this statement on {', '.join(sorted(used))} names no project: compare it"
            )
        elif EXEMPTION in text and not used:
            yield source.finding(line, "this statement uses no sharded table: remove its exemption")


RULES = (machine_time, projects)
