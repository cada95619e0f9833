"""The studio's pages on this machine: a run from its journal, to who has the token of the link.

While the journal is written the site reads on, and tells every page that is open what has come: ``/live``, a WebSocket.

Only loopback is served unless told otherwise; see `runtime.studio.guard`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import anyio
import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from runtime.studio.guard import Guarded, files, svg
from runtime.studio.page import SCRIPTS, STYLES, RunFacts, details, pictures
from runtime.studio.rooms import Room
from runtime.studio.serving import serve_site
from runtime.studio.steps import RecordedRun

VIEWERS_MAX: Final = 64  # pages that are told what comes; a further one is asked to come back later
READ_SECONDS: Final = 0.1  # between two looks at a journal that is being written
ROWS_MAX: Final = 2_000  # in one message to a page


class RunSite:
    """The application that shows one run. ``token`` is what the link has; ``hosts`` are the names it answers to."""

    def __init__(self, run: RecordedRun, token: str, port: int, hosts: frozenset[str]) -> None:
        self._run = run
        self._facts = RunFacts(run)
        self._boards = self._facts.boards
        self._pictures: Mapping[str, str] = pictures(run)
        self._room = Room(VIEWERS_MAX)
        self._news = anyio.Event()
        self._written: dict[tuple[int, int], tuple[str, int, int]] = {}  # by (row, entry) from which on
        self._written_of: object = None  # how far the run was then
        routes = [
            Route("/run.json", self._run_facts),
            Route("/step/{number:int}", self._step),
            Route("/picture/{name}.svg", self._picture),
            Route("/board/{number:int}.svg", self._board),
            WebSocketRoute("/live", self._live),
            *files("run.html", *SCRIPTS, *STYLES),
        ]
        self.app = Guarded(Starlette(routes=routes, lifespan=self._reading), token=token, port=port, hosts=hosts)

    @asynccontextmanager
    async def _reading(self, app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_on)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                self._run.close()

    async def _read_on(self) -> None:
        """Read the journal as it is written, and wake who waits for news."""
        while not self._facts.over:
            if await anyio.to_thread.run_sync(self._facts.read):
                news, self._news = self._news, anyio.Event()
                news.set()
            await anyio.sleep(READ_SECONDS)

    async def _live(self, socket: WebSocket) -> None:
        """Tell a page what has come since the row and the entry that it has, until the run is over."""
        row, entry = _count(socket, "row"), _count(socket, "entry")
        if row is None or entry is None:
            await socket.close(1008)
            return
        await self._room.hold(socket, lambda page: self._tell(page, row, entry))

    async def _tell(self, socket: WebSocket, row: int, entry: int) -> None:
        while True:
            news, over = self._news, self._facts.over
            text, row, entry = self._told(row, entry)
            await socket.send_text(text)
            if row < len(self._facts.rows):
                continue
            if over:
                await socket.close()
                return
            await news.wait()

    def _told(self, row: int, entry: int) -> tuple[str, int, int]:
        """Return what has come since, as JSON, and from where on the rest will; it is written once for all pages."""
        if self._written_of != (len(self._facts.rows), self._facts.over):
            self._written_of = len(self._facts.rows), self._facts.over
            self._written.clear()
        if (row, entry) not in self._written:
            told = self._facts.since(row, entry, ROWS_MAX)
            text = msgspec.json.encode(told).decode()
            self._written[row, entry] = text, row + len(told["rows"]), entry + len(told["table"])
        return self._written[row, entry]

    async def _run_facts(self, request: Request) -> Response:
        return JSONResponse(self._facts.whole())

    async def _step(self, request: Request) -> Response:
        number = request.path_params["number"]
        if number >= len(self._run.steps):
            return PlainTextResponse("the run has no such step\n", 404)
        return JSONResponse(details(self._run.steps[number]))

    async def _picture(self, request: Request) -> Response:
        picture = self._pictures.get(request.path_params["name"])
        return svg(picture)

    async def _board(self, request: Request) -> Response:
        number = request.path_params["number"]
        return svg(self._boards.svg(number) if number < len(self._boards) else None)


def _count(socket: WebSocket, name: str) -> int | None:
    text = socket.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def serve(run: RecordedRun, host: str, port: int, opened: Callable[[str], None]) -> None:
    """Serve a run until the process is told to stop; ``opened`` is called with the link before it answers.

    Raises:
        OSError: the port is taken, or the address is none of this machine.
        PictureError: Graphviz is missing, or a picture is too much for it.
    """
    serve_site(lambda *place: RunSite(run, *place).app, host, port, opened)
