"""A body as the closure that recognises it: the fields of a value, or None if the value is not like the body.

Reading is where a server spends its time on a message. So a body of lists and mappings becomes a msgspec struct, which
checks all of it in one call, 0.4 us for a move. What msgspec refuses, and what it has no word for, is looked at by
closures that know every rule (1.4 us). Where msgspec accepts, the closures accept too, with an equal result; a test
draws values to show it.

Where the struct says all there is to say, the bytes can be parsed straight into it: 0.4 us where parsing first and
looking afterwards take 2 (`parser_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, get_args

import msgspec

from machines import model
from machines.messages.scalars import TextShape
from machines.messages.shapes import NO_MATCH, Shape, Take
from machines.messages.templates import TemplateShape
from machines.model import Body, BodyList, BodyMap, Field, LiteralBody, Text
from machines.values import Record

Fields = tuple[Any, ...]
Read = Callable[[Any], Fields | None]
Parse = Callable[[bytes], Fields | None]
INT_DIGITS = 19  # of the longest whole number of 64 bits
_Fill = Callable[[Any, list[Any]], bool]  # takes fields out of a value, into their slots


def reader_of(body: Body, shape_of: Callable[[Body], Shape], slots: Mapping[str, int], defaults: Sequence[Any]) -> Read:
    """Return the closure that takes the fields out of a value, frozen.

    ``slots`` says where each field of the message goes, ``defaults`` has what a field reads as that this body lacks.
    """
    take = shape_of(body).take
    if not slots:
        return lambda value: None if take(value) is NO_MATCH else ()
    if isinstance(body, Field) and len(slots) == 1:

        def read_field(value: Any) -> Fields | None:
            taken = take(value)
            return None if taken is NO_MATCH else (taken,)

        return read_field
    fill = _fill(body, shape_of, slots)

    def exact(value: Any) -> Fields | None:
        values = list(defaults)
        return tuple(values) if fill(value, values) else None

    if isinstance(body, BodyList | BodyMap) and len(list(model.fields_of(body))) == len(slots):
        structs = _Structs(shape_of)
        made = structs.of(body, "")
        if made is not NO_MATCH:
            return _struct_reader(body, made, structs, slots, exact)
    return exact


def parser_of(body: Body, shape_of: Callable[[Body], Shape], slots: Mapping[str, int]) -> Parse | None:
    """Return the closure that takes the fields out of a JSON text, or None for a body that cannot be read so.

    It returns None wherever it is not certain; the codec and ``reader_of`` must then be asked. What it does return is
    what they give. It knows nothing of the wire's limits: the text must be neither longer nor deeper than they allow,
    and they must allow numbers of INT_DIGITS digits.
    """
    if not isinstance(body, BodyList | BodyMap) or not slots or len(list(model.fields_of(body))) != len(slots):
        return None
    structs = _Structs(shape_of)
    made = structs.of(body, "")
    if made is NO_MATCH or not structs.closed:
        return None
    decode = msgspec.json.Decoder(made).decode
    take_fields = _field_taker(structs, slots)
    colons = structs.keys
    refused = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

    def parse(raw: bytes) -> Fields | None:
        # All keys are there, or msgspec refuses. So if there are as many colons as keys, no key is there twice.
        if raw.count(b":") != colons:
            return None
        try:
            found = decode(raw)
        except refused:
            return None
        return take_fields(found)

    return parse


# -- exactly ---------------------------------------------------------------------------------------------------------


def _fill(body: Body, shape_of: Callable[[Body], Shape], slots: Mapping[str, int]) -> _Fill:
    match body:
        case Field(name):
            return _fill_field(shape_of(body).take, slots[name])
        case LiteralBody():
            take = shape_of(body).take
            return lambda value, values: take(value) is not NO_MATCH
        case Text(parts):
            template = shape_of(body)
            assert isinstance(template, TemplateShape), "a text with fields is a template"
            return _fill_text(template, [slots[part.name] for part in parts if isinstance(part, Field)])
        case BodyList(items):
            return _fill_list([_fill(item, shape_of, slots) for item in items])
        case BodyMap(pairs):
            keys = []
            for name, item in pairs:
                missing = None
                if isinstance(item, Field) and item.optional:
                    missing = slots[item.name], shape_of(item).freeze(item.default)
                keys.append((name, _fill(item, shape_of, slots), missing))
            return _fill_map(keys)


def _fill_field(take: Take, slot: int) -> _Fill:
    def fill(value: Any, values: list[Any]) -> bool:
        taken = take(value)
        if taken is NO_MATCH:
            return False
        values[slot] = taken
        return True

    return fill


def _fill_text(template: TemplateShape, slots: Sequence[int]) -> _Fill:
    def fill(value: Any, values: list[Any]) -> bool:
        found = template.scan(value) if isinstance(value, str) else None
        if found is None:
            return False
        for slot, taken in zip(slots, found, strict=True):
            values[slot] = taken
        return True

    return fill


def _fill_list(fills: Sequence[_Fill]) -> _Fill:
    def fill(value: Any, values: list[Any]) -> bool:
        if not isinstance(value, list | tuple) or len(value) != len(fills):
            return False
        return all(inner(item, values) for inner, item in zip(fills, value, strict=True))

    return fill


def _fill_map(keys: Sequence[tuple[str, _Fill, tuple[int, Any] | None]]) -> _Fill:
    def fill(value: Any, values: list[Any]) -> bool:
        if not isinstance(value, Mapping):
            return False
        left = len(value)
        for name, inner, missing in keys:
            item = value.get(name, NO_MATCH)
            if item is not NO_MATCH:
                left -= 1
                if not inner(item, values):
                    return False
            elif missing is None:
                return False
            else:
                slot, default = missing
                values[slot] = default
        return left == 0

    return fill


# -- by msgspec ------------------------------------------------------------------------------------------------------


class _Structs:
    """Makes msgspec structs of lists and mappings, and notes where in them the fields are.

    A field whose type msgspec has no word for is let in as it is, and noted with the take that it still needs.
    ``keys`` counts the keys of mappings. ``closed`` says that nothing is left to be looked for in the bytes: no key may
    be missing, and no number is without bounds.
    """

    def __init__(self, shape_of: Callable[[Body], Shape]) -> None:
        self.shape_of = shape_of
        self.paths: dict[str, str] = {}
        self.takes: dict[str, Take] = {}
        self.keys = 0
        self.closed = True

    def of(self, body: Body, path: str) -> Any:
        """Return the type of a body, MISS if it holds a text with fields, a fraction, or a key msgspec cannot have."""
        match body:
            case Field(name):
                self.paths[name] = path
                shape = self.shape_of(body)
                native = shape.native()
                if native is NO_MATCH:
                    self.takes[name] = shape.take
                    native = str if isinstance(shape, TextShape) else Any
                if body.optional or _mentions(native, (float, Any)):
                    self.closed = False
                return native
            case LiteralBody():
                return self.shape_of(body).native()
            case Text():
                return NO_MATCH
            case BodyList(items):
                return self._struct([(str(index), item) for index, item in enumerate(items)], path, True)
            case BodyMap(pairs):
                return self._struct(pairs, path, False)

    def _struct(self, pairs: Sequence[tuple[str, Body]], path: str, array: bool) -> Any:
        fields: list[Any] = []
        keys = {}
        for index, (key, body) in enumerate(pairs):
            name = f"f{index}"
            inner = self.of(body, f"{path}.{name}".removeprefix("."))
            if inner is NO_MATCH or not key.isprintable() or '"' in key or "\\" in key:
                return NO_MATCH
            keys[name] = key
            fields.append((name, inner, *self._default(body)))
            if not array:
                self.keys += 1
                self.closed = self.closed and ":" not in key
        # Fields without a default come first in a struct; the keys of a mapping may come in any order.
        fields.sort(key=len)
        rename = None if array else keys
        return msgspec.defstruct("Body", fields, array_like=array, rename=rename, forbid_unknown_fields=True, gc=False)

    def _default(self, body: Body) -> tuple[Any, ...]:
        if not (isinstance(body, Field) and body.optional):
            return ()
        default = self.shape_of(body).freeze(body.default)
        return (msgspec.field(default_factory=lambda: default),)


def _struct_reader(
    body: BodyList | BodyMap, struct: Any, structs: _Structs, slots: Mapping[str, int], exact: Read
) -> Read:
    """Return the reader that first looks at size and one fixed word, then asks msgspec, then the exact reader.

    A message that is not meant is refused by the first look (0.1 us); msgspec takes 0.9 us to refuse.
    """
    take_fields = _field_taker(structs, slots)
    if isinstance(body, BodyList):
        classes: tuple[type, type] = (list, tuple)
        low = high = len(body.items)
        pairs: list[tuple[Any, Body]] = list(enumerate(body.items))
    else:
        classes = (dict, Record)
        high = len(body.items)
        low = high - sum(isinstance(item, Field) and item.optional for _, item in body.items)
        pairs = list(body.items)
    words = [(key, item.value) for key, item in pairs if isinstance(item, LiteralBody) and isinstance(item.value, str)]
    where, word = words[0] if words else (None, None)
    first, second = classes
    keyed = isinstance(body, BodyMap)
    convert, refused = msgspec.convert, msgspec.ValidationError

    def read(value: Any) -> Fields | None:
        kind = value.__class__
        if kind is not first and kind is not second:
            return exact(value)
        if not low <= len(value) <= high:
            return None
        if where is not None and (value.get(where) if keyed else value[where]) != word:
            return None
        try:
            found = convert(value, struct)
        except refused:
            return exact(value)
        return take_fields(found)

    return read


def _field_taker(structs: _Structs, slots: Mapping[str, int]) -> Callable[[Any], Fields | None]:
    """Return what takes the fields out of a struct, in their order; it returns None if one is not what it should be."""
    paths = [structs.paths[name] for name in sorted(slots, key=slots.__getitem__)]
    get = attrgetter(*paths)
    takes = [(slots[name], take) for name, take in structs.takes.items()]
    if len(paths) > 1 and not takes:
        return get
    single = len(paths) == 1

    def take_fields(struct: Any) -> Fields | None:
        values = [get(struct)] if single else list(get(struct))
        for slot, take in takes:
            taken = take(values[slot])
            if taken is NO_MATCH:
                return None
            values[slot] = taken
        return tuple(values)

    return take_fields


def _mentions(native: Any, unbounded: tuple[Any, ...]) -> bool:
    """Return whether a type is one of these or has one within."""
    return native in unbounded or any(_mentions(part, unbounded) for part in get_args(native))
