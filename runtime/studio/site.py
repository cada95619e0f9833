"""The studio's pages on this machine: a run from its journal, to who has the token of the link.

While the journal is written the site reads on, and tells every page that is open what has come: ``/live``, a WebSocket.

Only loopback is served unless told otherwise. `enter` turns the link's token into a cookie, so that it leaves the
address; a page of another site can neither read nor write anything: Host and the cookie are checked, the policy lets a
page load its own parts alone.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from runtime.studio.page import RunFacts, details, pictures, text_of
from runtime.studio.steps import RecordedRun

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
PICTURE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}
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
        self._token = token
        self._cookie = f"accord-studio-{port}"  # cookies know no ports: two studios do not take each other's
        self._viewers = 0
        self._news = anyio.Event()
        routes = [
            Route("/", self._page),
            Route("/enter", self._enter),
            Route("/run.json", self._run_facts),
            Route("/step/{number:int}", self._step),
            Route("/picture/{name}.svg", self._picture),
            Route("/board/{number:int}.svg", self._board),
            Route("/favicon.ico", self._no_icon),
            Route("/{name}", self._file),
            WebSocketRoute("/live", self._live),
        ]
        self.app: ASGIApp = _Guarded(Starlette(routes=routes, lifespan=self._reading), self._cookie, token, hosts)

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

    async def _enter(self, request: Request) -> Response:
        if not _same(request.query_params.get("token", ""), self._token):
            return PlainTextResponse("this link has no token, or that of another studio\n", 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    async def _page(self, request: Request) -> Response:
        return Response(text_of("run.html"), media_type="text/html")

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            return PlainTextResponse("there is no such page\n", 404)
        return Response(text_of(name), media_type=_STATIC[name])

    async def _no_icon(self, request: Request) -> Response:
        return Response(status_code=204)  # every browser asks for one

    async def _run_facts(self, request: Request) -> Response:
        return JSONResponse(self._facts.whole())

    async def _step(self, request: Request) -> Response:
        number = request.path_params["number"]
        if number >= len(self._run.steps):
            return PlainTextResponse("the run has no such step\n", 404)
        return JSONResponse(details(self._run.steps[number]))

    async def _picture(self, request: Request) -> Response:
        picture = self._pictures.get(request.path_params["name"])
        return _svg(picture)

    async def _board(self, request: Request) -> Response:
        number = request.path_params["number"]
        return _svg(self._boards.svg(number) if number < len(self._boards) else None)


async def _until_gone(socket: WebSocket, scope: anyio.CancelScope) -> None:
    """Wait until the page is closed; whatever it says is none of ours to hear."""
    with suppress(WebSocketDisconnect, OSError):
        await socket.receive_bytes()
    scope.cancel()


def _count(socket: WebSocket, name: str) -> int | None:
    text = socket.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _same(guessed: str, token: str) -> bool:
    """Compare in a time that does not tell how much of it is right."""
    return secrets.compare_digest(guessed.encode("utf-8", "surrogatepass"), token.encode())


def _svg(text: str | None) -> Response:
    if text is None:
        return PlainTextResponse("there is no such picture\n", 404)
    return Response(text, media_type="image/svg+xml", headers={"content-security-policy": PICTURE_POLICY})


class _Guarded:
    """Lets through who calls this studio by its own name and has its cookie; sets the headers of every answer."""

    def __init__(self, app: ASGIApp, cookie: str, token: str, hosts: frozenset[str]) -> None:
        self._app = app
        self._cookie = cookie
        self._token = token
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        refusal = self._refusal(asked)
        if scope["type"] == "websocket":
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await WebSocket(scope, receive, send).close()  # which answers 403
            return
        answer: ASGIApp = self._app if refusal is None else PlainTextResponse(f"{refusal[1]}\n", refusal[0])

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                has = {name.lower() for name, _ in message["headers"]}
                added = {"content-security-policy": POLICY, **HEADERS}
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in added.items() if name.encode() not in has),
                ]
            await send(message)

        await answer(scope, receive, guarded)

    def _refusal(self, asked: HTTPConnection) -> tuple[int, str] | None:
        """Return the status and the sentence with which something is refused; None if it is not."""
        host = asked.headers.get("host", "")
        if host.rpartition(":")[0] not in self._hosts:
            return 421, "this studio has another name"
        if asked.scope.get("method", "GET") not in ("GET", "HEAD"):
            return 405, "nothing is written here"
        # A browser says which site's page opens a WebSocket: a page of another site has the cookie sent along.
        if asked.scope["type"] == "websocket" and asked.headers.get("origin") != f"http://{host}":
            return 403, "only pages of this studio are told what comes"
        if asked.scope["path"] != "/enter" and not _same(asked.cookies.get(self._cookie, ""), self._token):
            return 403, "open the link that accord studio printed: it has the token"
        return None


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen()  # who follows the link at once waits until it is answered
    except OSError:
        made.close()
        raise
    return made


def serve(run: RecordedRun, host: str, port: int, opened: Callable[[str], None]) -> None:
    """Serve a run until the process is told to stop; ``opened`` is called with the link before it answers.

    Raises:
        OSError: the port is taken, or the address is none of this machine.
        PictureError: Graphviz is missing, or a picture is too much for it.
    """
    token = secrets.token_urlsafe(16)
    listening = _listening(host, port)
    number = listening.getsockname()[1]
    hosts = frozenset({host, "127.0.0.1", "localhost", "[::1]"})
    site = RunSite(run, token=token, port=number, hosts=hosts)
    named = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    server = uvicorn.Server(uvicorn.Config(site.app, log_level="warning", access_log=False, ws_max_size=1024))
    opened(f"http://{f'[{named}]' if ':' in named else named}:{number}/enter?token={token}")
    server.run(sockets=[listening])
