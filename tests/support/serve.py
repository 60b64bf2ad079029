"""`tenon serve` on the engines of a running `tenon dev`, with a configuration of its own."""

import json
import pathlib
import subprocess

from tests.support.cases import clean_environment
from tests.support.dev import PROGRAM, Client, wait_for


class Serve:
    """One more process of the server; what is configured is given as TENON_ variables."""

    def __init__(self, dev, **environment):
        engines = json.loads((dev.data / "run.json").read_text())
        self.key = dev.key
        self.path = pathlib.Path(dev.data.parent) / f"serve-{id(self)}.log"
        self.environment = clean_environment(
            TENON_POSTGRES_CONNINFO=engines["postgres"], TENON_REDIS_ADDRESS=engines["redis"],
            TENON_HTTP_PORT="0", TENON_LOG_FORM="json", TENON_PROCESS_CORES="2", **environment)
        self.process = None
        self.url = None

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
