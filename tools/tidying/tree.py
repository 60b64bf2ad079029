"""The files of the project, read once."""

import functools
import pathlib
import subprocess

from . import sql
from .source import Source

BINARY = {".png", ".ico", ".woff2", ".gz", ".jpg"}
NOT_OURS = ("tests/corpus/", "console/node_modules/")


class Tree:
    """What git knows of or would add, without corpora and pictures."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
        run = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=True)
        names = sorted(set(filter(None, run.stdout.split("\0"))))
        self.paths = [name for name in names if self._is_text(name)]
        self._known = set(self.paths)
        self._read = functools.lru_cache(maxsize=None)(self._read_source)

    def _is_text(self, name):
        path = self.root / name
        return path.is_file() and path.suffix not in BINARY and not name.startswith(NOT_OURS)

    def _read_source(self, path):
        return Source(path, (self.root / path).read_text(encoding="utf-8", errors="replace"))

    def source(self, path):
        return self._read(path)

    def text(self, path):
        return self.source(path).text

    def exists(self, path):
        return path in self._known or (self.root / path).exists()

    def is_generated(self, name):
        """Headers that CMake writes lie in a folder of that name."""
        return name.startswith("generated/") or "/generated/" in name

    @functools.cache
    def sharded_tables(self):
        return sql.sharded_tables(self)
