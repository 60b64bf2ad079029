"""A file as the rules see it: its text, its code without comments and literals, its blocks."""

import bisect
import dataclasses
import functools
import pathlib
import re

CPP = {".cpp", ".hpp"}

_LEXEME = re.compile(
    r'(?P<raw>R"(?P<mark>[^\s()\\]{0,16})\((?P<body>.*?)\)(?P=mark)")'
    r"|(?P<line>//[^\n]*)"
    r"|(?P<block>/\*.*?\*/)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')",
    re.S,
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
_BRACE = re.compile(r"[{};]")
_TYPE = re.compile(r"^(?:class|struct|union|enum)\b")
_SKIPPED_FIRST = re.compile(r"^(?:\[\[[^\]]*\]\]|(?:public|private|protected)\s*:(?!:)|\s+)")
_MACRO = re.compile(r"\s*[A-Z][A-Z0-9_]+\(")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line that breaks a rule, and how to mend it."""

    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


@dataclasses.dataclass
class Literal:
    """A string literal, or several that the compiler joins."""

    begin: int
    end: int
    body: str


@dataclasses.dataclass
class Statement:
    """What stands in a namespace or type up to its `;` or around its `{ }`."""

    kind: str  # "function", "type", "namespace" or "other"
    head: str  # code before the first brace or the semicolon, without attributes
    begin: int
    end: int
    scopes: tuple  # heads of the enclosing namespaces and types, outermost first
    defined: bool  # it has a body


class Source:
    """One file of the project."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self.suffix = pathlib.PurePath(path).suffix
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def line_at(self, offset):
        """The number, from 1, of the line that holds this offset."""
        return bisect.bisect_right(self._starts, offset)

    def finding(self, line, text):
        return Finding(self.path, line, text)

    @property
    def is_cpp(self):
        return self.suffix in CPP

    @property
    def is_test(self):
        """Test, fuzz target or benchmark, by its suffix or its folder."""
        stem = pathlib.PurePath(self.path).stem
        return stem.endswith(("_test", "_fuzz", "_bench")) or self.path.startswith("tests/")

    @property
    def room(self):
        """links for src/services/links/store.cpp, base for src/base/slot.hpp, else empty."""
        parts = pathlib.PurePath(self.path).parts
        if len(parts) > 3 and parts[:2] == ("src", "services"):
            return "services/" + parts[2]
        return parts[1] if len(parts) > 2 and parts[0] == "src" else ""

    @functools.cached_property
    def _lexed(self):
        literals = []

        def blank(match):
            if match["raw"] is not None or match["string"] is not None:
                body = match["body"] if match["raw"] is not None else match["string"][1:-1]
                literals.append(Literal(match.start(), match.end(), body))
                quoted = _NOT_NEWLINE.sub(" ", match[0])
                return '"' + quoted[1:-1] + '"'
            return _NOT_NEWLINE.sub(" ", match[0])

        return _LEXEME.sub(blank, self.text), literals

    @property
    def code(self):
        """The text with comments and the insides of literals as spaces, every offset as before."""
        return self._lexed[0]

    @functools.cached_property
    def literals(self):
        joined = []
        for literal in self._lexed[1]:
            last = joined[-1] if joined else None
            if last and not self.text[last.end : literal.begin].strip():
                last.body += literal.body
                last.end = literal.end
            else:
                joined.append(dataclasses.replace(literal))
        return joined

    @functools.cached_property
    def statements(self):
        return list(_statements(_without_directives(self.code)))


def _without_directives(code):
    return _DIRECTIVE.sub(lambda match: _NOT_NEWLINE.sub(" ", match[0]), code)


def clean_head(head):
    """The head without attributes, access labels and `template <...>`."""
    while True:
        found = _SKIPPED_FIRST.match(head)
        if found:
            head = head[found.end() :]
        elif re.match(r"template\s*<", head):
            head = head[_end_of_angles(head) :]
        else:
            return head.strip()


def _end_of_angles(head):
    depth = 0
    for index, char in enumerate(head):
        depth += (char == "<") - (char == ">" and head[index - 1] != "-")
        if char == ">" and depth == 0:
            return index + 1
    return len(head)


def _end_of_macros(head):
    """Where a head begins that calls of macros without a semicolon stand before."""
    end = 0
    while found := _MACRO.match(head, end):
        close = _end_of_pairs(head, found.end() - 1, "()")
        if not head[close:].strip() or "\n" not in head[close:].split(head[close:].strip()[0])[0]:
            break
        end = close
    return end


def _end_of_pairs(text, opening, pair):
    """Behind the bracket that closes the one at `opening`."""
    depth = 0
    for found in re.compile(f"[{re.escape(pair)}]").finditer(text, opening):
        depth += 1 if found[0] == pair[0] else -1
        if depth == 0:
            return found.end()
    return len(text)


def _kind(head):
    clean = clean_head(head)
    if re.match(r"(?:inline\s+)?namespace\b|extern\s+\"", clean):
        return "namespace"
    if _TYPE.match(clean) and not re.search(r"\)\s*(?:const|noexcept|\s)*$", clean):
        return "type"
    if "(" in clean:
        return "function"
    return "other"


def _is_initializer(before):
    """clang-format writes a body's brace after a space, and an initializer's close to its name."""
    return bool(re.search(r"[\w>\])=,({]$", before)) or bool(re.search(r"[=,(]\s*$", before))


def _statements(code):
    """Walks the braces once. Blocks of functions and initializers are skipped whole."""
    scopes, begin, position = [], 0, 0
    while True:
        found = _BRACE.search(code, position)
        if not found:
            return
        at, char = found.start(), found[0]
        position = at + 1
        begin += _end_of_macros(code[begin:at])
        head = code[begin:at]
        first = begin + len(head) - len(head.lstrip())
        if char == "}":
            if scopes:
                scopes.pop()
            begin = position
        elif char == ";":
            if head.strip():
                kind = _kind(head)
                yield Statement(kind, head.strip(), first, at, tuple(scopes), False)
            begin = position
        elif _is_initializer(head):
            position = _end_of_pairs(code, at, "{}")
        else:
            kind = _kind(head)
            close = _end_of_pairs(code, at, "{}")
            yield Statement(kind, head.strip(), first, close - 1, tuple(scopes), True)
            if kind in ("namespace", "type") and not clean_head(head).startswith("enum"):
                scopes.append(clean_head(head))
                begin = position
            else:
                # A lambda that initializes a variable goes on to its semicolon.
                goes_on = re.compile(r"\s*[;,(]").match(code, close)
                semicolon = code.find(";", close) if goes_on else -1
                begin = position = semicolon + 1 if semicolon >= 0 else close
