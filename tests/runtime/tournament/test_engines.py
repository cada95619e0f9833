"""What plays matches: whichever it is, and however many at a time, an event has the same results, once each."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

pytest.importorskip("sqlalchemy")
if not hasattr(os, "fork"):
    pytest.skip("a host is asked through a pipe that Windows has not", allow_module_level=True)

from runtime.cli import main
from runtime.tournament import match_host
from runtime.tournament.command import arena_of
from runtime.tournament.conductor import Conductor
from runtime.tournament.event import read_event_text
from runtime.tournament.match_host import MatchHost, play_here
from runtime.tournament.match_process import MatchReport, MatchTask
from runtime.tournament.store import Match, Placed, Store
from tests.runtime.tournament.test_events import event, played, winners
from tests.runtime.tournament.test_killed import LEFT_SECONDS

TWO = "spec: sticks\nseed: 3\nplayers: {ann: {kind: random}, bob: {command: KIND}}\n"


def task(folder: Path, command: str = "cat") -> MatchTask:
    """Return a match between a player of the game and a program."""
    found = read_event_text(TWO.replace("KIND", command), folder / "two.yaml")
    conductor = Conductor(found, Store("sqlite://"), arena_of(found))
    return conductor.task(Match(1, "r1-1", 1, 1, ("ann", "bob")), "attempt")


@pytest.fixture
def no_host() -> Iterator[None]:
    """Have no host at the beginning, and leave none."""
    match_host._hosts.clear()
    yield
    for host in match_host._hosts:
        host.close()
    match_host._hosts.clear()


def test_one_or_eight_at_a_time_an_event_has_the_same_results(tmp_path: Path) -> None:
    one, eight = (played(event(tmp_path / str(most), f"at_once: {most}")) for most in (1, 8))

    assert winners(one) == winners(eight)
    assert one["standings"] == eight["standings"]


def test_a_match_played_twice_has_two_runs_and_the_same_end(tmp_path: Path, no_host: None) -> None:
    asked = task(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: play_here(asked, ()), range(2))

    assert one.run != other.run
    for report in (one, other):
        places = [(placed.player, placed.place, placed.at_fault) for placed in report.places]
        assert (places, report.value) == ([("ann", 1, False), ("bob", 2, True)], one.value)
    assert {path.name for path in (tmp_path / "two-matches" / "r1-1").iterdir()} == {one.run, other.run}


def test_a_second_result_of_a_match_changes_nothing() -> None:
    store = Store("sqlite://")
    store.plan([Match(1, "r1-1", 1, 1, ("ann", "bob"))])
    store.start(1, 1, "one")
    store.start(1, 2, "other")

    assert store.played(1, 1, "one", 0.1, "ann", [Placed("ann", 1), Placed("bob", 2)])
    before = store.results(), store.values(), store.attempts()
    assert not store.played(1, 2, "other", 0.1, "bob", [Placed("ann", 2), Placed("bob", 1)])
    assert (store.results(), store.values(), store.attempts()) == before
    store.close()


def test_what_goes_wrong_beside_a_worker_is_the_arenas_fault(tmp_path: Path, no_host: None) -> None:
    asked = task(tmp_path)
    blocked = tmp_path / "two-matches" / "r1-1"
    blocked.parent.mkdir()
    blocked.write_text("no folder")

    assert "NotADirectoryError" in play_here(asked, ()).broken
    for other, why in (
        (replace(asked, accord="0.0"), "and the event is held by 0.0: install the same"),
        (replace(asked, folder=Path("/nowhere/two-matches/r1-1/x")), "has no folder /nowhere: share"),
        (replace(asked, spec="/nowhere/spec.yaml"), "has no spec /nowhere/spec.yaml: share"),
        (replace(asked, spec_hash="0"), "has another spec sticks"),
    ):
        assert why in play_here(other, ()).broken


def test_a_host_that_is_killed_breaks_its_matches_and_the_next_has_a_new_one(tmp_path: Path, no_host: None) -> None:
    os.mkfifo(tmp_path / "held")
    held = task(tmp_path, "sh -c 'echo $$ > held; sleep 1000'")
    held = replace(held, seats=tuple([replace(seat, folder=tmp_path) for seat in held.seats]))
    with ThreadPoolExecutor(1) as pool:
        report = pool.submit(play_here, held, ())
        (tmp_path / "held").read_text()
        os.kill(match_host._hosts[0].pid, signal.SIGKILL)
        assert "ended with -9" in report.result().broken

    assert play_here(task(tmp_path), ()).broken == ""


def test_a_match_that_nobody_wants_any_more_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_host, "LOOK_SECONDS", 0.01)
    os.mkfifo(tmp_path / "held")
    asked = task(tmp_path, "sh -c 'echo $$ > held; sleep 1000'")
    asked = replace(asked, seats=tuple([replace(seat, folder=tmp_path) for seat in asked.seats]))
    host = MatchHost()
    wanted = Event()
    wanted.set()
    with ThreadPoolExecutor(1) as pool:
        report = pool.submit(host.play, "run", asked, (), wanted.is_set)
        process = os.pidfd_open(int((tmp_path / "held").read_text()))
        wanted.clear()
        assert report.result() == MatchReport(broken="nobody wants its result any more")
    assert select.select([process], [], [], LEFT_SECONDS)[0]
    os.close(process)
    host.close()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "--on", "10.0.0.1:8786"], "is not of the form dask://HOST:PORT"),
        (["run", "--on", "dask://10.0.0.1"], "is not of the form dask://HOST:PORT"),
        (["show", "--on", "dask://10.0.0.1:8786"], "--on is for accord tournament run"),
    ],
)
def test_what_is_no_place_to_play_on_is_told(
    words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = event(tmp_path, "games: 1")

    assert main(["tournament", words[0], str(path), *words[1:]]) == 2
    assert says in capsys.readouterr().err
