"""How often each Santorini player wins, how long it thinks, and how many positions a second the search looks at.

    python -m benchmarks.santorini [--games 100] [strong,diagonal quick,diagonal ...]

Every game has another seed, and who places and moves first changes with each. The rules judge every answer: one that
is illegal loses the game. Two kinds that both go by rote play the same two games again and again.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rules import santorini
from rules.players.santorini import PLAYERS
from rules.players.santorini_position import Position
from rules.players.santorini_search import Search
from rules.santorini_play import Play

LINEUPS = ("strong,diagonal", "quick,diagonal", "quick,random", "diagonal,random")
TURNS_MAX = 36 * 4  # Each turn adds a floor, so a game ends by itself.


@dataclass(frozen=True)
class Someone:
    name: str


@dataclass(frozen=True)
class Move:
    """What a player answered, and how long it took."""

    player: Someone
    answer: tuple[str, dict[str, Any]]
    seconds: float


def play(kinds: Sequence[str], seed: int) -> tuple[santorini.Outcome, list[Move]]:
    """Return how a game of two kinds ended, the first to place and move first, and all answers, placements too.

    The questions are those of the official protocol.
    """
    pair = (Someone("first"), Someone("second"))
    minds = {
        player: PLAYERS[kind](player.name, 2 * seed + i)
        for i, (player, kind) in enumerate(zip(pair, kinds, strict=True))
    }
    game, moves = santorini.start(pair), []
    while not santorini.over(game):
        player = santorini.mover(game)
        placing = len(santorini.placements(game)) < 4
        before = time.perf_counter()
        if placing:
            answer = minds[player].placement(santorini.placements(game), player.name)
        else:
            answer = minds[player].turn(santorini.board(game), player.name)
        moves.append(Move(player, answer, time.perf_counter() - before))
        assert len(moves) <= 4 + TURNS_MAX
        game = judged(game, player, *answer)
    return santorini.outcome(game), moves


def judged(game: Play, player: Someone, message: str, fields: dict[str, Any]) -> Play:
    """Return the game after an answer, forfeited if it is not legal."""
    match message:
        case "place" if santorini.may_place(game, player, fields["place"]):
            return santorini.place(game, player, fields["place"])
        case "turn" | "winning_move":
            step, build = (fields["ew"], fields["ns"]), None
            if message == "turn":
                build = (fields["build_ew"], fields["build_ns"])
            if santorini.may_turn(game, player, fields["worker"], step, build):
                return santorini.turn(game, player, fields["worker"], step, build)
        case "give_up":
            return santorini.resign(game, player)
    return santorini.forfeit(game, player)


def tournament(kinds: Sequence[str], games: int) -> None:
    """Play so many games and print how often each kind wins."""
    wins: Counter[str] = Counter()
    forfeits: Counter[str] = Counter()
    thought: dict[str, list[float]] = defaultdict(list)
    turns = 0
    began = time.perf_counter()
    for seed in range(games):
        seats = dict(zip(("first", "second"), kinds if seed % 2 == 0 else kinds[::-1], strict=True))
        outcome, moves = play(list(seats.values()), seed)
        wins[seats[outcome.winner.name]] += 1
        forfeits.update(seats[player.name] for player in outcome.offenders)
        turns += outcome.turns
        for move in moves:
            if move.answer[0] != "place":
                thought[seats[move.player.name]].append(1000 * move.seconds)
    took = time.perf_counter() - began
    print(f"{' against '.join(kinds)}: {games} games, {turns / games:.0f} turns each, {took:.0f} s")
    for kind in kinds:
        times = thought[kind] or [0.0]
        print(
            f"  {kind:10} wins {wins[kind]:4}, forfeits {forfeits[kind]:3},"
            f"  thinks {sum(times) / len(times):.1f} ms, {max(times):.0f} ms at most",
            flush=True,
        )


def scattered(seed: int, turns: int) -> Position:
    """Return a position after so many turns at random, none of which wins."""
    chance = Random(f"santorini positions {seed}")
    cells = chance.sample(range(36), 4)
    position = Position((0,) * 36, (cells[0], cells[1]), (cells[2], cells[3]))
    for _ in range(turns):
        position = position.after(chance.choice([turn for turn in position.turns() if turn.build is not None]))
    return position


def speed(budget: int) -> None:
    """Print how many positions a second the search looks at and how deep it gets, from early, middle and late ones."""
    for turns in (0, 8, 16, 24):
        looked, depths, began = 0, [], time.perf_counter()
        for seed in range(4):
            found = Search(scattered(seed, turns)).best(budget, Random(seed))
            looked += found.positions
            depths.append(found.depth)
        took = time.perf_counter() - began
        print(f"after {turns:2} turns: {looked / took:,.0f} positions a second, {depths} turns ahead with {budget:,}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--games", type=int, default=100)
    arguments.add_argument("--budget", type=int, default=300_000, help="positions a search, for the speed alone")
    arguments.add_argument("lineups", nargs="*", default=LINEUPS, help="two kinds of players with a comma between")
    given = arguments.parse_args()
    speed(given.budget)
    for lineup in given.lineups:
        tournament(lineup.split(","), given.games)


if __name__ == "__main__":
    main()
