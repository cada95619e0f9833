"""The JSON of what stands in long lists and has been checked and encoded before, found by its identity.

A board that is sent again differs in a column or two from the board before; the other columns are the same objects,
since rules hand back most of what they were given and nothing frozen ever changes. So of a list of large lists those
that are known are neither checked nor encoded again, nor what stands beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from machines.messages.containers import ListShape, RepeatShape, UnionShape
from machines.messages.shapes import NO_MATCH, Shape

LARGE = 32  # values in a list, about, from which on looking it up is quicker than writing it anew
PART = 8  # the same of what stands beside such lists
KNOWN_BYTES_MAX = 1 << 22  # of memory, about, that the known lists of one type take; then all of them are forgotten
_ENTRY_BYTES = 250  # of one, besides its JSON and its values
_VALUE_BYTES = 8  # of what the list itself takes, for each byte of its JSON
_OPEN = 4  # items of a list that may have any number of them, for `_size`

_encode = msgspec.json.Encoder().encode
_Writer = Callable[[Any], bytes]  # the JSON of a value that is of a type; raises ValidationError for any other


def known_json(shape: Shape) -> Callable[[Any], msgspec.Raw] | None:
    """Return what writes a field whose values are lists of large lists, None for another: it is as soon written anew.

    It is given a frozen value and returns the JSON that the checked value would have. It raises
    ``msgspec.ValidationError`` for what is not certain to be of the type, also for what is no tuple, and
    UnicodeEncodeError for a text with a lone surrogate.
    """
    if not _has_large_items(shape) or shape.native() is NO_MATCH:
        return None
    write = _writer(shape)
    return lambda value: msgspec.Raw(write(value))


class SentAgain:
    """The value of a large field that was sent last: sent again, it is neither checked nor encoded a third time."""

    __slots__ = ("_json", "_value", "_write")

    def __init__(self, shape: Shape) -> None:
        self._value: Any = None
        self._json: msgspec.Raw | None = None
        self._write = _checked(shape)

    def json_of(self, value: Any) -> msgspec.Raw | None:
        """Return the JSON of a value if it is the one that was asked for last, and nothing in it can change.

        Raises ``msgspec.ValidationError`` if it is not of the type.
        """
        if value is not self._value:
            self._value, self._json = value, None
        elif self._json is None and _cannot_change(value):
            self._json = msgspec.Raw(self._write(value))
        else:
            return self._json
        return None


def is_large(shape: Shape) -> bool:
    """Whether it takes longer to write a value of a type anew than to see that it is the same."""
    return isinstance(shape, ListShape | RepeatShape) and _size(shape) >= LARGE and shape.native() is not NO_MATCH


def _cannot_change(value: Any) -> bool:
    try:
        hash(value)  # what can change, however deep in a tuple it stands, has none
    except TypeError:
        return False
    return type(value) is tuple


def _has_large_items(shape: Shape) -> bool:
    if isinstance(shape, RepeatShape):
        return _has_large_items(shape.item) or _is_large(shape.item)
    return isinstance(shape, ListShape) and any(map(_has_large_items, shape.items))


def _is_large(shape: Shape) -> bool:
    return isinstance(shape, ListShape | RepeatShape) and _size(shape) >= LARGE


def _size(shape: Shape) -> int:
    """Return how many values stand in one of a type, about."""
    match shape:
        case RepeatShape():
            return _size(shape.item) * (_OPEN if shape.high is None else shape.high)
        case ListShape():
            return sum(map(_size, shape.items))
        case UnionShape():
            return max(map(_size, shape.members))
        case _:
            return 1


def _writer(shape: Shape) -> _Writer:
    if isinstance(shape, RepeatShape) and _has_large_items(shape):
        if _has_large_items(shape.item):
            return _repeated(shape, {}, _writer(shape.item))
        known = _Known(shape.item)
        return _repeated(shape, known.by_id, known.written)
    if isinstance(shape, ListShape) and _has_large_items(shape):
        return _each_its_own([_beside(item) for item in shape.items])
    return _checked(shape)


def _beside(shape: Shape) -> _Writer:
    """Return what writes one of several of which one is large: what is kept beside it is often the same, too."""
    return _writer(shape) if _has_large_items(shape) or _size(shape) < PART else _Known(shape).of


def _repeated(shape: RepeatShape, known: dict[int, tuple[Any, bytes]], write_item: _Writer) -> _Writer:
    low, high, find = shape.low, shape.high, known.get

    def write(value: Any) -> bytes:
        if type(value) is not tuple or len(value) < low or (high is not None and len(value) > high):
            raise msgspec.ValidationError("not so many of them")
        return b"[%b]" % b",".join([there[1] if (there := find(id(item))) else write_item(item) for item in value])

    return write


def _each_its_own(writers: list[_Writer]) -> _Writer:
    def write(value: Any) -> bytes:
        if type(value) is not tuple or len(value) != len(writers):
            raise msgspec.ValidationError("not so many of them")
        return b"[%b]" % b",".join([write_item(item) for write_item, item in zip(writers, value, strict=True)])

    return write


def _checked(shape: Shape) -> _Writer:
    # A struct keeps its compiled type; given the bare type, msgspec.convert would compile it for each value.
    holder: Any = msgspec.defstruct("Holder", [("held", shape.native())], array_like=True)
    convert = msgspec.convert
    return lambda value: _encode(convert((value,), holder).held)


class _Known:
    """What has been written of a type: ``by_id`` has the values, which so keep their ids to themselves, and JSON."""

    __slots__ = ("_left", "_write", "by_id")

    def __init__(self, shape: Shape) -> None:
        self.by_id: dict[int, tuple[Any, bytes]] = {}
        self._left = KNOWN_BYTES_MAX
        self._write = _writer(shape)

    def of(self, value: Any) -> bytes:
        """Return the JSON of a value that may be known."""
        there = self.by_id.get(id(value))
        return there[1] if there is not None else self.written(value)

    def written(self, value: Any) -> bytes:
        """Return the JSON of a value that is not known; from now on it is."""
        if type(value) is not tuple and value is not None:
            raise msgspec.ValidationError("only what never changes is known by its identity")
        written = self._write(value)
        weight = _VALUE_BYTES * len(written) + _ENTRY_BYTES
        self._left -= weight
        if self._left < 0:
            self.by_id.clear()
            self._left = KNOWN_BYTES_MAX - weight
        self.by_id[id(value)] = value, written
        return written
