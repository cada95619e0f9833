"""The text of an expression cut into tokens, one at a time, so that the first fault met is the first one told.

    row >= 0 and turn == player.name     name sign number word name sign name sign name end

Words are ``true false null and or not in except``; every other word, Python's own included, is a name. What another
language would write (``&&``, ``=``, ``"text"``) is told with our spelling and read on as if it had been written so;
what we have no spelling for (``**``, ``/``) ends the reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Protocol

from machines.expressions.operations import INTEGER_MAX

Kind = Literal["name", "word", "number", "text", "sign", "end"]

WORDS = frozenset({"true", "false", "null", "and", "or", "not", "in", "except"})


class Token(NamedTuple):
    """A piece of the text: ``text`` as we spell it, ``offset`` where it stands; numbers and texts have a ``value``."""

    kind: Kind
    text: str
    offset: int
    value: Any = None

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 40 else self.text[:37] + "..."
        return shown if self.kind == "text" else f"'{shown}'"


class UnreadableError(Exception):
    """The text cannot be read on from ``offset``; the other fields are those of the problem to tell."""

    def __init__(self, offset: int, code: str, text: str, hint: str) -> None:
        self.offset = offset
        self.code = code
        self.text = text
        self.hint = hint
        super().__init__(text)


class Fault(Protocol):
    """Takes note of a fault after which reading goes on."""

    def __call__(self, offset: int, code: str, text: str, hint: str, mend: tuple[str, str] | None = None, /) -> None:
        """Note one fault; ``offset`` counts characters from 0, ``mend`` is what stands there and what belongs there."""


# What others write, and how we do. The right sign is put in its place, so that one pass finds all of them.
_REPLACED = {
    "&&": ("and", "use `and`"),
    "||": ("or", "use `or`"),
    "!": ("not", "use `not`"),
    "=": ("==", "use == to compare; arguments are given by place, not by name"),
    "===": ("==", "use =="),
    "!==": ("!=", "use !="),
    "<>": ("!=", "use !="),
    "=<": ("<=", "use <="),
    "=>": (">=", "use >="),
    "≤": ("<=", "use <="),
    "≥": (">=", "use >="),
    "≠": ("!=", "use !="),
    "\u00d7": ("*", "use *"),
}

_NO_DIVISION = "there is no division: let a rule do it"
_BOUND = "a name is bound anew by the step 'let', like let: {count: count + 1}"
_NO_BITS = "use `and`, `or`, `not`; bits are for rules"
_PLAIN_QUOTES = "use the plain single quote '"

_REFUSED = {
    "**": "multiply, or let a rule do it",
    "//": _NO_DIVISION,
    "/": _NO_DIVISION,
    "%": "there is no remainder: let a rule do it",
    **dict.fromkeys(("+=", "-=", "*=", "++"), _BOUND),
    "&": _NO_BITS,
    "|": _NO_BITS,
    "^": _NO_BITS,
    "~": _NO_BITS,
    "->": "a function is a rule of a module",
    ":=": "bind a name with `let`",
    "?": "a choice is written `if c then a else b`",
    ";": "one expression only; several steps are keys of a state",
    "...": "a range is low..high",
    "$": "a field is read by its name, without $",
    "#": "a YAML comment has a blank before its #",
    "@": "it means nothing here",
    "\\": "it means nothing here; a quote inside a text is written twice",
    "`": _PLAIN_QUOTES,
    **dict.fromkeys("\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb", _PLAIN_QUOTES),
}


def _any_of(signs: Iterator[str]) -> str:
    return "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))


# Each alternative is linear: there is one way to read a text, and what is tried again is a part of it once. Possessive
# repeats would say so, but Python 3.11.2, which Debian 12 has, takes the point of `2..5` for part of its number then.
_TOKEN = re.compile(
    rf"""
      (?P<blank>[ \t\r\n]+)
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<text>'[^']*(?:''[^']*)*'(?!'))
    | (?P<double>"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<open>["'])
    | (?P<foreign>{_any_of(sign for sign in (*_REPLACED, *_REFUSED) if len(sign) > 1)})
    | (?P<sign>\.\.|==|!=|<=|>=|[-+*<>()\[\]{{}}:,.])
    | (?P<lone>{_any_of(sign for sign in (*_REPLACED, *_REFUSED) if len(sign) == 1)})
    """,
    re.VERBOSE | re.DOTALL,
)
_ARGUMENT = re.compile(r"(\w\(|,)\s*\w+\s*\Z")  # what stands before the sign of `f(x=1)`
_NUMBER_TAIL = re.compile(r"\.(?!\.)|[A-Za-z0-9_]+")


def quoted(text: str) -> str:
    """Return a text as an expression writes it: in single quotes, those inside it doubled."""
    return "'" + text.replace("'", "''") + "'"


def tokens(text: str, fault: Fault) -> Iterator[Token]:
    """Yield the tokens of ``text``, the last of kind ``end``; faults with a known cure go to ``fault``.

    An integer may be one above the largest of 64 bits, since a minus sign before it makes it the smallest.

    Raises:
        UnreadableError: a character or sign we do not have, a text without its end, a number that is none (codes
            A253, A255, A256, A259).
    """
    offset = 0
    end = len(text.rstrip(" \t\r\n"))
    while offset < end:
        match = _TOKEN.match(text, offset)
        if match is None:
            raise _strange(text[offset], offset)
        found = match.group()
        kind = match.lastgroup
        if kind == "name":
            yield Token("word" if found in WORDS else "name", found, offset)
        elif kind == "number":
            yield _number(text, found, offset)
        elif kind == "text":
            for index, character in enumerate(found):
                if "\ud800" <= character <= "\udfff":
                    raise _strange(character, offset + index)
            yield Token("text", found, offset, found[1:-1].replace("''", "'"))
        elif kind == "double":
            ours = quoted(found[1:-1])
            mend = (found, ours) if not text[:offset][-1:].isalnum() else None  # f"..." is no text of ours
            fault(offset, "A255", "a text stands in double quotes", f"use single quotes: {ours}", mend)
            yield Token("text", found, offset, found[1:-1])
        elif kind == "open":
            hint = "close it with '; a quote inside a text is written twice"
            raise UnreadableError(offset, "A256", "a text is never closed", hint)
        elif kind == "sign":
            yield Token("sign", found, offset)
        elif kind in ("foreign", "lone"):
            if found not in _REPLACED:
                raise UnreadableError(offset, "A253", f"'{found}' is not in this language", _REFUSED[found])
            ours, hint = _REPLACED[found]
            by_name = found == "=" and _ARGUMENT.search(text[:offset]) is not None
            mend = None if by_name else (found, _spaced(text, match, ours))
            fault(offset, "A254", f"'{found}' is not in this language", hint, mend)
            yield Token("word" if ours in WORDS else "sign", ours, offset)
        offset = match.end()
    yield Token("end", "", end)


def _spaced(text: str, match: re.Match[str], ours: str) -> str:
    """Return what takes the place of a sign: a word has blanks round it."""
    if ours not in WORDS:
        return ours
    before = " " if match.start() and not text[match.start() - 1].isspace() else ""
    return f"{before}{ours}{'' if text[match.end() : match.end() + 1].isspace() else ' '}"


def _strange(character: str, offset: int) -> UnreadableError:
    code_point = f"U+{ord(character):04X}"
    shown = f"'{character}' ({code_point})" if character.isprintable() else code_point
    # Letters beyond ASCII have look-alikes and several spellings; names stay comparable byte by byte without them.
    hint = "names have the letters a-z and A-Z, digits and underscores" if character.isalpha() else "take it out"
    return UnreadableError(offset, "A253", f"the character {shown} is not in this language", hint)


def _number(text: str, found: str, offset: int) -> Token:
    tail = _NUMBER_TAIL.match(text, offset + len(found))
    if tail is not None:
        written = found + tail.group()
        if tail.group() == ".":
            hint = "write digits after the point, or none"
        elif found == "0" and tail.group()[0] in "xXoObB":
            hint = "numbers are decimal"
        elif tail.group()[0] == "_":
            hint = "write the digits without underscores"
        else:
            hint = "a name begins with a letter; a duration or a rate has a name, under `settings`"
        raise UnreadableError(offset, "A259", f"'{written}' is not a number", hint)
    if len(found) > 1 and found[0] == "0" and found[1].isdigit():
        raise UnreadableError(offset, "A259", f"'{found}' begins with a zero", f"write {found.lstrip('0') or '0'}")
    if found.isdigit():
        whole = int(found)
        if whole > INTEGER_MAX + 1:
            raise out_of_range(found, offset)
        return Token("number", found, offset, whole)
    value = float(found)
    if value == float("inf"):
        raise out_of_range(found, offset)
    return Token("number", found, offset, value)


def out_of_range(found: str, offset: int) -> UnreadableError:
    """Return what to raise for a number that 64 bits cannot hold."""
    shown = found if len(found) <= 24 else found[:21] + "..."
    return UnreadableError(offset, "A259", f"{shown} does not fit in 64 bits", f"the largest integer is {INTEGER_MAX}")
