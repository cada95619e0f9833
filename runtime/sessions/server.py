"""The listening side: a role that peers connect to, run until its session has ended.

A role whose ``main`` runs once has one session, into which every connection is handed; it says itself who gets a seat.
A role whose ``main`` takes a parameter has one session for each connection, until it is cancelled.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from ssl import SSLContext
from typing import Any, Final, NoReturn, Protocol, Unpack

import anyio
from anyio.abc import TaskGroup

from machines.effects import Ended
from machines.engine.session import Program
from runtime.network.accepting import Seldom
from runtime.network.clock import Clock, make_clock, warn_of_lag
from runtime.network.transport import CannotConnectError, Connection, Listener, listen
from runtime.players.base import Player, UnknownPlayerError
from runtime.players.seeds import derived_seed
from runtime.sessions.client import Address, connect_all, run_in_group
from runtime.sessions.driver import SessionDriver
from runtime.sessions.opening import SessionOptions, open_host
from runtime.sessions.stall_report import session_state
from runtime.sessions.token_gate import TokenListener

log = logging.getLogger("accord.network")

STATES_TOLD_MAX: Final = 3
ADDRESS_MAX: Final = 64  # what `accord serve` allows one address; the largest game that ships has 10 players


@dataclass(frozen=True, slots=True)
class Stopped:
    """How far a server was when it was stopped.

    ``connections`` counts all that were let in, whether they are still there or not; ``ended`` the sessions that had
    come to their end, ``running`` those that had not. ``waited_for`` says where a session stood that takes in all;
    where each connection has one, in which states how many stood, the STATES_TOLD_MAX most frequent by name.
    """

    connections: int
    ended: int
    running: int
    waited_for: str


async def serve(
    program: Program,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    addresses: Mapping[str, Address] | None = None,
    player: Player | None = None,
    make_player: Callable[[int], AbstractAsyncContextManager[Player]] | None = None,
    on_listening: Callable[[int], None] | None = None,
    on_ended: Callable[[int, Ended], None] | None = None,
    on_stopped: Callable[[Stopped], None] | None = None,
    address_max: float = inf,
    stock: bool = False,
    tls: SSLContext | None = None,
    token: str = "",
    **options: Unpack[SessionOptions],
) -> Ended:
    """Run a role that listens, and return how its session ended.

    A role with a session for each connection never returns: ``on_ended`` is told the number of each session, from 0,
    and how it ended; session n > 0 has a seed of its own, ``derived_seed(seed, n)``. When this is cancelled,
    connections are still closed in good order, within CANCEL_DRAIN_SECONDS, and ``on_stopped`` is told how far it was.

    No one address may have more than ``address_max`` connections open, so that it cannot take all that the spec allows.
    ``on_listening`` is told the port once it is taken. ``addresses`` are those of the roles that this one connects to,
    by role; ``player`` answers its questions. Where each connection has a session, ``make_player`` gives each one of
    its own, made with the session's seed; else all share ``player``. ``stock`` takes anyio's own streams on asyncio
    too. ``tls`` is what the port says who it is by, if any; only who says the ``token`` is let in.

    Raises:
        PortInUseError, CannotListenError: see `listening`.
        CannotConnectError: a role that this one connects to can't be reached.
    """

    async def run(tasks: TaskGroup) -> Ended:
        clock = make_clock(tasks)
        make_host = partial(open_host, program, tasks, clock, player=player, **options)
        own = stock or options.get("starttls") is not None
        connect = partial(connect_all, program.connects, addresses or {}, tasks, stock=own)
        admission = AdmissionControl(program.wire.connections_max, address_max, token)
        async with listening(admission, program, host, port, tasks, clock, on_listening, stock=own, tls=tls):
            if not program.per_connection:
                return await _serve_one(make_host, connect, admission, on_stopped)
            each = _SessionEach(make_host, connect, admission, tasks, options.get("seed", 0), on_ended, make_player)
            return await serve_for_ever(admission.listener, each, on_stopped)

    ended = await run_in_group(run)
    if on_ended is not None:
        on_ended(0, ended)
    return ended


@asynccontextmanager
async def listening(
    admission: AdmissionControl,
    program: Program,
    host: str,
    port: int,
    tasks: TaskGroup,
    clock: Clock,
    on_listening: Callable[[int], None] | None,
    *,
    stock: bool = False,
    tls: SSLContext | None = None,
) -> AsyncIterator[None]:
    """Take a port for a role, and tell that it is taken; it is given up when the block is left.

    Raises:
        PortInUseError: another program listens on the port.
        CannotListenError: the host is unknown or not this one, or the port is not allowed.
    """
    admission.listener = await listen(host, port, tasks, stock=stock, tls=tls)
    if admission.token:
        admission.listener = TokenListener(admission.listener, admission.token, tasks)
    try:
        if on_listening is not None:
            on_listening(admission.listener.port)
        log.info("%s listens on %s:%d", program.role.name, host, admission.listener.port)
        yield
    finally:
        await admission.listener.close()
        warn_of_lag(clock, program.role.name)


class Sessions(Protocol):
    """What opens sessions for the connections that come."""

    def admit(self, connection: Connection) -> None:
        """Take a connection in, or turn it away."""

    def progress(self) -> Stopped:
        """Say how far all the sessions are."""


async def serve_for_ever(
    listener: Listener, sessions: Sessions, on_stopped: Callable[[Stopped], None] | None
) -> NoReturn:
    """Hand connections to sessions until this is cancelled; then tell how far they were."""
    with told_if_stopped(on_stopped, sessions.progress):
        await listener.serve(sessions.admit)
        await anyio.sleep_forever()
    raise AssertionError("only its end ends that sleep")


async def _serve_one(
    make_host: Callable[..., SessionDriver],
    connect: Callable[[], Awaitable[list[Connection]]],
    admission: AdmissionControl,
    on_stopped: Callable[[Stopped], None] | None,
) -> Ended:
    """Run the only session, into which every connection is handed."""
    connections = await connect()
    only = make_host()
    try:
        with told_if_stopped(on_stopped, lambda: Stopped(admission.admitted, 0, 1, only.session.where())):
            only.start(connections)
            await admission.listener.serve(partial(admission.admit, only))
            return await only.over()
    finally:
        await admission.listener.close()
        await only.release()


@contextmanager
def told_if_stopped(on_stopped: Callable[[Stopped], None] | None, progress: Callable[[], Stopped]) -> Iterator[None]:
    """Tell how far a server was, if the block is cancelled."""
    try:
        yield
    except anyio.get_cancelled_exc_class():
        if on_stopped is not None:
            on_stopped(progress())
        raise


def most_frequent(states: Iterable[str]) -> str:
    """Return the states in which most sessions stand, and how many in each, for people."""
    counted = Counter(states)
    most = counted.most_common(STATES_TOLD_MAX)
    told = [f"{state} ({count})" for state, count in most]
    others = counted.total() - sum(count for _, count in most)
    return "; ".join([*told, *([f"others ({others})"] if others else [])])


class AdmissionControl:
    """Counts the connections of a listener, which waits while there are so many as may be.

    Those of one address that are too many are turned away, and those that come too late.
    """

    listener: Listener

    def __init__(self, connections_max: int, address_max: float, token: str = "") -> None:
        self.token = token
        self._connections_max = connections_max
        self._address_max = address_max
        self._open: Counter[str] = Counter()  # by address
        self._turned_away = 0
        self._full = Seldom()
        self.admitted = 0  # since it listens

    def has_room(self, connection: Connection) -> bool:
        """Count a connection in, or turn it away."""
        address = _address(connection)
        if self._open[address] >= self._address_max:
            self.turn_away(connection, f"{self._address_max} connections from {address} are open, which is the limit")
            return False
        self._open[address] += 1
        self.admitted += 1
        if self._open.total() >= self._connections_max:
            self._full.warn("%d connections are open, which is the limit: others wait", self._connections_max)
            self.listener.pause()
        return True

    def admit(self, host: SessionDriver, connection: Connection) -> None:
        """Hand a connection to a session, if there is room and the session runs."""
        if host.ended is not None:
            self.turn_away(connection, "the session is over")
        elif self.has_room(connection):
            host.connect(connection, partial(self.released, connection))

    def released(self, connection: Connection) -> None:
        """Count a connection out."""
        address = _address(connection)
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]
        self.listener.resume()

    def turn_away(self, connection: Connection, why: str) -> None:
        """Close a connection at once. A flood of them must not flood the log, so every thousandth is told."""
        level = logging.DEBUG if self._turned_away % 1000 else logging.WARNING
        self._turned_away += 1
        log.log(level, "%s is turned away (number %d): %s", connection.name, self._turned_away, why)
        connection.abort()


def _address(connection: Connection) -> str:
    return connection.name.rpartition(":")[0]


class _SessionEach:
    """Opens a session for each connection."""

    def __init__(
        self,
        make_host: Callable[..., SessionDriver],
        connect: Callable[[], Awaitable[list[Connection]]],
        admission: AdmissionControl,
        tasks: TaskGroup,
        seed: int,
        on_ended: Callable[[int, Ended], None] | None,
        make_player: Callable[[int], AbstractAsyncContextManager[Player]] | None,
    ) -> None:
        self._make_host = make_host
        self._connect = connect
        self._admission = admission
        self._tasks = tasks
        self._seed = seed
        self._on_ended = on_ended
        self._make_player = make_player
        self._sessions = 0
        self._running: dict[SessionDriver, None] = {}  # in the order in which they came
        self._ended = 0

    def progress(self) -> Stopped:
        """Say how far all the sessions are."""
        return Stopped(self._admission.admitted, self._ended, self._sessions - self._ended, self._waits())

    def _waits(self) -> str:
        """Return the states in which most sessions stand, and how many in each, for people."""
        return most_frequent(session_state(host.session) for host in self._running)

    def admit(self, connection: Connection) -> None:
        """Open a session for a connection, if there is room."""
        if self._admission.has_room(connection):
            connection.pause()  # until the session has all its seats
            number, self._sessions = self._sessions, self._sessions + 1
            self._tasks.start_soon(self._run, number, connection, name=f"session {number}")

    async def _run(self, number: int, connection: Connection) -> None:
        seed = derived_seed(self._seed, number) if number else self._seed
        how: dict[str, Any] = {"number": number, "seed": seed}
        why = ""
        async with AsyncExitStack() as held:
            if self._make_player is not None:
                try:
                    how["player"] = await held.enter_async_context(self._make_player(seed))
                except UnknownPlayerError as error:
                    why = str(error)
            ended = await self._play(self._make_host(**how), connection, why)
        if self._on_ended is not None:
            self._on_ended(number, ended)

    async def _play(self, host: SessionDriver, connection: Connection, why: str) -> Ended:
        """Return how a session ended; one that has no player, for this reason ``why``, ends at once."""
        try:
            try:
                self._running[host] = None
                others = [] if why else await self._connect()
            except CannotConnectError as error:
                why = str(error)
            if why:
                host.give_up([connection], why)
            else:
                host.start([*others, connection])
                connection.resume()
            ended = await host.over()
            del self._running[host]
            self._ended += 1
            return ended
        finally:
            await host.release()
            self._admission.released(connection)
