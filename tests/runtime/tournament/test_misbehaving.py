"""Programs that misbehave: no honest player loses a point by them, and each loss has its reason."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from runtime.tournament.engines import marked
from runtime.tournament.store import Store
from tests.runtime.tournament.misbehaving import WAYS, write_event, wrongs
from tests.runtime.tournament.test_events import played

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="memory is seen in /proc")


@pytest.mark.parametrize(
    "ways",
    [
        pytest.param(("raises", "illegal", "chatter", "hoards", "forks", "absent"), id="six"),
        pytest.param(tuple(WAYS), id="all", marks=pytest.mark.whole),
    ],
)
def test_no_honest_player_loses_a_point_by_programs_that_misbehave(ways: Sequence[str], tmp_path: Path) -> None:
    path = write_event(tmp_path, ways, len(ways) // 2, 20 if len(ways) < 10 else 6)

    facts = played(path, "--no-ratings")

    assert facts["played"] == facts["planned"] > 0
    assert {one["player"] for match in facts["matches"] for one in match["places"] if one["fault"]} == {
        f"{way}{number}" for number, way in enumerate(ways)
    }
    assert wrongs(facts) == []
    store = Store(f"sqlite:///{path.with_suffix('.db')}")
    mark = store.mark
    store.close()
    assert list(marked(mark)) == []


def test_what_is_wrong_with_such_an_event_is_seen() -> None:
    places = [
        {"player": "honest1", "place": 2, "fault": None},
        {"player": "silent3", "place": 2, "fault": "crash: it ended"},
        {"player": "raises4", "place": 1, "fault": None},
        {"player": "honest5", "place": 1, "fault": "late: nothing came"},
    ]
    found = wrongs({"void": ["r1-2"], "matches": [{"match": "r1-1", "places": places}]})

    assert len(found) == 7
    assert found[0] == "r1-2 was given up"
    assert found[-1] == "r1-1: honest5 at place 1: late: nothing came"
