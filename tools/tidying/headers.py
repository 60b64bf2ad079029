"""Compiles every header alone. Slow, so only on request; what passed is not compiled again."""

import concurrent.futures
import hashlib
import os
import re
import subprocess

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
FLAGS = [
    "-std=c++23", "-fsyntax-only", "-x", "c++",
    "-DBOOST_ASIO_SEPARATE_COMPILATION", "-DBOOST_BEAST_SEPARATE_COMPILATION",
    "-DBOOST_ASIO_NO_DEPRECATED",
]  # fmt: skip


def _closure(tree, path, seen):
    if path not in seen and tree.exists(path):
        seen.add(path)
        for name in _INCLUDE.findall(tree.text(path)):
            _closure(tree, "src/" + name, seen)
    return seen


def _mark(tree, path, flags, folder):
    digest = hashlib.sha256(" ".join(flags).encode())
    for part in sorted(_closure(tree, path, set())):
        digest.update(f"{part}\0{tree.text(part)}\0".encode())
    return folder / digest.hexdigest()


def _package_flags():
    command = ["pkg-config", "--cflags", "libpq", "hiredis", "icu-uc"]
    run = subprocess.run(command, capture_output=True, text=True)
    return [flag.replace("-I", "-isystem", 1) for flag in run.stdout.split()]


def _compile(tree, path, flags):
    command = ["clang++-19", *flags, "-include", path, "/dev/null"]
    run = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
    if run.returncode == 0:
        return None
    first = next((line for line in run.stderr.split("\n") if "error:" in line), run.stderr.strip())
    reason = first.partition("error:")[2].strip() or first
    return tree.source(path).finding(
        1, f"does not compile alone ({reason}): include what it uses"
    )


def alone(tree):
    flags = FLAGS + [f"-I{tree.root / 'src'}"] + _package_flags()
    folder = tree.root / "build" / "headers"
    folder.mkdir(parents=True, exist_ok=True)
    headers = [path for path in tree.paths if path.startswith("src/") and path.endswith(".hpp")]
    marks = {path: _mark(tree, path, flags, folder) for path in headers}
    waiting = [path for path in headers if not marks[path].exists()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        compiled = pool.map(lambda path: _compile(tree, path, flags), waiting)
        for path, finding in zip(waiting, compiled):
            if finding:
                yield finding
            else:
                marks[path].touch()
