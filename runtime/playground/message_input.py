"""What a person writes of a message: its fields by name, the rest filled from the types.

    TAKE count=2        SAY line="good morning"        MOVE square=[3, 4] swap=true

A value is JSON; a word that is no JSON is a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

from machines.messages.bodies import MessageCodec, compile_message
from machines.messages.types import NO_MATCH, Mismatch, Shape, compile_type
from machines.model import Message, Named, Pattern, Scalar, Spec
from machines.problems import near
from machines.values import freeze, plain

_NAMED = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*)=")
_WORD = re.compile(r"\S*")


class ChoiceError(Exception):
    """What a person chose cannot be done; the text is one sentence that says why."""


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value")


_decode = json.JSONDecoder(parse_constant=_refuse).raw_decode


def written(value: Any) -> str:
    """Return a value as a person would write it behind ``name=``."""
    return msgspec.json.encode(plain(value)).decode()


def value_of(text: str) -> Any:
    """Return the value that a whole text stands for, frozen: JSON, or else the text itself.

    Raises:
        ChoiceError: it is JSON of what no message can hold.
    """
    try:
        value, end = _decode(text.strip())
    except (ValueError, RecursionError):
        return text
    if end != len(text.strip()):
        return text
    try:
        return freeze(value)
    except TypeError as error:
        raise ChoiceError(f"that is no value of a message: {error}") from None


def read_named(text: str) -> dict[str, Any]:
    """Return the values of a text ``name=value name=value``.

    Raises:
        ChoiceError: it is no such text, a name comes twice, or a value is nested too deep.
    """
    found: dict[str, Any] = {}
    at = 0
    while text[at:].strip():
        named = _NAMED.match(text, at)
        if named is None:
            raise ChoiceError(f"{text[at:].strip()[:40]!r} is not of the form name=value")
        if named[1] in found:
            raise ChoiceError(f"{named[1]} is given twice")
        found[named[1]], at = _value(text, named.end())
    return found


def _value(text: str, at: int) -> tuple[Any, int]:
    word = _WORD.match(text, at)
    assert word is not None, "a word may be empty"
    try:
        value, end = _decode(text, at)
    except (ValueError, RecursionError):
        if text[at : at + 1] in ("{", "[", '"'):
            raise ChoiceError(f"{text[at : at + 40]!r} is no JSON value") from None
        return word[0], word.end()
    if end < word.end() and not isinstance(value, list | dict):  # 5th, 3,4: a text that begins like a number
        return word[0], word.end()
    try:
        return freeze(value), end
    except TypeError as error:
        raise ChoiceError(f"that is no value of a message: {error}") from None


class Filler:
    """The messages of a spec, as a person fills them in."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._shapes: dict[str, MessageCodec] = {}

    def message(self, name: str) -> Message:
        """Return the message of a name.

        Raises:
            ChoiceError: there is none.
        """
        if name not in self._spec.messages:
            raise ChoiceError(
                f"there is no message {name!r}: "
                f"{near(name, self._spec.messages) or 'there are ' + ', '.join(self._spec.messages)}"
            )
        return self._spec.messages[name]

    def shape(self, name: str) -> MessageCodec:
        """Return how a message is written."""
        if name not in self._shapes:
            self._shapes[name] = compile_message(self.message(name), self._spec.types)
        return self._shapes[name]

    def field(self, message: str, field: str) -> Shape:
        """Return what may stand in a field of a message."""
        wanted = next(found for found in self.message(message).fields if found.name == field)
        return compile_type(wanted.type, self._spec.types)

    def explained(self, message: str, field: str) -> str:
        """Return what may stand in a field, for people; a declared type by what it stands for, not by its name."""
        wanted = next(found.type for found in self.message(message).fields if found.name == field)
        types = self._spec.types
        return compile_type(types[wanted.name].type if isinstance(wanted, Named) else wanted, types).describe()

    def examples(self, name: str, told: Mapping[str, Any] = {}) -> dict[str, Any]:
        """Return a value for each field: what was ``told`` under its name, if that fits; its default; an example."""
        found: dict[str, Any] = {}
        for field in self.message(name).fields:
            shape = self.field(name, field.name)
            taken = shape.take(told[field.name]) if field.name in told else NO_MATCH
            found[field.name] = taken if taken is not NO_MATCH else field.default if field.optional else shape.example()
        return found

    def fill(self, name: str, given: Mapping[str, Any], told: Mapping[str, Any] = {}) -> dict[str, Any]:
        """Return a value for each field: those given, the others as in ``examples``; all of them fit.

        Raises:
            ChoiceError: there is no such message or field, or a value does not fit.
        """
        found = self.examples(name, told)
        for field, value in given.items():
            if field not in found:
                fields = near(field, found) or f"it has {', '.join(found) or 'no fields'}"
                raise ChoiceError(f"{name} has no field {field!r}: {fields}")
            found[field] = self.fit(name, field, value)
        shape = self.shape(name)
        try:
            shape.build([found[field] for field in shape.fields])
        except Mismatch as error:  # each fits its field, but a text may hold what ends it in the message
            raise ChoiceError(f"{name} cannot be written so: {error}") from None
        return found

    def fit(self, name: str, field: str, value: Any) -> Any:
        """Return a value as the field of a message takes it; a number for a text is read as that text.

        Raises:
            ChoiceError: it does not fit.
        """
        shape = self.field(name, field)
        wanted = next(found.type for found in self.message(name).fields if found.name == field)
        if isinstance(wanted, Named):
            wanted = self._spec.types[wanted.name].type
        texts = [written(value)] if not isinstance(value, str | tuple | Mapping) else []
        mismatch: Mismatch | None = None
        for reading in (
            [*texts, value] if isinstance(wanted, Pattern) or wanted == Scalar("string") else [value, *texts]
        ):
            try:
                return shape.freeze(reading)
            except Mismatch as error:
                mismatch = mismatch or error
        raise ChoiceError(f"{field} of {name}: {mismatch}")
