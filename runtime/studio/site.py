"""The studio's pages on this machine: a run from its journal, to who has the token of the link.

While the journal is written the site reads on, and tells every page that is open what has come: ``/live``, a WebSocket.

Only loopback is served unless told otherwise; see `runtime.studio.guard`.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from runtime.studio.guard import Guarded, files, listening, svg
from runtime.studio.page import RunFacts, details, pictures
from runtime.studio.steps import RecordedRun

VIEWERS_MAX: Final = 64  # pages that are told what comes; a further one is asked to come back later
READ_SECONDS: Final = 0.1  # between two looks at a journal that is being written
ROWS_MAX: Final = 2_000  # in one message to a page
_STATIC: Final = {"run.js": "text/javascript", "run.css": "text/css"}


class RunSite:
    """The application that shows one run. ``token`` is what the link has; ``hosts`` are the names it answers to."""

    def __init__(self, run: RecordedRun, *, token: str, port: int, hosts: frozenset[str]) -> None:
        self._run = run
        self._facts = RunFacts(run)
        self._boards = self._facts.boards
        self._pictures: Mapping[str, str] = pictures(run)
        self._viewers = 0
        self._news = anyio.Event()
        routes = [
            Route("/run.json", self._run_facts),
            Route("/step/{number:int}", self._step),
            Route("/picture/{name}.svg", self._picture),
            Route("/board/{number:int}.svg", self._board),
            WebSocketRoute("/live", self._live),
            *files("run.html", _STATIC),
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
        if self._viewers >= VIEWERS_MAX or row is None or entry is None:
            await socket.close(1013 if self._viewers >= VIEWERS_MAX else 1008)
            return
        await socket.accept()
        self._viewers += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_until_gone, socket, tasks.cancel_scope)
                await self._tell(socket, row, entry)
                tasks.cancel_scope.cancel()
        finally:
            self._viewers -= 1

    async def _tell(self, socket: WebSocket, row: int, entry: int) -> None:
        while True:
            news, over = self._news, self._facts.over
            told = self._facts.since(row, entry, ROWS_MAX)
            row, entry = row + len(told["rows"]), entry + len(told["table"])
            try:
                await socket.send_json(told)
            except (WebSocketDisconnect, OSError):
                return
            if row < len(self._facts.rows):
                continue
            if over:
                await socket.close()
                return
            await news.wait()

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


async def _until_gone(socket: WebSocket, scope: anyio.CancelScope) -> None:
    """Wait until the page is closed; whatever it says is none of ours to hear."""
    with suppress(WebSocketDisconnect, OSError):
        await socket.receive_bytes()
    scope.cancel()


def _count(socket: WebSocket, name: str) -> int | None:
    text = socket.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def serve(run: RecordedRun, host: str, port: int, opened: Callable[[str], None]) -> None:
    """Serve a run until the process is told to stop; ``opened`` is called with the link before it answers.

    Raises:
        OSError: the port is taken, or the address is none of this machine.
        PictureError: Graphviz is missing, or a picture is too much for it.
    """
    token = secrets.token_urlsafe(16)
    taken = listening(host, port)
    number = taken.getsockname()[1]
    hosts = frozenset({host, "127.0.0.1", "localhost", "[::1]"})
    site = RunSite(run, token=token, port=number, hosts=hosts)
    named = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    server = uvicorn.Server(uvicorn.Config(site.app, log_level="warning", access_log=False, ws_max_size=1024))
    opened(f"http://{f'[{named}]' if ':' in named else named}:{number}/enter?token={token}")
    server.run(sockets=[taken])
