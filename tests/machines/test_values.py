"""Values that names are bound to: what is made immutable, what is refused, and what a crafted one may cost."""

from __future__ import annotations

import time
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum
from math import inf, nan
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.expressions.operations import typed_equal
from machines.values import DEPTH_MAX, PLAIN_MAX, FreezeError, Peer, Range, Record, freeze, plain

Loose = namedtuple("Loose", "items")


class Pair(NamedTuple):
    left: Any
    right: Any


class Way(Enum):
    NORTH = "north"


@dataclass(frozen=True)
class Bag:
    items: Any


@dataclass(frozen=True, slots=True)
class Told:
    """All that it holds is immutable, as its annotations say."""

    number: int
    names: tuple[tuple[str, ...], ...] = ()
    way: Way | None = None
    bags: frozenset[int] = field(default=frozenset())


@dataclass(frozen=True, slots=True)
class Holder:
    told: Told
    bag: Bag
    player: Any = None


_LISTS: list[Any] = [[], []]


def nested(depth: int) -> Any:
    value: Any = ()
    for _ in range(depth):
        value = (value,)
    return value


def doubled(levels: int, kind: type = tuple) -> Any:
    value: Any = kind()
    for _ in range(levels):
        value = kind((value, value))
    return value


@pytest.mark.parametrize(
    ("value", "frozen"),
    [
        ([1, [2, {"a": [3]}]], (1, (2, Record(a=(3,))))),
        ({"a": {"b": []}}, Record(a=Record(b=()))),
        (Record(a=[1]), Record(a=(1,))),
        (("a", [1]), ("a", (1,))),
    ],
)
def test_lists_and_mappings_are_made_immutable_at_every_depth(value: Any, frozen: Any) -> None:
    assert freeze(value) == frozen
    assert type(freeze(value)) is type(frozen)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 1, -(1 << 63), (1 << 63) - 1, 1.5, inf, "é", "\U0001f600", Way.NORTH, Peer(3), Range(1, 5),
        (1, (2, "a")), Record(a=(1,)), Pair(1, (2,)), Bag(None), Bag((1, Bag(Way.NORTH))), Told(1, (("a",),)),
        Told(1, bags=frozenset({1})), Holder(Told(1), Bag(()), Peer(1)), Bag(frozenset({1, 2})),
    ],
)  # fmt: skip
def test_what_is_immutable_is_handed_on_as_it_is_the_first_and_the_second_time(value: Any) -> None:
    assert freeze(value) is value
    assert freeze(value) is value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (1 << 63, "64 bits"), (-(1 << 63) - 1, "64 bits"), (nan, "no number"), (-inf, "no number"),
        ("a\ud800", "surrogate"), ({1, 2}, "set"), (frozenset({1}), "set"), (object(), "can change"),
        (bytearray(b"a"), "can change"), ({1: 2}, "keys"), ({"\udc00": 1}, "surrogate"),
        (Bag([1]), "Bag holds what can change"), (Bag({"a": 1}), "Bag holds what can change"),
        (Bag((1, [2])), "Bag holds what can change"), (Bag(Bag([])), "Bag holds what can change"),
        (Bag({1}), "set"), (Bag(object()), "can change"), (Bag(1 << 64), "64 bits"), (Bag((nan,)), "no number"),
        (Pair([], 1), "Pair holds what can change"), (Loose({}), "Loose holds what can change"),
        (Loose(Bag(("\udfff",))), "surrogate"), (Told(*_LISTS), "Told holds what can change"),
        (Told(1, _LISTS[0]), "Told holds what can change"), (Holder(Told(1), Bag(()), [1]), "Holder holds"),
        (Holder(Told(1), Bag([1])), "Bag holds"), (nested(DEPTH_MAX + 1), "deeper"),
    ],
)  # fmt: skip
def test_what_can_change_or_is_no_value_is_refused_wherever_it_stands(value: Any, why: str) -> None:
    for _ in range(2):
        for around in (value, (value,), [value], {"a": value}, Bag((value,))):
            with pytest.raises(FreezeError, match=why):
                freeze(around)


@pytest.mark.parametrize("worse", [[], {1}, (1, []), Bag([]), 1 << 64, "\ud800", nan])
def test_one_that_can_change_among_many_of_its_class_is_found(worse: Any) -> None:
    seats = (Bag(None), Bag(Peer(0)), Bag(Peer(1)))
    table = Holder(Told(1), Bag(seats), seats)

    assert freeze(table) is table
    with pytest.raises(FreezeError):
        freeze(Holder(Told(1), Bag(()), (*seats, Bag(worse))))
    with pytest.raises(FreezeError):
        freeze(Bag((Bag(worse), *seats)))


def test_depth_is_counted_from_the_outside_also_through_what_was_seen_before() -> None:
    inner = nested(DEPTH_MAX - 1)

    assert freeze((inner,)) == (inner,)
    with pytest.raises(FreezeError, match="deeper"):
        freeze(((inner,),))
    with pytest.raises(FreezeError, match="deeper"):
        freeze([[inner]])


@pytest.mark.xdist_group("time")
@pytest.mark.parametrize("kind", [tuple, list])
def test_a_list_of_twice_the_same_list_is_small_however_often(kind: type) -> None:
    started = time.thread_time()
    left, right = freeze(doubled(60, kind)), freeze(doubled(60, kind))

    assert typed_equal(left, right)
    assert not typed_equal((left, 1), (right, True))
    assert plain(doubled(60))
    assert time.thread_time() - started < 10, "2 to the 60th would take for ever"


@given(st.integers(PLAIN_MAX, 3 * PLAIN_MAX))
def test_a_long_list_is_told_up_to_a_bound(length: int) -> None:
    told = plain((0,) * length)

    assert len(told) <= PLAIN_MAX + 1
    assert told[-1] == "…"


def test_a_list_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.extend((value, value))

    with pytest.raises(FreezeError, match="deeper"):
        freeze(value)
