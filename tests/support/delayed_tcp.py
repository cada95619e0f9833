"""Whole games over real TCP behind proxies that delay, on a loop whose time jumps while nothing is to be read.

Every connection goes through a proxy of its own. What it reads from one side it hands to the other after a while drawn
from a number, perhaps cut in two; players take their time too. Sockets, servers and sessions are those of
`accord serve` and `accord join`; only their clocks do not wait. A jump while the kernel still holds something is one
more delay.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from random import Random
from time import monotonic
from typing import Any

import anyio
from anyio.abc import TaskGroup

from machines.effects import Ask
from machines.engine.session import Program
from machines.model import Spec
from runtime.network.transport import NetworkError
from runtime.players.base import NEVER
from runtime.players.seeds import derived_seed
from runtime.sessions.client import Address, join
from runtime.sessions.server import serve
from runtime.simulation.instrumentation import InstrumentedSession
from runtime.simulation.strategies import ClientPlayer
from tests.support.delayed_game import BREACHES, DELAYS, PAUSES, SLOWEST, THOUGHTFUL

HOST = "127.0.0.1"
SECONDS_MAX = 20_000.0  # of a game, in its own time
REAL_SECONDS_MAX = 5.0  # of a game, in ours
AFTER = 200.0  # seconds that those who listen go on once all clients have ended
TICK = 20.0
CHUNK = 1 << 16


class TooLongError(Exception):
    """A game goes on and on."""


class _Jumps(selectors.SelectSelector):
    """A selector that takes no time: it says by how much the clock is to be put on instead."""

    def __init__(self) -> None:
        super().__init__()
        self.jumped = 0.0
        self.holds = True  # real time, until all ports are taken
        self.until = 0.0  # by the real clock: then it has gone on too long

    def select(self, timeout: float | None = None) -> Any:
        if self.holds:
            return super().select(timeout)
        if monotonic() > self.until:
            raise TooLongError
        ready = super().select(0) or super().select(0)
        if not ready and timeout:
            self.jumped += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop over real sockets whose clock jumps to the next alarm, from 0."""

    def __init__(self) -> None:
        self.jumps = _Jumps()
        super().__init__(self.jumps)

    def time(self) -> float:
        return self.jumps.jumped


