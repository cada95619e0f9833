"""What the operators of expressions mean, value by value; ``evaluation`` has short cuts for the common cases.

    ==  !=         typed: a boolean never equals a number, 1 equals 1.0, null equals only null; lists and mappings deep
    <  <=  >  >=   two numbers or two texts
    +              two numbers, two texts, two lists
    -  *           two numbers
    ..             two whole numbers
    in             an element of a list, a number of a range, a key of a mapping, a text in a text
    a.b  a[b]      a field of a peer, a mapping or a rule's value; an element from 0, a mapping's value

There is no truthiness and nothing is converted. Integers have 64 bits. A whole number may also be written 1.0, as
JSON Schema has it; true is not a number. A list is a tuple, or a Python list that a rule has just returned and that
no name holds yet.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from enum import Enum
from math import isfinite, isinf
from typing import Any

from machines.problems import near
from machines.values import Peer, Range, Rate, Record
from machines.work import CHARACTERS, SHORT, spend

INTEGER_MAX = (1 << 63) - 1
INTEGER_MIN = -(1 << 63)
LENGTH_MAX = 1_000_000  # of a text or list made by `+`: far over any message, far under what memory holds.

# Kinds of which two values are equal exactly if Python says so.
DIRECT: frozenset[type] = frozenset({str, int, float, bool, type(None)})
# Kinds that no value of another kind is mistaken for by Python's ==, so that its `in` may be believed.
UNMISTAKABLE: frozenset[type] = frozenset({str, type(None), Peer})
_LISTS = (tuple, list)  # Tuples of classes, since int | float would be put together anew at each use.
_NUMBERS = (int, float)
_MEASURED = (tuple, list, str, Mapping)


class OperandError(Exception):
    """An operation has no meaning for these values, or its result is out of bounds; the text says which."""


# -- equality and membership -----------------------------------------------------------------------------------------


def typed_equal(left: Any, right: Any) -> bool:
    """Return whether two values are equal: booleans equal only booleans, 1 equals 1.0, lists and mappings deep.

    Peers are equal by number, other values (what rules return) by their own ``==``.

    >>> typed_equal(True, 1), typed_equal((1, (2,)), (1.0, (2,))), typed_equal((True,), (1,))
    (False, True, False)
    """
    return _equal(left, right, {})


def _equal(left: Any, right: Any, found: dict[tuple[int, int], tuple[Any, Any]]) -> bool:
    """Compare; ``found`` has the pairs of lists found equal, so that what stands in many places is compared once."""
    kind = type(left)
    if kind is type(right) and kind in DIRECT:
        same: bool = left == right
        return same
    if left is right:
        return True
    if kind is bool or type(right) is bool:
        return False
    lists = isinstance(left, _LISTS)
    if not lists and not isinstance(left, Mapping):
        return bool(left == right)
    if not isinstance(right, _LISTS if lists else Mapping) or len(left) != len(right):
        return False
    pair = id(left), id(right)
    if pair in found:
        return True
    spend(len(left))
    if lists:
        equal = all(_equal(item, other, found) for item, other in zip(left, right, strict=True))
    else:
        equal = all(key in right and _equal(item, right[key], found) for key, item in left.items())
    if equal:
        found[pair] = left, right
    return equal


def key_of(value: Any) -> str | None:
    """Return the key that a value is in a mapping: a text itself, a peer the text of its number; None for others."""
    if isinstance(value, str):
        return value
    return str(value.number) if isinstance(value, Peer) else None


def contains(item: Any, container: Any) -> bool:
    """Return whether ``item`` is in a list (by typed_equal), a range, a mapping's keys or, both texts, a text.

    Raises:
        OperandError: the container is none of these, or a text is asked for something that is no text.
    """
    if isinstance(container, _LISTS):
        if len(container) > SHORT:
            spend(len(container))
        if type(item) in UNMISTAKABLE:
            return item in container
        return any(typed_equal(item, other) for other in container)
    if isinstance(container, Range):
        number = whole(item)
        return number is not None and container.low <= number <= container.high
    if isinstance(container, Mapping):
        return key_of(item) in container
    if isinstance(container, str) and isinstance(item, str):
        spend(len(container) // CHARACTERS)
        return item in container
    if isinstance(container, str):
        raise OperandError(f"{kind_of(item)} cannot be in a text")
    raise OperandError(f"nothing can be in {kind_of(container)}")


# -- order and arithmetic --------------------------------------------------------------------------------------------


def ordering(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    """Return ``<``, ``<=``, ``>`` or ``>=`` (one of the module ``operator``) restricted to two numbers or two texts.

    What it returns raises OperandError for any other two values.
    """

    def ordered(left: Any, right: Any) -> bool:
        if (is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str)):
            return bool(compare(left, right))
        raise OperandError(f"{kind_of(left)} cannot be compared with {kind_of(right)}")

    return ordered


def add(left: Any, right: Any) -> Any:
    """Return the sum of two numbers, or two texts or lists one after the other.

    Raises:
        OperandError: other values, or the result is over 64 bits or longer than LENGTH_MAX.
    """
    if is_number(left) and is_number(right):
        return bounded(left + right, left, right)
    if isinstance(left, str) and isinstance(right, str):
        _check_length(len(left) + len(right), "text")
        return left + right
    if isinstance(left, _LISTS) and isinstance(right, _LISTS):
        _check_length(len(left) + len(right), "list")
        return (*left, *right)
    raise OperandError(f"{kind_of(left)} and {kind_of(right)} cannot be added")


def subtract(left: Any, right: Any) -> Any:
    """Return the difference of two numbers; raises OperandError for other values or a result over 64 bits."""
    if is_number(left) and is_number(right):
        return bounded(left - right, left, right)
    raise OperandError(f"{kind_of(right)} cannot be subtracted from {kind_of(left)}")


def multiply(left: Any, right: Any) -> Any:
    """Return the product of two numbers; raises OperandError for other values or a result over 64 bits."""
    if is_number(left) and is_number(right):
        return bounded(left * right, left, right)
    raise OperandError(f"{kind_of(left)} and {kind_of(right)} cannot be multiplied")


def negate(value: Any) -> Any:
    """Return a number with the other sign; raises OperandError for other values and the smallest integer."""
    if is_number(value):
        return bounded(-value, value, value)
    raise OperandError(f"{kind_of(value)} has no sign")


def span(low: Any, high: Any) -> Range:
    """Return the range of the integers from ``low`` to ``high``; raises OperandError if one is no whole number."""
    first, last = whole(low), whole(high)
    if first is None or last is None:
        wrong = low if first is None else high
        raise OperandError(f"a range goes from a whole number to a whole number, not {kind_of(wrong)}")
    return Range(first, last)


def bounded(result: Any, left: Any, right: Any) -> Any:
    """Return the ``result`` of a calculation with ``left`` and ``right`` if a name may hold it.

    Infinity is the duration ``never``, so it may come of infinity, but not of finite numbers.

    Raises:
        OperandError: an integer over 64 bits, an overflow, or no number at all (never - never).
    """
    if isinstance(result, int):
        if INTEGER_MIN <= result <= INTEGER_MAX:
            return result
        raise OperandError("the result does not fit in 64 bits")
    if isfinite(result) or (isinf(result) and (isinf(left) or isinf(right))):
        return result
    raise OperandError("the result is not a number that can be held")


def _check_length(length: int, kind: str) -> None:
    if length > LENGTH_MAX:
        raise OperandError(f"the {kind} would be longer than {LENGTH_MAX}")
    if length > SHORT:
        spend(length if kind == "list" else length // CHARACTERS)


# Kinds seen to be objects of rules, neither peer nor mapping: asking an abstract class each time costs 0.5 us.
_OBJECTS: set[type] = set()

# -- fields and elements ---------------------------------------------------------------------------------------------


def attribute(of: Any, name: str) -> Any:
    """Return a field of a peer, a mapping or an object that a rule returned.

    It is not frozen here: whoever binds it to a name does that, and a value that only passes on to the wire or to a
    guard need not pay for it.

    Raises:
        OperandError: it has no such field, the field is a method, or ``of`` is a kind that has none.
    """
    kind = type(of)
    if kind not in _OBJECTS:
        if isinstance(of, Peer):
            return of.number if name == "number" else _keyed(of.fields, name, "the peer")
        if isinstance(of, Mapping):
            return _keyed(of, name, "the mapping")
        if kind in DIRECT or kind in _LISTS:
            raise OperandError(f"{kind_of(of)} has no field {name!r}")
        _OBJECTS.add(kind)
    if name.startswith("_"):
        raise OperandError(f"{kind_of(of)} has no field {name!r}")
    try:
        value = getattr(of, name)
    except AttributeError:
        raise OperandError(f"{kind_of(of)} has no field {name!r}") from None
    if callable(value):  # a method is a way to state
        raise OperandError(f"{name!r} of {kind_of(of)} is a method, not a field")
    return value


def element(of: Any, index: Any) -> Any:
    """Return the element of a list, counted from 0, or the value of a mapping's key.

    Raises:
        OperandError: there is none, the index is of the wrong kind, or ``of`` is neither list nor mapping.
    """
    if isinstance(of, _LISTS):
        number = whole(index)
        if number is None:
            raise OperandError(f"a list is indexed by a whole number, not by {kind_of(index)}")
        if not 0 <= number < len(of):
            raise OperandError(f"there is no element {number} in a list of {len(of)}; the first is 0")
        return of[number]
    if isinstance(of, Mapping):
        key = key_of(index)
        if key is None:
            raise OperandError(f"a mapping is indexed by a text or a peer, not by {kind_of(index)}")
        return _keyed(of, key, "the mapping")
    raise OperandError(f"{kind_of(of)} has no elements")


def length(value: Any, /) -> int:
    """Return how many elements, keys, characters or numbers a list, mapping, text or range has.

    Raises:
        OperandError: it is none of these.
    """
    if isinstance(value, Range):  # len() would raise for ranges that no memory holds
        return int(bounded(max(0, value.high - value.low + 1), 0, 0))
    if isinstance(value, _MEASURED):
        return len(value)
    raise OperandError(f"{kind_of(value)} has no length")


def _keyed(mapping: Mapping[str, Any], key: str, owner: str) -> Any:
    try:
        return mapping[key]
    except KeyError:
        shown = key if len(key) <= 40 else key[:37] + "..."
        way_out = near(shown, mapping) or f"it has {', '.join(list(mapping)[:12]) or 'nothing'}"
        raise OperandError(f"{owner} has no {shown!r}: {way_out}") from None


# -- kinds -----------------------------------------------------------------------------------------------------------


def is_number(value: Any) -> bool:
    """Return whether a value is a number; true and false are not."""
    return isinstance(value, _NUMBERS) and type(value) is not bool


def whole(value: Any) -> int | None:
    """Return a whole number as an int (1.0 is one, true is not), or None."""
    if isinstance(value, int) and type(value) is not bool:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def kind_of(value: Any) -> str:
    """Return what a person would call the kind of a value: ``a number``, ``a list``."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case Enum():
            return f"a rule's {type(value).__name__}"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Peer():
            return "a peer"
        case Range():
            return "a range"
        case Rate():
            return "a rate"
        case tuple() | list() if type(value) in _LISTS:
            return "a list"
        case Record():
            return "a mapping"
        case _:
            return f"a rule's {type(value).__name__}"


ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": ordering(operator.lt),
    "<=": ordering(operator.le),
    ">": ordering(operator.gt),
    ">=": ordering(operator.ge),
}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": add, "-": subtract, "*": multiply, "..": span}
