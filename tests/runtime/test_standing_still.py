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


@pytest.mark.parametrize("first", [False, True], ids=["the last to connect", "the first to connect"])
async def test_many_dear_messages_at_once_make_nobody_late_who_spoke_with_them(stock: bool, first: bool) -> None:
    """Eight connections have sent all but the last byte of what takes long to read, and send that together."""
    many = 8
    log: list[tuple[str, float]] = []
    all_here, almost, rung = anyio.Event(), anyio.Event(), anyio.Event()
    async with anyio.create_task_group() as tasks:
        clock = make_clock(tasks)
        made: list[Connection] = []
        held = 0

        def admit(connection: Connection) -> None:
            def heard(chunk: bytes) -> None:
                nonlocal held
                if chunk == b"[[[[":
                    held += 1
                    if held == many:
                        almost.set()
                    return
                log.append((chunk.decode(), clock.stamp()))
                if chunk == b"]":
                    burn(2 * LATE_SECONDS)

            made.append(connection)
            connection.start(heard, lambda why: None, lambda: None)
            if len(made) == many + 1:
                all_here.set()

        def ring() -> None:
            log.append(("ring", clock.now()))
            rung.set()

        listener = await listen("127.0.0.1", 0, tasks, stock=stock)
        await listener.serve(admit)
        sockets = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(many + 1)]
        honest = sockets.pop(0 if first else -1)
        try:
            with anyio.fail_after(20):
                await all_here.wait()
                for other in sockets:
                    other.send(b"[[[[")
                await almost.wait()
            due = clock.now() + LATE_SECONDS
            clock.alarm(ring).set(due)
            for other in sockets:
                other.send(b"]")
            honest.send(b"honest")
            with anyio.fail_after(20):
                await rung.wait()
            assert sorted(what for what, _ in log) == ["]"] * many + ["honest", "ring"]
            assert log[-1][0] == "ring", "no clock rings before all that had come is read"
            assert dict(log)["honest"] <= due, "it had come in time, however long the others held the loop"
        finally:
            for one in (honest, *sockets):
                one.close()
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


async def test_what_came_in_time_is_heard_before_an_alarm_that_is_set_once_the_host_has_stood_still(
    stock: bool,
) -> None:
    log: list[tuple[str, float]] = []
    rung = anyio.Event()
    async with anyio.create_task_group() as tasks:
        clock = make_clock(tasks)
        due = 0.0

        def ring() -> None:
            log.append(("ring", clock.now()))
            rung.set()

        def admit(connection: Connection) -> None:
            nonlocal due
            made.append(connection)
            connection.start(lambda chunk: log.append((chunk.decode(), clock.stamp())), lambda why: None, lambda: None)
            due = clock.now() + LATE_SECONDS
            honest.send(b"honest")
            burn(STALL_SECONDS)
            clock.alarm(ring).set(due)

        made: list[Connection] = []
        listener = await listen("127.0.0.1", 0, tasks, stock=stock)
        await listener.serve(admit)
        with socket.create_connection(("127.0.0.1", listener.port)) as honest:
            with anyio.move_on_after(10):
                await rung.wait()
                await anyio.lowlevel.checkpoint()
        for connection in made:
            connection.abort()
        await listener.close()
        tasks.cancel_scope.cancel()
    assert [what for what, _ in log] == ["honest", "ring"]
    assert log[0][1] <= due
