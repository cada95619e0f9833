"""Types compiled to closures: what a value must be, and the frozen value it stands for.

A shape takes a JSON value (lists or tuples, dicts or Records) and gives back the frozen one, or MISS. Nothing is
raised on that way, so that trying one message after another stays cheap; why a value did not fit is found out
afterwards, by `Shape.fault`, and only when somebody asks.

    number    1.0 is the int 1, true is no number; 64 bits; NaN and Infinity never
    text      a pattern matches the whole text
    list      a tuple; one of nothing but lists, whole numbers, fixed words and the like is checked by msgspec at once
    mapping   a Record, its keys in the order declared; a key that may be missing is filled in
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Literal, Union

import msgspec

from machines.automata import EVERY, Automaton, Builder, Stretches, exactly, shortest
from machines.patterns import anchored, automaton, escaped, matcher
from machines.values import DEPTH_MAX, Peer, Record

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
FLOAT_MAX = sys.float_info.max
SHOWN_MAX = 60  # characters of a value in a Mismatch
SAMPLES_MAX = 24

Take = Callable[[Any], Any]
Path = tuple[str | int, ...]


class _Miss:
    """What `Shape.take` gives back for a value that does not fit; None is a JSON value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISS"


MISS: Any = _Miss()


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
        text = json.dumps(_outline(value, 0), ensure_ascii=False)
    except (TypeError, ValueError):
        text = f"a {type(value).__name__}"
    if not text.isprintable():  # A peer's text may not steer the terminal that shows it.
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 1] + "…"


def _outline(value: Any, depth: int) -> Any:
    """Return a part of a value that is large enough to show and small enough to be quick."""
    if depth > 8:
        return "…"
    if isinstance(value, str):
        return value[:SHOWN_MAX]
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return "a huge number"
    if isinstance(value, list | tuple):
        return [_outline(item, depth + 1) for item in value[:SHOWN_MAX]]
    if isinstance(value, Mapping):
        return {key: _outline(item, depth + 1) for key, item in islice(value.items(), SHOWN_MAX)}
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
        if taken is MISS:
            raise self.fault(value, ())
        return taken

    def fault(self, value: Any, path: Path) -> Mismatch:
        """Return what is wrong with a value that does not fit; ``path`` is where it stands."""
        return Mismatch(path, f"{self.name} ({self.written()})" if self.name else self.written(), shown(value))

    def describe(self) -> str:
        """Return what a value must be, for people: the declared name, or what was written."""
        return self.name or self.written()

    @abstractmethod
    def written(self) -> str:
        """Return what a value must be, without the name of the type itself."""

    @abstractmethod
    def example(self) -> Any:
        """Return a frozen value that fits, always the same and rather small."""

    def samples(self) -> Iterator[Any]:
        """Yield up to SAMPLES_MAX frozen values that fit and differ where the type leaves room."""
        yield self.example()

    def language(self) -> Automaton | None:
        """Return the texts that fit, None if no text does. It may be wider where a number in a text has a range."""
        return None

    def native(self) -> Any:
        """Return the type with which msgspec checks the same, MISS if it has none that gives equal results."""
        return MISS

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of the values that fit.

        It says less than ``take`` does on: the 64 bits of a ``number`` or in ``any``, the depth of ``any``, letters
        beyond ASCII in a loose enumeration, keys of a map that are the same word in a loose enumeration, and holes
        within a text (the literal text after a hole may come in it, and numbers have no range).
        """
        definitions: dict[str, Any] = {}
        schema = self.refer(definitions)
        return {**schema, "$defs": definitions} if definitions else schema

    def refer(self, definitions: dict[str, Any]) -> dict[str, Any]:
        """Return a schema that may refer to ``definitions``; a declared type is put there once."""
        if not self.name:
            return self.schema(definitions)
        if self.name not in definitions:
            definitions[self.name] = self.schema(definitions)
        return {"$ref": f"#/$defs/{self.name}"}

    @abstractmethod
    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of what was written."""


# -- single values ---------------------------------------------------------------------------------------------------


class AnyShape(Shape):
    """``any``: whatever JSON can say, to a depth of DEPTH_MAX."""

    kinds = frozenset({"null", "bool", "number", "text", "list", "map"})

    def __init__(self) -> None:
        self.take = _take_any

    def written(self) -> str:
        return "any"

    def example(self) -> Any:
        return "any"

    def samples(self) -> Iterator[Any]:
        yield from ("any", None, True, 0, 0.5, (), (0,), Record(), Record(key=0))

    def language(self) -> Automaton | None:
        return _every_text()

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
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
        return MISS
    if isinstance(value, list | tuple):
        items = []
        for item in value:
            taken = _take_any(item, depth + 1)
            if taken is MISS:
                return MISS
            items.append(taken)
        return tuple(items)
    if isinstance(value, Mapping):
        found = {}
        for key, item in value.items():
            taken = _take_any(item, depth + 1)
            if taken is MISS or not isinstance(key, str):
                return MISS
            found[str.__str__(key)] = taken
        return Record(found)
    return MISS


