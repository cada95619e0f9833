"""What is known of a fault at the moment it is decided: who, asked what, said what, where, refused by what, how late.

A `machines.effects.Violation` goes out right before the note of the same fault. Nothing here changes a session, and
nothing that goes wrong here ends one: what a violation cannot say it leaves empty.
`runtime.journal.losses` makes a line of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any, Final

from machines.effects import Violation
from machines.engine import keeping
from machines.engine.actions import MachineScope, Slots
from machines.expressions.compiler import Evaluator, compile  # noqa: A004 (as in re.compile)
from machines.expressions.unparse import show
from machines.messages.shapes import shown
from machines.model import Binary, Call, Choice, Expression
from machines.problems import NEAR_LETTERS_MAX, nearest
from machines.wire.framing import FrameError, TooLongError

if TYPE_CHECKING:
    from machines.engine.call_stack import CallFrame, PeerState
    from machines.engine.compiled_states import HandlerScope, MessageHandler
    from machines.engine.interpreter import Interpreter
    from machines.messages.bodies import MessageCodec

EVIDENCE_BYTES: Final = 1024  # what is kept of the bytes that came; whoever shows them may show fewer
NO_LIKENESS: Final = "no message is like it"
RULES_SHOWN: Final = 3  # conditions that refused a message, where it had several branches
WORDS_MAX: Final = 4  # of a message that is none: so many are compared with the words of those that are
EXAMPLE_CHARACTERS_MAX: Final = 60  # of a right message that is shown beside a wrong one


def note(
    session: Interpreter,
    seat: PeerState | None,
    kind: str,
    frame: CallFrame | None = None,
    *,
    rule: str = "",
    why: str = "",
    came: bytes | None = None,
    deadline: float = inf,
) -> None:
    """Add what is known of a fault of a peer, or with ``seat`` None of the own player, to the effects.

    ``frame`` is who decided; left out, who awaits the peer. ``came`` is what was looked at if left out.
    """
    if frame is None and seat is not None:
        frame = seat.holder
    if came is None:
        came = session.reading
    node = frame.node if frame is not None else None
    asked, awaited = (seat.asked if seat is not None else ""), ()  # type: tuple[str, tuple[str, ...]]
    seconds, limit = 0.0, None
    if node is not None and frame is not None:
        if seat is None and node.asked is not None:
            asked, awaited = node.asked[0], node.asked[3]
        elif seat is not None:
            awaited = tuple(shape.name for _, shape, _ in node.layer.readers.get(seat.role, ()))
        seconds = session.now - frame.entered
        until = min(deadline, frame.deadline)
        limit = until - frame.entered if until != inf else None
    fields: Mapping[str, Any] = seat.peer.fields if seat is not None else session.my
    name = fields.get("name")
    session.effects.append(
        Violation(
            seat.number if seat is not None else None,
            name if isinstance(name, str) else "",
            seat.role if seat is not None else session.program.role.name,
            kind,
            asked,
            awaited,
            bytes(came[:EVIDENCE_BYTES]),
            len(came),
            f"{frame.path} in {node.name}" if frame is not None and node is not None else "",
            node.place if node is not None else "",
            rule,
            why,
            round(seconds, 6),
            round(limit, 6) if limit is not None else None,
        )
    )


def late(session: Interpreter, frame: CallFrame, seat: PeerState | None, deadline: float) -> None:
    """Tell of a peer whose message, or of the own player whose answer, has not come in time."""
    if seat is None:
        asking = _asking(frame)
        if asking is not None:
            note(session, None, "late", asking, came=b"", deadline=deadline)
        return
    waiting = seat.framer.waiting
    if waiting:
        why = f"{waiting} byte{'' if waiting == 1 else 's'} without an end had come"
        note(session, seat, "half a message", frame, why=why, came=b"", deadline=deadline)
    else:
        note(session, seat, "late", frame, why="nothing had come", came=b"", deadline=deadline)


def _asking(frame: CallFrame) -> CallFrame | None:
    """Return who has an open question, of a frame whose limit is over and those that it has called; None if nobody."""
    at: CallFrame | None = frame
    while at is not None and at.question is None:
        at = at.child
    return at


def unreadable(error: FrameError) -> str:
    """Return the kind of a fault of bytes that cannot be cut into messages."""
    return "too long" if isinstance(error, TooLongError) else "malformed"


def heard_as(session: Interpreter, role: str, value: Any) -> str | None:
    """Return the first message of a role that a value is, cut as that one is, or None."""
    framed = session.extra.framed if session.extra is not None else None
    frames = session.program.frames
    like = (shape.name for shape in session.program.heard[role] if shape.read(value) is not None)
    return next((name for name in like if not frames or frames.get(name) == framed), None)


def misread(session: Interpreter, holder: CallFrame, seat: PeerState, known: str | None, value: Any) -> None:
    """Tell of a message that is none of those awaited: another one, one of a wrong type, or none at all."""
    awaited = [shape for _, shape, _ in holder.node.layer.readers.get(seat.role, ())]
    if known is not None:
        note(session, seat, "unexpected", holder, why=f"it is {known}")
        return
    kind, why = not_like(awaited, session.program.heard[seat.role], value)
    note(session, seat, kind, holder, why=why)


def not_like(awaited: list[MessageCodec], heard: tuple[MessageCodec, ...], value: Any) -> tuple[str, str]:
    """Return the kind of a fault of a value that is no message, and why: what it lacks, or which message is near it."""
    named: dict[str, MessageCodec] = {}
    for shape in (*awaited, *heard):
        for word in (shape.name, *_words(shape.example())):
            named.setdefault(word.lower(), shape)
    words = [word.lower() for word in islice(_words(value), WORDS_MAX)]
    known = next((named[word] for word in words if word in named), None)
    if known is None:
        for word in words:
            like = nearest(word, named)
            if like is not None:
                return "unknown", f"{NO_LIKENESS} (did you mean {named[like].name}?)"
    faults = [(shape, fault) for shape in awaited for fault in shape.faults(value)]
    of_type = [(shape, fault) for shape, fault in faults if not fault.expected.startswith(('"', "'"))]
    deep = max(of_type, key=lambda found: len(found[1].path), default=None)
    if deep is not None and (deep[1].path or len(faults) == 1):
        return "wrong type", f"{deep[0].name}: {deep[1]}"
    if known is None:
        return "unknown", NO_LIKENESS
    example = shown(known.example())
    as_in = f" (as in {example})" if len(example) <= EXAMPLE_CHARACTERS_MAX else ""
    return "unknown", f"{NO_LIKENESS}, though {known.name} begins so{as_in}"


def _words(value: Any) -> Iterator[str]:
    """Yield the texts at the top of a value, by which messages are told apart; of one text its first word."""
    if isinstance(value, str):
        yield from value[: NEAR_LETTERS_MAX + 1].split()[:1]
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            if isinstance(item, str):
                yield item
    elif isinstance(value, tuple | list):
        yield from (item for item in value[:2] if isinstance(item, str))


def refusal(session: Interpreter, frame: CallFrame, layer: HandlerScope, reader: MessageHandler, fields: Any,
            seat: PeerState | None) -> tuple[str, str]:  # fmt: skip
    """Return which conditions refused a message, and why in the words of the rules, as far as they say so."""
    if session.over_limit and (full := keeping.why(session)):
        return "", full
    everywhere = layer is frame.table.always
    key = ("" if everywhere else frame.node.name, reader[1].name)
    conditions = frame.table.conditions.get(key)
    if conditions is None:
        conditions = frame.table.conditions[key] = _conditions(session, frame, everywhere, reader[1].name)
    if not conditions:
        return "", ""
    slots = frame.slots.copy()
    _, _, places = reader
    if isinstance(places, slice):
        slots[places] = fields
    else:
        for slot, field in zip(places, fields, strict=True):
            slots[slot] = field
    if frame.table.peer_slot and seat is not None:
        slots[frame.table.peer_slot] = seat.peer
    rules: list[str] = []
    words: list[str] = []
    for parts, limit in conditions:
        refusing = next((part for part in parts if part.refuses(slots)), None)
        if refusing is not None:
            rules.append(refusing.text)
            words.append(refusing.in_words(slots))
        elif limit:
            rules.append(limit)
    return "; ".join(rules[:RULES_SHOWN]), "; ".join(dict.fromkeys(filter(None, words)))


class Condition:
    """A part of a branch's condition, of those joined by ``and``, compiled once; ``text`` is as in the spec."""

    __slots__ = ("_arguments", "_explain", "_run", "text")

    def __init__(self, part: Expression, scope: MachineScope) -> None:
        self.text = show(part)
        self._run: Evaluator | None = None
        self._explain: Any = None  # the function that the rules module has for this rule in ``WHY_NOT``
        self._arguments: tuple[Evaluator, ...] = ()
        # What cannot be compiled reads what is only known when a message is judged.
        with suppress(Exception):
            self._run = compile(part, scope)
        if isinstance(part, Call) and "." in part.path:
            module, _, rule = part.path.partition(".")
            with suppress(Exception):
                self._arguments = tuple(compile(argument, scope) for argument in part.arguments or ())
                self._explain = getattr(scope.rules[module], "WHY_NOT", {}).get(rule)

    def refuses(self, slots: Slots) -> bool:
        """Tell whether it is false, or cannot be had here: it did not raise when the message was judged."""
        try:
            return self._run is None or self._run(slots) is False
        except Exception:
            return True

    def in_words(self, slots: Slots) -> str:
        """Return what the rules module says of a rule that refused; nothing if it says nothing, or fails."""
        if self._explain is None:
            return ""
        try:
            said = self._explain(*(argument(slots) for argument in self._arguments))
        except Exception:
            return ""
        return said if isinstance(said, str) else ""


