"""What a person decides while an event is played, and what a decision leaves as it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from runtime.tournament.command import arena_of
from runtime.tournament.conductor import Conductor
from runtime.tournament.decisions import decide as decide_in
from runtime.tournament.event import Event, read_event_text
from runtime.tournament.match_process import MatchReport, MatchTask
from runtime.tournament.progress import OUT, UNPLAYED, EventProgress
from runtime.tournament.store import Placed, Store, StoreError, url_of

NAMES = ("ann", "bob", "cyd", "dan", "eve", "fox")


class AtOnce:
    """Plays each match at once, whoever sits first wins; ``before`` is called with each that begins."""

    def __init__(self, before: Callable[[list[str]], None]) -> None:
        self.before = before
        self.tasks: dict[str, MatchTask] = {}
        self.seated: list[list[str]] = []

    def most(self) -> int:
        return 1

    def start(self, run: str, task: MatchTask) -> None:
        self.tasks[run] = task
        self.seated.append([seat.name for seat in task.seats])
        self.before(self.seated[-1])

    def sources(self) -> list[Connection]:
        return []

    def due(self) -> float:
        return time.monotonic()

    def reports(self, ready: Sequence[object]) -> Iterator[tuple[str, MatchReport]]:
        for run, task in [*self.tasks.items()]:
            del self.tasks[run]
            yield run, MatchReport(tuple([Placed(seat.name, place) for place, seat in enumerate(task.seats, 1)]))

    def close(self) -> None:
        self.tasks.clear()


def event(folder: Path, form: str, spec: str = "sticks", names: Sequence[str] = NAMES) -> Event:
    players = "".join(f"  {name}: {{kind: random}}\n" for name in names)
    return read_event_text(f"spec: {spec}\nseed: 5\nformat: {form}\nplayers:\n{players}", folder / "cup.yaml")


def conducted(found: Event, before: Callable[[list[str]], None]) -> tuple[EventProgress, AtOnce, list[str]]:
    """Play an event; return how it ended, who played in each match, and what was told."""
    store, told = Store(url_of(found.database, found.file.parent)), list[str]()
    engine = AtOnce(before)
    try:
        return Conductor(found, store, arena_of(found), told.append, None, engine).run(), engine, told
    finally:
        store.close()


def decide(found: Event, what: str, about: str) -> list[str]:
    """Keep a decision as a process of its own would; return what stands all the same."""
    store = Store(url_of(found.database, found.file.parent))
    try:
        return decide_in(found, store, what, about, "a reason")
    finally:
        store.close()


@pytest.mark.parametrize("form", ["round-robin", "{swiss: 4}", "knockout", "{groups: 2, rounds: 4}"])
def test_who_is_dropped_while_an_event_is_played_begins_no_further_match(form: str, tmp_path: Path) -> None:
    found, began = event(tmp_path, form), list[list[str]]()

    def drop(seated: list[str]) -> None:
        began.append(seated)
        if sum("fox" in seats for seats in began) == 1 and "fox" in seated:
            decide(found, "drop", "fox")

    progress, engine, told = conducted(found, drop)

    assert ["fox" in seats for seats in engine.seated].count(True) == 1
    assert "decided: drop fox: a reason" in told
    mine = [match for match in progress.matches if "fox" in match.seats]
    faults = [{one.player: one.fault for one in progress.results[match.number]}["fox"] for match in mine]
    assert faults == ["", *[UNPLAYED] * (len(mine) - 1)]  # what was under way stands
    assert set(progress.results) == {match.number for match in progress.matches}


@pytest.mark.parametrize("about", ["r1-1", "r1-2"])
def test_a_match_is_played_again_in_the_same_run_also_one_that_is_under_way(about: str, tmp_path: Path) -> None:
    found, began = event(tmp_path, "{swiss: 2}"), list[list[str]]()

    def again(seated: list[str]) -> None:
        began.append(seated)
        if len(began) == 2:
            decide(found, "again", about)

    progress, engine, told = conducted(found, again)

    first = next(match for match in progress.matches if match.id == about)
    assert engine.seated.count([*first.seats]) == 2
    assert len(engine.seated) == len(progress.matches) + 1 == 7
    assert set(progress.results) == {match.number for match in progress.matches}
    assert sum(line.startswith(f"{about}  ") for line in told) == (2 if about == "r1-1" else 1)


def test_what_was_played_with_somebody_who_was_dropped_later_is_not_played_again(tmp_path: Path) -> None:
    found = event(tmp_path, "round-robin", names=NAMES[:4])
    before, _, _ = conducted(found, lambda seated: None)
    met = next(match.id for match in before.matches if {*match.seats} == {"ann", "dan"})
    decide(found, "drop", "dan")

    with pytest.raises(StoreError, match=f"{met} is not played again, and what was played stands: dan is dropped"):
        decide(found, "again", met)
    with pytest.raises(StoreError, match="dan is not played again, and what was played stands: dan is dropped"):
        decide(found, "again", "dan")
    assert decide(found, "again", "ann") == [met]
    after, engine, _ = conducted(found, lambda seated: None)

    assert after.results == before.results
    assert sorted(engine.seated) == sorted(
        [*one.seats] for one in before.matches if one.id != met and "ann" in one.seats
    )


def test_a_match_under_way_stands_if_somebody_in_it_is_dropped_whoever_is_to_play_again(tmp_path: Path) -> None:
    found, began = event(tmp_path, "round-robin", names=NAMES[:3]), list[list[str]]()

    def both(seated: list[str]) -> None:
        began.append(seated)
        if len(began) == 1:
            decide(found, "drop", seated[0])
            decide(found, "again", seated[1])

    progress, engine, _ = conducted(found, both)

    assert engine.seated.count(began[0]) == 1
    assert [one.fault for one in progress.results[progress.matches[0].number]] == ["", ""]


def test_nobody_waits_any_more_for_a_player_from_elsewhere_who_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "cyd.token").write_text("0123456789abcdef")
    text = "spec: sticks\nplayers: {ann: {kind: random}, bob: {kind: random}, cyd: {token: cyd.token}}\n"
    found = read_event_text(text, tmp_path / "cup.yaml")

    def drop(seated: list[str]) -> None:
        decide(found, "drop", "cyd")

    progress, engine, _ = conducted(found, drop)

    assert [sorted(seated) for seated in engine.seated] == [["ann", "bob"]]
    assert set(progress.results) == {match.number for match in progress.matches}


def test_a_table_goes_on_without_who_is_out_if_the_game_may_be_played_by_fewer(tmp_path: Path) -> None:
    names = (*NAMES, "gus")
    found = event(tmp_path, "{groups: 3..4, rounds: 3}\npoints: [3, 2, 1, 1]", "tsuro", names)  # played by 3 to 5
    first: list[list[str]] = []

    def drop(seated: list[str]) -> None:
        if not first:
            first.append(seated)
            decide(found, "drop", seated[0])

    progress, engine, told = conducted(found, drop)

    gone = first[0][0]
    assert [seats for seats in engine.seated if gone in seats] == first
    kinds = set()
    for match in progress.matches[1:]:
        placed = {one.player: one for one in progress.results[match.number]}
        if gone in match.seats:
            kinds.add(len(match.seats))
            left = [name for name in match.seats if name != gone]
            is_played = len(match.seats) == 4
            assert placed[gone] == Placed(gone, len(match.seats), None, False, OUT if is_played else UNPLAYED)
            assert [placed[name].place for name in left] == ([1, 2, 3] if is_played else [1, 1])
            assert (left in engine.seated) == is_played
            line = next(line for line in told if line.startswith(f"{match.id}  "))
            assert line.endswith(f"   {gone} out" + ("" if is_played else ", not played"))
    assert kinds
    assert next(row for row in progress.standings() if row.player == names.index(gone)).points == 3  # of the first
