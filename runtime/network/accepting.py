"""What all listeners have in common: they wait while there is no room, and seldom tell what keeps them from accepting.

Connections that are not accepted wait in the system's queue, of BACKLOG places. So whoever runs out of room, or of file
descriptors, makes newcomers wait instead of closing them, and costs no time meanwhile.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from math import inf
from typing import Final

import anyio

from runtime.network.transport import reason

log = logging.getLogger("accord.network")

TELL_SECONDS: Final = 60.0  # a trouble that lasts is told so often
ACCEPT_AGAIN_SECONDS: Final = 0.1  # after a failure to accept, usually because all file descriptors are in use


class Seldom:
    """Says something at most once in TELL_SECONDS."""

    def __init__(self, time: Callable[[], float] = time.monotonic) -> None:
        self._time = time
        self._again_at = -inf

    def warn(self, text: str, *values: object) -> None:
        """Warn, unless that was done a short time ago."""
        if self._time() >= self._again_at:
            self._again_at = self._time() + TELL_SECONDS
            log.warning(text, *values)


class Accepting:
    """Whether a listener may accept now."""

    def __init__(self) -> None:
        self._room: anyio.Event | None = None  # set once there is room again; None while there is
        self._failed = Seldom()

    def pause(self) -> None:
        """Accept no more until `resume`."""
        if self._room is None:
            self._room = anyio.Event()

    def resume(self) -> None:
        """Accept again."""
        if self._room is not None:
            self._room.set()
            self._room = None

    async def room(self) -> None:
        """Wait until connections may be accepted."""
        while self._room is not None:
            await self._room.wait()

    async def failed(self, error: BaseException) -> None:
        """Say why accepting failed, and wait a while."""
        self._failed.warn("connections cannot be accepted, they wait: %s", reason(error))
        await anyio.sleep(ACCEPT_AGAIN_SECONDS)
