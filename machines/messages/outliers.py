"""A value that one type takes and another does not: what is wrong with writing the one where the other stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from machines.messages.automata import Automaton, Builder, TooLargeError, Work, difference
from machines.messages.containers import KeyedShape, ListShape, RepeatShape, UnionShape
from machines.messages.overlap import fits_within
from machines.messages.scalars import EnumShape, IntShape, TextShape
from machines.messages.shapes import NO_MATCH, Mismatch, Shape
from machines.messages.templates import TextField
from machines.values import Record

TRIED_MAX = 50


def outlier(a: Shape, b: Shape, work: Work) -> Any:
    """Return a frozen value that fits ``a`` and not ``b``, NO_MATCH if there is none or none was found."""
    try:
        if fits_within(a, b, work):
            return NO_MATCH
        return next((value for value in _candidates(a, b, work) if _only_first(value, a, b)), NO_MATCH)
    except TooLargeError:
        return NO_MATCH


def outlier_of_field(a: Shape, field: TextField, work: Work) -> Any:
    """Return a frozen value that fits ``a`` and can not be written in a field within a text, else NO_MATCH."""
    found = outlier(a, field.shape, work)
    if found is not NO_MATCH or not a.kinds <= {"text"}:
        return found
    try:
        language = a.language()
        if language is None:
            return NO_MATCH
        builder = Builder()
        written = builder.finish(builder.chain([builder.embed(language), builder.text(field.until)]))
        text = difference(written, field.language(), work)
    except TooLargeError:
        return NO_MATCH
    if text is None:
        return NO_MATCH
    value = text[: len(text) - len(field.until)]
    try:
        field.write(value, ())
    except Mismatch:
        return value
    return NO_MATCH


def _only_first(value: Any, a: Shape, b: Shape) -> bool:
    return a.take(value) is not NO_MATCH and b.take(value) is NO_MATCH


def _candidates(a: Shape, b: Shape, work: Work) -> Iterator[Any]:
    """Yield values that fit ``a`` and perhaps not ``b``, plain ones first."""
    if isinstance(a, UnionShape):
        for member in a.members:
            yield from _candidates(member, b, work)
        return
    targets = b.members if isinstance(b, UnionShape) else (b,)
    if isinstance(a, IntShape):
        for target in targets:
            if isinstance(target, IntShape):
                yield from (target.high + 1, target.low - 1)
    if isinstance(a, EnumShape):
        yield from a.values
    if isinstance(a, TextShape):
        yield from _texts(a, targets, work)
    if isinstance(a, RepeatShape | ListShape | KeyedShape):
        for target in targets:
            yield from _parts(a, target, work)
    yield from islice(a.samples(), TRIED_MAX)


def _texts(a: Shape, targets: Iterable[Shape], work: Work) -> Iterator[str]:
    for target in targets:
        language = target.language() if "text" in target.kinds else Automaton(((),), frozenset())
        ours = a.language()
        if ours is not None and language is not None:
            found = difference(ours, language, work)
            if found is not None:
                yield found


def _parts(a: Shape, b: Shape, work: Work) -> Iterator[Any]:
    """Yield lists and mappings one part of which is out of place."""
    if isinstance(a, KeyedShape) and isinstance(b, KeyedShape):
        theirs = {key.name: key.shape for key in b.keys}
        for key in a.keys:
            found = outlier(key.shape, theirs[key.name], work) if key.name in theirs else NO_MATCH
            if found is not NO_MATCH:
                yield Record({**a.example(), key.name: found})
    if isinstance(a, RepeatShape):
        most = b.high if isinstance(b, RepeatShape) else len(b.items) if isinstance(b, ListShape) else None
        if most is not None and most < 20:
            yield (a.item.example(),) * (most + 1)
        if a.low == 0:
            yield ()
        if isinstance(b, RepeatShape):
            found = outlier(a.item, b.item, work)
            if found is not NO_MATCH:
                yield (found,) * max(1, a.low)
    if isinstance(a, ListShape):
        for index, item in enumerate(a.items):
            target = b.item if isinstance(b, RepeatShape) else None
            if isinstance(b, ListShape) and index < len(b.items):
                target = b.items[index]
            found = outlier(item, target, work) if target is not None else NO_MATCH
            if found is not NO_MATCH:
                example = a.example()
                yield (*example[:index], found, *example[index + 1 :])
