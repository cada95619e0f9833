"""What pages may open by a key, each once it is asked for: the runs of a folder or an event, its specs, standings."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

import anyio
import anyio.to_thread
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from runtime.studio.rooms import FULL, Room
from runtime.studio.run_view import LINES_MAX, READ_SECONDS, OpenRun
from runtime.studio.steps import RecordedRun

RUNS_MAX: Final = 32  # that are open at a time: of those that nobody looks at, the one left longest ago is closed


class Opened(Protocol):
    """What was opened. Others see of it what is shared, if anything is."""

    @property
    def busy(self) -> bool:
        """Whether somebody looks at it."""

    def app(self, *, shared: bool) -> ASGIApp | None:
        """Return the application that shows it."""

    async def read(self) -> object:
        """Look whether there is something new, and tell the pages."""

    def close(self) -> None:
        """Read no more."""


class Shelf:
    """What is open, ``most`` at a time; ``made`` opens what a key names, in a thread, or says that there is none."""

    def __init__(self, most: int, made: Callable[[str], Opened | None]) -> None:
        self._most = most
        self._made = made
        self._open: OrderedDict[str, Opened] = OrderedDict()
        self._lock = anyio.Lock()

    def app(self, *, shared: bool) -> ASGIApp:
        """Return the application that shows what is asked for: the path's ``key``."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            app, why, status = await self._asked(scope["path_params"]["key"], shared=shared)
            if app is not None:
                await app(scope, receive, send)
            elif scope["type"] == "websocket":
                await WebSocket(scope, receive, send).close(FULL)
            else:
                await PlainTextResponse(f"{why}\n", status)(scope, receive, send)

        return answer

    @property
    def busy(self) -> bool:
        """Whether somebody looks at anything that is open."""
        return any(one.busy for one in self._open.values())

    async def read(self) -> None:
        """Look whether there is something new in what is open."""
        for one in list(self._open.values()):
            await one.read()

    async def read_on(self) -> None:
        """Do so again and again; close all in the end."""
        try:
            while True:
                await self.read()
                await anyio.sleep(READ_SECONDS)
        finally:
            self.close()

    def close(self) -> None:
        """Close all that is open."""
        while self._open:
            self._open.popitem()[1].close()

    async def _asked(self, key: str, *, shared: bool) -> tuple[ASGIApp | None, str, int]:
        """Return what shows a thing; or why nothing does, and the status that says so."""
        async with self._lock:
            if key not in self._open:
                if not self._has_room():
                    return None, f"{self._most} are open already: close a page of another", 503
                try:
                    made = await anyio.to_thread.run_sync(self._made, key)
                except Exception as error:
                    from runtime.commands.exit_codes import sentence

                    told = sentence(error)
                    if told is None:
                        raise
                    return None, told[0], 422
                if made is None:
                    return None, "there is no such run", 404
                self._open[key] = made
            self._open.move_to_end(key)
            return self._open[key].app(shared=shared), "this is not shared", 403

    def _has_room(self) -> bool:
        """Close what was left longest ago, if there must be room for another; return whether there is."""
        if len(self._open) >= self._most:
            left = next((key for key, one in self._open.items() if not one.busy), None)
            if left is None:
                return False
            self._open.pop(left).close()
        return True


def runs_shelf(
    path_of: Callable[[str], Path | None], room: Room, rules: Sequence[str], behind: float | None, up: str
) -> Shelf:
    """Return the shelf of runs whose journals ``path_of`` knows by key; ``up`` is what the page leads back to."""

    def opened(key: str) -> OpenRun | None:
        path = path_of(key)
        if path is None:
            return None
        run = RecordedRun(path, rules=rules)
        try:
            run.read(LINES_MAX)
            return OpenRun(run, room, behind, up)
        except BaseException:
            run.close()
            raise

    return Shelf(RUNS_MAX, opened)
