"""How many elements a value of a type may have, by nesting: what may have too many is counted before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Final

from machines import model
from machines.expressions.operations import LENGTH_MAX
from machines.model import Type, TypeDeclaration

WIDE_MIN: Final = 64 * LENGTH_MAX  # a flat list of small things is no wider, whatever its length


def widest(type_: Type, types: Mapping[str, TypeDeclaration]) -> float:
    """Return the most elements that a value of a type can have, infinity for ``any``.

    No type may hold itself. A list without a limit has LENGTH_MAX elements, which is all that a name can hold.
    """
    match type_:
        case model.Named(name):
            return widest(types[name].type, types)
        case model.Scalar("any"):
            return inf
        case model.TupleType(items) | model.Union(items):
            return 1 + sum(widest(item, types) for item in items)
        case model.ListType(item, _, high):
            return 1 + (LENGTH_MAX if high is None else high) * widest(item, types)
        case model.ObjectType(fields):
            return 1 + sum(widest(field.type, types) for field in fields)
        case model.MapOf(_, value):
            return 1 + LENGTH_MAX * widest(value, types)
    return 1
