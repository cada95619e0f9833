"""Messages compiled: one body writes a message, and it or another recognises it and takes its holes out.

    [place, $id int, {tile: $tile int, x: $x int}]      build((17, 3, 4))  ->  ("place", 17, {"tile": 3, "x": 4})
                                                        read(["place", 17, {"tile": 3, "x": 4}])  ->  (17, 3, 4)

Reading is where a server spends its time on a message. A body of lists and mappings is turned into msgspec structs,
which check all of it in one call (0.4 us for a move); what they refuse, and what they cannot say, is looked at again by
closures that know every rule. The two agree wherever both accept, and a test draws values to prove it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

import msgspec

from machines import model
from machines.compounds import Compiler, Key, KeyedShape, ListShape
from machines.model import Body, BodyList, BodyMap, Hole, Message, Text, TypeDeclaration, Verbatim
from machines.shapes import MISS, EnumShape, Mismatch, Path, Shape, Take
from machines.templates import TemplateShape

Holes = tuple[Any, ...]
Read = Callable[[Any], Holes | None]
_Fill = Callable[[Any, list[Any]], bool]  # takes holes out of a value, into their slots
_Make = Callable[[Sequence[Any]], Any]  # puts frozen values into a body


class MessageShape:
    """How one message is written and recognised.

    ``holes`` are their names in the order written. ``read(value)`` returns the frozen values of the holes in that
    order, None if no body fits; it never raises for a JSON value. ``build(values)`` returns the JSON value, arrays
    as tuples; it raises Mismatch for a value that does not fit its hole, and ValueError for too few or too many.
    ``shapes`` is what the value as a whole must be, one for each body.
    """

    __slots__ = ("build", "holes", "name", "read", "shapes")

    def __init__(self, message: Message, types: Mapping[str, TypeDeclaration]) -> None:
        compiler = Compiler(types)
        holes = message.holes
        slots = {hole.name: index for index, hole in enumerate(holes)}
        # A body of `also` may lack a hole that has a default.
        defaults = [compiler.shape(hole.type).freeze(hole.default) if hole.optional else None for hole in holes]
        compiled = [_Compiled(body, compiler, slots, defaults) for body in (message.body, *message.also)]
        self.name = message.name
        self.holes = tuple(slots)
        self.shapes = tuple(body.shape for body in compiled)
        self.build: Callable[[Sequence[Any]], Any] = compiled[0].writer()
        readers = [body.reader() for body in compiled]
        self.read: Read = readers[0] if len(readers) == 1 else _first_of(readers)

    def why_not(self, value: Any) -> str:
        """Return what keeps a value from being this message, in the body that it comes closest to; for people."""
        faults = [shape.fault(value, ()) for shape in self.shapes if shape.take(value) is MISS]
        if len(faults) < len(self.shapes):
            return f"it is {self.name}"
        return str(max(faults, key=lambda fault: len(fault.path)))

    def example(self) -> Any:
        """Return a value that `read` takes: the body with an example in each hole."""
        return self.shapes[0].example()

    def samples(self) -> Iterator[Any]:
        """Yield values that `read` takes and that differ where the holes leave room."""
        for shape in self.shapes:
            yield from shape.samples()

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of the message; see `Shape.json_schema` for what it leaves open."""
        definitions: dict[str, Any] = {}
        bodies = [shape.refer(definitions) for shape in self.shapes]
        schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
        return {**schema, "$defs": definitions} if definitions else schema


def compile_message(message: Message, types: Mapping[str, TypeDeclaration]) -> MessageShape:
    """Return the shape of a message that `machines.typecheck` found nothing wrong with."""
    return MessageShape(message, types)


def _first_of(readers: Sequence[Read]) -> Read:
    def read(value: Any) -> Holes | None:
        for reader in readers:
            holes = reader(value)
            if holes is not None:
                return holes
        return None

    return read


