"""A covering array: of all rows so few that every combination of so many columns' values is still there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from math import ceil
from random import Random
from typing import Any

Part = tuple[tuple[int, Any], ...]


def parts(row: Sequence[Any], strength: int) -> frozenset[Part]:
    """Return the combinations of so many columns' values that a row has; of a narrower row the whole."""
    return frozenset(combinations(enumerate(row), min(strength, len(row))))


def covering(rows: Sequence[Sequence[Any]], strength: int = 2) -> list[int]:
    """Return the numbers of few rows that have all parts which any row has; each next one has the most new parts."""
    of_row = [parts(row, strength) for row in rows]
    missing = frozenset[Part]().union(*of_row)
    chosen = []
    worth = sorted(((len(own), -number) for number, own in enumerate(of_row)), reverse=True)
    while missing:
        # What a row is worth only falls: those that were worth less before need no second look.
        best, most = -1, 0
        for index, (at_most, number) in enumerate(worth):
            if at_most <= most:
                break
            new = len(of_row[-number] & missing)
            worth[index] = (new, number)
            if new > most:
                best, most = -number, new
        chosen.append(best)
        missing -= of_row[best]
        worth.sort(reverse=True)
    return sorted(chosen)


def sample(numbers: Iterable[int], chosen: Collection[int], share: float, random: Random) -> list[int]:
    """Return a share of the numbers that are not chosen, at least one of them where there are any."""
    left = [number for number in numbers if number not in chosen]
    return random.sample(left, ceil(len(left) * share))
