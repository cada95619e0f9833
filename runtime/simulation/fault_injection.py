"""What one actor of a game does against the protocol, once: with a message that it was about to send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from machines.effects import Send
from machines.engine.session import Program
from machines.messages.shapes import Mismatch
from machines.model import Message
from machines.wire.composite_framing import PartsFramer
from runtime.players.random import RandomPlayer

Kind = Literal["gone", "silent", "garbage", "twice", "slow", "babble", "ahead", "another", "lie", "dumb"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
AGAIN: Final[tuple[Kind, ...]] = ("gone", "silent", "ahead", "lie")  # done the second time that a message is said, too
GARBAGE: Final = b"?!"  # no JSON, and in no protocol a line that is a message
LIES_MAX: Final = 20  # how often another value is looked for

_SAID: Final[Mapping[Kind, str]] = {
    "gone": "is gone instead of",
    "silent": "falls silent before",
    "garbage": "sends garbage instead of",
    "twice": "says twice",
    "slow": "is slow with",
    "babble": "sends nothing but garbage from",
    "ahead": "says at once what comes after",
    "another": "sends {other} instead of",
    "lie": "lies about {field} in",
    "dumb": "never answers",
}


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """The ``nth`` time that an actor of ``role`` is about to send ``message``, it does this. ``seat`` None for any.

    Of the kind dumb, ``message`` is the question that its player does not answer.
    """

    kind: Kind
    role: str
    seat: int | None
    message: str
    nth: int = 1
    detail: str = ""  # the field that is lied about, or the message that is sent instead

    def is_of(self, role: str, seat: int | None, message: str) -> bool:
        """Whether it is done with a message that an actor is about to send."""
        return self.kind != "dumb" and message == self.message and self.is_by(role, seat)

    def is_by(self, role: str, seat: int | None) -> bool:
        """Whether an actor is the one."""
        return role == self.role and self.seat in (None, seat)

    def __str__(self) -> str:
        what = f"{_SAID[self.kind].format(other=self.detail, field=self.detail)} {self.message}"
        what += " on" if self.kind == "babble" else ""
        return f"{what}, the 2nd time" if self.nth == 2 else what


def done(deed: InjectedFault, speaker: Program, hearer: Program, effect: Send) -> list[Send] | None:
    """Return what is said instead of a message; None if the deed can not be done with it."""
    peer = effect.peer
    match deed.kind:
        case "twice":
            return [effect, effect]
        case "garbage" | "babble":
            return [Send(peer, speaker.make_framer().wrap(GARBAGE), "garbage")]
        case "another":
            data = _written(speaker, deed.detail, example(speaker, deed.detail))
            return [Send(peer, data, deed.detail)] if data is not None else None
        case _:
            return _lie(deed, speaker, hearer, effect)


def _lie(deed: InjectedFault, speaker: Program, hearer: Program, effect: Send) -> list[Send] | None:
    fields = _read(speaker, hearer, effect)
    if fields is None:
        return None
    player = RandomPlayer(speaker.spec, deed.nth)
    message = speaker.spec.messages[deed.message]
    field = next(field for field in message.fields if field.name == deed.detail)
    for _ in range(LIES_MAX):
        lie = player.value(field.type)
        if lie != fields[field.name]:
            data = _written(speaker, deed.message, {**fields, field.name: lie})
            if data is not None:
                return [Send(effect.peer, data, deed.message)]
    return None


def _read(speaker: Program, hearer: Program, effect: Send) -> dict[str, Any] | None:
    """Return the fields of a message as the hearer would read them."""
    framer = hearer.make_framer()
    framer.feed(effect.data)
    frame = hearer.frames.get(effect.message)
    raw = framer.next([frame] if frame is not None else []) if isinstance(framer, PartsFramer) else framer.next()
    raw = raw if raw is not None else framer.finish()  # a number ends only where something follows
    shape = speaker.shapes[effect.message]
    read = shape.read(hearer.codec.decode(raw)) if raw is not None else None
    return dict(zip(shape.fields, read, strict=True)) if read is not None else None


def example(program: Program, name: str) -> dict[str, Any]:
    """Return the fields of a message with the example of each type."""
    shape = program.shapes[name]
    read = shape.read(shape.example())
    assert read is not None, f"the example of {name} does not fit {name}"
    return dict(zip(shape.fields, read, strict=True))


def _written(program: Program, name: str, fields: Mapping[str, Any]) -> bytes | None:
    shape = program.shapes[name]
    values = [fields[field] for field in shape.fields]
    try:
        if name in program.frames:
            return program.codec.packs[name](shape.build(values))
        return program.codec.pack(shape.pack(tuple(values)))
    except (Mismatch, TypeError, ValueError, LookupError):
        return None


def deeds_with(message: Message, role: str, seat: int | None, other: str) -> list[InjectedFault]:
    """Return every deed that is done with a message; ``other`` is what else its role may send, empty if nothing."""
    found: list[InjectedFault] = []
    for kind in KINDS[:-1]:
        if kind == "ahead" and seat is None:
            continue  # only of a client it is known what it will say
        details = [""] if kind not in ("another", "lie") else [other] if kind == "another" and other else []
        details = [field.name for field in message.fields] if kind == "lie" else details
        for nth in (1, 2) if kind in AGAIN else (1,):
            found += [InjectedFault(kind, role, seat, message.name, nth, detail) for detail in details]
    return found
