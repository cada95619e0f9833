"""Which messages may be taken for which: of one spec, or of two versions of it."""

from __future__ import annotations

from machines.messages.bodies import MessageCodec, compile_message
from machines.messages.overlap import fits_within, narrower, overlap
from machines.messages.shapes import NO_MATCH
from machines.model import Message, Spec


class Alike:
    """Which messages of one spec may be read as which of another, or of the same; computed when first asked."""

    def __init__(self, written: Spec, read: Spec) -> None:
        self._written = written
        self._read = read
        self._same = written is read
        self._shapes: dict[tuple[bool, str], MessageCodec] = {}
        self._known: dict[tuple[str, str], bool] = {}
        self._always: dict[tuple[str, str], bool] = {}
        self._renamed: dict[tuple[str, str], bool] = {}

    def may_be(self, written: str, read: str) -> bool:
        """Whether something written as one message may be read as the other."""
        if self._same and written == read:
            return True
        key = (written, read)
        if key not in self._known:
            one = self._shape(self._written, written, of_writer=True)
            other = self._shape(self._read, read, of_writer=False)
            self._known[key] = (
                one is not None
                and other is not None
                and self._written.frames.get(written) == self._read.frames.get(read)
                and (found := overlap(one.shapes[0], other)) is not None
                and found.certain
                # If only a few special values fit, a peer that keeps to the protocol means the other message by them.
                and (written == read or not narrower(other, one.shapes[0]))
            )
        return self._known[key]

    def is_renamed(self, written: str, read: str) -> bool:
        """Whether one version has a message under another name: who sends it, and all that may be sent, is the same."""
        if self._same or written in self._read.messages or read in self._written.messages:
            return False
        if written not in self._written.messages or read not in self._read.messages:
            return False
        if (written, read) not in self._renamed:
            self._renamed[written, read] = is_renamed(self._written, written, self._read, read)
        return self._renamed[written, read]

    def must_be(self, written: str, read: str) -> bool:
        """Whether everything that is written as one message may be read as the other."""
        key = (written, read)
        if key not in self._always:
            one = self._shape(self._written, written, of_writer=True)
            other = self._shape(self._read, read, of_writer=False)
            self._always[key] = (
                one is not None
                and other is not None
                and _takes(other, one.shapes[0].example())  # soon known, and mostly enough
                and self.may_be(written, read)
                and fits_within(one, other)
            )
        return self._always[key]

    def _shape(self, spec: Spec, name: str, *, of_writer: bool) -> MessageCodec | None:
        message: Message | None = spec.messages.get(name)
        if message is None:
            return None
        if (of_writer, name) not in self._shapes:
            self._shapes[of_writer, name] = compile_message(message, spec.types)
        return self._shapes[of_writer, name]


def _takes(shape: MessageCodec, value: object) -> bool:
    return any(one.take(value) is not NO_MATCH for one in shape.shapes)


def is_renamed(old: Spec, name: str, new: Spec, other: str) -> bool:
    """Whether a message of one version is, on the wire, one of another version that has another name."""
    before, after = old.messages[name], new.messages[other]
    if (before.senders, before.urgent) != (after.senders, after.urgent):
        return False
    if old.frames.get(name) != new.frames.get(other):
        return False
    one, another = compile_message(before, old.types), compile_message(after, new.types)
    return fits_within(one, another) and fits_within(another, one)
