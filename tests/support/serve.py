"""`tenon serve` under test, with a configuration of its own."""

import json
import pathlib
import subprocess

from tests.support.cases import clean_environment
from tests.support.dev import PROGRAM, Client, wait_for


class Serve:
    """A process of the server; what is configured is given as TENON_ variables."""

    def __init__(self, engines, key, folder, **environment):
        self.key = key
        self.path = pathlib.Path(folder) / f"serve-{id(self)}.log"
        usual = {"TENON_POSTGRES_CONNINFO": engines["postgres"],
                 "TENON_POSTGRES_NODES": engines.get("nodes", ""),
                 "TENON_REDIS_ADDRESS": engines["redis"], "TENON_HTTP_PORT": "0",
                 "TENON_LOG_FORM": "json", "TENON_PROCESS_CORES": "2"}
        self.environment = clean_environment(**(usual | environment))
        self.process = None
        self.url = None

    @classmethod
    def beside(cls, dev, **environment):
        """One more process on the engines of a running `tenon dev`."""
        engines = json.loads((dev.data / "run.json").read_text())
        return cls(engines, dev.key, dev.data.parent, **environment)

    def start(self):
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen([str(PROGRAM), "serve"], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, env=self.environment)

        def address():
            if self.process.poll() is not None:
                raise AssertionError(f"tenon serve ended: {self.path.read_text()}")
            return [line["url"] for line in self.lines() if "url" in line]

        self.url = wait_for("the address that is served", address)[0]
        return self

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def lines(self):
        """What it has logged so far."""
        whole, _, _ = self.path.read_text().rpartition("\n")
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    def client(self, key=True):
        return Client(self.url, self.key if key else None)
