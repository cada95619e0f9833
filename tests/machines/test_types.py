"""What a type takes, what it freezes it to, and that the fast way and the exact way agree."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines import model
from machines.messages.shapes import NO_MATCH, Mismatch, shown
from machines.messages.types import check_names, check_types, compile_type, parse_type
from machines.model import Type, TypeDeclaration
from machines.problems import Problems
from machines.values import Peer, Record
from machines.yaml.nodes import ListNode, MapNode, ScalarNode
from tests.machines.type_values import (
    NOWHERE,
    TYPES,
    declared,
    exact_shape,
    json_values,
    node_of,
    same,
    shape_of,
    types,
    values_of,
    wired,
)


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


NAN, INFINITY = float("nan"), float("inf")
DEEP: Any = ()
for _ in range(64):
    DEEP = (DEEP,)


@pytest.mark.parametrize(
    ("type_", "value", "frozen"),
    [
        ("string", "", ""),
        ("string", Colour.RED, "red"),
        ("int", 1.0, 1),
        ("int", -0.0, 0),
        ("int", Level.LOW, 1),
        ("int", 2**63 - 1, 2**63 - 1),
        ("int", -(2.0**63), -(2**63)),
        ("number", 1.0, 1.0),
        ("number", 1, 1),
        ("number", 1e300, 1e300),
        ("bool", True, True),
        ("null", None, None),
        ("any", [1, {"a": [None]}], (1, Record(a=(None,)))),
        ("any", Level.LOW, 1),
        ("{int: -2..2}", -2.0, -2),
        ("{enum: [3, 4, 5]}", 3.0, 3),
        ("{enum: [1.0, 2.5]}", 1, 1.0),
        ("{enum: [1, true, '1', null]}", True, True),
        ("{enum: [1, true, '1', null]}", "1", "1"),
        ("{enum: [North-East, South], loose: true}", "NORTH east", "North-East"),
        ("{enum: [North-East, South], loose: true}", "-s_o u\u00adth".replace("\u00ad", ""), "South"),
        ("{enum: [\u00c9lan, \u212a], loose: true}", "\u00e9LAN", "\u00c9lan"),
        ("{enum: [\u00c9lan, \u212a], loose: true}", "K", "\u212a"),
        ("{enum: [red]}", Colour.RED, "red"),
        ('{string: "[a-z]+"}', "abc", "abc"),
        ('{string: "^[a-z]+$"}', "abc", "abc"),
        ("[int, string]", [1.0, "a"], (1, "a")),
        ("[]", [], ()),
        ("[int, ...]", [], ()),
        ("[int, ... 2]", (1, 2.0), (1, 2)),
        ("[[int, ... 0..2], ...]", [[1], []], ((1,), ())),
        ("{a: int, b: int = 7}", {"a": 1}, Record(a=1, b=7)),
        ("{a: int, b: int = 7}", {"b": 2.0, "a": 1}, Record(a=1, b=2)),
        ("{a: 'Ints = []', b: 'Ints = [1, 2]'}", {}, Record(a=(), b=(1, 2))),
        ("a: string = 'it''s'", {}, Record(a="it's")),
        ("{}", {}, Record()),
        ('{"int": int}', {"int": 1}, Record(int=1)),
        ("{map: [string, int]}", {"a": 1.0}, Record(a=1)),
        ("{map: [{enum: [red, blue]}, int]}", Record(red=1), Record(red=1)),
        ("{map: [{enum: [N, S], loose: true}, int]}", {"n": 1}, Record(N=1)),
        ("int | string", "a", "a"),
        ("number | int", 1.0, 1.0),
        ("int | number", 1.0, 1),
        ("string | null", None, None),
        ("int | string", Colour.RED, "red"),
    ],
)
def test_a_value_that_fits_freezes_to_what_is_declared(type_: str, value: Any, frozen: Any) -> None:
    shape = shape_of(type_, "{Ints: [int, ...]}")

    assert same(shape.freeze(value), frozen)
    assert same(shape.freeze(shape.freeze(value)), frozen)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("string", 1),
        ("string", None),
        ("string", ["a"]),
        ("int", True),
        ("int", 1.5),
        ("int", NAN),
        ("int", INFINITY),
        ("int", 2**63),
        ("int", 2.0**63),
        ("int", "1"),
        ("number", False),
        ("number", NAN),
        ("number", -INFINITY),
        ("number", 2**63),
        ("bool", 0),
        ("bool", None),
        ("null", 0),
        ("null", False),
        ("any", {1: 2}),
        ("any", {"a": {1}}),
        ("any", Peer(1)),
        ("any", NAN),
        ("any", -(2**63) - 1),
        ("any", (DEEP,)),
        ("{int: 0..9}", 10),
        ("{enum: [3, 4, 5]}", "3"),
        ("{enum: [1, 2]}", True),
        ("{enum: [true, false]}", 1),
        ("{enum: [true, 2]}", 1),
        ("{enum: [null]}", False),
        ("{enum: [red, blue]}", "Red"),
        ("{enum: [red, blue]}", ["red"]),
        ("{enum: [North-East], loose: true}", "north+east"),
        ('{string: "[a-z]+"}', "abc\n"),
        ('{string: "[a-z]+"}', "Abc"),
        ('{string: "a|b"}', "ab"),
        ('{string: ".*"}', "\ud800"),
        ("[int, int]", [1]),
        ("[int, int]", [1, 2, 3]),
        ("[int, int]", "12"),
        ("[int, int]", {0: 1, 1: 2}),
        ("[]", [1]),
        ("[int, ... 2]", [1, 2, 3]),
        ("[int, ... 1..2]", []),
        ("[int, ...]", [1, "2"]),
        ("[int, ...]", range(3)),
        ("{a: int}", {}),
        ("{a: int}", {"a": 1, "b": 2}),
        ("{a: int}", {"a": None}),
        ("{a: int}", [["a", 1]]),
        ("{a: int = 0}", {"b": 1}),
        ("{map: [string, int]}", {"a": "1"}),
        ("{map: [string, int]}", {1: 1}),
        ("{map: [{enum: [N, S], loose: true}, int]}", {"n": 1, "N": 2}),
        ("int | string", None),
        ("int | string", True),
        ("int | null", Peer(1)),
    ],
)
def test_a_value_that_does_not_fit_is_a_mismatch(type_: str, value: Any) -> None:
    shape = shape_of(type_)

    with pytest.raises(Mismatch):
        shape.freeze(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([[0, 0], [3]], "expected a list of 2 at [1], got a list of 1"),
        ([[0, 0], [3, "x"]], 'expected Height (int 0..4) at [1][1], got "x"'),
        ([[0, 9]], "expected a list of 2, got a list of 1"),
        ("board", 'expected Board ([Row, ... 2]), got "board"'),
    ],
)
def test_a_mismatch_leads_to_the_part_that_does_not_fit(value: Any, text: str) -> None:
    shape = shape_of("Board", "{Height: {int: 0..4}, Row: [Height, ... 2], Board: [Row, ... 2]}")

    with pytest.raises(Mismatch) as caught:
        shape.freeze(value)

    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("{a: {int: 0..9}}", {"a": 10}, "expected int 0..9 at a, got 10"),
        ("{a: int}", {}, 'expected a key "a", got {}'),
        ("{a: int}", {"a": 1, "b": 2}, 'expected no keys but a, got a key "b"'),
        ("{map: [{enum: [red]}, int]}", {"blue": 1}, 'expected keys that are red, got a key "blue"'),
        ("{map: [string, [int]]}", {"a": [0.5]}, "expected int at a[0], got 0.5"),
        ("{enum: [1, red]}", "blue", 'expected one of 1, red, got "blue"'),
        ("int | Text", 1.5, "expected int, got 1.5"),
        ("int | number | Text", [], "expected int | number | Text, got []"),
        ('{string: "[a-z]{2}"}', "a", 'expected text like [a-z]{2}, got "a"'),
        ("any", Peer(3), "expected any, got a peer"),
        ("int", {1, 2}, "expected int, got a set"),
        ("int", "\x1b[2J" + "a" * 99, 'expected int, got "\\u001b[2J' + "a" * 49 + "…"),
        ("int", "\u202e", 'expected int, got "\\u202e"'),
    ],
)
def test_a_mismatch_says_what_was_expected_in_the_words_of_the_spec(type_: str, value: Any, text: str) -> None:
    with pytest.raises(Mismatch) as caught:
        shape_of(type_, "{Text: string}").freeze(value)

    assert str(caught.value) == text


def test_a_value_is_shown_in_bounded_time_and_space() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    assert len(shown(deep)) <= 60
    assert len(shown([[0] * 1000] * 1000)) <= 60
    assert shown(10**10_000) == '"a huge number"'


# -- properties ------------------------------------------------------------------------------------------------------

drawn = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@drawn
@given(types, st.data())
def test_what_msgspec_accepts_is_what_the_exact_closures_accept(type_: Type, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fast, exact = compile_type(type_, TYPES), exact_shape(type_, TYPES, patch)
    for value in (data.draw(values_of(type_)), data.draw(json_values)):
        a, b = fast.take(value), exact.take(value)

        assert (a is NO_MATCH) == (b is NO_MATCH)
        assert a is NO_MATCH or same(a, b)


@drawn
@given(types, st.data())
def test_a_value_drawn_to_fit_does_fit_and_stays_as_it_froze(type_: Type, data: st.DataObject) -> None:
    shape = compile_type(type_, TYPES)
    value = data.draw(values_of(type_))

    frozen = shape.freeze(value)

    assert shape.freeze(frozen) == frozen
    assert shape.freeze(wired(frozen)) == frozen
    hash(frozen)


@drawn
@given(types, json_values)
def test_taking_never_raises_and_a_fault_is_found_whenever_a_value_misses(type_: Type, value: Any) -> None:
    shape = compile_type(type_, TYPES)

    if shape.take(value) is NO_MATCH:
        fault = shape.fault(value, ())
        assert fault.expected
        assert fault.got


@drawn
@given(types)
def test_examples_and_samples_fit_their_own_type(type_: Type) -> None:
    shape = compile_type(type_, TYPES)

    assert shape.freeze(shape.example()) == shape.example()
    for value in shape.samples():
        shape.freeze(value)


def wide_numbers(value: Any) -> bool:
    """Whether a value holds a number beyond 64 bits, of which a schema of ``number`` and ``any`` does not speak."""
    if isinstance(value, list | tuple):
        return any(map(wide_numbers, value))
    if isinstance(value, dict):
        return any(map(wide_numbers, value.values()))
    return isinstance(value, int | float) and abs(value) >= 2**63


@drawn
@given(types, st.data())
def test_the_json_schema_accepts_what_the_type_takes(type_: Type, data: st.DataObject) -> None:
    shape = compile_type(type_, TYPES)
    valid = jsonschema_rs.Draft202012Validator(
        shape.json_schema(), pattern_options=jsonschema_rs.RegexOptions()
    ).is_valid

    for value in (data.draw(values_of(type_)), data.draw(json_values)):
        if not wide_numbers(value) and not same_keys_loosely(value):
            assert valid(value) == (shape.take(value) is not NO_MATCH)


def same_keys_loosely(value: Any) -> bool:
    """Whether a mapping in the value has two keys that a loose enumeration takes for one."""
    if isinstance(value, list | tuple):
        return any(map(same_keys_loosely, value))
    if not isinstance(value, dict):
        return False
    keys = {key.lower().replace("-", "").replace("_", "").replace(" ", "") for key in value}
    return len(keys) < len(value) or any(map(same_keys_loosely, value.values()))


# -- problems of a type ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "problem", "good"),
    [
        ("[a b]", "1:2: A200 'a b' is no type", "[A, A]"),
        ("A || A", "1:4: A200 a type is missing", "A | null"),
        ("{int: 0..9, loose: true}", "1:13: A200 'loose' has no meaning beside 'int' (it is for 'enum'", "{int: 0..9}"),
        ("['A | [int]']", "1:7: A200 '[int]' is no type here, only a name is", "[A | int]"),
        ("{enum: []}", "1:8: A203 'enum' takes a list of at least one value", "{enum: [a]}"),
        ("{enum: a}", "1:8: A203 'enum' takes a list of at least one value", "{enum: [a]}"),
        ("{enum: [a, [b]]}", "1:12: A203 a value of 'enum' is", "{enum: [a, b]}"),
        ("{enum: [1, 2, 1.0]}", "1:15: A203 '1.0' is the same as '1' in this enumeration", "{enum: [1, 2, '1.0']}"),
        ("{enum: [a, 1, a]}", "1:15: A203 'a' stands twice in this enumeration", "{enum: [a, 1, true]}"),
        (
            "{enum: [a-b, A_B], loose: true}",
            "1:14: A203 'A_B' is the same as 'a-b'",
            "{enum: [a-b, A_B], loose: false}",
        ),
        ("{enum: ['-'], loose: true}", "1:9: A203 '-' is nothing without hyphens", "{enum: ['-']}"),
        ("{enum: [a], loose: yes}", "1:20: A203 'loose' is true or false", "{enum: [a], loose: true}"),
        ("{enum: [99999999999999999999]}", "1:9: A213 the number 99999999999999999999 does not fit", "{enum: [9]}"),
        ("{enum: [1e999]}", "1:9: A213 the number 1e999 is too large", "{enum: ['1e999']}"),
        ("{int: 5}", "1:7: A204 'int' takes a range", "{int: 5..5}"),
        ("{int: 9..0}", "1:7: A204 no number is in 9..0", "{int: 0..9}"),
        ("{int: 0..9223372036854775808}", "1:7: A204", "{int: 0..9223372036854775807}"),
        ("{string: '[a-z'}", "1:11: A205 the pattern '[a-z' cannot be used: a '[' without", "{string: '[a-z]'}"),
        ("{string: 'a(?=b)'}", "1:12: A205 the pattern 'a(?=b)' cannot be used: look-around", "{string: 'ab'}"),
        ("{string: '(a)\\1'}", "1:14: A205", "{string: '(a)a'}"),
        (
            "{string: '[^\\s\\S]'}",
            "1:11: A205 the pattern '[^\\\\s\\\\S]' cannot be used: it matches no text",
            "string",
        ),
        ("{string: [a]}", "1:10: A205 'string' takes a pattern", '{"string": [A]}'),
        ("[...]", "1:2: A206 '...' repeats one type and stands behind it", "[A, ...]"),
        ("[..., A]", "1:2: A206 '...' repeats one type", "[A, ...]"),
        ("[A, A, ...]", "1:8: A206 '...' repeats one type", "[[A, A], ...]"),
        ("[A, ... ten]", "1:5: A206 '... ten' is no count", "[A, ... 10]"),
        ("[A, ... 6..0]", "1:5: A206 '... 6..0' can never be: 6 is more than 0", "[A, ... 0..6]"),
        ("[A, ... 999999999]", "1:5: A206 '... 999999999' is too many", "[A, ... 999]"),
        ("{map: A}", "1:7: A207 'map' takes the type of its keys and", "{map: [A, int]}"),
        ("A | int | A", "1:11: A208 'A' stands twice in this union", "A | int"),
        ("{a: int = , b: int}", "1:10: A212 a default is missing after '='", "{a: int = 1, b: int}"),
        ("a: int = [1", "1:10: A212 the default [1 is not JSON", "a: Ints = [1]"),
        ("{a: int = 1e999}", "1:11: A213 the number 1e999 is too large", "{a: int = 1}"),
    ],
)
def test_a_wrong_type_is_a_problem_and_its_mended_form_is_none(bad: str, problem: str, good: str) -> None:
    problems, none = Problems(), Problems()
    known = declared("{A: string, Ints: [int, ...]}", none)
    wrong = parse_type(node_of(bad), problems)
    right = parse_type(node_of(good), none)

    assert len(list(problems)) == 1
    assert str(next(iter(problems))).startswith(f"spec.yaml:{problem}")
    assert next(iter(problems)).hint
    assert right is not None
    assert isinstance(wrong, Type | None)
    check_types({**known, "T": TypeDeclaration("T", right, NOWHERE)}, none)
    assert not none, list(map(str, none))


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("{A: [Tiel], Tile: int}", "1:6: A201 unknown type 'Tiel' (did you mean 'Tile'?)"),
        ("{A: {map: [strin, int]}}", "1:12: A201 unknown type 'strin' (did you mean 'string'?)"),
        ("{A: int | Qqq}", "1:11: A201 unknown type 'Qqq' (declare it under 'types')"),
        ("{A: A}", "1:2: A202 the type 'A' holds itself: A -> A"),
        ("{Z: int, A: [B], B: {x: C}, C: Z | A | null}", "1:10: A202 the type 'A' holds itself: A -> B -> C -> A"),
        ("{string: int}", "1:2: A209 'string' is built in and no name for a type"),
        ("{my type: int}", "1:2: A209 'my type' cannot name a type"),
    ],
)
def test_a_name_that_cannot_be_is_a_problem(bad: str, problem: str) -> None:
    problems = Problems()
    known = declared(bad, problems)

    check_names(known, (), problems)
    check_types(known, problems)

    assert [str(found)[: len(f"spec.yaml:{problem}")] for found in problems] == [f"spec.yaml:{problem}"]


@pytest.mark.parametrize(
    ("bad", "problem", "good"),
    [
        ("{A: {map: [int, int]}}", "1:2: A207 the keys of a map are texts", "{A: {map: [string, int]}}"),
        ("{A: {a: int = x}}", "1:2: A210 the default of the key 'a' does not fit: expected int", "{A: {a: int = 1}}"),
        ("{A: {a: B = z}, B: {enum: [x, y]}}", "1:2: A210", "{A: {a: B = y}, B: {enum: [x, y]}}"),
        (
            "{A: [B, ... 999], B: [int, ... 999]}",
            "1:2: A211 the least value of type 'A' has",
            "{A: [B, ... 99], B: [int, ... 999]}",
        ),
    ],
)
def test_what_only_all_types_together_show_is_a_problem(bad: str, problem: str, good: str) -> None:
    problems, none = Problems(), Problems()

    sound = check_types(declared(bad, problems), problems)
    all_sound = check_types(declared(good, none), none)

    assert [str(found)[: len(f"spec.yaml:{problem}")] for found in problems] == [f"spec.yaml:{problem}"]
    assert "A" not in sound
    assert "A" in all_sound
    assert not none


@given(st.text(alphabet="aA |=[]{}.0'-$\n", max_size=16), st.booleans())
def test_no_text_makes_the_parser_of_types_raise(text: str, plain: bool) -> None:
    problems = Problems()
    scalar = ScalarNode(text, plain, NOWHERE)

    for node in (scalar, ListNode((scalar, scalar), NOWHERE), MapNode(((scalar, scalar),), NOWHERE)):
        parse_type(node, problems)
    for form in ("enum", "int", "string", "map"):
        for node in (scalar, ListNode((scalar,), NOWHERE), ListNode((scalar, scalar), NOWHERE)):
            parse_type(MapNode(((ScalarNode(form, True, NOWHERE), node),), NOWHERE), problems)

    assert all(problem.code.startswith("A2") for problem in problems)


def test_msgspec_is_not_asked_where_it_would_crash() -> None:
    assert shape_of("A | int", "{A: [string, string]}").native() is NO_MATCH
    assert shape_of("A | null", "{A: [string, string]}").native() is not NO_MATCH


def test_types_that_double_or_nest_without_end_are_refused_at_once() -> None:
    doubling = {f"T{n}": model.TupleType((model.Named(f"T{n - 1}"),) * 2) for n in range(1, 5000)}
    chain = {f"C{n}": model.Named(f"C{n - 1}") for n in range(1, 5000)}
    circle = {f"R{n}": model.TupleType((model.Named(f"R{(n + 1) % 5000}"),)) for n in range(5000)}
    everything: dict[str, Type] = {"T0": model.Scalar("int"), "C0": model.Scalar("int"), **doubling, **chain, **circle}
    known = {name: TypeDeclaration(name, type_, NOWHERE) for name, type_ in everything.items()}
    problems = Problems()

    check_names(known, (), problems)
    sound = check_types(known, problems)

    assert {problem.code for problem in problems} == {"A202", "A211"}
    assert len(list(problems)) == 3
    assert set(sound) == {name for name in sound if name in known and int(name[1:]) <= 64 and not name.startswith("R")}


def test_a_type_may_be_used_before_it_is_declared() -> None:
    shape = shape_of("A", "{A: [B], B: [C], C: int}")

    assert shape.freeze([[1]]) == ((1,),)


def test_the_schema_of_a_declared_type_is_there_once() -> None:
    schema = shape_of("[A, A]", "{A: [B, B], B: int}").json_schema()

    assert schema["prefixItems"] == [{"$ref": "#/$defs/A"}] * 2
    assert set(schema["$defs"]) == {"A", "B"}
