"""A game in memory, under virtual time: silent peers, and a connection cut after byte n, for every n."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.engine.session import Program
from runtime.network.anyio_transport import TaskConnection
from runtime.network.clock import make_clock
from runtime.network.memory_transport import MemoryStream, memory_streams
from runtime.sessions.driver import SessionDriver
from runtime.sessions.opening import open_host
from tests.runtime.sums import Adder, answer_all, next_line, sums

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    return virtual_backend


def seat(host: SessionDriver, tasks: Any) -> MemoryStream:
    ours, theirs = memory_streams()
    connection = TaskConnection(ours, "memory")
    tasks.start_soon(connection.run)
    host.connect(connection)
    return theirs


async def game(program: Program, bytes_max: int, *, then_close: bool) -> tuple[Any, float]:
    """Play with one good client and one that sends so many bytes; return the scores and how long it took."""
    said = [b'{"name": "x"}', *(json.dumps({"sum": 2 * number}).encode() for number in (1, 2))]

    async def be_cut(stream: MemoryStream) -> None:
        left = bytes_max
        waiting = bytearray()
        for message in said:
            await stream.send(message[:left])
            left -= len(message)
            if left < 0:
                break
            await next_line(stream, waiting)
        while not then_close and await next_line(stream, waiting):
            pass
        await stream.aclose()

    async def be_good(stream: MemoryStream) -> None:
        await answer_all(stream)
        await stream.aclose()

    async with anyio.create_task_group() as tasks:
        host = open_host(program, tasks, make_clock(tasks))
        host.start()
        tasks.start_soon(be_cut, seat(host, tasks))
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(be_good, seat(host, tasks))
        ended = await host.over()
        took = anyio.current_time()
        await host.release()
        tasks.cancel_scope.cancel()
    assert ended.failed is None
    return ended.value, took


@pytest.mark.parametrize("then_close", [True, False], ids=["closed", "silent"])
async def test_wherever_a_peer_stops_the_game_ends_and_the_other_has_its_points(
    tmp_path: Path, then_close: bool
) -> None:
    program = sums(tmp_path, rounds="2", sign_up="20 s")["server"]
    reason = "closed" if then_close else "late"

    for bytes_max in range(35):
        began = anyio.current_time()
        scores, ended = await game(program, bytes_max, then_close=then_close)

        signed_up, first, second = bytes_max >= 13, bytes_max >= 13 + 10, bytes_max >= 13 + 10 + 10
        if not signed_up:
            expected: Any = None
        else:
            expected = (True if first else reason, True)
            expected += (True if second else reason if first else "closed", True)
        assert (bytes_max, scores) == (bytes_max, expected)
        if signed_up and not then_close:
            # On asyncio it takes anyio a tenth of a second to see that all tasks wait.
            assert ended - began == pytest.approx(0.0 if second else 5.0, abs=0.2)


async def test_a_client_whose_server_is_not_there_any_more_ends_as_failed(tmp_path: Path) -> None:
    program = sums(tmp_path)["client"]
    async with anyio.create_task_group() as tasks:
        host = open_host(program, tasks, make_clock(tasks), my={"name": "Ann"}, player=Adder())
        ours, theirs = memory_streams()
        connection = TaskConnection(ours, "memory")
        tasks.start_soon(connection.run)
        host.start([connection])
        assert json.loads(await theirs.receive()) == {"name": "Ann"}
        await theirs.aclose()

        ended = await host.over()

        assert ended.value is None
        assert ended.failed is not None
        assert "closed" in ended.failed
        await host.release()
        tasks.cancel_scope.cancel()
