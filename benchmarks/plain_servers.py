"""Servers of the protocol of ``pairs.yaml`` as most people would write them: ``json``, and checks by hand.

`serve_streams`  asyncio's streams, ``readline`` in ``wait_for``
`serve_threads`  a thread a connection while it signs up, then one a game; blocking sockets with a timeout
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Callable, Sequence
from typing import BinaryIO

import anyio.to_thread

from benchmarks import trivial
from benchmarks.batches import Batches
from machines.model import Wire

JOIN_SECONDS = 10.0
REPLY_SECONDS = 5.0
LINE_BYTES_MAX = Wire().message_bytes_max


def written(value: object) -> bytes:
    """Return a message; the bots look for its turn without reading JSON, so there are no blanks."""
    return json.dumps(value, separators=(",", ":")).encode()


def judged_by_hand(table: trivial.Table, line: bytes) -> trivial.Table:
    """Return the table after a move, or one that ends the game if it was none."""
    try:
        word, game, turn, spot = json.loads(line)
        tile, x, y = spot["tile"], spot["x"], spot["y"]
    except (ValueError, TypeError, KeyError):
        return trivial.stop(table)
    if word != "place" or not all(type(number) is int for number in (turn, tile, x, y)):
        return trivial.stop(table)
    return trivial.place(table, tile, x, y) if trivial.may_place(table, game, turn, tile, x, y) else trivial.stop(table)


def state_of(table: trivial.Table) -> bytes:
    """Return the message that asks for a move."""
    state = {"type": "state", "game": table.game, "turn": table.turn, "board": trivial.board(table)}
    return written({**state, "news": table.news}) + b"\n"


def is_join(line: bytes) -> bool:
    """Whether a line is a right sign-up."""
    try:
        word, name = json.loads(line)
    except (ValueError, TypeError):
        return False
    return word == "join" and isinstance(name, str) and re.fullmatch("[a-z0-9]{1,20}", name) is not None


# -- asyncio's streams -------------------------------------------------------------------------------------------------

Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def play_by_streams(pair: Sequence[Line], batches: Batches, turns: int) -> None:
    """Play a game."""
    table = trivial.start(turns)
    while not trivial.over(table):
        for reader, writer in pair:
            writer.write(state_of(table))
            try:
                await writer.drain()
                line = await asyncio.wait_for(reader.readline(), REPLY_SECONDS)
            except (TimeoutError, OSError, ValueError):
                line = b""
            table = judged_by_hand(table, line)
    for _, writer in pair:
        writer.write(written(["over", table.turn]) + b"\n")
    batches.end(table.turn)
    for _, writer in pair:
        writer.close()


async def serve_streams(batches: Batches, turns: int, on_port: Callable[[int], None]) -> None:
    """Serve games on asyncio's streams until cancelled; on asyncio and uvloop only."""
    waiting: list[Line] = []

    async def sign_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await asyncio.wait_for(reader.readline(), JOIN_SECONDS)
        except (TimeoutError, OSError, ValueError):
            line = b""
        if not is_join(line):
            writer.close()
            return
        waiting.append((reader, writer))
        if len(waiting) == 2:
            pair = tuple(waiting)
            waiting.clear()
            batches.begin()
            await play_by_streams(pair, batches, turns)

    server = await asyncio.start_server(sign_up, "127.0.0.1", 0, backlog=256, limit=LINE_BYTES_MAX)
    on_port(server.sockets[0].getsockname()[1])
    async with server:
        await server.serve_forever()


# -- threads -----------------------------------------------------------------------------------------------------------

Seat = tuple[socket.socket, BinaryIO]


def line_from(seat: Seat, seconds: float) -> bytes:
    """Return the next line of a peer; what is none if it is late, gone or too long."""
    connection, reader = seat
    connection.settimeout(seconds)
    try:
        return reader.readline(LINE_BYTES_MAX)
    except (OSError, ValueError):
        return b""


def play_by_threads(pair: Sequence[Seat], batches: Batches, turns: int, counted: threading.Lock) -> None:
    """Play a game."""
    table = trivial.start(turns)
    with counted:
        batches.begin()
    while not trivial.over(table):
        for seat in pair:
            try:
                seat[0].sendall(state_of(table))
                line = line_from(seat, REPLY_SECONDS)
            except OSError:
                line = b""
            table = judged_by_hand(table, line)
    for connection, _ in pair:
        connection.sendall(written(["over", table.turn]) + b"\n")
    with counted:
        batches.end(table.turn)
    for connection, reader in pair:
        reader.close()
        connection.close()


async def serve_threads(batches: Batches, turns: int, on_port: Callable[[int], None]) -> None:
    """Serve games with threads until this process ends."""
    waiting: list[Seat] = []
    counted, seating = threading.Lock(), threading.Lock()

    def sign_up(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        seat = (connection, connection.makefile("rb"))
        if not is_join(line_from(seat, JOIN_SECONDS)):
            connection.close()
            return
        with seating:
            waiting.append(seat)
            pair = tuple(waiting) if len(waiting) == 2 else ()
            if pair:
                waiting.clear()
        if pair:
            play_by_threads(pair, batches, turns, counted)

    def accept() -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=256) as server:
            on_port(server.getsockname()[1])
            while True:
                connection, _ = server.accept()
                threading.Thread(target=sign_up, args=(connection,), daemon=True).start()

    await anyio.to_thread.run_sync(accept)
