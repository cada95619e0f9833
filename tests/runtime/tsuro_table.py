"""A table of Tsuro for the tests: our server over TCP or in memory, and guests who play by hand on their streams.

async with memory_table(seats="3..3") as table:      # or tcp_table, over loopback
guests = await seat(table, ["ann", "bob", "cyd"])
await play_all(guests)
table.ended, table.sent, guests[0].told ...
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import anyio
from anyio.abc import ByteStream, TaskGroup

import rules.tsuro
from machines.effects import Drop, Effect, Ended, Note, Send
from machines.engine.session import Program
from machines.parser.loader import load
from machines.values import freeze
from rules.players.tsuro import PLAYERS
from runtime.network.anyio_transport import TaskConnection
from runtime.network.clock import make_clock
from runtime.network.memory_transport import memory_streams
from runtime.players.seeds import derived_seed
from runtime.sessions.driver import SessionDriver
from runtime.sessions.opening import open_host
from runtime.sessions.server import serve
from tests.runtime.sums import next_line
from tests.support.session_harness import Run

RULES: Final = {"tsuro": rules.tsuro}
TOKENS: Final = ("white", "black", "red", "green", "blue")
REAL_SECONDS_MAX: Final = 30.0  # a hang over TCP is a failure after so long
VIRTUAL_SECONDS_MAX: Final = 3600.0


@cache
def _program(role: str, settings: tuple[tuple[str, str], ...]) -> Program:
    return Program(load("tsuro", dict(settings)), role, RULES)


def tsuro(role: str, settings: Mapping[str, str] = {}) -> Program:
    """Return a role's program; each is compiled once for all tests."""
    return _program(role, tuple(sorted(settings.items())))


class Table:
    """A server in the background and all that it did, with the moments at which it did it."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self.connect = connect
        self.port = 0  # over TCP
        self.effects: list[tuple[float, Effect]] = []
        self.ended: Ended | None = None
        self.ended_at = 0.0
        self.released_at = 0.0
        self._news = anyio.Event()

    def observe(self, effect: Effect) -> None:
        """Take note of an effect that was carried out."""
        self.effects.append((anyio.current_time(), effect))
        if isinstance(effect, Ended):
            self.ended = effect
            self.ended_at = anyio.current_time()
        self._news.set()
        self._news = anyio.Event()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until what the server did makes something true."""
        while not true():
            await self._news.wait()

    async def until_sent(self, message: str, count: int) -> None:
        """Wait until messages of a name were sent so often."""
        await self.until(lambda: len(self.moments(message)) >= count)

    @property
    def sent(self) -> list[tuple[int, bytes]]:
        """Return every message sent so far, with the peer's number, in order."""
        return [(effect.peer, effect.data) for _, effect in self.effects if isinstance(effect, Send)]

    def moments(self, message: str, peer: int | None = None) -> list[float]:
        """Return when messages of a name were sent, to one peer or to all."""
        return [
            moment
            for moment, effect in self.effects
            if isinstance(effect, Send) and effect.message == message and peer in (None, effect.peer)
        ]

    def asked(self, peer: int) -> list[float]:
        """Return when a peer was asked for a placement."""
        return self.moments("INIT_REQ", peer) + self.moments("INTER_REQ", peer)

    def waited_for(self, peer: int) -> float:
        """Return the seconds from the last request to a peer to whatever the server sent next, to anybody."""
        sends = [(moment, effect) for moment, effect in self.effects if isinstance(effect, Send)]
        last = max(
            index for index, (_, send) in enumerate(sends) if send.peer == peer and send.message.endswith("_REQ")
        )
        return sends[last + 1][0] - sends[last][0]

    def dropped(self) -> dict[int, str]:
        """Return who was dropped, and why."""
        return {effect.peer: effect.why for _, effect in self.effects if isinstance(effect, Drop)}

    def noted(self, text: str, peer: int | None = None) -> bool:
        """Say whether the server has said something, of one peer or of any."""
        return any(
            text in effect.text and peer in (None, effect.peer)
            for _, effect in self.effects
            if isinstance(effect, Note)
        )


