"""Sets of values, written as types: what a name may hold for all that its peers may send.

Beside the types of a spec there are a peer and what is not known. Of a set with something unknown in it nothing is
told. Sets may be wider than what comes about, never narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, Final

from machines.messages.regex import escaped
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
    TypeDeclaration,
    Union,
)
from machines.values import INTEGER_MAX, INTEGER_MIN

Types = Mapping[str, TypeDeclaration]

# Names that no type can be declared by.
PEER: Final = Named("a peer")
UNKNOWN: Final = Named("anything")
INTEGERS: Final = Interval(INTEGER_MIN, INTEGER_MAX)
TEXT: Final = Scalar("string")
LINE: Final = Pattern(r"[^\n\r]*")  # a text within a line
BOOLEAN: Final = Scalar("bool")
NULL: Final = Scalar("null")
NUMBER: Final = Scalar("number")
MEASURE: Final = Named("some number")  # whole or not, of any size: alone, nothing is told of it
NOTHING: Final = Union(())
LENGTHS: Final = Interval(0, 1_000_000)
MEMBERS_MAX = 12  # of a union; what would have more is unknown
LISTED_MAX = 24  # values of an enumeration
PARTS_MAX = 64  # types within a type; what would have more is unknown


def of_constant(value: object) -> Type:
    """Return the set of one value that is written in a spec."""
    match value:
        case None:
            return NULL
        case bool() | str():
            return Enumeration((value,))
        case int():
            return Interval(value, value)
        case float() if value.is_integer() and INTEGER_MIN <= value <= INTEGER_MAX:
            return Interval(int(value), int(value))  # 1.0 is a whole number
        case float():
            return Enumeration((value,)) if isfinite(value) else UNKNOWN
        case _:
            return UNKNOWN


def members(type_: Type, types: Types) -> tuple[Type, ...]:
    """Return the types that a type is a union of, itself if it is none; names are followed."""
    match type_:
        case Named(name) if name in types:
            return members(types[name].type, types)
        case Union(parts):
            return tuple(member for part in parts for member in members(part, types))
        case Scalar("int"):
            return (INTEGERS,)
        case Scalar("any"):
            return (UNKNOWN,)
        case Enumeration(values, loose):
            texts = tuple(value for value in values if isinstance(value, str))
            others = [of_constant(value) for value in values if not isinstance(value, str)]
            return (*((Enumeration(texts, loose),) if texts else ()), *others)
        case _:
            return (type_,)


def union(parts: Iterable[Type]) -> Type:
    """Return the set of what is in one of the parts, with whole numbers as one stretch."""
    found: dict[Type, None] = {}
    whole: list[Interval] = []
    texts: dict[str, None] = {}
    for part in parts:
        for member in part.members if isinstance(part, Union) else (part,):
            match member:
                case Interval():
                    whole.append(member)
                case Enumeration(values, False) if all(isinstance(value, str) for value in values):
                    texts.update(dict.fromkeys(values))
                case _:
                    found[member] = None
    if whole:
        found[Interval(min(one.low for one in whole), max(one.high for one in whole))] = None
    if texts and TEXT not in found:
        found[Enumeration(tuple(texts))] = None
    if not found:
        return NOTHING
    if UNKNOWN in found or len(found) > MEMBERS_MAX or len(texts) > LISTED_MAX:
        return UNKNOWN
    return next(iter(found)) if len(found) == 1 else bounded(Union(tuple(found)))


def bounded(type_: Type) -> Type:
    """Return a set, or that it is unknown if it is made of more than PARTS_MAX types."""
    todo, count = [type_], 0
    while todo:
        count += 1
        if count > PARTS_MAX:
            return UNKNOWN
        match todo.pop():
            case Union(parts) | TupleType(parts):
                todo += parts[: PARTS_MAX + 1]
            case ListType(item):
                todo.append(item)
            case ObjectType(fields):
                todo += [field.type for field in fields[: PARTS_MAX + 1]]
            case MapOf(key, value):
                todo += [key, value]
    return type_


def joined(a: Type, b: Type, types: Types) -> Type:
    """Return the set of what is in one of two sets."""
    if a is b or a == b:
        return a
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    if a is NOTHING or b is NOTHING:
        return b if a is NOTHING else a
    lists = [as_list(part) for part in (*members(a, types), *members(b, types)) if is_list(part)]
    others = [part for part in (*members(a, types), *members(b, types)) if not is_list(part)]
    if len(lists) > 1:
        item: Type = NOTHING
        for one in lists:
            item = one.item if item == NOTHING else item if one.high == 0 else joined(item, one.item, types)
        high = None if any(one.high is None for one in lists) else max(one.high or 0 for one in lists)
        return union([bounded(ListType(item, min(one.low for one in lists), high)), *others])
    return union([*lists, *others])


def is_list(type_: Type) -> bool:
    """Whether a member is a kind of list."""
    return isinstance(type_, TupleType | ListType)


def as_list(type_: Type) -> ListType:
    """Return a kind of list as one whose elements are all of one set."""
    match type_:
        case TupleType(items):
            return ListType(union(items) if items else NOTHING, len(items), len(items))
        case ListType():
            return type_
        case _:
            raise ValueError(f"{type_} is no list")


def is_known(type_: Type, types: Types, depth: int = 0) -> bool:
    """Whether nothing in a set is unknown or a peer."""
    if depth > 8:
        return False
    match type_:
        case Named(name):
            return name in types and is_known(types[name].type, types, depth + 1)
        case Union(parts) | TupleType(parts):
            return all(is_known(part, types, depth + 1) for part in parts)
        case ListType(item):
            return is_known(item, types, depth + 1)
        case ObjectType(fields):
            return all(is_known(field.type, types, depth + 1) for field in fields)
        case MapOf(key, value):
            return is_known(key, types, depth + 1) and is_known(value, types, depth + 1)
        case _:
            return True


def kind(type_: Type) -> str:
    """Return the kind of a member's values: number, text, bool, null, list, mapping, peer; empty if unknown."""
    match type_:
        case Interval() | Scalar("number" | "int"):
            return "number"
        case Named() if type_ == MEASURE:
            return "number"
        case Scalar("string") | Pattern():
            return "text"
        case Scalar("bool" | "null" as word):
            return word
        case Enumeration(values):
            first = values[0]
            return "text" if isinstance(first, str) else "bool" if isinstance(first, bool) else "number"
        case TupleType() | ListType():
            return "list"
        case ObjectType() | MapOf():
            return "mapping"
        case Named() if type_ == PEER:
            return "peer"
        case _:
            return ""


