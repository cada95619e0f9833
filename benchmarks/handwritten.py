"""The rival: servers of the protocol of ``pairs.yaml`` as one would write them by hand, plain and good.

    `serve_tasks`      a task for each game, on our own transport (`runtime.network.transport`), with one
                       clock that is moved
    `serve_journaled`  the same, and every message in and out is written to a file, with its time, by the batch
    `serve_stock`      the same on anyio's own streams
    `serve_callbacks`  no tasks: each game is an object that the arriving bytes call, with a clock that is set again
                       only when it rings too early; the two tricks that our runtime uses
    `serve_callbacks_journaled`  the same, and every message is written to a file
    `serve_streams`    as most people would write it (`benchmarks.plain_servers`)
    `serve_threads`    the same with threads

They check what a careful program checks: the form of each message (msgspec, typed), the rules, the time. They know of
no framing but a newline after each value. Whatever they send is right by construction, and is not checked again.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import anyio
import msgspec
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from benchmarks import trivial
from benchmarks.batches import Batches
from benchmarks.plain_servers import serve_streams, serve_threads
from machines.model import Wire
from runtime.journal.writing import FLUSH_LINES, FLUSH_SECONDS
from runtime.network.transport import Connection, listen

JOIN_SECONDS = 10.0
REPLY_SECONDS = 5.0
LINE_BYTES_MAX = Wire().message_bytes_max

Cell = Annotated[int, msgspec.Meta(ge=0, le=35)]
Name = Annotated[str, msgspec.Meta(pattern="^[a-z0-9]{1,20}$")]


class Spot(msgspec.Struct, forbid_unknown_fields=True):
    tile: Cell
    x: int
    y: int


class Join(msgspec.Struct, array_like=True, tag="join", forbid_unknown_fields=True):
    name: Name


class Place(msgspec.Struct, array_like=True, tag="place", forbid_unknown_fields=True):
    game: str
    turn: int
    spot: Spot


class State(msgspec.Struct, tag="state"):
    game: str
    turn: int
    board: tuple[tuple[int, ...], ...]
    news: str


class Over(msgspec.Struct, array_like=True, tag="over"):
    turns: int


encode = msgspec.json.Encoder().encode
read_join = msgspec.json.Decoder(Join).decode
read_place = msgspec.json.Decoder(Place).decode
Failed = (msgspec.MsgspecError, UnicodeDecodeError, EOFError)


def request(table: trivial.Table) -> bytes:
    """Return the message that asks for a move."""
    return encode(State(table.game, table.turn, trivial.board(table), table.news)) + b"\n"


def judged(table: trivial.Table, line: bytes) -> trivial.Table:
    """Return the table after a move, or one that ends the game if it was none."""
    try:
        move = read_place(line)
    except Failed:
        return trivial.stop(table)
    spot = move.spot
    if trivial.may_place(table, move.game, move.turn, spot.tile, spot.x, spot.y):
        return trivial.place(table, spot.tile, spot.x, spot.y)
    return trivial.stop(table)


def lines(waiting: bytearray, chunk: bytes) -> Iterator[bytes]:
    """Yield the whole lines that a chunk completes; what is left waits."""
    if not waiting and chunk.find(b"\n") == len(chunk) - 1:
        yield chunk
        return
    waiting += chunk
    while (end := waiting.find(b"\n")) >= 0:
        yield bytes(waiting[: end + 1])
        del waiting[: end + 1]
    if len(waiting) > LINE_BYTES_MAX:
        raise EOFError


class Notes:
    """What is written down: a line of JSON for each message, in batches as our journal has them."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        self._waiting: list[tuple[float, int, int, str, bytes]] = []
        self._written_at = time.monotonic()

    def note(self, game: int, seat: int, way: str, data: bytes) -> None:
        """Note a message."""
        now = time.monotonic()
        self._waiting.append((now, game, seat, way, data))
        if len(self._waiting) >= FLUSH_LINES or now - self._written_at >= FLUSH_SECONDS:
            self._file.write(
                b"".join(
                    encode({"t": at, "game": game, "seat": seat, way: data.decode(errors="replace")}) + b"\n"
                    for at, game, seat, way, data in self._waiting
                )
            )
            self._waiting.clear()
            self._written_at = now


# -- a task for each game --------------------------------------------------------------------------------------------


