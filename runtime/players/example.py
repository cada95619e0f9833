"""A player that answers every question with an example of the message: for a first look at a spec."""

from __future__ import annotations

from typing import Any

from machines.messages.bodies import MessageCodec, compile_message
from machines.model import Spec
from runtime.players.base import Arguments, GenericPlayer


class ExamplePlayer(GenericPlayer):
    """Answers with an example of the first message that may answer; a game's rules may well refuse it."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._shapes: dict[str, MessageCodec] = {}

    def decide_now(self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None) -> Any:
        """Return the example of the first of ``messages``; a field named like an argument takes that value."""
        name = messages[0]
        if name not in self._shapes:
            self._shapes[name] = compile_message(self._spec.messages[name], self._spec.types)
        shape = self._shapes[name]
        read = shape.read(shape.example())
        assert read is not None, f"the example of {name} does not fit {name}"
        given = dict(arguments)
        return name, {field: given.get(field, value) for field, value in zip(shape.fields, read, strict=True)}
