"""Hostile clients, in virtual time, over all shipped specs: does anything crash, hang, grow, or blame who is honest?

    python -m benchmarks.hostile [--sessions N] [--seed S] [--jobs N] [--resume FILE] [SPEC...]

A session is one run of a role that listens, with at least one hostile client: see `runtime.simulation.hostile_game`.
Everything follows from the seed; what is found is told with the seed that shows it again (``--seed S --sessions 1``).
Each spec gets as much time as the others. With ``--resume`` the file has what came of all batches so far: the same
command goes on from there. Ctrl-C and SIGTERM end a run with its figures. Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from multiprocessing.pool import AsyncResult, Pool
from pathlib import Path
from typing import Final

from machines.parser.loader import load, rules_modules, shipped
from runtime.simulation.hostile_game import HostileCampaign, HostileGame, load_with_strangers

SLOW_SECONDS: Final = 30.0  # of CPU for one game: it hangs
SILENT_SECONDS: Final = 900.0  # without any batch coming to its end: it hangs
BATCH: Final = 50  # games that a worker plays of one spec before it reports
GROWN_MIB: Final = 64  # that a worker may have at the end beyond what it had after a tenth of its games
TOLD_SECONDS: Final = 10.0
TOLD_MAX: Final = 20


@dataclass
class Tally:
    """What came of games; ``seconds`` of CPU, and the seed to go on with, by spec."""

    games: int = 0
    misdeeds: int = 0
    peak_mib: float = 0.0
    found: list[str] = field(default_factory=list)
    sessions: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Add what came of others, that were played later."""
        self.games += other.games
        self.misdeeds += other.misdeeds
        self.peak_mib = max(self.peak_mib, other.peak_mib)
        self.found += other.found
        self.sessions.update(other.sessions)
        for name, seconds in other.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.seeds |= other.seeds


_campaigns: dict[str, HostileCampaign] = {}


def campaign(name: str) -> HostileCampaign:
    """Return the campaign of a shipped spec, made once in each process."""
    if name not in _campaigns:
        spec = load_with_strangers(name)
        _campaigns[name] = HostileCampaign(spec, rules_modules(spec), frozenset(load(name).foreign))
    return _campaigns[name]


def sessions_of(game: HostileGame) -> int:
    """Count the sessions of roles that listen which met somebody hostile."""
    return sum(
        actor.session.program.accepts and any(other.seat in game.hostile for other in actor.met.values())
        for actor in game.actors
    )


def played(name: str, first: int) -> Tally:
    """Play a batch of games of one spec, from a seed on."""
    tally = Tally(seconds={name: 0.0}, seeds={name: first + BATCH})
    for seed in range(first, first + BATCH):
        before = time.process_time()
        try:
            game, troubles = campaign(name).play(seed)
        except Exception as error:
            tally.found.append(f"{name}, seed {seed}: {type(error).__name__}: {error}")
            continue
        seconds = time.process_time() - before
        tally.games += 1
        tally.misdeeds += game.misdeeds
        tally.sessions[name] += sessions_of(game)
        tally.seconds[name] += seconds
        tally.found += [f"{name}, seed {seed}: {trouble.code} {trouble.text}" for trouble in troubles]
        if seconds > SLOW_SECONDS:
            tally.found.append(f"{name}, seed {seed}: it took {seconds:.0f} s of CPU")
    gc.collect()
    tally.peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return tally


