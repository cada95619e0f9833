"""Which pairs of messages are worth comparing: most are told apart by their first word, their length or their keys.

A body that has such a mark is compared only with those of the same mark, and with those that have none.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping

from machines.model import Body, BodyList, BodyMap, Field, LiteralBody, Message

Marks = tuple[Hashable, ...]


class FirstWords:
    """The marks of the messages of a spec; those with a frame have none, as another's line may open it."""

    def __init__(self, messages: Mapping[str, Message], frames: Container[str] = ()) -> None:
        self._marks: dict[str, Marks | None] = {}
        for message in messages.values():
            marks = [_mark(body) for body in (message.body, *message.also)]
            unlike = None in marks or message.name in frames
            self._marks[message.name] = None if unlike else tuple(dict.fromkeys(marks))

    def pairs(self, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield each pair of names that its marks do not tell apart, once, in the order given."""
        listed = list(names)
        place = {name: index for index, name in enumerate(listed)}
        for first, second in self.pairs_between(listed, listed):
            if place[first] < place[second]:
                yield first, second

    def pairs_between(self, firsts: Iterable[str], seconds: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield each pair of one name of each that its marks do not tell apart, in the order given."""
        others = list(seconds)
        marked: dict[Hashable, list[int]] = {}
        unmarked = []
        for index, name in enumerate(others):
            marks = self._marks[name]
            if marks is None:
                unmarked.append(index)
            for mark in marks or ():
                marked.setdefault(mark, []).append(index)
        for first in firsts:
            marks = self._marks[first]
            if marks is None:
                found: Iterable[int] = range(len(others))
            else:
                found = sorted({*unmarked, *(index for mark in marks for index in marked.get(mark, ()))})
            for index in found:
                yield first, others[index]


def _mark(body: Body) -> Hashable | None:
    """Return what two bodies that may be alike have in common; None if a body may be like those of any mark."""
    match body:
        case LiteralBody(value):
            return "literal", isinstance(value, bool), value
        case BodyList((LiteralBody(value), *_) as items):
            return "list", len(items), isinstance(value, bool), value
        case BodyMap(pairs) if not any(isinstance(part, Field) and part.optional for _, part in pairs):
            return "mapping", frozenset(name for name, _ in pairs)
        case _:
            return None
