"""The coordinator: plans rounds, starts matches in processes of their own, and alone writes what came of them.

A match starts when none of its players is busy; its attempt is written first, its result in one transaction. What was
running when a coordinator died is played again by the next, and uses up no try. What a person decides meanwhile, in a
process of its own, is heeded before a round is planned, a match started, or a result kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Final
from uuid import uuid4

from runtime.players.seeds import derived_seed
from runtime.tournament.engines import Engine, LocalEngine, killmarked
from runtime.tournament.event import REMOTE, Event
from runtime.tournament.lobby import Lobby
from runtime.tournament.lost_processes import ALONE, ENDED_WELL, STAND_IN, places_without
from runtime.tournament.match_process import MatchReport, MatchTask, seats_of_match
from runtime.tournament.preparation import recipe
from runtime.tournament.progress import EventProgress, progress_of, with_gone
from runtime.tournament.store import Match, Store
from runtime.tournament.table import placed_text

LOBBY_LOOK_SECONDS: Final = 0.1
LONGEST_SECONDS: Final = 1.0  # until it is looked again whether there is something to do


@dataclass(frozen=True, slots=True)
class Arena:
    """What all matches of an event share: roles, the spec's hash, the rules to load beforehand, where files go."""

    server: str
    client: str
    spec_hash: str
    accord: str
    preloaded: tuple[str, ...]
    files: Path
    settings: Mapping[int, Mapping[str, str]]  # by how many play a match


@dataclass
class _Running:
    match: Match
    attempt: int
    run: str
    began: float
    alone: str = ""  # whose program is tried alone
    gone: tuple[str, ...] = ()  # who does not play in it, and is out
    taken_back: bool = False  # whether it was decided meanwhile that the match is played again


