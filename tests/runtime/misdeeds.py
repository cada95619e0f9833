"""What a guest may do wrong at any wait of any server of JSON values, and a guest who does it."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, Generic, Protocol, TypeVar

import anyio
import anyio.lowlevel
from anyio.abc import ByteStream, SocketAttribute, SocketStream, TaskGroup

from tests.runtime.tsuro_table import line

GARBAGE_BYTES: Final = 10 << 20


class Then(Enum):
    """What a guest does after its misdeed."""

    PLAY = auto()
    LISTEN = auto()  # reads to the end, and says nothing
    IDLE = auto()  # neither reads nor closes
    NOTHING = auto()  # it is gone


class Offender(Protocol):
    """A guest who does something wrong; ``tasks`` are those that it may leave running."""

    stream: ByteStream
    then: Then
    done: anyio.Event
    tasks: TaskGroup

    async def say(self, value: Any) -> None:
        """Say a value, as one line in one write."""


async def write(offender: Offender, data: bytes) -> None:
    """Send bytes; the server may have closed by then."""
    try:
        for at in range(0, len(data), 65536):
            await offender.stream.send(data[at : at + 65536])
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


async def lived(offender: Offender, live: Callable[[], Awaitable[None]]) -> None:
    """Live to the end; an idle guest stays until it is cancelled."""
    try:
        async with anyio.create_task_group() as offender.tasks:
            await live()
            offender.done.set()
            if offender.then is Then.IDLE:
                await anyio.sleep_forever()
            offender.tasks.cancel_scope.cancel()
    finally:
        await anyio.aclose_forcefully(offender.stream)


# -- the misdeeds: each is given what would be right to say, and returns what the culprit does from then on -----------


async def say_no_json(culprit: Offender, right: Any) -> Then:
    await write(culprit, b"oops }\n")
    return Then.LISTEN


async def say_no_utf8(culprit: Offender, right: Any) -> Then:
    await write(culprit, b'["wh\xefte"]\n')
    return Then.LISTEN


async def say_a_wrong_shape(culprit: Offender, right: Any) -> Then:
    await culprit.say({"move": right})
    return Then.LISTEN


async def leave(culprit: Offender, right: Any) -> Then:
    await culprit.stream.aclose()
    return Then.NOTHING


async def say_half_and_leave(culprit: Offender, right: Any) -> Then:
    await say_half(culprit, right)
    return await leave(culprit, right)


async def say_half(culprit: Offender, right: Any) -> Then:
    data = line(right)
    await write(culprit, data[: len(data) // 2])
    return Then.LISTEN


async def say_it_byte_by_byte(culprit: Offender, right: Any) -> Then:
    for byte in line(right):
        await write(culprit, bytes([byte]))
        await anyio.lowlevel.checkpoint()  # for the server to read it before the next
    return Then.PLAY


async def flood_without_an_end(culprit: Offender, right: Any) -> Then:
    culprit.tasks.start_soon(write, culprit, b"[0, " * (GARBAGE_BYTES // 4))
    return Then.LISTEN


async def reset(culprit: Offender, right: Any) -> Then:
    assert isinstance(culprit.stream, SocketStream), "only a socket can be reset"
    raw = culprit.stream.extra(SocketAttribute.raw_socket)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    return await leave(culprit, right)


Culprit = TypeVar("Culprit", bound=Offender)


@dataclass(frozen=True)
class Misdeed(Generic[Culprit]):
    """A way to break a wait; ``log`` is what the server says of it, ``late`` whether it shows only after a time."""

    act: Callable[[Culprit, Any], Awaitable[Then]]
    log: str
    late: bool = False
    over_tcp: bool = False
