"""Types on one line: what is printed of a type can be written, and is the same type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given

from diagrams.states.phrases import body_text
from machines.messages.types import parse_body, parse_type, type_text
from machines.model import (
    BodyList,
    BodyMap,
    Enumeration,
    Field,
    Interval,
    ListType,
    LiteralBody,
    ObjectType,
    Pattern,
    Scalar,
    Text,
    Type,
    Union,
)
from machines.parser.loader import load, load_text, shipped
from machines.parser.unparse import written
from machines.problems import Problems
from machines.yaml.nodes import Node, parse_yaml
from runtime.commands.show import _facts as facts
from tests.machines.type_values import node_of, shape_of, types
from tests.support.talk import GOOD, changed, faults


def type_of(node: Node) -> Type:
    problems = Problems()
    found = parse_type(node, problems)
    assert not problems, list(map(str, problems))
    assert found is not None
    return found


def spelt(type_: Type) -> bool:
    """Whether a spec has a way to write a type: a union and a default have no brackets."""
    match type_:
        case Union(members):
            return not any(isinstance(member, Union) or set(type_text(member)) & set("[{") for member in members)
        case ObjectType(fields):
            bare = all(not key.optional or not set(type_text(key.type)) & set("[{") for key in fields)
            return bare and all(spelt(key.type) for key in fields)
        case ListType(_, low, None) if low:
            return False
        case _:
            inner = [getattr(type_, name) for name in ("item", "key", "value") if hasattr(type_, name)]
            return all(map(spelt, (*inner, *(getattr(type_, "items", ())))))


@given(types)
def test_what_is_printed_of_a_type_is_that_type(type_: Type) -> None:
    assume(spelt(type_))
    assert type_of(node_of(type_text(type_))) == type_


@pytest.mark.parametrize("name", shipped())
def test_what_show_prints_of_the_types_of_a_spec_can_be_pasted(name: str) -> None:
    spec = load(name)
    problems = Problems()
    for one in facts(spec)["types"]:
        assert parse_type(node_of(one["is"]), problems) == spec.types[one["name"]].type
    assert not problems


def unplaced(body: object) -> object:
    """A body without the places of its fields."""
    if isinstance(body, Field):
        return (body.name, body.type, body.optional, body.default)
    if isinstance(body, str | LiteralBody):
        return body
    found = [unplaced(part[1]) if isinstance(part, tuple) else unplaced(part) for part in astuple_of(body)]
    return (type(body).__name__, *found, *([key for key, _ in body.items] if isinstance(body, BodyMap) else []))


def astuple_of(body: object) -> tuple[Any, ...]:
    assert isinstance(body, Text | BodyList | BodyMap)
    return body.parts if isinstance(body, Text) else body.items


@pytest.mark.parametrize("name", shipped())
def test_what_show_prints_of_the_messages_of_a_spec_can_be_pasted(name: str) -> None:
    spec = load(name)
    for message in spec.messages.values():
        problems = Problems()
        body = parse_body(node_of(body_text(message.body, spec)), problems)
        assert not problems
        assert unplaced(body) == unplaced(message.body), body_text(message.body, spec)


@pytest.mark.parametrize(
    "body",
    [
        '"12"',
        '["true", true, "null", null, 1.5, "a, b", "a: b"]',
        '{"a: b": x, "$$c": "$$5", d: $d string = \'a b\'}',
        "'cost $$${price int}: \"${what string}\" # no'",
        "'- ${x int} -'",
        '"${n int} of"',
        "''",
        "caf\u00e9",
    ],
)
def test_a_body_that_needs_its_quotes_is_printed_with_them(body: str) -> None:
    text = GOOD.replace("BYE: bye", f"BYE: {body}").replace("also:\n  BYE: [goodbye]\n", "")
    spec = load_text(text, "talk.yaml")
    printed = body_text(spec.messages["BYE"].body, spec)
    assert unplaced(parse_body(node_of(printed), Problems())) == unplaced(spec.messages["BYE"].body), printed


@pytest.mark.parametrize("name", shipped())
def test_what_show_prints_of_a_field_is_its_type(name: str) -> None:
    spec = load(name)
    for message in spec.messages.values():
        for field in message.fields:
            assert parse_type(node_of(type_text(field.type)), Problems()) == field.type


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("int 0..9", Interval(0, 9)),
        ("int -3 .. -1", Interval(-3, -1)),
        ("string 1..20", Pattern(r"[\s\S]{1,20}")),
        ("string 4", Pattern(r"[\s\S]{4}")),
        ("int 0..9 | null", Union((Interval(0, 9), Scalar("null")))),
        ("{int: 0..9}", Interval(0, 9)),
    ],
)
def test_a_range_stands_behind_its_type(text: str, type_: Type) -> None:
    assert type_of(node_of(text)) == type_


@pytest.mark.parametrize(("text", "takes", "not_"), [("string 1..3", "a\nb", "abcd"), ("string 2", "ab", "a")])
def test_a_text_of_so_many_characters_may_have_any(text: str, takes: str, not_: str) -> None:
    shape = shape_of(text)
    assert shape.take(takes) == takes
    assert shape.describe() == text
    with pytest.raises(AssertionError):
        assert shape.take(not_) == not_


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("[$x int 0..9, $y string 1..5]", [Interval(0, 9), Pattern(r"[\s\S]{1,5}")]),
        ("{x: $x int 0..9 = 3, y: $y int 1..2 | null}", [Interval(0, 9), Union((Interval(1, 2), Scalar("null")))]),
        ("at ${x int 0..9}, ${y string 1..2}", [Interval(0, 9), Pattern(r"[\s\S]{1,2}")]),
    ],
)
def test_a_range_stands_wherever_a_field_has_its_type(body: str, where: list[Type]) -> None:
    spec = load_text(GOOD.replace("NUMBERS: [$x int, $y int]", f"NUMBERS: {body}"), "talk.yaml")
    assert [field.type for field in spec.messages["NUMBERS"].fields] == where


@pytest.mark.parametrize(
    ("type_", "code", "hint"),
    [
        ("int 9..0", "A204", "like 0..9"),
        ("int 5", "A204", "like int 0..9"),
        ("int 0..99999999999999999999", "A204", "the most is"),
        ("string 9..1", "A205", "like 1..9"),
        ("string [a-z]+", "A205", "a pattern is written {string:"),
        ("string 0..6000", "A205", "at most 5000"),
        ("strng 1..3", "A200", "did you mean 'string'?"),
        ("Name 1..3", "A200", "int 0..9"),
    ],
)
def test_a_range_that_is_none_is_told_where_it_stands(type_: str, code: str, hint: str) -> None:
    (problem,) = [p for p in faults(changed('{string: "[a-z]+"}', type_)) if p.code == code]
    column = 9 + (0 if code == "A200" else type_.index(" ") + 1)
    assert (problem.place.line, problem.place.column) == (10, column)
    assert hint in problem.hint


def test_a_union_of_a_word_and_a_number_is_printed_as_it_is_written() -> None:
    assert type_text(Enumeration(("a", "1", 1, None, "b c"), True)) == ('{enum: [a, "1", 1, null, "b c"], loose: true}')


FIELDS = """\
protocol: fields
connects: {client: server}
types: {Name: string 1..9}
messages:
  client:
    FLOW: {a: $a [Name, ...], b: $b [int, int | null], c: $c {x: int, y: [string, ... 2]}, d: $d [Name, ... 0..6] = []}
    LIST: [$a [Name, ...], $b {enum: [north, south]}, $c {map: [Name, int]}]
    WORD: $a {string: "[a-z]+"}
    BLOCK:
      a: $a {string: "[a-z]: [0-9]+"}   # with a comment
      b: $b {map: [Name, int 0..9]} = {}
      c: $c [[Name, ...], ... 3]
    ITEMS:
      - $a {x: int}
      - $b [int, ...]
  server: {OVER: over}
roles:
  client: {main: {begin: {return: null}}}
  server: {main(client): {begin: {return: null}}}
"""


def test_a_field_takes_a_list_or_mapping_in_any_style_and_it_can_be_written_out() -> None:
    assert types_of(FIELDS) == {
        "FLOW": ["[Name, ...]", "[int, int | null]", "{x: int, y: [string, ... 2]}", "[Name, ... 0..6]"],
        "LIST": ["[Name, ...]", "{enum: [north, south]}", "{map: [Name, int]}"],
        "WORD": ['{string: "[a-z]+"}'],
        "BLOCK": ['{string: "[a-z]: [0-9]+"}', "{map: [Name, int 0..9]}", "[[Name, ...], ... 3]"],
        "ITEMS": ["{x: int}", "[int, ...]"],
        "OVER": [],
    }
    tree = parse_yaml(FIELDS, "fields.yaml", Problems())
    assert tree is not None
    assert types_of(written(tree)) == types_of(FIELDS)


def types_of(text: str) -> dict[str, list[str]]:
    messages = load_text(text, "fields.yaml").messages
    return {name: [type_text(field.type) for field in message.fields] for name, message in messages.items()}
