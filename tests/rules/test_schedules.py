"""Schedules: who meets whom, in which seat; standings and tie-breaks."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from rules.schedules import knockout_bracket
from rules.schedules.groups import group_round, sizes
from rules.schedules.pairings import Round, gauntlet, round_robin, turned
from rules.schedules.standings import Played, groups_of, points, table
from rules.schedules.swiss import swiss_round


def pairs(rounds: list[Round]) -> Counter[frozenset[int]]:
    return Counter(frozenset(table) for tables in rounds for table in tables)


def seated(tables: Round) -> list[int]:
    return [player for table in tables for player in table]


@settings(deadline=None)  # a busy machine
@given(some.integers(2, 40))
def test_in_a_round_robin_each_pair_meets_once_and_seats_are_balanced(count: int) -> None:
    rounds = [*round_robin(count)]

    assert len(rounds) == count - 1 + count % 2
    assert pairs(rounds) == {frozenset((one, other)): 1 for one in range(count) for other in range(one)}
    assert all(len(set(seated(tables))) == len(seated(tables)) == count - count % 2 for tables in rounds)
    first = Counter(table[0] for tables in rounds for table in tables)
    second = Counter(table[1] for tables in rounds for table in tables)
    assert all(abs(first[player] - second[player]) <= 1 for player in range(count))


@settings(deadline=None)  # a busy machine
@given(some.integers(2, 20), some.data())
def test_in_a_gauntlet_the_chosen_meet_everybody_once_and_nobody_else_meets(count: int, data: some.DataObject) -> None:
    chosen = data.draw(some.sets(some.integers(0, count - 1), min_size=1))
    rounds = [*gauntlet(count, sorted(chosen))]

    everybody = range(count)
    assert pairs(rounds) == {frozenset((one, other)): 1 for one in chosen for other in everybody if one != other}
    assert all(len(set(seated(tables))) == len(seated(tables)) for tables in rounds)


@settings(deadline=None)  # a busy machine
@given(some.integers(2, 60), some.integers(0, 1000))
def test_a_knock_out_ends_with_one_who_lost_to_nobody_and_byes_go_to_the_best(count: int, seed: int) -> None:
    random = Random(seed)
    slots = knockout_bracket.bracket(count)
    lost: list[int] = []
    first = knockout_bracket.tables(slots)
    byes = set(range(count)) - set(seated(first))
    assert byes == set(range(len(byes)))
    while tables := knockout_bracket.tables(slots):
        winners = {pair: random.choice(pair) for pair in tables}
        lost += [player for pair in tables for player in pair if player != winners[pair]]
        slots = knockout_bracket.through(slots, winners)

    assert len(set(lost)) == len(lost) == count - 1
    assert knockout_bracket.left(slots) == 1


def test_the_best_two_meet_last() -> None:
    slots = knockout_bracket.bracket(16)
    while len(slots) > 2:
        slots = knockout_bracket.through(slots, {pair: min(pair) for pair in knockout_bracket.tables(slots)})
    assert slots == (0, 1)


@settings(deadline=None)  # a busy machine
@given(some.integers(4, 30), some.integers(0, 1000), some.data())
def test_in_swiss_rounds_nobody_meets_twice_and_byes_are_one_at_most(
    count: int, seed: int, data: some.DataObject
) -> None:
    random = Random(seed)
    rounds = data.draw(some.integers(1, count // 2))
    scores = dict.fromkeys(range(count), 0.0)
    history: list[Round] = []
    byes: Counter[int] = Counter()
    for _ in range(rounds):
        tables = swiss_round(scores, history, range(count))
        assert len(set(seated(tables))) == len(seated(tables)) == count - count % 2
        for player in set(range(count)) - set(seated(tables)):
            byes[player] += 1
            scores[player] += 1
        for table_ in tables:
            scores[random.choice(table_)] += 1
        history.append(tables)

    assert max(pairs(history).values()) == 1  # with no more rounds than half the players there is always a way
    assert not byes or max(byes.values()) == 1


def test_three_hundred_players_are_paired_over_nine_rounds() -> None:
    scores = dict.fromkeys(range(301), 0.0)
    history: list[Round] = []
    for _ in range(9):
        history.append(swiss_round(scores, history, range(301)))
        for one, other in history[-1]:
            scores[min(one, other)] += 1

    assert max(pairs(history).values()) == 1
    assert all(len(tables) == 150 for tables in history)
    leads = Counter(table[0] for tables in history for table in tables)
    leads.subtract(table[1] for tables in history for table in tables)
    assert max(map(abs, leads.values())) <= 2


@pytest.mark.parametrize("seed", range(5))
def test_in_swiss_rounds_nobody_is_first_or_second_twice_more_often_than_the_other(seed: int) -> None:
    random, scores = Random(seed), dict.fromkeys(range(60), 0.0)
    history: list[Round] = []
    for _ in range(9):
        history.append(swiss_round(scores, history, range(60)))
        for pair in history[-1]:
            scores[random.choice(pair)] += 1

    leads = Counter(table[0] for tables in history for table in tables)
    leads.subtract(table[1] for tables in history for table in tables)
    assert max(pairs(history).values()) == 1
    assert max(map(abs, leads.values())) <= 2


def test_where_all_have_met_the_fewest_meet_again() -> None:
    history: list[Round] = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    tables = swiss_round({0: 3, 1: 2, 2: 1, 3: 0}, history, range(4))
    assert len(set(seated(tables))) == 4


@settings(deadline=None)  # a busy machine
@given(some.integers(3, 40), some.integers(2, 5), some.integers(0, 3), some.integers(0, 99))
def test_groups_seat_as_many_as_can_be_and_let_the_same_sit_out_no_more_than_once_more(
    count: int, low: int, more: int, seed: int
) -> None:
    high = low + more
    history: list[Round] = []
    for number in range(4):
        history.append(group_round(range(count), history, low, high, seed + number))
    sat = Counter(player for tables in history for player in seated(tables))
    for tables in history:
        assert len(set(seated(tables))) == len(seated(tables)) == sum(sizes(count, low, high))
        assert all(low <= len(table_) <= high for table_ in tables)
    if sum(sizes(count, low, high)):
        assert max(sat.values()) - min(sat[player] for player in range(count)) <= 1


def test_seats_are_turned_round_from_game_to_game() -> None:
    assert [turned((4, 7, 2), game) for game in range(4)] == [(4, 7, 2), (7, 2, 4), (2, 4, 7), (4, 7, 2)]


def test_who_is_at_fault_is_last_and_who_is_in_no_group_before_them() -> None:
    match = groups_of([5, 6, 7, 8], [[6], [], [5, 8]], [8])
    assert match.groups == ((6,), (5,), (7,), (8,))
    assert match.places() == {6: 1, 5: 2, 7: 3, 8: 4}
    assert points(match, None) == {6: 3, 5: 2, 7: 1, 8: 0}
    assert points(match, [5, 2]) == {6: 5, 5: 2, 7: 0, 8: 0}


def test_whom_nothing_parts_share_a_rank_and_tie_breaks_are_asked_in_their_order() -> None:
    won = [Played(((0,), (1,))), Played(((1,), (2,))), Played(((2,), (3,))), Played(((0, 3),))]
    scored = [(match, points(match, None)) for match in won]
    rows = table(range(4), scored, {}, ["head-to-head", "buchholz"])

    assert [(row.rank, row.player, row.points) for row in rows] == [(1, 0, 1.5), (2, 1, 1.0), (3, 2, 1.0), (4, 3, 0.5)]
    assert rows[1].ties == (1.0, 2.5)
    assert [row.rank for row in table(range(4), [], {}, ["wins"])] == [1, 1, 1, 1]