class _Thinking:
    """A player of the games in memory who takes its time; ``silent`` once it has nothing to say."""

    def __init__(self, player: ClientPlayer, chance: Random, thoughtful: float) -> None:
        self._player = player
        self._chance = chance
        self._thoughtful = thoughtful
        self.silent = False

    async def decide(
        self, question: str, arguments: tuple[tuple[str, Any], ...], messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        if self._chance.random() < self._thoughtful:
            await anyio.sleep(self._chance.choice(PAUSES))
        answer = self._player.decide(Ask(0, question, arguments, messages, seconds))
        if answer is None or answer[0] is NEVER:
            self.silent = True
            await anyio.sleep_forever()
            raise AssertionError
        return answer[0]

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        self._player.heard(message, fields)


class Proxy:
    """Stands before a port: hands on what comes, either way, in order and late."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        slowest = chance.choice(SLOWEST)
        self._delays = [delay for delay in DELAYS if delay <= slowest]
        self._servers: list[asyncio.Server] = []
        self._writers: list[asyncio.StreamWriter] = []

    async def before(self, port: int) -> int:
        """Return a port of its own that leads to another one."""
        server = await asyncio.start_server(partial(self._connected, port), HOST, 0)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Take no more connections, and cut off those that are open."""
        for server in self._servers:
            server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _connected(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            far_reader, far_writer = await asyncio.open_connection(HOST, port)
        except OSError:
            writer.transport.abort()
            return
        self._writers.append(far_writer)
        try:
            await asyncio.gather(self._hand_on(reader, far_writer), self._hand_on(far_reader, writer))
        finally:
            writer.close()
            far_writer.close()

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        pace = self._chance.choice([[0.0], [0.0], [self._chance.choice(self._delays)], self._delays])
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def hear() -> None:
            due = 0.0
            while True:
                try:
                    data = await reader.read(CHUNK)
                except OSError:
                    data = b""
                at = self._chance.randrange(len(data)) if len(data) > 1 and self._chance.random() < 0.1 else 0
                for part in (data[:at], data[at:]) if at else (data,):
                    due = max(due, loop.time() + self._chance.choice(pace))
                    waiting.put_nowait((due, part))
                if not data:
                    return

        hearing = asyncio.ensure_future(hear())
        try:
            while True:
                due, data = await waiting.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                if not data:
                    with suppress(OSError):
                        writer.write_eof()
                    return
                with suppress(OSError):
                    writer.write(data)
        finally:
            hearing.cancel()


class TcpGame:
    """One game over TCP. ``sessions`` are all that were opened, ``found`` what a proof rules out and came to pass."""

    def __init__(self, spec: Spec, programs: Mapping[str, Program], *, seed: int) -> None:
        self.spec = spec
        self.programs = programs
        self.seed = seed
        self.found: list[str] = []
        self.sessions: list[InstrumentedSession] = []
        self._chance = Random(seed)
        self._thoughtful = self._chance.choice(THOUGHTFUL)
        self._proxy = Proxy(self._chance)
        self._deciders: dict[str, _Thinking] = {}
        self._coming: list[tuple[float, str, str]] = []
        self._there: dict[str, InstrumentedSession | None] = {}

    def invite(
        self, role: str, name: str, seat: int, decider: ClientPlayer, *, at: float = 0.0, late: bool = False
    ) -> None:
        """Let a client come when it is ``at``; one who is late comes a little later than all."""
        self._deciders[f"{role} {name}"] = _Thinking(decider, self._chance, self._thoughtful)
        self._coming.append((at + 60.0 * late, role, name))

    def play(self) -> list[str]:
        """Play the game; return what a proof rules out and came to pass."""
        loop = JumpingLoop()
        loop.set_exception_handler(lambda *_: None)  # of proxies whose ends are gone
        try:
            with suppress(TooLongError):
                loop.run_until_complete(self._play(loop))
        finally:
            loop.jumps.holds = True
            loop.run_until_complete(self._close())
            loop.close()
        for session in self.sessions:
            self._look_at(session)
        return self.found

    async def _close(self) -> None:
        """End all that still goes on: the clocks are real again."""
        self._proxy.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        for _ in range(3):
            await asyncio.sleep(0)

    async def _play(self, loop: JumpingLoop) -> None:
        loop.jumps.until = monotonic() + REAL_SECONDS_MAX
        async with anyio.create_task_group() as tasks:
            shared: dict[str, Address] = {}
            for role in self.spec.listeners():
                shared[role] = await self._listen(tasks, role, dict(shared))
            loop.jumps.holds = False
            async with anyio.create_task_group() as clients:
                clients.start_soon(self._bounded, clients.cancel_scope)
                async with anyio.create_task_group() as coming:
                    for at, role, name in self._coming:
                        coming.start_soon(self._join, at, role, name, shared)
                clients.cancel_scope.cancel()
            with anyio.move_on_after(AFTER):
                while any(one.ended is None for one in self.sessions):
                    await anyio.sleep(TICK)
            tasks.cancel_scope.cancel()

    async def _bounded(self, scope: anyio.CancelScope) -> None:
        """End a game that goes on and on; if nobody has a clock any more, those who still wait do so for ever."""
        await anyio.sleep(SECONDS_MAX)
        if all(one.ended is not None or one.deadline is None for one in self.sessions):
            self._stands_still()
        scope.cancel()

    async def _listen(self, tasks: TaskGroup, role: str, addresses: dict[str, Address]) -> Address:
        ports: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        player = next(iter(self._deciders.values()), None) if self.programs[role].per_connection else None
        how: dict[str, Any] = {"seed": self.seed, "make_session": self._made, "addresses": addresses, "player": player}
        tasks.start_soon(partial(serve, self.programs[role], HOST, 0, on_listening=ports.set_result, **how))
        return HOST, await self._proxy.before(await ports)

    async def _join(self, at: float, role: str, name: str, addresses: Mapping[str, Address]) -> None:
        await anyio.sleep(at)
        who = f"{role} {name}"

        def made(program: Program, *, seed: int, my: dict[str, Any], watch: bool) -> InstrumentedSession:
            self._there[who] = session = self._made(program, seed=seed, my=my, watch=watch)
            return session

        how: dict[str, Any] = {"seed": derived_seed(self.seed, name), "my": {"name": name}, "make_session": made}
        with suppress(NetworkError):  # whom it connects to is over
            await join(self.programs[role], addresses, self._deciders[who], **how)

    def _made(self, program: Program, *, seed: int, my: dict[str, Any], watch: bool) -> InstrumentedSession:
        session = InstrumentedSession(program, seed=seed, my=my)
        self.sessions.append(session)
        return session

    # -- what came of it ---------------------------------------------------------------------------------------------

    def _stands_still(self) -> None:
        for who, session in self._there.items():
            if session is not None and session.ended is None and not self._deciders[who].silent:
                self.found.append(f"{who} waits for ever in {session.where()}")

    def _look_at(self, session: InstrumentedSession) -> None:
        role = session.program.role.name
        for fault in session.faults:
            if fault.event == ".invalid" and fault.reason in BREACHES and not fault.own:
                self.found.append(f"{role}: {fault.reason} in {fault.machine}.{fault.state}")
        shared = session.program.accepts and not session.program.per_connection
        if session.ended is not None and session.ended.failed is not None and (shared or session.broke is not None):
            self.found.append(f"{role} failed: {session.ended.failed}")


__all__ = ["Proxy", "TcpGame"]
