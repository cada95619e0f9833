"""Types, values that fit them and values that nearly do, drawn by hypothesis; and types read from a line of YAML."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from machines import model
from machines.messages import decoding
from machines.messages.shapes import NO_MATCH, Shape
from machines.messages.types import (
    MessageCodec,
    check_message,
    check_names,
    check_types,
    compile_message,
    compile_type,
    parse_body,
    parse_type,
)
from machines.model import Message, Type, TypeDeclaration, Wire
from machines.problems import Place, Problems
from machines.wire.codec import Codec
from machines.yaml.nodes import MapNode, Node, parse_yaml

NOWHERE = Place("spec.yaml", 1, 1)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.sampled_from([2**63, -(2**63), 2**63 - 1, 10**30])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.0, 1.0, 3.0, -2.0, 1e18])
    | st.text(max_size=4)
    | st.sampled_from(["a", "ab1", "North", "north-east", "NORTH EAST", "b", "key", "1", "true", "x y"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["key", "other", "a", "ab1", "b"]) | st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)


def node_of(text: str) -> Node:
    """Return the tree of one YAML text that has no fault."""
    problems = Problems()
    node = parse_yaml(text, "spec.yaml", problems)
    assert not problems, list(map(str, problems))
    assert node is not None
    return node


def pairs_of(text: str) -> list[tuple[str, Place, Node]]:
    node = node_of(text)
    assert isinstance(node, MapNode), "a mapping is expected here"
    return [(key.text, key.place, value) for key, value in node.pairs]


def declared(text: str, problems: Problems) -> dict[str, TypeDeclaration]:
    """Return the types of a YAML mapping, those without a problem."""
    found = {name: (parse_type(node, problems), place) for name, place, node in pairs_of(text)}
    return {name: TypeDeclaration(name, type_, place) for name, (type_, place) in found.items() if type_ is not None}


def shape_of(text: str, types: str = "{}") -> Shape:
    """Return the shape of a type without problems."""
    problems = Problems()
    known = declared(types, problems)
    type_ = parse_type(node_of(text), problems)
    check_names(known, (), problems)
    assert not problems, list(map(str, problems))
    assert type_ is not None
    check_types({**known, "ThisOne": TypeDeclaration("ThisOne", type_, NOWHERE)}, problems)
    assert not problems, list(map(str, problems))
    return compile_type(type_, known)


def message_of(body: str, types: str = "{}", also: tuple[str, ...] = ()) -> MessageCodec:
    """Return the shape of a message without problems."""
    found, known, problems = checked_message(body, types, also)
    assert not problems, list(map(str, problems))
    assert found is not None
    return compile_message(found, known)


def checked_message(
    body: str, types: str = "{}", also: tuple[str, ...] = ()
) -> tuple[Message | None, dict[str, TypeDeclaration], Problems]:
    """Return a message, its types, and the problems of both; no message if its body could not be read."""
    problems = Problems()
    known = declared(types, problems)
    bodies = [parse_body(node_of(text), problems) for text in (body, *also)]
    first, *others = bodies
    if first is None or None in others:
        return None, known, problems
    message = Message("move", ("client",), first, tuple(o for o in others if o is not None), False, NOWHERE)
    check_names(known, (message,), problems)
    check_message(message, known, check_types(known, problems), problems)
    return message, known, problems


# -- the slow twins --------------------------------------------------------------------------------------------------


def exact_shape(type_: Type, types: dict[str, TypeDeclaration], patch: pytest.MonkeyPatch) -> Shape:
    """Return the shape that never lets msgspec look first."""
    with patch.context() as slow:
        slow.setattr(Shape, "native", lambda _: NO_MATCH)
        return compile_type(type_, types)


def exact_message(message: Message, types: dict[str, TypeDeclaration], patch: pytest.MonkeyPatch) -> MessageCodec:
    """Return the message that never lets msgspec look first."""
    with patch.context() as slow:
        slow.setattr(Shape, "native", lambda _: NO_MATCH)
        slow.setattr(decoding._Structs, "of", lambda *_: NO_MATCH)
        return compile_message(message, types)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, of the same classes, and have their keys in the same order, at every depth."""
    if a.__class__ is not b.__class__:
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


