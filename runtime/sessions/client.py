"""The connecting side: a role that opens connections to others, with its player, run until its session has ended."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from ssl import SSLContext
from typing import Final, TypeVar, Unpack

import anyio
from anyio.abc import TaskGroup

from machines.effects import Ended
from machines.engine.session import Program
from runtime.network.clock import make_clock, warn_of_lag
from runtime.network.transport import (
    CannotConnectError,
    Connection,
    NetworkError,
    NobodyListensError,
    connect,
    library_named,
)
from runtime.players.base import Player
from runtime.sessions.opening import SessionOptions, open_host
from runtime.sessions.stall_report import tell_of_waits

log = logging.getLogger("accord.session")

RETRY_SECONDS: Final = 0.1  # between two tries to reach a role at whose port nobody listens

Result = TypeVar("Result")
Address = tuple[str, int]
"""A host's name or number, and a port."""


async def join(
    program: Program,
    addresses: Mapping[str, Address],
    player: Player | None,
    *,
    on_turned_away: Callable[[str, str], None] | None = None,
    tells_waits: bool = False,
    stock: bool = False,
    tls: Mapping[str, SSLContext] | None = None,
    retry: float = 0.0,
    on_connected: Callable[[], None] | None = None,
    **options: Unpack[SessionOptions],
) -> Ended:
    """Connect a role to those it connects to, run its session, and return how it ended.

    ``addresses`` has one for each role of ``program.connects``. ``player`` answers the session's questions and hears
    its messages. ``tls`` has, for each role that speaks it, what is trusted. ``stock`` takes anyio's own streams on
    asyncio too.

    ``on_turned_away`` is told the role, and why if the network says so, where it ended the connection before the player
    had heard anything, and that was not what the spec waited for: its seats are taken, or its game is over. With
    ``tells_waits`` the log says what is waited for when nothing happens for a while. Where nobody listens yet it is
    tried again for ``retry`` seconds; ``on_connected`` is called once all are reached.

    Raises:
        CannotConnectError: a role can't be reached, or has no address.
    """

    async def run(tasks: TaskGroup) -> Ended:
        clock = make_clock(tasks)
        own = stock or options.get("starttls") is not None
        connections = await connect_all(program.connects, addresses, tasks, stock=own, tls=tls, retry=retry)
        if on_connected is not None:
            on_connected()
        host = open_host(program, tasks, clock, player, **options)
        try:
            host.start(connections)
            if tells_waits:
                tasks.start_soon(tell_of_waits, host.session, host.name)
            ended = await host.over()
            if host.turned_away is not None and on_turned_away is not None:
                seat, why = host.turned_away
                on_turned_away(program.connects[seat], why)
            return ended
        finally:
            await host.release()
            warn_of_lag(clock, host.name)

    return await run_in_group(run)


async def run_in_group(run: Callable[[TaskGroup], Awaitable[Result]], bare: type[Exception] = NetworkError) -> Result:
    """Return what ``run`` returns, given a task group for as long as it runs.

    Raises:
        NetworkError: ``run`` raised it, or another of the kind ``bare``; bare, not in a group of exceptions.
    """
    with library_named():
        async with anyio.create_task_group() as tasks:
            failed: Exception | None = None
            try:
                outcome = await run(tasks)
            except bare as error:
                failed = error
            tasks.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return outcome


async def connect_all(
    roles: Sequence[str],
    addresses: Mapping[str, Address],
    tasks: TaskGroup,
    *,
    stock: bool = False,
    tls: Mapping[str, SSLContext] | None = None,
    retry: float = 0.0,
) -> list[Connection]:
    """Return a connection to each role, in order; if one fails, those before it are closed. ``tls`` is by role.

    Where nobody listens it is tried again, for ``retry`` seconds in all.

    Raises:
        CannotConnectError: a role can't be reached, or has no address.
    """
    connections: list[Connection] = []
    until = anyio.current_time() + retry
    try:
        for role in roles:
            if role not in addresses:
                raise CannotConnectError(f"cannot connect to {role}: no address was given for it")
            how = partial(connect, role, *addresses[role], tasks, stock=stock, tls=(tls or {}).get(role))
            connections.append(await _connected(how, until))
    except BaseException:
        for connection in connections:
            connection.abort()
        raise
    return connections


async def _connected(connects: Callable[[], Awaitable[Connection]], until: float) -> Connection:
    told = False
    while True:
        try:
            return await connects()
        except NobodyListensError as error:
            left = until - anyio.current_time()
            if left <= 0:
                raise
            if not told:
                log.info("%s; it is tried again for %.1f s", error, left)
            told = True
            await anyio.sleep(min(RETRY_SECONDS, left))
