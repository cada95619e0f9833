"""docs/players.md and the bot beside it: what they say is so, and the bot plays whole games by the rules."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.parser.loader import load, rules_modules
from rules.tsuro_board import BESIDE, OFF, port_of, spot_of
from rules.views.tsuro import EXPLANATION
from runtime.players.registry import kinds
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "players.md").read_text(encoding="utf-8")
BOT = f"exec:{shlex.quote(sys.executable)} -I -S {shlex.quote(str(ROOT / 'docs' / 'tsuro_bot.py'))}"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("count", [3, 5])
async def test_the_bot_plays_a_whole_game_and_is_never_ejected(count: int) -> None:
    spec = load("tsuro", {"seats": f"{count}..{count}"})
    seats = [Participant(f"bot{number}", BOT, number) for number in range(count)]
    with anyio.fail_after(60):
        game = await play(spec, rules_modules(spec), seats, server="server", client="client", seed=1)

    assert game.ended is not None
    assert game.ended.failed is None
    assert game.ended.value["cheaters"] == ()
    assert game.ended.value["rounds"] > 0
    assert [outcome.failed for outcome in game.players] == [None] * count


def test_every_line_in_json_is_json() -> None:
    lines = re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    values: list[Any] = [json.loads(line) for block in lines for line in block.splitlines()]
    told = [text.replace("[…]", "[]") for text in re.findall(r"`(\{\"[^`]*\})`", DOCUMENT)]

    assert values[0]["message"] == "INIT_PLACE"
    assert list(values[0]["holes"].values()) == values[1], "both forms say the same"
    assert [next(iter(json.loads(text))) for text in told] == [
        *("player", "heard", "ask", "cancel"),
        *("ready", "ready"),
    ]
    assert [value.keys() - {"number"} for value in values[2:]] == [{"message", "holes"}, {"answer"}]


def test_every_general_kind_is_told_of() -> None:
    for kind in kinds(load("tsuro")):
        if not kind.startswith(("first", "second", "strong", "illegal")):
            assert f"`{kind}`" in DOCUMENT or f"--player {kind}" in DOCUMENT, kind


def test_paths_go_on_where_the_document_says() -> None:
    rows = re.findall(r"^\| (\w), (\w) \| .*?`x([-+]1)?, y([-+]1)?` \| (\w), (\w) \|$", DOCUMENT, re.MULTILINE)

    assert len(rows) == 4
    for first, second, right, down, over_first, over_second in rows:
        for port, over in ((first, over_first), (second, over_second)):
            there = (over, 5 + int(right or 0), 5 + int(down or 0))
            assert port_of(BESIDE[spot_of(port, 5, 5)]) == there


def test_ports_on_the_boards_edge_are_those_the_document_says() -> None:
    for ports, x, y in (("AB", 5, 0), ("CD", 9, 5), ("EF", 5, 9), ("GH", 0, 5)):
        assert {port for port in "ABCDEFGH" if BESIDE[spot_of(port, x, y)] == OFF} == set(ports)
    assert "(A or B where y = 0, C or D where x = 9, E or F where y = 9, G or H where x = 0)" in DOCUMENT


def test_a_person_sees_the_ports_as_the_document_draws_them() -> None:
    drawing = re.search(r"```\n(      A   B\n.*?)```", DOCUMENT, re.DOTALL)

    assert drawing is not None
    for row, told in zip(drawing[1].splitlines(), EXPLANATION.splitlines(), strict=True):
        assert told.startswith(row)
