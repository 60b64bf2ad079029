"""Rules about rooms: who may include whom, what belongs to one room only, what nobody uses."""

import pathlib
import re

# Each room may include the rooms before it. Services stand side by side and never see each other;
# app and drills know everything.
ORDER = (
    "base", "runtime", "resilience", "postgres", "redis", "http", "storage", "cache", "events",
    "access", "realtime", "services", "app", "drills",
)  # fmt: skip
KNOW_ALL = {"app", "drills"}

# What only these rooms may include; app and drills, which start and measure engines, may too.
# Migrations run on a plain blocking connection of storage's.
OWNED = (
    (re.compile(r"^libpq-fe\.h$|^libpq/"), ("postgres", "storage")),
    (re.compile(r"^hiredis/"), ("redis",)),
    (re.compile(r"^boost/beast"), ("http",)),
    (re.compile(r"^curl/"), ("http",)),
    (re.compile(r"^toml\+\+/|^spdlog/|^prometheus/"), ("runtime",)),
)

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)


def room_of(name):
    """links/links.hpp lies in services/links; base/slot.hpp in base."""
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "services" and len(parts) > 2 else parts[0]


def may_include(room, other):
    """Whether a file of `room` may include one of `other`."""
    if room == other or room.split("/")[0] in KNOW_ALL or not room:
        return True
    ranks = {name: rank for rank, name in enumerate(ORDER)}
    mine, its = room.split("/")[0], other.split("/")[0]
    return mine in ranks and its in ranks and ranks[its] < ranks[mine]


def includes(source, tree):
    if not source.is_cpp or not source.room:
        return
    for match in _INCLUDE.finditer(source.text):
        line = source.line_at(match.start(1) if match[1] else match.start(2))
        if match[1]:
            yield from _check_room(source, tree, line, match[1])
        elif not source.is_test and source.room not in KNOW_ALL:
            for pattern, owners in OWNED:
                if pattern.search(match[2]) and source.room not in owners:
                    advice = f"belongs to src/{owners[0]}: use that room's types instead"
                    yield source.finding(line, f"<{match[2]}> {advice}")


def _check_room(source, tree, line, name):
    if "/" not in name:
        whole = f"{source.room}/{name}"
        yield source.finding(line, f'"{name}" is included without its room: write "{whole}"')
    elif not tree.exists("src/" + name) and not tree.is_generated(name):
        yield source.finding(line, f'"{name}" is not there: mend the include')
    elif not may_include(source.room, room_of(name)):
        yield source.finding(
            line,
            f"{source.room} may not include {room_of(name)}: declare the interface you need"
            " and let src/app wire it",
        )


def unknown_rooms(source, _tree):
    if source.room and source.room.split("/")[0] not in ORDER and source.is_cpp:
        yield source.finding(
            1, f"src/{source.room} is not in the table of rooms: add it in tools/tidying/rooms.py"
        )


def readmes(tree):
    """Every folder with a CMakeLists.txt that makes a room has a page for who opens it first."""
    for path in tree.paths:
        if path.startswith("src/") and path.endswith("/CMakeLists.txt"):
            folder = path.rsplit("/", 1)[0]
            if folder != "src" and not tree.exists(folder + "/README.md"):
                advice = "say what it is for, its types, what may not enter"
                yield tree.source(path).finding(1, f"{folder} has no README.md: {advice}")


def dead_files(tree):
    """Headers that no other file includes, sources in folders that no CMakeLists.txt builds."""
    included = set()
    for path in tree.paths:
        if pathlib.PurePath(path).suffix in (".cpp", ".hpp", ".txt", ".cmake"):
            names = {first or second for first, second in _INCLUDE.findall(tree.text(path))}
            included |= {name for name in names if path != "src/" + name}
    described = " ".join(
        tree.text(path) for path in tree.paths if path.endswith(("CMakeLists.txt", ".cmake"))
    )
    for path in tree.paths:
        pure = pathlib.PurePosixPath(path)
        if pure.suffix == ".hpp" and path.startswith("src/") and path[4:] not in included:
            yield tree.source(path).finding(1, "no file includes this header: use it or remove it")
        built = tree.exists(str(pure.parent / "CMakeLists.txt")) or pure.name in described
        if pure.suffix == ".cpp" and not built:
            yield tree.source(path).finding(
                1, "no CMakeLists.txt builds this file: build it or remove it"
            )


RULES = (includes, unknown_rooms)
TREE_RULES = (readmes, dead_files)