def is_fractional(type_: Type) -> bool:
    """Whether a member has numbers that are not whole, for all that is known."""
    return type_ == NUMBER or (isinstance(type_, Enumeration) and isinstance(type_.values[0], float))


# -- what operators make of sets -------------------------------------------------------------------------------------


def arithmetic(operator: str, left: Interval, right: Interval) -> Interval:
    """Return the whole numbers that the sums, differences or products of others are, of 64 bits."""
    if operator == "+":
        low, high = left.low + right.low, left.high + right.high
    elif operator == "-":
        low, high = left.low - right.high, left.high - right.low
    else:
        ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
        low, high = min(ends), max(ends)
    return Interval(max(low, INTEGER_MIN), min(high, INTEGER_MAX))


def concatenated(left: Type, right: Type) -> Type:
    """Return the texts that begin with one of a set and go on with one of another."""
    parts = [_pattern_of(part) for part in (left, right)]
    if any(part is None for part in parts):
        return UNKNOWN
    regex = "".join(f"(?:{part})" for part in parts)
    return Pattern(regex) if len(regex) < 400 else UNKNOWN


def _pattern_of(type_: Type) -> str | None:
    match type_:
        case Scalar("string"):
            return r"[\s\S]*"
        case Pattern(regex):
            return regex.removeprefix("^").removesuffix("$")
        case Enumeration(values, False):
            return "|".join(escaped(value) for value in values)
        case _:
            return None


def sliced(type_: Type, operator: str, bound: int) -> Type:
    """Return what of a member compares with a whole number as an operator says."""
    if not isinstance(type_, Interval):
        return Interval(bound, bound) if operator == "==" and type_ in (NUMBER, MEASURE) else type_
    low, high = type_.low, type_.high
    match operator:
        case "<":
            high = min(high, bound - 1)
        case "<=":
            high = min(high, bound)
        case ">":
            low = max(low, bound + 1)
        case ">=":
            low = max(low, bound)
        case "==":
            low, high = max(low, bound), min(high, bound)
        case "!=":
            low += low == bound
            high -= high == bound
    return Interval(low, high) if low <= high else NOTHING


def kept(type_: Type, keep: Callable[[Type], Type], types: Types) -> Type:
    """Return a set with each member as a function leaves it."""
    return UNKNOWN if type_ == UNKNOWN else union(keep(member) for member in members(type_, types))


def without_value(type_: Type, value: Any, types: Types) -> Type:
    """Return a set without a text, a boolean or null."""

    def left(member: Type) -> Type:
        if value is None:
            return NOTHING if member == NULL else member
        if isinstance(value, bool):
            return Enumeration((not value,)) if member in (BOOLEAN, Enumeration((not value,))) else _not(member, value)
        return _not(member, value)

    return kept(type_, left, types)


def _not(member: Type, value: object) -> Type:
    if isinstance(member, Enumeration) and not member.loose:
        rest = tuple(other for other in member.values if other != value or type(other) is not type(value))
        return Enumeration(rest) if rest else NOTHING
    return member


def field_of(type_: ObjectType, name: str) -> Key | None:
    """Return a key of a mapping type."""
    return next((field for field in type_.fields if field.name == name), None)
