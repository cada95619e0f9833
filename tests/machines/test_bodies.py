"""Bodies write and recognise: what is built is read as it was meant, and reading never raises."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines import model
from machines.messages.shapes import Mismatch
from machines.messages.types import (
    check_message,
    check_names,
    check_types,
    compile_message,
    compile_type,
    parse_body,
    parse_type,
)
from machines.model import Body, Field, LiteralBody, Message, Type, TypeDeclaration
from machines.parser.loader import load
from machines.problems import Place, Problems
from machines.values import Record
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode
from tests.machines.type_values import (
    NOWHERE,
    TYPES,
    checked_message,
    exact_message,
    json_values,
    message_of,
    node_of,
    same,
    types,
    values_of,
    wired,
)
from tests.support.shared import SHARED

MOVE = "[place, $id int, $turn int, {tile: $tile int, x: $x int, y: $y int}]"
DIRECTIONS = "{Dir: {enum: [North, South], loose: true}, Name: {string: '[a-z]+'}, Names: [Name, ...]}"


@pytest.mark.parametrize(
    ("body", "fields", "written"),
    [
        (MOVE, (1, 2, 3, 4, 5), ["place", 1, 2, {"tile": 3, "x": 4, "y": 5}]),
        ("$name Name", ("abc",), "abc"),
        ("$dir Dir | null", (None,), None),
        ("started", (), "started"),
        ("null", (), None),
        ("'null'", (), "null"),
        (
            "[true, false, 12, -1.5, 1e2, 007, NO, ~, '', 0x1F]",
            (),
            [True, False, 12, -1.5, 100.0, "007", "NO", "~", "", "0x1F"],
        ),
        ("[]", (), []),
        ("{}", (), {}),
        (
            "{type: move, content: [$d Dir, $e Dir | null]}",
            ("North", None),
            {"type": "move", "content": ["North", None]},
        ),
        ("{$$: 1, 'a \"b\"': $x int}", (1,), {"$": 1, 'a "b"': 1}),
        ("$$name int", (), "$name int"),
        ("costs 5 $$", (), "costs 5 $"),
        ("match ${x int}/${n int} starting", (1, 20), "match 1/20 starting"),
        ("['${a string}', '$${b}${b bool}']", ("x", True), ["x", "${b}true"]),
        ("${a Name} ${d Dir} ${f number}", ("me", "South", -0.5), "me South -0.5"),
        ("{check: $check bool = false}", (True,), {"check": True}),
        ("{names: $names Names}", (("a", "b"),), {"names": ["a", "b"]}),
        ("[$a any, 1.5, {b: '${c int}!'}]", (Record(z=(1,)), 7), [{"z": [1]}, 1.5, {"b": "7!"}]),
    ],
)
def test_a_body_is_written_as_it_stands_and_read_back(body: str, fields: tuple[Any, ...], written: Any) -> None:
    message = message_of(body, DIRECTIONS)

    built = message.build(fields)

    assert wired(built) == written
    assert same(message.read(wired(built)), fields)
    assert same(message.read(built), fields)
    assert json.loads(json.dumps(written)) == wired(built)


@pytest.mark.parametrize(
    ("body", "value", "fields"),
    [
        (MOVE, ["place", 1.0, 2, {"y": 5, "tile": 3.0, "x": 4}], (1, 2, 3, 4, 5)),
        (MOVE, ("place", 1, 2, Record(y=5, tile=3, x=4)), (1, 2, 3, 4, 5)),
        (MOVE, ["plaice", 1, 2, {"tile": 3, "x": 4, "y": 5}], None),
        (MOVE, ["place", 1, 2, {"tile": 3, "x": 4}], None),
        (MOVE, ["place", 1, 2, {"tile": 3, "x": 4, "y": 5, "z": 6}], None),
        (MOVE, ["place", 1, True, {"tile": 3, "x": 4, "y": 5}], None),
        (MOVE, ["place", 1, 2, {"tile": 3, "x": 4, "y": 2**63}], None),
        (MOVE, ["place", 1, 2, {"tile": 3, "x": 4, "y": 5}, 6], None),
        (MOVE, "place", None),
        (MOVE, [], None),
        ("[1, $x int]", [True, 2], None),
        ("[1, $x int]", [1.0, 2], (2,)),
        ("[true, $x int]", [1, 2], None),
        ("[null, $x int]", [None, 2], (2,)),
        ("{type: Start, content: null}", {"type": "Start", "content": None}, ()),
        ("{type: Start, content: null}", {"type": "Start"}, None),
        ("$dir Dir", "n-O_r Th", ("North",)),
        ("{d: $dir Dir = North}", {}, ("North",)),
        ("{d: $dir Dir = north}", {}, ("North",)),
        ("{d: $dir Dir = North}", {"d": "south"}, ("South",)),
        ("{d: $dir Dir = North}", {"e": "south"}, None),
        ("{d: $dir Dir = North}", {"d": None}, None),
        ("{k: x, d: $d int = 1, e: $e int}", {"k": "x", "e": 2}, (1, 2)),
        ("{k: x, d: $d int = 1, e: $e int}", {"k": "x", "d": 2}, None),
        ("[$names Names, $x int]", [["a"], 1], (("a",), 1)),
        ("[$names Names, $x int]", [["A"], 1], None),
        ("match ${x int}/${n int} starting", "match 01/2 starting", None),
        ("match ${x int}/${n int} starting", "match -0/2 starting", None),
        ("match ${x int}/${n int} starting", "match 1/2 starting ", None),
        ("match ${x int}/${n int} starting", "match 1 /2 starting", None),
        ("match ${x int}/${n int} starting", "match 1/" + "9" * 5000 + " starting", None),
        ("match ${x int}/${n int} starting", "match -5/9223372036854775807 starting", (-5, 2**63 - 1)),
        ("match ${x int}/${n int} starting", "match 1/9223372036854775808 starting", None),
        ("match ${x int}/${n int} starting", ["match 1/2 starting"], None),
        ("${a string}, ${b string}", "x, y, z", ("x", "y, z")),
        ("${a string}, ${b string}", "x,y", None),
        ("${a string}, ${b string}", ", ", ("", "")),
        ("${a string}, ${b string}", "x, y\n", None),
        ("${a string}aa", "aaa", None),
        ("${a number}", "1e400", None),
        ("${a number}", "1E2", (100.0,)),
        ("${a number}", " 1", None),
        ("${a bool}", "True", None),
        ("${d Dir}!", "NORTH!", ("North",)),
        ("[$x int, '${n Name}.']", [1, "ab."], (1, "ab")),
    ],
)
def test_a_value_is_read_only_if_it_is_like_the_body(body: str, value: Any, fields: tuple[Any, ...] | None) -> None:
    message = message_of(body, DIRECTIONS)

    read = message.read(value)

    assert read is None if fields is None else same(read, fields)
    assert (message.why_not(value) == "it is move") == (read is not None)


@pytest.mark.parametrize(
    ("body", "fields", "text"),
    [
        (MOVE, (1, 2, 3, "4", 5), 'expected int at [3].x, got "4"'),
        (MOVE, (1, 2, True, 4, 5), "expected int at [3].tile, got true"),
        ("$names Names", (["a", "B"],), 'expected Name (text like [a-z]+) at [1], got "B"'),
        ("${a string}", ("a\nb",), "expected a text without a line end for 'a'"),
        ("[1, 'by ${a string}, ${b string}']", ("x, y", "z"), "expected a text without \", \" for 'a' at [1]"),
        ("${a string}aa", ("a",), 'expected a text without "aa" for \'a\', got "a"'),
        ("${x int}5", (15,), 'expected a text without "5" for \'x\', got "15"'),
    ],
)
def test_a_value_that_does_not_fit_its_field_is_not_written(body: str, fields: tuple[Any, ...], text: str) -> None:
    message = message_of(body, DIRECTIONS)

    with pytest.raises(Mismatch) as caught:
        message.build(fields)

    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3, 4, 5, 6)])
def test_too_few_or_too_many_values_are_refused(values: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="this message has 5 fields"):
        message_of(MOVE).build(values)
    with pytest.raises(ValueError, match="this message has 0 fields, but 1 values were given"):
        message_of("started").build((1,))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (["place", 1, 2, {"tile": 3, "x": "4", "y": 5}], 'expected int at [3].x, got "4"'),
        (["place", 1, 2, {"tile": 3, "x": 4}], 'expected a key "y" at [3], got {"tile": 3, "x": 4}'),
        (["place", 1, 2], "expected a list of 4, got a list of 3"),
        ({"x": 1}, 'expected [place, int, int, {tile: int, x: int, y: int}], got {"x": 1}'),
    ],
)
def test_why_not_names_the_first_difference(value: Any, text: str) -> None:
    assert message_of(MOVE).why_not(value) == text


def test_why_not_speaks_of_the_body_that_the_value_comes_closest_to() -> None:
    message = message_of("[a, [$x int]]", also=("{b: [$x int]}",))

    assert message.why_not({"b": ["1"]}) == 'expected int at b[0], got "1"'


def test_other_bodies_are_read_as_the_same_message_and_never_written() -> None:
    message = message_of(
        "{Map: $map Names, rails: $rails int, note: $note string = none}",
        DIRECTIONS,
        also=("{map: $map Names, rails: $rails int}", "[$rails int, $map Names, '${note string}']"),
    )

    assert message.read({"Map": ["a"], "rails": 1}) == (("a",), 1, "none")
    assert message.read({"map": ["a"], "rails": 1.0}) == (("a",), 1, "none")
    assert message.read([1, ["a"], "hello"]) == (("a",), 1, "hello")
    assert message.read({"map": ["a"], "rails": 1, "note": "x"}) is None
    assert message.build((["a"], 1, "x")) == {"Map": ("a",), "rails": 1, "note": "x"}


def test_a_text_that_many_fields_could_share_is_read_in_linear_time() -> None:
    body = "-".join(f"${{h{n} string}}" for n in range(200))
    message = message_of(body)

    assert message.read("a" * 1_000_000) is None
    assert message.read("-" * 199) == ("",) * 200
    assert message.read("-" * 1_000_000) is not None


def test_an_example_is_made_once_however_often_a_message_is_compared_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load("smtp")
    codec = compile_message(spec.messages["RCPT"], spec.types)
    example = codec.example()
    monkeypatch.setattr("machines.messages.templates.shortest", None)  # the dear search for a text

    assert codec.example() is example
    assert codec.read(example) is not None


@pytest.mark.parametrize("name", ["santorini-prompts", "santorini-relay", "santorini-rulecheck", "trains", "tsuro"])
def test_the_types_and_messages_of_every_sketch_are_understood(name: str) -> None:
    text = (SHARED / "sketches" / f"{name}.yaml").read_text()
    parts = {key: node for key, _, node in named(node_of(text))}
    problems = Problems()
    types_ = {}
    for key, place, node in named(parts["types"]):
        type_ = parse_type(node, problems)
        assert type_ is not None
        types_[key] = TypeDeclaration(key, type_, place)
    also = {key: list_of(node) for key, _, node in named(parts["also"])} if "also" in parts else {}
    found = []
    for _, _, listed in named(parts["messages"]):
        for key, place, node in named(listed):
            bodies = [parse_body(body, problems) for body in (node, *also.get(key, ()))]
            whole = [body for body in bodies if body is not None]
            found.append(Message(key, ("client",), whole[0], tuple(whole[1:]), False, place))
    check_names(types_, found, problems)
    sound = check_types(types_, problems)
    for message in found:
        check_message(message, types_, sound, problems)

    assert not problems, list(map(str, problems))
    for message in found:
        shape = compile_message(message, types_)
        read = shape.read(wired(shape.example()))
        assert read is not None
        assert wired(shape.build(read)) == wired(shape.example())
        assert all(shape.read(wired(sample)) is not None for sample in shape.samples())


def named(node: Node) -> list[tuple[str, Place, Node]]:
    assert isinstance(node, MapNode)
    return [(key.text, key.place, value) for key, value in node.pairs]


def list_of(node: Node) -> tuple[Node, ...]:
    assert isinstance(node, ListNode)
    return node.items


# -- properties ------------------------------------------------------------------------------------------------------

drawn = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
literals = st.sampled_from([None, True, False, 0, 1, 1.5, "a", "word", ""]).map(LiteralBody)
nested: st.SearchStrategy[Any] = st.recursive(
    types.map(lambda type_: (type_, False)) | types.map(lambda type_: (type_, True)) | literals,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["key", "b", 'q"', "é"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def body_of(drawn_: Any, names: list[Field], in_key: bool = False) -> Body:
    """Return the body that a drawn nest stands for; its fields go to ``names``."""
    if isinstance(drawn_, LiteralBody):
        return drawn_
    if isinstance(drawn_, list):
        return model.BodyList(tuple(body_of(item, names) for item in drawn_))
    if isinstance(drawn_, dict):
        return model.BodyMap(tuple((key, body_of(item, names, True)) for key, item in drawn_.items()))
    type_, optional = drawn_
    default = compile_type(type_, TYPES).example() if optional and in_key else None
    names.append(Field(f"h{len(names)}", type_, NOWHERE, optional and in_key, default))
    return names[-1]


messages = nested.map(lambda found: Message("move", ("client",), body_of(found, []), (), False, NOWHERE))


def like(body: Body) -> st.SearchStrategy[Any]:
    """Return a strategy of values that are like a body."""
    match body:
        case Field():
            return values_of(body.type)
        case LiteralBody(value):
            return st.just(value)
        case model.BodyList(items):
            return st.tuples(*map(like, items)).map(list)
        case model.BodyMap(pairs):
            optional = {name: like(item) for name, item in pairs if isinstance(item, Field) and item.optional}
            needed = {name: like(item) for name, item in pairs if name not in optional}
            return st.fixed_dictionaries(needed, optional=optional)
    raise AssertionError("texts are drawn elsewhere")


@drawn
@given(messages, st.data())
def test_what_msgspec_reads_is_what_the_exact_reader_reads(message: Message, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fast, exact = compile_message(message, TYPES), exact_message(message, TYPES, patch)
    alike = data.draw(like(message.body))
    for value in (alike, data.draw(json_values)):
        read = fast.read(value)

        assert read is None if exact.read(value) is None else same(read, exact.read(value))
    assert fast.read(alike) is not None


@drawn
@given(messages, st.data())
def test_building_then_reading_gives_the_fields_back(message: Message, data: st.DataObject) -> None:
    shape = compile_message(message, TYPES)
    values = [data.draw(values_of(field.type)) for field in message.fields]

    built = shape.build(values)

    read = shape.read(built)
    assert read is not None
    assert read == shape.read(wired(built))
    assert read == tuple(compile_type(h.type, TYPES).freeze(v) for h, v in zip(message.fields, values, strict=True))
    assert same(wired(shape.build(read)), wired(built))


@drawn
@given(messages, json_values)
def test_reading_never_raises_and_agrees_with_why_not_and_the_schema(message: Message, value: Any) -> None:
    shape = compile_message(message, TYPES)
    options = jsonschema_rs.RegexOptions()
    valid = jsonschema_rs.Draft202012Validator(shape.json_schema(), pattern_options=options).is_valid

    fits = shape.read(value) is not None

    assert (shape.why_not(value) == "it is move") == fits
    assert valid(value) or not fits
    assert all(valid(wired(sample)) for sample in shape.samples())


@drawn
@given(messages)
def test_the_example_of_a_message_is_read_and_has_its_own_fields(message: Message) -> None:
    shape = compile_message(message, TYPES)

    read = shape.read(shape.example())

    assert read is not None
    assert wired(shape.build(read)) == wired(shape.example())
    assert all(shape.read(sample) is not None for sample in shape.samples())


fields_of_text = st.sampled_from(["string", "int", "number", "bool", "Worker", "Port", "Dir", "Square"])
between = st.text(alphabet="ab1-. $T", min_size=1, max_size=3)
texts = st.tuples(
    st.just("") | between, st.lists(st.tuples(fields_of_text, between), min_size=1, max_size=3), st.booleans()
)


@settings(max_examples=200, deadline=None)
@given(texts, st.data())
def test_a_text_is_read_as_it_was_written_or_not_written_at_all(drawn_: Any, data: st.DataObject) -> None:
    prefix, fields, ends = drawn_
    parts: list[str | Field] = [prefix] if prefix else []
    for index, (name, after) in enumerate(fields):
        type_: Type = model.Named(name) if name in TYPES else model.Scalar(name)
        parts += [Field(f"h{index}", type_, NOWHERE), after]
    if ends:
        parts.pop()
    message = Message("move", ("client",), model.Text(tuple(parts)), (), False, NOWHERE)
    shape = compile_message(message, TYPES)
    values = [data.draw(values_of(field.type)) for field in message.fields]

    try:
        built = shape.build(values)
    except Mismatch:
        return
    assert isinstance(built, str)
    assert shape.read(built) == tuple(
        compile_type(field.type, TYPES).freeze(value) for field, value in zip(message.fields, values, strict=True)
    )
    options = jsonschema_rs.RegexOptions()
    assert jsonschema_rs.Draft202012Validator(shape.json_schema(), pattern_options=options).is_valid(built)
    language = shape.shapes[0].language()
    assert language is not None
    assert language.accepts(built)
    for cut in range(len(built)):
        shape.read(built[:cut])


# -- problems of a body ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "problem", "good"),
    [
        ("$name", "1:1: A220 the field $name has no type", "$name string"),
        ("[$2nd int]", "1:3: A220 '2nd' cannot name a field", "[$second int]"),
        ("$5", "1:2: A220 '5' cannot name a field", "$$5"),
        ("{a: , b: 1}", "1:4: A220 nothing stands here", "{a: '', b: 1}"),
        ("x ${n} y", "1:3: A220 the field ${n} has no type", "x ${n int} y"),
        ("x ${} y", "1:5: A220 '' cannot name a field", "x $${} y"),
        ("costs 5 $", "1:9: A221 a lone '$'", "costs 5 $$"),
        ("['$name string']", "1:3: A221 a lone '$'", "[$name string]"),
        ("x ${n int", "1:3: A221 a lone '$'", "x ${n int}"),
        ("[$x int = 1]", "1:2: A222 the field $x has a default, but only a key may be missing", "{x: $x int = 1}"),
        ("$x int = 1", "1:1: A222 the field $x has a default", "$x int"),
        ("at ${x int = 1}.", "1:4: A222 the field ${x} has a default", "at ${x int}."),
        (
            "${a string}${b string}",
            "1:12: A223 nothing tells where the field before ${b} ends",
            "${a string} ${b string}",
        ),
        ("at ${n Names}.", "1:4: A224 the field ${n} stands in a text, but is Names", "[at, $n Names]"),
        ("at ${n null}.", "1:4: A224 the field ${n} stands in a text, but is null", "at ${n bool}."),
        ("${d Ends}, x", "1:1: A224 no Ends can stand before ', x': it holds that text", "${d Ends}; x"),
        ("{$x int: 1}", "1:2: A225 the key '$x int' cannot be a field", "{$$x int: 1}"),
        ("[$x int, {y: $x int}]", "1:14: A226 move has a field $x already", "[$x int, {y: $x2 int}]"),
        ("$x Nmae", "1:4: A201 unknown type 'Nmae' (did you mean 'Name'?)", "$x Name"),
        ("at ${x Nmae}.", "1:8: A201 unknown type 'Nmae'", "at ${x Name}."),
        ("$x int | Nmae", "1:10: A201 unknown type 'Nmae'", "$x int | Name"),
        ("$x [int", "1:4: A200 '[int' is no type", "$x [int]"),
        ("$x [int] | null", "1:4: A200 '[int] | null' is no type (like [Name, ...]", "$x Names | null"),
        ("$x null | [int]", "1:11: A200 '[int]' is no type here, only a name is (between `|`", "$x null | Names"),
        ("$x [Name, itn]", "1:11: A201 unknown type 'itn' (did you mean 'int'?)", "$x [Name, int]"),
        ("[$x {a: [int, ... 3..2]}]", "1:15: A206 '... 3..2' can never be", "[$x {a: [int, ... 2..3]}]"),
        ("[$x {map: [int, int]}]", "1:2: A207 the keys of a map are texts", "[$x {map: [Name, int]}]"),
        ("[$x {a: int = b}]", "1:2: A210 the default of the key 'a' does not fit", "[$x {a: int = 1}]"),
        ("$x [int, ... 1000000]", "1:1: A211 the least value of type of $x has 1000001 parts", "$x [int, ... 9]"),
        ('{x: $x [int, ...] = ["a"]}', "1:5: A210 the default of $x does not fit", "{x: $x [int, ...] = [1]}"),
        ("{x: $x {y: int = 1} = 3}", "1:5: A210 the default of $x does not fit", "{x: $x {y: int = 1} = {}}"),
        ("$x int | int", "1:10: A208 'int' stands twice in this union", "$x int | null"),
        ("{x: $x int = a}", "1:5: A210 the default of $x does not fit: expected int, got", "{x: $x int = 1}"),
        (
            "[1, 18446744073709551616]",
            "1:5: A213 the number 18446744073709551616 does not fit 64 bits",
            "[1, '18446744073709551616']",
        ),
    ],
)
def test_a_wrong_body_is_a_problem_and_its_mended_form_is_none(bad: str, problem: str, good: str) -> None:
    known = "{Name: {string: '[a-z]+'}, Names: [Name, ...], Ends: {enum: [', x', 'a, xb']}}"
    _, _, problems = checked_message(bad, known)
    right, _, none = checked_message(good, known)

    assert [str(found)[: len(f"spec.yaml:{problem}")] for found in problems] == [f"spec.yaml:{problem}"]
    assert all(found.hint for found in problems)
    assert right is not None
    assert not none, list(map(str, none))


@pytest.mark.parametrize(
    ("body", "also", "problem"),
    [
        ("[$x int, $y int]", "[$y int]", "another body of move lacks the field $x"),
        ("[$x int]", "[$x int, $z int]", "the body of move has no field $z"),
        ("[$x int]", "[$x string]", "the field $x of move is of another type in its body"),
        ("[$x int]", "[$x int, [$x int]]", "this body of move has a field $x already"),
        ("[$x int]", "null", "another body of move lacks the field $x"),
    ],
)
def test_other_bodies_have_the_same_fields(body: str, also: str, problem: str) -> None:
    _, _, problems = checked_message(body, "{}", (also,))

    assert [found.text for found in problems] == [problem]
    assert {found.code for found in problems} <= {"A226", "A227"}


def test_every_problem_of_a_body_is_told_in_one_pass() -> None:
    _, _, problems = checked_message("[$a, '$', {$b: x}, $c d e, {d: '${e int}${f int}'}]")

    assert [found.code for found in problems] == ["A220", "A221", "A225", "A200", "A223"]


@given(st.text(alphabet="$ {}=|aint.'[]\n", max_size=24))
def test_no_text_makes_the_parser_raise(text: str) -> None:
    for plain in (True, False):
        problems = Problems()
        body = parse_body(ScalarNode(text, plain, NOWHERE), problems)

        assert (body is None) == bool(problems)
