"""A connection of the stranger, and how what we say goes out on it: piece by piece, glued, or as it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.abc import SocketStream

from machines.conforming.cases import Cutting
from machines.conforming.deeds import pieces
from runtime.conforming.actors import OwnActor

APART_SECONDS: Final = 0.005  # between messages that are not to be glued
GLUE_SECONDS: Final = 0.02  # how long bytes are held back to be glued
HOLD_SECONDS: Final = (
    0.5  # … where the program has nothing to say to them: so that what comes after a pause is glued on
)


@dataclass(slots=True)
class StrangerLink:
    """A connection of the stranger: ``seat`` is the stranger's, ``there`` that of our session."""

    number: int
    seat: int
    stream: SocketStream
    actor: OwnActor
    there: int
    out: list[bytes | None] = field(default_factory=list)  # None: the end
    filled: anyio.Event = field(default_factory=anyio.Event)
    closing: bool = False
    ended: bool = False

    def put(self, data: bytes | None) -> None:
        """Have bytes sent, or the end."""
        self.out.append(data)
        self.filled.set()

    async def write(self, cutting: Cutting, may_speak: Callable[[], bool] = lambda: True) -> None:
        """Send what there is to be sent, as it comes, until the connection is gone or this is cancelled.

        ``may_speak`` tells whether the stranger may have an answer to what is held back to be glued.
        """
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            while True:
                if not self.out:
                    self.filled = anyio.Event()
                    await self.filled.wait()
                    if cutting == "glued":
                        await self._hold(may_speak)
                waiting = list(self.out) if cutting == "glued" else [self.out[0]]
                del self.out[: len(waiting)]
                data = b"".join(one for one in waiting if one is not None)
                for piece in pieces(cutting, data) if data else ():
                    await self.stream.send(piece)
                    await anyio.lowlevel.checkpoint()
                if None in waiting:
                    await self.stream.send_eof()
                elif self.out and cutting != "glued":
                    await anyio.sleep(APART_SECONDS)

    async def _hold(self, may_speak: Callable[[], bool]) -> None:
        """Wait for more that can be glued on: a moment, or longer while the stranger has nothing to answer."""
        await anyio.sleep(GLUE_SECONDS)
        with anyio.move_on_after(HOLD_SECONDS):
            while None not in self.out and not may_speak():
                self.filled = anyio.Event()
                await self.filled.wait()
                await anyio.sleep(GLUE_SECONDS)
