"""Records of scalars, which grow by one item after another: stores of a key-value server, counters, names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from machines.values import FROZEN, INTEGER_MAX, INTEGER_MIN, Peer, Range, Rate, Record

FLAT_BEGIN = 8  # records of so many items at the most are looked through to find that they are flat
_SCALARS = frozenset({type(None), bool, Peer, Range, Rate})


class FlatRecord(Record):
    """A record of numbers, texts, peers and the like, known to be immutable: nobody need look through it again."""

    __slots__ = ()

    def with_item(self, key: str, value: Any) -> FlatRecord:
        """Return a copy with a scalar under a key, in a twentieth of the time that building it anew takes."""
        found = FlatRecord(self)
        dict.__setitem__(found, key, value)
        return found


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
