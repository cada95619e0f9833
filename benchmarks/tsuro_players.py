"""How often each Tsuro player wins, how long it thinks, and how fast the rules are without players.

    python -m benchmarks.tsuro_players [--games 200] [--against second,second ...]

Every game has another seed. A seed decides where in the order of the tiles dealing begins (a game of the rules starts
at the first; beginning elsewhere gives other games under the same rules), who sits where, and the chance of players
that use it. A win shared with others counts as its share.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rules import tsuro
from rules.players.tsuro import PLAYERS


@dataclass(frozen=True)
class Someone:
    name: str
    token: str


def play(kinds: Sequence[str], seed: int, thought: dict[str, list[float]] | None = None) -> tsuro.Table:
    """Return the table at the end of a game of these kinds, seated in this order."""
    players: list[Someone] = []
    for i, kind in enumerate(kinds):
        players.append(Someone(f"{kind}-{i}", tsuro.free_token(players)))
    minds = {player: PLAYERS[kind](player.name, seed) for player, kind in zip(players, kinds, strict=True)}
    table = tsuro.deal(tsuro.start(players), seed % 35)

    def ask(player: Someone, question: str) -> dict[str, Any]:
        before = time.perf_counter()
        _, holes = getattr(minds[player], question)(tsuro.board(table), tsuro.hand(table), player.token)
        if thought is not None:
            thought.setdefault(player.name.split("-")[0], []).append(time.perf_counter() - before)
        del before
        return dict(holes)

    for player in players:
        table = tsuro.deal(table, 3)
        holes = ask(player, "initial")
        fine = holes.pop("token") == player.token and tsuro.may_start(table, player, **holes)
        table = tsuro.begin(table, player, **holes) if fine else tsuro.eject(table, player)
    while not tsuro.over(table):
        for player in players:
            if tsuro.playing(table, player):
                table = tsuro.deal(table, 2)
                holes = ask(player, "intermediate")
                fine = tsuro.may_place(table, player, **holes)
                table = tsuro.place(table, player, **holes) if fine else tsuro.eject(table, player)
    return table


def tournament(kinds: Sequence[str], games: int) -> None:
    """Play so many games, each seat order in turn, and print the share of wins of each kind."""
    wins: Counter[str] = Counter()
    ejected: Counter[str] = Counter()
    thought: dict[str, list[float]] = {}
    for seed in range(games):
        turn = seed // 35 % len(kinds)
        table = play([*kinds[turn:], *kinds[:turn]], seed, thought)
        outcome = tsuro.result(table)
        for winner in outcome["winners"]:
            wins[winner.split("-")[0]] += 1 / len(outcome["winners"])  # type: ignore[assignment]
        ejected.update(name.split("-")[0] for name in outcome["cheaters"])
    print(f"{' '.join(kinds)}, {games} games:")
    for kind, count in Counter(kinds).items():
        times = thought[kind]
        print(
            f"  {kind:8} x{count} wins {wins[kind] / games:6.1%} (its share by chance {count / len(kinds):4.0%}),"
            f" ejected {ejected[kind] / games / count:4.0%} of games,"
            f" thinks {1000 * sum(times) / len(times):.1f} ms, {1000 * max(times):.0f} ms at most"
        )


def speed(games: int) -> None:
    """Print how many games a second the rules carry: the moves are known, only the rules run."""
    recordings = []
    for seed in range(35):
        moves: list[tuple[int, dict[str, Any] | None]] = []
        players: list[Someone] = []
        for i in range(5):
            players.append(Someone(str(i), tsuro.free_token(players)))
        minds = [PLAYERS["second"](player.name, seed) for player in players]
        table = tsuro.deal(tsuro.start(players), seed)
        for i, player in enumerate(players):
            table = tsuro.deal(table, 3)
            holes = minds[i].initial(tsuro.board(table), tsuro.hand(table), player.token)[1]
            del holes["token"]
            moves.append((i, holes))
            table = tsuro.begin(table, player, **holes)
        while not tsuro.over(table):
            for i, player in enumerate(players):
                if tsuro.playing(table, player):
                    table = tsuro.deal(table, 2)
                    holes = minds[i].intermediate(tsuro.board(table), tsuro.hand(table), player.token)[1]
                    moves.append((i, holes))
                    table = tsuro.place(table, player, **holes)
        recordings.append((players, moves))
    begun, count = time.perf_counter(), 0
    for game in range(games):
        players, moves = recordings[game % 35]
        table = tsuro.deal(tsuro.start(players), game % 35)
        for i, holes in moves:
            player = players[i]
            assert holes is not None
            first = "port" in holes
            table = tsuro.deal(table, 3 if first else 2)
            tsuro.board(table), tsuro.hand(table)
            if first:
                assert tsuro.may_start(table, player, **holes)
                table = tsuro.begin(table, player, **holes)
            else:
                assert tsuro.playing(table, player)
                assert tsuro.may_place(table, player, **holes)
                table = tsuro.place(table, player, **holes)
            count += 1
        tsuro.result(table)
    took = time.perf_counter() - begun
    print(f"rules alone: {games / took:.0f} games of five a second, {1e6 * took / count:.1f} us a placement")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--games", type=int, default=200)
    arguments.add_argument("lineups", nargs="*", default=["strong,second,second", "strong,first,first"])
    given = arguments.parse_args()
    for lineup in given.lineups:
        tournament(lineup.split(","), given.games)
    speed(300)


if __name__ == "__main__":
    main()
