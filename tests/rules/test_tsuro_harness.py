"""The harnesses of Tsuro: what they answer to small boards, and what they say of input that is none."""

from __future__ import annotations

from typing import Any

import pytest

from rules.harnesses.tsuro import HARNESSES, HarnessError
from rules.tsuro_board import BoardError

RED = [2, 0, "red", "A", 0, 0]  # straight down from A to F, out of the south side
NEVER = [[token, " never played"] for token in ("white", "black", "green", "blue")]


def asked(harness: str, *values: Any) -> list[Any]:
    return list(HARNESSES[harness](values))


def status(red: list[Any]) -> list[Any]:
    return [*NEVER[:2], red, *NEVER[2:]]


def test_a_path_leaves_a_tile_where_it_joins_two_ports_however_it_is_turned() -> None:
    assert asked("xtile", [2, 0, "A"], [2, 90, "C"], [2, 180, "F"]) == [
        ["if ", port, " is the entrance, ", leaves, " is the exit."] for port, leaves in ("AF", "CH", "FA")
    ]
    assert asked("xtile") == []


def test_a_token_is_told_with_the_tile_it_stands_on_turned_as_little_as_looks_alike() -> None:
    stands = status(["red", 2, 0, "F", 0, 0])
    gone_on = status(["red", 2, 0, "F", 0, 1])  # half a turn changes nothing of this tile

    assert asked("xboard", [], [RED], [RED, ["red", 2, 180, 0, 1]]) == [
        status(["red", " never played"]),
        stands,
        gone_on,
    ]
    assert asked("xboard", [RED, [2, 0, "red", "A", 5, 0]]) == [status(["red", 2, 0, "F", 5, 0])], "where it was last"
    assert asked("xboard-each", [RED, ["red", 2, 180, 0, 1]]) == [stands + gone_on]


def test_a_later_placement_is_judged_by_the_rules_in_either_form() -> None:
    fine, elsewhere = [["red", 2, 0, 0, 1], 2, 3], [["red", 2, 0, 1, 0], 2, 3]
    nobody, not_dealt = [["blue", 2, 0, 0, 1], 2, 3], [["red", 4, 0, 0, 1], 2, 3]

    assert asked("xrules", [RED], fine, [RED], elsewhere, [RED, nobody], [RED, not_dealt], [RED, fine]) == [
        "legal", "illegal", "illegal", "illegal", "legal",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("harness", "values", "text"),
    [
        ("xtile", [[35, 0, "A"]], "no tile, 35 are numbered from 0"),
        ("xtile", [[True, 0, "A"]], "no tile"),
        ("xtile", [[2, 45, "A"]], "turned by 0, 90, 180 or 270"),
        ("xtile", [[2, 0, "I"]], "no tile and port"),
        ("xtile", [[2, 0, "AB"]], "no tile and port"),
        ("xtile", [7], "no tile and port: 7"),
        ("xboard", [7], "no list of placements: 7"),
        ("xboard", [[7]], "no placement: 7"),
        ("xboard", [[[2, 0, "pink", "A", 0, 0]]], "no first placement"),
        ("xboard", [[[2, 0, "red", "AB", 5, 0]]], "no first placement"),
        ("xboard", [[[2, 0, "red", "A", 10, 0]]], "no square of the board, or one that is taken"),
        ("xboard", [[RED, ["red", 2, 0, 0, 0]]], "no square of the board, or one that is taken"),
        ("xboard", [[["red", 2, 0, "0", 0]]], "no square of the board"),
        ("xboard-each", [[["pink", 2, 0, 0, 0]]], "no placement"),
        ("xrules", [[RED]], "a placement to be judged should follow"),
        ("xrules", [[RED], [["red", 2, 0, 0, 1]]], "no placement to be judged, and a hand"),
        ("xrules", [[RED], [["red", 2, 0, 0, 1], "2"]], "no tile"),
    ],
)
def test_what_is_no_input_is_told_with_the_value(harness: str, values: list[Any], text: str) -> None:
    with pytest.raises(HarnessError, match=text):
        asked(harness, *values)


def test_a_path_that_is_a_loop_is_told() -> None:
    # Four tiles, each turned a quarter on, lead round the corner that they share.
    ring = [["red", 4, 90, 5, 4], ["red", 4, 180, 5, 5], ["red", 4, 270, 4, 5]]

    with pytest.raises(BoardError, match="the path of red is a loop"):
        asked("xboard", [[4, 0, "red", "D", 4, 4], *ring])
