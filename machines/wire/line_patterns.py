"""Lines of a frame that are written as a pattern: ``set ${key} ${flags} ${size}$[ ${quiet}]``.

A name that counts is a whole number, decimal or hexadecimal. One that counts nothing is a value: a text, or what the
type of its field makes of one. A field ends where the text behind it first comes, as in `machines.messages.templates`,
so a line is read in linear time. A piece that may be missing is tried first; without it, its names are null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from machines.messages.automata import Automaton, Builder
from machines.messages.compiler import compile_type
from machines.messages.regex import automaton
from machines.messages.scalars import IntShape, TextShape
from machines.messages.shapes import NO_MATCH, Mismatch, shown
from machines.messages.templates import TextField
from machines.model import FrameLine

Names = Mapping[str, Any]  # counts, and values of the body; null for those of a piece that is missing

COUNT_MAX = 9_999_999_999
HEX_DIGITS = 8
_COUNT = "(0|[1-9][0-9]{0,9})"
_HEX = f"[0-9a-fA-F]{{1,{HEX_DIGITS}}}"
_is_hex = re.compile(_HEX).fullmatch
_SMALL = {ord(letter): ord(letter) + 32 for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}  # as long as before, for all texts


class _DecimalCount(TextField):
    """A count in decimal digits, without zeros before it."""

    def __init__(self, name: str, until: str) -> None:
        super().__init__(name, IntShape(0, COUNT_MAX), until)

    def texts(self) -> Automaton:
        """Return the texts of the count."""
        return automaton(_COUNT)


class _HexCount(_DecimalCount):
    """A count in hexadecimal digits: read in capitals or not, written small and without zeros before it."""

    def read(self, text: str) -> Any:
        return int(text, 16) if _is_hex(text) else NO_MATCH

    def write(self, value: Any, path: tuple[str | int, ...]) -> str:
        return f"{value:x}"

    def texts(self) -> Automaton:
        """Return the texts of the count."""
        return automaton(_HEX)


class _Spelling:
    """A pattern with all its pieces, or without some."""

    def __init__(self, pattern: tuple[str, ...], line: FrameLine) -> None:
        types = dict(line.values)
        self.names = pattern[1::2]
        self.any_case = line.any_case
        self.prefix = pattern[0].translate(_SMALL) if line.any_case else pattern[0]
        self.written = pattern[0]
        self.fields: list[TextField] = []
        self.literals = pattern[2::2]
        for name, literal in zip(self.names, self.literals, strict=True):
            until = literal.translate(_SMALL) if line.any_case else literal
            if name not in types:
                field: TextField = (_HexCount if name in line.hexadecimal else _DecimalCount)(name, until)
            else:
                type_ = types[name]
                field = TextField(name, TextShape() if type_ is None else compile_type(type_, {}), until)
            self.fields.append(field)
        self._cut = _field_cutter(pattern) if not line.any_case else None

    def match(self, text: str) -> dict[str, Any] | None:
        if self._cut is None:
            return self._match_slowly(text)
        hit = self._cut(text)
        if hit is None:
            return None
        found: dict[str, Any] = {}
        for field, piece in zip(self.fields, hit.groups(), strict=True):
            value = field.read(piece)
            if value is NO_MATCH:
                return None
            found[field.name] = value
        return found

    def _match_slowly(self, text: str) -> dict[str, Any] | None:
        folded = text.translate(_SMALL) if self.any_case else text
        if not folded.startswith(self.prefix):
            return None
        found: dict[str, Any] = {}
        at = len(self.prefix)
        for field in self.fields:
            end = folded.find(field.until, at) if field.until else len(text)
            value = field.read(text[at:end]) if end >= 0 else NO_MATCH
            if value is NO_MATCH:
                return None
            found[field.name] = value
            at = end + len(field.until)
        return found if at == len(text) else None

    def write(self, names: Names) -> str:
        pieces = [self.written]
        for field, literal in zip(self.fields, self.literals, strict=True):
            value = field.shape.take(names[field.name])
            if value is NO_MATCH:
                raise field.shape.fault(names[field.name], (field.name,))
            pieces += (field.write(value, (field.name,)), literal)
        return "".join(pieces)

    def piece(self, builder: Builder) -> tuple[int, int]:
        """Return the lines like this, and where words may be in any case, others that have what ends a name in it."""
        if not self.any_case:
            fields = [builder.embed(field.language()) for field in self.fields]
            return builder.chain([builder.text(self.prefix), *fields])
        pieces = [_in_any_case(builder, self.prefix)]
        for field in self.fields:
            pieces += (builder.embed(field.texts()), _in_any_case(builder, field.until))
        return builder.chain(pieces)


def _field_cutter(pattern: tuple[str, ...]) -> Callable[[str], re.Match[str] | None] | None:
    """Return what cuts a text into its fields: a quick look, for most lines are unlike most patterns.

    None for two fields without text between them.
    """
    pieces = [re.escape(pattern[0])]
    for literal in map(re.escape, pattern[2::2]):
        if not literal:
            pieces.append("((?s:.*))")
        elif len(literal.removeprefix("\\")) == 1:
            pieces.append(f"([^{literal}]*+){literal}")
        else:
            pieces.append(f"((?s:(?:(?!{literal}).)*+)){literal}")
    return re.compile("".join(pieces)).fullmatch if all(pattern[2:-1:2]) else None


def _in_any_case(builder: Builder, text: str) -> tuple[int, int]:
    both = [sorted({ord(letter), ord(letter.upper() if letter.isascii() else letter)}) for letter in text]
    return builder.chain([builder.one(tuple((code, code) for code in codes)) for codes in both])


class LinePattern:
    """How a line is read and written.

    ``match(line)`` returns what stands in its names, None for bytes that are no such line. ``write(names)`` returns
    the text; it raises Mismatch for a value that its place cannot take, or that would be read otherwise. ``plain`` says
    that but counts in decimal digits stand in it, or nothing: see `count_pattern`.
    """

    __slots__ = ("_charset", "_ways", "line", "match", "plain")

    def __init__(self, line: FrameLine, charset: str) -> None:
        assert line.pattern is not None, "any line has no pattern"
        self.line = line
        self._charset = charset
        self._ways = [_Spelling(pattern, line) for pattern in (line.pattern, *line.shorter)]
        self.plain = not (line.values or line.shorter or line.hexadecimal or line.any_case)
        self.match: Callable[[bytes], dict[str, Any] | None] = self._match
        if self.plain:
            self.match = _counter(line.pattern, charset)

    def _match(self, line: bytes) -> dict[str, Any] | None:
        try:
            text = line.decode(self._charset)
        except UnicodeDecodeError:
            return None
        return self._read(text)

    def _read(self, text: str) -> dict[str, Any] | None:
        for way in self._ways:
            found = way.match(text)
            if found is not None:
                return found if len(self._ways) == 1 else {**dict.fromkeys(self._ways[0].names), **found}
        return None

    def write(self, names: Names) -> str:
        """Return the line without its end."""
        given = {name for name in self._ways[0].names if names[name] is not None}
        way = next((way for way in self._ways if given.issubset(way.names) and given.issuperset(way.names)), None)
        if way is None:
            missing = next(name for name in self._ways[0].names if names[name] is None)
            raise Mismatch((missing,), "a value for a name that is never missing alone", "null")
        text = way.write(names)
        if len(self._ways) > 1 and self._read(text) != {name: names[name] for name in self._ways[0].names}:
            raise Mismatch((), "a line that is read as it is meant", shown(text))
        return text

    def language(self) -> Automaton:
        """Return the texts of such lines, and with words in any case perhaps more.

        Raises:
            TooLargeError: they are too many ways to be written.
        """
        builder = Builder()
        return builder.finish(builder.either([way.piece(builder) for way in self._ways]))


@lru_cache(maxsize=512)
def line_pattern(line: FrameLine, charset: str) -> LinePattern:
    """Return how a line with a pattern is read and written; made once for each."""
    return LinePattern(line, charset)


def count_pattern(pattern: tuple[str, ...], charset: str) -> bytes:
    """Return the regular expression of a line that has only counts, with a group for each.

    Digits and what is not one never run into each other, so it takes linear time.
    """
    return b"".join(
        _COUNT.encode() if index % 2 else re.escape(part.encode(charset)) for index, part in enumerate(pattern)
    )


def _counter(pattern: tuple[str, ...], charset: str) -> Callable[[bytes], dict[str, Any] | None]:
    """Return what reads a line that has only counts: the quick way."""
    names = pattern[1::2]
    found = re.compile(count_pattern(pattern, charset))

    def match(line: bytes) -> dict[str, Any] | None:
        hit = found.fullmatch(line)
        return None if hit is None else dict(zip(names, map(int, hit.groups()), strict=True))

    return match
