#!/usr/bin/env python3
"""Kills `tenon dev`, its PostgreSQL or its Redis at random moments while links are made.

Shown: every acknowledged link resolves, no key made two links, every start after a kill is clean
and quick, and no process of a killed run is alive.

  tests/faults/kill_dev.py --times 50 --clients 32 --victim tenon|postgres|redis --seed 1
"""

import argparse
import os
import pathlib
import random
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.support.dev import Dev, wait_for  # noqa: E402
from tests.support.ledger import Ledger, settle_doubts, verify, work  # noqa: E402


def start_of(pid):
    """A process's start time, which with its pid names it for ever; None when it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def processes_of(dev):
    pids = dev.engine_processes() | {dev.process.pid}
    return {(pid, start_of(pid)) for pid in pids}


def postmaster(dev):
    return int((dev.engines() / "postgres/postmaster.pid").read_text().split()[0])


def redis_pid(dev):
    folder = dev.engines() / "redis"
    return min(pid for pid in dev.engine_processes()
               if os.readlink(f"/proc/{pid}/cwd") == str(folder))


def kill_tenon(dev, ledger, starts):
    before = processes_of(dev)
    dev.kill()
    dev.start()
    starts.append(dev.ready_seconds)
    for pid, start in before:
        if start is not None and start_of(pid) == start:
            ledger.complain(f"process {pid} of the killed run is still alive")


def kill_engine(dev, find, starts):
    began = time.monotonic()
    victim = find(dev)
    os.kill(victim, signal.SIGKILL)
    wait_for("the engine's restart", lambda: replaced(dev, find, victim))
    client = dev.client()
    wait_for("readiness", lambda: client.ask("GET", "/readyz").status == 200)
    client.close()
    starts.append(time.monotonic() - began)


def replaced(dev, find, victim):
    try:
        return find(dev) != victim
    except (OSError, ValueError, IndexError):
        return False


def one_round(dev, options, ledger, rng, starts):
    stop = threading.Event()
    clients = [threading.Thread(target=work, args=(dev, ledger, stop, rng.getrandbits(64)))
               for _ in range(options.clients)]
    for thread in clients:
        thread.start()
    time.sleep(rng.uniform(0.05, 1.2))
    if options.victim == "tenon":
        # The clients of a killed server stop; the next round asks again for what is in doubt.
        threading.Timer(0.05, stop.set).start()
        kill_tenon(dev, ledger, starts)
    else:
        find = postmaster if options.victim == "postgres" else redis_pid
        kill_engine(dev, find, starts)
    stop.set()
    for thread in clients:
        thread.join()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=5, help="how many kills (default 5)")
    parser.add_argument("--clients", type=int, default=32, help="concurrent clients (default 32)")
    parser.add_argument("--victim", choices=["tenon", "postgres", "redis"], default="tenon")
    parser.add_argument("--seed", type=int, default=1, help="replays the moments of the kills")
    parser.add_argument("--start-limit", type=float, default=3.0,
                        help="seconds a start after a kill may take (default 3)")
    return parser.parse_args()


def main():
    options = parse()
    rng = random.Random(options.seed)
    ledger, starts = Ledger(), []
    dev = Dev()
    try:
        dev.start()
        for turn in range(options.times):
            one_round(dev, options, ledger, rng, starts)
            print(f"kill {turn + 1}/{options.times}: ready after {starts[-1]:.2f} s, "
                  f"{len(ledger.acknowledged)} acknowledged, {len(ledger.in_doubt)} in doubt",
                  file=sys.stderr, flush=True)
        settle_doubts(dev, ledger)
        verify(dev, ledger)
        if dev.stop() != 0:
            ledger.complain(f"the last stop ended with {dev.process.returncode}:\n{dev.log()}")
    finally:
        log = dev.log()
        dev.remove()
    for start in starts:
        if start > options.start_limit:
            ledger.complain(f"a start took {start:.2f} s, promised {options.start_limit} s")
    print(f"kills of {options.victim}        {options.times}")
    print(f"links acknowledged     {len(ledger.acknowledged)}")
    print(f"slowest start          {max(starts):.2f} s (promised {options.start_limit:.0f} s)")
    return ledger.tell(log)


if __name__ == "__main__":
    sys.exit(main())
