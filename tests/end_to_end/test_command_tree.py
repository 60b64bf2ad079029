"""Every command of the program, found by its own help: what holds for all of them.

A new command is tested here without a word about it: it needs an example in its help that runs in a
folder where `tenon dev` runs and tenon.toml names its engines.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import unittest

from tests.support.cases import clean_environment, tenon
from tests.support.dev import PROGRAM, ROOT, Dev, wait_for

UNTIL_STOPPED = "Runs until Ctrl-C or SIGTERM."


class Command:
    """A command and what its help says."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.name = " ".join(("tenon", *path))
        self.usage = re.search(r"^Usage: (.*)$", text, re.MULTILINE)[1]
        self.is_group = self.usage.endswith(" SUBCOMMAND")
        self.runs_until_stopped = UNTIL_STOPPED in text
        self.options = re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]*)", text, re.MULTILINE)
        examples = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.MULTILINE)
        self.examples = [line.strip() for line in examples[1].splitlines()] if examples else []

    def inner(self):
        """The names of its commands."""
        found = re.search(r"^Subcommands:\n((?:  .*\n)+)", self.text, re.MULTILINE)
        return re.findall(r"^  ([a-z]\S*)", found[1], re.MULTILINE) if found else []

    def forms(self):
        """What -o takes, by its help."""
        said = re.search(r"^  -o,--output FORM\s+(.*)$", self.text, re.MULTILINE)[1]
        return re.findall(r"\w+", said.replace(" or ", " "))


def walk(path=()):
    """Every command of the tree, in the order of help."""
    done = tenon(*path, "--help")
    if done.returncode != 0:
        raise AssertionError(f"tenon {path} --help: {done.returncode} {done.stderr}")
    command = Command(path, done.stdout)
    yield command
    for name in command.inner():
        yield from walk((*path, name))


