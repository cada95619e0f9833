"""What types, bodies and messages are made of: `machines.model` has it too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from machines.problems import Place


@dataclass(frozen=True, slots=True)
class Scalar:
    """``string int number bool null any``."""

    kind: Literal["string", "int", "number", "bool", "null", "any"]


@dataclass(frozen=True, slots=True)
class Enumeration:
    """``{enum: [a, b]}``; ``loose`` ignores case, hyphen, underscore and blank in texts."""

    values: tuple[Any, ...]
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Interval:
    """``{int: low..high}``, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """``{string: REGEX}``: a text that the whole pattern matches."""

    regex: str


@dataclass(frozen=True, slots=True)
class TupleType:
    """``[A, B]``: a list of exactly these."""

    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class ListType:
    """``[A, ...]``, ``[A, ... 10]``, ``[A, ... 0..6]``: ``high`` is None where any number may come."""

    item: Type
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a Keyed type; with ``optional`` it may be missing and then reads as ``default``."""

    name: str
    type: Type
    optional: bool = False
    default: Any = None


@dataclass(frozen=True, slots=True)
class ObjectType:
    """``{key: A}``: a mapping with exactly these keys."""

    fields: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    """``{map: [Key, Value]}``: a mapping with any number of keys, each a text of type ``key``."""

    key: Type
    value: Type


@dataclass(frozen=True, slots=True)
class Union:
    """``A | B``."""

    members: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a declared type; ``place`` is where it is used, for problems only."""

    name: str
    place: Place | None = field(default=None, compare=False, repr=False)


Type = Scalar | Enumeration | Interval | Pattern | TupleType | ListType | ObjectType | MapOf | Union | Named


@dataclass(frozen=True, slots=True)
class Field:
    """``$name Type`` in a body, or ``${name Type}`` inside a text; optional only as the value of a key."""

    name: str
    type: Type
    place: Place
    optional: bool = False
    default: Any = None


@dataclass(frozen=True, slots=True)
class LiteralBody:
    """A literal JSON scalar of a body."""

    value: Any


@dataclass(frozen=True, slots=True)
class Text:
    """A text with fields in it: ``match ${x int}/${n int} starting``; parts alternate as written."""

    parts: tuple[str | Field, ...]


@dataclass(frozen=True, slots=True)
class BodyList:
    """A JSON array of bodies."""

    items: tuple[Body, ...]


@dataclass(frozen=True, slots=True)
class BodyMap:
    """A JSON object whose values are bodies."""

    items: tuple[tuple[str, Body], ...]


Body = Field | LiteralBody | Text | BodyList | BodyMap


def fields_of(body: Body) -> Iterator[Field]:
    """Yield the fields of a body in the order written."""
    match body:
        case Field():
            yield body
        case Text(parts):
            yield from (part for part in parts if isinstance(part, Field))
        case BodyList(items):
            for item in items:
                yield from fields_of(item)
        case BodyMap(pairs):
            for _, item in pairs:
                yield from fields_of(item)
        case LiteralBody():
            pass


def texts_of(body: Body) -> Iterator[str]:
    """Yield the texts of a body that stand for themselves, in the order written."""
    match body:
        case LiteralBody(value):
            if isinstance(value, str):
                yield value
        case BodyList(items):
            for item in items:
                yield from texts_of(item)
        case BodyMap(pairs):
            for _, item in pairs:
                yield from texts_of(item)
        case Field() | Text():
            pass


@dataclass(frozen=True, slots=True)
class Message:
    """What crosses the wire: written as ``body``, recognised as ``body`` or any of ``also``."""

    name: str
    senders: tuple[str, ...]
    body: Body
    also: tuple[Body, ...]
    urgent: bool
    place: Place
    doc: str = field(default="", compare=False)
    examples: tuple[Any, ...] = field(default=(), compare=False)  # frozen, as on the wire

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields in the order written: the arguments with which the message is sent."""
        return tuple(fields_of(self.body))
