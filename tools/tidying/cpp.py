"""Rules about C++: lengths of functions, names, docstrings, calls that have a better place."""

import pathlib
import re

from . import source as sources
from .text import FUNCTION_LINES_MAX

_BAD_WORD = r"(?:Manager|Helper|Util|Utils|Impl)"
_BAD_NAME = re.compile(
    rf"\b(?:class|struct|enum|union|using|concept)\s+(\w*{_BAD_WORD}(?![a-z])\w*)"
)
_BAD_FILE = re.compile(r"(?:^|_)(?:manager|helper|util|impl)s?(?:_|$)")
_NOT_A_NAME = {"requires", "noexcept", "decltype", "alignas", "explicit", "__attribute__"}
_NOT_A_FUNCTION = re.compile(
    r"using|typedef|static_assert|friend|extern|return|[A-Z][A-Z0-9_]+\s*\("
)
_TYPE_NAME = re.compile(r"(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(\w+)\s*(:{0,2}<?)")
_EMPTY_CATCH = re.compile(r"\bcatch\s*\([^)]*\)\s*\{\s*\}")


def _in_rooms(source):
    return bool(source.room)


# Pattern in code, where it is refused, and what to do instead.
BANNED = (
    (
        re.compile(r"\bstd::j?thread\b(?!::(?:id|hardware))"),
        lambda s: s.room != "runtime" and not s.is_test,
        "threads are made in src/runtime: post to a core, or use its thread for blocking calls",
    ),
    (
        re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep|(?<![:\w.>])sleep)\s*\("),
        lambda s: True,
        "nothing sleeps: await a timer, or the event that you wait for",
    ),
    (
        re.compile(r"\bdetached\b"),
        lambda s: not pathlib.PurePath(s.path).name.startswith("task_group"),
        "asio::detached loses the coroutine and its exception: spawn it in a TaskGroup",
    ),
    (
        re.compile(r"(?<!operator )\bnew\b\s*(?:\([^)]*\)\s*)?(?:[A-Za-z_]|::)"),
        _in_rooms,
        "`new` leaves open who owns it: use std::make_unique, make_shared or a container",
    ),
    (
        re.compile(r"(?<!operator )(?<!= )(?<!=)\bdelete\b\s*(?:\[\])?\s*[\w(*:]"),
        _in_rooms,
        "`delete` by hand: let a unique_ptr own it",
    ),
    (re.compile(r"\bstd::endl\b"), lambda s: True, "std::endl flushes: write '\\n'"),
    (
        re.compile(r"(?<![\w.>])(?:v?f?printf|f?puts|putchar)\s*\(|\bstd::(?:cout|cerr)\b"),
        lambda s: s.room != "app" and s.room != "drills" and not s.is_test
        and s.path != "src/base/assert.cpp",
        "printing belongs to src/app: log it, or return it",
    ),
    (
        re.compile(r"\bsystem_clock::now\b"),
        lambda s: s.path != "src/base/clock.cpp",
        "the time of day comes from Clock: take it as a parameter",
    ),
)


def banned_calls(source, _tree):
    if not source.is_cpp:
        return
    for pattern, refused, advice in BANNED:
        if refused(source):
            for match in pattern.finditer(source.code):
                yield source.finding(source.line_at(match.start()), advice)


def dropped_exceptions(source, _tree):
    if not source.is_cpp or source.is_test:
        return
    for match in _EMPTY_CATCH.finditer(source.code):
        if "//" not in source.text[match.start() : match.end()]:
            yield source.finding(
                source.line_at(match.start()),
                "an exception is caught and dropped: act on it, or say in the block why not",
            )


def names(source, _tree):
    stem = pathlib.PurePath(source.path).stem
    if (source.is_cpp or source.suffix == ".py") and _BAD_FILE.search(stem):
        yield source.finding(1, f"{stem} is an empty name: name the file after what it does")
    if not source.is_cpp:
        return
    for match in _BAD_NAME.finditer(source.code):
        yield source.finding(
            source.line_at(match.start(1)), f"{match[1]} is an empty name: say what the type does"
        )


def functions(source, _tree):
    if not source.is_cpp:
        return
    for statement in source.statements:
        if statement.kind == "function" and statement.defined:
            first, last = source.line_at(statement.begin), source.line_at(statement.end)
            lines = last - first + 1
            if lines > FUNCTION_LINES_MAX:
                name = function_name(statement.head) or "a function"
                limit = f"{FUNCTION_LINES_MAX} at most: take steps out of it"
                yield source.finding(first, f"{name} has {lines} lines, {limit}")


def function_name(head):
    """The name that is declared by a head, "" when it declares no free function."""
    clean = sources.clean_head(head)
    if _NOT_A_FUNCTION.match(clean):
        return ""
    for match in re.finditer(r"([\w~]+)\s*\(", clean):
        if match[1] in _NOT_A_NAME:
            continue
        before = clean[: match.start()].rstrip()
        if not before or "=" in before or "operator" in before or before.endswith("::"):
            return ""
        return match[1]
    return ""


def _type_name(head):
    """The name that a head defines, "" for a specialization."""
    found = _TYPE_NAME.match(sources.clean_head(head))
    return "" if not found or found[2] in ("<", "::") else found[1]


def docstrings(source, _tree):
    if source.suffix != ".hpp" or source.is_test or not source.room:
        return
    before, documented = "", False
    for statement in source.statements:
        if not _is_public(statement):
            continue
        name = _declared(source, statement)
        if not name:
            continue
        # Overloads that follow each other share the text above the first.
        if not (documented and name == before):
            documented = _has_docstring(source, statement)
            if not documented:
                line = source.line_at(statement.begin)
                yield source.finding(line, f"{name} has no docstring: say in /// what one gets")
        before = name


def _is_public(statement):
    """In namespaces only, none of them nameless or for the room's own use."""
    return all(
        scope.startswith(("namespace ", "inline namespace ")) and "detail" not in scope
        for scope in statement.scopes
    )


def _declared(source, statement):
    if statement.kind == "type":
        return _type_name(statement.head) if statement.defined else ""
    if statement.kind == "function":
        return function_name(statement.head)
    found = re.match(r"concept\s+(\w+)", sources.clean_head(statement.head))
    return found[1] if found else ""


def _has_docstring(source, statement):
    first = source.line_at(statement.begin) - 1
    last = source.line_at(statement.end) - 1
    above = source.lines[first - 1].strip() if first > 0 else ""
    beside = source.lines[last] if not statement.defined else source.lines[first]
    return above.startswith("///") or above.endswith("*/") or "///<" in beside


RULES = (banned_calls, dropped_exceptions, names, functions, docstrings)