class Sandbox:
    """A folder as the examples expect it: a running .tenon, a tenon.toml, tenon on the PATH."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-tree-"))
        self.folder.chmod(0o755)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/tenon").symlink_to(PROGRAM.resolve())
        self.work = self.folder / "work"  # where a dev runs
        self.other = self.folder / "other"  # where none does, for what starts one
        self.work.mkdir()
        self.other.mkdir()
        self.dev = Dev(data=self.work / ".tenon", arguments=("--port", "0")).start()
        facts = json.loads((self.dev.data / "run.json").read_text())
        for folder in (self.work, self.other):
            (folder / "tenon.toml").write_text(
                f"[http]\nport = 0\n[postgres]\nconninfo = {json.dumps(facts['postgres'])}\n"
                f"[redis]\naddress = {json.dumps(facts['redis'])}\n")

    def environment(self):
        return clean_environment(PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")

    def run(self, command, line):
        """Runs an example to its end; what would not end is told to, by SIGINT."""
        where = self.other if command.runs_until_stopped else self.work
        if not command.runs_until_stopped or "&&" in line:
            return subprocess.run(["bash", "-c", line], stdin=subprocess.DEVNULL, text=True,
                                  capture_output=True, cwd=where, env=self.environment(),
                                  timeout=120)
        process = subprocess.Popen(["bash", "-c", f"exec env {line}"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=where, env=self.environment())
        try:
            wait_for("the program's care of signals", lambda: blocks_interrupts(process))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
        return subprocess.CompletedProcess(line, process.returncode, out, err)

    def remove(self):
        self.dev.remove()
        shutil.rmtree(self.folder, ignore_errors=True)


def blocks_interrupts(process):
    """True when a SIGINT waits for the program to take it: then it will start, and end in order."""
    if process.poll() is not None:
        return True
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    blocked = int(re.search(r"^SigBlk:\s*([0-9a-f]+)$", status, re.MULTILINE)[1], 16)
    return bool(blocked & 1 << (signal.SIGINT - 1))


class Tree(unittest.TestCase):
    """What needs no server."""

    @classmethod
    def setUpClass(cls):
        cls.commands = list(walk())

    def test_the_walk_finds_them(self):
        names = {command.name for command in self.commands}
        self.assertLessEqual({"tenon", "tenon dev", "tenon migrate plan", "tenon keys rotate"},
                             names)

    def test_help(self):
        for command in self.commands:
            with self.subTest(command=command.name):
                self.assertIn("--help", command.options)
                self.assertNotIn("\x1b", command.text)
                self.assertLessEqual(max(map(len, command.text.splitlines())), 120)
                self.assertRegex(command.text.splitlines()[0], r"^[A-Z]")
                if not command.is_group:
                    self.assertLessEqual({"--output", "--color"}, set(command.options))
                    self.assertLessEqual({"text", "json", "jsonl", "none"}, set(command.forms()))
                    self.assertTrue(command.examples)

    def refuse(self, arguments, *mentioned):
        done = tenon(*arguments)
        with self.subTest(arguments=arguments):
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            for text in mentioned:
                self.assertIn(text, done.stderr)

    def test_an_unknown_option_is_answered_with_the_nearest(self):
        for command in self.commands:
            for option in command.options:
                mistyped = option[:-2] + option[-1] + option[-2]
                if mistyped != option:
                    self.refuse((*command.path, mistyped), mistyped,
                                f"did you mean {option}", f"{command.name} --help")
            self.refuse((*command.path, "--quite-another-thing"), "--quite-another-thing")

    def test_an_unknown_command_is_answered_with_the_nearest(self):
        for command in self.commands:
            for name in command.inner():
                self.refuse((*command.path, name + "s"), f"did you mean {name}")
            if command.is_group:
                self.refuse(command.path, *command.inner())

    def test_an_unknown_form_is_answered_with_the_nearest(self):
        for command in self.commands:
            if not command.is_group:
                self.refuse((*command.path, "-o", "jsno"), "jsno", *command.forms(), "mean json")
                self.refuse((*command.path, "--color", "alwas"), "mean always")

    def test_examples_name_what_there_is(self):
        known = {command.path: command for command in self.commands}
        for command in self.commands:
            for line in command.examples:
                with self.subTest(command=command.name, line=line):
                    done = subprocess.run(["bash", "-n"], input=line, text=True,
                                          capture_output=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertIn(command.name, line)
                    words = shlex.split(re.split(r"&&|\||\)", line[line.index("tenon "):])[0])[1:]
                    path = ()
                    while words and (*path, words[0]) in known:
                        path = (*path, words.pop(0))
                    self.assertEqual(known[path], command)
                    for word in words:
                        if word.startswith("--"):
                            self.assertIn(word.split("=")[0], command.options)

    def test_the_exit_codes_of_help_are_those_of_the_docs(self):
        said = re.findall(r"^  (\d+) +(\S.*)$", self.commands[0].text.split("Exit codes:")[1],
                          re.MULTILINE)
        documented = re.findall(r"^\| (\d+) \| ([^|]*?) *\|", (
            ROOT / "docs/operations.md").read_text(), re.MULTILINE)
        self.assertEqual([code for code, _ in said], [code for code, _, in documented])
        for (code, meaning), (_, text) in zip(said, documented):
            with self.subTest(code=code):
                self.assertTrue(text.startswith(meaning), (meaning, text))


class Examples(unittest.TestCase):
    """Runs every example, then the first of each command in every form that it offers."""

    @classmethod
    def setUpClass(cls):
        cls.commands = [command for command in walk() if not command.is_group]
        cls.sandbox = Sandbox()
        cls.addClassCleanup(cls.sandbox.remove)

    def run_example(self, command, line):
        done = self.sandbox.run(command, line)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        self.assertNotIn("\x1b", done.stdout + done.stderr)
        return done

    def test_every_example_runs(self):
        for command in self.commands:
            for line in command.examples:
                with self.subTest(line=line):
                    self.run_example(command, line)

    def check_form(self, form, text):
        if form == "none":
            self.assertEqual(text, "")
        elif form == "json":
            json.loads(text)
            self.assertEqual(text.count("\n"), 1)
        elif form == "jsonl":
            for line in text.splitlines():
                self.assertIsInstance(json.loads(line), dict)
        elif form == "env":
            self.assertTrue(all(re.fullmatch(r"export \w+='[^']*'", line)
                                for line in text.splitlines()))
        else:
            self.assertTrue(text.endswith("\n"))
            with self.assertRaises(ValueError):
                json.loads(text)

    def test_every_form_is_honoured(self):
        forms = dict.fromkeys(form for command in self.commands for form in command.forms())
        # A whole round per form, in the order of help: what one command makes, a later one ends.
        for form in forms:
            for command in self.commands:
                if form not in command.forms():
                    continue
                line = command.examples[0].replace(command.name, f"{command.name} -o {form}", 1)
                with self.subTest(line=line):
                    self.check_form(form, self.run_example(command, line).stdout)


if __name__ == "__main__":
    unittest.main()
