"""Texts with fields: ``match ${x int}/${n int} starting``.

Read from left to right, without going back: a field ends where the literal text after it first comes, the last field
at the end. So a field may hold neither that literal nor a line end, and two fields need literal text between them;
writing is held to the same, so that what is written is read as it was meant.

A field holds a text, a whole number (``0``, ``-12``; no ``007``, no ``-0``), a JSON number, ``true`` or ``false``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from machines.messages.automata import Automaton, Builder, TooLargeError, both, exactly, outside, shortest, up_to
from machines.messages.regex import anchored, automaton, bare, escaped
from machines.messages.scalars import INT_MAX, INT_MIN, BoolShape, EnumShape, IntShape, NumberShape, TextShape
from machines.messages.shapes import NO_MATCH, SAMPLES_MAX, Mismatch, Path, Shape, shown

# Our own patterns, without choices that could make `re` go back.
_WHOLE_REGEX = "0|-?[1-9][0-9]*"
_NUMBER_REGEX = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_WHOLE = re.compile(_WHOLE_REGEX)
_NUMBER = re.compile(_NUMBER_REGEX)
_WHOLE_CHARACTERS_MAX = 20  # -9223372036854775808
_LISTED_MAX = 1_000  # Of so many numbers, the texts are listed one by one where two patterns are compared.
KEPT_MAX = 2_000  # Moves of an automaton that is kept: a message is compared with many others, each time by its own.
_WORDS = {"true": True, "false": False}
_LINE_ENDS = ("\n", "\r")


def may_stand_in_text(shape: Shape) -> bool:
    """Return whether a field of this shape may stand within a text."""
    return isinstance(shape, TextShape | IntShape | NumberShape | BoolShape) or (
        isinstance(shape, EnumShape) and shape.kinds == {"text"}
    )


class TextField:
    """One field of a text: how its value is written and read. ``until`` is the literal after it, empty for the last."""

    def __init__(self, name: str, shape: Shape, until: str) -> None:
        self.name, self.shape, self.until = name, shape, until
        self._parse = _parser(shape)

    def read(self, text: str) -> Any:
        """Return the frozen value that a stretch of text stands for, or MISS."""
        if "\n" in text or "\r" in text:
            return NO_MATCH
        return self._parse(text)

    def write(self, value: Any, path: Path) -> str:
        """Return the text of a frozen value.

        Raises:
            Mismatch: it holds a line end or the literal that ends the field.
        """
        text = value if isinstance(value, str) else json.dumps(value)
        if any(end in text for end in _LINE_ENDS):
            raise Mismatch(path, f"a text without a line end for {self.name!r}", shown(text))
        # Also where the two run into each other: before "aa", the text "a" would be read as the empty one.
        if self.until and (text + self.until).find(self.until) != len(text):
            raise Mismatch(path, f"a text without {shown(self.until)} for {self.name!r}", shown(text))
        return text

    def samples(self) -> Iterator[Any]:
        """Yield frozen values that may be written here; none if no value can."""
        try:
            least = shortest(self.language())
        except TooLargeError:  # an enumeration of very many words; then the type's own samples are all there is
            least = None
        found = () if least is None else (self.read(least.removesuffix(self.until)),)
        for value in (*islice(self.shape.samples(), SAMPLES_MAX), *found):
            try:
                value = self.shape.take(value)
                readable = value is not NO_MATCH and self.read(self.write(value, ())) == value
            except Mismatch:
                continue
            if readable:
                yield value

    def language(self) -> Automaton:
        """Return the texts of the field and the literal that ends it."""
        builder = Builder()
        if not self.until:
            return self.texts()
        whole = builder.finish(builder.chain([builder.embed(self.texts()), builder.text(self.until)]))
        return both(whole, up_to(self.until))

    def texts(self) -> Automaton:
        """Return the texts of the field."""
        shape = self.shape
        if isinstance(shape, BoolShape):
            return exactly(_WORDS)
        if isinstance(shape, IntShape):
            few = shape.high - shape.low < _LISTED_MAX
            return exactly(map(str, range(shape.low, shape.high + 1))) if few else automaton(_WHOLE_REGEX)
        if isinstance(shape, NumberShape):
            return automaton(_NUMBER_REGEX)
        language = shape.language()
        assert language is not None, f"{shape.describe()} may not stand in a text"
        return both(language, _within_a_line())

    def regex(self) -> str:
        """Return a pattern that every text of the field matches, for a JSON Schema."""
        shape = self.shape
        if isinstance(shape, IntShape):
            return f"(?:{_WHOLE_REGEX})"
        if isinstance(shape, NumberShape):
            return _NUMBER_REGEX
        if isinstance(shape, BoolShape):
            return "(?:true|false)"
        if isinstance(shape, TextShape):
            return r"[^\n\r]*" if shape.regex is None else f"(?:{bare(shape.regex)})"
        assert isinstance(shape, EnumShape), f"{shape.describe()} may not stand in a text"
        return f"(?:{shape.regex()})"


def _within_a_line() -> Automaton:
    builder = Builder()
    return builder.finish(builder.again(builder.one(outside(tuple((ord(end), ord(end)) for end in _LINE_ENDS)))))


def _parser(shape: Shape) -> Callable[[str], Any]:
    """Return what turns the text of a field into its frozen value, or MISS."""
    take = shape.take
    if isinstance(shape, IntShape):
        return lambda text: (
            take(int(text)) if len(text) <= _WHOLE_CHARACTERS_MAX and _WHOLE.fullmatch(text) else NO_MATCH
        )
    if isinstance(shape, BoolShape):
        return lambda text: _WORDS.get(text, NO_MATCH)
    if isinstance(shape, NumberShape):
        return _parse_number
    return take


def _parse_number(text: str) -> Any:
    if not _NUMBER.fullmatch(text):
        return NO_MATCH
    if any(character in text for character in ".eE"):
        value = float(text)
        return value if abs(value) != float("inf") else NO_MATCH
    whole = int(text) if len(text) <= _WHOLE_CHARACTERS_MAX else INT_MAX + 1
    return whole if INT_MIN <= whole <= INT_MAX else NO_MATCH


class TemplateShape(Shape):
    """A text with fields; as a shape it takes the texts that `scan` can read and leaves them as they are."""

    kinds = frozenset({"text"})

    def __init__(self, parts: Sequence[str | tuple[str, Shape]]) -> None:
        """``parts`` are literals and (name, shape) of fields; no two fields and no two literals stand side by side."""
        self.prefix = parts[0] if parts and isinstance(parts[0], str) else ""
        self._made: Automaton | None = None  # what `language` returns, once it was asked for
        fields = []
        for index, part in enumerate(parts):
            if not isinstance(part, str):
                after = parts[index + 1] if index + 1 < len(parts) else ""
                assert isinstance(after, str), "two fields of a text have literal text between them"
                fields.append(TextField(*part, after))
        self.fields = tuple(fields)
        scan = self.scan

        def take(value: Any) -> Any:
            return str.__str__(value) if isinstance(value, str) and scan(value) is not None else NO_MATCH

        self.take = take

    def scan(self, text: str) -> tuple[Any, ...] | None:
        """Return the frozen values of the fields in the order written, None if the text is not like this."""
        if not text.startswith(self.prefix):
            return None
        at = len(self.prefix)
        values = []
        for field in self.fields:
            end = text.find(field.until, at) if field.until else len(text)
            value = field.read(text[at:end]) if end >= 0 else NO_MATCH
            if value is NO_MATCH:
                return None
            values.append(value)
            at = end + len(field.until)
        return tuple(values) if at == len(text) else None

    def write(self, values: Sequence[Any], path: Path = ()) -> str:
        """Return the text with frozen values in its fields.

        Raises:
            Mismatch: a value holds a line end or the literal that ends its field.
        """
        pieces = [self.prefix]
        for field, value in zip(self.fields, values, strict=True):
            pieces += (field.write(value, path), field.until)
        return "".join(pieces)

    def _written(self) -> str:
        fields = (f"${{{field.name} {field.shape.describe()}}}{field.until}" for field in self.fields)
        return shown(self.prefix + "".join(fields))

    def _example(self) -> Any:
        return next(self._samples())

    def _samples(self) -> Iterator[Any]:
        columns = [list(field.samples()) for field in self.fields]
        first = [column[0] for column in columns]
        yield self.write(first)
        for index, column in enumerate(columns):
            for value in column[1:]:
                yield self.write([*first[:index], value, *first[index + 1 :]])

    def _language(self) -> Automaton | None:
        if self._made is not None:
            return self._made
        builder = Builder()
        pieces = [builder.text(self.prefix), *(builder.embed(field.language()) for field in self.fields)]
        made = builder.finish(builder.chain(pieces))
        if sum(map(len, made.moves)) <= KEPT_MAX:
            self._made = made
        return made

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        regex = escaped(self.prefix) + "".join(field.regex() + escaped(field.until) for field in self.fields)
        return {"type": "string", "pattern": anchored(regex)}
