"""The page of a spec that is written: its text, what is wrong with it as one types, its pictures.

One WebSocket a page, ``/edit``. From the page: ``{seq, text, lines}`` to be looked at, and tried by these lines;
``{save: text, mark}``. To it:

    {name, text, mark, writable}                                   first
    {seq, problems} {seq, pictures} {seq, trial} {seq, fault}      as soon as each is known; of two texts only the later
    {seq, unread}                                                  instead of pictures: the text cannot be read
    {seq, together}                                                what is known of all roles together, after a rest
    {saved, mark, why, there}                                      there: the mark of what may be written over
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request as HTTPRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from diagrams.documents.html import inline
from diagrams.render import PictureError, render
from runtime.studio.bench import Bench, Request
from runtime.studio.guard import Guarded, files, svg
from runtime.studio.rooms import Room
from runtime.studio.serving import serve_site
from runtime.studio.spec_file import BYTES_MAX, SpecFile, SpecFileError

PAGES_MAX: Final = 8  # of one spec that are open at a time
DRAW_SECONDS: Final = 3.0  # that a picture may take
PICTURES_KEPT: Final = 256  # drawn, and their DOT
REST_SECONDS: Final = 0.6  # after which all roles of a text without problems are looked at together
TOGETHER_SECONDS: Final = 20.0  # that this may take, some of it for others who use the machine
HEARD_BYTES_MAX: Final = 8 * BYTES_MAX  # of one message: a text may need six bytes for each of its own in JSON


class FromPage(msgspec.Struct):
    """What comes from a page: a text to be looked at, and tried, or to be saved in place of what has the mark."""

    seq: int = 0
    text: str | None = None
    lines: list[str] | None = None
    save: str | None = None
    mark: str = ""


class Drawings:
    """The pictures that pages were told of; each is drawn once it is asked for."""

    def __init__(self) -> None:
        self._dots: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._drawn: dict[str, str] = {}

    def version(self, name: str, dot: str) -> str:
        """Take note of a picture, and return what it is asked for by."""
        made = sha256(f"{name}\n{dot}".encode("utf-8", "replace")).hexdigest()[:32]
        self._dots[made] = name, dot
        self._dots.move_to_end(made)
        while len(self._dots) > PICTURES_KEPT:
            self._drawn.pop(self._dots.popitem(last=False)[0], None)
        return made

    def svg(self, version: str) -> str | None:
        """Return a picture, None if there is none of that version any more. Raises PictureError."""
        if version not in self._drawn:
            if version not in self._dots:
                return None
            name, dot = self._dots[version]
            self._drawn[version] = inline(render(dot, "svg", DRAW_SECONDS), name, frozenset())
        return self._drawn[version]


class EditView:
    """The application that shows one spec while it is written; its paths are relative."""

    def __init__(self, file: SpecFile, bench: Bench, *, up: bool = False) -> None:
        self._file = file
        self._up = up  # whether the page leads back to a list
        self._bench = bench
        self._prover = Bench(*bench.spec, seconds=TOGETHER_SECONDS)  # which nobody waits for
        self._drawings = Drawings()
        self._room = Room(PAGES_MAX)
        routes = [
            Route("/drawn/{version}.svg", self._picture),
            WebSocketRoute("/edit", self._edit),
            *files("edit.html", "drawing.js", "trial.js", "edit.js", "common.css", "edit.css"),
        ]
        self.app = Starlette(routes=routes, lifespan=self._working)

    @asynccontextmanager
    async def _working(self, app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self.close()

    @property
    def busy(self) -> bool:
        """Whether a page of it is open."""
        return self._room.open > 0

    def close(self) -> None:
        """End the processes that look at it."""
        self._bench.close()
        self._prover.close()

    async def _picture(self, request: HTTPRequest) -> Response:
        try:
            return svg(await anyio.to_thread.run_sync(self._drawings.svg, request.path_params["version"]))
        except PictureError as error:
            return PlainTextResponse(f"{error}\n", 422)

    async def _edit(self, socket: WebSocket) -> None:
        page = _EditPage(self._file, self._bench, self._prover, self._drawings, up=self._up)
        await self._room.hold(socket, page.tell, page.hear)


class EditSite:
    """The same, for who has the link."""

    def __init__(self, file: SpecFile, bench: Bench, token: str, port: int, hosts: frozenset[str]) -> None:
        self.app = Guarded(EditView(file, bench).app, token=token, port=port, hosts=hosts)


class _EditPage:
    """One page that is open. Of texts that come while one is looked at only the last is looked at next."""

    def __init__(self, file: SpecFile, bench: Bench, prover: Bench, drawings: Drawings, *, up: bool) -> None:
        self._file = file
        self._up = up
        self._bench = bench
        self._prover = prover
        self._proving = anyio.CancelScope()
        self._proved: tuple[str, dict[str, Any]] | None = None  # the text that was, and what is known of it
        self._drawings = drawings
        self._next: FromPage | None = None
        self._asked = anyio.Event()

    async def tell(self, socket: WebSocket) -> None:
        """Tell the page what the file says, then what is known of each text that comes."""
        try:
            text, mark = self._file.read()
        except SpecFileError as error:
            await socket.send_json({"gone": str(error)})
            return
        told = {"name": self._file.name, "text": text, "mark": mark, "writable": self._file.writable, "up": self._up}
        await socket.send_json(told)
        while True:
            await self._asked.wait()
            asked, self._next, self._asked = self._next, None, anyio.Event()
            assert asked is not None, "it is there before the event"
            if await self._look(socket, asked):
                with anyio.CancelScope() as self._proving:
                    await self._prove(socket, asked)

    async def _look(self, socket: WebSocket, asked: FromPage) -> bool:
        """Tell what is known of a text at once, and return whether it has no problems."""
        problems: list[dict[str, Any]] = []

        async def tell(facts: dict[str, Any]) -> None:
            problems.extend(facts.get("problems", [facts]) if {"problems", "fault"} & set(facts) else [])
            for picture in facts.get("pictures", ()):
                picture["version"] = self._drawings.version(picture["id"], picture.pop("dot"))
            await socket.send_json({"seq": asked.seq, **facts})

        await self._bench.work(Request(asked.text or "", asked.lines), tell)
        return not problems

    async def _prove(self, socket: WebSocket, asked: FromPage) -> None:
        """Tell what is known of all roles together; the next text that comes cancels it."""
        text = asked.text or ""
        if self._asked.is_set():
            return
        if self._proved is None or self._proved[0] != text:
            await anyio.sleep(REST_SECONDS)

            async def keep(facts: dict[str, Any]) -> None:
                self._proved = text, facts

            await self._prover.work(Request(text, together=True), keep)
        if self._proved is not None and self._proved[0] == text:
            await socket.send_json({"seq": asked.seq, **self._proved[1]})

    async def hear(self, socket: WebSocket) -> None:
        """Take what the page says; what is none of that closes it."""
        try:
            while True:
                said = msgspec.json.decode(await socket.receive_text(), type=FromPage)
                if said.save is not None:
                    await socket.send_json(await anyio.to_thread.run_sync(self._saved, said.save, said.mark))
                elif said.text is not None:
                    self._next = said
                    self._asked.set()
                    self._proving.cancel()
        except (msgspec.MsgspecError, KeyError):  # no JSON, or no text
            await socket.close(1008)

    def _saved(self, text: str, mark: str) -> dict[str, Any]:
        try:
            return {"saved": True, "mark": self._file.write(text, mark)}
        except SpecFileError as error:
            return {"saved": False, "why": str(error), "there": error.there}


def serve_editor(file: SpecFile, rules: Sequence[str], host: str, port: int, opened: Callable[[str], None]) -> None:
    """Serve the page of a spec until the process is told to stop; ``opened`` is called with the link.

    Raises:
        OSError: the port is taken, or the address is none of this machine.
    """
    bench = Bench(file.name, rules)
    try:
        serve_site(
            lambda place: EditSite(file, bench, *place[:3]).app, host, port, opened, heard_bytes_max=HEARD_BYTES_MAX
        )
    finally:
        bench.close()
