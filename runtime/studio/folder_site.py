"""A folder in a browser: its runs, those that go on among them, its events with their standings, its specs.

    /            the list                /run/KEY/    a run, as `runtime.studio.run_view` shows it
    /list.json   the same, as data       /event/KEY/  an event's standings      /spec/KEY/  a spec, which is not written

A page that is shared has the runs, some time behind, and the standings; what is tried of specs costs too much for all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from runtime.studio.bench import Bench
from runtime.studio.edit_site import HEARD_BYTES_MAX, EditView
from runtime.studio.guard import Guarded, Shared, files
from runtime.studio.library import Library
from runtime.studio.rooms import Room
from runtime.studio.serving import SitePlace, serve_site
from runtime.studio.shelf import Opened, Shelf, runs_shelf
from runtime.studio.spec_file import SpecFile

VIEWERS_MAX: Final = 64  # pages of runs and standings that are told what comes
SPECS_MAX: Final = 4  # that are open at a time, a process each
EVENTS_MAX: Final = 4
EventOpener = Callable[[Path, Room, Sequence[str], float | None], Opened]


class FolderSite:
    """The application that shows a folder; ``opens_event`` shows the standings of an event's file."""

    def __init__(
        self,
        folder: Path,
        place: SitePlace,
        *,
        rules: Sequence[str] = (),
        behind: float | None = None,
        opens_event: EventOpener | None = None,
    ) -> None:
        self._library = Library(folder)
        self._rules = rules
        self._behind = behind
        self._opens_event = opens_event
        self._room = Room(VIEWERS_MAX)
        self._runs = runs_shelf(self._library.path_of, self._room, rules, behind, "all runs")
        self._events = Shelf(EVENTS_MAX, self._event)
        self._specs = Shelf(SPECS_MAX, self._spec)
        shared = Shared(place.shared, Starlette(routes=self._routes(shared=True))) if place.shared else None
        own = Starlette(routes=self._routes(shared=False), lifespan=self._reading)
        self.app = Guarded(own, token=place.token, port=place.port, hosts=place.hosts, shared=shared)

    def _routes(self, *, shared: bool) -> list[BaseRoute]:
        async def listed(request: Request) -> Response:
            facts = await anyio.to_thread.run_sync(self._library.facts)
            left_out = {"spec"} if shared else set()
            left_out |= set() if self._opens_event is not None else {"event"}
            facts["files"] = [one for one in facts["files"] if one["kind"] not in left_out]
            return Response(msgspec.json.encode(facts), media_type="application/json")

        specs = [] if shared else [Mount("/spec/{key}", self._specs.app(shared=False))]
        return [
            Route("/list.json", listed),
            Mount("/run/{key}", self._runs.app(shared=shared)),
            Mount("/event/{key}", self._events.app(shared=shared)),
            *specs,
            *files("folder.html", "folder.js", "common.css", "folder.css"),
        ]

    @asynccontextmanager
    async def _reading(self, app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            for shelf in (self._runs, self._events, self._specs):
                tasks.start_soon(shelf.read_on)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    def _event(self, key: str) -> Opened | None:
        path = self._library.path_of(key)
        if path is None or self._opens_event is None:
            return None
        return self._opens_event(path, self._room, self._rules, self._behind)

    def _spec(self, key: str) -> Opened | None:
        path = self._library.path_of(key)
        return None if path is None else _OpenSpec(path, self._rules)


class _OpenSpec:
    """A spec that may be tried, and is not written: who opened the folder did not name it."""

    def __init__(self, path: Path, rules: Sequence[str]) -> None:
        name = f"./{path}" if path.parent == Path() else str(path)
        self._site = EditView(SpecFile(name, writable=False), Bench(name, rules), up=True)

    @property
    def busy(self) -> bool:
        return self._site.busy

    def app(self, *, shared: bool) -> ASGIApp | None:
        return None if shared else self._site.app

    async def read(self) -> None:
        """There is nothing to look for: a page says what it wants."""

    def close(self) -> None:
        self._site.close()


def serve_folder(
    folder: Path,
    host: str,
    port: int,
    opened: Callable[..., None],
    *,
    rules: Sequence[str] = (),
    behind: float | None = None,
    opens_event: EventOpener | None = None,
) -> None:
    """Serve a folder until the process is told to stop; ``opened`` is called with the link.

    Where ``behind`` is given, it is called with a second one, by which runs are seen so many seconds later.

    Raises:
        OSError: the port is taken, or the address is none of this machine.
    """
    serve_site(
        lambda place: FolderSite(folder, place, rules=rules, behind=behind, opens_event=opens_event).app,
        host, port, opened, share=behind is not None, heard_bytes_max=HEARD_BYTES_MAX,
    )  # fmt: skip
