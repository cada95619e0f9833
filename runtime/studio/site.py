"""The studio's pages on this machine: a run from its journal, to who has the token of the link.

Only loopback is served unless told otherwise. `enter` turns the link's token into a cookie, so that it leaves the
address; a page of another site can neither read nor write anything: Host and the cookie are checked, the policy lets a
page load its own parts alone.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Mapping
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.studio.boards import Boards
from runtime.studio.page import details, facts, pictures, text_of
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
_STATIC: Final = {"run.js": "text/javascript", "run.css": "text/css"}


class RunSite:
    """The application that shows one run. ``token`` is what the link has; ``hosts`` are the names it answers to."""

    def __init__(self, run: RecordedRun, *, token: str, port: int, hosts: frozenset[str]) -> None:
        self._run = run
        self._boards = Boards(run.program.spec, run.steps, run.parties)
        self._facts = facts(run, self._boards)
        self._pictures: Mapping[str, str] = pictures(run)
        self._token = token
        self._cookie = f"accord-studio-{port}"  # cookies know no ports: two studios do not take each other's
        routes = [
            Route("/", self._page),
            Route("/enter", self._enter),
            Route("/run.json", self._run_facts),
            Route("/step/{number:int}", self._step),
            Route("/picture/{name}.svg", self._picture),
            Route("/board/{number:int}.svg", self._board),
            Route("/favicon.ico", self._no_icon),
            Route("/{name}", self._file),
        ]
        self.app: ASGIApp = _Guarded(Starlette(routes=routes), self._cookie, token, hosts)

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
        return JSONResponse(self._facts)

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
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        answer: ASGIApp = self._app
        if request.headers.get("host", "").rpartition(":")[0] not in self._hosts:
            answer = PlainTextResponse("this studio has another name\n", 421)
        elif request.method not in ("GET", "HEAD"):
            answer = PlainTextResponse("nothing is written here\n", 405)
        elif scope["path"] != "/enter" and not _same(request.cookies.get(self._cookie, ""), self._token):
            answer = PlainTextResponse("open the link that accord studio printed: it has the token\n", 403)

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


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
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
    server = uvicorn.Server(uvicorn.Config(site.app, log_level="warning", access_log=False, lifespan="off"))
    opened(f"http://{f'[{named}]' if ':' in named else named}:{number}/enter?token={token}")
    server.run(sockets=[listening])
