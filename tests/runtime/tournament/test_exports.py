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
    assert f'href="{(tmp_path / "r1-1" / "ab12" / "journal.jsonl").as_uri()}"' in page
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
