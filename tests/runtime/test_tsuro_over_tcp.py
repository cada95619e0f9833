"""Whole games of Tsuro over loopback TCP, by every way that bytes may take: the origin's recorded ones, and our own."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream, TaskStatus

from machines.effects import Ended
from machines.values import freeze
from runtime.players.registry import open_player
from runtime.players.seeds import derived_seed
from runtime.sessions.client import join
from tests.runtime.sums import next_line
from tests.runtime.tsuro_table import (
    END,
    REAL_SECONDS_MAX,
    SEED,
    Guest,
    line,
    names_in,
    play_all,
    rehearsed,
    seat,
    tcp_table,
    tsuro,
)
from tests.support.shared import SHARED, needs_shared

pytestmark = pytest.mark.anyio

ORIGIN = SHARED / "cases" / "tsuro" / "transcripts" / "origin"
GAMES = ["3-mixed", "3-second", "4-mixed", "5-dumb", "5-dupnames", "5-mixed", "5-scripted-legal"]

Line = tuple[str, Any]
"""Who spoke, ``c2s`` or ``s2c``, and what."""


@cache
def recorded(game: str) -> tuple[tuple[Line, ...], ...]:
    """Return what crossed each connection of a recorded game, in order."""
    lines = [json.loads(text) for text in (ORIGIN / f"{game}.jsonl").read_text().splitlines()]
    return tuple(
        tuple((one["dir"], one["msg"]) for one in lines if one["conn"] == conn and "msg" in one)
        for conn in sorted({one["conn"] for one in lines})
    )


# -- the origin's games ------------------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.matrix("game", "way", strength=1)
@pytest.mark.parametrize("game", GAMES)
async def test_guests_who_say_what_was_recorded_are_told_what_was_recorded(game: str, stock: bool) -> None:
    connections = recorded(game)
    # As many as came must be there before the window opens, so that it may be short on a slow host too.
    async with tcp_table(stock=stock, seats=f"{len(connections)}..5", wait="20 ms", reply="20 s") as table:
        guests = []
        for lines in connections:
            name, *said = [value for who, value in lines if who == "c2s"]
            guests += await seat(table, [name], said=said)
        await play_all(guests)

    for guest, lines in zip(guests, connections, strict=True):
        assert guest.told == [value for who, value in lines if who == "s2c"]
        assert guest.answered == guest.said
        assert guest.closed
    assert table.ended is not None
    assert table.ended.failed is None
    winners, losers, _ = guests[0].told[-1]
    assert (table.ended.value["ranking"], table.ended.value["cheaters"]) == (freeze(winners), tuple(losers))


class Reciter:
    """A player who answers what was recorded, in order."""

    def __init__(self, answers: list[Any]) -> None:
        self.left = answers

    async def decide(
        self, question: str, arguments: tuple[tuple[str, Any], ...], messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        return self.left.pop(0)

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        pass


async def serve_one(
    talk: Callable[[SocketStream], Awaitable[None]], *, task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Listen by hand, tell the port, and talk with the first who comes."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as bound:
        listener: Any = bound.listeners[0]
        task_status.started(bound.extra(SocketAttribute.local_port))
        async with await listener.accept() as stream:
            await talk(stream)


async def visit(
    talk: Callable[[SocketStream], Awaitable[None]], name: Any, answers: list[Any], *, stock: bool
) -> Ended:
    """Let our client join a server that is played by hand; return how it ended."""
    with anyio.fail_after(REAL_SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            port = await tasks.start(serve_one, talk)
            addresses = {"server": ("127.0.0.1", port)}
            return await join(tsuro("client"), addresses, Reciter(answers), my={"name": name}, stock=stock)
    raise AssertionError("it ends, or the time is up")


class RecordedServer:
    """The recorded server by hand: it says what it said to one client, and hears what it was told."""

    def __init__(self, lines: tuple[Line, ...], *, piece: int, together: bool) -> None:
        self.lines = lines
        self.piece = piece
        self.together = together
        self.told: list[Any] = []

    async def talk(self, stream: SocketStream) -> None:
        """Say all that was recorded, each when it was its turn, and wait until the client has closed."""
        waiting = bytearray()
        unsaid: list[bytes] = []
        for who, value in self.lines:
            if who == "s2c":
                unsaid.append(line(value))
            else:
                await self._say(stream, unsaid)
                unsaid = []
                self.told.append(json.loads(await next_line(stream, waiting)))
        await self._say(stream, unsaid)
        assert await next_line(stream, waiting) == b"", "the client closes when the game is over, and says no more"

    async def _say(self, stream: SocketStream, lines: list[bytes]) -> None:
        for data in [b"".join(lines)] if self.together else lines:
            for at in range(0, len(data), self.piece):
                await stream.send(data[at : at + self.piece])


@needs_shared
@pytest.mark.matrix("piece", "together", "way", strength=1)
@pytest.mark.parametrize(
    ("games", "piece", "together"),
    [(GAMES, 1 << 20, False), (GAMES, 1 << 20, True), (["5-dumb"], 1, False)],
    ids=["a write a message", "all that is to be said in one write", "a write a byte"],
)
async def test_our_client_says_to_the_recorded_server_what_the_recorded_clients_said(
    games: list[str], piece: int, together: bool, stock: bool
) -> None:
    for game in games:
        for lines in recorded(game):
            server = RecordedServer(lines, piece=piece, together=together)
            name, *answers = [value for who, value in lines if who == "c2s"]
            ended = await visit(server.talk, name, answers, stock=stock)

            assert server.told == [value for who, value in lines if who == "c2s"]
            winners, losers, _ = lines[-1][1]
            assert ended == Ended(freeze({"winners": winners, "losers": losers}), None)


async def reset(stream: SocketStream) -> None:
    raw = stream.extra(SocketAttribute.raw_socket)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


async def say_half(stream: SocketStream) -> None:
    await stream.send(b'"sta')


async def flood(stream: SocketStream) -> None:
    try:
        for _ in range(160):
            await stream.send(b"garbage!" * 8192)
        while True:
            await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return


@pytest.mark.matrix("misbehave", "way", strength=1)
@pytest.mark.parametrize(
    ("misbehave", "why"),
    [(reset, "closed"), (say_half, "malformed"), (flood, "malformed")],
    ids=["reset", "half a message", "10 MB"],
)
async def test_our_client_ends_with_a_clear_failure_when_its_server_misbehaves(
    misbehave: Callable[[SocketStream], Awaitable[None]], why: str, stock: bool
) -> None:
    """What it says to each misdeed at each wait is tried in memory; here is what takes real bytes."""

    async def talk(stream: SocketStream) -> None:
        assert await next_line(stream, bytearray()) == b'"ann"'
        await stream.send(line("white"))
        await misbehave(stream)

    ended = await visit(talk, "ann", [], stock=stock)

    assert ended.value is None
    assert ended.failed is not None
    assert re.search(r"main in ready \(\S*specs/tsuro\.yaml:", ended.failed)
    assert why in ended.failed


# -- our own games -----------------------------------------------------------------------------------------------------


@pytest.mark.matrix("kinds", "way", strength=1)
@pytest.mark.parametrize(
    "kinds",
    [
        ("second", "second", "second"),
        ("first", "second", "random"),
        ("second", "first", "second", "random"),
        ("first", "second", "first", "random", "second"),
    ],
    ids="-".join,
)
async def test_a_server_and_its_clients_play_a_whole_game_the_same_by_every_way(
    kinds: tuple[str, ...], stock: bool
) -> None:
    """Each way is held against the same game without a network, so all ways are alike."""
    said, result = rehearsed(kinds)
    ends: dict[str, Ended] = {}

    async def play(name: str, kind: str) -> None:
        seed = derived_seed(SEED, name)
        async with open_player(kind, spec=tsuro("client").spec, name=name, seed=seed) as player:
            addresses = {"server": ("127.0.0.1", table.port)}
            ends[name] = await join(tsuro("client"), addresses, player, my={"name": name}, stock=stock)

    settings = {"seats": f"{len(kinds)}..5", "wait": "20 ms"}
    async with tcp_table(stock=stock, seed=SEED, **settings) as table, anyio.create_task_group() as clients:
        for number, kind in enumerate(kinds):
            clients.start_soon(play, f"p{number}", kind)
            await table.until_sent("TOKEN", number + 1)

    assert table.ended is not None
    assert (table.ended.value, table.ended.failed) == (result, None)
    assert [(peer, json.loads(data)) for peer, data in table.sent] == said
    assert sorted([*names_in(result["ranking"]), *result["cheaters"]]) == sorted(ends)
    told = freeze({"winners": result["ranking"], "losers": result["cheaters"]})
    assert ends == {f"p{number}": Ended(told, None) for number in range(len(kinds))}


async def test_a_sixth_is_closed_at_once_and_the_five_play_on(stock: bool) -> None:
    async with tcp_table(stock=stock) as table:
        guests = await seat(table, ["ann", "bob", "cyd", "dee", "eve"])
        sixth = Guest("fay", await table.connect())
        assert await sixth.hear() is END
        await sixth.stream.aclose()
        await play_all(guests)

    assert table.ended is not None
    assert names_in(table.ended.value["ranking"]) == ["ann", "bob", "cyd", "dee", "eve"]
    assert table.dropped()[5] == "the door is shut"
