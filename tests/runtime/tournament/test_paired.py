"""Whole Swiss events: whoever is paired with whom, it is right."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from tests.runtime.tournament.paired import write_event, wrongs
from tests.runtime.tournament.test_events import played


def test_in_a_swiss_event_every_pairing_is_right(tmp_path: Path) -> None:
    facts = played(write_event(tmp_path, 7, 3), "--no-ratings")

    assert wrongs(facts, 7, 3) == []

    twice = deepcopy(facts)
    twice["matches"][-1]["seats"] = twice["matches"][0]["seats"]
    assert any("met 2 times" in line for line in wrongs(twice, 7, 3))
    assert any("points and not" in line for line in wrongs({**facts, "matches": facts["matches"][:-1]}, 7, 3))
