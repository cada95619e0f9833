"""An event in a browser as it goes: the table that grows, what is being played, the last results, who was at fault."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from starlette.applications import Starlette
from starlette.routing import Mount, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from runtime.commands.exit_codes import PROBLEMS, CommandError
from runtime.process.output import note
from runtime.studio.beside import with_starter
from runtime.studio.guard import Guarded, files
from runtime.studio.rooms import Room
from runtime.studio.run_view import READ_SECONDS
from runtime.studio.serving import serve_site
from runtime.studio.shelf import runs_shelf
from runtime.tournament.event import Event, EventError, read_event
from runtime.tournament.match_process import JOURNAL_FILE
from runtime.tournament.progress import EventProgress, note_attempt
from runtime.tournament.store import Attempt, Store, url_of
from runtime.tournament.table import CROSS_MAX, crosstable_rows, placed_text, standings_rows

VIEWERS_MAX: Final = 64  # pages that are told what changes
LOOK_SECONDS: Final = 1.0  # between two looks into the database
TELL_SECONDS: Final = 0.2  # between two looks whether it had something new
RESULTS_SHOWN: Final = 12  # the last
NEXT_SHOWN: Final = 12  # of the matches that are planned, and not begun
FAULTS_SHOWN: Final = 50  # of all players, the last


class Standings:
    """What is known of an event, looked up again and again in a thread of its own."""

    def __init__(self, event: Event) -> None:
        self.facts: dict[str, Any] = {}
        self.changes = 0  # grows with every change
        self._event = event
        self._stopped = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        """Begin to look; return once the first look is done."""
        self._thread.start()
        self._first.wait()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        self._thread.join()

    def _look(self) -> None:
        store = Store(url_of(self._event.database, self._event.file.parent))
        try:
            while not self._stopped.is_set():
                try:
                    facts = look(self._event, store)
                except Exception as error:  # the database is gone, or another's: the page says so, and looks again
                    facts = {**self.facts, "failed": f"{type(error).__name__}: {error}"}
                if facts != self.facts:
                    self.facts = facts
                    self.changes += 1
                self._first.set()
                self._stopped.wait(LOOK_SECONDS)
        finally:
            self._first.set()
            store.close()


def look(event: Event, store: Store) -> dict[str, Any]:
    """Return what a page shows of an event, from its database."""
    attempts = store.attempts()
    progress = EventProgress(event, store.matches(), store.results(), store.decisions())
    for attempt in attempts:
        note_attempt(progress, attempt)
    return standings_facts(progress, attempts)


def standings_facts(progress: EventProgress, attempts: Sequence[Attempt] = ()) -> dict[str, Any]:
    """Return what a page shows of an event's progress; ``run`` says whether a match has been begun, to be looked at."""
    running = {attempt.match for attempt in attempts if attempt.state == "running"}
    begun = {attempt.match for attempt in attempts}
    done = [match for match in progress.matches if match.number in progress.results]
    faults = [
        {"player": placed.player, "match": match.id, "fault": placed.fault, "run": match.number in begun}
        for match in done
        for placed in progress.results[match.number]
        if placed.at_fault
    ]
    coming = [one for one in progress.matches if not progress.is_settled(one) and one.number not in running]
    settled = bool(progress.matches) and all(map(progress.is_settled, progress.matches))
    few = len(progress.event.players) <= CROSS_MAX
    return {
        "name": progress.event.name,
        "played": len(done),
        "planned": len(progress.matches),
        "round": progress.round_now(),
        "over": settled and not progress.next_round(),
        "table": [list(row) for row in standings_rows(progress, rated=True)],
        "cross": [list(row) for row in crosstable_rows(progress)] if few else [],
        "running": [{"id": match.id, "seats": match.seats} for match in progress.matches if match.number in running],
        "next": [{"id": match.id, "seats": match.seats} for match in coming[:NEXT_SHOWN]],
        "results": [
            {"id": match.id, "text": placed_text(progress.results[match.number]), "run": match.number in begun}
            for match in done[-RESULTS_SHOWN:]
        ][::-1],
        "faults": faults[-FAULTS_SHOWN:][::-1],
        "failed": "",
    }


