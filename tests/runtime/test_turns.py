"""Peers are heard in turn: whoever sends without pause gets a bounded share, and nothing of it is lost or reordered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import SocketStream, TaskGroup

from runtime.network.asyncio_transport import LoopConnection
from runtime.network.transport import READ_BYTES, TURN_BYTES, Connection, listen

pytestmark = pytest.mark.anyio

NUMBERED = b"".join(b"%07d\n" % number for number in range(READ_BYTES * 3 // 8))


class Heard:
    """An owner of a connection that notes what it is given: chunks, the end, the release."""

    def __init__(self, log: list[tuple[str, bytes]], name: str, connection: Connection) -> None:
        self.name = name
        self.log = log
        self.connection = connection
        self.chunks: list[bytes] = []
        self.tail: list[str] = []
        self.pauses = False
        self.closes = False
        self.closed = anyio.Event()
        connection.start(self.on_bytes, lambda why: self.tail.append("end"), self.on_closed)

    def on_bytes(self, chunk: bytes) -> None:
        assert not self.tail, "nothing comes behind the end"
        self.chunks.append(chunk)
        self.log.append((self.name, chunk))
        if self.pauses:
            self.connection.pause()
        if self.closes:
            self.connection.abort()

    def on_closed(self) -> None:
        self.tail.append("closed")
        self.closed.set()


class Door:
    """A listener, and what came through it; while it is ``held``, a connection is heard only once it is resumed."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.log: list[tuple[str, bytes]] = []
        self.heard: list[Heard] = []
        self.held = False
        self.streams: list[SocketStream] = []  # the other ends

    def admit(self, connection: Connection) -> None:
        heard = Heard(self.log, f"peer {len(self.heard)}", connection)
        self.heard.append(heard)
        if self.held:
            connection.pause()

    async def peers(self, count: int) -> list[SocketStream]:
        for _ in range(count):
            self.streams.append(await anyio.connect_tcp("127.0.0.1", self.port))
            while len(self.heard) < len(self.streams):
                await anyio.lowlevel.checkpoint()
        return self.streams[-count:]


@asynccontextmanager
async def door(stock: bool) -> AsyncIterator[Door]:
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            listener = await listen("127.0.0.1", 0, tasks, stock=stock)
            made = Door(listener.port)
            await listener.serve(made.admit)
            try:
                yield made
            finally:
                with anyio.CancelScope(shield=True):  # a connection lives on until it is closed, whatever is cancelled
                    await listener.close()
                    for heard in made.heard:
                        heard.connection.abort()
                    for heard in made.heard:
                        await heard.closed.wait()
                    for stream in made.streams:
                        await anyio.aclose_forcefully(stream)
            tasks.cancel_scope.cancel()


async def send_all(streams: list[SocketStream], data: bytes, tasks: TaskGroup) -> None:
    """Have ``data`` underway to all, as much of it as the kernel takes, before anybody is heard."""
    for stream in streams:
        tasks.start_soon(stream.send, data)
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


async def until_all_is_heard(heard: list[Heard], size: int) -> None:
    while any(sum(map(len, one.chunks)) < size for one in heard):
        await anyio.lowlevel.checkpoint()


async def test_what_a_peer_sends_at_once_is_handed_over_in_pieces_and_in_order(stock: bool) -> None:
    async with door(stock) as made, anyio.create_task_group() as tasks:
        (stream,) = await made.peers(1)
        await send_all([stream], NUMBERED, tasks)
        await until_all_is_heard(made.heard, len(NUMBERED))

        assert b"".join(made.heard[0].chunks) == NUMBERED
        assert max(map(len, made.heard[0].chunks)) <= TURN_BYTES


async def test_between_two_turns_of_the_loop_only_one_of_many_that_flood_is_heard(stock: bool) -> None:
    async with door(stock) as made, anyio.create_task_group() as tasks:
        made.held = True
        streams = await made.peers(4)
        await send_all(streams, NUMBERED, tasks)
        for heard in made.heard:
            heard.connection.resume()
        handed_over = []
        while sum(len(chunk) for _, chunk in made.log) < 4 * len(NUMBERED):
            before = len(made.log)
            await anyio.lowlevel.checkpoint()
            handed_over.append(sum(len(chunk) for _, chunk in made.log[before:] if len(chunk) >= TURN_BYTES))

        # A turn of the loop and the next, as this task may run first in the one and last in the other.
        assert max(handed_over) <= 2 * TURN_BYTES
        assert [b"".join(heard.chunks) for heard in made.heard] == [NUMBERED] * 4


