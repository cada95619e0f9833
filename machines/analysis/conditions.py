"""What a condition that holds, or does not, says of the names in it.

Comparisons of a name with a literal narrow its set. Of what else a condition asks nothing is known afterwards: it may
say more than sets can, as `count <= left` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from machines.analysis.value_sets import (
    INTEGERS,
    NOTHING,
    NULL,
    PEER,
    UNKNOWN,
    Types,
    as_list,
    is_list,
    joined,
    kept,
    kind,
    of_constant,
    sliced,
    union,
    without_value,
)
from machines.expressions.unparse import walk
from machines.model import (
    Attribute,
    Binary,
    Call,
    Constant,
    Expression,
    Interval,
    ListType,
    Name,
    Sequence,
    Type,
    Unary,
)

Values = dict[str, Type]  # of names; "peer.name" for a field of which a condition asked

_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def narrowed(values: Values, guard: Expression, types: Types, *, holds: bool) -> Values | None:
    """Return what names may hold where a condition holds, or does not; None if that never is."""
    match guard:
        case Constant(bool() as value):
            return values if value is holds else None
        case Unary("not", operand):
            return narrowed(values, operand, types, holds=not holds)
        case Binary("and" | "or" as word, left, right):
            first = narrowed(values, left, types, holds=holds)
            if (word == "and") is holds:
                return narrowed(first, right, types, holds=holds) if first is not None else None
            passed = narrowed(values, left, types, holds=not holds)
            second = narrowed(passed, right, types, holds=holds) if passed is not None else None
            return merged(first, second, types)
        case Binary() if (asked := against_literal(guard)) is not None:
            left, operator, literal = asked
            return _compared(values, left, operator if holds else _OPPOSITE[operator], literal, types)
        case Binary("in", Name(name), container):
            known = _listed(values, name, container, types) if holds and values.get(name, UNKNOWN) != UNKNOWN else None
            if known is not None:
                return _with(values, name, known)
        case Name():
            return values
    return forgotten(values, guard)


def against_literal(guard: Expression) -> tuple[Expression, str, object] | None:
    """Return what a condition compares with a literal, how, and the literal; None if it does nothing like it.

    ``3 < count`` is told as ``count > 3``.
    """
    if not (isinstance(guard, Binary) and guard.operator in _MIRRORED):
        return None
    left, right, operator = guard.left, guard.right, guard.operator
    if isinstance(left, Constant):
        left, right, operator = right, left, _MIRRORED[operator]
    if isinstance(left, Constant) or not isinstance(right, Constant):
        return None
    return left, operator, right.value


def merged(a: Values | None, b: Values | None, types: Types) -> Values | None:
    """Return what names may hold if one of two holds."""
    if a is None or b is None:
        return a if b is None else b
    return {name: joined(a.get(name, NOTHING), b.get(name, NOTHING), types) for name in (*a, *(b.keys() - a.keys()))}


def forgotten(values: Values, expression: Expression) -> Values:
    """Return values with nothing known of what an expression asks for."""
    found = dict(values)
    for part in walk(expression):
        match part:
            case Attribute(Name(name), field):
                found[f"{name}.{field}"] = UNKNOWN
            case Name(name) if values.get(name, PEER) != PEER:
                found[name] = UNKNOWN
    return found


def _with(values: Values, name: str, type_: Type) -> Values | None:
    return {**values, name: type_} if type_ != NOTHING else None


def _compared(values: Values, left: Expression, operator: str, literal: object, types: Types) -> Values | None:
    whole = isinstance(literal, int) and not isinstance(literal, bool)
    match left:
        case Name(name) if (type_ := values.get(name, UNKNOWN)) != UNKNOWN:
            if whole:
                assert isinstance(literal, int), "asked for above"
                return _with(values, name, kept(type_, _slice(operator, literal), types))
            if operator == "==" and (literal is None or isinstance(literal, str | bool)):
                return _with(values, name, NULL if literal is None else of_constant(literal))
            if operator == "!=":
                return _with(values, name, without_value(type_, literal, types))
        case Call("len", (Name(name),)) if whole and (type_ := values.get(name, UNKNOWN)) != UNKNOWN:
            assert isinstance(literal, int), "asked for above"
            return _with(values, name, kept(type_, _slice_of_length(operator, literal), types))
    return forgotten(values, left)


def _slice(operator: str, bound: int) -> Callable[[Type], Type]:
    def keep(member: Type) -> Type:
        if operator != "!=" and kind(member) not in ("number", ""):
            return NOTHING if operator == "==" else member
        return sliced(member, operator, bound)

    return keep


def _slice_of_length(operator: str, bound: int) -> Callable[[Type], Type]:
    def keep(member: Type) -> Type:
        if not is_list(member):
            return UNKNOWN
        many = as_list(member)
        high = INTEGERS.high if many.high is None else many.high
        left = sliced(Interval(many.low, high), operator, bound)
        if not isinstance(left, Interval):
            return NOTHING
        return ListType(many.item, left.low, None if left.high == INTEGERS.high else left.high)

    return keep


def _within(member: Type, low: int, high: int) -> Type:
    """Return what of a member is a number of a range, so a whole one."""
    if kind(member) != "number":
        return NOTHING
    return sliced(sliced(member if isinstance(member, Interval) else INTEGERS, ">=", low), "<=", high)


def _listed(values: Values, name: str, container: Expression, types: Types) -> Type | None:
    """Return what a name may hold that is in a list of literals, or a range of them; None for any other container."""
    match container:
        case Sequence(items) if items and all(isinstance(item, Constant) for item in items):
            return union(of_constant(item.value) for item in items if isinstance(item, Constant))
        case Binary("..", Constant(int(low)), Constant(int(high))):
            return kept(
                values[name],
                lambda member: _within(member, low, high),
                types,
            )
        case _:
            return None