def journal_of(event: Event, key: str) -> Path | None:
    """Return the journal of a match's last attempt, None if there is none: it was not played, or the file is gone."""
    store = Store(url_of(event.database, event.file.parent))
    try:
        match = next((one for one in store.matches() if one.id == key), None)
        run = next((one.run for one in reversed(store.attempts()) if match and one.match == match.number), "")
    finally:
        store.close()
    if match is None or not run:
        return None
    folder = (event.file.parent / f"{event.file.stem}-matches").resolve()
    path = (folder / match.id / run / JOURNAL_FILE).resolve()
    return path if path.is_relative_to(folder) and path.is_file() else None


class OpenEvent:
    """An event as its pages see it; paths are relative. Of a match's run others see what was ``behind`` seconds ago."""

    def __init__(
        self, event: Event, room: Room, rules: Sequence[str] = (), behind: float | None = None, up: str = ""
    ) -> None:
        self.standings = Standings(event)
        self._room = room
        self._up = up
        self._watched = 0
        self._runs = runs_shelf(partial(journal_of, event), room, rules, behind, "standings")
        self._own, self._shared = (self._made(shared=shared) for shared in (False, True))
        self.standings.start()

    def _made(self, *, shared: bool) -> ASGIApp:
        return Starlette(
            routes=[
                WebSocketRoute("/standings", self._show),
                Mount("/run/{key}", self._runs.app(shared=shared)),
                *files("standings.html", "standings.js", "common.css", "standings.css"),
            ]
        )

    async def _show(self, socket: WebSocket) -> None:
        self._watched += 1
        try:
            await self._room.hold(socket, self._tell)
        finally:
            self._watched -= 1

    async def _tell(self, socket: WebSocket) -> None:
        seen = -1
        while True:
            changes = self.standings.changes
            if changes != seen:
                seen = changes
                await socket.send_json({**self.standings.facts, "up": self._up})
            await anyio.sleep(TELL_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether a page of it, or of one of its runs, is open."""
        return self._watched > 0 or self._runs.busy

    def app(self, *, shared: bool) -> ASGIApp | None:
        """Return the application that shows it, or that of which others see."""
        return self._shared if shared else self._own

    async def read(self) -> None:
        """Look whether there is something new in its runs; its database is looked into in a thread."""
        await self._runs.read()

    def close(self) -> None:
        """Look no more."""
        self.standings.stop()
        self._runs.close()


def open_event(path: Path, room: Room, rules: Sequence[str], behind: float | None) -> OpenEvent:
    """Open the event of a file, for a page that has others, too. Raises CommandError: it has problems."""
    try:
        return OpenEvent(read_event(path), room, rules, behind, "all runs")
    except EventError as error:
        raise CommandError(str(error), PROBLEMS) from None


class StandingsSite:
    """The application that shows one event."""

    def __init__(self, event: Event, token: str, port: int, hosts: frozenset[str]) -> None:
        self._event = OpenEvent(event, Room(VIEWERS_MAX), event.rules)
        shown = Starlette(routes=[Mount("/", self._event.app(shared=False))], lifespan=self._reading)
        self.app = Guarded(shown, token=token, port=port, hosts=hosts)

    @asynccontextmanager
    async def _reading(self, app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_on)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _read_on(self) -> None:
        try:
            while True:
                await self._event.read()
                await anyio.sleep(READ_SECONDS)
        finally:
            self._event.close()


def serve_standings(event: Event, opened: Callable[..., None]) -> None:
    """Serve an event's page until the process is told to stop; ``opened`` is called with the link."""
    serve_site(lambda place: StandingsSite(event, *place[:3]).app, "127.0.0.1", 0, opened)


def open_standings(event: Event) -> None:
    """Serve an event's page until Ctrl-C, and open a browser on it."""

    def opened(link: str) -> None:
        note(f"studio: {link} (Ctrl-C ends it)")
        webbrowser.open(link)

    serve_standings(event, opened)


def show(words: Sequence[str]) -> None:
    """Be the process beside an event that is played: ``words`` is its file."""
    with_starter(lambda: serve_standings(read_event(Path(words[0])), lambda link: note(f"studio: {link}")))
