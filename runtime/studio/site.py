"""The studio's site of one run, on this machine: to who has the token of the link.

While the journal is written the site reads on, and tells every page that is open what has come: ``/live``, a WebSocket.
A second link may share it, some time behind, with who may not see yet what others hold hidden.

Only loopback is served unless told otherwise; see `runtime.studio.guard`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
from starlette.applications import Starlette
from starlette.routing import Mount

from runtime.studio.guard import Guarded, Shared
from runtime.studio.rooms import Room
from runtime.studio.run_view import OpenRun
from runtime.studio.serving import serve_site
from runtime.studio.steps import RecordedRun

VIEWERS_MAX: Final = 64  # pages that are told what comes; a further one is asked to come back later


class RunSite:
    """The application that shows one run. ``token`` is what the link has; ``hosts`` are the names it answers to.

    It is ``shared`` with who has another token, ``behind`` seconds later.
    """

    def __init__(
        self,
        run: RecordedRun,
        token: str,
        port: int,
        hosts: frozenset[str],
        *,
        share: str = "",
        behind: float = 0.0,
    ) -> None:
        self._open = OpenRun(run, Room(VIEWERS_MAX), behind if share else None)
        own = Starlette(routes=[Mount("/", self._open.own.app)], lifespan=self._reading)
        shared = None if self._open.shared is None else Shared(share, self._open.shared.app)
        self.app = Guarded(own, token=token, port=port, hosts=hosts, shared=shared)

    @asynccontextmanager
    async def _reading(self, app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._open.read_on)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()


def serve(run: RecordedRun, host: str, port: int, opened: Callable[..., None], behind: float | None = None) -> None:
    """Serve a run until the process is told to stop; ``opened`` is called with the link before it answers.

    Where ``behind`` is given, it has a second link, with which it is shared so many seconds later.

    Raises:
        OSError: the port is taken, or the address is none of this machine.
        PictureError: Graphviz is missing, or a picture is too much for it.
    """
    late = behind or 0.0
    serve_site(
        lambda place: RunSite(run, *place[:3], share=place.shared, behind=late).app,
        host, port, opened, share=behind is not None,
    )  # fmt: skip
