"""Players of ours conform, of every kind that is meant to, and each way not to conform is seen."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from runtime.players.base import Arguments, DecisionError, GenericPlayer, Player, RawAnswer
from runtime.testing import NonconformanceError
from runtime.testing.player import check_player
from tests.runtime.sums import SPEC

pytestmark = pytest.mark.anyio
ADDER = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if "ask" in said:
        print(json.dumps({"sum": said["arguments"]["a"] + said["arguments"]["b"]}), flush=True)
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def sums(tmp_path: Path) -> str:
    (tmp_path / "sums.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "adder.py").write_text(ADDER, encoding="utf-8")
    return str(tmp_path / "sums.yaml")


async def test_a_strategy_of_a_game_conforms() -> None:
    assert await check_player("tsuro", "second", seeds=range(1)) > 5


async def test_a_program_conforms(sums: str) -> None:
    program = f"exec:{sys.executable} {Path(sums).with_name('adder.py')}"

    assert await check_player(sums, program, seeds=range(2)) == 6


class Adder(GenericPlayer):
    """Adds; for others to break."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        return ("SUM", {"sum": sum(value for _, value in arguments)})


class Mute(Adder):
    async def decide(self, *_: Any) -> Any:
        raise DecisionError("it does not know")


class Raising(Adder):
    async def decide(self, *_: Any) -> Any:
        raise ValueError("it does not work")


class Foreign(Adder):
    async def decide(self, *_: Any) -> Any:
        return ("ADD", {"a": 1, "b": 2})


class Garbled(Adder):
    async def decide(self, *_: Any) -> Any:
        return RawAnswer(b"no JSON")


class Wrong(Adder):
    async def decide(self, *_: Any) -> Any:
        return ("SUM", {"sum": "many"})


class Moody(Adder):
    """Answers in one form and then in the other, all its life long."""

    forms: Iterator[Callable[[Any], Any]] = cycle((dict, lambda fields: ("SUM", fields)))

    async def decide(self, question: str, arguments: Arguments, *_: Any) -> Any:
        return next(Moody.forms)({"sum": sum(value for _, value in arguments)})


class Chatty(Adder):
    def heard(self, message: str, fields: dict[str, Any]) -> Any:
        return message


def maker(kind: Callable[[int], Player]) -> Callable[..., Any]:
    @asynccontextmanager
    async def make(_: str, *, seed: int, **__: Any) -> AsyncIterator[Player]:
        yield kind(seed)

    return make


async def test_a_player_of_ones_own_conforms(sums: str) -> None:
    assert await check_player(sums, "random", make_player=maker(Adder), seeds=range(1)) == 3


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Mute, "it has no answer: it does not know"),
        (Raising, "it raised ValueError, not DecisionError"),
        (Foreign, "it answered ADD, which is none of SUM"),
        (Garbled, "it misbehaves: RawAnswer"),
        (Wrong, "it lost: player1 .*sum|its client failed: .*sum"),
        (Moody, "the same seed must give the same game"),
        (Chatty, "heard returned 'ADD'"),
    ],
)
async def test_what_does_not_conform_is_seen(sums: str, kind: Callable[[int], Player], text: str) -> None:
    with pytest.raises(NonconformanceError, match=text):
        await check_player(sums, "random", make_player=maker(kind), seeds=range(1))
