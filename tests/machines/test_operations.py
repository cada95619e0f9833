"""Operators over all kinds of values: the short cuts of compiled expressions agree with the slow twin."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.expressions.compiler import EvaluationError, Evaluator, compile, typed_equal  # noqa: A004 (as in re.compile)
from machines.expressions.operations import INTEGER_MAX, INTEGER_MIN, contains
from machines.model import Binary, Call, Constant, Expression, Name, Unary
from machines.problems import Place
from machines.values import Peer, Range, Record

HERE = Place("spec.yaml", 7, 11)


def exactly(value: Any) -> Any:
    """The value with its kinds, for Python takes 1, 1.0 and true for equal."""
    if isinstance(value, tuple):
        return (type(value).__name__, *map(exactly, value))
    if isinstance(value, Mapping):
        return (type(value).__name__, {key: exactly(item) for key, item in value.items()})
    return (type(value).__name__, value)


numbers = st.one_of(
    st.integers(-5, 5), st.sampled_from([INTEGER_MAX, INTEGER_MIN, 1 << 32, -(1 << 31)]), st.integers(-(10**6), 10**6)
)
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class BeyondError(Exception):
    """The plain calculation left 64 bits."""


def python(calculation: Expression, slots: list[int]) -> Any:
    """The slow twin: Python's own operators over the tree."""
    match calculation:
        case Constant(value):
            return value
        case Name(name):
            return slots[int(name[1:])]
        case Unary("-", operand):
            result = -python(operand, slots)
        case Binary(sign, left, right):
            result = OPERATORS[sign](python(left, slots), python(right, slots))
        case _:
            raise AssertionError("only these are generated")
    if not INTEGER_MIN <= result <= INTEGER_MAX:
        raise BeyondError
    return result


leaves = st.one_of(
    st.builds(Constant, numbers, st.just(HERE)), st.builds(Name, st.sampled_from(["n0", "n1", "n2"]), st.just(HERE))
)
calculations = st.recursive(
    leaves,
    lambda children: st.one_of(
        st.builds(Unary, st.just("-"), children, st.just(HERE)),
        st.builds(Binary, st.sampled_from("+-*"), children, children, st.just(HERE)),
    ),
    max_leaves=8,
)


class Numbered:
    """A scope of three slots, read in place or by closures."""

    def __init__(self, in_place: bool) -> None:
        self.in_place = in_place

    def name(self, name: Name) -> Evaluator:
        read = itemgetter(int(name.name[1:]))
        return read if self.in_place else lambda slots: read(slots)

    def call(self, call: Call) -> tuple[Callable[..., Any], bool]:
        raise AssertionError("no calls are generated")


@given(
    st.one_of(
        calculations,
        st.builds(Binary, st.sampled_from(sorted(OPERATORS)), calculations, calculations, st.just(HERE)),
    ),
    st.lists(numbers, min_size=3, max_size=3),
    st.booleans(),
)
def test_whole_numbers_are_calculated_and_compared_as_python_does_within_64_bits(
    calculation: Expression, slots: list[int], in_place: bool
) -> None:
    run = compile(calculation, Numbered(in_place))

    try:
        expected = python(calculation, slots)
    except BeyondError:
        with pytest.raises(EvaluationError, match="64 bits"):
            run(slots)
    else:
        assert exactly(run(slots)) == exactly(expected)


atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2),
    st.sampled_from([0.0, 1.0, 0.5, -0.0]),
    st.sampled_from(["", "a", "1"]),
    st.builds(Peer, st.integers(0, 1), st.sampled_from([Record(), Record(name="a")])),
    st.builds(Range, st.integers(0, 1), st.integers(0, 1)),
)
values = st.recursive(
    atoms,
    lambda children: st.one_of(
        st.lists(children, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("ab"), children, max_size=2).map(Record),
    ),
    max_leaves=6,
)


def apart(value: Any) -> Any:
    """A form in which Python's == tells apart what is different here: booleans, lists, mappings and peers tagged."""
    if isinstance(value, bool):
        return ("boolean", str(value))
    if isinstance(value, tuple):
        return ("list", *map(apart, value))
    if isinstance(value, Record):
        return ("mapping", {key: apart(item) for key, item in value.items()})
    if isinstance(value, Peer):
        return ("peer", value.number)
    return value


@given(values, values)
def test_equality_is_that_of_values_tagged_with_their_kinds(left: Any, right: Any) -> None:
    assert typed_equal(left, right) is (apart(left) == apart(right))
    assert typed_equal(left, right) is typed_equal(right, left)
    assert typed_equal(left, left) is True


@given(values, st.lists(values, max_size=4), values)
def test_membership_and_short_cuts_agree_with_equality(left: Any, items: list[Any], right: Any) -> None:
    equal = typed_equal(left, right)
    a, b = Name("n0", HERE), Name("n1", HERE)
    sides: list[tuple[Expression, Expression]] = [(a, b), (a, Constant(right, HERE)), (Constant(left, HERE), b)]

    assert contains(left, tuple(items)) is any(typed_equal(left, item) for item in items)
    for in_place in (True, False):
        for first, second in sides:
            assert compile(Binary("==", first, second, HERE), Numbered(in_place))([left, right]) is equal
            assert compile(Binary("!=", first, second, HERE), Numbered(in_place))([left, right]) is not equal


@given(values, values, st.sampled_from(["<", "<=", ">", ">=", "+", "-", "*", "..", "in", "==", "and", "or"]))
def test_an_operator_has_a_value_or_an_evaluation_error_whatever_the_values(left: Any, right: Any, sign: str) -> None:
    a, b = Name("n0", HERE), Name("n1", HERE)
    known = Constant(left, HERE), Constant(right, HERE)
    sides: list[tuple[Expression, Expression]] = [(a, b), (a, known[1]), (known[0], b), known]
    outcomes = []

    for in_place in (True, False):
        for first, second in sides:
            try:
                outcomes.append(exactly(compile(Binary(sign, first, second, HERE), Numbered(in_place))([left, right])))
            except EvaluationError as error:
                outcomes.append(error.what)

    assert outcomes == [outcomes[0]] * len(outcomes)
