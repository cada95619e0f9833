"""The coordinator: plans rounds, starts matches in processes of their own, and alone writes what came of them.

A match starts when none of its players is busy; its attempt is written first, its result in one transaction. What was
running when a coordinator died is played again by the next, and uses up no try.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final
from uuid import uuid4

from runtime.players.descendants import MARK as PROGRAM_MARK
from runtime.players.seeds import derived_seed
from runtime.tournament import match_process
from runtime.tournament.event import REMOTE, Event
from runtime.tournament.lobby import Lobby
from runtime.tournament.lost_processes import ALONE, ENDED_WELL, LOST, STAND_IN, places_without
from runtime.tournament.match_process import MARK, MatchReport, MatchTask, seats_of_match
from runtime.tournament.progress import EventProgress, progress_of
from runtime.tournament.store import Match, Store
from runtime.tournament.table import placed_text

GRACE_SECONDS: Final = 15.0  # beyond a match's time, until its process is ended from outside
LOBBY_LOOK_SECONDS: Final = 0.1
END_SECONDS: Final = 3.0  # in which a process is to end once told to
PRELOADED: Final = (  # what every match needs, and would import anew: 60 ms of processor time a match become 43
    *("runtime.cli", "runtime.tournament.match_process", "concurrent.futures.thread", "specs"),
    *("runtime.network.asyncio_transport", "runtime.network.anyio_transport", "anyio._backends._asyncio"),
)


@dataclass(frozen=True, slots=True)
class Arena:
    """What all matches of an event share: roles, the spec's hash, the rules to load beforehand, where files go."""

    server: str
    client: str
    spec_hash: str
    accord: str
    preloaded: tuple[str, ...]
    files: Path
    settings: Mapping[int, Mapping[str, str]]  # by how many sit at a match


@dataclass
class _Running:
    match: Match
    attempt: int
    run: str
    process: BaseProcess
    connection: Connection
    began: float
    alone: str = ""  # whose program is tried alone


