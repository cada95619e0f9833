"""Shapes of single values: numbers, texts, bool, enumerations, and any.

number    1.0 is the int 1, true is no number; 64 bits; NaN and Infinity never
text      a pattern matches the whole text
one of    a value freezes to the spelling that was declared
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Literal, Union

import msgspec

from machines.messages.automata import EVERY, Automaton, Builder, Stretches, exactly, several
from machines.messages.regex import anchored, automaton, escaped, lengths, matcher
from machines.messages.shapes import NO_MATCH, SAMPLES_MAX, Shape, kind_of
from machines.values import DEPTH_MAX, Record

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
FLOAT_MAX = sys.float_info.max


class AnyShape(Shape):
    """``any``: whatever JSON can say, to a depth of DEPTH_MAX."""

    kinds = frozenset({"null", "bool", "number", "text", "list", "map"})

    def __init__(self) -> None:
        self.take = _take_any

    def _written(self) -> str:
        return "any"

    def _example(self) -> Any:
        return "any"

    def _samples(self) -> Iterator[Any]:
        yield from ("any", None, True, 0, 0.5, (), (0,), Record(), Record(key=0))

    def _language(self) -> Automaton | None:
        return _every_text()

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {}


def _take_any(value: Any, depth: int = 0) -> Any:
    kind = value.__class__
    if kind is str or kind is bool or value is None:
        return value
    if isinstance(value, bool | int | float):
        return _take_number(value) if not isinstance(value, bool) else value
    if isinstance(value, str):
        return str.__str__(value)
    if depth >= DEPTH_MAX:
        return NO_MATCH
    if isinstance(value, list | tuple):
        items = []
        for item in value:
            taken = _take_any(item, depth + 1)
            if taken is NO_MATCH:
                return NO_MATCH
            items.append(taken)
        return tuple(items)
    if isinstance(value, Mapping):
        found = {}
        for key, item in value.items():
            taken = _take_any(item, depth + 1)
            if taken is NO_MATCH or not isinstance(key, str):
                return NO_MATCH
            found[str.__str__(key)] = taken
        return Record(found)
    return NO_MATCH


class IntShape(Shape):
    """``int`` and ``{int: low..high}``; a number without a fraction is one, however it is written."""

    kinds = frozenset({"number"})

    def __init__(self, low: int = INT_MIN, high: int = INT_MAX) -> None:
        self.low, self.high = low, high

        def take(value: Any) -> Any:
            if value.__class__ is int:
                return value if low <= value <= high else NO_MATCH
            if isinstance(value, bool):
                return NO_MATCH
            if (isinstance(value, float) and value.is_integer()) or isinstance(value, int):
                whole = int(value)
                return whole if low <= whole <= high else NO_MATCH
            return NO_MATCH

        self.take = take

    def _written(self) -> str:
        return "int" if (self.low, self.high) == (INT_MIN, INT_MAX) else f"int {self.low}..{self.high}"

    def _example(self) -> Any:
        return min(max(0, self.low), self.high)

    def _samples(self) -> Iterator[Any]:
        yield from dict.fromkeys((self._example(), self.low, self.high, self.low + (self.high - self.low) // 2))

    def _native(self) -> Any:
        return Annotated[int, msgspec.Meta(ge=self.low, le=self.high)]

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


class NumberShape(Shape):
    """``number``: an int of 64 bits or a finite float; which of the two is kept."""

    kinds = frozenset({"number"})

    def __init__(self) -> None:
        self.take = _take_number

    def _written(self) -> str:
        return "number"

    def _example(self) -> Any:
        return 0.5

    def _samples(self) -> Iterator[Any]:
        yield from (0.5, 0, -1, INT_MIN, INT_MAX, FLOAT_MAX, -FLOAT_MAX)

    def _native(self) -> Any:
        whole = Annotated[int, msgspec.Meta(ge=INT_MIN, le=INT_MAX)]
        return Union[whole, Annotated[float, msgspec.Meta(ge=-FLOAT_MAX, le=FLOAT_MAX)]]  # noqa: UP007 - made at run time

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "number"}


def _take_number(value: Any) -> Any:
    if isinstance(value, bool):
        return NO_MATCH
    if isinstance(value, int):
        return int(value) if INT_MIN <= value <= INT_MAX else NO_MATCH
    if isinstance(value, float):
        return float(value) if -FLOAT_MAX <= value <= FLOAT_MAX else NO_MATCH
    return NO_MATCH


class BoolShape(Shape):
    """``bool``."""

    kinds = frozenset({"bool"})

    def __init__(self) -> None:
        self.take = lambda value: value if value is True or value is False else NO_MATCH

    def _written(self) -> str:
        return "bool"

    def _example(self) -> Any:
        return True

    def _samples(self) -> Iterator[Any]:
        yield from (True, False)

    def _native(self) -> Any:
        return bool

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "boolean"}


class TextShape(Shape):
    """``string`` and ``{string: REGEX}``."""

    kinds = frozenset({"text"})

    def __init__(self, regex: str | None = None) -> None:
        self.regex = regex
        if regex is None:

            def take(value: Any) -> Any:
                if value.__class__ is str:
                    return value
                return str.__str__(value) if isinstance(value, str) else NO_MATCH
        else:
            matches = matcher(regex)

            def take(value: Any) -> Any:
                if value.__class__ is str:
                    return value if matches(value) else NO_MATCH
                return take(str.__str__(value)) if isinstance(value, str) else NO_MATCH

        self.take = take

    def _written(self) -> str:
        if self.regex is None:
            return "string"
        counted = lengths(self.regex)
        return f"text like {self.regex}" if counted is None else f"string {counted}"

    def _example(self) -> Any:
        return "text" if self.regex is None else next(self._samples())

    def _samples(self) -> Iterator[Any]:
        if self.regex is None:
            yield from ("text", "", "a b", "é", "\n", "$")
        else:
            # The empty text comes last: it says least about what fits.
            yield from sorted(several(automaton(self.regex)), key=lambda text: text == "")

    def _language(self) -> Automaton | None:
        return _every_text() if self.regex is None else automaton(self.regex)

    def _native(self) -> Any:
        return str if self.regex is None else NO_MATCH

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "string"} if self.regex is None else {"type": "string", "pattern": anchored(self.regex)}


@lru_cache(maxsize=1)
def _every_text() -> Automaton:
    builder = Builder()
    return builder.finish(builder.again(builder.one(EVERY)))


class EnumShape(Shape):
    """``{enum: [a, b]}``, ``null``, and a literal value of a body. A value freezes to the declared spelling."""

    def __init__(self, values: Iterable[Any], loose: bool = False) -> None:
        self.values = tuple(values)
        self.loose = loose
        self.kinds = frozenset(map(kind_of, self.values))
        texts = {folded(value) if loose else value: value for value in self.values if isinstance(value, str)}
        numbers = {value: value for value in self.values if kind_of(value) == "number"}
        words = {value: value for value in self.values if value is None or isinstance(value, bool)}

        def take(value: Any) -> Any:
            if isinstance(value, str):
                return texts.get(folded(value) if loose else value, NO_MATCH)
            if value is None or isinstance(value, bool):
                return words.get(value, NO_MATCH)
            return numbers.get(value, NO_MATCH) if isinstance(value, int | float) else NO_MATCH

        def take_text(value: Any) -> Any:
            return texts.get(value, NO_MATCH) if isinstance(value, str) else NO_MATCH

        self.take = take_text if not loose and len(texts) == len(self.values) else take

    def _written(self) -> str:
        listed = ", ".join(value if isinstance(value, str) else json.dumps(value) for value in self.values)
        return listed if len(self.values) == 1 else f"one of {listed}"

    def _example(self) -> Any:
        return self.values[0]

    def _samples(self) -> Iterator[Any]:
        yield from islice(self.values, SAMPLES_MAX)
        if self.loose:
            yield from (value.swapcase() for value in self.values[:SAMPLES_MAX] if isinstance(value, str))

    def _language(self) -> Automaton | None:
        texts = [value for value in self.values if isinstance(value, str)]
        if not texts or not self.loose:
            return exactly(texts) if texts else None
        builder = Builder()
        between = tuple((ord(character), ord(character)) for character in _BETWEEN)
        ways = []
        for text in texts:
            pieces = [builder.again(builder.one(between))]
            for character in folded(text):
                pieces += [builder.one(_spellings(character)), builder.again(builder.one(between))]
            ways.append(builder.chain(pieces))
        return builder.finish(builder.either(ways))

    def _native(self) -> Any:
        if self.values == (None,):
            return type(None)
        whole_or_text = all(type(value) is str or type(value) is int for value in self.values)
        return Literal[self.values] if whole_or_text and not self.loose else NO_MATCH

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        if not self.loose:
            return {"const": self.values[0]} if len(self.values) == 1 else {"enum": list(self.values)}
        others = [value for value in self.values if not isinstance(value, str)]
        texts = {"type": "string", "pattern": anchored(self.regex())}
        return {"anyOf": [texts, {"enum": others}]} if others else texts

    def regex(self) -> str:
        """Return the pattern of the texts; where they are loose, of their spellings in capital and small letters."""
        texts = [value for value in self.values if isinstance(value, str)]
        if not self.loose:
            return "|".join(map(escaped, texts))
        between = "[-_ ]*"
        ways = ((f"(?:{'|'.join(map(escaped, _cases(c)))}){between}" for c in folded(text)) for text in texts)
        return "|".join(between + "".join(way) for way in ways)


_BETWEEN = "_- "  # what a loose enumeration leaves out


def folded(text: str) -> str:
    """Return a text without case, hyphens, underscores and blanks, as a loose enumeration compares it."""
    if text.isascii():
        return text.lower().replace("-", "").replace("_", "").replace(" ", "")
    # One character at a time: what str.lower makes of one may depend on its neighbours.
    return "".join(_lower(character) for character in text if character not in _BETWEEN)


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


def _cases(character: str) -> list[str]:
    return [other for other in sorted({character, character.upper()}) if len(other) == 1]


def _spellings(character: str) -> Stretches:
    """Return all characters that fold to this one. Of those beyond ASCII, only Kelvin's sign folds into it."""
    if character.isascii():
        points = {ord(character), ord(character.upper())} | ({0x212A} if character == "k" else set())
    else:
        points = set(_folds().get(character, ())) | {ord(character)}
    return tuple((point, point) for point in sorted(points))


@lru_cache(maxsize=1)
def _folds() -> dict[str, list[int]]:
    """Return the code points that fold to another character, by that character: a walk over all of Unicode."""
    found: dict[str, list[int]] = {}
    for point in range(sys.maxunicode + 1):
        lower = _lower(chr(point))
        if lower != chr(point):
            found.setdefault(lower, []).append(point)
    return found
