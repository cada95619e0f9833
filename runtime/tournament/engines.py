"""What plays matches for the coordinator: `LocalEngine` has a process for each here, `DaskEngine` has them elsewhere.

Whoever plays a match tells how it went, in plain data, or that it was lost; where that is makes no difference.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from math import inf
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from typing import Any, Final, Protocol

from runtime.players.descendants import MARK as PROGRAM_MARK
from runtime.tournament import match_process
from runtime.tournament.lost_processes import LOST
from runtime.tournament.match_process import MARK, MatchReport, MatchTask
from runtime.tournament.preparation import VARIABLE, Recipe

GRACE_SECONDS: Final = 15.0  # beyond a match's time, until its process is ended from outside
END_SECONDS: Final = 3.0  # in which a process is to end once told to
PRELOADED: Final = (  # what every match needs, and would import anew: 60 ms of processor time a match become 43
    *("runtime.cli", "runtime.tournament.match_process", "concurrent.futures.thread", "specs"),
    *("runtime.network.asyncio_transport", "runtime.network.anyio_transport", "anyio._backends._asyncio"),
)


class EngineLostError(Exception):
    """Nothing can be played any more where matches were played; the text says why. No match is at fault."""


class Engine(Protocol):
    """Plays matches, each known by the ``run`` of its task."""

    def most(self) -> int:
        """Return how many matches it plays at a time, if the event does not say."""

    def start(self, run: str, task: MatchTask) -> None:
        """Begin to play a match."""

    def sources(self) -> list[Connection]:
        """Return what can be read as soon as something has come of a match."""

    def due(self) -> float:
        """Return when `reports` has something although nothing could be read, in seconds of ``time.monotonic``."""

    def reports(self, ready: Sequence[object]) -> Iterator[tuple[str, MatchReport]]:
        """Yield what has come of matches, ``ready`` being those of `sources` that can be read.

        Raises:
            EngineLostError: nothing will come any more.
        """

    def close(self) -> None:
        """End all matches that are still played."""


@dataclass
class _Played:
    task: MatchTask
    process: BaseProcess
    connection: Connection
    until: float


class LocalEngine:
    """Plays each match in a process of its own on this machine.

    ``preloaded`` are modules that all matches need, ``recipes`` what is to be prepared for them.
    """

    def __init__(self, preloaded: Sequence[str] = (), recipes: Sequence[Recipe] = ()) -> None:
        self._running: dict[str, _Played] = {}
        self._context: SpawnContext | ForkServerContext = multiprocessing.get_context("spawn")
        if "forkserver" in multiprocessing.get_all_start_methods():  # not on Windows; a match starts sooner with it
            self._context = multiprocessing.get_context("forkserver")
            self._context.set_forkserver_preload([*PRELOADED, *preloaded, "runtime.tournament.prepared_fork"])
        self._recipes = recipes

    def most(self) -> int:
        """Return how many cores there are."""
        return max(1, os.cpu_count() or 1)

    def start(self, run: str, task: MatchTask) -> None:
        """Begin to play a match."""
        if isinstance(self._context, ForkServerContext):
            self._start_server()
        ours, theirs = self._context.Pipe()
        process: Any = self._context.Process(target=match_process.run, args=(task, theirs), daemon=False)
        process.start()
        theirs.close()
        self._running[run] = _Played(task, process, ours, time.monotonic() + task.seconds + GRACE_SECONDS)

    def _start_server(self) -> None:
        """Have the fork server run; it takes its recipes from the environment that it is started with."""
        os.environ[VARIABLE] = json.dumps(self._recipes)
        try:
            forkserver.ensure_running()
        finally:
            del os.environ[VARIABLE]

    def sources(self) -> list[Connection]:
        """Return what can be read as soon as something has come of a match."""
        return [one.connection for one in self._running.values()]

    def due(self) -> float:
        """Return when the first match has had its time."""
        return min((one.until for one in self._running.values()), default=inf)

    def reports(self, ready: Sequence[object]) -> Iterator[tuple[str, MatchReport]]:
        """Yield what has come of matches."""
        now = time.monotonic()
        for run, one in [*self._running.items()]:
            if one.connection in ready:
                yield run, self._ended(run, _report_of(one))
            elif now > one.until:
                most = one.task.seconds + GRACE_SECONDS
                yield run, self._ended(run, MatchReport(broken=f"its process did not end within {most:g} s"))

    def end(self, run: str) -> None:
        """End a match that is still played."""
        if run in self._running:
            _end(self._running.pop(run))

    def close(self) -> None:
        """End all matches that are still played."""
        for one in self._running.values():
            one.process.terminate()
        for one in self._running.values():
            _end(one)
        self._running.clear()

    def _ended(self, run: str, report: MatchReport) -> MatchReport:
        one = self._running.pop(run)
        if not report.broken:
            one.process.join(END_SECONDS)  # it ends of itself
        _end(one)
        return report


def _report_of(one: _Played) -> MatchReport:
    try:
        report = one.connection.recv()
        assert isinstance(report, MatchReport), "a process sends its report and nothing else"
        return report
    except (EOFError, OSError):
        one.process.join(END_SECONDS)
        return MatchReport(broken=f"{LOST}{one.process.exitcode}")


def _end(one: _Played) -> None:
    """End a process, if it has not, and whatever it left behind."""
    one.process.join(0.5 if not one.process.is_alive() else 0.05)
    if one.process.is_alive():
        one.process.terminate()
        one.process.join(END_SECONDS)
    if one.process.is_alive():
        one.process.kill()
        one.process.join()
    one.connection.close()
    if any(seat.kind.startswith("exec:") for seat in one.task.seats):
        killmarked(one.task.mark)


def killmarked(mark: str) -> int:
    """Kill every process that has this mark in its environment, as those have that a match left; return how many."""
    killed = 0
    for pid in marked(mark):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


def marked(mark: str) -> Iterator[int]:
    """Yield the number of every process but this one that has a mark in its environment."""
    wanted, programs = f"{MARK}={mark}".encode(), f"{PROGRAM_MARK}=".encode()
    try:
        entries = list(os.scandir("/proc"))
    except OSError:
        return  # no such system: there, processes die with their match or not at all
    for entry in entries:
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError), closing(open(f"/proc/{entry.name}/environ", "rb")) as file:
                parts = file.read().split(b"\0")
                # Whoever is to end programs itself, should their match be killed, has no mark of a program.
                if any(part.startswith(programs) for part in parts) and any(part.startswith(wanted) for part in parts):
                    yield int(entry.name)
