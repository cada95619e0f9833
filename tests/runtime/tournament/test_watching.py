"""An event watched as it goes: shown when something has changed, and only then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from runtime.tournament.event import read_event_text
from runtime.tournament.progress import EventProgress
from runtime.tournament.store import Placed, Store
from runtime.tournament.watching import watch

EVENT = "event: two\nspec: sticks\nplayers: {ann: {kind: random}, bob: {kind: random}}\n"


def test_each_change_is_shown_once_and_the_end_ends_it(tmp_path: Path) -> None:
    event = read_event_text(EVENT, tmp_path / "two.yaml")
    store = Store("sqlite://")
    store.begin(event.name, event.text, "")
    found = EventProgress(event).next_round()
    assert found is not None
    deeds: list[Callable[[], object]] = [
        lambda: store.plan(found),
        lambda: None,
        lambda: store.start(1, 1, "run"),
        lambda: None,
        lambda: store.played(1, 1, "run", 0.1, None, [Placed("ann", 1), Placed("bob", 2)]),
    ]
    shown: list[list[str]] = []

    def pause(seconds: float) -> None:
        deeds.pop(0)()

    progress = watch(
        event,
        store,
        lambda lines: shown.append([*lines]),
        rated=False,
        rounds=True,
        pause=pause,
    )

    store.close()
    assert (deeds, len(progress.results)) == ([], 1)
    assert [lines[0].partition(": ")[2] for lines in shown] == [
        "nothing is played yet, accord tournament run begins",
        "0 of 1 matches, round 1",
        "0 of 1 matches, round 1",
        "1 of 1 matches, round 1",
    ]
    assert ["r1-1  ann, bob  is being played" in lines for lines in shown] == [False, False, True, False]
    assert shown[-1][1] == "r1-1  ann 1  bob 2"
