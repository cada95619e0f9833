"""An event in a browser as it goes: the table that grows, what is being played, the last results, who was at fault."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from runtime.commands.output import note
from runtime.studio.beside import with_starter
from runtime.studio.guard import Guarded, files
from runtime.studio.rooms import Room
from runtime.studio.serving import serve_site
from runtime.tournament.event import Event, read_event
from runtime.tournament.progress import EventProgress, note_attempt
from runtime.tournament.store import Attempt, Store, url_of
from runtime.tournament.table import CROSS_MAX, crosstable_rows, placed_text, standings_rows

VIEWERS_MAX: Final = 64  # pages that are told what changes
LOOK_SECONDS: Final = 1.0  # between two looks into the database
TELL_SECONDS: Final = 0.2  # between two looks whether it had something new
RESULTS_SHOWN: Final = 12  # the last
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
    """Return what a page shows of an event's progress."""
    running = {attempt.match for attempt in attempts if attempt.state == "running"}
    done = [match for match in progress.matches if match.number in progress.results]
    faults = [
        {"player": placed.player, "match": match.id, "fault": placed.fault}
        for match in done
        for placed in progress.results[match.number]
        if placed.at_fault
    ]
    settled = bool(progress.matches) and all(map(progress.is_settled, progress.matches))
    few = len(progress.event.players) <= CROSS_MAX
    return {
        "name": progress.event.name,
        "played": len(done),
        "planned": len(progress.matches),
        "round": len(progress.rounds()),
        "over": settled and not progress.next_round(),
        "table": [list(row) for row in standings_rows(progress, rated=True)],
        "cross": [list(row) for row in crosstable_rows(progress)] if few else [],
        "running": [{"id": match.id, "seats": match.seats} for match in progress.matches if match.number in running],
        "results": [
            {"id": match.id, "text": placed_text(progress.results[match.number])} for match in done[-RESULTS_SHOWN:]
        ][::-1],
        "faults": faults[-FAULTS_SHOWN:][::-1],
        "failed": "",
    }


class StandingsSite:
    """The application that shows them."""

    def __init__(self, standings: Standings, token: str, port: int, hosts: frozenset[str]) -> None:
        self._standings = standings
        self._room = Room(VIEWERS_MAX)
        routes = [
            WebSocketRoute("/standings", self._show),
            *files("standings.html", "standings.js", "common.css", "standings.css"),
        ]
        self.app = Guarded(Starlette(routes=routes), token=token, port=port, hosts=hosts)

    async def _show(self, socket: WebSocket) -> None:
        await self._room.hold(socket, self._tell)

    async def _tell(self, socket: WebSocket) -> None:
        seen = -1
        while True:
            changes = self._standings.changes
            if changes != seen:
                seen = changes
                await socket.send_json(self._standings.facts)
            await anyio.sleep(TELL_SECONDS)


def serve_standings(event: Event, opened: Callable[[str], None]) -> None:
    """Serve an event's page until the process is told to stop; ``opened`` is called with the link."""
    standings = Standings(event)
    standings.start()
    try:
        serve_site(lambda place: StandingsSite(standings, *place[:3]).app, "127.0.0.1", 0, opened)
    finally:
        standings.stop()


def open_standings(event: Event) -> None:
    """Serve an event's page until Ctrl-C, and open a browser on it."""

    def opened(link: str) -> None:
        note(f"studio: {link} (Ctrl-C ends it)")
        webbrowser.open(link)

    serve_standings(event, opened)


def show(words: Sequence[str]) -> None:
    """Be the process beside an event that is played: ``words`` is its file."""
    with_starter(lambda: serve_standings(read_event(Path(words[0])), lambda link: note(f"studio: {link}")))
