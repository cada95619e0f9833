"""Faults of a spec, as values: collected in one pass, shown in file order.

A problem has a place, a stable code, what is wrong, and a way out. The codes are grouped by who finds them:

    A1xx  reading: YAML, keys, names of states, machines, messages
    A2xx  types, message bodies, expressions
    A3xx  how the machines hang together: names that may be unset, unreachable states, ambiguous messages
    A4xx  rules modules: missing, misspelt, called with the wrong number of arguments
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands in a file; ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def right(self, columns: int) -> Place:
        """Return the place so many columns further right in the same line."""
        return Place(self.file, self.line, self.column + columns)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault: where, which, what, and what to do about it (``hint`` may be empty)."""

    place: Place
    code: str
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.code} {self.text}" + (f" ({self.hint})" if self.hint else "")


class SpecError(Exception):
    """A spec cannot be used; ``problems`` holds every fault found, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(slots=True)
class Problems:
    """Collects problems; the same problem said twice counts once."""

    found: dict[Problem, None] = field(default_factory=dict)

    def add(self, place: Place, code: str, text: str, hint: str = "") -> None:
        """Note one fault."""
        self.found[Problem(place, code, text, hint)] = None

    def __bool__(self) -> bool:
        return bool(self.found)

    def __iter__(self) -> Iterator[Problem]:
        return iter(sorted(self.found))

    def raise_if_any(self) -> None:
        """Raise a SpecError with all problems so far, if there are any."""
        if self.found:
            raise SpecError(self)


def near(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for the known word most like ``word``, or the empty text."""
    matches = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean {matches[0]!r}?" if matches else ""
