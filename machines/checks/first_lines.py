"""Which of two messages a line opens, where one has a frame that begins with a pattern and the other not the same.

The frame is taken if the line is like its pattern, before any message that is a line, whatever it says behind it; one
that begins with fixed bytes or bits before those with a line. Of two such frames the one listed first is taken. So what
the two have in common must be what the one that is taken is meant by.
"""

from __future__ import annotations

from collections.abc import Callable

from machines.messages.automata import EVERY, Automaton, Builder, TooLargeError, Work, included, shared_text
from machines.messages.overlap import Overlap
from machines.messages.types import MessageCodec
from machines.model import FrameLine, Spec
from machines.wire.arrived_frames import opens_with_pattern
from machines.wire.byte_parts import Opening, characters_of, opening_of
from machines.wire.line_patterns import line_pattern


class FirstLines:
    """The lines that messages of a spec begin with; ``shape`` compiles a message."""

    def __init__(self, spec: Spec, shape: Callable[[str], MessageCodec]) -> None:
        self._spec = spec
        self._shape = shape
        self._known: dict[str, Automaton | None] = {}

    def opens(self, name: str) -> bool:
        """Whether a message has a frame whose first line or bytes tell that it is this one."""
        frame = self._spec.frames.get(name)
        return frame is not None and opens_with_pattern(frame)

    def _opening(self, name: str) -> Opening | None:
        """Return the fixed bytes that a message begins with."""
        opening = opening_of(self._spec.frames.get(name, ()))
        return opening if opening.mask else None

    def both(self, a: str, b: str, work: Work) -> Overlap | None:
        """Return a line that opens either, None if there is none; one that is not certain if no work is left."""
        ours, theirs = self._opening(a), self._opening(b)
        if ours is not None and theirs is not None:
            return Overlap(f"0x{ours.either(theirs).hex()}") if ours.meets(theirs) else None
        try:
            one, other = self._language(a, work), self._language(b, work)
            if one is None or other is None:
                return None
            text = shared_text(one, other, work)
            if text is None:
                return None
            return Overlap(text, certain=self._takes(a, text) and self._takes(b, text))
        except TooLargeError:
            return Overlap(a, certain=False)

    def is_meant(self, first: str, second: str, work: Work) -> bool:
        """Whether the one that a line of both is taken for is the narrower: ``first``, unless only the other opens."""
        one, other = (first, second) if self.opens(first) else (second, first)
        if (begins := self._opening(second)) is not None:
            earlier = self._opening(first)
            if earlier is not None:
                return earlier.is_within(begins) and not begins.is_within(earlier)
            one, other = second, first  # bytes are looked at before lines
        try:
            ours, theirs = self._language(one, work), self._language(other, work)
            return (
                ours is not None
                and theirs is not None
                and (included(ours, theirs, work) and not included(theirs, ours, work))
            )
        except TooLargeError:
            return False

    def _language(self, name: str, work: Work) -> Automaton | None:
        """Return the lines that a message begins with; None if it begins whatever comes."""
        if name not in self._known:
            self._known[name] = self._made(name)
            made = self._known[name]
            work.spend(sum(map(len, made.moves)) if made is not None else 1)
        return self._known[name]

    def _made(self, name: str) -> Automaton | None:
        frame = self._spec.frames.get(name)
        if frame is None:
            builder = Builder()
            found = [shape.language() for shape in self._shape(name).shapes]
            pieces = [builder.embed(language) for language in found if language is not None]
            return builder.finish(builder.either(pieces)) if pieces else None
        if (begins := self._opening(name)) is not None:
            builder = Builder()
            fixed = [builder.one(some) for some in characters_of(begins, self._spec.wire.charset)]
            rest = builder.again(builder.one(EVERY))
            return builder.finish(builder.chain([*fixed, rest]))
        opening = frame[0]
        return (
            line_pattern(opening, self._spec.wire.charset).language()
            if isinstance(opening, FrameLine) and self.opens(name)
            else None
        )

    def _takes(self, name: str, text: str) -> bool:
        frame, charset = self._spec.frames.get(name), self._spec.wire.charset
        if (begins := self._opening(name)) is not None:
            raw = text.encode(charset, "replace")
            return begins.begins(raw) and len(raw) >= len(begins.mask)
        if frame is not None and isinstance(frame[0], FrameLine):
            return line_pattern(frame[0], charset).match(text.encode(charset, "replace")) is not None
        return self._shape(name).read(text) is not None
