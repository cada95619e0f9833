"""Shapes of lists, mappings and unions.

list      a tuple; one of nothing but lists, whole numbers, fixed words and the like is checked by msgspec at once
mapping   a Record, its keys in the order declared; a key that may be missing is filled in
union     the first member that takes the value freezes it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Union

import msgspec

from machines.messages.automata import Automaton, Builder
from machines.messages.shapes import NO_MATCH, SAMPLES_MAX, Mismatch, Path, Shape, Take, kind_of, shown
from machines.values import Record


def native_take(native: Any, exact: Take) -> Take:
    """Return a take that lets msgspec look first, and the exact one only if msgspec refuses (it refuses 1.0 for 1)."""
    # A Struct keeps its compiled type; given the bare type, msgspec.convert compiles it anew each time, 90 us a board.
    holder: Any = msgspec.defstruct("Holder", [("held", native)], array_like=True)
    convert = msgspec.convert
    refused = (msgspec.ValidationError, UnicodeEncodeError)  # the latter of a lone surrogate where words are listed

    def take(value: Any) -> Any:
        kind = value.__class__
        if kind is list or kind is tuple:
            try:
                return convert((value,), holder).held
            except refused:
                pass
        return exact(value)

    return take


# -- lists -----------------------------------------------------------------------------------------------------------


class ListShape(Shape):
    """``[A, B]``: exactly these."""

    kinds = frozenset({"list"})

    def __init__(self, items: Iterable[Shape]) -> None:
        self.items = tuple(items)
        takes = [item.take for item in self.items]

        def exact(value: Any) -> Any:
            if not isinstance(value, list | tuple) or len(value) != len(takes):
                return NO_MATCH
            taken = []
            for take, item in zip(takes, value, strict=True):
                frozen = take(item)
                if frozen is NO_MATCH:
                    return NO_MATCH
                taken.append(frozen)
            return tuple(taken)

        native = self._native()
        self.take = exact if native is NO_MATCH else native_take(native, exact)

    def fault(self, value: Any, path: Path) -> Mismatch:
        """Return the first item that does not fit, or that there are too few or too many."""
        if not isinstance(value, list | tuple):
            return super().fault(value, path)
        if len(value) != len(self.items):
            return Mismatch(path, f"a list of {len(self.items)}", f"a list of {len(value)}")
        wrong = (i for i, item in enumerate(self.items) if item.take(value[i]) is NO_MATCH)
        index = next(wrong)
        return self.items[index].fault(value[index], (*path, index))

    def _written(self) -> str:
        return f"[{', '.join(item.describe() for item in self.items)}]"

    def _example(self) -> Any:
        return tuple(item.example() for item in self.items)

    def _samples(self) -> Iterator[Any]:
        first = self._example()
        yield first
        for index, item in enumerate(self.items[:SAMPLES_MAX]):
            for sample in islice(item.samples(), 1, 3):
                yield (*first[:index], sample, *first[index + 1 :])

    def _native(self) -> Any:
        items = [item.native() for item in self.items]
        return NO_MATCH if NO_MATCH in items else tuple[tuple(items)]  # type: ignore[misc]

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        size = len(self.items)
        items = {"prefixItems": [item.refer(definitions) for item in self.items]} if self.items else {}
        return {"type": "array", **items, "items": False, "minItems": size}


class RepeatShape(Shape):
    """``[A, ...]``, ``[A, ... 10]``, ``[A, ... 0..6]``."""

    kinds = frozenset({"list"})

    def __init__(self, item: Shape, low: int, high: int | None) -> None:
        self.item, self.low, self.high = item, low, high
        take_item = item.take

        def exact(value: Any) -> Any:
            if not isinstance(value, list | tuple) or len(value) < low or (high is not None and len(value) > high):
                return NO_MATCH
            taken = []
            for one in value:
                frozen = take_item(one)
                if frozen is NO_MATCH:
                    return NO_MATCH
                taken.append(frozen)
            return tuple(taken)

        native = self._native()
        self.take = exact if native is NO_MATCH else native_take(native, exact)

    def fault(self, value: Any, path: Path) -> Mismatch:
        """Return the first item that does not fit, or that there are too few or too many."""
        if not isinstance(value, list | tuple):
            return super().fault(value, path)
        if len(value) < self.low or (self.high is not None and len(value) > self.high):
            return Mismatch(path, f"a list of {self._sizes()}", f"a list of {len(value)}")
        wrong = (i for i, item in enumerate(value) if self.item.take(item) is NO_MATCH)
        index = next(wrong)
        return self.item.fault(value[index], (*path, index))

    def _sizes(self) -> str:
        if self.high is None:
            return f"{self.low} or more"
        return str(self.low) if self.low == self.high else f"{self.low}..{self.high}"

    def _written(self) -> str:
        return f"[{self.item.describe()}, ...{'' if (self.low, self.high) == (0, None) else ' ' + self._sizes()}]"

    def _example(self) -> Any:
        least = 1 if self.low == 0 and self.high != 0 else self.low
        return (self.item.example(),) * least

    def _samples(self) -> Iterator[Any]:
        example = self._example()
        yield example
        for sample in islice(self.item.samples(), 1, SAMPLES_MAX):
            yield (sample,) * len(example)
        if self.low != len(example):
            yield (self.item.example(),) * self.low
        if self.high is None or self.high > len(example):
            yield (*example, self.item.example())

    def _native(self) -> Any:
        item = self.item.native()
        if item is NO_MATCH:
            return NO_MATCH
        return Annotated[tuple[item, ...], msgspec.Meta(min_length=self.low, max_length=self.high)]  # type: ignore[valid-type]

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        most = {} if self.high is None else {"maxItems": self.high}
        return {"type": "array", "items": self.item.refer(definitions), "minItems": self.low, **most}


# -- mappings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeyShape:
    """One key of a KeyedShape; ``default`` is frozen and stands for a key that is missing and may be."""

    name: str
    shape: Shape
    optional: bool
    default: Any


class KeyedShape(Shape):
    """``{key: A, other: B = default}``: exactly these keys."""

    kinds = frozenset({"map"})

    def __init__(self, keys: Iterable[KeyShape]) -> None:
        self.keys = tuple(keys)
        rows = [(key.name, key.shape.take, key.optional, key.default) for key in self.keys]

        def take(value: Any) -> Any:
            if not isinstance(value, Mapping):
                return NO_MATCH
            taken = {}
            left = len(value)
            for name, take_value, optional, default in rows:
                inner = value.get(name, NO_MATCH)
                if inner is not NO_MATCH:
                    left -= 1
                    frozen = take_value(inner)
                    if frozen is NO_MATCH:
                        return NO_MATCH
                    taken[name] = frozen
                elif optional:
                    taken[name] = default
                else:
                    return NO_MATCH
            return NO_MATCH if left else Record(taken)

        self.take = take

    def fault(self, value: Any, path: Path) -> Mismatch:
        """Return the first key that is missing, does not fit or is not known."""
        if not isinstance(value, Mapping):
            return super().fault(value, path)
        for key in self.keys:
            if key.name not in value:
                if not key.optional:
                    return Mismatch(path, f"a key {shown(key.name)}", shown(value))
            elif key.shape.take(value[key.name]) is NO_MATCH:
                return key.shape.fault(value[key.name], (*path, key.name))
        known = ", ".join(key.name for key in self.keys)
        more = next(name for name in value if name not in {key.name for key in self.keys})
        return Mismatch(path, f"no keys but {known}" if known else "no keys", f"a key {shown(more)}")

    def _written(self) -> str:
        keys = (
            f"{key.name}: {key.shape.describe()}" + (f" = {shown(key.default)}" if key.optional else "")
            for key in self.keys
        )
        return f"{{{', '.join(keys)}}}"

    def _example(self) -> Any:
        return Record((key.name, key.shape.example()) for key in self.keys)

    def _samples(self) -> Iterator[Any]:
        first = dict(self._example())
        yield Record(first)
        for key in self.keys[:SAMPLES_MAX]:
            for sample in islice(key.shape.samples(), 1, 3):
                yield Record({**first, key.name: sample})
            if key.optional:
                yield Record((name, value) for name, value in first.items() if name != key.name)

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {key.name: key.shape.refer(definitions) for key in self.keys},
            "required": [key.name for key in self.keys if not key.optional],
            "additionalProperties": False,
        }


class MapShape(Shape):
    """``{map: [Key, Value]}``: any keys of one type, with values of another."""

    kinds = frozenset({"map"})

    def __init__(self, key: Shape, value: Shape) -> None:
        self.key, self.value = key, value
        take_key, take_value = key.take, value.take

        def take(value: Any) -> Any:
            if not isinstance(value, Mapping):
                return NO_MATCH
            taken = {}
            for name, inner in value.items():
                key, frozen = take_key(name), take_value(inner)
                if key is NO_MATCH or frozen is NO_MATCH:
                    return NO_MATCH
                taken[key] = frozen
            # Two keys may be the same word of a loose enumeration.
            return Record(taken) if len(taken) == len(value) else NO_MATCH

        self.take = take

    def fault(self, value: Any, path: Path) -> Mismatch:
        """Return the first key or value that does not fit."""
        if not isinstance(value, Mapping):
            return super().fault(value, path)
        for name, inner in value.items():
            if self.key.take(name) is NO_MATCH:
                wrong = self.key.fault(name, ())
                return Mismatch(path, f"keys that are {wrong.expected}", f"a key {wrong.got}")
            if self.value.take(inner) is NO_MATCH:
                return self.value.fault(inner, (*path, name))
        return Mismatch(path, f"each {self.key.describe()} once", shown(value))

    def _written(self) -> str:
        return f"map of {self.key.describe()} to {self.value.describe()}"

    def _example(self) -> Any:
        return Record({self.key.example(): self.value.example()})

    def _samples(self) -> Iterator[Any]:
        yield self._example()
        yield Record()
        for sample in islice(self.value.samples(), 1, SAMPLES_MAX):
            yield Record({self.key.example(): sample})
        for key in islice(self.key.samples(), 1, SAMPLES_MAX):
            yield Record({key: self.value.example()})

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "propertyNames": self.key.refer(definitions),
            "additionalProperties": self.value.refer(definitions),
        }


# -- unions ----------------------------------------------------------------------------------------------------------


class UnionShape(Shape):
    """``A | B``: the first member that takes the value freezes it."""

    def __init__(self, members: Iterable[Shape]) -> None:
        self.members = tuple(members)
        self.kinds = frozenset().union(*(member.kinds for member in self.members))
        by_kind = {kind: [m.take for m in self.members if kind in m.kinds] for kind in self.kinds}
        by_class: dict[type, Take] = {
            class_: _first_of(by_kind[kind]) for classes, kind in _CLASSES for class_ in classes if kind in by_kind
        }
        find = by_class.get

        def take(value: Any) -> Any:
            take_value = find(value.__class__)
            if take_value is not None:
                return take_value(value)
            # A class of somebody's own, like an Enum of texts.
            takes = by_kind.get(kind_of(value))
            return NO_MATCH if takes is None else _first_of(takes)(value)

        self.take = take

    def fault(self, value: Any, path: Path) -> Mismatch:
        """Return what the only member of the value's kind says, else that no member takes it."""
        alike = [member for member in self.members if kind_of(value) in member.kinds]
        return alike[0].fault(value, path) if len(alike) == 1 else super().fault(value, path)

    def _written(self) -> str:
        return " | ".join(member.describe() for member in self.members)

    def _example(self) -> Any:
        return self.members[0].example()

    def _samples(self) -> Iterator[Any]:
        each = max(2, SAMPLES_MAX // len(self.members))
        for member in self.members:
            yield from islice(member.samples(), each)

    def _language(self) -> Automaton | None:
        parts = [language for member in self.members if (language := member.language()) is not None]
        builder = Builder()
        return builder.finish(builder.either([builder.embed(part) for part in parts])) if parts else None

    def _native(self) -> Any:
        members = [member.native() for member in self.members]
        # Of two members of one kind the first must win; msgspec knows no first, and often refuses such a union.
        distinct = sum(len(member.kinds) for member in self.members) == len(self.kinds)
        # A union of a tuple of fixed length and a number with bounds crashes the garbage collector in msgspec 0.22.
        crashing = {"list", "number"} <= self.kinds
        if not distinct or crashing or NO_MATCH in members:
            return NO_MATCH
        return Union[tuple(members)]  # noqa: UP007 - made at run time

    def _schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [member.refer(definitions) for member in self.members]}


_CLASSES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((type(None),), "null"),
    ((bool,), "bool"),
    ((int, float), "number"),
    ((str,), "text"),
    ((list, tuple), "list"),
    ((dict, Record), "map"),
)


def _first_of(takes: list[Take]) -> Take:
    if len(takes) == 1:
        return takes[0]

    def take(value: Any) -> Any:
        for take_value in takes:
            frozen = take_value(value)
            if frozen is not NO_MATCH:
                return frozen
        return NO_MATCH

    return take
