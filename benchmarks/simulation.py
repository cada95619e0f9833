"""Whole games in memory beside the same games over loopback TCP: CPU and games a second, of all programs of a game.

    python -m benchmarks.simulation [--rounds 5] [--json]

Each round plays the same seeds in both ways, in turn; what is told is the least of the rounds. The thinking of the
players is in both; it is measured apart, by a clock around each answer in memory.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial

import anyio

from machines.parser.loader import load, rules_modules
from runtime.commands.match_setup import MatchSetup, cast
from runtime.players.seeds import derived_seed
from runtime.players.strategy import StrategyQuestion
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play
from runtime.simulation.local_games import LocalGames

GAMES = 5  # of a round, with the seeds 0, 1, ...
CASES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("tsuro", ("second", "second", "second"), ()),
    ("tsuro", ("random", "random", "random"), ()),
    ("santorini-official", ("random", "random"), ("pause=0 s",)),
    ("santorini-official", ("diagonal", "diagonal"), ("pause=0 s",)),
    ("santorini-relay", ("random", "random"), ()),
)


@dataclass(frozen=True)
class Row:
    """Milliseconds of CPU a game, both ways, and the games a second seen; ``thinking`` is a part of ``memory``."""

    spec: str
    players: str
    memory: float
    thinking: float
    tcp: float
    memory_games: float
    tcp_games: float


def row(name: str, kinds: Sequence[str], settings: Sequence[str], rounds: int) -> Row:
    """Measure one case."""
    given = dict(one.split("=") for one in settings)
    chosen = cast(load(name, given), given, None, kinds, None)
    games = LocalGames(
        chosen.spec,
        rules_modules(chosen.spec),
        server=chosen.server,
        client=chosen.client,
        names=chosen.names,
        kinds=chosen.kinds,
    )
    in_memory, over_tcp = [], []
    thinking = float("inf")
    for _ in range(rounds):
        in_memory.append(_timed(games.play))
        over_tcp.append(_timed(partial(_over_tcp, chosen)))
        with _thinking() as thought:
            for seed in range(GAMES):
                games.play(seed)
        thinking = min(thinking, thought[0] / GAMES)
    memory, tcp = (min(cpu for cpu, _ in way) for way in (in_memory, over_tcp))
    wall, tcp_wall = (min(seconds for _, seconds in way) for way in (in_memory, over_tcp))
    return Row(name, " ".join(kinds), memory * 1e3, thinking * 1e3, tcp * 1e3, 1 / wall, 1 / tcp_wall)


def _timed(game: Callable[[int], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    for seed in range(GAMES):
        game(seed)
    return (time.process_time() - cpu) / GAMES, (time.perf_counter() - wall) / GAMES


def _over_tcp(chosen: MatchSetup, seed: int) -> None:
    seats = [
        Participant(name, kind, derived_seed(seed, "player", index))
        for index, (name, kind) in enumerate(zip(chosen.names, chosen.kinds, strict=True))
    ]
    rules = rules_modules(chosen.spec)
    anyio.run(partial(play, chosen.spec, rules, seats, server=chosen.server, client=chosen.client, seed=seed))


@contextmanager
def _thinking() -> Iterator[list[float]]:
    """Add up how long strategies think while the block runs."""
    total, put = [0.0], StrategyQuestion.put

    def timed(self: StrategyQuestion) -> object:
        began = time.process_time()
        try:
            return put(self)
        finally:
            total[0] += time.process_time() - began

    StrategyQuestion.put = timed  # type: ignore[method-assign]
    try:
        yield total
    finally:
        StrategyQuestion.put = put  # type: ignore[method-assign]


def main(words: Sequence[str] | None = None) -> None:
    """Measure all cases and print a table, or JSON Lines."""
    parser = argparse.ArgumentParser(description="Games in memory beside games over TCP.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    if not options.json:
        print("| spec | players | CPU in memory | of it thinking | over TCP | TCP to memory | games/s | over TCP |")
        print("|---|---|---:|---:|---:|---:|---:|---:|")
    for name, kinds, settings in CASES:
        found = row(name, kinds, settings, options.rounds)
        if options.json:
            print(json.dumps(asdict(found)))
        else:
            print(
                f"| {found.spec} | {found.players} | {found.memory:.1f} ms | {found.thinking:.1f} ms | "
                f"{found.tcp:.1f} ms | {found.tcp / found.memory:.1f} | {found.memory_games:.0f} | "
                f"{found.tcp_games:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
