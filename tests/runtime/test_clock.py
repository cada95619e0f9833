"""Alarms are armed lazily, bytes of one turn of the loop share a stamp, and lateness is noted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from runtime.network.clock import LoopClock, make_clock
from tests.runtime.virtual import VirtualLoop

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    return virtual_backend


@pytest.mark.parametrize(
    ("settings", "rings"),
    [
        ([5.0], [5.0]),
        ([5.0, 9.0], [5.0]),
        ([9.0, 5.0], [5.0]),
        ([9.0, 5.0, 7.0, 3.0], [3.0]),
        ([0.0], [0.0]),
        ([-0.01], [0.0]),
        ([-1.0], [-1.0]),  # long due as it is set: the host stood still before
    ],
)
async def test_an_alarm_rings_once_at_the_earliest_moment_it_was_set_for(
    settings: list[float], rings: list[float]
) -> None:
    rung: list[float] = []
    async with anyio.create_task_group() as tasks:
        clock = make_clock(tasks)
        began = clock.now()
        alarm = clock.alarm(lambda: rung.append(clock.now() - began))
        for seconds in settings:
            alarm.set(began + seconds)
        await anyio.sleep(100)

        assert rung == pytest.approx(rings)


async def test_an_alarm_can_be_set_again_once_it_has_rung() -> None:
    rung: list[float] = []

    def ring() -> None:
        rung.append(clock.now() - began)
        if len(rung) < 3:
            alarm.set(clock.now() + 2)

    async with anyio.create_task_group() as tasks:
        clock = make_clock(tasks)
        began = clock.now()
        alarm = clock.alarm(ring)
        alarm.set(began + 1)
        await anyio.sleep(100)

    assert rung == pytest.approx([1, 3, 5])


async def test_a_closed_alarm_never_rings() -> None:
    rung: list[float] = []
    async with anyio.create_task_group() as tasks:
        clock = make_clock(tasks)
        alarm = clock.alarm(lambda: rung.append(clock.now()))
        alarm.set(clock.now() + 1)
        alarm.close()
        alarm.set(clock.now() + 0.5)
        await anyio.sleep(100)

    assert rung == []


class SlowLoop(VirtualLoop):
    """A virtual loop in which things can take time."""

    def __init__(self) -> None:
        super().__init__()
        self.worked = 0.0

    def time(self) -> float:
        return super().time() + self.worked


def on_slow_loop(test: Callable[[SlowLoop, LoopClock], Any]) -> None:
    loop = SlowLoop()
    try:
        loop.run_until_complete(test(loop, LoopClock(loop)))
    finally:
        loop.close()


def test_bytes_of_one_turn_of_the_loop_have_one_stamp() -> None:
    async def turns(loop: SlowLoop, clock: LoopClock) -> None:
        stamps: list[float] = []

        def handle() -> None:
            stamps.append(clock.stamp())
            loop.worked += 0.2

        for _ in range(3):
            loop.call_soon(handle)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        loop.call_soon(handle)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

        assert stamps == pytest.approx([0.0, 0.0, 0.0, 0.6])
        assert clock.lag_max == pytest.approx(0.6)

    on_slow_loop(turns)


def test_while_the_host_stands_still_so_does_the_clock_and_that_is_lag() -> None:
    async def late(loop: SlowLoop, clock: LoopClock) -> None:
        rung: list[float] = []
        alarm = clock.alarm(lambda: rung.append(clock.now()))
        alarm.set(1.0)
        loop.call_later(0.5, lambda: setattr(loop, "worked", 3.0))
        await asyncio.sleep(10)

        assert rung == pytest.approx([1.0])
        assert clock.lag_max == pytest.approx(2.5)

    on_slow_loop(late)
