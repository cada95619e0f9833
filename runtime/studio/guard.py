"""What every site of the studio has: who may look, how it is entered, its files, and what its answers may load.

`enter` turns the link's token into a cookie, so that it leaves the address; a page of another site can neither read nor
write anything: Host, Origin and the cookie are checked, the policy lets a page load its own parts alone.
"""

from __future__ import annotations

import secrets
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import QueryParams
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from runtime.studio.page import text_of

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


def is_same(guessed: str, token: str) -> bool:
    """Compare in a time that does not tell how much of it is right."""
    return secrets.compare_digest(guessed.encode("utf-8", "surrogatepass"), token.encode())


def svg(text: str | None) -> Response:
    """Return a picture, or that there is none."""
    if text is None:
        return PlainTextResponse("there is no such picture\n", 404)
    return Response(text, media_type="image/svg+xml", headers={"content-security-policy": PICTURE_POLICY})


def files(page: str, *loaded: str) -> list[BaseRoute]:
    """Return the routes of a page, and of the scripts and styles that it loads."""

    async def shown(request: Request) -> Response:
        return Response(text_of(page), media_type="text/html")

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in loaded:
            return PlainTextResponse("there is no such page\n", 404)
        return Response(text_of(name), media_type="text/javascript" if name.endswith(".js") else "text/css")

    async def no_icon(request: Request) -> Response:
        return Response(status_code=204)  # every browser asks for one

    return [Route("/", shown), Route("/favicon.ico", no_icon), Route("/{name}", file)]


@dataclass(frozen=True, slots=True)
class Shared:
    """What a second link shows, whose token has it."""

    token: str
    app: ASGIApp


class Guarded:
    """Lets through who calls this studio by its own name and has its cookie; sets the headers of every answer.

    Who has the token of what is ``shared`` sees that, and no more.
    """

    def __init__(
        self, app: ASGIApp, *, token: str, port: int, hosts: frozenset[str], shared: Shared | None = None
    ) -> None:
        self._app = app
        self._cookie = f"accord-studio-{port}"  # cookies know no ports: two studios do not take each other's
        self._app = app
        self._shown = [Shared(token, app), *([] if shared is None else [shared])]
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse to."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        shown = self._shown_to(asked.cookies.get(self._cookie, ""))
        refusal = self._refusal(asked, known=shown is not None)
        app = self._app if shown is None else shown.app
        if scope["type"] == "websocket":
            if refusal is None:
                await app(scope, receive, send)
            else:
                await WebSocket(scope, receive, send).close()  # which answers 403
            return
        answer: ASGIApp = app if refusal is None else PlainTextResponse(f"{refusal[1]}\n", refusal[0])
        if refusal is None and scope["path"] == "/enter":
            answer = self._entered(scope)

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

    def _entered(self, scope: Scope) -> Response:
        shown = self._shown_to(QueryParams(scope["query_string"]).get("token", ""))
        if shown is None:
            return PlainTextResponse("this link has no token, or that of another studio\n", 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, shown.token, httponly=True, samesite="strict", path="/")
        return answer

    def _shown_to(self, token: str) -> Shared | None:
        """Return what is shown to who has a token, None if it is none of ours."""
        return next((one for one in self._shown if is_same(token, one.token)), None)

    def _is_ours(self, host: str, scope: Scope) -> bool:
        """Whether a site is called by a name of its own, or by the very address at which it was reached.

        A page of another site can have a name of its own lead here, not an address.
        """
        return host in self._hosts or (_is_address(host) and host.strip("[]") == (scope.get("server") or ("",))[0])

    def _refusal(self, asked: HTTPConnection, *, known: bool) -> tuple[int, str] | None:
        """Return the status and the sentence with which something is refused; None if it is not."""
        host = asked.headers.get("host", "")
        if not self._is_ours(host.rpartition(":")[0], asked.scope):
            return 421, "this studio has another name"
        if asked.scope.get("method", "GET") not in ("GET", "HEAD"):
            return 405, "nothing is written here"
        # A browser says which site's page opens a WebSocket: a page of another site has the cookie sent along.
        if asked.scope["type"] == "websocket" and asked.headers.get("origin") != f"http://{host}":
            return 403, "only pages of this studio are told what comes"
        if asked.scope["path"] != "/enter" and not known:
            return 403, "open the link that accord studio printed: it has the token"
        return None


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises OSError: the port is taken, or the address is none of this machine."""
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
