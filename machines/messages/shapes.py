"""Types compiled to closures: what a value must be, and the frozen value it stands for.

A shape takes a JSON value (lists or tuples, dicts or Records) and gives back the frozen one, or MISS. Nothing is
raised on that way, so that trying one message after another stays cheap; why a value did not fit is found out
afterwards, by `Shape.fault`, and only when somebody asks.

    `machines.messages.scalars`     numbers, texts, enumerations, any
    `machines.messages.containers`   lists, mappings, unions
    `machines.messages.templates`   texts with fields
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from machines.messages.automata import Automaton
from machines.values import Peer

SHOWN_MAX = 60  # characters of a value in a Mismatch
OUTLINED_MAX = 1000  # values that are looked at for it: a list of the same lists has as many as one likes
SAMPLES_MAX = 24

Take = Callable[[Any], Any]
Path = tuple[str | int, ...]


class _Miss:
    """What `Shape.take` gives back for a value that does not fit; None is a JSON value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISS"


NO_MATCH: Any = _Miss()


class Mismatch(Exception):  # noqa: N818 - a value that does not fit is everyday business, not a failure of ours
    """A value does not fit. ``path`` leads to the part that does not: keys and indices, from the outside in.

    ``expected`` and ``got`` are for people; ``got`` is cut to SHOWN_MAX characters.
    """

    def __init__(self, path: Path, expected: str, got: str) -> None:
        self.path = path
        self.expected = expected
        self.got = got
        super().__init__(f"expected {expected}{' at ' + shown_path(path) if path else ''}, got {got}")


def shown_path(path: Path) -> str:
    """Return a path as people write it: ``[3].tile``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def shown(value: Any) -> str:
    """Return a value as JSON, or what it is if it is none, cut to SHOWN_MAX characters."""
    if isinstance(value, Peer):
        return "a peer"
    try:
        text = json.dumps(_outline(value, 0, [OUTLINED_MAX]), ensure_ascii=False)
    except (TypeError, ValueError):
        text = f"a {type(value).__name__}"
    if not text.isprintable():  # A peer's text may not steer the terminal that shows it.
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 1] + "…"


def _outline(value: Any, depth: int, left: list[int]) -> Any:
    """Return a part of a value that is large enough to show and small enough to be quick."""
    left[0] -= 1
    if depth > 8 or left[0] < 0:
        return "…"
    if isinstance(value, str):
        return value[:SHOWN_MAX]
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return "a huge number"
    if isinstance(value, list | tuple):
        return [_outline(item, depth + 1, left) for item in value[: min(SHOWN_MAX, left[0] + 1)]]
    if isinstance(value, Mapping):
        return {
            key: _outline(item, depth + 1, left) for key, item in islice(value.items(), min(SHOWN_MAX, left[0] + 1))
        }
    return value


class Shape(ABC):
    """What a value must be.

    ``take`` returns the frozen value, or MISS. ``kinds`` are the JSON kinds of the values that can fit: ``null bool
    number text list map``. ``name`` is what the type was declared as, empty if it was written in place.
    """

    take: Take
    kinds: frozenset[str]
    name: str = ""

    def freeze(self, value: Any) -> Any:
        """Return the frozen value.

        Raises:
            Mismatch: the value does not fit.
        """
        taken = self.take(value)
        if taken is NO_MATCH:
            raise self.fault(value, ())
        return taken

    def fault(self, value: Any, path: Path) -> Mismatch:
        """Return what is wrong with a value that does not fit; ``path`` is where it stands."""
        return Mismatch(path, f"{self.name} ({self._written()})" if self.name else self._written(), shown(value))

    def describe(self) -> str:
        """Return what a value must be, for people: the declared name, or what was written."""
        return self.name or self._written()

    def example(self) -> Any:
        """Return a frozen value that fits, always the same and rather small."""
        return self._example()

    def samples(self) -> Iterator[Any]:
        """Yield some SAMPLES_MAX values that fit and differ where the type leaves room; not all are frozen ones."""
        return self._samples()

    def language(self) -> Automaton | None:
        """Return the texts that fit, None if no text does. It may be wider where a number in a text has a range.

        Raises:
            TooLargeError: the texts are too many ways to be written.
        """
        return self._language()

    def native(self) -> Any:
        """Return the type with which msgspec checks the same, MISS if it has none that gives equal results."""
        return self._native()

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of the values that fit.

        It says less than ``take`` does on: the 64 bits of a ``number`` or in ``any``, the depth of ``any``, letters
        beyond ASCII in a loose enumeration, keys of a map that are the same word in a loose enumeration, and fields
        within a text (the literal text after a field may come in it, and numbers have no range).
        """
        definitions: dict[str, Any] = {}
        schema = self.refer(definitions)
        return {**schema, "$defs": definitions} if definitions else schema

    def refer(self, definitions: dict[str, Any]) -> dict[str, Any]:
        """Return a schema that may refer to ``definitions``; a declared type is put there once."""
        if not self.name:
            return self._schema(definitions)
        if self.name not in definitions:
            definitions[self.name] = self._schema(definitions)
        return {"$ref": f"#/$defs/{self.name}"}

    # What each kind of shape says for itself:

    @abstractmethod
    def _written(self) -> str: ...

    @abstractmethod
    def _example(self) -> Any: ...

    @abstractmethod
    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]: ...

    def _samples(self) -> Iterator[Any]:
        yield self._example()

    def _language(self) -> Automaton | None:
        return None

    def _native(self) -> Any:
        return NO_MATCH


def kind_of(value: Any) -> str:
    """Return the JSON kind of a value: ``null bool number text list map``, empty if it is no JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    for classes, kind in (((int, float), "number"), (str, "text"), ((list, tuple), "list"), (Mapping, "map")):
        if isinstance(value, classes):
            return kind
    return ""
