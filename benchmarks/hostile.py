"""Hostile clients, in virtual time, over all shipped specs: does anything crash, hang, grow, or blame who is honest?

    python -m benchmarks.hostile [--sessions N] [--seed S] [--jobs N] [SPEC...]

A session is one run of a role that listens, with at least one hostile client: see `runtime.simulation.hostile_game`.
Everything follows from the seed; what is found is told with the seed that shows it again (``--seed S --sessions 1``).
Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from machines.loader import load, rules_modules, shipped
from runtime.simulation.hostile_game import HostileCampaign, HostileGame

SLOW_SECONDS: Final = 30.0  # of CPU for one game: it hangs
BATCH: Final = 25  # games that a worker plays of one spec before it reports
GROWN_MIB: Final = 64  # that a worker may have at the end beyond what it had after a tenth of its games
TOLD_MAX: Final = 20


@dataclass
class Tally:
    """What came of games."""

    games: int = 0
    sessions: int = 0
    misdeeds: int = 0
    seconds: float = 0.0
    found: list[str] = field(default_factory=list)
    peak_mib: float = 0.0
    by_spec: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add what came of others."""
        self.games += other.games
        self.sessions += other.sessions
        self.misdeeds += other.misdeeds
        self.seconds += other.seconds
        self.found += other.found
        self.peak_mib = max(self.peak_mib, other.peak_mib)
        self.by_spec += other.by_spec


_campaigns: dict[str, HostileCampaign] = {}


def campaign(name: str) -> HostileCampaign:
    """Return the campaign of a shipped spec, made once in each process."""
    if name not in _campaigns:
        spec = load(name)
        _campaigns[name] = HostileCampaign(spec, rules_modules(spec))
    return _campaigns[name]


def sessions_of(game: HostileGame) -> int:
    """Count the sessions of roles that listen which met somebody hostile."""
    return sum(
        actor.session.program.accepts and any(other.seat in game.hostile for other in actor.met.values())
        for actor in game.actors
    )


def played(task: tuple[str, int]) -> Tally:
    """Play a batch of games of one spec, from a seed on."""
    name, first = task
    tally = Tally()
    for seed in range(first, first + BATCH):
        before = time.process_time()
        try:
            game, troubles = campaign(name).play(seed)
        except Exception as error:
            tally.found.append(f"{name}, seed {seed}: {type(error).__name__}: {error}")
            continue
        seconds = time.process_time() - before
        tally.seconds += seconds
        tally.games += 1
        tally.misdeeds += game.misdeeds
        met = sessions_of(game)
        tally.sessions += met
        tally.by_spec[name] += met
        tally.found += [f"{name}, seed {seed}: {trouble.code} {trouble.text}" for trouble in troubles]
        if seconds > SLOW_SECONDS:
            tally.found.append(f"{name}, seed {seed}: it took {seconds:.0f} s of CPU")
    gc.collect()
    tally.peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return tally


def tasks(names: list[str], seed: int) -> Iterator[tuple[str, int]]:
    """Yield batches without an end, of each spec in turn."""
    first = seed
    while True:
        yield from ((name, first) for name in names)
        first += BATCH


def run(names: list[str], sessions: int, seed: int, jobs: int) -> Tally:
    """Play until there were so many sessions; say how far it is on standard error."""
    whole = Tally()
    early = 0.0
    told = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        more = tasks(names, seed)
        waiting = [pool.apply_async(played, (next(more),)) for _ in range(2 * jobs)]
        while whole.sessions < sessions:
            whole.add(waiting.pop(0).get())
            waiting.append(pool.apply_async(played, (next(more),)))
            if not early and whole.sessions > sessions / 10:
                early = whole.peak_mib
            if time.monotonic() - told > 10:
                told = time.monotonic()
                print(f"{whole.sessions} sessions, {len(whole.found)} found", file=sys.stderr, flush=True)
    if early and whole.peak_mib > early + GROWN_MIB:
        whole.found.append(f"a process grew from {early:.0f} to {whole.peak_mib:.0f} MiB")
    return whole


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("specs", nargs="*", help="shipped specs; all if left out")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    begun = time.monotonic()
    whole = run(given.specs or list(shipped()), given.sessions, given.seed, given.jobs)
    for name, count in sorted(whole.by_spec.items()):
        print(f"{name:20} {count:8} sessions")
    print(
        f"{whole.sessions} hostile sessions in {whole.games} games, {whole.misdeeds} misdeeds: "
        f"{len(whole.found)} found; "
        f"{whole.seconds:.0f} s of CPU, {time.monotonic() - begun:.0f} s, {whole.peak_mib:.0f} MiB at most"
    )
    for text in whole.found[:TOLD_MAX]:
        print(text)
    return 1 if whole.found else 0


if __name__ == "__main__":
    sys.exit(main())