class Run:
    """Plays in so many processes, until there were so many sessions or it is told to stop.

    ``whole`` is what came of it and, where it goes on with an earlier run, of that one; it is written to ``kept``.
    """

    def __init__(self, names: list[str], seed: int, kept: Path | None) -> None:
        self.whole = Tally()
        if kept is not None and kept.exists():
            before = json.loads(kept.read_text())
            self.whole = Tally(**before | {"sessions": Counter(before["sessions"])})
        self.stopped = False
        self._kept = kept
        self._names = names
        self._first = seed
        self._peaks: list[tuple[int, float]] = []  # of this run: after so many batches, what a process had at most
        self._playing: Counter[str] = Counter()  # batches that are played now
        self._seeds = dict(self.whole.seeds)

    def stop(self, *_: object) -> None:
        """Begin no more batches, and leave those that are played."""
        self.stopped = True

    def play(self, sessions: int, jobs: int) -> None:
        """Play, and say how far it is on standard error."""
        with multiprocessing.get_context("spawn").Pool(jobs, _leave_signals) as pool:
            waiting = deque(self._begun(pool) for _ in range(2 * jobs))
            heard = told = time.monotonic()
            while self.whole.sessions.total() < sessions and not self.stopped:
                waiting[0].wait(1.0)
                now = time.monotonic()
                if waiting[0].ready():
                    heard = now
                    self._take(waiting.popleft().get())
                    waiting.append(self._begun(pool))
                elif now - heard > SILENT_SECONDS:
                    self.whole.found.append(f"no batch came to its end for {SILENT_SECONDS:.0f} s")
                    break
                if now - told > TOLD_SECONDS:
                    told = now
                    self._keep()
                    print(summary(self.whole), file=sys.stderr, flush=True)
        self._judge_growth()
        self._keep()

    def _begun(self, pool: Pool) -> AsyncResult[Tally]:
        """Begin a batch of the spec that had the least time."""
        name = min(self._names, key=self._spent)
        first = self._seeds.get(name, self._first)
        self._seeds[name] = first + BATCH
        self._playing[name] += 1
        return pool.apply_async(played, (name, first))

    def _spent(self, name: str) -> float:
        """Return the seconds that a spec has had, or will have once its batches are played."""
        batches = max(1, (self._seeds.get(name, self._first) - self._first) // BATCH - self._playing[name])
        seconds = self.whole.seconds.get(name, 0.0)
        return seconds + self._playing[name] * (seconds / batches or 1.0)

    def _take(self, tally: Tally) -> None:
        self.whole.add(tally)
        self._playing.subtract(tally.seeds.keys())
        self._peaks.append((len(self._peaks), self.whole.peak_mib))

    def _judge_growth(self) -> None:
        early = self._peaks[len(self._peaks) // 10][1] if self._peaks else 0.0
        if self.whole.peak_mib > early + GROWN_MIB:
            self.whole.found.append(f"a process grew from {early:.0f} to {self.whole.peak_mib:.0f} MiB")

    def _keep(self) -> None:
        if self._kept is not None:
            beside = self._kept.with_name(f"{self._kept.name}.part")
            beside.write_text(json.dumps(vars(self.whole), indent=1))
            beside.replace(self._kept)


def _leave_signals() -> None:
    """Leave Ctrl-C and SIGTERM to the process that tells the figures."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def summary(whole: Tally) -> str:
    """Return the figures in a line."""
    return (
        f"{whole.sessions.total()} hostile sessions in {whole.games} games, {whole.misdeeds} misdeeds: "
        f"{len(whole.found)} found; {sum(whole.seconds.values()):.0f} s of CPU, {whole.peak_mib:.0f} MiB at most"
    )


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("specs", nargs="*", help="shipped specs; all if left out")
    parser.add_argument("--sessions", type=int, default=1000, help="with those of the run that is gone on with")
    parser.add_argument("--seed", type=int, default=0, help="of the first game of each spec")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on from this file, and keep it")
    given = parser.parse_args()
    run = Run(given.specs or list(shipped()), given.seed, given.resume)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, run.stop)
    run.play(given.sessions, given.jobs)
    for name, count in sorted(run.whole.sessions.items()):
        print(f"{name:20} {count:8} sessions, {run.whole.seconds[name]:6.0f} s of CPU")
    print(summary(run.whole))
    for text in run.whole.found[:TOLD_MAX]:
        print(text)
    return 1 if run.whole.found else 0


if __name__ == "__main__":
    sys.exit(main())
