"""A strategy that wants to know is told when its time runs out, in its thread, and when nobody waits any more."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import anyio
import pytest

from runtime.players.strategy import StrategyPlayer

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


class Thinker:
    """Thinks until it is told to decide; answers with how long it took."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.done = threading.Event()

    def late(self) -> bool:
        return False

    def move(self) -> float:
        self.begun.set()
        before = time.monotonic()
        while not self.late() and time.monotonic() < before + 10:
            self.done.wait(0.001)
        self.done.set()
        return time.monotonic() - before

    def glance(self) -> bool:
        return self.late()


@pytest.mark.xdist_group("time")
async def test_a_strategy_is_told_to_decide_when_most_of_its_time_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "accord.players")

    began = time.monotonic()  # its clock runs from here, though a busy machine may start its thread later
    await StrategyPlayer(Thinker(), "thinker").decide("move", (), (), 0.2)

    assert 0.13 < time.monotonic() - began < 2
    assert "player thinker was told to decide: of 0.2 s for move most were gone" in caplog.text


@pytest.mark.parametrize("seconds", [None, 60.0])
async def test_a_strategy_in_good_time_is_not_hurried(seconds: float | None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "accord.players")

    assert await StrategyPlayer(Thinker(), "thinker").decide("glance", (), (), seconds) is False
    assert not caplog.records


async def test_a_strategy_that_nobody_waits_for_stops_thinking() -> None:
    thinker = Thinker()
    player: Any = StrategyPlayer(thinker, "thinker")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(player.decide, "move", (), (), 60.0)
        await anyio.to_thread.run_sync(thinker.begun.wait, 10)
        tasks.cancel_scope.cancel()

    assert await anyio.to_thread.run_sync(thinker.done.wait, 5)
    assert await player.decide("glance", (), (), 60.0) is False
