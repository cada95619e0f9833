"""Messages compiled: one body writes a message, and it or another recognises it and takes its fields out.

    [place, $id int, {tile: $tile int, x: $x int}]      build((17, 3, 4))  ->  ("place", 17, {"tile": 3, "x": 4})
                                                        read(["place", 17, {"tile": 3, "x": 4}])  ->  (17, 3, 4)

How a body is recognised is in `machines.messages.decoding`, what may stand in a field in `machines.messages.shapes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from machines import model
from machines.messages.compiler import Compiler
from machines.messages.containers import KeyedShape, KeyShape, ListShape
from machines.messages.decoding import Fields, Parse, Read, parser_of, reader_of
from machines.messages.known_json import SentAgain, is_large, known_json
from machines.messages.scalars import EnumShape
from machines.messages.shapes import NO_MATCH, Mismatch, Path, Shape
from machines.messages.templates import TemplateShape
from machines.model import Body, BodyList, BodyMap, Field, LiteralBody, Message, Text, TypeDeclaration

_Make = Callable[[tuple[Any, ...]], Any]
_Joined = Callable[..., Any]  # makes a mapping of values that are given one by one
_Encode = Callable[[Any], msgspec.Raw]


class MessageCodec:
    """How one message is written and recognised.

    ``fields`` are their names in the order written. ``read(value)`` returns the frozen values of the fields in that
    order, None if no body fits; it never raises for a JSON value. ``build(values)`` returns the JSON value, arrays
    as tuples; it raises Mismatch for a value that does not fit its field, and ValueError for too few or too many.
    ``shapes`` is what the value as a whole must be, one for each body.

    The quick ways: ``pack(values)`` is ``build`` for a value that is only to be encoded as JSON, mappings as structs.
    ``parse``, if there is one, is ``read`` for JSON text: see `machines.messages.decoding.parser_of`.
    """

    __slots__ = ("_example", "build", "fields", "name", "pack", "parse", "read", "shapes")

    def __init__(self, message: Message, types: Mapping[str, TypeDeclaration]) -> None:
        compiler = Compiler(types)
        fields = message.fields
        slots = {field.name: index for index, field in enumerate(fields)}
        # A body of `also` may lack a field that has a default.
        defaults = [compiler.shape(field.type).freeze(field.default) if field.optional else None for field in fields]
        compiled = [_Compiled(body, compiler, slots, defaults) for body in (message.body, *message.also)]
        self.name = message.name
        self.fields = tuple(slots)
        self.shapes = tuple(body.shape for body in compiled)
        self.build: Callable[[Sequence[Any]], Any] = compiled[0].writer(_mapping)
        self.pack: Callable[[Sequence[Any]], Any] = compiled[0].writer(_struct, known_json)
        readers = [body.reader() for body in compiled]
        self.read: Read = readers[0] if len(readers) == 1 else _first_of(readers)
        self.parse: Parse | None = compiled[0].parser() if len(compiled) == 1 else None
        self._example: Any = NO_MATCH  # until it is asked for

    def why_not(self, value: Any) -> str:
        """Return what keeps a value from being this message, in the body that it comes closest to; for people."""
        faults = self.faults(value)
        if not faults:
            return f"it is {self.name}"
        return str(max(faults, key=lambda fault: len(fault.path)))

    def faults(self, value: Any) -> list[Mismatch]:
        """Return what keeps a value from being each body of this message; empty if it is one."""
        faults = [shape.fault(value, ()) for shape in self.shapes if shape.take(value) is NO_MATCH]
        return faults if len(faults) == len(self.shapes) else []

    def example(self) -> Any:
        """Return a value that `read` takes: the body with an example in each field.

        It is frozen, and made once: of patterns that takes milliseconds, and each message that is none asks for it.
        """
        if self._example is NO_MATCH:
            self._example = self.shapes[0].example()
        return self._example

    def samples(self) -> Iterator[Any]:
        """Yield values that `read` takes and that differ where the fields leave room."""
        for shape in self.shapes:
            yield from shape.samples()

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of the message; see `Shape.json_schema` for what it leaves open."""
        definitions: dict[str, Any] = {}
        bodies = [shape.refer(definitions) for shape in self.shapes]
        schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
        return {**schema, "$defs": definitions} if definitions else schema


