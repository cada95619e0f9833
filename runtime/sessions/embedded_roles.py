"""Roles that a client starts for itself: it connects to them too, nobody gave it their address, and they need nobody.

The relay's remote AI is one: a client that is not told where it runs has one of its own, in its process, behind a port
on loopback, over which the two speak their protocol as if it were far away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from anyio.abc import TaskGroup

from machines.effects import Ended
from machines.engine.session import Program
from machines.model import Spec
from runtime.network.transport import NetworkError
from runtime.players.base import Player
from runtime.players.seeds import derived_seed
from runtime.sessions.client import Address, join, run_in_group
from runtime.sessions.server import serve

HOST = "127.0.0.1"


def is_embeddable(spec: Spec, role: str) -> bool:
    """Tell whether a client can start the role for itself: it has a session for each connection, and connects to none.

    A role with one session for all its connections is where players meet; one of one's own would be of no use.
    """
    return bool(spec.roles[role].machines["main"].parameters) and not spec.connects.get(role)


async def join_with_embedded(
    program: Program,
    own: Sequence[Program],
    addresses: Mapping[str, Address],
    player: Player | None,
    *,
    seed: int = 0,
    my: Mapping[str, Any] | None = None,
    **how: Any,
) -> Ended:
    """Start the roles in ``own``, join as `runtime.sessions.client.join` does, and stop them once the client has ended.

    ``player`` answers their questions as well as the client's. ``addresses`` are those of the other roles.

    Raises:
        CannotConnectError: a role can't be reached, or has no address.
        CannotListenError: loopback TCP does not work here.
    """

    async def run(tasks: TaskGroup) -> Ended:
        found = dict(addresses)
        for role in own:
            found[role.role.name] = (HOST, await _started(tasks, role, player, derived_seed(seed, role.role.name), my))
        return await join(program, found, player, seed=seed, my=my, **how)

    return await run_in_group(run)


async def _started(
    tasks: TaskGroup, program: Program, player: Player | None, seed: int, my: Mapping[str, Any] | None
) -> int:
    """Start a role that listens; return its port once that is taken."""
    listening = anyio.Event()
    found: list[int | NetworkError] = []

    def told(port_or_error: int | NetworkError) -> None:
        found.append(port_or_error)
        listening.set()

    async def run() -> None:
        try:
            await serve(program, HOST, 0, seed=seed, my=my, player=player, on_listening=told)
        except NetworkError as error:
            told(error)  # Raised by who waits for the port, outside this task.

    tasks.start_soon(run, name=f"own {program.role.name}")
    await listening.wait()
    if isinstance(found[0], NetworkError):
        raise found[0]
    return found[0]
