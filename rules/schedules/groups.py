"""Rounds at tables of several players: all sit down in each round, as often as can be with others than before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random

from rules.schedules.pairings import Round, Table

TRIES = 20  # draws of a round, of which the one with the fewest meetings again is taken


def sizes(count: int, low: int, high: int) -> tuple[int, ...]:
    """Return the sizes of the tables of a round, the largest first: as few as can be, and as equal.

    Where ``count`` players cannot be seated at tables of ``low`` to ``high``, as many as can are.

    >>> sizes(11, 3, 5), sizes(6, 4, 4), sizes(7, 4, 5)
    ((4, 4, 3), (4,), (5,))
    """
    for playing in range(count, 0, -1):
        tables = -(-playing // high)
        if tables * low <= playing:
            return tuple([(playing + table) // tables for table in range(tables)][::-1])
    return ()


def group_round(players: Sequence[int], history: Sequence[Round], low: int, high: int, seed: int) -> Round:
    """Return the next round of ``players``: who has sat out most often plays, and meets new faces if it can.

    ``seed`` decides between draws that are as good; the same gives the same round.
    """
    random = Random(seed)
    met: Counter[frozenset[int]] = Counter()
    sat: Counter[int] = Counter()
    for tables in history:
        for table in tables:
            met.update(frozenset(pair) for pair in combinations(table, 2))
            sat.update(table)
    wanted = sizes(len(players), low, high)
    best: tuple[int, Round] | None = None
    for _ in range(TRIES):
        drawn = list(players)
        random.shuffle(drawn)
        drawn = sorted(drawn, key=lambda player: sat[player])[: sum(wanted)]
        random.shuffle(drawn)
        cost, tables = _filled(drawn, wanted, met)
        if best is None or cost < best[0]:
            best = (cost, tables)
    return tuple([_in_seats(table, history) for table in best[1]]) if best is not None else ()


def _filled(drawn: list[int], wanted: Sequence[int], met: Counter[frozenset[int]]) -> tuple[int, Round]:
    """Return how often the players of a draw meet again, and the tables, filled one player after another."""
    left = list(drawn)
    tables: list[Table] = []
    total = 0
    for size in wanted:
        table = [left.pop(0)]
        while len(table) < size:
            again = [sum(met[frozenset((player, other))] ** 2 for other in table) for player in left]
            total += min(again)
            table.append(left.pop(again.index(min(again))))
        tables.append(tuple(table))
    return total, tuple(tables)


def _in_seats(table: Table, history: Sequence[Round]) -> Table:
    """Return a table in the order of its seats: who has sat nearest the front so far sits behind."""
    behind: Counter[int] = Counter()
    for tables in history:
        for other in tables:
            behind.update({player: 2 * seat + 1 - len(other) for seat, player in enumerate(other)})
    return tuple(sorted(table, key=lambda player: (-behind[player], table.index(player))))
