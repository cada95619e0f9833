"""Pages that are open at a time, each with a WebSocket: how many may be, and that who has gone is let go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

FULL: int = 1013  # with this code a page is asked to come back later
Talk = Callable[[WebSocket], Awaitable[None]]


class Room:
    """The pages of one site, ``most`` at a time."""

    def __init__(self, most: int) -> None:
        self.open = 0
        self._most = most

    async def hold(self, socket: WebSocket, tell: Talk, hear: Talk | None = None) -> None:
        """Talk with a page until it has gone, or ``tell`` or ``hear`` is through; without ``hear`` it is not heard.

        Both may let a `WebSocketDisconnect` or an OSError through: then the page has gone.
        """
        if self.open >= self._most:
            await socket.close(FULL)
            return
        await socket.accept()
        self.open += 1
        try:
            async with anyio.create_task_group() as tasks:
                for talk in (tell, hear or _until_gone):
                    tasks.start_soon(_until_through, talk, socket, tasks.cancel_scope)
        finally:
            self.open -= 1


async def _until_through(talk: Talk, socket: WebSocket, scope: anyio.CancelScope) -> None:
    with suppress(WebSocketDisconnect, OSError):
        await talk(socket)
    scope.cancel()


async def _until_gone(socket: WebSocket) -> None:
    """Wait until the page is closed; whatever it says is none of ours to hear."""
    await socket.receive_bytes()
