"""Whether a program has started: a virtual machine, a model or an import may take seconds before it reads anything."""

from __future__ import annotations

import os
import select
import stat
import struct
from typing import Any, Final

import anyio

try:
    import fcntl
    import termios
except ImportError:  # Windows: there only what a program says itself is known of it
    fcntl = termios = None  # type: ignore[assignment]

START_SECONDS: Final = 10.0  # How long to wait for a program that neither reads nor says that it is ready.
LOOK_SECONDS: Final = 0.01  # Between two looks at whether it has.


def unread_bytes(stdin: object) -> int | None:
    """Return how much of what was written to a program's standard input it has not read; None if nobody can tell.

    That is so on Windows, and on uvloop, which keeps its pipes to itself.
    """
    inner: Any = getattr(stdin, "_stream", None)
    transport = getattr(inner, "transport", None)
    pipe: Any = transport.get_extra_info("pipe") if transport is not None else inner
    if fcntl is None or not hasattr(pipe, "fileno"):
        return None
    try:
        descriptor: int = pipe.fileno()
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return None
        broken = select.poll()
        broken.register(descriptor, 0)
        if broken.poll(0):  # nobody holds the other end: it has closed its input
            return 0
        count: int = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0]
    except (OSError, ValueError):  # it is closed: the program reads no more
        return 0
    return count


async def started(player: object) -> None:
    """Wait until a player can be asked: its program reads its input, or says that it is ready, or has ended.

    At once for all players that are no programs, and for a program after START_SECONDS, or what its limits say.
    """
    if not hasattr(player, "has_started"):
        return
    seconds: float | None = player.allowance.limits.start_seconds if hasattr(player, "allowance") else None
    with anyio.move_on_after(START_SECONDS if seconds is None else seconds):
        while not await player.has_started():
            await anyio.sleep(LOOK_SECONDS)
