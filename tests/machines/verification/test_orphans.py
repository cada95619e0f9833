"""A message that one of several places sends, and that nobody ever reads from there, is told with that place."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED
from tests.machines.verification.bench import SPECS, verdict_of

BEATING = (SPECS / "little" / "beating.yaml").read_text(encoding="utf-8")
HOME = "RESULT: {send: HOME, return: n}"


def found(name: str, old: str, new: str) -> list[tuple[str, str]]:
    text = (SPECS / "little" / f"{name}.yaml").read_text(encoding="utf-8")
    assert old in text
    verdict = verdict_of(text.replace(old, new, 1), (1, 2))
    return [(one.code, one.text) for one in verdict.findings]


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        (
            "beating",
            HOME,
            "RESULT: {send: [HOME, WORK], return: n}",
            "worker never reads WORK, which shop sends in line 17",
        ),
        (
            "side-by-side",
            "told: {send: {all: BEST(best)}, return: best}",
            "told: {send: {all: [BEST(best), LATE]}, return: best}",
            "player never reads LATE, which table sends in line 21",
        ),
    ],
)
def test_the_place_that_sends_in_vain_is_told(name: str, old: str, new: str, told: str) -> None:
    assert found(name, old, new) == [("A504", told)]


def test_what_is_read_now_and_then_is_no_orphan() -> None:
    assert verdict_of(BEATING, (1, 2)).state == PROVED  # HOME goes to who has gone home, too, when both clocks ring
    assert found("beating", HOME, "RESULT: {send: [BEAT, HOME], return: n}") == []
