"""What expressions may be, for sets of what their names may be, and where an operation lacks a value for some."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Listed
from dataclasses import dataclass
from typing import Protocol

from machines.analysis.conditions import Values, narrowed
from machines.analysis.function_sets import is_one_list, returned
from machines.analysis.value_sets import (
    BOOLEAN,
    INTEGERS,
    LENGTHS,
    MEASURE,
    NOTHING,
    NUMBER,
    PEER,
    UNKNOWN,
    Types,
    arithmetic,
    as_list,
    bounded,
    concatenated,
    field_of,
    is_fractional,
    is_list,
    joined,
    kind,
    members,
    of_constant,
    union,
)
from machines.expressions.signatures import ARGUMENTS, ELEMENTS, said
from machines.expressions.unparse import names
from machines.model import (
    Attribute,
    Binary,
    Call,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Interval,
    Item,
    Key,
    ListType,
    MapOf,
    Mapped,
    Name,
    ObjectType,
    Scalar,
    Sequence,
    TupleType,
    Type,
    Unary,
)

_ORDERED = ("<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Partial:
    """An operation, and the part of it that may be what it has no value for."""

    whole: Expression
    part: Expression
    holds: Type
    why: str
    always: bool  # it never has a value
    said: str = ""  # all of this in words, if it is not that the operation has no value


class Peers(Protocol):
    """What is known of the fields of peers, and of names that every machine has."""

    types: Types
    built_in: Values

    def field_of_peer(self, name: str) -> Type:
        """Return what a field of a peer may hold."""


class Evaluation:
    """Evaluates expressions over sets of values."""

    def __init__(
        self,
        peers: Peers,
        values: Values,
        live: frozenset[str],
        partners: frozenset[str],
        sent: frozenset[str],
        lacks: Callable[[Partial], None],
    ) -> None:
        self.peers, self.types, self.values, self.live = peers, peers.types, values, live
        self.partners, self.sent, self.lacks = partners, sent, lacks

    def of(self, expression: Expression) -> Type:
        """Return the set of values of an expression."""
        match expression:
            case Constant(value):
                return of_constant(value)
            case Name(name):
                if name in self.partners:
                    return PEER
                if name in self.live:
                    return UNKNOWN
                return self.values[name] if name in self.values else self.peers.built_in.get(name, UNKNOWN)
            case Attribute(of, field):
                return self._attribute(expression, of, field)
            case Item(of, index):
                return self._item(expression, of, index)
            case Call():
                return self._call(expression)
            case Sequence(items):
                return bounded(TupleType(tuple(self.of(item) for item in items)))
            case Mapped(pairs):
                return bounded(ObjectType(tuple(Key(name, self.of(item)) for name, item in pairs)))
            case Unary("not", operand):
                self.of(operand)
                return BOOLEAN
            case Unary(_, operand):
                return self._calculated(expression, "-", Constant(0, expression.place), operand)
            case Conditional(condition, yes, no):
                return self._either(condition, yes, no)
            case Comprehension():
                return self._made(expression)
            case Binary("and" | "or" as word, left, right):
                return self._both(word, left, right)
            case Binary("+", left, right):
                return self._sum(expression, left, right)
            case Binary("-" | "*" as operator, left, right):
                return self._calculated(expression, operator, left, right)
            case Binary(operator, left, right) if operator in _ORDERED:
                self._ordered(expression, left, right)
                return BOOLEAN
            case Binary("==" | "!=" | "in", left, right):
                self.of(left)
                self.of(right)
                return BOOLEAN
            case Binary("..", left, right):
                return self._stretch(expression, left, right)
            case Binary(operator, left, right):
                one = self.of(left)
                self.of(right)
                many = self._parts(one) if operator == "except" else ()
                return ListType(as_list(many[0]).item, 0, as_list(many[0]).high) if is_one_list(many) else UNKNOWN

    def _parts(self, holds: Type) -> tuple[Type, ...]:
        return members(holds, self.types)

    def _both(self, word: str, left: Expression, right: Expression) -> Type:
        self.of(left)
        after = narrowed(self.values, left, self.types, holds=word == "and")
        if after is not None:  # else the right side is never asked for
            self._for(after).of(right)
        return BOOLEAN

    def _either(self, condition: Expression, yes: Expression, no: Expression) -> Type:
        self.of(condition)
        found = []
        for holds, chosen in ((True, yes), (False, no)):
            after = narrowed(self.values, condition, self.types, holds=holds)
            if after is not None:  # else that value is never asked for
                found.append(self._for(after).of(chosen))
        return UNKNOWN if UNKNOWN in found else union(part for one in found for part in self._parts(one))

    def _for(self, values: Values) -> Evaluation:
        return Evaluation(self.peers, values, self.live, self.partners, self.sent, self.lacks)

    def _made(self, whole: Comprehension) -> Type:
        """Return the lists that are made of others, item by item."""
        parts = self._parts(self.of(whole.over))
        many = as_list(parts[0]) if is_one_list(parts) else ListType(UNKNOWN, 0, None)
        inside = {**self.values, whole.item: many.item}
        kept: Values | None = inside
        if whole.condition is not None:
            self._for(inside).of(whole.condition)
            kept = narrowed(inside, whole.condition, self.types, holds=True)
        if kept is None or many.high == 0:  # no item is ever kept
            return TupleType(())
        return bounded(ListType(self._for(kept).of(whole.value), 0 if whole.condition else many.low, many.high))

    def _stretch(self, whole: Expression, left: Expression, right: Expression) -> Type:
        """Return the lists of all whole numbers from one to another."""
        sides = [self._parts(self.of(side)) for side in (left, right)]
        for side, parts in zip((left, right), sides, strict=True):
            self._whole(whole, side, parts, "a range goes from a whole number to another")
        low, high = (
            INTEGERS if parts == (Scalar("int"),) else parts[0] if len(parts) == 1 else None for parts in sides
        )
        if not isinstance(low, Interval) or not isinstance(high, Interval):
            return UNKNOWN
        count = max(0, high.high - low.low + 1)
        if count > LENGTHS.high:
            far = Interval(low.low + LENGTHS.high, high.high)
            self._tell(whole, right, far, f"a list has at most {LENGTHS.high} numbers", part=far)
        return ListType(Interval(low.low, max(low.low, high.high)), max(0, high.low - low.high + 1), count)

    # -- parts of values ---------------------------------------------------------------------------------------------

    def _attribute(self, whole: Expression, of: Expression, field: str) -> Type:
        if isinstance(of, Name) and of.name == "my":
            return UNKNOWN
        if isinstance(of, Name) and f"{of.name}.{field}" in self.values:
            return self.values[f"{of.name}.{field}"]
        found = []
        for part in self._parts(self.of(of)):
            key = field_of(part, field) if isinstance(part, ObjectType) else None
            if part == PEER:
                given = self.peers.field_of_peer(field)
                if given == NOTHING:
                    self._tell(whole, of, PEER, f"no sign-up gives a peer the field {field!r}", part=PEER, always=True)
                found.append(given)
            elif key is not None and not key.optional:
                found.append(key.type)
            else:
                return UNKNOWN
        return union(part for one in found for part in self._parts(one))

    def _item(self, whole: Item, of: Expression, index: Expression) -> Type:
        numbers = self._parts(self.of(index))
        self._whole(whole, index, numbers, "elements are counted with whole numbers")
        at = numbers[0] if len(numbers) == 1 else UNKNOWN
        at = INTEGERS if at == Scalar("int") else at
        parts = self._parts(self.of(of))
        if isinstance(of, Call) and self._may_be_short(of, at):
            why = f"it may have no element {at.low if isinstance(at, Interval) else 0}"
            self._tell(whole, of, TupleType(()), why, part=TupleType(()))
        if not parts or not all(is_list(part) for part in parts):
            return self._under_key(parts, index)
        if isinstance(at, Interval) and self._is_sent(of, index):
            # Of a list made up by the spec itself, its length may hang together with more than is known here.
            least = min(as_list(part).low for part in parts)
            most = (
                None if any(as_list(part).high is None for part in parts) else max(as_list(p).high or 0 for p in parts)
            )
            if at.low < 0:
                self._tell(whole, index, at, "a list begins with its element 0", part=Interval(at.low, -1))
            elif at.high >= least:
                few = ListType(as_list(parts[0]).item, least, least)
                self._tell(
                    whole,
                    of,
                    few,
                    f"it may have no element {min(max(at.low, least), at.high)}",
                    part=few,
                    always=most is not None and at.low >= most,
                )
        return union(as_list(part).item for part in parts)

    def _under_key(self, parts: tuple[Type, ...], index: Expression) -> Type:
        """Return what stands in mappings under a key."""
        if isinstance(index, Constant) and isinstance(index.value, str):
            keys = [field_of(part, index.value) for part in parts if isinstance(part, ObjectType)]
            if parts and len(keys) == len(parts) and all(key is not None and not key.optional for key in keys):
                return union(key.type for key in keys if key is not None)
        if parts and all(isinstance(part, MapOf) for part in parts):
            return union(part.value for part in parts if isinstance(part, MapOf))
        return UNKNOWN

    def _is_sent(self, of: Expression, index: Expression) -> bool:
        """Whether peers say how long a list is, or, of one that is written out, which element is meant."""
        if isinstance(of, Sequence):
            return all(name.name in self.sent for name in names(index))
        return isinstance(of, Name) and of.name in self.sent

    def _may_be_short(self, of: Call, at: Type) -> bool:
        """Whether a list made of what a peer has sent may lack an element, as no condition has asked about it."""
        given = [name.name for argument in of.arguments or () for name in names(argument) if name.name in self.sent]
        if any(self.values.get(name, UNKNOWN) == UNKNOWN for name in given) or not given:
            return False
        return of.path == "where" or (of.path == "split" and isinstance(at, Interval) and at.low > 0)

    def _tell(
        self, whole: Expression, culprit: Expression, holds: Type, why: str, *, part: Type, always: bool = False
    ) -> None:
        self.lacks(Partial(whole, culprit, part, why, always))

    # -- operators ---------------------------------------------------------------------------------------------------

    def _calculated(self, whole: Expression, operator: str, left: Expression, right: Expression) -> Type:
        sets = [self._parts(self.of(side)) for side in (left, right)]
        for side, parts in zip((left, right), sets, strict=True):
            self._takes(whole, side, parts, frozenset({"number"}), f"'{operator}' takes two numbers")
        return self._numbers(operator, sets)

    def _numbers(self, operator: str, sets: Listed[tuple[Type, ...]]) -> Type:
        numbers = [[part for part in parts if kind(part) == "number"] for parts in sets]
        if any(is_fractional(part) for parts in numbers for part in parts):
            return NUMBER  # whatever is known of the other: it is a number, or there is none
        if any(UNKNOWN in parts for parts in sets) or not all(numbers):
            return UNKNOWN
        if any(part == MEASURE for parts in numbers for part in parts):
            return MEASURE
        if all(isinstance(part, Interval) for parts in numbers for part in parts):
            a, b = (parts[0] for parts in numbers)
            if len(numbers[0]) == len(numbers[1]) == 1 and isinstance(a, Interval) and isinstance(b, Interval):
                return arithmetic(operator, a, b)
            return INTEGERS
        return NUMBER

    def _sum(self, whole: Expression, left: Expression, right: Expression) -> Type:
        ours, theirs = self._parts(self.of(left)), self._parts(self.of(right))
        if any(kind(part) in ("", "peer") for part in (*ours, *theirs)) or not ours or not theirs:
            return NUMBER if _fractions(ours) or _fractions(theirs) else UNKNOWN
        shared = {kind(part) for part in ours} & {kind(part) for part in theirs} & {"number", "text", "list"}
        if len(shared) == 1:
            (word,) = shared
            for side, parts in ((left, ours), (right, theirs)):
                self._takes(whole, side, parts, frozenset({word}), "'+' takes two numbers, two texts or two lists")
        elif not shared:
            self._tell(whole, right, theirs[0], f"can not be added to {kind(ours[0])}", part=theirs[0], always=True)
        if shared == {"number"}:
            return self._numbers("+", (ours, theirs))
        if shared == {"text"} and len(ours) == len(theirs) == 1:
            return concatenated(ours[0], theirs[0])
        if shared == {"list"} and len(ours) == len(theirs) == 1:
            return self._chained(as_list(ours[0]), as_list(theirs[0]))
        return UNKNOWN

    def _chained(self, a: ListType, b: ListType) -> Type:
        item = a.item if b.high == 0 else b.item if a.high == 0 else joined(a.item, b.item, self.types)
        high = None if a.high is None or b.high is None else a.high + b.high
        return bounded(ListType(item, a.low + b.low, high))

    def _ordered(self, whole: Expression, left: Expression, right: Expression) -> None:
        ours, theirs = self._parts(self.of(left)), self._parts(self.of(right))
        kinds = [{kind(part) for part in parts} for parts in (ours, theirs)]
        if any("" in found or not found for found in kinds):
            return
        shared = kinds[0] & kinds[1] & {"number", "text"}
        if len(shared) == 1:
            for side, parts in ((left, ours), (right, theirs)):
                self._takes(whole, side, parts, frozenset(shared), "two numbers, or two texts, have an order")

    def _whole(self, whole: Expression, side: Expression, parts: tuple[Type, ...], why: str) -> None:
        """Tell of a number that may not be whole where only whole ones have a meaning."""
        part = next(filter(is_fractional, parts), None)
        if part is not None:
            self._tell(whole, side, part, why, part=part)

    def _takes(
        self, whole: Expression, side: Expression, parts: tuple[Type, ...], taken: frozenset[str], why: str
    ) -> None:
        """Tell of what an operation is given and does not take, if all that may be given is known."""
        kinds = [kind(part) for part in parts]
        if "" in kinds or not parts:
            return
        for part, word in zip(parts, kinds, strict=True):
            if word not in taken:
                self._tell(whole, side, part, why, part=part, always=taken.isdisjoint(kinds))
                return

    # -- functions ---------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> Type:
        given = [self.of(argument) for argument in call.arguments or ()]
        for argument, holds, taken in zip(call.arguments or (), given, ARGUMENTS.get(call.path, ()), strict=False):
            if taken:
                self._takes(call, argument, self._parts(holds), taken, f"'{call.path}' takes {said(taken)}")
        if call.path in ELEMENTS and given:
            self._elements(call, given[0], ELEMENTS[call.path])
        if call.path in ("head", "tail") and len(given) == 2:
            self._whole(call, (call.arguments or ())[1], self._parts(given[1]), f"'{call.path}' takes a whole number")
        if call.path in ("head", "tail") and len(given) == 2 and isinstance(given[1], Interval) and given[1].low < 0:
            negative = Interval(-1, -1)
            self._tell(
                call, (call.arguments or ())[1], negative, f"'{call.path}' takes a number from 0 on", part=negative
            )
        return returned(call.path, given, self.types)

    def _elements(self, call: Call, holds: Type, taken: frozenset[str]) -> None:
        """Tell of a list whose elements may be of a kind that a function does not take."""
        parts = self._parts(holds)
        if not is_one_list(parts):
            return
        many = as_list(parts[0])
        kinds = {kind(part) for part in self._parts(many.item)}
        if many.high != 0 and kinds and "" not in kinds and (not kinds <= taken or len(kinds) > 1):
            assert call.arguments is not None, "a list was given"
            why = f"each element '{call.path}' is given must be {said(taken)}{', all alike' if len(taken) > 1 else ''}"
            self._tell(call, call.arguments[0], many, why, part=ListType(many.item, max(1, many.low), many.high))


def _fractions(parts: tuple[Type, ...]) -> bool:
    """Whether a set has numbers only, and fractions among them."""
    return all(kind(part) == "number" for part in parts) and any(map(is_fractional, parts))
