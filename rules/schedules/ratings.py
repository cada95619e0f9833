"""Ratings by the Bradley-Terry model, fitted once to all matches, so their order does not matter.

A match of several counts as one game of each two who sat there; a shared place as half a win each. Each player also has
one drawn game against the average, so that who has won all has a rating. Ratings are in Elo: 400 more are odds of 10:1.

Source: R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from operator import mul, truediv
from random import Random
from typing import Final

from rules.schedules.standings import Played, encounters

ELO: Final = 400 / log(10)
SWEEPS_MAX: Final = 500
CLOSE: Final = 1e-6  # of a natural unit, 174 Elo
RESAMPLES: Final = 100
SURE: Final = 1.96  # standard deviations, of 95 in 100

Games = Mapping[tuple[int, int], tuple[float, float]]  # (one, other), one < other: wins of one, games


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating in Elo, 0 on average, and how far off it may be: 95 of 100 such intervals hold the true one."""

    elo: float
    margin: float


def ratings(count: int, matches: Sequence[Played], seed: int = 0) -> list[Rating]:
    """Return the ratings of players 0 to ``count`` - 1.

    Where all matches are between two, the interval is that of the model's information. Where more sit at a table, what
    they do there hangs together: then matches are drawn anew RESAMPLES times, and the interval is how far the ratings
    scatter, or that of the information where it is wider: after two matches with the same end nothing scatters.
    ``seed`` is what the drawing goes by.
    """
    ordered = sorted(matches, key=lambda match: (match.groups, match.faults))
    games = _games(ordered)
    fitted = _fit(count, games, [0.0] * count)
    margins = [sqrt(variance) for variance in _variances(count, games, fitted)]
    if any(len(match.places()) > 2 for match in ordered):
        margins = [*map(max, margins, _scatter(count, ordered, fitted, Random(seed)))]
    return [Rating(ELO * value, ELO * SURE * margin) for value, margin in zip(fitted, margins, strict=True)]


def _games(matches: Sequence[Played]) -> Games:
    found: dict[tuple[int, int], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for match in matches:
        for one, other, score in encounters(match):
            pair, won = ((one, other), score) if one < other else ((other, one), 1 - score)
            wins, played = found[pair]
            found[pair] = (wins + won, played + 1)
    return dict(sorted(found.items()))


def _fit(count: int, games: Games, start: Sequence[float]) -> list[float]:
    """Return the natural ratings that make the games likeliest: Newton's step for one player after another."""
    beside: list[list[tuple[int, float, float]]] = [[] for _ in range(count)]
    for (one, other), (wins, played) in games.items():
        beside[one].append((other, wins, played))
        beside[other].append((one, played - wins, played))
    found = list(start)
    for _ in range(SWEEPS_MAX):
        moved = 0.0
        for player in range(count):
            chance = _chance(found[player])
            slope, bend = 0.5 - chance, chance * (1 - chance)
            for other, wins, played in beside[player]:
                chance = _chance(found[player] - found[other])
                slope += wins - played * chance
                bend += played * chance * (1 - chance)
            step = max(-1.0, min(1.0, slope / bend))
            found[player] += step
            moved = max(moved, abs(step))
        if moved < CLOSE:
            break
    middle = sum(found) / count
    return [value - middle for value in found]


def _chance(ahead: float) -> float:
    return 1 / (1 + exp(-ahead))


def _variances(count: int, games: Games, fitted: Sequence[float]) -> list[float]:
    """Return the variances of the ratings, each against the average of all."""
    rows = [[0.0] * count for _ in range(count)]
    for player, value in enumerate(fitted):
        rows[player][player] = _chance(value) * (1 - _chance(value))
    for (one, other), (_, played) in games.items():
        chance = _chance(fitted[one] - fitted[other])
        known = played * chance * (1 - chance)
        rows[one][one] += known
        rows[other][other] += known
        rows[one][other] -= known
        rows[other][one] -= known
    diagonal, sums = _inverse(rows)
    middle = sum(sums) / count
    # What is not known of all of them together is no matter: they are compared with their average.
    return [max(0.0, own - (2 * total - middle) / count) for own, total in zip(diagonal, sums, strict=True)]


def _inverse(matrix: list[list[float]]) -> tuple[list[float], list[float]]:
    """Return the diagonal of the inverse of a symmetric, positive definite matrix, and the sums of its rows.

    By its factors: it is L D L'.
    """
    count = len(matrix)
    lower: list[list[float]] = []  # L without its diagonal of ones
    middle: list[float] = []  # the diagonal of D
    for row in range(count):
        scaled: list[float] = []  # the row of L, times D
        for column in range(row):
            scaled.append(matrix[row][column] - sum(map(mul, scaled, lower[column])))
        lower.append(list(map(truediv, scaled, middle)))
        middle.append(matrix[row][row] - sum(map(mul, scaled, lower[row])))
    diagonal, sums = [0.0] * count, [0.0] * count
    inverse: list[list[float]] = []  # of L, its columns from the diagonal down
    for start in range(count):
        below = [1.0]
        for row in range(start + 1, count):
            below.append(-sum(map(mul, below, lower[row][start:])))
        diagonal[start] = sum(value * value / pivot for value, pivot in zip(below, middle[start:], strict=True))
        inverse.append(below)
    turned = [sum(inverse[column][row - column] for column in range(row + 1)) / middle[row] for row in range(count)]
    for start, below in enumerate(inverse):
        sums[start] = sum(map(mul, below, turned[start:]))
    return diagonal, sums


def _scatter(count: int, matches: Sequence[Played], fitted: Sequence[float], random: Random) -> list[float]:
    drawn = [_fit(count, _games(random.choices(matches, k=len(matches))), fitted) for _ in range(RESAMPLES)]
    found = []
    for player in range(count):
        values = [one[player] for one in drawn]
        middle = sum(values) / len(values)
        found.append(sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1)))
    return found
