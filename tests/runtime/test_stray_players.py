"""A player's code is a player's failure: what it raises or prints reaches neither the loop nor the result."""

from __future__ import annotations

import sys
from typing import Any

import anyio
import pytest

from machines.parser.loader import load
from runtime.players.base import DecisionError, UnknownPlayerError
from runtime.players.registry import open_player
from runtime.players.strategy import StrategyPlayer

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


class Stray:
    """Raises what its question is named after."""

    def leave(self) -> None:
        sys.exit(5)

    def interrupt(self) -> None:
        raise KeyboardInterrupt

    def base(self) -> None:
        raise BaseException("of my own")

    def stop(self) -> Any:
        return next(iter(()))

    async def wait(self) -> str:
        return "MOVE"

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        sys.exit(0)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("leave", "raised in leave: SystemExit: 5"),
        ("interrupt", "raised in interrupt: KeyboardInterrupt"),
        ("base", "raised in base: BaseException: of my own"),
        ("stop", "raised in stop: StopIteration"),
        ("wait", "raised in wait: TypeError: an async method does not answer"),
    ],
)
async def test_what_a_method_raises_is_no_answer_and_nothing_more(question: str, text: str) -> None:
    with anyio.fail_after(10), pytest.raises(DecisionError, match=text):
        await StrategyPlayer(Stray(), "stray").decide(question, (), ("MOVE",), 5.0)


async def test_an_exit_in_the_last_news_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    player = StrategyPlayer(Stray(), "stray")
    player.heard("ENDED", {})

    with anyio.fail_after(10):
        await player.say_farewell()

    assert "player stray raised in heard: SystemExit: 0" in caplog.text


class ExitsWhenMade:
    """Ends the process instead of being made."""

    def __init__(self, name: str, seed: int) -> None:
        sys.exit(3)


async def test_an_exit_when_a_player_is_made_is_told_as_one_sentence() -> None:
    kind = f"python:{__name__}:ExitsWhenMade"
    with pytest.raises(UnknownPlayerError, match=r"could not be made with .*SystemExit: 3"):
        async with open_player(kind, spec=load("sticks"), name="ann", seed=1):
            pass
