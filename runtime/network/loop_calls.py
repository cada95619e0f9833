"""From any thread back into the event loop, on asyncio and on trio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from runtime.network.transport import on_asyncio


def loop_caller() -> Callable[[Callable[[], None]], None]:
    """Return what has the running loop call something, from any thread or signal handler; nothing once it is closed."""
    if on_asyncio():
        loop = asyncio.get_running_loop()
        return lambda call: _call_in(loop, call)
    import trio

    token = trio.lowlevel.current_trio_token()

    def call_in_trio(call: Callable[[], None]) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(call)

    return call_in_trio


def _call_in(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)
