"""What a match of an event costs, and how many more two at a time are than one.

    python -m benchmarks.tournament --matches 200 --workers 1 2

Of each event: matches a second by the clock; processor time a match of the coordinator, of the fork server
and of the match itself; and how many times as fast as one worker so many could be at most, if only the coordinator's
time cannot be shared (Amdahl). Processor time is seen in /proc, so on Linux only. Workers take turns for ``--rounds``
rounds, and the quickest of each counts, as other programs may run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from multiprocessing import forkserver
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runtime.tournament.command import arena_of
from runtime.tournament.conductor import Conductor
from runtime.tournament.event import read_event
from runtime.tournament.store import Store, url_of

PLAYERS = {
    "sticks": ("{sticks: 9, reply: 100 s, think: 90 s, again: 1000}", "random", 2),
    "tsuro": ("{reply: 100 s, think: 90 s}", "second", 3),
}
ROUNDS = 5
ONE = "import sys; from benchmarks.tournament import tell; tell(*sys.argv[1:])"  # each match imports the main module


@dataclass(frozen=True, slots=True)
class Measured:
    """An event that was played: how many matches, seconds by the clock, and processor time in seconds a match."""

    workers: int
    matches: int
    seconds: float
    coordinator: float
    fork_server: float
    match: float

    @property
    def rate(self) -> float:
        """Matches a second."""
        return self.matches / self.seconds

    @property
    def bound(self) -> float:
        """How many times as fast as one worker so many can be at most, as only the coordinator's part is not shared."""
        shared = self.fork_server + self.match
        return (self.coordinator + shared) / max(self.coordinator, (self.coordinator + shared) / self.workers)


def write_event(folder: Path, spec: str, matches: int, workers: int) -> Path:
    """Write an event of about so many matches, in ROUNDS rounds, and return its path."""
    settings, kind, seats = PLAYERS[spec]
    count = max(2, matches // ROUNDS) * seats
    players = "\n".join(f"  player{number}: {{kind: {kind}}}" for number in range(count))
    form = f"{{groups: {seats}, rounds: {ROUNDS}}}"
    head = f"spec: {spec}\nsettings: {settings}\nseed: 5\nformat: {form}\nat_once: {workers}\n"
    path = folder / "event.yaml"
    path.write_text(f"{head}players:\n{players}\n")
    return path


def measured(spec: str, matches: int, workers: int) -> Measured:
    """Play an event in this process and return what it cost; a process measures one event only."""
    with TemporaryDirectory() as folder:
        event = read_event(write_event(Path(folder), spec, matches, workers))
        arena = arena_of(event)
        store = Store(url_of(event.database, event.file.parent))
        with store.alone():
            store.begin(event.name, event.text, arena.spec_hash)
            conductor = Conductor(event, store, arena)
            before, began = time.process_time(), time.perf_counter()
            progress = conductor.run()
            seconds, coordinator = time.perf_counter() - began, time.process_time() - before
        own, children = _times(forkserver._forkserver._forkserver_pid)  # type: ignore[attr-defined]
        played = len(progress.results)
        store.close()
    return Measured(workers, played, seconds, *(part / played for part in (coordinator, own, children)))


def _times(process: int) -> tuple[float, float]:
    """Return the processor time in seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own, kernel, children, of_children = map(int, fields[11:15])
    tick = os.sysconf("SC_CLK_TCK")
    return (own + kernel) / tick, (children + of_children) / tick


def tell(spec: str, matches: str, workers: str) -> None:
    """Measure an event and print what was found, as JSON."""
    print(json.dumps(asdict(measured(spec, int(matches), int(workers)))))


def best(spec: str, matches: int, workers: list[int], rounds: int) -> list[Measured]:
    """Return of each number of workers the quickest of so many events, each in a process of its own, in turns."""
    found: dict[int, Measured] = {}
    for _ in range(rounds):
        for count in workers:
            words = [sys.executable, "-c", ONE, spec, str(matches), str(count)]
            facts: dict[str, Any] = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
            one = Measured(**facts)
            found[count] = min(one, found.get(count, one), key=lambda event: event.seconds)
    return [found[count] for count in workers]


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--matches", type=int, default=200)
    asked.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--specs", nargs="+", default=sorted(PLAYERS), choices=sorted(PLAYERS))
    asked.add_argument("--json", action="store_true")
    given = asked.parse_args()
    for spec in given.specs:
        found = best(spec, given.matches, given.workers, given.rounds)
        if given.json:
            print(json.dumps({"spec": spec, "events": [asdict(one) for one in found]}))
            continue
        for one in found:
            parts = f"{one.coordinator * 1e3:.1f} + {one.fork_server * 1e3:.1f} + {one.match * 1e3:.1f} ms a match"
            times = f"{one.rate / found[0].rate:.2f} times, {one.bound:.2f} at most"
            print(f"{spec:<8} {one.workers} at once  {one.rate:5.1f} matches a second  {times}  {parts}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
