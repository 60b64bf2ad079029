#!/usr/bin/env python3
"""Every rule of tools/tidy refuses a small bad sample and passes its mended twin."""

import functools
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

from tidying import cpp, headers, rooms, sql, text  # noqa: E402
from tidying.source import Source  # noqa: E402
from tidying.tree import Tree  # noqa: E402


class Sample(Tree):
    """A tree of files that are written here instead of on the disk."""

    def __init__(self, files):
        self.root = pathlib.Path("/nowhere")
        self.paths = sorted(files)
        self._known = set(files)
        self._read = functools.lru_cache(maxsize=None)(lambda path: Source(path, files[path]))


def said(rule, files, path=None):
    """What a rule says about one file of a sample (the first, unless named), as "line: text"."""
    tree = Sample(files)
    source = tree.source(path or next(iter(files)))
    return [f"{finding.line}: {finding.text}" for finding in rule(source, tree)]


class RuleCase(unittest.TestCase):
    def refuse(self, rule, path, bad, words, line=None):
        found = said(rule, {path: bad})
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])
        if line:
            self.assertTrue(found[0].startswith(f"{line}: "), found[0])

    def accept(self, rule, path, good):
        self.assertEqual(said(rule, {path: good}), [])


class Text(RuleCase):
    def test_trailing_white_space(self):
        self.refuse(text.whitespace, "src/base/a.cpp", "int a; \n", "white space", 1)
        self.refuse(text.whitespace, "a.md", "a\n\tb\n", "tab", 2)
        self.refuse(text.whitespace, "a.md", "a\nb", "newline", 2)
        self.accept(text.whitespace, "Makefile", "a:\n\tb\n")

    def test_leftovers(self):
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X"):
            self.refuse(text.leftovers, "src/base/a.cpp", f"\n// {word}: later\n", word, 2)
        self.accept(text.leftovers, "scripts/a", "mktemp /tmp/a.XXXXXX\n")

    def test_machine_paths(self):
        for folder in ("wo" + "rk", "ro" + "ot", "ho" + "me", "Us" + "ers"):
            self.refuse(text.leftovers, "docs/a.md", f"see /{folder}/me/a\n", "machine", 1)
        self.accept(text.leftovers, "docs/a.md", "https://example.com/home/page and build/work/a\n")

    def test_columns(self):
        self.refuse(text.columns, "src/base/a.cpp", "a " * 51 + "\n", "columns", 1)
        self.refuse(text.columns, "docs/a.md", "a " * 51 + "\n", "columns", 1)
        self.accept(text.columns, "src/base/a.cpp", "ä" * 100 + "\n")
        self.accept(text.columns, "docs/a.md", "| " + "a " * 60 + "|\n")
        self.accept(text.columns, "docs/a.md", "```\n" + "a " * 60 + "\n```\n")

    def test_file_length(self):
        self.refuse(text.file_length, "src/base/a.sql", "a\n" * 501, "501 lines", 1)
        self.accept(text.file_length, "src/base/a.sql", "a\n" * 500)

    def test_python_functions(self):
        body = "def walk():\n" + "    pass\n" * 70
        self.refuse(text.python_functions, "tools/a.py", body, "walk has 71 lines", 1)
        self.accept(text.python_functions, "tools/a.py", "def walk():\n" + "    pass\n" * 69)

    def test_links(self):
        page = {"docs/a.md": "see [b](b.md#how-it-runs)\n", "docs/b.md": "# How it runs\n"}
        self.assertEqual(said(text.links, page), [])
        self.refuse(text.links, "docs/a.md", "see [b](../b.md)\n", "not there", 1)
        page["docs/b.md"] = "# Why\n"
        self.assertIn("no such heading", said(text.links, page)[0])
        self.accept(text.links, "docs/a.md", "[x](https://example.com) `[a](b)`\n")