class IntShape(Shape):
    """``int`` and ``{int: low..high}``; a number without a fraction is one, however it is written."""

    kinds = frozenset({"number"})

    def __init__(self, low: int = INT_MIN, high: int = INT_MAX) -> None:
        self.low, self.high = low, high

        def take(value: Any) -> Any:
            if value.__class__ is int:
                return value if low <= value <= high else MISS
            if isinstance(value, bool):
                return MISS
            if (isinstance(value, float) and value.is_integer()) or isinstance(value, int):
                whole = int(value)
                return whole if low <= whole <= high else MISS
            return MISS

        self.take = take

    def written(self) -> str:
        return "int" if (self.low, self.high) == (INT_MIN, INT_MAX) else f"int {self.low}..{self.high}"

    def example(self) -> Any:
        return min(max(0, self.low), self.high)

    def samples(self) -> Iterator[Any]:
        yield from dict.fromkeys((self.example(), self.low, self.high, self.low + (self.high - self.low) // 2))

    def native(self) -> Any:
        return Annotated[int, msgspec.Meta(ge=self.low, le=self.high)]

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


class NumberShape(Shape):
    """``number``: an int of 64 bits or a finite float; which of the two is kept."""

    kinds = frozenset({"number"})

    def __init__(self) -> None:
        self.take = _take_number

    def written(self) -> str:
        return "number"

    def example(self) -> Any:
        return 0.5

    def samples(self) -> Iterator[Any]:
        yield from (0.5, 0, -1, INT_MIN, INT_MAX, FLOAT_MAX, -FLOAT_MAX)

    def native(self) -> Any:
        whole = Annotated[int, msgspec.Meta(ge=INT_MIN, le=INT_MAX)]
        return Union[whole, Annotated[float, msgspec.Meta(ge=-FLOAT_MAX, le=FLOAT_MAX)]]  # noqa: UP007 - made at run time

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "number"}


def _take_number(value: Any) -> Any:
    if isinstance(value, bool):
        return MISS
    if isinstance(value, int):
        return int(value) if INT_MIN <= value <= INT_MAX else MISS
    if isinstance(value, float):
        return float(value) if -FLOAT_MAX <= value <= FLOAT_MAX else MISS
    return MISS


class BoolShape(Shape):
    """``bool``."""

    kinds = frozenset({"bool"})

    def __init__(self) -> None:
        self.take = lambda value: value if value is True or value is False else MISS

    def written(self) -> str:
        return "bool"

    def example(self) -> Any:
        return True

    def samples(self) -> Iterator[Any]:
        yield from (True, False)

    def native(self) -> Any:
        return bool

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
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
                return str.__str__(value) if isinstance(value, str) else MISS
        else:
            matches = matcher(regex)

            def take(value: Any) -> Any:
                if value.__class__ is str:
                    return value if matches(value) else MISS
                return take(str.__str__(value)) if isinstance(value, str) else MISS

        self.take = take

    def written(self) -> str:
        return "string" if self.regex is None else f"text like {self.regex}"

    def example(self) -> Any:
        return "text" if self.regex is None else next(self.samples())

    def samples(self) -> Iterator[Any]:
        if self.regex is None:
            yield from ("text", "", "a b", "é", "\n", "$")
        else:
            language = automaton(self.regex)
            found = (shortest(language, least=1), shortest(language))
            yield from dict.fromkeys(text for text in found if text is not None)

    def language(self) -> Automaton | None:
        return _every_text() if self.regex is None else automaton(self.regex)

    def native(self) -> Any:
        return str if self.regex is None else MISS

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
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
                return texts.get(folded(value) if loose else value, MISS)
            if value is None or isinstance(value, bool):
                return words.get(value, MISS)
            return numbers.get(value, MISS) if isinstance(value, int | float) else MISS

        def take_text(value: Any) -> Any:
            return texts.get(value, MISS) if isinstance(value, str) else MISS

        self.take = take_text if not loose and len(texts) == len(self.values) else take

    def written(self) -> str:
        listed = ", ".join(value if isinstance(value, str) else json.dumps(value) for value in self.values)
        return listed if len(self.values) == 1 else f"one of {listed}"

    def example(self) -> Any:
        return self.values[0]

    def samples(self) -> Iterator[Any]:
        yield from islice(self.values, SAMPLES_MAX)

    def language(self) -> Automaton | None:
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

    def native(self) -> Any:
        if self.values == (None,):
            return type(None)
        whole_or_text = all(type(value) is str or type(value) is int for value in self.values)
        return Literal[self.values] if whole_or_text and not self.loose else MISS

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        if not self.loose:
            return {"const": self.values[0]} if len(self.values) == 1 else {"enum": list(self.values)}
        between = f"[{escaped(_BETWEEN[0])}{_BETWEEN[1:]}]*"
        ways = [
            between + "".join(f"(?:{'|'.join(map(escaped, _cases(c)))}){between}" for c in folded(value))
            for value in self.values
            if isinstance(value, str)
        ]
        others = [value for value in self.values if not isinstance(value, str)]
        texts = {"type": "string", "pattern": anchored("|".join(ways))}
        return {"anyOf": [texts, {"enum": others}]} if others else texts


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


def kind_of(value: Any) -> str:
    """Return the JSON kind of a value: ``null bool number text list map``, empty if it is no JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    for classes, kind in (((int, float), "number"), (str, "text"), ((list, tuple), "list"), (Mapping, "map")):
        if isinstance(value, classes):  # type: ignore[arg-type]
            return kind
    return ""