async def test_a_quiet_peer_is_heard_amid_a_flood(stock: bool) -> None:
    async with door(stock) as made, anyio.create_task_group() as tasks:
        made.held = True
        *flooders, quiet = await made.peers(9)
        await send_all(flooders, NUMBERED, tasks)
        for heard in made.heard:
            heard.connection.resume()
        while not made.log:
            await anyio.lowlevel.checkpoint()
        sent_at = len(made.log)
        await quiet.send(b"hello\n")
        await until_all_is_heard(made.heard[8:], 6)
        waited = sum(len(chunk) for _, chunk in made.log[sent_at:-1])

        # Handed over meanwhile: a few pieces, where one read of each flooder would be 512 KiB.
        assert waited <= 8 * TURN_BYTES
        await until_all_is_heard(made.heard[:8], len(NUMBERED))


async def test_the_end_of_a_stream_comes_behind_all_its_bytes(stock: bool) -> None:
    async with door(stock) as made:
        (stream,) = await made.peers(1)
        half = NUMBERED[: READ_BYTES // 2]
        await stream.send(half)
        await stream.aclose()
        while "end" not in made.heard[0].tail:
            await anyio.lowlevel.checkpoint()

        assert b"".join(made.heard[0].chunks) == half


async def test_a_pause_between_two_pieces_holds_the_rest_until_it_is_over(stock: bool) -> None:
    async with door(stock) as made, anyio.create_task_group() as tasks:
        (stream,) = await made.peers(1)
        heard = made.heard[0]
        heard.pauses = True
        await send_all([stream], NUMBERED, tasks)
        for size in range(1, 6):
            while len(heard.chunks) < size:
                await anyio.lowlevel.checkpoint()
            for _ in range(10):
                await anyio.lowlevel.checkpoint()
            assert len(heard.chunks) == size
            heard.connection.resume()
        heard.pauses = False
        await until_all_is_heard([heard], len(NUMBERED))

        assert b"".join(heard.chunks) == NUMBERED


async def test_a_connection_closed_between_two_pieces_hears_no_more_and_is_released_once(stock: bool) -> None:
    async with door(stock) as made, anyio.create_task_group() as tasks:
        (stream,) = await made.peers(1)
        heard = made.heard[0]
        heard.closes = True
        await send_all([stream], NUMBERED, tasks)
        await heard.closed.wait()
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()

        assert (len(heard.chunks), heard.tail) == (1, ["closed"])


class NoTransport:
    """Stands in for asyncio's; it says nothing of itself."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *words, **named: None


@pytest.mark.parametrize("paused", [False, True], ids=["reading", "paused"])
@pytest.mark.parametrize("loss", ["lost", "end then lost", "lost before the start", "lost and closed"])
def test_a_loss_comes_behind_the_bytes_that_came_before_it_and_is_told_once(loss: str, paused: bool) -> None:
    async def run() -> Heard:
        connection = LoopConnection(lambda accepted: None)
        connection.connection_made(cast(asyncio.Transport, NoTransport()))
        if loss != "lost before the start":
            heard = Heard([], "peer", connection)
        connection.get_buffer(-1)[: len(half)] = half
        connection.buffer_updated(len(half))
        if paused:
            connection.pause()
        if loss == "end then lost":
            connection.eof_received()
        connection.connection_lost(ConnectionResetError())
        if loss == "lost before the start":
            heard = Heard([], "peer", connection)
        elif loss == "lost and closed":
            connection.close_after_flush()
        await heard.closed.wait()
        for _ in range(2 * len(half) // TURN_BYTES):
            await asyncio.sleep(0)
        return heard

    half = NUMBERED[: READ_BYTES // 2]
    heard = asyncio.run(asyncio.wait_for(run(), 10))

    if loss == "lost and closed":
        assert heard.tail == ["closed"]
        assert half.startswith(b"".join(heard.chunks))
    else:
        assert heard.tail == ["end", "closed"]
        assert b"".join(heard.chunks) == half