class Rooms(RuleCase):
    def test_order_of_rooms(self):
        allowed = [("runtime", "base"), ("http", "redis"), ("services/links", "access"),
                   ("app", "services/links"), ("drills", "app"), ("base", "base")]
        refused = [("base", "runtime"), ("postgres", "storage"), ("services/links", "app"),
                   ("services/links", "services/ledger"), ("access", "services/links")]
        for room, other in allowed:
            self.assertTrue(rooms.may_include(room, other), (room, other))
        for room, other in refused:
            self.assertFalse(rooms.may_include(room, other), (room, other))

    def test_services_never_include_each_other(self):
        files = {"src/services/links/a.cpp": '\n#include "services/ledger/b.hpp"\n',
                 "src/services/ledger/b.hpp": ""}
        self.assertIn("2: services/links may not include services/ledger",
                      said(rooms.includes, files)[0])

    def test_includes_name_their_room(self):
        self.refuse(rooms.includes, "src/base/a.cpp", '#include "b.hpp"\n', "without its room", 1)
        self.refuse(rooms.includes, "src/base/a.cpp", '#include "base/b.hpp"\n', "not there", 1)

    def test_libraries_have_a_room(self):
        bad = "#include <boost/beast/http.hpp>\n"
        self.refuse(rooms.includes, "src/storage/a.cpp", bad, "belongs to src/http", 1)
        self.accept(rooms.includes, "src/http/a.cpp", bad)

    def test_unknown_room(self):
        self.refuse(rooms.unknown_rooms, "src/misc/a.cpp", "", "table of rooms")

    def test_room_has_a_readme(self):
        files = {"src/CMakeLists.txt": "", "src/base/CMakeLists.txt": ""}
        self.assertEqual(len(list(rooms.readmes(Sample(files)))), 1)
        files["src/base/README.md"] = ""
        self.assertEqual(list(rooms.readmes(Sample(files))), [])

    def test_dead_files(self):
        files = {"src/base/CMakeLists.txt": "", "src/base/a.hpp": "", "src/base/odd/b.cpp": ""}
        found = [finding.text for finding in rooms.dead_files(Sample(files))]
        self.assertEqual([text.split(":")[0] for text in found],
                         ["no file includes this header", "no CMakeLists.txt builds this file"])
        files["src/base/c.cpp"] = '#include "base/a.hpp"\n'
        del files["src/base/odd/b.cpp"]
        self.assertEqual(list(rooms.dead_files(Sample(files))), [])


class Cpp(RuleCase):
    def test_threads(self):
        bad = "std::jthread worker;\n"
        self.refuse(cpp.banned_calls, "src/cache/a.cpp", bad, "threads", 1)
        self.accept(cpp.banned_calls, "src/runtime/a.cpp", bad)
        self.accept(cpp.banned_calls, "src/cache/a_test.cpp", bad)

    def test_sleeps(self):
        for call in ("std::this_thread::sleep_for(1s)", "usleep(3)", "sleep(1)"):
            self.refuse(cpp.banned_calls, "src/cache/a_test.cpp", call + ";\n", "sleeps", 1)

    def test_detached(self):
        bad = "co_spawn(io, run(), asio::detached);\n"
        self.refuse(cpp.banned_calls, "src/http/a.cpp", bad, "TaskGroup", 1)
        self.accept(cpp.banned_calls, "src/runtime/task_group.cpp", bad)

    def test_new_and_delete(self):
        for bad in ("auto* a = new Thing;\n", "auto a = p(new (std::nothrow) Thing());\n"):
            self.refuse(cpp.banned_calls, "src/http/a.cpp", bad, "`new`", 1)
        for bad in ("delete thing;\n", "delete[] things;\n"):
            self.refuse(cpp.banned_calls, "src/http/a.cpp", bad, "`delete`", 1)
        self.accept(cpp.banned_calls, "src/http/a.cpp",
                    "A(const A&) = delete;\nauto old = newest; // a new thing\n\"delete me\";\n")

    def test_endl_and_printing(self):
        self.refuse(cpp.banned_calls, "src/app/a.cpp", "out << std::endl;\n", "flushes", 1)
        for bad in ("printf(a);\n", "std::cerr << a;\n", "std::fputs(a, b);\n"):
            self.refuse(cpp.banned_calls, "src/http/a.cpp", bad, "printing", 1)
            self.accept(cpp.banned_calls, "src/app/a.cpp", bad)
        self.accept(cpp.banned_calls, "src/base/assert.cpp", "std::fprintf(stderr, a);\n")

    def test_clock(self):
        bad = "auto now = std::chrono::system_clock::now();\n"
        self.refuse(cpp.banned_calls, "src/http/a.cpp", bad, "Clock", 1)
        self.accept(cpp.banned_calls, "src/base/clock.cpp", bad)

    def test_literals_and_comments_are_not_code(self):
        self.accept(cpp.banned_calls, "src/http/a.cpp",
                    'R"(std::endl)"; // std::endl\n/* sleep_for( */ "usleep(1)"; int a = 1\'000;\n')

    def test_dropped_exceptions(self):
        bad = "void f() {\n    try { g(); } catch (const std::exception&) {\n    }\n}\n"
        self.refuse(cpp.dropped_exceptions, "src/http/a.cpp", bad, "dropped", 2)
        mended = bad.replace("{\n    }", "{\n    // why\n    }")
        self.accept(cpp.dropped_exceptions, "src/http/a.cpp", mended)

    def test_names(self):
        for name in ("LinkManager", "JsonHelper", "StringUtils", "PoolImpl"):
            self.refuse(cpp.names, "src/http/a.hpp", f"\nclass {name} {{}};\n", name, 2)
        self.accept(cpp.names, "src/http/a.hpp", "class Implicit {}; class Utility {};\n")
        self.refuse(cpp.names, "src/http/string_util.hpp", "", "empty name")

    def test_function_length(self):
        longest = "namespace a {\nint f(int b) {\n" + "    ++b;\n" * 68 + "}\n}\n"
        self.accept(cpp.functions, "src/http/a.cpp", longest)
        longer = longest.replace("++b;", "++b;\n    ++b;", 1)
        self.refuse(cpp.functions, "src/http/a.cpp", longer, "f has 71 lines", 2)

    def test_function_length_sees_constructors_lambdas_and_tests(self):
        lines = "    call();\n" * 70
        for head in ("A::A(int b)\n    : b_{b}, c_(b) {\n", "TEST(A, b) {\n",
                     "inline constexpr auto f = [](int a) {\n",
                     "BOOST_DESCRIBE_STRUCT(B, (), (c))\n\nvoid g() {\n"):
            self.assertEqual(len(said(cpp.functions, {"src/http/a.cpp": head + lines + "};\n"})), 1)

    def test_macros_do_not_make_functions(self):
        block = "void f() {\n" + "    call();\n" * 40 + "}\n"
        macro = "enum class E { a };\nBOOST_DESCRIBE_ENUM(E, a)\n\n"
        self.accept(cpp.functions, "src/http/a.cpp", macro + f"namespace b {{\n{block * 2}}}\n")

    def test_docstrings(self):
        for bad in ("class A {\n};\n", "enum class A { b };\n", "int size(int a);\n",
                    "template <class T>\n[[nodiscard]] T first(T a) {\n    return a;\n}\n",
                    "template <class T>\nconcept A = true;\n"):
            whole = f"namespace a {{\n{bad}}}\n"
            self.refuse(cpp.docstrings, "src/http/a.hpp", whole, "docstring", 2)
            self.accept(cpp.docstrings, "src/http/a.hpp", whole.replace("\n", "\n/// Why.\n", 1))

    def test_docstrings_of_what_needs_none(self):
        self.accept(cpp.docstrings, "src/http/a.hpp", """
namespace a {
class Later;
using B = int;
inline constexpr int c = f(1);
/// One.
int size(int a);
int size(long a);
int code;  ///< why
/// A.
struct A {
    void member();
    struct Inner {};
};
template <class T>
void A::put(T b) {}
namespace detail {
void inner();
}
}  // namespace a
template <>
struct std::hash<a::A> {};
""")


