"""Mistakes planted in a client of official Santorini, which knows nothing of Accord: each is found with its line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.cli import main
from tests.runtime.conforming.strangers import santorini_client

PROGRAM = Path(__file__).parent / "strangers" / "santorini_client.py"
SPEC = Path("specs/santorini-official.yaml").read_text().splitlines()

TYPES = {
    "sign_up": ("name-in-capitals", "no-name", "number-in-name", "name-is-a-number", "name-in-a-list"),
    "place": (
        *("texts-for-numbers", "halves", "truths", "place-of-three", "place-of-one", "both-places"),
        *("an-object", "json-in-a-text", "null", "garbage"),
    ),
    "turn": ("third-worker", "worker-is-a-number", "small-letters", "north-first"),
    "winning_move": ("turn-in-pairs",),  # three things in a list
}
RULES = {
    "place": ("off-the-board", "place-taken"),
    "turn": ("stays", "builds-below-itself", "foreign-worker", "leaps", "keeps-its-name"),
    "winning_move": ("does-not-build",),
    "give_up": ("gives-up-for-another",),
}
LIMITS = {"place": "if: santorini.may_place", "turn": "if: santorini.may_turn", "winning_move": "if: santorini.wins"}
LIMITS |= {"give_up": "give_up: {if: own == player.name"}
STATES = {
    "waiting/sends-only": (
        *("two-names", "greets-opponents", "places-twice", "moves-unasked", "moves-twice", "name-too-long"),
        "silent-at-first",
    ),
    "placing/sends-only": ("turn-for-place",),
    "turning/sends-only": ("place-for-turn", "turn-of-four", "turn-in-a-list", "gives-up-in-words"),
    "placing/within": ("never-places",),
    "turning/within": ("never-moves", "second-late", "leaves-when-asked", "leaves-once-placed"),
    "waiting/within": ("leaves-at-once", "leaves-opponents"),
    "waiting/on-closed": ("hangs-on-loss",),
}
# style -> (the requirement, what its line begins with)
PLANTED = {
    **{style: (f"client/type/{name}", f"{name}:") for name, styles in TYPES.items() for style in styles},
    **{style: (f"client/rules/{name}", LIMITS[name]) for name, styles in RULES.items() for style in styles},
    **{style: (f"client/main.{id_}", id_.split("/")[0] + ":") for id_, styles in STATES.items() for style in styles},
    "half-a-place": ("client/main.waiting/sends-only", "place:"),
    "gives-up-and-moves": ("sends-only", "waiting:|placing:"),  # where it stands when its move comes, nobody sees
    "ignores-the-end": ("client/main.always/hears-results", "waiting:"),
    "rest-lost": ("client/wire/cut", ""),
    "no-buffer": ("client/wire/cut", ""),
}
SOME = ("third-worker", "leaps")
LATE = ("silent-at-first", "never-places", "never-moves", "second-late", "rest-lost", "ignores-the-end")
CASES = {
    "keeps-its-name": "of2,seat1,seed7,called.stranger",
    **dict.fromkeys(("rest-lost", "no-buffer"), "of2,seat1,seed7,glued"),
    "hangs-on-loss": "of2,seat1,seed7,closed.main.waiting",
}


def asked(style: str, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    program = f"{sys.executable} {PROGRAM} {{host}} {{port}} {style}"
    code = main(["conform", "santorini-official", "client", "--run", program, "--json", *words])
    told = json.loads(capsys.readouterr().out)
    assert told["exit"] == code
    return told


def test_there_are_thirty_of_them() -> None:
    assert len(PLANTED) >= 30
    assert {*SOME, *LATE, *CASES} <= set(PLANTED)
    assert not set(PLANTED) & set(santorini_client.RIGHT)


@pytest.mark.parametrize(
    "style", [pytest.param(one, marks=() if one in SOME else pytest.mark.release) for one in sorted(PLANTED)]
)
def test_a_mistake_planted_in_a_client_is_found_with_its_line(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    id_, begins = PLANTED[style]
    case = CASES.get(style, "of2,seat1,seed7")
    late = ("--set", "think=1s", "--grace", "0.5") if style in LATE else ()
    told = asked(style, capsys, "--only", f"client/*@{case}", *late)

    fails = [one for one in told["requirements"] if one["verdict"] == "fail"]
    assert told["exit"] == (3 if style == "hangs-on-loss" else 1)
    assert len(fails) == 1
    assert fails[0]["id"].endswith(id_)
    line = SPEC[int(fails[0]["place"].split(":")[1]) - 1].strip()
    assert any(line.startswith(one) for one in begins.split("|")), line
    assert fails[0]["confirmed"] == [3, 3]


@pytest.mark.parametrize(
    "style", [pytest.param(one, marks=() if one == "plain" else pytest.mark.release) for one in santorini_client.RIGHT]
)
def test_a_right_client_is_not_accused_in_any_style(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    cases = ("of2,seat1,seed7,glued",) if style == "plain" else ("of2,seat1,seed7", "of2,seat0,seed7,bytes")
    told = asked(style, capsys, *(word for case in cases for word in ("--only", f"client/*@{case}")))

    assert [one["id"] for one in told["requirements"] if one["verdict"] == "fail"] == []
    assert [one["outcome"] for one in told["cases"]] == ["right"] * len(cases)


def test_what_a_client_may_always_do_without_leaves_nothing_open(capsys: pytest.CaptureFixture[str]) -> None:
    only = ("client/*/give_up", "client/*/place")
    told = asked("plain", capsys, *(word for one in only for word in ("--only", f"{one}@of2,seat1,seed7")))

    assert {one["id"]: one["verdict"] for one in told["requirements"] if one["verdict"] != "pass"} == {}
    assert [one["id"] for one in told["cases"]] == ["of2,seat1,seed7"]
    why = {one["id"]: one.get("why", "") for one in told["requirements"]}
    assert "never sent one" in why["client/type/give_up"]
    assert why["client/type/place"] == ""
    assert told["exit"] == 0


def test_what_only_a_namesake_is_told_is_heard_by_who_plays_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A client of ours that came before has the name that the program calls itself, once no game has shown that."""
    told = asked("plain", capsys, "--only", "client/main.waiting/hears-*", "-j", "4")

    assert {one["id"]: one["verdict"] for one in told["requirements"] if one["verdict"] != "pass"} == {}
    assert told["cases"][-1] == {
        "id": "of2,seat1,seed7,called.stranger", "class": "must", "outcome": "right", "why": ""
    }  # fmt: skip
    assert "hears-playing_as" in " ".join(one["id"] for one in told["requirements"])
