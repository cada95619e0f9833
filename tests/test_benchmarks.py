"""What is measured still runs: each server that the comparison knows plays a batch, and the engine its games."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.comparison import WORDS, Server
from benchmarks.conformance import accused, busy, right_programs
from benchmarks.crowd import crowd
from benchmarks.engine import TURNS, pairs_program, simple_events
from benchmarks.growth import CURVES, Curve, chain, measured
from benchmarks.handwritten import SERVERS
from benchmarks.platforms import measured as measured_platforms
from benchmarks.platforms import platforms
from benchmarks.simulation import row
from benchmarks.tournament import best
from machines.analysis.traversal import machine_expressions
from machines.verification.abstract import questions
from tests.parts import by_default

ROOT = Path(__file__).resolve().parents[1]
PAIRS, MOVES = 2, 20


def test_every_server_of_the_comparison_is_tried_here() -> None:
    assert {"ours", "hall", "ours-stock", *SERVERS} == set(WORDS)


@pytest.mark.parametrize("kind", by_default(sorted(WORDS), ["ours", "hall"]))
def test_a_server_plays_a_batch_to_its_end(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    server = Server(kind, "asyncio", PAIRS, MOVES)
    try:
        server.ready()
        batches = [server.batch([sys.executable, "-m", "benchmarks.bots"]) for _ in range(2)]
    finally:
        server.close()

    assert [batch.moves for batch in batches] == [PAIRS * MOVES] * 2


def test_what_is_not_there_of_other_platforms_is_skipped_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with platforms(tmp_path, tmp_path / "python") as found:
        assert set(found) == {"Accord, players in C", "Accord, its own clients", "Accord, accord play"}
        name = "Accord, players in C"
        (told,) = measured_platforms({name: found[name]}, 64, 1, 0.1)

    assert told.pairs == 64
    assert told.server_us is not None
    assert 0 < told.server_us < told.all_us
    said = capsys.readouterr().err
    assert "boardgame.io is skipped: " in said
    assert "Pelita is skipped: " in said


def test_the_engine_plays_what_is_timed() -> None:
    assert simple_events(pairs_program(TURNS))()() == TURNS - 1


def test_games_in_memory_are_timed_beside_the_same_over_tcp() -> None:
    found = row("tsuro", ("second", "second", "second"), (), 1)
    assert 0 < found.thinking < found.memory < found.tcp


@pytest.mark.skipif(sys.platform != "linux", reason="processor time is seen in /proc")
def test_of_an_event_is_told_what_a_match_costs_whom() -> None:
    pytest.importorskip("sqlalchemy")

    (found,) = best("sticks", 10, [2], 1)

    assert (found.matches, found.workers) == (10, 2)
    assert 0 < found.coordinator < found.match
    assert found.fork_server > 0
    assert 1 < found.bound <= 2


@pytest.mark.parametrize("name", CURVES)
def test_a_point_of_each_curve_of_growth_is_measured(name: str) -> None:
    (curve,) = measured([name], 1)

    assert [size for size, _ in curve.points] == [CURVES[name][3][0]]
    assert curve.points[0][1] > 0
    assert curve.straight


def test_a_curve_is_straight_if_what_there_is_besides_is_only_copied() -> None:
    assert Curve("a", "peers", "one more", ((10, 5.0), (1_000, 9.0), (20_000, 400.0))).straight
    assert not Curve("a", "peers", "one more", ((10, 5.0), (1_000, 50.0))).straight


def test_what_is_known_of_questions_is_found_in_a_walk_of_each_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk for each question made the check of a chain of 400 states eight times as long."""
    walked = []

    def counted(*given: Any) -> Any:
        walked.append(given)
        return machine_expressions(*given)

    monkeypatch.setattr(questions, "machine_expressions", counted)
    for half in (10, 40):
        spec = chain(half)
        walked.clear()
        questions.QuestionTable(spec, "server")
        assert len(walked) <= 2 * len(spec.roles), half


DEAR = ("tsuro client, trickling", "smtp server, slow")  # minutes, while two programs beside them reckon without pause


@pytest.mark.parametrize(
    "name", [*by_default(["accord, sticks host"], []), *(pytest.param(one, marks=pytest.mark.release) for one in DEAR)]
)
def test_a_right_program_is_not_accused_on_a_busy_machine(name: str) -> None:
    program = next(one for one in right_programs() if one.name == name)
    with busy(2):
        found = accused(program, 3, [f"{program.role}/main.*-only", f"{program.role}/wire/cut"])

    assert found.fails == ()
    assert found.outcomes["right"] > 0


def test_a_crowd_is_seated_and_every_game_of_it_moves() -> None:
    found = crowd(20)

    assert found["connections"] == 40
    assert 0 < found["move_us"] < 50_000