def compile_message(message: Message, types: Mapping[str, TypeDeclaration]) -> MessageCodec:
    """Return the shape of a message that `machines.messages.well_formed` found nothing wrong with."""
    return MessageCodec(message, types)


def _first_of(readers: Sequence[Read]) -> Read:
    def read(value: Any) -> Fields | None:
        for reader in readers:
            fields = reader(value)
            if fields is not None:
                return fields
        return None

    return read


class _Compiled:
    """One body of a message. ``slots`` is where its fields go, ``defaults`` what a field that it lacks reads as."""

    def __init__(self, body: Body, compiler: Compiler, slots: Mapping[str, int], defaults: Sequence[Any]) -> None:
        self.body, self.slots, self.defaults = body, slots, defaults
        self._compiler = compiler
        self.shape = self._shape(body)

    def _shape(self, body: Body) -> Shape:
        match body:
            case Field():
                return self._compiler.shape(body.type)
            case LiteralBody(value):
                return EnumShape([value])
            case Text():
                return self._template(body)
            case BodyList(items):
                return ListShape([self._shape(item) for item in items])
            case BodyMap(pairs):
                return KeyedShape([self._key(name, item) for name, item in pairs])

    def _key(self, name: str, body: Body) -> KeyShape:
        shape = self._shape(body)
        if isinstance(body, Field) and body.optional:
            return KeyShape(name, shape, True, shape.freeze(body.default))
        return KeyShape(name, shape, False, None)

    def _template(self, body: Text) -> TemplateShape:
        parts = [p if isinstance(p, str) else (p.name, self._compiler.shape(p.type)) for p in body.parts]
        return TemplateShape(parts)

    def reader(self) -> Read:
        """Return the closure that takes the fields out of a value."""
        return reader_of(self.body, self._shape, self.slots, self.defaults)

    def parser(self) -> Parse | None:
        """Return the closure that takes the fields out of a JSON text, if there is one."""
        return parser_of(self.body, self._shape, self.slots)

    def writer(
        self, joined: Callable[[Sequence[str]], _Joined], json_of: Callable[[Shape], _Encode | None] | None = None
    ) -> Callable[[Sequence[Any]], Any]:
        """Return the closure that builds the value from the values of the fields; ``joined`` makes mappings.

        Of the fields for whose shape ``json_of`` gives something, their JSON stands in the value.
        """
        names: dict[str, Any] = {"__builtins__": {}}
        text = self._written(self.body, (), names, joined)
        make: _Make = eval(f"lambda v: {text}", names)  # noqa: S307 (it was written here: see `_written`)
        fields = list(model.fields_of(self.body))
        shapes = [self._shape(field) for field in fields]
        places = list(_paths(self.body, ()))
        found_json = [json_of(shape) for shape in shapes] if json_of is not None else []
        known = [(index, of) for index, of in enumerate(found_json) if of is not None]
        holder = _holder(shapes, frozenset(index for index, _ in known))
        again = _again(shapes) if json_of is not None and not known else None
        takes = [shape.take for shape in shapes]
        constant = make(()) if not fields else None
        convert, as_tuple = msgspec.convert, msgspec.structs.astuple
        refused = (msgspec.ValidationError, UnicodeEncodeError)

        def build(values: Sequence[Any]) -> Any:
            if holder is not None:
                try:
                    if again is not None and (same := again(values)) is not None:
                        return make(as_tuple(same))
                    ready = _with_json(values, known) if known else values
                    return make(as_tuple(convert(ready, holder)))
                except refused:
                    pass  # msgspec refuses 1.0 where an int stands, and cannot say where in our words
            if len(values) != len(takes):
                raise ValueError(f"this message has {len(takes)} fields, but {len(values)} values were given")
            if not takes:
                return constant
            found = [take(value) for take, value in zip(takes, values, strict=True)]
            for index, taken in enumerate(found):
                if taken is NO_MATCH:
                    raise shapes[index].fault(values[index], places[index])
            return make(tuple(found))

        return build

    def _written(
        self, body: Body, path: Path, names: dict[str, Any], joined: Callable[[Sequence[str]], _Joined]
    ) -> str:
        """Return a body as Python that makes it of ``v``, the values of the fields; what it mentions is in ``names``.

        Nothing of a spec stands in the text: its words are mentioned, too.
        """

        def called(value: Any) -> str:
            name = f"k{len(names)}"
            names[name] = value
            return name

        match body:
            case Field(name):
                return f"v[{self.slots[name]}]"
            case LiteralBody(value):
                return called(value)
            case Text(parts):
                values = [f"v[{self.slots[part.name]}]" for part in parts if isinstance(part, Field)]
                return f"{called(self._template(body).write)}([{', '.join(values)}], {called(path)})"
            case BodyList(items):
                written = [self._written(item, (*path, index), names, joined) for index, item in enumerate(items)]
                return f"({''.join(f'{item}, ' for item in written)})"
            case BodyMap(pairs):
                written = [self._written(item, (*path, key), names, joined) for key, item in pairs]
                return f"{called(joined([key for key, _ in pairs]))}({', '.join(written)})"


