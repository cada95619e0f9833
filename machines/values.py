"""The values that names of a spec are bound to: JSON values made immutable, peers, ranges and rates.

    null, true, 12, 1.5, 'text'    None, bool, int, float, str
    [a, b]                         tuple
    {key: a}                       Record, an immutable dict
    player                         Peer
    1..5                           Range
    10 per 1 s                     Rate
    5 s, never                     float, seconds; infinity for never
    what a rule returns            a frozen dataclass is handed on as it is

Everything bound to a name is immutable, so that a branch that fails leaves nothing half done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from operator import is_
from typing import Any, NoReturn


class FreezeError(TypeError):
    """A value is of a kind that a spec may not hold; the text says which and what to use instead."""


class Record(dict[str, Any]):
    """An immutable mapping with text keys; equal records hash equally. Values are frozen too."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a record is immutable")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this record has no {name!r}, only {', '.join(self) or 'nothing'}") from None


NO_FIELDS = Record()


@dataclass(frozen=True, slots=True, eq=False)
class Peer:
    """A seat: the other end of one connection. Two peers are equal if they have the same ``number``.

    ``number`` counts the connections of a session from 0. ``fields`` is what the sign-up machine returned and is
    read as attributes: ``peer.name``. A peer never changes; seating makes a new value with the same number.
    """

    number: int
    fields: Record = NO_FIELDS

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Peer) and other.number == self.number

    def __hash__(self) -> int:
        return hash(("peer", self.number))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            has = ", ".join(self.fields) or "nothing"
            raise AttributeError(f"peer {self.number} has no {name!r}, only {has}") from None

    def __repr__(self) -> str:
        return f"<peer {self.number}{' ' + repr(self.fields.get('name')) if 'name' in self.fields else ''}>"


@dataclass(frozen=True, slots=True)
class Range:
    """The integers from ``low`` to ``high``, both included; empty if ``high`` is below ``low``."""

    low: int
    high: int

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __len__(self) -> int:
        return max(0, self.high - self.low + 1)

    def __contains__(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``count`` times in any ``seconds``."""

    count: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.count} per {self.seconds:g} s"


# Kinds whose values are frozen as they are; classes of frozen dataclasses are added as they are met.
FROZEN: set[type] = {type(None), bool, int, float, str, Peer, Range, Rate}
DEPTH_MAX = 64  # As deep as a message may be nested; what a rule returns has no reason to be deeper.


def freeze(value: Any, depth: int = 0, seen: dict[int, Any] | None = None) -> Any:
    """Return ``value`` with lists as tuples and mappings as Records, at every depth.

    Raises:
        FreezeError: it holds a set (its order changes from run to run), an object that can change, a mapping whose
            keys are not texts, or is nested deeper than DEPTH_MAX.
    """
    kind = type(value)
    if kind in FROZEN:
        return value
    if depth > DEPTH_MAX:
        raise FreezeError(f"nested deeper than {DEPTH_MAX}")
    if kind is tuple:
        # What stands in several places is looked at once: a list of twice the same list, thirty levels deep, is small.
        if seen is None:
            seen = {}
        elif id(value) in seen:
            return seen[id(value)]
        items = tuple([freeze(item, depth + 1, seen) for item in value])
        # The common case, a tuple of frozen things, is handed back as it is, and shares its memory.
        found = value if all(map(is_, items, value)) else items
        seen[id(value)] = found
        return found
    if kind is list:
        return tuple([freeze(item, depth + 1, seen) for item in value])
    if isinstance(value, Mapping):
        if kind is Record:
            return value
        if not all(isinstance(key, str) for key in value):
            raise FreezeError("a mapping's keys must be texts")
        return Record((key, freeze(item, depth + 1, seen)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        raise FreezeError("a set has no fixed order: use a sorted tuple")
    if isinstance(value, tuple | Enum | str | int | float):
        return value
    if is_dataclass(kind) and kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        FROZEN.add(kind)
        return value
    raise FreezeError(f"a {kind.__name__} can change: use a tuple, a mapping or a frozen dataclass")


def plain(value: Any) -> Any:
    """Return ``value`` as JSON-able data for a result or a journal: a peer becomes its fields and number."""
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Peer):
        return {"peer": value.number, **{key: plain(item) for key, item in value.fields.items()}}
    if isinstance(value, Range | Rate):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return str(value)
