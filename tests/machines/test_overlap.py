"""Two messages overlap if a value is both, and an overlap always comes with such a value."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines.messages import overlap as overlapping
from machines.messages.automata import TooLargeError
from machines.messages.shapes import NO_MATCH
from machines.messages.types import compile_type, narrower, overlap
from machines.model import Type
from tests.machines.type_values import TYPES, json_values, message_of, types, values_of, wired

KNOWN = """
Name: {string: "[a-z]+"}
Worker: {string: "[a-z]+[12]"}
Token: {enum: [white, black]}
Dir: {enum: [North, North-East], loose: true}
Small: {int: 0..4}
Large: {int: 5..9}
Two: [int, int]
Some: [int, ...]
Few: [Name, ... 0..2]
Map: {map: [Name, int]}
Tokens: {map: [Token, Small]}
Point: {x: int, y: int}
Maybe: {x: int, y: int = 0}
Placed: [int, Two]
Acted: [int, Dir]
"""


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ("$a int", "$b number", "0"),
        ("$a Small", "$b Large", None),
        ("$a Small", "$b int", "0"),
        ("$a number", "$b Small | null", "0"),
        ("$a number", "$b number", "0.5"),
        ("$a bool", "$b int", None),
        ("$a bool", "true", "true"),
        ("null", "null", "null"),
        ("null", "$a int | null", "null"),
        ("1", "1.0", "1"),
        ("true", "1", None),
        ("'1'", "1", None),
        ("$a Name", "$b Worker", None),
        ("$a Name", "$b Token", '"white"'),
        ("$a Worker", "$b Token", None),
        ("$a Dir", "$b Name", '"north"'),
        ("$a Dir", "NORTH_EAST", '"NORTH_EAST"'),
        ("$a Name", "started", '"started"'),
        ("$a Name", "more cards", None),
        ("$a any", "{x: 1}", '{"x": 1}'),
        ("$a string", "${x int}/${n int}", '"0/0"'),
        ("match ${x int}/${n int}", "game ${x int}/${n int}", None),
        ("${x int}/${n int}", "${a string}/${b bool}", None),
        ("${x int}/${n int}", "${a string}/${b string}", '"0/0"'),
        ("${x Small}.", "${y Large}.", None),
        ("${x string}ab", "${y string}b", '"ab"'),
        ("${x string}ab", "${y string}b!", None),
        ("x${x string}b", "${y string}bb", None),
        ("[a, $x int]", "[b, $x int]", None),
        ("[a, $x int]", "[$y Name, $x Small]", '["a", 0]'),
        ("[$x int]", "$y Two", None),
        ("[$x int, $y int]", "$z Two", "[0, 0]"),
        ("$a Some", "$b Two", "[0, 0]"),
        ("$a Some", "$b Few", "[]"),
        ("$a Few", "$b Few", '["a"]'),
        ("$a Some", "[]", "[]"),
        ("$a Placed", "$b Acted", None),
        ("{type: a, content: $x int}", "{type: b, content: $x int}", None),
        ("{type: a, content: $x int}", "{type: $t Name, content: $x Small}", '{"type": "a", "content": 0}'),
        ("{x: $x int}", "{y: $y int}", None),
        ("{x: $x int, y: $y int = 0}", "{x: $x int}", '{"x": 0}'),
        ("{x: $x int, y: $y int = 0}", "{x: $x int, y: $y string = a}", '{"x": 0}'),
        ("{x: $x int, y: $y int = 0}", "{x: $x int, y: $y string}", None),
        ("{x: $x int = 0}", "{y: $y int = 0}", "{}"),
        ("$a Map", "$b Tokens", "{}"),
        ("$a Map", "{x: $x int}", '{"x": 0}'),
        ("$a Map", "{X: $x int}", None),
        ("$a Map", "{x: $x Name}", None),
        ("$a Map", "{X: $x int = 0, y: $y int}", '{"y": 0}'),
        ("$a Point", "$b Maybe", '{"x": 0, "y": 0}'),
        ("$a Map", "$b Some", None),
    ],
)
def test_an_overlap_is_found_with_a_value_or_there_is_none(a: str, b: str, both: str | None) -> None:
    one, other = message_of(a, KNOWN), message_of(b, KNOWN)

    found, turned = overlap(one, other), overlap(other, one)

    assert (None if found is None else str(found)) == both
    assert (turned is None) == (found is None)
    for common in (found, turned):
        if common is not None:
            assert common.certain
            assert one.read(wired(common.value)) is not None
            assert other.read(wired(common.value)) is not None


def test_any_of_the_bodies_may_overlap() -> None:
    one = message_of("[more cards]", also=("[more_cards, null]",))

    assert overlap(one, message_of("[$a string, $b int | null]")) is not None
    assert overlap(one, message_of("more cards")) is None


def test_a_search_cut_short_is_told_as_an_overlap_that_is_not_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        raise TooLargeError("more than enough")

    monkeypatch.setattr(overlapping, "shared_text", endless)
    found = overlap(message_of("[$a Name, 1]", KNOWN), message_of("[$b Worker, $c int]", KNOWN))

    assert found is not None
    assert not found.certain
    assert overlap(message_of("[$a Name, 1]", KNOWN), message_of("[$b Worker, 2]", KNOWN)) is None
    assert not narrower(message_of("$a Worker", KNOWN), message_of("$a Name | int", KNOWN))


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("$a Small", "$b int"),
        ("$a int", "$b number"),
        ("$a int", "$b any"),
        ("$a Token", "$b Name"),
        ("started", "$b Name"),
        ("true", "$a bool"),
        ("null", "$a int | null"),
        ("$a Dir", "$b string"),
        ("North", "$b Dir"),
        ("$a Small | null", "$b number | null"),
        ("match ${x int} starting", "$a string"),
        ("${x int}/${n int}", "${a string}/${b string}"),
        ("[a, $x int]", "[$y Name, $x int]"),
        ("$a Two", "$b Some"),
        ("[]", "$b Some"),
        ("$a Few", "$b Few | int"),
        ("{type: a, content: $x Small}", "{type: a, content: $x int}"),
        ("{x: $x int}", "{x: $x int, y: $y int = 0}"),
        ("$a Point", "$b Maybe"),
        ("$a Point", "$b Map"),
        ("$a Tokens", "$b Map"),
        ("$a Placed", "$b Placed | Acted"),
    ],
)
def test_what_is_narrower_is_so_in_one_direction_only(narrow: str, wide: str) -> None:
    assert narrower(message_of(narrow, KNOWN), message_of(wide, KNOWN))
    assert not narrower(message_of(wide, KNOWN), message_of(narrow, KNOWN))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("$a int", "$b int"),
        ("$a Name", "$b Worker"),
        ("$a bool", "$b int"),
        ("[$x int, $y int]", "$b Two"),
        ("{x: $x int = 0}", "{x: $x int = 1}"),
        ("$a Small | null", "$b Large | null"),
        ("'1'", "1"),
    ],
)
def test_neither_of_two_equal_or_unlike_messages_is_narrower(a: str, b: str) -> None:
    assert not narrower(message_of(a, KNOWN), message_of(b, KNOWN))
    assert not narrower(message_of(b, KNOWN), message_of(a, KNOWN))


# -- properties ------------------------------------------------------------------------------------------------------

drawn = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@drawn
@given(types, types, st.data())
def test_a_value_that_fits_both_is_never_overlooked(a: Type, b: Type, data: st.DataObject) -> None:
    one, other = compile_type(a, TYPES), compile_type(b, TYPES)
    found = overlap(one, other)

    if found is None:
        for value in (data.draw(values_of(a)), data.draw(values_of(b)), data.draw(json_values)):
            assert one.take(value) is NO_MATCH or other.take(value) is NO_MATCH
    elif found.certain:
        assert one.take(wired(found.value)) is not NO_MATCH
        assert other.take(wired(found.value)) is not NO_MATCH


@drawn
@given(types, types, st.data())
def test_what_fits_the_narrower_of_two_fits_the_other(a: Type, b: Type, data: st.DataObject) -> None:
    one, other = compile_type(a, TYPES), compile_type(b, TYPES)

    if narrower(one, other):
        for value in (data.draw(values_of(a)), data.draw(json_values), *one.samples()):
            assert one.take(value) is NO_MATCH or other.take(value) is not NO_MATCH
        assert not narrower(other, one)


@drawn
@given(types)
def test_a_type_overlaps_itself_and_is_not_narrower_than_itself(type_: Type) -> None:
    one, other = compile_type(type_, TYPES), compile_type(type_, TYPES)

    found = overlap(one, other)

    assert found is not None
    assert not narrower(one, other)
