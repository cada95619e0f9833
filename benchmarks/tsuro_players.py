"""How often each Tsuro player wins, how long it thinks, and how fast the rules are without players.

    python -m benchmarks.tsuro_players [--games 200] [strong,second,second strong,first,first ...]

Every game has another seed. A seed decides where in the order of the tiles dealing begins (a game of the rules starts
at the first; beginning elsewhere gives other games under the same rules), and the chance of players that use it; who
sits first changes every 35 games. A win shared with others counts as its share.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rules import tsuro
from rules.players.tsuro import PLAYERS

LINEUPS = ("strong,second,second", "strong,first,first", "strong,random,random", "strong,second,second,random,random")


@dataclass(frozen=True)
class Someone:
    name: str
    token: str


@dataclass(frozen=True)
class Move:
    """What a player answered, and how long it took."""

    player: Someone
    fields: dict[str, Any]
    seconds: float


def seated(names: Sequence[str]) -> list[Someone]:
    players: list[Someone] = []
    for name in names:
        players.append(Someone(name, tsuro.free_token(players)))
    return players


def play(kinds: Sequence[str], seed: int) -> tuple[tsuro.Table, list[Move]]:
    """Return the table at the end of a game of these kinds, seated in this order, and all moves made."""
    players = seated([f"{kind} {number}" for number, kind in enumerate(kinds)])
    minds = [PLAYERS[kind](player.name, seed) for player, kind in zip(players, kinds, strict=True)]
    table, moves = tsuro.deal(tsuro.start(players), seed % 35), []
    for player, mind in zip(players, minds, strict=True):
        table = tsuro.deal(table, 3)
        before = time.perf_counter()
        _, fields = mind.initial(tsuro.board(table), tsuro.hand(table), player.token)
        moves.append(Move(player, fields, time.perf_counter() - before))
        token, placement = fields["token"], {field: value for field, value in fields.items() if field != "token"}
        fine = token == player.token and tsuro.may_start(table, player, **placement)
        table = tsuro.begin(table, player, **placement) if fine else tsuro.eject(table, player)
    while not tsuro.over(table):
        for player, mind in zip(players, minds, strict=True):
            if tsuro.playing(table, player):
                table = tsuro.deal(table, 2)
                before = time.perf_counter()
                _, fields = mind.intermediate(tsuro.board(table), tsuro.hand(table), player.token)
                moves.append(Move(player, fields, time.perf_counter() - before))
                fine = tsuro.may_place(table, player, **fields)
                table = tsuro.place(table, player, **fields) if fine else tsuro.eject(table, player)
    return table, moves


def tournament(kinds: Sequence[str], games: int) -> None:
    """Play so many games and print how often each kind wins."""
    wins: dict[str, float] = defaultdict(float)
    ejected: Counter[str] = Counter()
    thought: dict[str, list[float]] = defaultdict(list)
    for seed in range(games):
        first = seed // 35 % len(kinds)
        table, moves = play([*kinds[first:], *kinds[:first]], seed)
        outcome = tsuro.result(table)
        for winner in outcome["winners"]:
            wins[winner.split()[0]] += 1 / len(outcome["winners"])
        ejected.update(name.split()[0] for name in outcome["cheaters"])
        for move in moves:
            thought[move.player.name.split()[0]].append(1000 * move.seconds)
    print(f"{' '.join(kinds)}: {games} games")
    for kind, count in Counter(kinds).items():
        times = thought[kind]
        print(
            f"  {kind:8} x{count}  wins {wins[kind] / games:6.1%} (by chance {count / len(kinds):3.0%}),"
            f"  ejected in {ejected[kind] / games / count:4.0%},"
            f"  thinks {sum(times) / len(times):.1f} ms, {max(times):.0f} ms at most",
            flush=True,
        )


def speed(games: int) -> None:
    """Print how many games a second the rules carry: the moves are known, so only the rules run."""
    known = [play(["second"] * 5, seed)[1] for seed in range(35)]
    players = seated([f"second {number}" for number in range(5)])
    begun, placements = time.perf_counter(), 0
    for game in range(games):
        table = tsuro.deal(tsuro.start(players), game % 35)
        for move in known[game % 35]:
            first, fields, player = "port" in move.fields, move.fields, move.player
            table = tsuro.deal(table, 3 if first else 2)
            tsuro.board(table), tsuro.hand(table)
            if first:
                tile, port, x, y = fields["tile"], fields["port"], fields["x"], fields["y"]
                assert tsuro.may_start(table, player, tile, port, x, y)
                table = tsuro.begin(table, player, tile, port, x, y)
            else:
                tile, x, y = fields["tile"], fields["x"], fields["y"]
                assert tsuro.playing(table, player)
                assert tsuro.may_place(table, player, tile, x, y)
                table = tsuro.place(table, player, tile, x, y)
            placements += 1
        tsuro.result(table)
    took = time.perf_counter() - begun
    print(
        f"rules alone: {games / took:.0f} games of five players a second, {1e6 * took / placements:.1f} us a placement"
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--games", type=int, default=200)
    arguments.add_argument("lineups", nargs="*", default=LINEUPS, help="kinds of players, with commas between")
    given = arguments.parse_args()
    for lineup in given.lineups:
        tournament(lineup.split(","), given.games)
    speed(500)


if __name__ == "__main__":
    main()
