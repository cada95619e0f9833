"""Exports: CSV, JSON, a page, text, from the database alone; what players choose to be called does no harm there."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from rules.schedules.ratings import ELO, ratings
from runtime.tournament.event import read_event_text
from runtime.tournament.exports import write_exports
from runtime.tournament.progress import EventProgress
from runtime.tournament.store import Match, Placed
from runtime.tournament.table import fault_lines, summary_lines

EVENT = """
spec: tsuro
event: <b>cup</b>
players: {"=1+1": {kind: strong}, "<script>": {kind: strong}, cyd: {kind: strong}}
"""


def progress(folder: Path) -> EventProgress:
    event = read_event_text(EVENT, folder / "cup.yaml")
    matches = [Match(1, "r1-1", 1, 1, ("=1+1", "<script>")), Match(2, "r2-1", 2, 1, ("<script>", "cyd"))]
    won = (Placed("=1+1", 1), Placed("<script>", 2, None, True, "late: <i>", "Traceback\nboom"))
    return EventProgress(event, matches, {1: won})


def test_all_formats_say_the_same_and_names_do_no_harm(tmp_path: Path) -> None:
    found = progress(tmp_path)

    written = write_exports(found, {1: ("ab12", {"x": 1})}, tmp_path / "out", ["csv", "json", "html", "text"], tmp_path)

    assert [path.name for path in written] == [
        "standings.csv", "matches.csv", "event.json", "event.html", "matches.txt",
    ]  # fmt: skip
    rows = [*csv.reader((tmp_path / "out" / "standings.csv").read_text().splitlines())]
    assert rows[0][:3] == ["rank", "player", "points"]
    assert rows[1][:3] == ["1", "'=1+1", "1"]  # no formula
    facts = json.loads((tmp_path / "out" / "event.json").read_text())
    assert facts["matches"][0]["result"] == {"x": 1}
    assert [place["fault"] for place in facts["matches"][0]["places"]] == [None, "late: <i>"]
    page = (tmp_path / "out" / "event.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert 'href="../r1-1/ab12/journal.jsonl"' in page  # it goes on when both folders are moved
    assert "file:" not in page
    assert "boom" in page
    text = (tmp_path / "out" / "matches.txt").read_text()
    assert '[Match "r1-1"]\n[Seat1 "=1+1"]' in text
    assert "=1+1 1  <script> -   <script>: late: <i>" in text


def test_ratings_are_the_same_in_any_order_and_one_who_won_all_has_one(tmp_path: Path) -> None:
    from rules.schedules.standings import Played

    matches = [Played(((0,), (1,))), Played(((0,), (2,))), Played(((1,), (2,))), Played(((1, 2),))]
    found = ratings(3, matches)

    assert found == ratings(3, matches[::-1])
    assert found[0].elo > found[1].elo > found[2].elo
    assert all(0 < one.margin < 5 * ELO for one in found)
    assert abs(sum(one.elo for one in found)) < 1e-6


def test_an_export_takes_away_what_it_handed_out_once_and_does_no_more(tmp_path: Path) -> None:
    found, out = progress(tmp_path), tmp_path / "out"
    handed = out / "players" / "_1_1"
    for run, name in (("ab12", "reasons.txt"), ("ab12", "conversation.txt"), ("cd34", "conversation.txt")):
        file = tmp_path / "r1-1" / run / "players" / "_1_1" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(run)

    assert len(write_exports(found, {1: ("ab12", None)}, out, ["folders"], tmp_path)) == 2
    (handed / "r1-1" / "notes.txt").write_text("mine")
    write_exports(found, {1: ("cd34", None)}, out, ["folders"], tmp_path)

    assert {path.name: path.read_text() for path in (handed / "r1-1").iterdir()} == {
        "conversation.txt": "cd34",
        "notes.txt": "mine",
    }
    (handed / "r1-1" / "notes.txt").unlink()
    write_exports(found, {}, out, ["folders"], tmp_path)  # it is to be played again
    assert [*handed.iterdir()] == []


def test_files_have_a_reason_whole_and_the_points_that_the_table_counts(tmp_path: Path) -> None:
    found, long = progress(tmp_path), "late: " + "x" * 300
    found.results[1] = (Placed("=1+1", 1), Placed("<script>", 2, None, True, long))

    write_exports(found, {}, tmp_path, ["csv", "json", "html", "text"], tmp_path)

    for name in ("matches.csv", "event.json", "event.html", "matches.txt"):
        assert long in (tmp_path / name).read_text(), name
    rows = [*csv.DictReader((tmp_path / "matches.csv").read_text().splitlines())]
    assert [(row["points"], row["game points"]) for row in rows] == [("1", ""), ("0", "")]
    match = json.loads((tmp_path / "event.json").read_text())["matches"][0]
    assert [(place["points"], place["game points"]) for place in match["places"]] == [(1, None), (0, None)]


def test_how_far_an_event_is_names_the_first_round_that_is_not_played_whole(tmp_path: Path) -> None:
    found = progress(tmp_path)
    three = [Match(number, f"r{number}-1", number, 1, ("=1+1", "cyd")) for number in (1, 2, 3)]
    lost = (Placed("=1+1", 1), Placed("cyd", 2, None, True, "late"))
    at = [
        next(summary_lines(EventProgress(found.event, three[:planned], dict.fromkeys(played, lost))))
        for planned, played in ((0, ()), (3, ()), (3, (2,)), (3, (1,)), (3, (1, 2, 3)))
    ]

    assert at == [
        "<b>cup</b>: nothing is played yet, accord tournament run begins",
        "<b>cup</b>: 0 of 3 matches, round 1",
        "<b>cup</b>: 1 of 3 matches, round 1",
        "<b>cup</b>: 1 of 3 matches, round 2",
        "<b>cup</b>: 3 of 3 matches, round 3",
    ]
    told = [*fault_lines(EventProgress(found.event, three, dict.fromkeys((1, 2, 3), lost)), 2)]
    assert told == ["cyd: 3 faults", "  r1-1: late", "  r2-1: late", "  and 1 more"]
