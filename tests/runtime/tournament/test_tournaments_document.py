"""``docs/tournaments.md``, done as it says: from six folders to the table; what its commands print stands behind them.

``python -m tests.runtime.tournament.test_tournaments_document`` writes the outputs anew.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from tests.runtime.tournament.test_events import played
from tests.runtime.tutorial import filled

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tournaments.md"
VARYING = (
    (re.compile(r"after \d+\.\d of"), "after 0.1 of"),
    (re.compile(r'File "[^"]*/(\w+)/bot.py"'), r'File "/home/you/\1/bot.py"'),
)


def settled(text: str) -> str:
    """Return a page without what differs from run to run."""
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return text


def test_six_folders_come_to_the_table_that_the_page_shows(tmp_path: Path) -> None:
    text = PAGE.read_text()

    assert settled(filled(text, tmp_path)) == settled(text)
    assert re.findall(r"^(\w+): \d faults?$", text, re.MULTILINE) == ["eve", "fox", "eve", "fox"]  # and no honest one


def test_the_example_is_played_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "example-cup.yaml"
    path.write_text((PAGE.parent / "example-cup.yaml").read_text())

    facts = played(path)

    assert facts["played"] == facts["planned"] >= 3
    assert (facts["void"], [row["player"] for row in facts["standings"] if row["faults"]]) == ([], ["eve"])
    assert {len(match["seats"]) for match in facts["matches"]} <= {3, 4, 5}
    assert len(facts["standings"]) == 7


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as fresh:
        PAGE.write_text(settled(filled(PAGE.read_text(), Path(fresh))))
