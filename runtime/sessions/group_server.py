"""A role that has one session for all its peers, again and again: whoever comes is seated with others, group by group.

A group is one session. A connection goes to the newest group if that still takes somebody in; else it begins the next
one. So a group is made when its first peer comes, and several play at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from math import inf
from ssl import SSLContext
from typing import Any, Final, NoReturn

from anyio.abc import TaskGroup

from machines.effects import Effect, Ended
from machines.engine import routing
from machines.engine.session import Program
from runtime.journal.writing import JournalError
from runtime.network.clock import make_clock
from runtime.network.transport import CannotConnectError, Connection
from runtime.players.base import Player, UnknownPlayerError
from runtime.players.seeds import derived_seed
from runtime.sessions.client import Address, connect_all, run_in_group
from runtime.sessions.driver import SessionDriver
from runtime.sessions.opening import open_host
from runtime.sessions.server import AdmissionControl, Stopped, listening, most_frequent, serve_for_ever
from runtime.sessions.session_journal import JournalWriter
from runtime.sessions.stall_report import session_state

log = logging.getLogger("accord.network")

GROUPS_MAX: Final = 64  # that play at a time, unless told otherwise


@dataclass(eq=False)
class Group:
    """What one group has of its own. ``number`` counts from 0; the first has the seed of the server.

    Its ``journal`` and ``player`` are opened when it begins, and closed once its connections are. ``observe`` sees
    every effect of its session. ``why_not`` says why it could not begin.
    """

    number: int
    seed: int
    journal: JournalWriter | None = None
    player: Player | None = None
    observe: Callable[[Effect], None] | None = None
    why_not: str = ""
    host: SessionDriver | None = None
    waiting: list[Connection] = field(default_factory=list)  # until it begins
    connections: int = 0  # that are open

    @property
    def takes(self) -> bool:
        """Whether the next connection is for this group."""
        return self.host is None or (self.host.ended is None and routing.is_open(self.host.session))


async def serve_groups(
    program: Program,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    seed: int = 0,
    my: Mapping[str, Any] | None = None,
    addresses: Mapping[str, Address] | None = None,
    equip: Callable[[Group], AbstractAsyncContextManager[None]],
    on_ended: Callable[[Group, Ended], None],
    on_listening: Callable[[int], None] | None = None,
    on_stopped: Callable[[Stopped], None] | None = None,
    groups_max: int = GROUPS_MAX,
    address_max: float = inf,
    tls: SSLContext | None = None,
    token: str = "",
    starttls: SSLContext | None = None,
) -> NoReturn:
    """Run a role that listens for one group after another, until this is cancelled.

    ``equip`` gives a group its journal, player and observer for as long as the block is open. ``on_ended`` is told of
    each group how its session ended, once its connections are closed. No more than ``groups_max`` play at a time: who
    would begin another is turned away. The rest is as for `runtime.sessions.server.serve`; the limit on connections of
    the spec holds for each group.

    Raises:
        PortInUseError: another program listens on the port.
        CannotListenError: the host is unknown or not this one, or the port is not allowed.
    """

    async def run(tasks: TaskGroup) -> Ended:
        clock = make_clock(tasks)
        make_host = partial(open_host, program, tasks, clock, my=my, starttls=starttls)
        connect = partial(connect_all, program.connects, addresses or {}, tasks, stock=starttls is not None)
        admission = AdmissionControl(program.wire.connections_max * groups_max, address_max, token)
        groups = _Groups(make_host, connect, admission, tasks, seed, equip, on_ended, groups_max)
        groups.connections_max = program.wire.connections_max
        stock = starttls is not None
        async with listening(admission, program, host, port, tasks, clock, on_listening, stock=stock, tls=tls):
            await serve_for_ever(admission.listener, groups, on_stopped)

    await run_in_group(run)
    raise AssertionError("it listens until it is cancelled")


class _Groups:
    """Opens groups and seats connections in them."""

    def __init__(
        self,
        make_host: Callable[..., SessionDriver],
        connect: Callable[[], Awaitable[list[Connection]]],
        admission: AdmissionControl,
        tasks: TaskGroup,
        seed: int,
        equip: Callable[[Group], AbstractAsyncContextManager[None]],
        on_ended: Callable[[Group, Ended], None],
        groups_max: int,
    ) -> None:
        self._make_host = make_host
        self._connect = connect
        self._admission = admission
        self._tasks = tasks
        self._seed = seed
        self._equip = equip
        self._on_ended = on_ended
        self._groups_max = groups_max
        self.connections_max = 0  # of a group
        self._count = 0
        self._running: list[Group] = []  # in the order in which they began
        self._ended = 0

    def progress(self) -> Stopped:
        """Say how far all the groups are."""
        states = most_frequent(session_state(group.host.session) for group in self._running if group.host is not None)
        return Stopped(self._admission.admitted, self._ended, self._count - self._ended, states)

    def admit(self, connection: Connection) -> None:
        """Hand a connection to the newest group, or to one that begins with it, if there is room."""
        group = self._running[-1] if self._running and self._running[-1].takes else None
        if group is None and len(self._running) >= self._groups_max:
            self._admission.turn_away(connection, f"{self._groups_max} groups play, which is the limit")
        elif group is not None and group.connections >= self.connections_max:
            self._admission.turn_away(connection, f"{self.connections_max} connections are open, which is the limit")
        elif self._admission.has_room(connection):
            if group is None:
                group = Group(self._count, derived_seed(self._seed, self._count) if self._count else self._seed)
                self._count += 1
                self._running.append(group)
                self._tasks.start_soon(self._run, group, name=f"group {group.number}")
            group.connections += 1
            if group.host is None:
                connection.pause()
                group.waiting.append(connection)
            else:
                group.host.connect(connection, partial(self._released, group, connection))

    def _released(self, group: Group, connection: Connection) -> None:
        group.connections -= 1
        self._admission.released(connection)

    async def _run(self, group: Group) -> None:
        async with AsyncExitStack() as held:
            others: list[Connection] = []
            try:
                await held.enter_async_context(self._equip(group))
                others = await self._connect()
            except (CannotConnectError, UnknownPlayerError, JournalError) as error:
                group.why_not = str(error)
            ended = await self._play(group, others)
        self._on_ended(group, ended)

    async def _play(self, group: Group, others: list[Connection]) -> Ended:
        own = {"player": group.player, "journal": group.journal, "observe": group.observe}
        host = group.host = self._make_host(seed=group.seed, **own)
        if group.number:
            host.name = f"{host.name} {group.number}"
        try:
            if group.why_not:
                host.give_up(others, group.why_not)
            else:
                host.start(others)
            waiting, group.waiting = group.waiting, []
            for connection in waiting:
                if host.ended is None:
                    host.connect(connection, partial(self._released, group, connection))
                    connection.resume()
                else:
                    self._released(group, connection)
                    self._admission.turn_away(connection, "the session is over")
            return await host.over()
        finally:
            if host.ended is not None:
                self._running.remove(group)
                self._ended += 1
            await host.release()
