"""Which of many cases are run by default; the others are left to ``--all``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

from machines.parser.loader import load, shipped

THREE_SPECS = ("smtp", "santorini-relay", "tsuro")
"""A protocol of lines, one of three roles, one of machines that call each other."""


def by_default(cases: Iterable[Any], kept: Collection[Any]) -> list[Any]:
    """Return the cases, marked to run with ``--all`` only unless they are among the kept."""
    cases = list(cases)
    assert set(kept) <= set(cases), "what is kept is a case"
    return [case if case in kept else marked(case) for case in cases]


def marked(case: Any) -> Any:
    """Return a case of one value or of a tuple of them, marked."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.whole)


def played() -> tuple[str, ...]:
    """Return the shipped specs whose roles all have machines: programs of others play the foreign ones."""
    return tuple(name for name in shipped() if not load(name).foreign)