def wired(value: Any) -> Any:
    """Return what a peer would decode of what we would send."""
    codec = Codec(Wire())
    return codec.decode(codec.encode(value))


# -- types -----------------------------------------------------------------------------------------------------------

NAMED: dict[str, Type] = {
    "Port": model.Enumeration(("A", "B", "C")),
    "Length": model.Enumeration((3, 4.0, 5.5)),
    "Mixed": model.Enumeration((1, "1", True, None)),
    "Dir": model.Enumeration(("North", "North-East"), True),
    "Square": model.Interval(0, 9),
    "Worker": model.Pattern("[a-z]+[12]"),
    "Link": model.TupleType((model.Named("Port"), model.Named("Port"))),
    "Column": model.ListType(model.Union((model.Named("Link"), model.Scalar("null"))), 2, 3),
}
TYPES = {name: TypeDeclaration(name, type_, NOWHERE) for name, type_ in NAMED.items()}

scalars = st.sampled_from(["string", "int", "number", "bool", "null", "any"]).map(model.Scalar)  # type: ignore[arg-type]
texts: st.SearchStrategy[Type] = st.sampled_from([model.Scalar("string"), model.Named("Worker"), model.Named("Dir")])
keys = st.sampled_from(["key", "other", "a", "b"])


def _keyed(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    def field(pair: tuple[str, Type, bool]) -> model.Key:
        name, type_, optional = pair
        default = compile_type(type_, TYPES).example() if optional else None
        return model.Key(name, type_, optional, default)

    fields = st.lists(st.tuples(keys, inner, st.booleans()).map(field), max_size=3, unique_by=lambda field: field.name)
    return fields.map(lambda found: model.ObjectType(tuple(found)))


def _counts(pair: tuple[Type, tuple[int, int], bool]) -> Type:
    item, (a, b), bounded = pair
    return model.ListType(item, min(a, b), max(a, b) if bounded else None)


types: st.SearchStrategy[Type] = st.recursive(
    scalars | st.sampled_from(list(TYPES)).map(model.Named),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: model.TupleType(tuple(items)))
        | st.tuples(inner, st.tuples(st.integers(0, 3), st.integers(0, 3)), st.booleans()).map(_counts)
        | _keyed(inner)
        | st.builds(model.MapOf, texts, inner)
        | st.lists(inner, min_size=2, max_size=3, unique=True).map(lambda members: model.Union(tuple(members)))
    ),
    max_leaves=6,
)


def values_of(type_: Type) -> st.SearchStrategy[Any]:
    """Return a strategy of JSON values that fit a type."""
    match type_:
        case model.Named(name):
            return values_of(TYPES[name].type)
        case model.Scalar(kind):
            return _SCALAR_VALUES[kind]
        case model.Enumeration(values, loose):
            spelt = st.sampled_from(values)
            return spelt.map(lambda text: text.upper().replace("-", " _")) | spelt if loose else spelt
        case model.Interval(low, high):
            return st.integers(low, high) | st.integers(low, high).map(float)
        case model.Pattern():
            return st.sampled_from(["a1", "abc2"])
        case model.TupleType(items):
            return st.tuples(*map(values_of, items)).map(list)
        case model.ListType(item, low, high):
            return st.lists(values_of(item), min_size=low, max_size=low + 2 if high is None else high)
        case model.ObjectType(fields):
            needed = {field.name: values_of(field.type) for field in fields if not field.optional}
            optional = {field.name: values_of(field.type) for field in fields if field.optional}
            return st.fixed_dictionaries(needed, optional=optional)
        case model.MapOf(key, value):
            return st.dictionaries(values_of(key), values_of(value), max_size=1)
        case model.Union(members):
            return st.one_of(*map(values_of, members))


_SCALAR_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=4),
    "int": st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9).map(float),
    "number": st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "null": st.none(),
    "any": json_values.filter(lambda value: "1000000" not in repr(value) and "9223372036854775808" not in repr(value)),
}
