"""``docs/tournaments.md``, done as it says: from six folders to the table; what its commands print stands behind them.

``python -m tests.runtime.tournament.test_tournaments_document`` writes the outputs anew.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as fresh:
        PAGE.write_text(settled(filled(PAGE.read_text(), Path(fresh))))
