"""A tournament of Trains for the tests: our server over TCP or in memory, and guests who play by hand on their streams.

async with memory_table("trains-official", window="20 s") as table:      # or tcp_table, over loopback
guests = [await sign_up(table, name) for name in ("Ann", "Bob")]
await play_all(guests)
table.ended, table.sent, guests[0].told ...
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import anyio
from anyio.abc import ByteStream

import rules.knockout
import rules.trains
from machines.effects import Received, Send
from machines.engine.session import Program
from machines.parser.loader import load, load_text
from machines.values import freeze
from rules.players.trains import PLAYERS
from rules.players.trains_maps import made_map
from runtime.network.anyio_transport import TaskConnection
from runtime.network.clock import make_clock
from runtime.network.memory_transport import memory_streams
from runtime.sessions.driver import SessionDriver
from runtime.sessions.opening import open_host
from runtime.sessions.server import serve
from tests.runtime.sums import next_line
from tests.runtime.tsuro_table import END, REAL_SECONDS_MAX, VIRTUAL_SECONDS_MAX, Table, line

RULES: Final = {"trains": rules.trains, "knockout": rules.knockout}
DIALECTS: Final = ("trains", "trains-official")
OFFICIAL: Final = "trains-official"
CALLS: Final = ("start", "setup", "pick", "play", "more", "win", "end")
A_MAP: Final[dict[str, Any]] = json.loads(json.dumps(made_map(1)))


@cache
def _program(dialect: str, role: str, settings: tuple[tuple[str, str], ...]) -> Program:
    if dialect in DIALECTS:
        return Program(load(dialect, dict(settings)), role, RULES)
    return Program(load_text(dialect, settings=dict(settings)), role, RULES)


def trains(dialect: str, role: str, settings: Mapping[str, str] = {}) -> Program:
    """Return a role's program, of a shipped dialect or of a spec's text; each is compiled once for all tests."""
    return _program(dialect, role, tuple(sorted(settings.items())))


class TrainsTable(Table):
    """A server of Trains in the background, and all that it did."""

    dialect: str = OFFICIAL

    def signed_up(self) -> list[int]:
        """Return who has said a name so far, in that order."""
        return [effect.peer for _, effect in self.effects if isinstance(effect, Received) and effect.message == "name"]

    def calls(self, peer: int) -> list[tuple[str, float]]:
        """Return what was said to a peer, and when."""
        return [
            (effect.message, moment)
            for moment, effect in self.effects
            if isinstance(effect, Send) and effect.peer == peer
        ]


@asynccontextmanager
async def tcp_table(dialect: str, *, stock: bool = False, seed: int = 0, **settings: str) -> AsyncIterator[TrainsTable]:
    """Serve a tournament over loopback; when the block is left, wait until it has ended and all is closed."""
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        table.port = port
        listening.set()

    async def run() -> None:
        program = trains(dialect, "server", settings)
        await serve(program, seed=seed, observe=table.observe, on_listening=on_listening, stock=stock)
        table.released_at = anyio.current_time()

    async def connect() -> ByteStream:
        return await anyio.connect_tcp("127.0.0.1", table.port)

    table = TrainsTable(connect)
    table.dialect = dialect
    with anyio.fail_after(REAL_SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await listening.wait()
            yield table


@asynccontextmanager
async def memory_table(dialect: str, *, seed: int = 0, **settings: str) -> AsyncIterator[TrainsTable]:
    """Run a tournament in memory, for virtual time; when the block is left, wait until all is over."""

    async def connect() -> ByteStream:
        ours, theirs = memory_streams()
        connection = TaskConnection(ours, "memory")
        tasks.start_soon(connection.run)
        if host.ended is None:
            host.connect(connection)
        else:
            connection.abort()
        return theirs

    table = TrainsTable(connect)
    table.dialect = dialect
    with anyio.fail_after(VIRTUAL_SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            program = trains(dialect, "server", settings)
            host: SessionDriver = open_host(program, tasks, make_clock(tasks), seed=seed, observe=table.observe)
            host.start()
            try:
                yield table
                await host.over()
            finally:
                await host.release()
            table.released_at = anyio.current_time()
            tasks.cancel_scope.cancel()


@dataclass(eq=False)
class Guest:
    """A client by hand in one of the dialects: it answers each call as a strategy does, until the stream ends.

    ``told`` are the calls it heard: (name, argument), setup's a list of three. In the document's dialect it tells calls
    apart by where it stands, as a client must. ``lags`` is how many seconds it takes over each call that wants an
    answer; a call without an entry takes none.
    """

    name: Any
    stream: ByteStream
    dialect: str = OFFICIAL
    strategy: Any = field(default_factory=lambda: PLAYERS["buy-now"]("", 1))
    lags: Mapping[str, float] = field(default_factory=dict)
    told: list[tuple[str, Any]] = field(default_factory=list)
    closed: bool = False
    _waiting: bytearray = field(default_factory=bytearray)

    async def say(self, value: Any) -> None:
        """Say a value in one write; the server may have closed by then."""
        try:
            await self.stream.send(line(value))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return

    async def hear(self) -> Any:
        """Return the next call as (name, argument), or `END`."""
        raw = await next_line(self.stream, self._waiting)
        if not raw:
            self.closed = True
            return END
        call = self._read(json.loads(raw))
        self.told.append(call)
        return call

    def _read(self, value: Any) -> tuple[str, Any]:
        if self.dialect == OFFICIAL:
            method, arguments = value
            return method, arguments if method == "setup" else arguments[0]
        before = self.told[-1][0] if self.told else ""
        match value:
            case {"Map": a_map, "rails": rails, "Cards": cards}:
                return "setup", [a_map, rails, cards]
            case bool() if before in ("", "start", "win"):
                return ("start" if before == "" else "end"), value
            case bool():
                return "win", value
            case dict():
                return "play", value
        return ("pick" if before == "setup" else "more"), value

    def answer(self, call: str, argument: Any) -> Any:
        """Return what is right to say to a call; None where nothing is."""
        match call:
            case "start":
                return A_MAP
            case "pick":
                return to_json(self.strategy.pick(freeze(argument))[1]["unwanted"])
            case "play":
                message, fields = self.strategy.play(freeze(argument))
                return "more cards" if message == "more_cards" else to_json(fields["connection"])
            case "setup":
                self.strategy.heard("setup", {"map": freeze(argument[0])})
        return "void" if self.dialect == OFFICIAL else None

    async def play(self) -> None:
        """Answer whatever is asked until the stream ends, then close."""
        while (call := await self.hear()) is not END:
            await self.react(*call)
        await self.stream.aclose()

    async def react(self, call: str, argument: Any) -> None:
        """Answer one call."""
        answer = self.answer(call, argument)
        if answer is not None:
            if call in self.lags:
                await anyio.sleep(self.lags[call])
            await self.say(answer)

    @property
    def heard(self) -> list[str]:
        """Return the names of the calls that it heard."""
        return [call for call, _ in self.told]

    @property
    def won(self) -> Any:
        """Return what ``end`` said, None if it has not come as the last thing of all."""
        return self.told[-1][1] if self.closed and self.told and self.told[-1][0] == "end" else None


def to_json(value: Any) -> Any:
    """Return tuples as lists."""
    return json.loads(json.dumps(value))


async def sign_up(table: TrainsTable, name: Any, kind: str = "buy-now", **guest: Any) -> Guest:
    """Let a guest come and say its name; return it once the server has heard it."""
    before = len(table.signed_up())
    made = Guest(name, await table.connect(), table.dialect, PLAYERS[kind](str(name), 1), **guest)
    await made.say(name)
    await table.until(lambda: len(table.signed_up()) > before)
    return made


async def play_all(guests: Iterable[Guest]) -> None:
    """Let all play to the end of their streams."""
    async with anyio.create_task_group() as tasks:
        for guest in guests:
            tasks.start_soon(guest.play)
