"""Faults of a spec, as values: collected in one pass, shown in file order.

A problem has a place, a stable code, what is wrong, and a way out. The codes are grouped by who finds them:

    A1xx  reading: YAML, keys, names of states, machines, messages
    A2xx  types, message bodies, expressions
    A3xx  how the machines hang together: names that may be unset, unreachable states, ambiguous messages
    A4xx  rules modules: missing, misspelt, called with the wrong number of arguments
    A5xx  what roles do together, found by exploring all their runs
    A6xx  what happens in games that are played, with rules and players

Each code has a page in the manual, see `machines.manual`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from typing import Final

# Problems of one code that are told: nobody reads more, and those of other codes must be seen.
TOLD_MAX: Final = 100
NEAR_WORDS_MAX: Final = 500  # Known words that a misspelt one is compared with.
NEAR_LETTERS_MAX: Final = 64  # A longer word is no slip of the fingers, and comparing takes the square of its length.


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


@dataclass(frozen=True, slots=True)
class Location:
    """Where in the machines a problem stands, so that runs which come to it can be looked for.

    ``state`` is empty in an ``always``. ``names`` are the messages or the names that it is of, ``example`` what is
    either of two messages, as text, and ``events`` those that nothing answers.
    """

    role: str
    machine: str
    state: str
    names: tuple[str, ...] = ()
    example: str = ""
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mend:
    """What mends a fault: ``new`` belongs where ``old`` stands, if that is what stands there.

    ``shown`` says it in one line where the line in which it begins would not.
    """

    place: Place
    old: str
    new: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """What mends an order: of one mapping the key at ``late`` (or around it) belongs above the one at ``early``."""

    early: Place
    late: Place


@dataclass(frozen=True, slots=True)
class Rename:
    """What mends a name with two meanings: ``old`` is ``new`` in the list made of another that begins at ``place``."""

    place: Place
    old: str
    new: str


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault: where, which, what, and what to do about it (``hint`` may be empty).

    ``count`` is how many faults it stands for: more than one if it says how many of its code are not told. ``spot`` is
    set for those that a run can show, ``mends`` for those of which it is known what was meant: the first that fits.
    """

    place: Place
    code: str
    text: str
    hint: str = ""
    count: int = 1
    spot: Location | None = field(default=None, compare=False, repr=False)
    mends: tuple[Mend | Move | Rename, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.place}: {self.code} {self.text}" + (f" ({self.hint})" if self.hint else "")


class SpecError(Exception):
    """A spec cannot be used; ``problems`` holds every fault found, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(slots=True)
class Problems:
    """Collects problems; the same problem said twice counts once.

    Of each code the first TOLD_MAX in file order are told, then one that says how many more there are: a flood of one
    kind neither fills the screen nor hides another kind.
    """

    found: dict[Problem, None] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    _cut: dict[str, Place] = field(default_factory=dict)

    def add(
        self,
        place: Place,
        code: str,
        text: str,
        hint: str = "",
        spot: Location | None = None,
        mends: tuple[Mend | Move | Rename, ...] = (),
    ) -> None:
        """Note one fault."""
        problem = Problem(place, code, text, hint, spot=spot, mends=mends)
        if problem not in self.found:
            self.found[problem] = None
            self._counts[code] += 1

    def is_full(self, code: str) -> bool:
        """Whether more of a code will not be told, so that no work is worth spending on what to say of it."""
        return self._counts[code] >= TOLD_MAX

    def cut(self, code: str, place: Place) -> None:
        """Note that more of a full code, from a place on, was not even looked for."""
        self._cut.setdefault(code, place)

    def near(self, code: str, word: str, known: Iterable[str]) -> str:
        """Return what ``near`` does, for the hint of a problem of this code; the empty text if it will not be told."""
        return "" if self.is_full(code) else near(word, known)

    def __bool__(self) -> bool:
        return bool(self.found)

    def __iter__(self) -> Iterator[Problem]:
        told: Counter[str] = Counter()
        first_left: dict[str, Problem] = {}
        for problem in sorted(self.found):
            told[problem.code] += 1
            if told[problem.code] <= TOLD_MAX:
                yield problem
            else:
                first_left.setdefault(problem.code, problem)
        for code, problem in first_left.items():
            count = told[code] - TOLD_MAX
            text = f"from here on {count} more of {code} {'is' if count == 1 else 'are'} not told"
            yield Problem(problem.place, code, text, "mend those before first", count)
        for code, place in self._cut.items():
            yield Problem(place, code, f"from here on no more of {code} is looked for", "mend those before first")

    def raise_if_any(self) -> None:
        """Raise a SpecError with all problems so far, if there are any."""
        if self.found:
            raise SpecError(self)


def near(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for the known word most like ``word``, or the empty text; see `nearest`."""
    found = nearest(word, known)
    return f"did you mean {found!r}?" if found is not None else ""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like ``word``, never itself; None if none is like it.

    Of very many known words only the first NEAR_WORDS_MAX are looked at, and none that is longer than
    NEAR_LETTERS_MAX.
    """
    if len(word) > NEAR_LETTERS_MAX:
        return None
    looked_at = [other for other in islice(known, NEAR_WORDS_MAX) if len(other) <= NEAR_LETTERS_MAX and other != word]
    matches = get_close_matches(word, looked_at, n=1, cutoff=0.6)
    return matches[0] if matches else None
