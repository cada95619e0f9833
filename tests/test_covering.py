"""A covering part of a matrix leaves no pair out, is small, and is drawn again by the same seed."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tests.covering import covering, parts, sample

MATRIX = list(product("abcdefgh", range(7), (True, False)))


@pytest.mark.parametrize("strength", [1, 2, 3])
@pytest.mark.parametrize("rows", [MATRIX, [row for row in MATRIX if row[0] != "b" or row[1] > 4]], ids=["all", "gaps"])
def test_every_combination_that_there_is_is_in_a_row_that_was_chosen(
    rows: list[tuple[object, ...]], strength: int
) -> None:
    chosen = covering(rows, strength)

    there = [{part for row in some for part in parts(row, strength)} for some in (rows, [rows[n] for n in chosen])]
    assert there[0] == there[1]
    assert len(set(chosen)) == len(chosen)


def test_few_rows_are_chosen() -> None:
    assert len(covering(MATRIX, 1)) == 8
    assert 8 * 7 <= len(covering(MATRIX)) <= 8 * 7 + 4
    assert len(covering(MATRIX, 3)) == len(MATRIX)
    assert covering([]) == []


def test_rows_that_are_alike_are_chosen_once() -> None:
    assert covering([("a", 1), ("a", 1), ("b", 1)]) == [0, 2]


def test_a_sample_is_of_what_is_left_and_the_same_seed_draws_it_again() -> None:
    chosen = covering(MATRIX)
    drawn = sample(range(len(MATRIX)), chosen, 0.1, Random("1 name"))

    assert not set(drawn) & set(chosen)
    assert len(drawn) == len(set(drawn)) == 6
    assert drawn == sample(range(len(MATRIX)), chosen, 0.1, Random("1 name"))
    assert drawn != sample(range(len(MATRIX)), chosen, 0.1, Random("2 name"))
    assert sample(range(3), range(3), 0.1, Random(1)) == []
