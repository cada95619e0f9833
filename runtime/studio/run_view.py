"""A run as its pages are told of it: all that is known, or, where it is shared, as much as was known some time ago."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from runtime.studio.guard import files, svg
from runtime.studio.page import SCRIPTS, STYLES, RunFacts, Seen, details, pictures
from runtime.studio.rooms import Room
from runtime.studio.steps import RecordedRun

ROWS_MAX: Final = 2_000  # in one message to a page
LINES_MAX: Final = 2_000  # of a journal that are replayed before pages are told of them
AT_ONCE_BYTES: Final = 1 << 14  # of a journal that are replayed at once: a thread would cost more than it saves
READ_SECONDS: Final = 0.06  # between two looks at a journal that is being written
GATHER_SECONDS: Final = 0.18  # until the next one where there was news: many pages are told of several steps at once


class RunView:
    """The application that shows one run; its paths are relative, so that it may stand anywhere.

    ``behind`` are the seconds after which pages are told what has come; a run that was over when it was opened is shown
    at once. ``up`` is what the page leads back to, two folders above; nothing if it is empty.
    """

    def __init__(
        self,
        facts: RunFacts,
        drawn: Mapping[str, str],
        room: Room,
        behind: float = 0.0,
        up: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._facts = facts
        self._pictures = drawn
        self._room = room
        self._behind = behind
        self._up = up
        self.watched = 0  # by so many pages
        self._clock = clock
        self._coming: deque[tuple[float, Seen]] = deque()  # what pages will be told, and when it was known
        self._noted = Seen()
        self._news = anyio.Event()
        self._written: dict[tuple[int, int], tuple[str, int, int]] = {}  # by (row, entry) from which on
        self.seen = facts.seen if facts.over else Seen()
        self.look()
        self.app = Starlette(
            routes=[
                Route("/run.json", self._run_facts),
                Route("/step/{number:int}", self._step),
                Route("/picture/{name}.svg", self._picture),
                Route("/board/{number:int}.svg", self._board),
                WebSocketRoute("/live", self._live),
                *files("run.html", *SCRIPTS, *STYLES),
            ]
        )

    def look(self) -> None:
        """Take note of what is known of the run by now, and wake the pages that may be told more."""
        now, known = self._clock(), self._facts.seen
        if known != self._noted:
            self._noted = known
            self._coming.append((now, known))
        told = self.seen
        while self._coming and self._coming[0][0] + self._behind <= now:
            self.seen = self._coming.popleft()[1]
        if self.seen != told:
            self._written.clear()
            news, self._news = self._news, anyio.Event()
            news.set()

    async def _live(self, socket: WebSocket) -> None:
        """Tell a page what has come since the row and the entry that it has, until the run is over."""
        row, entry = _count(socket, "row"), _count(socket, "entry")
        if row is None or entry is None:
            await socket.close(1008)
            return
        self.watched += 1
        try:
            await self._room.hold(socket, lambda page: self._tell(page, row, entry))
        finally:
            self.watched -= 1

    async def _tell(self, socket: WebSocket, row: int, entry: int) -> None:
        while True:
            news, seen = self._news, self.seen
            text, row, entry = self._told(row, entry)
            await socket.send_text(text)
            if row < seen.rows:
                continue
            if seen.over:
                await socket.close()
                return
            await news.wait()

    def _told(self, row: int, entry: int) -> tuple[str, int, int]:
        """Return what has come since, as JSON, and from where on the rest will; it is written once for all pages."""
        if (row, entry) not in self._written:
            told = self._facts.since(row, entry, ROWS_MAX, self.seen)
            text = msgspec.json.encode(told).decode()
            self._written[row, entry] = text, row + len(told["rows"]), entry + len(told["table"])
        return self._written[row, entry]

    async def _run_facts(self, request: Request) -> Response:
        facts: dict[str, Any] = {**self._facts.whole(self.seen), "behind": self._behind, "up": self._up}
        return Response(msgspec.json.encode(facts), media_type="application/json")

    async def _step(self, request: Request) -> Response:
        number = request.path_params["number"]
        if number >= self.seen.rows:
            return PlainTextResponse("the run has no such step\n", 404)
        told = details(self._facts.run.steps[number])
        return Response(msgspec.json.encode(told), media_type="application/json")

    async def _picture(self, request: Request) -> Response:
        return svg(self._pictures.get(request.path_params["name"]))

    async def _board(self, request: Request) -> Response:
        number = request.path_params["number"]
        return svg(self._facts.boards.svg(number) if number < self.seen.boards else None)


def _count(socket: WebSocket, name: str) -> int | None:
    text = socket.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


class OpenRun:
    """A run that is read on while it is written.

    ``own`` shows all of it, ``shared`` what was known ``behind`` seconds ago; None if it is not shared.
    """

    def __init__(
        self,
        run: RecordedRun,
        room: Room,
        behind: float | None = None,
        up: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Draw the pictures. Raises PictureError: Graphviz is missing, or a picture is too much for it."""
        self._facts = RunFacts(run)
        self._clock = clock
        drawn = pictures(run)
        self.own = RunView(self._facts, drawn, room, up=up, clock=clock)
        self.shared = None if behind is None else RunView(self._facts, drawn, room, behind, up, clock)
        self._due = 0.0  # when the journal is looked at again

    async def read_on(self) -> None:
        """Read the journal as it is written, and tell the pages, until all has been told."""
        try:
            while not await self.read():
                await anyio.sleep(max(READ_SECONDS, self._due - self._clock()))
        finally:
            self.close()

    @property
    def busy(self) -> bool:
        """Whether a page is told what comes of it."""
        return any(view.watched for view in self._views())

    def app(self, *, shared: bool) -> ASGIApp | None:
        """Return the application that shows it, or that of which others see."""
        view = self.shared if shared else self.own
        return None if view is None else view.app

    async def read(self) -> bool:
        """Read what has been written by now, and return whether pages have been told all that will come.

        Shortly after there was news nothing is read: what comes until then is told at once.
        """
        before, now = len(self._facts.rows), self._clock()
        if now >= self._due:
            await self._read_all()
            self._due = now + GATHER_SECONDS if len(self._facts.rows) > before else 0.0
        self._look()
        return all(view.seen.over for view in self._views())

    async def _read_all(self) -> None:
        more = not self._facts.over
        while more:
            before = len(self._facts.rows)
            if self._facts.run.waiting <= AT_ONCE_BYTES:
                self._facts.read(LINES_MAX)
            else:
                await anyio.to_thread.run_sync(self._facts.read, LINES_MAX)
            more = len(self._facts.rows) - before == LINES_MAX
            self._look()

    def close(self) -> None:
        """Read no more."""
        self._facts.run.close()

    def _views(self) -> list[RunView]:
        return [self.own] if self.shared is None else [self.own, self.shared]

    def _look(self) -> None:
        for view in self._views():
            view.look()
