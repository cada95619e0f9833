"""Specs for the tests of the exploration, and their verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from machines.model import Spec
from machines.parser.loader import load, load_text, rules_modules
from machines.verification.abstract.contracts import contracts_for
from machines.verification.verdict import Verdict
from machines.verification.verify import verify

SPECS = Path(__file__).resolve().parents[2] / "specs"
SHIPPED = Path(__file__).resolve().parents[3] / "specs"


def text_of(name: str) -> str:
    """Return the text of a spec: one that ships, or one of the tests."""
    for folder in (SHIPPED, SPECS, SPECS / "correct"):
        path = folder / f"{name}.yaml"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise LookupError(name)


def changed(name: str, *changes: tuple[str, str]) -> Spec:
    """Return a spec with texts in it replaced, each of which is there."""
    text = text_of(name)
    for old, new in changes:
        assert old in text, f"{name} has no {old!r}"
        text = text.replace(old, new)
    return load_text(text)


def verdict_of(spec: Spec | str, clients: Iterable[int] = (1, 2, 3), *, queue: int = 2, most: int = 60_000) -> Verdict:
    """Return the verdict on a spec, or on the one of that name or text, which is searched once in a session."""
    if isinstance(spec, str):
        return _verdict_on(spec, tuple(clients), queue, most)
    return searched(spec, clients, queue=queue, most=most)


def searched(spec: Spec, clients: Iterable[int] = (1, 2, 3), *, queue: int = 2, most: int = 60_000) -> Verdict:
    """Return the verdict on a spec, found anew."""
    return verify(spec, contracts_for(spec, rules_modules(spec)), clients=clients, queue=queue, most=most)


@cache
def _verdict_on(spec: str, clients: tuple[int, ...], queue: int, most: int) -> Verdict:
    return searched(load(spec) if "\n" not in spec else load_text(spec), clients, queue=queue, most=most)
