"""Types compiled to shapes, names of declared types included."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from machines import model
from machines.messages.containers import KeyedShape, KeyShape, ListShape, MapShape, RepeatShape, UnionShape
from machines.messages.scalars import AnyShape, BoolShape, EnumShape, IntShape, NumberShape, TextShape
from machines.messages.shapes import Shape
from machines.model import Type, TypeDeclaration


def compile_type(type_: Type, types: Mapping[str, TypeDeclaration]) -> Shape:
    """Return the shape of a type whose names are all declared in ``types`` and which does not hold itself.

    Both are seen to by `machines.messages.well_formed`. A declared type's shape is made once for each call.
    """
    return Compiler(types).shape(type_)


class Compiler:
    """Makes shapes; a declared type's shape is made once and shared."""

    def __init__(self, types: Mapping[str, TypeDeclaration]) -> None:
        self._types = types
        self._named: dict[str, Shape] = {}

    def shape(self, type_: Type) -> Shape:
        """Return the shape of a type."""
        match type_:
            case model.Named(name):
                if name not in self._named:
                    shape = self._make(self._structure(name))
                    shape.name = name
                    self._named[name] = shape
                return self._named[name]
            case _:
                return self._make(type_)

    def _structure(self, name: str) -> Type:
        """Return what a name stands for, through names of names."""
        type_ = self._types[name].type
        return self._structure(type_.name) if isinstance(type_, model.Named) else type_

    def _make(self, type_: Type) -> Shape:
        match type_:
            case model.Scalar(kind):
                return _SCALARS[kind]()
            case model.Enumeration(values, loose):
                return EnumShape(values, loose)
            case model.Interval(low, high):
                return IntShape(low, high)
            case model.Pattern(regex):
                return TextShape(regex)
            case model.TupleType(items):
                return ListShape([self.shape(item) for item in items])
            case model.ListType(item, low, high):
                return RepeatShape(self.shape(item), low, high)
            case model.ObjectType(fields):
                return KeyedShape([self._key(field) for field in fields])
            case model.MapOf(key, value):
                return MapShape(self.shape(key), self.shape(value))
            case model.Union(members):
                return UnionShape([self.shape(member) for member in members])
            case model.Named():
                return self.shape(type_)

    def _key(self, field: model.Key) -> KeyShape:
        shape = self.shape(field.type)
        return KeyShape(field.name, shape, field.optional, shape.freeze(field.default) if field.optional else None)


_SCALARS: Mapping[str, Callable[[], Shape]] = {
    "string": TextShape,
    "int": IntShape,
    "number": NumberShape,
    "bool": BoolShape,
    "null": lambda: EnumShape([None]),
    "any": AnyShape,
}