class Conductor:
    """Plays an event until nothing is missing. ``tell`` hears a line for each match that is settled or broken.

    Players who come by token are taken from ``lobby``; their matches are played here, all others by ``engine``.
    """

    def __init__(
        self,
        event: Event,
        store: Store,
        arena: Arena,
        tell: Callable[[str], None] = lambda line: None,
        lobby: Lobby | None = None,
        engine: Engine | None = None,
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
        given = event.spec, event.rules, arena.server, arena.client
        recipes = [
            recipe(given[0], settings, *given[1:])
            for size, settings in arena.settings.items()
            if size >= event.format.low
        ]
        self._here = LocalEngine(arena.preloaded, recipes)
        self._engine: Engine = engine or self._here
        self._engines = [self._here] if engine is None else [self._here, engine]
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

    def _heed(self) -> None:
        """Take note of what was decided since it was last looked; what is played then of a match to be played again
        counts for nothing.
        """
        known = len(self.progress.decisions)
        if len(self.store.decisions()) == known:
            return
        self.progress = progress_of(self.event, self.store)
        dropped = self.progress.dropped()
        for decision in self.progress.decisions[known:]:
            self.tell(f"decided: {decision.what} {decision.about}: {decision.why}")
            for one in self._running.values() if decision.what == "again" else ():
                if decision.about in (one.match.id, *one.match.seats) and not dropped & {*one.match.seats} - {
                    *one.gone
                }:
                    one.taken_back = True

    def _plan(self) -> None:
        self._heed()
        for match, culprits in list(self.progress.ended_by_programs()):
            places = places_without(match, culprits)
            self.store.settle(match.number, f"its process was ended by {', '.join(culprits)}", places)
            self.progress.settle(match, places)
            self.tell(f"{match.id}  {placed_text(places)}")
        while True:
            for match, places, why in list(self.progress.walkovers(self.arena.settings)):
                if match.id in self._running:
                    continue  # it stands if it comes to its end
                self._waits.pop(match.id, None)
                self.store.settle(match.number, why, places)
                self.progress.settle(match, places)
                self.tell(f"{match.id}  {placed_text(places)}")
            found = self.progress.next_round()
            if not found:
                return
            self.store.plan(found)
            self.progress.add(found)
            self._heed()

    def _start_ready(self) -> None:
        most = self.event.at_once or self._engine.most()
        busy = {name for one in self._running.values() for name in one.match.seats}
        for match in self.progress.unsettled():
            if len(self._running) >= most:
                return
            if match.id in self._running:
                continue
            if busy.isdisjoint(match.seats) and (absent := self._absent(match)) is not None:
                self._start(match, absent)
                busy.update(match.seats)

    def _absent(self, match: Match) -> dict[str, str] | None:
        """Return who of a match did not come, and why that is a fault; None as long as somebody is waited for."""
        if self.progress.suspect(match):
            return {}  # nobody else's program is wanted
        gone = self.progress.gone(match)
        wanted = [name for name in match.seats if name in self._remote and name not in gone]
        missing = [name for name in wanted if not self._is_here(name)]
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
        alone = self.progress.suspect(match)
        gone = () if alone else tuple(self.progress.gone(match))
        come = [name for name in match.seats if name in self._remote and name not in (*absent, *gone) and not alone]
        elsewhere = {name: self._lobby.take(name) for name in come} if self._lobby is not None else {}
        task = replace(self.task(match, run, gone), absent=absent, elsewhere=elsewhere)
        if alone:
            kinds = dict.fromkeys(match.seats, (STAND_IN, Path())) | {alone: self._kinds[alone]}
            task = replace(task, seats=seats_of_match(match.seats, kinds, task.seed))
        (self._here if elsewhere else self._engine).start(run, task)
        for given in elsewhere.values():
            given.close()
        self._running[match.id] = _Running(match, attempt, run, time.monotonic(), alone, gone)

    def task(self, match: Match, run: str, gone: Sequence[str] = ()) -> MatchTask:
        """Return what the process of a match is told, in which all play but those who are ``gone``."""
        seated = [name for name in match.seats if name not in gone]
        seed = derived_seed(self.event.seed, match.id)
        return MatchTask(
            spec=self.event.spec,
            spec_hash=self.arena.spec_hash,
            settings=self.arena.settings[len(seated)],
            rules=self.event.rules,
            server=self.arena.server,
            client=self.arena.client,
            seats=seats_of_match(seated, self._kinds, seed),
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
        until = min(engine.due() for engine in self._engines) - time.monotonic()
        sources = [source for engine in self._engines for source in engine.sources()]
        lobby = self._lobby.sockets() if self._lobby is not None and os.name != "nt" else []
        # Windows waits for no sockets together with pipes: there the lobby is looked at now and then.
        longest = LONGEST_SECONDS if self._lobby is None or lobby else LOBBY_LOOK_SECONDS
        ready = wait([*sources, *lobby], timeout=max(0.0, min(until, longest)))
        if self._lobby is not None:
            self._lobby.turn()
        known = {one.run: one for one in self._running.values()}
        for engine in self._engines:
            for run, report in engine.reports(ready):
                self._ended(known[run], report)

    def _ended(self, one: _Running, report: MatchReport) -> None:
        self._heed()
        del self._running[one.match.id]
        number, seconds = one.match.number, time.monotonic() - one.began
        if one.taken_back:
            self.store.end(number, one.attempt, "stopped", seconds, "it was decided that the match is played again")
            return
        if one.alone:
            report = MatchReport(broken=ALONE.format(one.alone) + (report.broken or ENDED_WELL))
        placed = {placed.player: placed for placed in report.places}
        places = with_gone(one.match, placed)
        if report.broken or placed.keys() != {*one.match.seats} - {*one.gone}:
            why = report.broken or "its report names other players"
            self.store.end(number, one.attempt, "broken", seconds, why)
            self.progress.note_broken(number, why)
            self.tell(f"{one.match.id}  broken: {why}; {self._what_then(one.match)}")
        elif self.store.played(number, one.attempt, report.run or one.run, seconds, report.value, places):
            self.progress.settle(one.match, places)
            self.tell(f"{one.match.id}  {placed_text(places)}")

    def _what_then(self, match: Match) -> str:
        """Say what comes after a broken attempt."""
        tried = self.progress.broken.get(match.number, 0)
        if tried < self.event.tries:
            return f"played again ({tried} of {self.event.tries})"
        if self.progress.culprits(match):
            return "that is a player's fault"
        return f"tried {ALONE.format(name)[:-2]}" if (name := self.progress.suspect(match)) else "given up"

    def _end_all(self) -> None:
        for engine in self._engines:
            engine.close()
        for one in self._running.values():
            seconds = time.monotonic() - one.began
            self.store.end(one.match.number, one.attempt, "stopped", seconds, "the event was stopped")
        self._running.clear()
        killmarked(self._mark)
