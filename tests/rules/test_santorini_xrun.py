"""``accord rules santorini xrun``: tournaments in one process, by kinds of players."""

from __future__ import annotations

from typing import Any

import pytest

from rules.harnesses.santorini import HARNESSES, HarnessError


def run(*players: Any) -> Any:
    (answer,) = HARNESSES["xrun"]([{"players": [list(player) for player in players], "observers": []}])
    return answer


def test_who_breaks_rules_or_never_answers_is_expelled_and_loses_to_all_it_met() -> None:
    expelled, rows = run(("good", "ann", "a.so"), ("infinite", "bob", "b.so"), ("breaker", "cyd", "c.so"))

    assert expelled == ["bob", "cyd"]
    assert rows == [["ann", "bob"], ["ann", "cyd"]]


def test_a_series_of_two_that_are_expelled_is_left_out() -> None:
    """Two that never answer: the first to be asked is out; so the other still meets the good one, and is out too."""
    expelled, rows = run(("infinite", "ann", ""), ("infinite", "bob", ""), ("good", "cyd", ""))

    assert expelled == ["ann", "bob"]
    assert rows == [["cyd", "bob"]]


def test_good_players_play_a_series_each_with_each_and_somebody_wins() -> None:
    expelled, rows = run(("good", "ann", ""), ("good", "bob", ""), ("good", "cyd", ""))

    assert expelled == []
    assert sorted(sorted(row) for row in rows) == [["ann", "bob"], ["ann", "cyd"], ["bob", "cyd"]]
    assert run(("good", "ann", ""), ("good", "bob", ""), ("good", "cyd", "")) == [expelled, rows]


def test_a_name_that_is_taken_is_padded() -> None:
    assert run(("good", "ann", ""), ("breaker", "ann", "")) == [["anna"], [["ann", "anna"]]]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([], "one value"),
        ([{"players": [["good", "ann", ""]], "observers": []}], "two players or more"),
        ([{"players": [["good", "ann"], ["bad", "bob"]]}], "good, breaker, infinite"),
        ([{"players": [["good", "ann"], ["good", ""]]}], "got ['good', '']"),
        ([{"players": [["good", "ann"], "bob"]}], "got 'bob'"),
        ([{"players": {"good": "ann"}}], "two players or more"),
    ],
)
def test_another_value_is_refused_with_what_it_should_be(values: list[Any], told: str) -> None:
    with pytest.raises(HarnessError) as error:
        list(HARNESSES["xrun"](values))

    assert told in str(error.value)
