"""The course's fixtures for Trains and the answers of its reference, through the harnesses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rules.harnesses.trains import HARNESSES
from runtime.commands.rules import read_values
from tests.support.shared import SHARED, needs_shared

CASES = SHARED / "cases" / "trains"
HARNESS_OF = {"xref-lastround": "xref"}


def cases() -> list[Any]:
    found = []
    for path in sorted(CASES.rglob("*-in.json")):
        name = str(path.relative_to(CASES)).removesuffix("-in.json")
        if not name.startswith("transcripts"):
            found.append(pytest.param(path, id=name))
    return found


def test_there_are_73_fixtures_and_158_reference_cases() -> None:
    if CASES.is_dir():
        assert len(cases()) == 73 + 158


@needs_shared
@pytest.mark.parametrize("path", cases())
def test_harnesses_answer_as_expected(path: Path) -> None:
    harness = HARNESSES[HARNESS_OF.get(path.parent.name, path.parent.name)]
    rules = path.with_name(path.name.replace("-in.json", "-rules.json"))
    expected = rules if rules.exists() else path.with_name(path.name.replace("-in.json", "-out.json"))

    assert list(harness(list(read_values(path.read_bytes())))) == [json.loads(expected.read_text())]