@asynccontextmanager
async def tcp_table(*, stock: bool = False, seed: int = 0, **settings: str) -> AsyncIterator[Table]:
    """Serve a table over loopback; when the block is left, wait until the game has ended and all is closed."""
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        table.port = port
        listening.set()

    async def run() -> None:
        program = tsuro("server", settings)
        await serve(program, seed=seed, observe=table.observe, on_listening=on_listening, stock=stock)
        table.released_at = anyio.current_time()

    async def connect() -> ByteStream:
        return await anyio.connect_tcp("127.0.0.1", table.port)

    table = Table(connect)
    with anyio.fail_after(REAL_SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await listening.wait()
            yield table


@asynccontextmanager
async def memory_table(*, seed: int = 0, **settings: str) -> AsyncIterator[Table]:
    """Run a table in memory, for virtual time; when the block is left, wait until all is over, as `tcp_table` does."""

    async def connect() -> ByteStream:
        ours, theirs = memory_streams()
        connection = TaskConnection(ours, "memory")
        tasks.start_soon(connection.run)
        if host.ended is None:
            host.connect(connection)
        else:
            connection.abort()
        return theirs

    table = Table(connect)
    with anyio.fail_after(VIRTUAL_SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            host: SessionDriver = open_host(
                tsuro("server", settings), tasks, make_clock(tasks), seed=seed, observe=table.observe
            )
            host.start()
            try:
                yield table
                await host.over()
            finally:
                await host.release()
            table.released_at = anyio.current_time()
            tasks.cancel_scope.cancel()


END: Final = object()
"""What is heard when the stream has ended."""


@dataclass(eq=False)
class Guest:
    """A client by hand: it signs up, and answers each request with what its strategy says, until the stream ends.

    ``told`` is every value it was sent, in order. ``said`` overrules the strategy: what to say, in order.
    ``thinks`` is how many seconds it takes over each answer.
    """

    name: Any
    stream: ByteStream
    strategy: Any = field(default_factory=lambda: PLAYERS["second"]("", 0))
    said: list[Any] | None = None
    thinks: float = 0.0
    token: str = ""
    told: list[Any] = field(default_factory=list)
    closed: bool = False
    answered: list[Any] = field(default_factory=list)
    _waiting: bytearray = field(default_factory=bytearray)

    async def say(self, value: Any) -> None:
        """Say a value, as one line in one write."""
        await self.stream.send(line(value))

    async def hear(self) -> Any:
        """Return the next value, or `END`."""
        raw = await next_line(self.stream, self._waiting)
        if not raw:
            self.closed = True
            return END
        value = json.loads(raw)
        if not self.told:
            self.token = str(value)
        self.told.append(value)
        return value

    async def sit(self) -> bool:
        """Sign up; say whether there was a seat."""
        await self.say(self.name)
        return await self.hear() is not END

    def answer(self, request: Any) -> Any:
        """Return the placement to answer a request with."""
        if self.said is not None:
            return self.said[len(self.answered)]
        return placement(self.strategy, request, self.token)

    async def play(self) -> None:
        """Answer whatever is asked until the stream ends, then close."""
        while (value := await self.hear()) is not END:
            if is_request(value):
                await self.reply(value)
        await self.stream.aclose()

    async def reply(self, request: Any) -> None:
        """Answer one request."""
        answer = self.answer(request)
        self.answered.append(answer)
        if self.thinks:
            await anyio.sleep(self.thinks)
        await self.say(answer)

    @property
    def ending(self) -> Any:
        """Return ENDED's [winners, losers], or None if it has not come as the last thing of all."""
        if self.closed and self.told and isinstance(self.told[-1], list) and len(self.told[-1]) == 3:
            winners, losers, _ = self.told[-1]
            return [winners, losers]
        return None


SEED: Final = 7


@cache
def rehearsed(kinds: tuple[str, ...]) -> tuple[list[tuple[int, Any]], Any]:
    """Play a game of p0, p1 … without any network; return what the server says to whom, in order, and the result.

    The players are seeded as `derived_seed(SEED, name)`.
    """
    run = Run(tsuro("server", {"seats": f"{len(kinds)}"}).spec, "server", RULES, seed=SEED)
    players = [PLAYERS[kind](f"p{number}", derived_seed(SEED, f"p{number}")) for number, kind in enumerate(kinds)]
    for number in range(len(kinds)):
        run.join()
        run.say(number, f"p{number}")
    while unread := [(peer, value) for peer in range(len(kinds)) for value in run.heard(peer)]:
        for peer, value in unread:
            if is_request(value):
                run.say(peer, placement(players[peer], value, TOKENS[peer]))
    assert run.ended is not None, f"nobody has anything to say: {run.state()}"
    said = [(effect.peer, json.loads(effect.data)) for effect in run.effects if isinstance(effect, Send)]
    return said, run.ended.value


def placement(strategy: Any, request: Any, token: str) -> list[Any]:
    """Return what a strategy answers to a request, as it stands on the wire."""
    board, hand = freeze(request)
    _, fields = (strategy.initial if len(hand) == 3 else strategy.intermediate)(board, hand, token)
    return list(fields.values())


def line(value: Any) -> bytes:
    """Return a value as it stands on the wire."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def is_request(value: Any) -> bool:
    """Say whether a value asks for a placement."""
    return isinstance(value, list) and len(value) == 2


async def seat(table: Table, names: Iterable[Any], **guest: Any) -> list[Guest]:
    """Let guests come in order, each once the one before has its token."""
    guests = []
    for name in names:
        guests.append(Guest(name, await table.connect(), **guest))
        assert await guests[-1].sit(), f"there is no seat for {name}"
    return guests


async def play_all(guests: Iterable[Guest], *, beside: TaskGroup | None = None) -> None:
    """Let all play to the end of their streams, in a group of their own or ``beside`` others."""
    if beside is not None:
        for guest in guests:
            beside.start_soon(guest.play)
        return
    async with anyio.create_task_group() as tasks:
        for guest in guests:
            tasks.start_soon(guest.play)


def names_in(groups: Iterable[Iterable[str]]) -> list[str]:
    """Return the names of a ranking, sorted."""
    return sorted(name for group in groups for name in group)