class _Compiled:
    """One body of a message. ``slots`` is where its holes go, ``defaults`` what a hole that it lacks reads as."""

    def __init__(
        self, body: Body, compiler: Compiler, slots: Mapping[str, int], defaults: Sequence[Any]
    ) -> None:
        self.body, self.slots, self.defaults = body, slots, defaults
        self.compiler = compiler
        self.shape = self._shape(body)

    def _shape(self, body: Body) -> Shape:
        match body:
            case Hole():
                return self.compiler.shape(body.type)
            case Verbatim(value):
                return EnumShape([value])
            case Text():
                return self._template(body)
            case BodyList(items):
                return ListShape([self._shape(item) for item in items])
            case BodyMap(pairs):
                return KeyedShape([self._key(name, item) for name, item in pairs])

    def _key(self, name: str, body: Body) -> Key:
        shape = self._shape(body)
        if isinstance(body, Hole) and body.optional:
            return Key(name, shape, True, shape.freeze(body.default))
        return Key(name, shape, False, None)

    def _template(self, body: Text) -> TemplateShape:
        parts = [p if isinstance(p, str) else (p.name, self.compiler.shape(p.type)) for p in body.parts]
        return TemplateShape(parts)

    # -- writing -----------------------------------------------------------------------------------------------------

    def writer(self) -> Callable[[Sequence[Any]], Any]:
        """Return the closure that builds the value from the values of the holes."""
        make = self._make(self.body, ())
        takes = [self._shape(hole).take for hole in model.holes(self.body)]
        if not takes:
            constant = make(())
            nothing: Sequence[Any] = ()

            def build_constant(values: Sequence[Any]) -> Any:
                if len(values) != len(nothing):
                    raise ValueError(f"this message has no holes, but {len(values)} values were given")
                return constant

            return build_constant
        places = list(_paths(self.body, ()))
        shapes = [self._shape(hole) for hole in model.holes(self.body)]

        def build(values: Sequence[Any]) -> Any:
            frozen = []
            for take, value in zip(takes, values, strict=True):
                taken = take(value)
                if taken is MISS:
                    index = len(frozen)
                    raise shapes[index].fault(value, places[index])
                frozen.append(taken)
            return make(frozen)

        return build

    def _make(self, body: Body, path: Path) -> _Make:
        match body:
            case Hole(name):
                return itemgetter(self.slots[name])
            case Verbatim(value):
                return lambda values: value
            case Text(parts):
                template = self._template(body)
                slots = [self.slots[part.name] for part in parts if isinstance(part, Hole)]
                return lambda values: template.write([values[slot] for slot in slots], path)
            case BodyList(items):
                makes = [self._make(item, (*path, index)) for index, item in enumerate(items)]
                return lambda values: tuple([make(values) for make in makes])
            case BodyMap(pairs):
                made = [(name, self._make(item, (*path, name))) for name, item in pairs]
                return lambda values: {name: make(values) for name, make in made}

    # -- reading -----------------------------------------------------------------------------------------------------

    def reader(self) -> Read:
        """Return the closure that takes the holes out of a value."""
        take = self.shape.take
        names = [hole.name for hole in model.holes(self.body)]
        exact = self._exact_reader()
        if not names and not self.slots:
            return lambda value: None if take(value) is MISS else ()
        if isinstance(self.body, Hole) and len(self.slots) == 1:

            def read_hole(value: Any) -> Holes | None:
                taken = take(value)
                return None if taken is MISS else (taken,)

            return read_hole
        if isinstance(self.body, BodyList | BodyMap) and len(names) == len(self.slots):
            return _native_reader(self.body, self._shape, self.slots, exact)
        return exact

    def _exact_reader(self) -> Read:
        fill = self._fill(self.body)
        defaults = self.defaults

        def read(value: Any) -> Holes | None:
            values = list(defaults)
            return tuple(values) if fill(value, values) else None

        return read

    def _fill(self, body: Body) -> _Fill:
        match body:
            case Hole(name):
                return _fill_hole(self._shape(body).take, self.slots[name])
            case Verbatim():
                take = self._shape(body).take
                return lambda value, values: take(value) is not MISS
            case Text(parts):
                slots = [self.slots[part.name] for part in parts if isinstance(part, Hole)]
                return _fill_text(self._template(body), slots)
            case BodyList(items):
                return _fill_list([self._fill(item) for item in items])
            case BodyMap(pairs):
                keys = [(name, self._fill(item), self._slot_if_optional(item)) for name, item in pairs]
                return _fill_map(keys, self.defaults)

    def _slot_if_optional(self, body: Body) -> int | None:
        return self.slots[body.name] if isinstance(body, Hole) and body.optional else None