Conditions = tuple[tuple[tuple[Condition, ...], str], ...]
"""Of each branch that may take a message: the parts of its condition, and its limit in words or nothing."""


def _conditions(session: Interpreter, frame: CallFrame, everywhere: bool, message: str) -> Conditions:
    program = session.program
    machine = program.role.machines[frame.table.name]
    handlers = machine.always if everywhere else frame.node.state
    choice = handlers.answers.receive.get(message) if handlers is not None else None
    if not isinstance(choice, Choice):
        return ()
    around = program.live_around[machine.name] - frame.table.slot_of.keys()
    scope = MachineScope(program.spec, program.role.name, frame.table.slot_of, program.rules, frame.table.live, around)
    return tuple(
        (
            tuple(Condition(part, scope) for part in _joined(branch.guard)) if branch.guard is not None else (),
            f"limit {show(branch.limit)}" if branch.limit is not None else "",
        )
        for branch in choice.branches
    )


def _joined(guard: Expression) -> Iterator[Expression]:
    """Yield the parts of a condition that are joined by ``and``, in order."""
    if isinstance(guard, Binary) and guard.operator == "and":
        yield from _joined(guard.left)
        yield from _joined(guard.right)
    else:
        yield guard


def of_player(value: Any) -> bytes:
    """Return an answer of the own player as evidence: as JSON, or what it is."""
    return shown(value).encode()
