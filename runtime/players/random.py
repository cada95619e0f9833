"""A player for any protocol: it says what the types of the messages allow, at random, and knows no rules.

Its first use is a spec without a rules module: whatever a game there waits for comes sooner or later, and the same
seed brings the same game.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from random import Random
from typing import Any

from machines.messages.bodies import MessageCodec, compile_message
from machines.messages.types import NO_MATCH, Mismatch, compile_type
from machines.model import (
    Enumeration,
    Field,
    Interval,
    ListType,
    MapOf,
    Named,
    ObjectType,
    Pattern,
    Scalar,
    Spec,
    TupleType,
    Type,
    Union,
)
from runtime.players.base import Arguments, GenericPlayer

ITEMS_MORE_MAX = 4  # Than a list's least length, where it may have any; a few are enough to look at.
INT_MAX = 9  # Of an int without a range: in small protocols those count or are places.
TEXTS_MAX = 24  # Samples of a text among which one is chosen.
TRIES = 20  # A text may hold what ends it in its message; then other values are drawn.


class RandomPlayer(GenericPlayer):
    """Answers with any of the messages that may answer, and any values that fit its fields.

    A field named like an argument of the question takes that value every other time, if it fits: what a player is told
    is often what it has to say. The same seed and the same questions give the same answers.
    """

    def __init__(self, spec: Spec, seed: int) -> None:
        self._spec = spec
        self._chance = Random(f"random {seed}")
        self._shapes: dict[str, MessageCodec] = {}

    def decide_now(self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None) -> Any:
        """Return ``(message, {field: value})``; the message's example if nothing else can be written."""
        return self.drawn(self._chance.choice(messages), dict(arguments))

    def drawn(self, name: str, given: Mapping[str, Any]) -> Any:
        """Return an answer with a message; its fields may take values that are ``given`` by their names."""
        if name not in self._shapes:
            self._shapes[name] = compile_message(self._spec.messages[name], self._spec.types)
        shape = self._shapes[name]
        for _ in range(TRIES):
            drawn = {field.name: self._field(field, given) for field in self._spec.messages[name].fields}
            try:
                shape.build([drawn[field] for field in shape.fields])
            except Mismatch:
                continue
            return name, drawn
        return shape.example() if not shape.fields else (name, self._example(shape))

    def _example(self, shape: MessageCodec) -> dict[str, Any]:
        read = shape.read(shape.example())
        assert read is not None, f"the example of {shape.name} does not fit {shape.name}"
        return dict(zip(shape.fields, read, strict=True))

    def _field(self, field: Field, given: Mapping[str, Any]) -> Any:
        if field.name in given and self._heads():
            told = compile_type(field.type, self._spec.types).take(given[field.name])
            if told is not NO_MATCH:
                return told
        if field.optional and self._heads():
            return field.default
        return self.value(field.type)

    def _heads(self) -> bool:
        return self._chance.random() < 0.5

    def value(self, wanted: Type) -> Any:
        """Return a value of a type."""
        chance = self._chance
        match wanted:
            case Named(name):
                return self.value(self._spec.types[name].type)
            case Enumeration(values):
                return chance.choice(values)
            case Interval(low, high):
                return chance.randint(low, high)
            case TupleType(items):
                return tuple(map(self.value, items))
            case ListType(item, low, high):
                most = low + ITEMS_MORE_MAX if high is None else min(high, low + ITEMS_MORE_MAX)
                return tuple([self.value(item) for _ in range(chance.randint(low, most))])
            case ObjectType(fields):
                return {
                    field.name: field.default if field.optional and self._heads() else self.value(field.type)
                    for field in fields
                }
            case MapOf(key, value):
                return {self.value(key): self.value(value) for _ in range(chance.randint(0, ITEMS_MORE_MAX))}
            case Union(members):
                return self.value(chance.choice(members))
            case Pattern():
                return chance.choice(list(islice(compile_type(wanted, self._spec.types).samples(), TEXTS_MAX)))
            case Scalar(kind):
                return self._scalar(kind)

    def _scalar(self, kind: str) -> Any:
        chance = self._chance
        match kind:
            case "int":
                return chance.randint(0, INT_MAX)
            case "number":
                return chance.choice((chance.randint(0, INT_MAX), round(chance.uniform(0, INT_MAX), 2)))
            case "bool":
                return self._heads()
            case "null":
                return None
            case "string":
                return "".join(chance.choice("aeioulmnrst") for _ in range(chance.randint(1, 6)))
            case _:
                return chance.choice((None, True, chance.randint(0, INT_MAX), "any"))
