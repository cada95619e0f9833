"""How well the players of Trains play, and how long they think: games between a strong one and those by rote.

    python -m benchmarks.trains [GAMES]

Each game has four players, two strong ones and two of another kind, in seats that turn from game to game, on a map and
with cards by the game's number. A game counts for the kind whose player is alone in front; where both are, by half.
The table ends with the work for the longest path that a map of 20 cities and 40 connections may need.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations
from random import Random
from statistics import mean
from time import perf_counter

from rules import trains
from rules.players.trains import PLAYERS
from rules.players.trains_maps import made_map
from rules.trains_paths import longest_path

GAMES = 200


def game(kinds: Sequence[str], number: int, times: list[float]) -> tuple[trains.Table, float]:
    """Play a game and return its table and the share of it that the first kind named ``strong`` won."""
    submitted = made_map(number)
    names = tuple(f"{kind} {place}" for place, kind in enumerate(kinds))
    players = {name: PLAYERS[kind](name, number) for name, kind in zip(names, kinds, strict=True)}
    table = trains.start(names, submitted, number)
    for name in names:
        offer = trains.offer(table)
        players[name].heard("setup", {"map": submitted})
        table = trains.seat(table, name, offer, players[name].pick(offer.destinations)[1]["unwanted"])
    while not trains.over(table):
        name = trains.mover(table)
        begun = perf_counter()
        message, fields = players[name].play(trains.state(table, name))
        if name.startswith("strong"):
            times.append(perf_counter() - begun)
        if message == "connection" and trains.may_acquire(table, name, fields["connection"]):
            table = trains.acquire(table, name, fields["connection"])
        elif message == "more_cards":
            table = trains.draw(table, name) if trains.has_cards(table) else trains.skip(table, name)
        else:
            table = trains.kick(table, name)
    groups = trains.ranking(table)
    strong = {name.startswith("strong") for name in groups[0]} if groups else set()
    return table, 0.5 if len(strong) == 2 else float(strong == {True})


def seats(other: str, number: int) -> tuple[str, ...]:
    """Return who sits where in a game: two of each kind, in one of six orders."""
    places = list(combinations(range(4), 2))[number % 6]
    return tuple("strong" if place in places else other for place in range(4))


def slowest_path(count: int) -> float:
    """Return the longest time, in seconds, that the longest path took of so many maps of 20 cities, 40 connections."""
    chance = Random(1)
    slowest = 0.0
    for _ in range(count):
        pairs = chance.sample(list(combinations([f"city {i:2}" for i in range(20)], 2)), 40)
        connections = [(*pair, "red", chance.choice((3, 4, 5))) for pair in pairs]
        begun = perf_counter()
        longest_path(connections)
        slowest = max(slowest, perf_counter() - begun)
    return slowest


def main() -> None:
    """Print a line for each kind that strong plays against, and one for the longest path."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else GAMES
    for other in ("hold-10", "buy-now", "random"):
        times: list[float] = []
        own: list[int] = []
        others: list[int] = []
        won = 0.0
        for number in range(games):
            table, share = game(seats(other, number), number, times)
            won += share
            for player in trains.result(table)["players"]:
                (own if player["player"].startswith("strong") else others).append(player["points"] or 0)
        print(
            f"strong against {other:8} {games} games: won {won / games:4.0%}, "
            f"points {mean(own):5.1f} to {mean(others):5.1f}, "
            f"a turn {1000 * mean(times):.1f} ms, at most {1000 * max(times):.0f} ms"
        )
    print(f"longest path of 20 cities and 40 connections: {1000 * slowest_path(50):.0f} ms at most of 50")


if __name__ == "__main__":
    main()