class Conductor:
    """Plays an event until nothing is missing. ``tell`` hears a line for each match that is settled or broken.

    Players who come by token are taken from ``lobby``.
    """

    def __init__(
        self,
        event: Event,
        store: Store,
        arena: Arena,
        tell: Callable[[str], None] = lambda line: None,
        lobby: Lobby | None = None,
    ) -> None:
        self.event = event
        self.store = store
        self.arena = arena
        self.tell = tell
        self.progress: EventProgress = EventProgress(event)
        self._running: dict[str, _Running] = {}
        self._lobby = lobby
        self._remote = {player.name for player in event.players if player.kind == REMOTE}
        self._waits: dict[str, float] = {}  # since when a match waits for those who come by token
        self._stopped = False
        self._mark = store.mark
        self._context: SpawnContext | ForkServerContext = multiprocessing.get_context("spawn")
        if "forkserver" in multiprocessing.get_all_start_methods():  # not on Windows; a match starts sooner with it
            self._context = multiprocessing.get_context("forkserver")
            self._context.set_forkserver_preload([*PRELOADED, *arena.preloaded])
        self._kinds = {player.name: (player.kind, player.folder) for player in event.players}

    def run(self) -> EventProgress:
        """Play what is missing; return how far the event is, whole unless `stop` was called."""
        killmarked(self._mark)
        self.store.stop_running()
        self.progress = progress_of(self.event, self.store)
        try:
            while not self._stopped:
                self._plan()
                self._start_ready()
                if not self._running and not self._waits:
                    break
                self._wait()
        finally:
            self._end_all()
        return self.progress

    def stop(self) -> None:
        """Have `run` end soon; matches under way are given up and played again another time."""
        self._stopped = True

    # -- planning ----------------------------------------------------------------------------------------------------

    def _plan(self) -> None:
        for match in self.progress.matches:
            culprits = self.progress.culprits(match) if match.number not in self.progress.results else ()
            if culprits:
                places = places_without(match, culprits)
                self.store.settle(match.number, f"its process was ended by {', '.join(culprits)}", places)
                self.progress.results[match.number] = places
                self.tell(f"{match.id}  {placed_text(places)}")
        while True:
            for match, places, why in list(self.progress.walkovers()):
                self.store.settle(match.number, why, places)
                self.progress.results[match.number] = places
                self.tell(f"{match.id}  {placed_text(places)}  ({why})")
            found = self.progress.next_round()
            if not found:
                return
            self.store.plan(found)
            self.progress.matches.extend(found)

    def _start_ready(self) -> None:
        most = self.event.at_once or max(1, os.cpu_count() or 1)
        busy = {name for one in self._running.values() for name in one.match.seats}
        for match in self.progress.matches:
            if len(self._running) >= most:
                return
            if match.id in self._running or self.progress.is_settled(match):
                continue
            if busy.isdisjoint(match.seats) and (absent := self._absent(match)) is not None:
                self._start(match, absent)
                busy.update(match.seats)

    def _absent(self, match: Match) -> dict[str, str] | None:
        """Return who of a match did not come, and why that is a fault; None as long as somebody is waited for."""
        if self.progress.suspect(match):
            return {}  # nobody else's program is wanted
        missing = [name for name in match.seats if name in self._remote and not self._is_here(name)]
        since, most = self._waits.setdefault(match.id, time.monotonic()), self.event.come_seconds
        if missing and time.monotonic() - since < most:
            return None
        del self._waits[match.id]
        return dict.fromkeys(missing, f"absent: nobody came with its token within {most:g} s")

    def _is_here(self, name: str) -> bool:
        return self._lobby is not None and self._lobby.is_here(name)

    def _start(self, match: Match, absent: Mapping[str, str]) -> None:
        attempt, run = self.progress.attempts.get(match.number, 0) + 1, uuid4().hex[:12]
        self.store.start(match.number, attempt, run)
        self.progress.attempts[match.number] = attempt
        ours, theirs = self._context.Pipe()
        alone = self.progress.suspect(match)
        come = [name for name in match.seats if name in self._remote and name not in absent and not alone]
        elsewhere = {name: self._lobby.take(name) for name in come} if self._lobby is not None else {}
        task = replace(self.task(match, run), absent=absent, elsewhere=elsewhere)
        if alone:
            kinds = dict.fromkeys(match.seats, (STAND_IN, Path())) | {alone: self._kinds[alone]}
            task = replace(task, seats=seats_of_match(match.seats, kinds, task.seed))
        process = self._context.Process(target=match_process.run, args=(task, theirs), daemon=False)
        process.start()
        theirs.close()
        for given in elsewhere.values():
            given.close()
        self._running[match.id] = _Running(match, attempt, run, process, ours, time.monotonic(), alone)

    def task(self, match: Match, run: str) -> MatchTask:
        """Return what the process of a match is told."""
        seed = derived_seed(self.event.seed, match.id)
        return MatchTask(
            spec=self.event.spec,
            spec_hash=self.arena.spec_hash,
            settings=self.arena.settings[len(match.seats)],
            rules=self.event.rules,
            server=self.arena.server,
            client=self.arena.client,
            seats=seats_of_match(match.seats, self._kinds, seed),
            seed=seed,
            seconds=self.event.match_seconds,
            programs=self.event.programs,
            folder_bytes=self.event.folder_bytes,
            folder=self.arena.files / match.id / run,
            accord=self.arena.accord,
            mark=f"{self._mark}/{run}",
        )

    # -- what comes back ---------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Wait until something has come of a match, or one has had its time."""
        now = time.monotonic()
        most = self.event.match_seconds + GRACE_SECONDS
        until = min((one.began + most for one in self._running.values()), default=now + 1)
        known = {one.connection: one for one in self._running.values()}
        lobby = self._lobby.sockets() if self._lobby is not None and os.name != "nt" else []
        # Windows waits for no sockets together with pipes: there the lobby is looked at now and then.
        longest = 1.0 if self._lobby is None or lobby else LOBBY_LOOK_SECONDS
        ready = wait([*known, *lobby], timeout=max(0.0, min(until - now, longest)))
        if self._lobby is not None:
            self._lobby.turn()
        for connection in ready:
            if isinstance(connection, Connection):
                self._ended(known[connection], self._report(known[connection]))
        for one in [*self._running.values()]:
            if time.monotonic() - one.began > most:
                self._ended(one, MatchReport(broken=f"its process did not end within {most:g} s"))

    def _report(self, one: _Running) -> MatchReport:
        try:
            report = one.connection.recv()
            assert isinstance(report, MatchReport), "a process sends its report and nothing else"
            return report
        except (EOFError, OSError):
            one.process.join(END_SECONDS)
            return MatchReport(broken=f"{LOST}{one.process.exitcode}")

    def _ended(self, one: _Running, report: MatchReport) -> None:
        del self._running[one.match.id]
        if not report.broken:
            one.process.join(END_SECONDS)  # it ends of itself
        self._end(one)
        number, seconds = one.match.number, time.monotonic() - one.began
        if one.alone:
            report = MatchReport(broken=ALONE.format(one.alone) + (report.broken or ENDED_WELL))
        if report.broken or {placed.player for placed in report.places} != set(one.match.seats):
            why = report.broken or "its report names other players"
            self.store.end(number, one.attempt, "broken", seconds, why)
            self.progress.note_broken(number, why)
            self.tell(f"{one.match.id}  broken: {why}; {self._what_then(one.match)}")
        elif self.store.played(number, one.attempt, one.run, seconds, report.value, report.places):
            self.progress.results[number] = report.places
            self.tell(f"{one.match.id}  {placed_text(report.places)}")

    def _what_then(self, match: Match) -> str:
        """Say what comes after a broken attempt."""
        tried = self.progress.broken.get(match.number, 0)
        if tried < self.event.tries:
            return f"played again ({tried} of {self.event.tries})"
        if self.progress.culprits(match):
            return "that is a player's fault"
        return f"tried {ALONE.format(name)[:-2]}" if (name := self.progress.suspect(match)) else "given up"

    # -- the end of processes ----------------------------------------------------------------------------------------

    def _end(self, one: _Running) -> None:
        """End a process, if it has not, and whatever it left behind."""
        one.process.join(0.5 if not one.process.is_alive() else 0.05)
        if one.process.is_alive():
            one.process.terminate()
            one.process.join(END_SECONDS)
        if one.process.is_alive():
            one.process.kill()
            one.process.join()
        one.connection.close()
        if any(kind.startswith("exec:") for kind, _ in (self._kinds[name] for name in one.match.seats)):
            killmarked(f"{self._mark}/{one.run}")

    def _end_all(self) -> None:
        for one in self._running.values():
            one.process.terminate()
        for one in [*self._running.values()]:
            self._end(one)
            self.store.end(
                one.match.number, one.attempt, "stopped", time.monotonic() - one.began, "the event was stopped"
            )
        self._running.clear()
        killmarked(self._mark)


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
