"""Check of sizes: A347, a message of our own that may be longer than any peer takes.

What a peer sends fills a message nearly to ``message_bytes_max``; told on with something beside it, it is over that,
is not sent, and the session of all has failed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

from machines.analysis.call_graph import CallGraph
from machines.analysis.data_flow import Write
from machines.analysis.value_sets import LINE, TEXT, members
from machines.expressions.unparse import show
from machines.messages.automata import Automaton, TooLargeError
from machines.messages.bodies import MessageCodec, compile_message
from machines.messages.compiler import compile_type
from machines.messages.shapes import Mismatch
from machines.model import Attribute, Field, Message, Name, Pattern, Spec, Type
from machines.problems import Location, Problems
from machines.wire.codec import Codec

STATES_MAX = 2_000  # of an automaton that is asked whether its texts have an end


def check_sizes(flow: CallGraph, writes: list[Write], ends: Callable[[Location], str], problems: Problems) -> None:
    """A347: a message with what a peer sends may be longer than ``message_bytes_max``.

    ``writes`` are all fields that the role writes, ``ends`` says whom a failure there costs their session, if others.
    """
    sizes = _Sizes(flow.spec, flow.role.name)
    for _, together in groupby(writes, key=lambda write: write.number):
        sending = list(together)
        whom = ends(sending[0].spot)
        if whom and (longest := sizes.longest(sending)) is not None:
            count, write, length = longest
            text = f"{write.message} may have {count} bytes, and message_bytes_max allows {sizes.most}"
            text += f": {show(write.value)} may be a text of {length}"
            hint = "give that field a type that takes shorter texts, like {string: '.{0,200}'}"
            problems.add(write.value.place, "A347", text + whom, hint, write.spot)


class _Sizes:
    """How long messages of a role are, and the texts that come to it."""

    def __init__(self, spec: Spec, role: str) -> None:
        self.spec = spec
        self.most = spec.wire.message_bytes_max
        self.codec = Codec(spec.wire, spec.frames)
        self.shapes: dict[str, MessageCodec] = {}
        self.endless: dict[Type, bool] = {}
        self.incoming: dict[str, int] = {}  # the longest text that a field of this name brings
        for message in spec.heard_by(role):
            for field in message.fields if message.name not in spec.frames else ():
                if self._is_endless(field.type):
                    room = self.most - self._bytes(message, {field.name: ""})
                    self.incoming[field.name] = max(room, self.incoming.get(field.name, 0))

    def longest(self, sending: list[Write]) -> tuple[int, Write, int] | None:
        """Return how many bytes a message may have that has too many, with the field that brings most; else None."""
        message = self.spec.messages[sending[0].message]
        if message.name in self.spec.frames:
            return None
        brought = [(self._longest_of(write), write) for write in sending]
        length, most = max(brought, key=lambda one: one[0])
        if length <= 0:
            return None
        texts = {write.field.name: "a" * max(room, 0) for room, write in brought if room > 0}
        count = self._bytes(message, texts)
        return (count, most, length) if count > self.most else None

    def _longest_of(self, write: Write) -> int:
        if not self.incoming or not (self._is_endless(write.holds) and self._is_endless(write.field.type)):
            return 0
        value = write.value
        name = value.name if isinstance(value, Name | Attribute) else ""
        # A text of any length has come from some peer: under another name, as long as any of them lets it be.
        return self.incoming.get(name, min(self.incoming.values()))

    def _is_endless(self, type_: Type) -> bool:
        """Whether a type takes texts of any length."""
        if type_ not in self.endless:
            self.endless[type_] = any(self._has_no_end(part) for part in members(type_, self.spec.types))
        return self.endless[type_]

    def _has_no_end(self, part: Type) -> bool:
        if part in (TEXT, LINE):
            return True
        if not isinstance(part, Pattern):
            return False
        try:
            language: Automaton | None = compile_type(part, self.spec.types).language()
        except TooLargeError:
            return False
        return language is not None and len(language.moves) <= STATES_MAX and _goes_round(language)

    def _bytes(self, message: Message, texts: dict[str, str]) -> int:
        """Return how many bytes a message has, with texts in some fields and an example in each other."""
        shape = self.shapes.get(message.name)
        if shape is None:
            shape = self.shapes[message.name] = compile_message(message, self.spec.types)
        values = [texts.get(field.name, _example(field, self.spec)) for field in message.fields]
        try:
            return len(self.codec.encode(shape.build(values)))
        except Mismatch:
            return 0


def _goes_round(language: Automaton) -> bool:
    """Whether some state leads to itself: then there is no longest text."""
    onward = [{move[2] for move in moves} for moves in language.moves]
    left = set(range(len(onward)))
    while True:  # states that lead to none that is left go, until none goes any more
        ended = {state for state in left if left.isdisjoint(onward[state])}
        if not ended:
            return bool(left)
        left -= ended


def _example(field: Field, spec: Spec) -> Any:
    return compile_type(field.type, spec.types).example()