def _mapping(names: Sequence[str]) -> _Joined:
    return lambda *values: dict(zip(names, values, strict=True))


def _struct(names: Sequence[str]) -> _Joined:
    """Return a struct's class: made and encoded in half the time of a dict."""
    if not all(name.isprintable() and '"' not in name and "\\" not in name for name in names):
        return _mapping(names)
    fields = [(f"f{index}", Any) for index, _ in enumerate(names)]
    keys = {f"f{index}": name for index, name in enumerate(names)}
    return msgspec.defstruct("Mapping", fields, rename=keys, gc=False)


def _holder(shapes: Sequence[Shape], known: frozenset[int]) -> type[msgspec.Struct] | None:
    """Return the struct into which msgspec freezes the values of all fields, None if it cannot.

    In the places that are ``known`` stands JSON that was checked.
    """
    natives = [msgspec.Raw if index in known else shape.native() for index, shape in enumerate(shapes)]
    if NO_MATCH in natives or len(natives) < 2:
        return None
    # A struct keeps its compiled type; given the bare type, msgspec.convert would compile it for each message.
    fields = [(f"f{index}", native) for index, native in enumerate(natives)]
    return msgspec.defstruct("Fields", fields, array_like=True, forbid_unknown_fields=True, gc=False)


def _again(shapes: Sequence[Shape]) -> Callable[[Sequence[Any]], Any] | None:
    """Return what freezes values of which the large one was sent before; None if there is no large one.

    It returns None where that one is another than it was, and raises ValidationError as the holder does.
    """
    index = next((index for index, shape in enumerate(shapes) if is_large(shape)), None)
    holder = _holder(shapes, frozenset([index])) if index is not None else None
    if index is None or holder is None:
        return None
    sent, convert = SentAgain(shapes[index]), msgspec.convert

    def again(values: Sequence[Any]) -> Any:
        json = sent.json_of(values[index]) if index < len(values) else None
        return convert((*values[:index], json, *values[index + 1 :]), holder) if json is not None else None

    return again


def _with_json(values: Sequence[Any], known: Sequence[tuple[int, _Encode]]) -> list[Any]:
    ready = list(values)
    for index, write in known:
        if index < len(ready):
            ready[index] = write(ready[index])
    return ready


def _paths(body: Body, path: Path) -> Iterator[Path]:
    """Yield where each field stands in the value, in the order written."""
    match body:
        case Field():
            yield path
        case Text(parts):
            yield from (path for part in parts if isinstance(part, Field))
        case BodyList(items):
            for index, item in enumerate(items):
                yield from _paths(item, (*path, index))
        case BodyMap(pairs):
            for name, item in pairs:
                yield from _paths(item, (*path, name))
        case LiteralBody():
            pass
