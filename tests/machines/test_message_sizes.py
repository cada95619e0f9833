"""A game's limit for one message is what its messages need: the largest fits, and little more does."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from machines.messages.bodies import compile_message
from machines.parser.loader import load, shipped
from runtime.cli import main
from tests.parts import by_default

FACTOR = 8  # how many times the largest message the limit may be, for blanks, escapes and longer tournaments
SERVICES = {"http", "lsp", "memcached", "mqtt", "redis", "smtp"}  # whose values are as long as their users want

TILE = [["A", "B"], ["C", "D"], ["E", "F"], ["G", "H"]]
LONG_NAME = "x" * 102  # the longest that is given, and what makes a second of it another
MOST_PLAYERS = 20


def tsuro() -> tuple[str, Any]:
    """Every square has a tile, and the five names are of a hundred characters that JSON may write with twelve each."""
    starts = [[colour, "H", 9, 9] for colour in ("white", "black", "green", "blue", "red")]
    names = ["\N{GAME DIE}" * 100] * 5
    return "ENDED", [[[name] for name in names[:4]], names[4:], [[[TILE] * 10] * 10, starts]]


def trains() -> tuple[str, Any]:
    """A map of 400 cities, each with the longest name and joined to four others by all it may be joined by."""
    names = [f"{number:025}" for number in range(400)]
    cities = [[name, [800, 800]] for name in names]
    joined = {
        name: {other: {"green": 5} for other in names[index + 1 : index + 5]} for index, name in enumerate(names[:-1])
    }
    board = {"width": 800, "height": 800, "cities": cities, "connections": joined}
    return "setup", {"Map": board, "rails": 45, "Cards": ["green"] * 250}


def rows(each: int) -> list[list[str]]:
    """Each of twenty has played each other, ``each`` rows a series."""
    pairs = list(combinations([LONG_NAME] * MOST_PLAYERS, 2))
    return [list(pair) for pair in pairs for _ in range(each)]


LARGEST: dict[str, Callable[[], tuple[str, Any]]] = {
    "sticks": lambda: ("TAKEN", f"taken 3 by {'x' * 20}"),
    "tsuro": tsuro,
    "trains": trains,
    "trains-official": lambda: ("setup", official(trains()[1])),
    "santorini-relay": lambda: ("tournament_over", {"type": "tournament_over", "content": [True, rows(3)]}),
    "santorini-prompts": lambda: ("tournament_result", [[LONG_NAME] * MOST_PLAYERS, rows(3)]),
    "santorini-rulecheck": lambda: ("tournament_result", [[LONG_NAME] * MOST_PLAYERS, rows(1)]),
    "santorini-official": lambda: ("results", rows(3)),
}


def official(setup: dict[str, Any]) -> Any:
    """Return the arguments of the call that tells of a map, as the variant has them."""
    return ["setup", [setup["Map"], setup["rails"], setup["Cards"]]]


def test_every_game_that_is_shipped_is_looked_at() -> None:
    assert set(shipped()) == set(LARGEST) | SERVICES


@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_message_fits_and_the_limit_is_no_more_than_a_few_times_its_size(name: str) -> None:
    spec = load(name)
    message, value = LARGEST[name]()

    assert compile_message(spec.messages[message], spec.types).read(value) is not None
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    assert len(text) <= spec.wire.message_bytes_max <= FACTOR * len(text)


@pytest.mark.parametrize("name", by_default([*LARGEST], ["tsuro"]))
def test_no_message_of_whole_games_comes_near_the_limit(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", name, "--games", "2", "--seed", "1"]) == 0

    for line in capsys.readouterr().out.splitlines():
        assert not json.loads(line)["failed"], "of what is too long to be sent a session fails"