class Caller:
    """A connection of our own transport, as a task sees it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._waiting = bytearray()
        self._lines: list[bytes] = []
        self._ended = False
        self._news: anyio.Event | None = None
        connection.start(self._on_bytes, self._on_end, lambda: None)

    def _on_bytes(self, chunk: bytes) -> None:
        try:
            self._lines.extend(lines(self._waiting, chunk))
        except EOFError:
            self._on_end("")
        if self._news is not None and self._lines:
            self._news.set()

    def _on_end(self, why: str) -> None:
        self._ended = True
        if self._news is not None:
            self._news.set()

    async def line(self) -> bytes:
        """Return the next message; raises EOFError if there will be none."""
        while not self._lines:
            if self._ended:
                raise EOFError
            self._news = anyio.Event()
            await self._news.wait()
            self._news = None
        return self._lines.pop(0)

    async def send(self, data: bytes) -> None:
        """Send a message."""
        self.connection.send(data)

    async def close(self) -> None:
        """Close once all is sent."""
        self.connection.close_after_flush()


class Stream:
    """A connection of anyio's own, as a task sees it."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._buffered = BufferedByteReceiveStream(stream)

    async def line(self) -> bytes:
        """Return the next message; raises EOFError if there will be none."""
        try:
            return await self._buffered.receive_until(b"\n", LINE_BYTES_MAX)
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound, anyio.BrokenResourceError):
            raise EOFError from None

    async def send(self, data: bytes) -> None:
        """Send a message."""
        try:
            await self._stream.send(data)
        except anyio.BrokenResourceError:
            raise EOFError from None

    async def close(self) -> None:
        """Close once all is sent."""
        try:
            await self._stream.send_eof()
            with anyio.move_on_after(1):
                await self._stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            pass
        await self._stream.aclose()


class Hall:
    """Seats callers two by two, and plays a game with each two."""

    def __init__(self, batches: Batches, turns: int, notes: Notes | None = None) -> None:
        self.batches, self.turns, self.notes = batches, turns, notes
        self._games = 0
        self._alone: Caller | Stream | None = None

    async def sign_up(self, caller: Caller | Stream) -> None:
        """Take in a caller; two make a game."""
        try:
            with anyio.fail_after(JOIN_SECONDS):
                read_join(await caller.line())
        except (*Failed, TimeoutError):
            await caller.close()
            return
        if self._alone is None:
            self._alone = caller
            return
        pair, self._alone = (self._alone, caller), None
        self.batches.begin()
        await self.play(pair)

    async def play(self, pair: tuple[Caller | Stream, Caller | Stream]) -> None:
        """Play a game."""
        table = trivial.start(self.turns)
        notes = self.notes
        game, self._games = self._games, self._games + 1
        with anyio.CancelScope() as clock:
            try:
                while not trivial.over(table):
                    for seat, player in enumerate(pair):
                        asked = request(table)
                        await player.send(asked)
                        clock.deadline = anyio.current_time() + REPLY_SECONDS
                        line = await player.line()
                        if notes is not None:
                            notes.note(game, seat, "out", asked)
                            notes.note(game, seat, "in", line)
                        table = judged(table, line)
            except EOFError:
                table = trivial.stop(table)
        for player in pair:
            try:
                await player.send(encode(Over(table.turn)) + b"\n")
            except EOFError:
                continue
        self.batches.end(table.turn)
        async with anyio.create_task_group() as closing:
            for player in pair:
                closing.start_soon(player.close)


async def serve_journaled(batches: Batches, turns: int, on_port: Callable[[int], None]) -> None:
    """Serve games on our own transport until cancelled, and write down what is said."""
    with tempfile.TemporaryDirectory() as folder:
        await serve_tasks(batches, turns, on_port, Notes(Path(folder) / "notes.jsonl"))


async def serve_tasks(batches: Batches, turns: int, on_port: Callable[[int], None], notes: Notes | None = None) -> None:
    """Serve games on our own transport until cancelled."""
    async with anyio.create_task_group() as tasks:
        hall = Hall(batches, turns, notes)
        listener = await listen("127.0.0.1", 0, tasks)
        on_port(listener.port)

        def admit(connection: Connection) -> None:
            tasks.start_soon(hall.sign_up, Caller(connection))

        await listener.serve(admit)
        await anyio.sleep_forever()


