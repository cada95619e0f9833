"""Can one value be two messages, and is one message a special case of another?

Both are answered from the types, not by trying values. Two texts, with patterns or fields in them, are compared as
automata. Where that would take too long the answer is not "no": an overlap that could not be ruled out is returned
as one that is not certain.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from machines.messages.automata import ENDLESS, Automaton, TooLargeError, Work, included, shared_text
from machines.messages.bodies import MessageCodec
from machines.messages.containers import KeyedShape, ListShape, MapShape, RepeatShape, UnionShape
from machines.messages.scalars import AnyShape, BoolShape, EnumShape, IntShape, NumberShape
from machines.messages.shapes import NO_MATCH, Shape
from machines.values import Record

LISTED_MAX = 1_000  # So many whole numbers are tried one by one.
_UNBOUNDED = 1 << 62
TRIED_MAX = 200  # values that are tried when looking for one that a message does not take


@dataclass(frozen=True, slots=True)
class Overlap:
    """A value that fits both; as text it is JSON.

    ``certain`` is false if a search over texts was cut short: then ``value`` fits one of the two, and that none fits
    both could not be shown.
    """

    value: Any
    certain: bool = True

    def __str__(self) -> str:
        return json.dumps(self.value, ensure_ascii=False)


def overlap(a: MessageCodec | Shape, b: MessageCodec | Shape, work: Work = ENDLESS) -> Overlap | None:
    """Return a value that fits both, None if there is none; one that is not certain if no ``work`` is left."""
    try:
        return _best(_meet(one, other, work) for one in _shapes(a) for other in _shapes(b))
    except TooLargeError:
        return Overlap(_shapes(a)[0].example(), certain=False)


def narrower(a: MessageCodec | Shape, b: MessageCodec | Shape, work: Work = ENDLESS) -> bool:
    """Return whether all that fits ``a`` fits ``b``, and something else fits ``b`` too.

    It is false if either could not be shown; that a union holds another value only because of several of its members
    together, as 0..9 in 0..4 | 5..9, is not seen.
    """
    inside, outside = _shapes(a), _shapes(b)
    try:
        if not all(_within_any(one, outside, work) for one in inside):
            return False
    except TooLargeError:
        return False
    tried = (value for shape in outside for value in islice(shape.samples(), TRIED_MAX))
    return any(all(shape.take(value) is NO_MATCH for shape in inside) for value in tried)


def fits_within(a: MessageCodec | Shape, b: MessageCodec | Shape, work: Work = ENDLESS) -> bool:
    """Return whether all that is written as ``a``, in its own body, is shown to fit ``b``."""
    return _within_any(_shapes(a)[0], _shapes(b), work)


def _shapes(of: MessageCodec | Shape) -> tuple[Shape, ...]:
    return of.shapes if isinstance(of, MessageCodec) else (of,)


def _best(found: Iterable[Overlap | None]) -> Overlap | None:
    """Return the first overlap that is certain, else the first of all."""
    doubtful = None
    for one in found:
        if one is not None and one.certain:
            return one
        doubtful = doubtful or one
    return doubtful


# -- what fits both --------------------------------------------------------------------------------------------------


def _meet(a: Shape, b: Shape, work: Work) -> Overlap | None:
    work.spend(1)
    if not a.kinds & b.kinds:
        return None
    for one, other in ((a, b), (b, a)):
        if isinstance(one, UnionShape):
            return _best(_meet(member, other, work) for member in one.members)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, AnyShape):
            return Overlap(other.example())
        if isinstance(one, EnumShape | BoolShape):
            values = one.values if isinstance(one, EnumShape) else (True, False)
            work.spend(len(values))
            fits = (value for value in values if other.take(value) is not NO_MATCH)
            found = next(fits, NO_MATCH)
            if found is not NO_MATCH:
                return Overlap(found)
            if not (isinstance(one, EnumShape) and one.loose):
                return None
    kind = next(iter(a.kinds & b.kinds))
    if kind == "text":
        return _meet_texts(a, b, work)
    if kind == "number":
        return _meet_numbers(a, b)
    return _meet_lists(a, b, work) if kind == "list" else _meet_maps(a, b, work)


def _meet_numbers(a: Shape, b: Shape) -> Overlap | None:
    if isinstance(a, IntShape) and isinstance(b, IntShape):
        low, high = max(a.low, b.low), min(a.high, b.high)
        return Overlap(IntShape(low, high).example()) if low <= high else None
    return Overlap((a if isinstance(a, IntShape) else b).example())


def _language(shape: Shape, work: Work) -> Automaton:
    language = shape.language()
    assert language is not None, f"{shape.describe()} takes texts"
    work.spend(sum(map(len, language.moves)))  # for having made it
    return language


def _meet_texts(a: Shape, b: Shape, work: Work) -> Overlap | None:
    try:
        text = shared_text(_language(a, work), _language(b, work), work)
    except TooLargeError:
        return Overlap(a.example(), certain=False)
    if text is None:
        return None
    # The automaton of a number in a text knows no range: what it found may be none after all.
    return Overlap(text, certain=a.take(text) is not NO_MATCH and b.take(text) is not NO_MATCH)


def _meet_lists(a: Shape, b: Shape, work: Work) -> Overlap | None:
    least, most = max(_sizes(a)[0], _sizes(b)[0]), min(_sizes(a)[1], _sizes(b)[1])
    if least > most:
        return None
    # One item more than none says more about what the two have in common, if it can be.
    for size in dict.fromkeys((min(max(least, 1), most), least)):
        found = _joined([_meet(_item(a, index), _item(b, index), work) for index in range(size)])
        if found is not None:
            return Overlap(tuple(found.value), found.certain)
        if isinstance(a, RepeatShape) and isinstance(b, RepeatShape) and size == least:
            return None
    return None


def _sizes(shape: Shape) -> tuple[int, int]:
    if isinstance(shape, ListShape):
        return len(shape.items), len(shape.items)
    assert isinstance(shape, RepeatShape), f"{shape.describe()} is a list"
    return shape.low, _UNBOUNDED if shape.high is None else shape.high


def _item(shape: Shape, index: int) -> Shape:
    if isinstance(shape, ListShape):
        return shape.items[index]
    assert isinstance(shape, RepeatShape), f"{shape.describe()} is a list"
    return shape.item


def _joined(parts: list[Overlap | None]) -> Overlap | None:
    """Return the list of the values, None if one is missing."""
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    return Overlap([part.value for part in found], all(part.certain for part in found))


def _meet_maps(a: Shape, b: Shape, work: Work) -> Overlap | None:
    if isinstance(a, MapShape) and isinstance(b, MapShape):
        return Overlap(Record())
    if isinstance(a, MapShape):
        return _meet_maps(b, a, work)
    assert isinstance(a, KeyedShape), f"{a.describe()} is a mapping"
    needed = {key.name for shape in (a, b) if isinstance(shape, KeyedShape) for key in shape.keys if not key.optional}
    names, parts = [], []
    ours, theirs = _values(a), _values(b)
    for name in dict.fromkeys((*ours, *needed)):
        work.spend(1)
        one, other = _value(a, ours, name), _value(b, theirs, name)
        found = None if one is None or other is None else _meet(one, other, work)
        if found is not None or name in needed:
            names.append(name)
            parts.append(found)
    joined = _joined(parts)
    return None if joined is None else Overlap(Record(zip(names, joined.value, strict=True)), joined.certain)


def _values(shape: Shape) -> Mapping[str, Shape]:
    return {key.name: key.shape for key in shape.keys} if isinstance(shape, KeyedShape) else {}


def _value(shape: Shape, values: Mapping[str, Shape], name: str) -> Shape | None:
    """Return what the value of a key must be, None if there can be no such key; ``values`` are `_values` of it."""
    if isinstance(shape, MapShape):
        return shape.value if shape.key.take(name) is not NO_MATCH else None
    return values.get(name)


# -- what fits one and so the other ----------------------------------------------------------------------------------


def _within_any(a: Shape, others: Iterable[Shape], work: Work) -> bool:
    parts = a.members if isinstance(a, UnionShape) else (a,)
    others = tuple(others)
    return all(any(_within(part, other, work) for other in others) for part in parts)


def _within(a: Shape, b: Shape, work: Work) -> bool:
    """Return whether all that fits ``a`` is shown to fit ``b``."""
    work.spend(1)
    if a is b or isinstance(b, AnyShape):
        return True
    if not a.kinds <= b.kinds:
        return False
    values = _finite(a)
    if values is not None:
        work.spend(len(values))
        return all(b.take(value) is not NO_MATCH for value in values)
    if isinstance(b, UnionShape):
        return _within_any(a, b.members, work)
    if isinstance(a, UnionShape):
        return all(_within(member, b, work) for member in a.members)
    if a.kinds == {"text"}:
        return b.kinds == {"text"} and _texts_within(a, b, work)
    if isinstance(a, IntShape):
        return isinstance(b, NumberShape) or (isinstance(b, IntShape) and b.low <= a.low and a.high <= b.high)
    if isinstance(a, NumberShape):
        return isinstance(b, NumberShape)
    if a.kinds == {"list"}:
        return _lists_within(a, b, work)
    return a.kinds == {"map"} and _maps_within(a, b, work)


def _finite(shape: Shape) -> Sequence[Any] | None:
    """Return all that fits if that is a short list; a loose enumeration has more spellings than it lists."""
    if isinstance(shape, EnumShape) and not shape.loose:
        return shape.values
    if isinstance(shape, BoolShape):
        return (True, False)
    if isinstance(shape, IntShape) and shape.high - shape.low < LISTED_MAX:
        return range(shape.low, shape.high + 1)
    return None


def _texts_within(a: Shape, b: Shape, work: Work) -> bool:
    try:
        return included(_language(a, work), _language(b, work), work)
    except TooLargeError:
        return False


def _lists_within(a: Shape, b: Shape, work: Work) -> bool:
    (low, high), (least, most) = _sizes(a), _sizes(b)
    if isinstance(b, ListShape):
        return low == high == len(b.items) and all(_within(_item(a, i), b.items[i], work) for i in range(len(b.items)))
    assert isinstance(b, RepeatShape), f"{b.describe()} is a list"
    items: Iterator[Shape] = iter(a.items) if isinstance(a, ListShape) else iter((_item(a, 0),) * (high > 0))
    return least <= low and high <= most and all(_within(item, b.item, work) for item in items)


def _maps_within(a: Shape, b: Shape, work: Work) -> bool:
    if isinstance(a, MapShape):
        return isinstance(b, MapShape) and _within(a.key, b.key, work) and _within(a.value, b.value, work)
    assert isinstance(a, KeyedShape), f"{a.describe()} is a mapping"
    if isinstance(b, KeyedShape):
        needed = {key.name for key in b.keys if not key.optional}
        if not needed <= {key.name for key in a.keys if not key.optional}:
            return False
    values = _values(b)
    for key in a.keys:
        other = _value(b, values, key.name)
        if other is None or not _within(key.shape, other, work):
            return False
    return True
