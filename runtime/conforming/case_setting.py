"""What all cases of a role share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.abc import SocketAttribute

from machines.conforming.cases import Case
from machines.conforming.deeds import example
from machines.conforming.role_knowledge import RoleKnowledge
from machines.engine.session import Program
from machines.model import Spec
from runtime.conforming.actors import Casting
from runtime.conforming.machine_load import MachineLoad

HOST: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class CaseSetting:
    """What all cases of a role share.

    ``programs`` are our roles, as a case needs them; ``knowledge`` is the stranger's. ``noted`` gives what sees the
    inputs of our sessions in a case, for a journal. ``is_bot`` if the stranger is a bot behind a client of
    ours: where that gives up, the bot has not answered. ``load`` measures from the first case on; ``is_patient`` if
    ``grace`` allows for a busy machine.
    """

    spec: Spec
    role: str
    programs: Callable[[Case], Mapping[str, Program]]
    knowledge: Callable[[Case], RoleKnowledge]
    casting: Casting
    client: str  # the role of our clients
    command: str = ""
    address: tuple[str, int] | None = None
    grace: float = 1.0
    case_seconds: float = 60.0
    is_bot: bool = False
    noted: Callable[[Case], Callable[..., None]] | None = None
    is_patient: bool = False
    load: MachineLoad = field(default_factory=MachineLoad)


async def free_port() -> int:
    """Return a port that was free a moment ago."""
    async with await anyio.create_tcp_listener(local_host=HOST) as taken:
        return int(taken.extra(SocketAttribute.local_port))


def any_message(program: Program, sender: str) -> tuple[str, bytes]:
    """Return some message of a role, and its bytes."""
    for message in program.spec.messages.values():
        data = example(program, message.name) if sender in message.senders else None
        if data is not None and len(data) > 1:
            return message.name, data
    return "nothing", b"??"


def ignore(*_: object, **__: object) -> None:
    """Nothing is noted."""
