"""The real session behind the runtime: over loopback sockets by every way, with peers of every kind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from machines.effects import Ended
from machines.engine.session import Program
from runtime.sessions.client import join
from runtime.sessions.server import serve
from tests.runtime.sums import Adder, answer_all, next_line, sums

pytestmark = pytest.mark.anyio


class Game:
    def __init__(self, programs: dict[str, Program], stock: bool) -> None:
        self.programs = programs
        self.stock = stock
        self.port = 0
        self.ended: Ended | None = None

    async def connect(self) -> SocketStream:
        return await anyio.connect_tcp("127.0.0.1", self.port)

    async def join(self, name: str) -> Ended:
        addresses = {"server": ("127.0.0.1", self.port)}
        return await join(self.programs["client"], addresses, Adder(), my={"name": name}, stock=self.stock)


@asynccontextmanager
async def game(folder: Path, stock: bool, **settings: str) -> AsyncIterator[Game]:
    """Serve a game; when the block is left, wait until it has ended."""
    found = Game(sums(folder, **settings), stock)
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        found.port = port
        listening.set()

    async def run() -> None:
        found.ended = await serve(found.programs["server"], on_listening=on_listening, stock=stock)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await listening.wait()
            yield found


async def test_a_server_and_two_clients_play_to_the_end(tmp_path: Path, stock: bool) -> None:
    ends: dict[str, Ended] = {}

    async def play(name: str) -> None:
        ends[name] = await table.join(name)

    async with game(tmp_path, stock) as table, anyio.create_task_group() as clients:
        clients.start_soon(play, "Ann")
        clients.start_soon(play, "Bob")

    assert table.ended == Ended((True,) * 6, None)
    assert ends == {"Ann": Ended((True,) * 6, None), "Bob": Ended((True,) * 6, None)}


@pytest.mark.parametrize("piece", [1, 3])
async def test_it_does_not_matter_in_what_pieces_messages_come(tmp_path: Path, stock: bool, piece: int) -> None:
    async with game(tmp_path, stock) as table, await table.connect() as one, await table.connect() as two:
        got: list[Any] = []
        async with anyio.create_task_group() as clients:
            clients.start_soon(keep, got, lambda: answer_all(one, piece=piece))
            clients.start_soon(keep, got, lambda: answer_all(two))

        assert got == [[True] * 6] * 2


async def keep(results: list[Any], play: Callable[[], Awaitable[Any]]) -> None:
    results.append(await play())


async def leave_early(stream: SocketStream) -> None:
    await stream.send(b'{"name": "x"}')
    await next_line(stream, bytearray())
    await stream.send(b'{"su')
    await stream.aclose()


async def say(stream: SocketStream, what: bytes) -> None:
    """Sign up, say something when asked, and wait to be dropped."""
    await stream.send(b'{"name": "x"}')
    waiting = bytearray()
    await next_line(stream, waiting)
    try:
        await stream.send(what)
    except anyio.BrokenResourceError:
        return  # dropped before all of it was out
    while await next_line(stream, waiting):
        pass


@pytest.mark.parametrize(
    ("misbehave", "reason"),
    [
        (leave_early, "closed"),
        (lambda stream: say(stream, b"hello"), "malformed"),
        (lambda stream: say(stream, b'{"sum": 1,,}'), "malformed"),
        (lambda stream: say(stream, b"[" * 100), "malformed"),
        (lambda stream: say(stream, b"garbage! " * (10 << 17)), "malformed"),
        (lambda stream: say(stream, b'{"sum": "' + b"x" * (10 << 20) + b'"}'), "malformed"),
        (lambda stream: say(stream, b'{"difference": 1}'), "unknown"),
        (lambda stream: say(stream, b'{"name": "x"}'), "unexpected"),
        (lambda stream: say(stream, b'{"sum": 0}'), "illegal"),
    ],
    ids=[
        "leaves",
        "no JSON",
        "bad JSON",
        "deep",
        "10 MB of garbage",
        "10 MB in a text",
        "unknown",
        "unexpected",
        "wrong",
    ],
)
async def test_a_bad_peer_is_told_apart_and_harms_nobody_else(
    tmp_path: Path, stock: bool, misbehave: Callable[[SocketStream], Coroutine[Any, Any, None]], reason: str
) -> None:
    async with game(tmp_path, stock, rounds="1") as table, await table.connect() as bad, await table.connect() as good:
        scores: list[Any] = []
        async with anyio.create_task_group() as clients:
            clients.start_soon(misbehave, bad)
            clients.start_soon(keep, scores, lambda: answer_all(good))

    assert table.ended is not None
    assert sorted(map(str, table.ended.value)) == sorted(["True", reason])
    assert [sorted(map(str, score)) for score in scores] == [sorted(["True", reason])]


async def test_connections_that_nobody_wants_are_closed_and_the_game_goes_on(tmp_path: Path, stock: bool) -> None:
    async with game(tmp_path, stock, rounds="1") as table:
        wanted = [await table.connect() for _ in range(2)]
        waiting = bytearray()
        for stream in wanted:
            await stream.send(b'{"name": "x"}')
        await next_line(wanted[0], waiting)  # both are seated: the first question has come
        late = [await table.connect() for _ in range(50)]
        assert [await next_line(stream, bytearray()) for stream in late] == [b""] * 50
        for stream in late:
            await stream.aclose()
        await wanted[0].send(b'{"sum": 2}')
        await next_line(wanted[1], bytearray())
        await wanted[1].send(b'{"sum": 2}')
        assert await next_line(wanted[0], waiting) == b'{"over":[true,true]}'
        for stream in wanted:
            await stream.aclose()

    assert table.ended == Ended((True, True), None)
