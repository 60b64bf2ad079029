"""Rules for every text file: widths, lengths, leftovers, links."""

import ast
import functools
import pathlib
import re

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 100
MEASURED = {".cpp", ".hpp", ".sql", ".py", ".sh", ".md"}

# Written in two parts, so that this file passes its own rule.
_LEFTOVER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
_MACHINE_PATH = re.compile(r"(?<![\w.:/~}\])-])/(?:ro" r"ot|ho" r"me|wo" r"rk|Us" r"ers)/\w")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^()\s]+)\)|!\[[^\]\n]*\]\(([^()\s]+)\)")


def is_script(source):
    """A program without suffix, such as tools/tidy."""
    return source.suffix == "" and source.text.startswith("#!")


def is_python(source):
    return source.suffix == ".py" or (is_script(source) and "python" in source.lines[0])


def whitespace(source, _tree):
    tabs = source.suffix not in (".mk",) and pathlib.PurePath(source.path).name != "Makefile"
    for number, line in enumerate(source.lines, 1):
        if line != line.rstrip():
            yield source.finding(number, "ends in white space: remove it")
        if tabs and line.startswith("\t"):
            yield source.finding(number, "is indented by a tab: use spaces")
    if source.text and not source.text.endswith("\n"):
        yield source.finding(len(source.lines), "the file's last line has no newline: add one")


def leftovers(source, _tree):
    for number, line in enumerate(source.lines, 1):
        found = _LEFTOVER.search(line)
        if found:
            yield source.finding(number, f"{found[0]} in the tree: do it now or open an issue")
        found = _MACHINE_PATH.search(line)
        if found:
            yield source.finding(
                number, f"{found[0][:-1]}... is a path of somebody's machine: write a relative one"
            )


def columns(source, _tree):
    if source.suffix not in MEASURED and not is_script(source):
        return
    fenced = False
    for number, line in enumerate(source.lines, 1):
        if source.suffix == ".md":
            fenced ^= line.lstrip().startswith("```")
            unbreakable = max(map(len, line.split()), default=0) > COLUMNS_MAX - 20
            if fenced or line.lstrip().startswith("|") or unbreakable:
                continue
        if len(line) > COLUMNS_MAX:
            yield source.finding(
                number, f"is {len(line)} columns wide, {COLUMNS_MAX} at most: break it"
            )


def file_length(source, _tree):
    lines = len(source.lines) - 1
    if lines > FILE_LINES_MAX and (source.suffix in MEASURED or is_script(source)):
        yield source.finding(
            1, f"has {lines} lines, {FILE_LINES_MAX} at most: divide it by what it is about"
        )


def python_functions(source, _tree):
    if not is_python(source):
        return
    try:
        module = ast.parse(source.text)
    except SyntaxError as error:
        yield source.finding(error.lineno or 1, f"is not Python: {error.msg}")
        return
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                limit = f"{FUNCTION_LINES_MAX} at most: take steps out of it"
                yield source.finding(node.lineno, f"{node.name} has {lines} lines, {limit}")


@functools.lru_cache(maxsize=None)
def _anchors(text):
    """What GitHub makes of the headings of a page."""
    anchors = set()
    for heading in re.findall(r"^#{1,6}\s+(.*)$", text, re.M):
        plain = re.sub(r"[^\w\- ]", "", heading.strip().lower())
        anchors.add(plain.replace(" ", "-"))
    return anchors


def links(source, tree):
    if source.suffix != ".md":
        return
    fenced = False
    for number, line in enumerate(source.lines, 1):
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        for match in _LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            target = match[1] or match[2]
            if not re.match(r"[a-z+]+:", target):
                yield from _check_link(source, tree, number, target)


def _check_link(source, tree, number, target):
    path, _, anchor = target.partition("#")
    here = pathlib.PurePosixPath(source.path)
    page = _normal(here.parent / path) if path else source.path
    if not tree.exists(page):
        yield source.finding(number, f"links to {target}, which is not there: mend the link")
    elif anchor and page.endswith(".md") and anchor not in _anchors(tree.text(page)):
        yield source.finding(number, f"links to {target}, which has no such heading: mend the link")


def _normal(path):
    parts = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


RULES = (whitespace, leftovers, columns, file_length, python_functions, links)