class Sql(RuleCase):
    TABLE = "CREATE TABLE links.links (\n    bucket integer,\n    project uuid\n);\n"

    def test_machine_time(self):
        for call in ("now()", "clock_timestamp()", "CURRENT_TIMESTAMP"):
            bad = f'auto a = R"(SELECT a\nWHERE b < {call})";\n'
            self.refuse(sql.machine_time, "src/services/links/store.cpp", bad, "Clock", 2)
            self.accept(sql.machine_time, "src/storage/a.cpp", bad)
            self.refuse(sql.machine_time, "src/services/links/migrations/1.sql",
                        f"CREATE TABLE a (b timestamptz DEFAULT {call});\n", "Clock", 1)
        self.accept(sql.machine_time, "src/services/links/a.cpp", "auto a = clock.now();\n")

    def project(self, statement):
        return said(sql.projects, {"src/services/links/store.cpp": f'auto a = R"({statement})";\n',
                                   "src/services/links/migrations/1.sql": self.TABLE})

    def test_sharded_statements_name_the_project(self):
        for bad in ("SELECT url FROM links.links WHERE code = $1", "DELETE FROM links.links",
                    "UPDATE links.links SET url = $1 -- project"):
            self.assertIn("names no project", self.project(bad)[0])
        self.assertEqual(self.project("SELECT url FROM links.links WHERE project = $1"), [])
        self.assertEqual(self.project("SELECT a FROM links.other"), [])

    def test_the_redirect_says_so(self):
        self.assertEqual(self.project("-- redirect: no project\nSELECT url FROM links.links"), [])
        self.assertIn("remove its exemption",
                      self.project("-- redirect: no project\nSELECT url FROM links.other")[0])


class Headers(unittest.TestCase):
    def test_headers_compile_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            base = pathlib.Path(folder, "src", "base")
            base.mkdir(parents=True)
            (base / "bad.hpp").write_text("#pragma once\nstd::string name();\n")
            (base / "good.hpp").write_text("#pragma once\n#include <string>\nstd::string name();\n")
            tree = Sample({f"src/base/{name}": (base / name).read_text()
                           for name in ("bad.hpp", "good.hpp")})
            tree.root = pathlib.Path(folder)
            found = [(finding.path, finding.text) for finding in headers.alone(tree)]
            self.assertEqual([path for path, _ in found], ["src/base/bad.hpp"])
            self.assertIn("does not compile alone", found[0][1])
            self.assertEqual(len(list((tree.root / "build" / "headers").iterdir())), 1)


if __name__ == "__main__":
    unittest.main()
