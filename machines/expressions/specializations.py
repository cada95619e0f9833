"""The closures that ``compile`` puts together: short cuts for the common kinds, the general operation for the rest.

Each function takes compiled parts and returns one closure over the slots of a frame. ``general`` is the operation of
``operations`` that says what it means; a short cut may only be taken where it gives the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

from machines.expressions.operations import DIRECT, INTEGER_MAX, INTEGER_MIN, UNMISTAKABLE, typed_equal
from machines.flat_records import FlatRecord
from machines.values import Peer, Range, Record
from machines.work import SHORT

Evaluator = Callable[[list[Any]], Any]
Guard = Callable[[list[Any]], bool]


class _Unknown:
    """Marks a part whose value is not known when compiling."""


_UNKNOWN = _Unknown()


@dataclass(frozen=True, slots=True)
class Part:
    """A compiled part, and what is known of it: that it only reads a slot, or its value."""

    run: Evaluator
    slot: int | None = None
    constant: Any = _UNKNOWN

    @property
    def known(self) -> bool:
        """Whether the value is known when compiling."""
        return self.constant is not _UNKNOWN


def constant(value: Any) -> Part:
    """Return the part that is always ``value``."""
    return Part(lambda slots: value, None, value)


# -- calls and collections -------------------------------------------------------------------------------------------


def call(f: Callable[..., Any], given: list[Part]) -> Evaluator:
    """Return the call of ``f`` with the parts as arguments."""
    slots = [part.slot for part in given if part.slot is not None]
    if len(slots) == len(given):
        return _call_of_slots(f, slots)
    match [part.run for part in given]:
        case [a]:
            return lambda s: f(a(s))
        case [a, b]:
            return lambda s: f(a(s), b(s))
        case [a, b, c]:
            return lambda s: f(a(s), b(s), c(s))
        case [a, b, c, d]:
            return lambda s: f(a(s), b(s), c(s), d(s))
        case [a, b, c, d, e]:
            return lambda s: f(a(s), b(s), c(s), d(s), e(s))
        case [a, b, c, d, e, g]:
            return lambda s: f(a(s), b(s), c(s), d(s), e(s), g(s))
        case runs:
            return lambda s: f(*[run(s) for run in runs])


def _call_of_slots(f: Callable[..., Any], slots: list[int]) -> Evaluator:
    match slots:
        case []:
            return lambda s: f()
        case [a]:
            return lambda s: f(s[a])
        case [a, b]:
            return lambda s: f(s[a], s[b])
        case [a, b, c]:
            return lambda s: f(s[a], s[b], s[c])
        case [a, b, c, d]:
            return lambda s: f(s[a], s[b], s[c], s[d])
        case [a, b, c, d, e]:
            return lambda s: f(s[a], s[b], s[c], s[d], s[e])
        case [a, b, c, d, e, g]:
            return lambda s: f(s[a], s[b], s[c], s[d], s[e], s[g])
        case _:
            read = itemgetter(*slots)
            return lambda s: f(*read(s))


def call_with_slots(f: Callable[..., Any], given: list[Part]) -> Evaluator:
    """Return the call of ``f`` with the slots and then the parts as arguments."""
    match [part.run for part in given]:
        case []:
            return lambda s: f(s)
        case [a]:
            return lambda s: f(s, a(s))
        case runs:
            return lambda s: f(s, *[run(s) for run in runs])


def sequence(given: list[Part]) -> Evaluator:
    """Return the tuple of the parts."""
    slots = [part.slot for part in given if part.slot is not None]
    if len(slots) == len(given) > 1:
        return itemgetter(*slots)  # of several items it returns a tuple
    match [part.run for part in given]:
        case [a]:
            return lambda s: (a(s),)
        case [a, b]:
            return lambda s: (a(s), b(s))
        case [a, b, c]:
            return lambda s: (a(s), b(s), c(s))
        case [a, b, c, d]:
            return lambda s: (a(s), b(s), c(s), d(s))
        case [a, b, c, d, e]:
            return lambda s: (a(s), b(s), c(s), d(s), e(s))
        case runs:
            return lambda s: tuple([run(s) for run in runs])


def mapped(keys: list[str], given: list[Part]) -> Evaluator:
    """Return the Record of the parts under their keys."""
    runs = [part.run for part in given]
    return lambda s: Record(zip(keys, [run(s) for run in runs], strict=True))


# -- fields and elements ---------------------------------------------------------------------------------------------


def field(owner: Part, name: str, general: Callable[..., Any]) -> Evaluator:
    """Return ``owner.name``."""
    if owner.slot is not None:
        slot = owner.slot
        read = attrgetter(name)
        known: type | None = None  # the dataclass of rules that was met last, if the name is one of its fields

        def field_of_slot(slots: list[Any]) -> Any:
            nonlocal known
            value = slots[slot]
            kind = type(value)
            if kind is known:
                return read(value)
            try:
                if kind is Peer:
                    return value.fields[name]
                if kind is Record or kind is FlatRecord:
                    return value[name]
            except KeyError:
                pass  # said by the general operation, which knows what there is instead
            found = general(value, name)
            if name in getattr(kind, "__dataclass_fields__", ()) and kind is not Peer:
                known = kind
            return found

        return field_of_slot
    of = owner.run

    def field_of_value(slots: list[Any]) -> Any:
        value = of(slots)
        if type(value) is Peer and name in value.fields:
            return value.fields[name]
        return general(value, name)

    return field_of_value


def item(owner: Part, index: Part, general: Callable[..., Any]) -> Evaluator:
    """Return ``owner[index]``."""
    if owner.slot is not None and type(index.constant) is int and index.constant >= 0:
        slot, number = owner.slot, index.constant

        def element_of_slot(slots: list[Any]) -> Any:
            value = slots[slot]
            if type(value) is tuple and number < len(value):
                return value[number]
            return general(value, number)

        return element_of_slot
    of, which = owner.run, index.run
    return lambda slots: general(of(slots), which(slots))


# -- operators -------------------------------------------------------------------------------------------------------


def choice(condition: Guard, yes: Evaluator, no: Evaluator) -> Evaluator:
    """Return what gives one value or the other; only that one is worked out."""
    return lambda slots: yes(slots) if condition(slots) else no(slots)


def negation(guard: Guard) -> Evaluator:
    """Return ``not``."""
    return lambda slots: not guard(slots)


def negative(run: Evaluator, general: Callable[..., Any]) -> Evaluator:
    """Return the minus of one value."""
    return lambda slots: general(run(slots))


def all_of(guards: list[Guard]) -> Evaluator:
    """Return ``and`` of two or more guards, which are asked in order until one says no."""
    match guards:
        case [a, b]:
            return lambda s: a(s) and b(s)
        case [a, b, c]:
            return lambda s: a(s) and b(s) and c(s)
        case _:
            return lambda s: all(guard(s) for guard in guards)


def any_of(guards: list[Guard]) -> Evaluator:
    """Return ``or`` of two or more guards, which are asked in order until one says yes."""
    match guards:
        case [a, b]:
            return lambda s: a(s) or b(s)
        case [a, b, c]:
            return lambda s: a(s) or b(s) or c(s)
        case _:
            return lambda s: any(guard(s) for guard in guards)


def equality(left: Part, right: Part, wanted: bool) -> Evaluator:
    """Return ``==`` (``wanted`` true) or ``!=``."""
    if left.known:
        left, right = right, left
    if right.constant is None or type(right.constant) is bool:
        run, singleton = left.run, right.constant
        if wanted:
            return lambda slots: run(slots) is singleton
        return lambda slots: run(slots) is not singleton
    if type(right.constant) in (int, str):
        run, value, kind = left.run, right.constant, type(right.constant)

        def equal_constant(slots: list[Any]) -> bool:
            a = run(slots)
            return (a == value if type(a) is kind else typed_equal(a, value)) is wanted

        return equal_constant
    if left.slot is not None and right.slot is not None:
        i, j = left.slot, right.slot

        def equal_slots(slots: list[Any]) -> bool:
            a, b = slots[i], slots[j]
            kind = type(a)
            if kind is type(b):
                if kind is Peer:
                    return (a.number == b.number) is wanted
                if kind in DIRECT:
                    return (a == b) is wanted
            return typed_equal(a, b) is wanted

        return equal_slots
    first, second = left.run, right.run

    def equal(slots: list[Any]) -> bool:
        a, b = first(slots), second(slots)
        kind = type(a)
        if kind is type(b) and kind in DIRECT:
            return (a == b) is wanted
        return typed_equal(a, b) is wanted

    return equal


def membership(left: Part, right: Part, general: Callable[[Any, Any], bool]) -> Evaluator:
    """Return ``in``."""
    first, second = left.run, right.run

    def member(slots: list[Any]) -> bool:
        a, b = first(slots), second(slots)
        if type(b) is tuple and len(b) <= SHORT and type(a) in UNMISTAKABLE:
            return a in b
        if type(b) is Range and type(a) is int:
            return b.low <= a <= b.high
        return general(a, b)

    return member


def ordering(
    compare: Callable[[Any, Any], Any], left: Part, right: Part, general: Callable[[Any, Any], bool]
) -> Evaluator:
    """Return ``<``, ``<=``, ``>`` or ``>=``: ``compare`` for two ints."""
    if left.slot is not None and type(right.constant) is int:
        slot, bound = left.slot, right.constant

        def ordered_slot(slots: list[Any]) -> Any:
            a = slots[slot]
            return compare(a, bound) if type(a) is int else general(a, bound)

        return ordered_slot
    if left.slot is not None and right.slot is not None:
        i, j = left.slot, right.slot

        def ordered_slots(slots: list[Any]) -> Any:
            a, b = slots[i], slots[j]
            return compare(a, b) if type(a) is int and type(b) is int else general(a, b)

        return ordered_slots
    first, second = left.run, right.run

    def ordered(slots: list[Any]) -> Any:
        a, b = first(slots), second(slots)
        return compare(a, b) if type(a) is int and type(b) is int else general(a, b)

    return ordered


def calculation(
    calculate: Callable[[Any, Any], Any], left: Part, right: Part, general: Callable[[Any, Any], Any]
) -> Evaluator:
    """Return ``+``, ``-`` or ``*``: ``calculate`` for two ints whose result fits."""
    first, second = left.run, right.run

    def calculated(slots: list[Any]) -> Any:
        a, b = first(slots), second(slots)
        if type(a) is int and type(b) is int:
            result = calculate(a, b)
            if INTEGER_MIN <= result <= INTEGER_MAX:
                return result
        return general(a, b)

    return calculated
