"""A trial before an event: each program is started and plays once, in matches that count for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from runtime.tournament.conductor import Arena, Conductor
from runtime.tournament.event import REMOTE, Event, Format
from runtime.tournament.progress import EventProgress
from runtime.tournament.store import Store
from runtime.tournament.table import fault_lines

ROUNDS = 2  # of tables: who has no seat in the first has one in the second


def trial(event: Event, arena: Arena) -> tuple[list[str], bool]:
    """Return what each player is to be told, and whether all went well."""
    form = Format("groups", ROUNDS, low=event.format.low, high=event.format.high)
    here = tuple([player for player in event.players if player.kind != REMOTE])  # others come when it begins
    if len(here) < event.format.low:
        return [f"no match was tried: {len(here)} of the players are here, the others come by token"], True
    tried = replace(event, format=form, games=1, out_after=None, tries=1, players=here)
    with TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{Path(folder) / 'trial.db'}")
        try:
            store.begin(tried.name, tried.text, arena.spec_hash)
            progress = Conductor(tried, store, replace(arena, files=Path(folder))).run()
            broken = [one.why for one in store.attempts() if one.state == "broken"]
        finally:
            store.close()
    lines = [*_told(progress), *(f"a match came to no end: {why}" for why in dict.fromkeys(broken))]
    return lines, not lines


def _told(progress: EventProgress) -> Iterator[str]:
    yield from fault_lines(progress, 1)