async def serve_stock(batches: Batches, turns: int, on_port: Callable[[int], None]) -> None:
    """Serve games on anyio's streams until cancelled."""
    async with anyio.create_task_group() as tasks:
        hall = Hall(batches, turns)
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        on_port(listener.listeners[0].extra(anyio.abc.SocketAttribute.local_port))

        async def handle(stream: SocketStream) -> None:
            await hall.sign_up(Stream(stream))

        await listener.serve(handle, tasks)


# -- no tasks --------------------------------------------------------------------------------------------------------


class Game:
    """A game that the arriving bytes drive."""

    def __init__(self, batches: Batches, turns: int, number: int, notes: Notes | None) -> None:
        self._batches = batches
        self._number = number
        self._notes = notes
        self._table = trivial.start(turns)
        self._players: list[Connection] = []
        self._waiting = (bytearray(), bytearray())
        self._at_turn = 0
        self._loop = asyncio.get_running_loop()
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._over = False

    def add(self, connection: Connection) -> bool:
        """Seat a player; return whether both are there."""
        seat = len(self._players)
        self._players.append(connection)
        joined = False

        def on_bytes(chunk: bytes) -> None:
            nonlocal joined
            try:
                for line in lines(self._waiting[seat], chunk):
                    if joined:
                        self._move(seat, line)
                    else:
                        read_join(line)
                        joined = True
                        self._joined()
            except Failed:
                self._end(self._table.turn)

        connection.start(on_bytes, lambda why: self._end(self._table.turn), lambda: None)
        return seat == 1

    def _joined(self) -> None:
        self._at_turn += 1
        if self._at_turn == 2:
            self._at_turn = 0
            self._batches.begin()
            self._due = self._loop.time() + REPLY_SECONDS
            self._timer = self._loop.call_at(self._due, self._ring)
            self._ask()

    def _ask(self) -> None:
        asked = request(self._table)
        self._players[self._at_turn].send(asked)
        if self._notes is not None:
            self._notes.note(self._number, self._at_turn, "out", asked)
        self._due = self._loop.time() + REPLY_SECONDS

    def _move(self, seat: int, line: bytes) -> None:
        if seat != self._at_turn or self._over:
            raise EOFError
        if self._notes is not None:
            self._notes.note(self._number, seat, "in", line)
        table = self._table = judged(self._table, line)
        self._at_turn = 1 - seat
        if seat == 1 and trivial.over(table):
            self._end(table.turn)
        else:
            self._ask()

    def _ring(self) -> None:
        if self._loop.time() < self._due:
            self._timer = self._loop.call_at(self._due, self._ring)
        else:
            self._end(self._table.turn)

    def _end(self, turns: int) -> None:
        if self._over:
            return
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        for player in self._players:
            player.send(encode(Over(turns)) + b"\n")
            player.close_after_flush()
        self._batches.end(turns)


async def serve_callbacks_journaled(batches: Batches, turns: int, on_port: Callable[[int], None]) -> None:
    """Serve games without tasks until cancelled, and write down what is said; on asyncio and uvloop only."""
    with tempfile.TemporaryDirectory() as folder:
        await serve_callbacks(batches, turns, on_port, Notes(Path(folder) / "notes.jsonl"))


async def serve_callbacks(
    batches: Batches, turns: int, on_port: Callable[[int], None], notes: Notes | None = None
) -> None:
    """Serve games without tasks until cancelled; on asyncio and uvloop only."""
    waiting: list[Game] = []
    numbers = itertools.count()

    def admit(connection: Connection) -> None:
        if not waiting:
            waiting.append(Game(batches, turns, next(numbers), notes))
        if waiting[0].add(connection):
            waiting.clear()

    async with anyio.create_task_group() as tasks:
        listener = await listen("127.0.0.1", 0, tasks)
        on_port(listener.port)
        await listener.serve(admit)
        await anyio.sleep_forever()


SERVERS: dict[str, Any] = {
    "callbacks-journaled": serve_callbacks_journaled,
    "streams": serve_streams,
    "threads": serve_threads,
    "tasks": serve_tasks,
    "journaled": serve_journaled,
    "stock": serve_stock,
    "callbacks": serve_callbacks,
}
