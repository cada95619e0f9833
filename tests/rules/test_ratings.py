"""Ratings, fitted to matches between players of known strength: intervals hold that as often as they say."""

from __future__ import annotations

from math import log
from random import Random

import pytest

from rules.schedules.ratings import ELO, ratings
from rules.schedules.standings import Played

PLAYERS = 12


def played(random: Random, strengths: list[float], rounds: int, size: int) -> list[Played]:
    """Return rounds at tables of ``size``: who is first, and then second, as likely as the strengths' odds have it."""
    found = []
    for _ in range(rounds):
        order = random.sample(range(len(strengths)), len(strengths))
        for start in range(0, len(order), size):
            luck = {player: strengths[player] - log(-log(random.random())) for player in order[start : start + size]}
            found.append(Played(tuple([(player,) for player in sorted(luck, key=lambda one: -luck[one])])))
    return found


def held(events: int, spread: float, rounds: int, size: int) -> float:
    """Return the share of players whose strength is in its interval; they scatter by ``spread``, 1 is 174 Elo."""
    random, inside = Random(f"{spread} {rounds} {size}"), 0
    for event in range(events):
        drawn = [random.gauss(0, spread) for _ in range(PLAYERS)]
        strengths = [strength - sum(drawn) / PLAYERS for strength in drawn]
        found = ratings(PLAYERS, played(random, strengths, rounds, size), event)
        inside += sum(abs(one.elo - ELO * true) <= one.margin for one, true in zip(found, strengths, strict=True))
    return inside / (events * PLAYERS)


WHOLE = pytest.mark.whole


@pytest.mark.parametrize(
    ("events", "spread", "rounds", "size"),
    [
        (60, 0.3, 24, 2),
        (60, 1.0, 24, 2),
        (60, 1.5, 24, 2),
        (10, 1.0, 6, 4),
        pytest.param(25, 0.3, 6, 4, marks=WHOLE),
        pytest.param(25, 1.5, 12, 3, marks=WHOLE),
    ],
)
def test_of_a_hundred_intervals_some_ninety_five_hold_the_strength(
    events: int, spread: float, rounds: int, size: int
) -> None:
    assert 0.93 <= held(events, spread, rounds, size) <= 0.985


@pytest.mark.parametrize(("rounds", "size"), [(3, 2), (5, 2), (3, 4), pytest.param(3, 3, marks=WHOLE)])
def test_after_few_matches_intervals_are_too_wide_rather_than_too_narrow(rounds: int, size: int) -> None:
    assert held(25, 1.0, rounds, size) >= 0.94


def test_the_same_end_twice_makes_nobody_certain() -> None:
    match = Played(((0,), (1,), (2,)))

    assert min(one.margin for one in ratings(3, [match, match])) > 150


@pytest.mark.parametrize("size", [2, 4])
def test_the_order_of_matches_makes_no_difference(size: int) -> None:
    random = Random(size)
    matches = played(random, [0.0] * PLAYERS, 5, size)
    other = random.sample(matches, len(matches))

    assert other != matches
    assert ratings(PLAYERS, other, 1) == ratings(PLAYERS, matches, 1)


def test_who_won_all_has_a_rating_and_equal_players_are_equal() -> None:
    matches = [Played(((0,), (1,))), Played(((0,), (2,))), Played(((1, 2),))]
    first, second, third = ratings(3, matches)

    assert first.elo > 100 > 0 > second.elo
    assert (second.elo, second.margin) == pytest.approx((third.elo, third.margin), abs=0.001)
    assert abs(first.elo + second.elo + third.elo) < 1e-6
