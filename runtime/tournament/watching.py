"""An event as it goes: the table again whenever something has come of a match, until nothing more is to come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from runtime.tournament.event import Event
from runtime.tournament.progress import EventProgress, note_attempt
from runtime.tournament.store import Attempt, Store
from runtime.tournament.table import summary_lines

LOOK_SECONDS: Final = 1.0  # between two looks into the database


def watch(
    event: Event,
    store: Store,
    show: Callable[[Sequence[str]], None],
    *,
    rated: bool,
    rounds: bool,
    pause: Callable[[float], None] = time.sleep,
) -> EventProgress:
    """Show the table now and whenever it has changed; return how far the event is once it is over."""
    shown: object = None
    while True:
        attempts = store.attempts()
        progress = EventProgress(event, store.matches(), store.results(), store.decisions())
        for attempt in attempts:
            note_attempt(progress, attempt)
        state = len(progress.matches), len(progress.results), len(progress.decisions), attempts
        if state != shown:
            shown = state
            show([*summary_lines(progress, rated=rated, rounds=rounds), *_under_way(progress, attempts)])
        if progress.matches and all(map(progress.is_settled, progress.matches)) and not progress.next_round():
            return progress
        pause(LOOK_SECONDS)


def _under_way(progress: EventProgress, attempts: Sequence[Attempt]) -> Iterator[str]:
    """Yield the matches that are being played, a line each, below an empty one."""
    running = {attempt.match for attempt in attempts if attempt.state == "running"}
    if running:
        yield ""
    for match in progress.matches:
        if match.number in running:
            yield f"{match.id}  {', '.join(match.seats)}  is being played"
