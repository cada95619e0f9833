"""What the functions of the language return, for sets of what they are given.

What is not followed is unknown. The numbers of a list stay what they are, so a fraction among them is seen where it is
written.
"""

from __future__ import annotations

from machines.analysis.value_sets import (
    BOOLEAN,
    INTEGERS,
    LENGTHS,
    MEASURE,
    NOTHING,
    NULL,
    NUMBER,
    TEXT,
    UNKNOWN,
    Types,
    as_list,
    bounded,
    is_fractional,
    is_list,
    joined,
    kind,
    members,
    union,
)
from machines.messages.automata import Work
from machines.messages.compiler import compile_type
from machines.messages.overlap import fits_within
from machines.messages.scalars import TextShape
from machines.model import Interval, ListType, MapOf, ObjectType, Type

_WHOLE = "0|-?[1-9][0-9]{0,17}"
_STEPS = 20_000  # that it may take to see that texts are whole numbers


def returned(path: str, given: list[Type], types: Types) -> Type:
    """Return the set of values of a function of the language, for sets of its arguments."""
    if path == "round":
        return _rounded(given[0], types) if given else UNKNOWN
    if UNKNOWN in given or NOTHING in given:
        return BOOLEAN if path == "gone" else UNKNOWN
    match path, given:
        case "len", [one]:
            parts = members(one, types)
            if is_one_list(parts):
                many = as_list(parts[0])
                return Interval(many.low, LENGTHS.high if many.high is None else many.high)
            return LENGTHS
        case "int", [one]:
            return INTEGERS if _are_whole(members(one, types), types) else union([INTEGERS, NULL])
        case "str", [one]:
            return one if all(kind(part) == "text" for part in members(one, types)) else UNKNOWN
        case (("lower" | "upper"), [one]):
            return TEXT if one == TEXT else UNKNOWN
        case "values", [one]:
            return _values(one)
        case (("sum" | "min" | "max" | "sorted" | "head" | "tail" | "get" | "where" | "without"), [one, *rest]):
            parts = members(one, types)
            return _of_list(path, as_list(parts[0]), rest, types) if is_one_list(parts) else UNKNOWN
        case _:
            return UNKNOWN


def is_one_list(parts: tuple[Type, ...]) -> bool:
    """Whether the members of a set are one kind of list."""
    return len(parts) == 1 and is_list(parts[0])


def _of_list(path: str, many: ListType, rest: list[Type], types: Types) -> Type:
    item = many.item if many.high != 0 else NOTHING
    match path, rest:
        case "sum", []:
            return _summed(members(item, types))
        case (("min" | "max"), []):
            return item if many.low > 0 else union([item, NULL])
        case "sorted", []:
            return many
        case "get", [_, default]:
            return joined(item, default, types)
        case (("head" | "tail"), [_]):
            return ListType(item, 0, many.high)
        case ("where", [_, _]) | ("without", [_]):
            return ListType(item, 0, many.high)
        case _:
            return UNKNOWN


def _summed(items: tuple[Type, ...]) -> Type:
    """Return the sums of numbers, however many."""
    if not all(kind(part) == "number" for part in items):
        return UNKNOWN
    if any(is_fractional(part) for part in items):
        return NUMBER
    return INTEGERS if all(isinstance(part, Interval) for part in items) else MEASURE


def _rounded(given: Type, types: Types) -> Type:
    """Return whole numbers as they are; how large those near to a fraction are is not followed."""
    parts = members(given, types)
    return union(parts) if parts and all(isinstance(part, Interval) for part in parts) else MEASURE


def _values(given: Type) -> Type:
    match given:
        case MapOf(_, value):
            return ListType(value, 0, None)
        case ObjectType(fields) if not any(field.optional for field in fields):
            return bounded(ListType(union(field.type for field in fields), len(fields), len(fields)))
        case _:
            return UNKNOWN


def _are_whole(parts: tuple[Type, ...], types: Types) -> bool:
    """Whether texts are all whole numbers."""
    return all(
        kind(part) == "text" and fits_within(compile_type(part, types), TextShape(_WHOLE), Work(_STEPS))
        for part in parts
    )
