"""A host that was busy or stopped reads all its sockets before a clock rings, and what had come in time is in time."""

from __future__ import annotations

import socket
from time import monotonic

import anyio
import pytest

from runtime.network.clock import LATE_SECONDS, make_clock
from runtime.network.transport import Connection, listen

pytestmark = pytest.mark.anyio

STALL_SECONDS = 4 * LATE_SECONDS


def burn(seconds: float) -> None:
    """Hold the loop, as a slow rule does."""
    end = monotonic() + seconds
    while monotonic() < end:
        pass


@pytest.mark.parametrize("dear", [False, True], ids=["elsewhere", "by a message"])
async def test_what_came_in_time_is_heard_in_time_though_the_host_stood_still(stock: bool, dear: bool) -> None:
    log: list[tuple[str, float]] = []
    both_here, rung = anyio.Event(), anyio.Event()
    async with anyio.create_task_group() as tasks:
        clock = make_clock(tasks)
        made: list[Connection] = []

        def admit(connection: Connection) -> None:
            def heard(chunk: bytes) -> None:
                log.append((chunk.decode(), clock.stamp()))
                if chunk == b"dear":
                    honest.send(b"honest")
                    burn(STALL_SECONDS)

            made.append(connection)
            connection.start(heard, lambda why: None, lambda: None)
            if len(made) == 2:
                both_here.set()

        def ring() -> None:
            log.append(("ring", clock.now()))
            rung.set()

        listener = await listen("127.0.0.1", 0, tasks, stock=stock)
        await listener.serve(admit)
        with (
            socket.create_connection(("127.0.0.1", listener.port)) as honest,
            socket.create_connection(("127.0.0.1", listener.port)) as other,
        ):
            with anyio.fail_after(10):
                await both_here.wait()
            due = clock.now() + LATE_SECONDS
            clock.alarm(ring).set(due)
            if dear:
                other.send(b"dear")
            else:
                honest.send(b"honest")
                burn(STALL_SECONDS)
            with anyio.fail_after(10):
                await rung.wait()
            assert [what for what, _ in log] == ["dear"] * dear + ["honest", "ring"]
            assert log[-2][1] <= due <= log[-1][1] + 0.002
            assert clock.lag_max > LATE_SECONDS
            for connection in made:
                connection.abort()
        await listener.close()
        tasks.cancel_scope.cancel()


async def test_an_alarm_rings_though_the_host_stands_still_again_and_again() -> None:
    rung = anyio.Event()
    async with anyio.create_task_group() as tasks:
        clock = make_clock(tasks)
        clock.alarm(rung.set).set(clock.now() + 0.001)
        for _ in range(6):
            burn(2 * LATE_SECONDS)
            await anyio.lowlevel.checkpoint()
        with anyio.fail_after(10):
            await rung.wait()
        tasks.cancel_scope.cancel()
