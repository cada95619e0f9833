"""Types on one line, as a field has them and as they are printed: ``int 0..9``, ``string 1..20``, ``Name | null``.

What is printed can be written: `type_text` gives the notation of a spec, for any type.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

import msgspec

from machines.messages.regex import COUNT_MAX, lengths, of_length
from machines.messages.scalars import INT_MAX, INT_MIN
from machines.model import (
    Enumeration,
    Interval,
    Key,
    ListType,
    MapOf,
    Named,
    ObjectType,
    Pattern,
    Scalar,
    TupleType,
    Type,
    Union,
)
from machines.problems import Mend, Place, Problems, near
from machines.values import plain

SCALARS: Final = ("string", "int", "number", "bool", "null", "any")
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
INTERVAL: Final = re.compile(r"(-?[0-9]{1,20})\s*\.\.\s*(-?[0-9]{1,20})")
_RANGED = re.compile(r"(int|string)\s+(\S.*)")
_RANGE_OF_OTHERS = re.compile(r"(?:(int|string)\s*[(\[])?\s*(-?[0-9]{1,20})\s*(?:\.\.|,|-)\s*([0-9]{1,20})\s*[)\]]?")
_COUNTS = re.compile(r"([0-9]{1,9})(?:\s*\.\.\s*([0-9]{1,9}))?")
_FORMS = frozenset({"enum", "int", "string", "map"})
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def parse_inline_type(text: str, place: Place, problems: Problems) -> Type | None:
    """Return the type that ``text`` is: a name, one with a range, or several with ``|`` between.

    ``place`` is where it starts; None if it is none, with the fault told.
    """
    members: list[Type] = []
    at = 0
    for written in text.split("|"):
        name = written.strip()
        where = place.right(at + len(written) - len(written.lstrip()))
        at += len(written) + 1
        member = _parse_member(name, where, problems)
        if member is None:
            return None
        if member in members:
            problems.add(where, "A208", f"{name!r} stands twice in this union", "leave one out")
        members.append(member)
    return members[0] if len(members) == 1 else Union(tuple(members))


def _parse_member(name: str, place: Place, problems: Problems) -> Type | None:
    if name in SCALARS:
        return Scalar(cast(Any, name))
    if NAME.fullmatch(name):
        return Named(name, place)
    ranged = _RANGED.fullmatch(name)
    if ranged is not None:
        behind = place.right(ranged.start(2))
        return parse_interval(ranged[2], behind, problems) if ranged[1] == "int" else _of(ranged[2], behind, problems)
    if not name:
        problems.add(place, "A200", "a type is missing", "like string, int or the name of a type")
    elif any(character in name for character in "[]{}"):
        text = f"{name!r} is no type here, only a name is"
        problems.add(place, "A200", text, "between `|` and in texts stand names: declare it under 'types'")
    else:
        hint, mends = _meant(name, place)
        problems.add(place, "A200", f"{name!r} is no type", hint, mends=mends)
    return None


def _meant(name: str, place: Place) -> tuple[str, tuple[Mend, ...]]:
    """Return what is said of a word that is no type, and what mends it if that is known."""
    found = _RANGE_OF_OTHERS.fullmatch(name)
    if found is not None:
        meant = f"{found[1] or 'int'} {found[2]}..{found[3]}"
        return f"did you mean {meant!r}?", (Mend(place, name, meant),)
    if name.startswith("number "):
        return "a number has no range: like number, or int 0..9", ()
    if name.endswith("?"):
        return f"like {name[:-1]} | null; a key that may be missing has a default: $key {name[:-1]} = VALUE", ()
    return near(name.split()[0], SCALARS) or "like string, int 0..9, the name of a type, or A | null", ()


def parse_interval(text: str, place: Place, problems: Problems) -> Interval | None:
    """Return the whole numbers that ``0..9`` stands for; None, with the fault told, if it is no range."""
    found = INTERVAL.fullmatch(text)
    if found is None:
        hint = "like int 0..9; for a key that is called int, put it in quotes"
        mends: tuple[Mend, ...] = ()
        if (others := _RANGE_OF_OTHERS.fullmatch(text)) is not None and others[1] is None:
            meant = f"{others[2]}..{others[3]}"
            hint, mends = f"did you mean 'int {meant}'?", (Mend(place, text, meant),)
        problems.add(place, "A204", "'int' takes a range", hint, mends=mends)
        return None
    low, high = int(found[1]), int(found[2])
    if low > high:
        problems.add(place, "A204", f"no number is in {low}..{high}", f"like {high}..{low}")
        return None
    if low < INT_MIN or high > INT_MAX:
        problems.add(place, "A204", f"{found[0]} goes beyond 64 bits", f"the most is {INT_MIN}..{INT_MAX}")
        return None
    return Interval(low, high)


def _of(text: str, place: Place, problems: Problems) -> Pattern | None:
    """Return the texts that have so many characters: ``1..20`` or ``4``."""
    found = _COUNTS.fullmatch(text)
    if found is None:
        hint = 'like string 1..20; a pattern is written {string: "[a-z]+"}'
        problems.add(place, "A205", "'string' takes how many characters a text has", hint)
        return None
    low, high = int(found[1]), int(found[2] or found[1])
    if low > high:
        problems.add(place, "A205", f"no text has {low}..{high} characters", f"like {high}..{low}")
        return None
    if high > COUNT_MAX:
        problems.add(place, "A205", f"{high} characters are too many to count", f"at most {COUNT_MAX}; else string")
        return None
    return Pattern(of_length(low, high))


# -- types as text ---------------------------------------------------------------------------------------------------


def type_text(type_: Type) -> str:
    """Return a type on one line as a spec has it; read again, it is the same type."""
    match type_:
        case Scalar(kind):
            return kind
        case Named(name):
            return name
        case Interval(low, high):
            return f"int {low}..{high}"
        case Pattern(regex):
            counted = lengths(regex)
            return f"{{string: {_quoted(regex)}}}" if counted is None else f"string {counted}"
        case Enumeration(values, loose):
            return f"{{enum: [{', '.join(map(_literal, values))}]{', loose: true' if loose else ''}}}"
        case TupleType(items):
            return f"[{', '.join(map(type_text, items))}]"
        case ListType(item, low, high):
            counts = "" if (low, high) == (0, None) else f" {low}" if low == high else f" {low}..{high}"
            return f"[{type_text(item)}, ...{counts}]"
        case MapOf(key, value):
            return f"{{map: [{type_text(key)}, {type_text(value)}]}}"
        case Union(members):
            return " | ".join(map(type_text, members))
        case ObjectType(fields):
            return f"{{{', '.join(map(_key_text, fields))}}}"


def _key_text(key: Key) -> str:
    plain_key = _PLAIN.fullmatch(key.name) and key.name not in _FORMS
    default = f" = {_default(key.default)}" if key.optional else ""
    typed = type_text(key.type) + default
    return f"{key.name if plain_key else _quoted(key.name)}: {_quoted(typed) if set(default) & set('[]{},') else typed}"


def _default(value: Any) -> str:
    if isinstance(value, str) and not _PLAIN.fullmatch(value):
        return "'" + value.replace("'", "''") + "'"
    return _literal(value)


def _literal(value: Any) -> str:
    if isinstance(value, str):
        is_word = _PLAIN.fullmatch(value) and value not in ("null", "true", "false")
        return value if is_word else _quoted(value)
    return msgspec.json.encode(plain(value)).decode()


def _quoted(text: str) -> str:
    """Return a text in double quotes of YAML, which are those of JSON."""
    return msgspec.json.encode(text).decode()
