"""Records of scalars, which grow by one item after another: stores of a key-value server, counters, names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from machines.values import FROZEN, INTEGER_MAX, INTEGER_MIN, Peer, Range, Rate, Record

FLAT_BEGIN = 8  # records of so many items at the most are looked through to find that they are flat
_SCALARS = frozenset({type(None), bool, Peer, Range, Rate})
UNKNOWN: Final = -1
# What values take, about: see `machines.engine.keeping`, which measures sessions.
TEXT_BYTES: Final = 56
NUMBER_BYTES: Final = 32
OBJECT_BYTES: Final = 64
PAIR_BYTES: Final = 96  # of a mapping


class FlatRecord(Record):
    """A record of numbers, texts, peers and the like, known to be immutable: nobody need look through it again.

    ``kept`` is how many bytes it takes with all that is in it, UNKNOWN until somebody asks.
    """

    __slots__ = ("kept",)

    def __init__(self, items: Mapping[str, Any]) -> None:
        super().__init__(items)
        self.kept = UNKNOWN

    def with_item(self, key: str, value: Any) -> FlatRecord:
        """Return a copy with a scalar under a key, in a twentieth of the time that building it anew takes."""
        found = FlatRecord(self)
        if self.kept != UNKNOWN:
            size = _item_bytes(key, value)
            before = _item_bytes(key, self[key]) if key in self else 0
            if size != UNKNOWN:  # what was measured holds but such as have a size
                found.kept = self.kept + size - before
        dict.__setitem__(found, key, value)
        return found

    def measured(self) -> int:
        """Return how many bytes it takes with all that is in it; UNKNOWN if peers and the like are among it."""
        if self.kept == UNKNOWN:
            sizes = [_item_bytes(key, value) for key, value in self.items()]
            if UNKNOWN not in sizes:
                self.kept = OBJECT_BYTES + sum(sizes)
        return self.kept


def text_bytes(text: str) -> int:
    """Return how many bytes a text takes, about."""
    return TEXT_BYTES + len(text) * (1 if text.isascii() else 4)


def _item_bytes(key: str, value: Any) -> int:
    """Return how many bytes a key with a scalar takes; UNKNOWN for one that other values may share."""
    size = PAIR_BYTES + text_bytes(key)
    if isinstance(value, str):
        return size + text_bytes(value)
    if isinstance(value, bool) or value is None:
        return size
    return size + NUMBER_BYTES if isinstance(value, int) else UNKNOWN


FROZEN.add(FlatRecord)


def is_scalar(value: Any) -> bool:
    """Whether a value is a number, text, peer or the like that a spec may hold; of two texts in doubt it says no."""
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    return kind in _SCALARS or (kind is int and INTEGER_MIN <= value <= INTEGER_MAX)


def flat(record: Mapping[str, Any]) -> FlatRecord | None:
    """Return a small record as one that is known to be flat, or one that is known already; None for any other."""
    if type(record) is FlatRecord:
        return record
    if len(record) <= FLAT_BEGIN and all(is_scalar(key) and is_scalar(value) for key, value in record.items()):
        return FlatRecord(record)
    return None
