"""How a game stands: as text that is the same if all goes on the same, and what its players tried from there.

A game whose sessions stand as they stood before, while no player decided anything, goes round and round. Where players
decided, that is sure only if from each state of the round every possible answer was given, and none led out of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from itertools import product
from math import inf
from typing import Any, Final

from machines.effects import Ask
from machines.engine import routing
from machines.engine.call_stack import CallFrame, PeerState, RunningTimer
from machines.engine.session import Session
from machines.model import Enumeration, Interval, Name, Named, Scalar, Spec, Type
from machines.values import Peer
from machines.verification.abstract.role_info import RoleOutline

DEEP_MAX: Final = 60  # values in values; a deeper one is told by its type alone
ANSWERS_MAX: Final = 200  # possible answers to a question, above which they are not counted out
DIGITS: Final = 6  # of seconds


def draws(spec: Spec) -> bool:
    """Whether a spec asks for a call's ``seed``: then no round of it is like the one before."""
    return _has_seed(spec.roles)


def _has_seed(value: Any) -> bool:
    if isinstance(value, Name):
        return value.name == "seed"
    if isinstance(value, Mapping):
        return any(map(_has_seed, value.values()))
    if isinstance(value, tuple):
        return any(map(_has_seed, value))
    if is_dataclass(value) and not isinstance(value, type):
        return any(_has_seed(getattr(value, field.name)) for field in fields(value))
    return False


Kept = Mapping[tuple[str, str], frozenset[str]]


def kept(spec: Spec, role: str) -> Kept:
    """Return the names that are still read, by machine and state."""
    outline = RoleOutline(spec, role, {}, decides_only=False)
    return {
        (machine.name, state): frozenset(name for name, read in zip(machine.names, flags, strict=True) if read)
        for machine in outline.machines.values()
        for state, flags in machine.kept.items()
    }


def standing(session: Session, now: float, kept: Kept) -> tuple[object, ...]:
    """Return how a session stands: its calls with their states, names and clocks, its peers and what they said.

    Seconds are counted from ``now`` on. How often something was called before is left out (see `draws`), and so is
    the value of a name that is not among those ``kept``.
    """
    if session.ended is not None:
        return ("over",)
    return (*(_frame(frame, now, kept) for frame in routing.frames(session)), *(_seat(seat) for seat in session.seats))


def _frame(frame: CallFrame, now: float, kept: Kept) -> tuple[object, ...]:
    extra = frame.extra
    slots = frame.slots
    read = kept.get((frame.table.name, frame.node.name))
    places = frame.table.slot_of.items()
    values = slots[1:] if read is None else [slots[at] for name, at in places if name in read and at < len(slots)]
    return (
        frame.table.name,
        frame.parent.table.name if frame.parent is not None else "",
        frame.node.name,
        frame.question is not None,
        [seat.number for seat in frame.hears],
        _canon(values, now),
        _left(frame.deadline, now),
        _left(frame.entered, now),
        _canon(frame.moments, now),
        _canon(frame.loop, now),
        _canon(frame.accepting, now),
        _canon(extra.tally, now) if extra is not None else "",
        _canon(extra.standing, now) if extra is not None else "",
        [[_left(stamp, now) for stamp in stamps] for stamps in extra.rates.values()] if extra is not None else "",
    )


def _seat(seat: PeerState) -> tuple[object, ...]:
    said = [(kind, payload) for kind, payload, _ in seat.inbox]
    return seat.gone, seat.silent, seat.paused, seat.closed_told, said, _canon(seat.peer.fields, 0.0)


def _left(when: float, now: float) -> float:
    return round(when - now, DIGITS) if abs(when) < inf else when


def _canon(value: Any, now: float, deep: int = 0) -> object:
    """Return a value as texts, numbers and tuples, without what only says how often something was done."""
    deep += 1
    match value:
        case None | bool() | int() | float() | str() | bytes():
            return value
        case Peer():
            return ("peer", value.number, _canon(value.fields, now, deep)) if deep < DEEP_MAX else "peer"
        case CallFrame():
            return ("call", value.table.name)
        case RunningTimer():
            return (_left(value.due, now), value.event)
        case Mapping():
            return tuple((_canon(key, now, deep), _canon(item, now, deep)) for key, item in value.items())
        case list() | tuple() | deque():
            return tuple(_canon(item, now, deep) for item in value) if deep < DEEP_MAX else type(value).__name__
        case set() | frozenset():
            return ("set", *sorted(repr(_canon(item, now, deep)) for item in value))
    names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    names += list(getattr(value, "__dict__", ()))
    held = [(name, getattr(value, name, None)) for name in names if name not in ("linger_serial", "offset")]
    return type(value).__qualname__, *((name, _canon(item, now, deep)) for name, item in held if deep < DEEP_MAX)


def digest(value: object) -> bytes:
    """Return a hash of what is told of a game."""
    return blake2b(repr(value).encode("utf-8", "replace"), digest_size=16).digest()


class AnswerCoverage:
    """Which answers were given from which states of a game."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._seen: list[bytes] = []
        self._last = ""  # the answer that was given last
        self._given: dict[bytes, set[str]] = {}
        self._possible: dict[bytes, frozenset[str] | None] = {}
        states = [
            state for role in spec.roles.values() for one in role.machines.values() for state in one.states.values()
        ]
        self._silent = {state.ask.path for state in states if state.ask is not None and state.answers.timeout}

    def note(self, state: bytes, ask: Ask, answer: Any) -> None:
        """Remember an answer."""
        if self._seen:  # where the one before led is known by now
            self._given.setdefault(self._seen[-1], set()).add(self._last)
        self._seen.append(state)
        self._last = _spelled(*answer) if isinstance(answer, tuple) else "?"
        if state not in self._possible:
            self._possible[state] = self._answers(ask)

    def is_round(self) -> bool:
        """Whether every possible answer was given from each state that can be come to from the present one."""
        led: dict[bytes, set[bytes]] = {}
        for before, after in zip(self._seen, self._seen[1:], strict=False):
            led.setdefault(before, set()).add(after)
        todo = self._seen[-1:]
        reached: set[bytes] = set()
        while todo:
            state = todo.pop()
            possible = self._possible[state]
            if possible is None or state not in led or not possible <= self._given[state]:
                return False
            reached.add(state)
            todo += led[state] - reached
        return bool(reached)

    def _answers(self, ask: Ask) -> frozenset[str] | None:
        """Return all answers that the types allow, None if they are too many, or silence is one of them."""
        if ask.question in self._silent:
            return None
        found: set[str] = set()
        for name in ask.messages:
            fields = self._spec.messages[name].fields
            ranges = [self._values(field.type) if not field.optional else None for field in fields]
            size = 1
            for values in ranges:
                size *= len(values) if values is not None else ANSWERS_MAX + 1
            if size + len(found) > ANSWERS_MAX:
                return None
            for drawn in product(*(one for one in ranges if one is not None)):
                found.add(_spelled(name, dict(zip((field.name for field in fields), drawn, strict=True))))
        return frozenset(found)

    def _values(self, wanted: Type) -> list[Any] | None:
        match wanted:
            case Named(name):
                return self._values(self._spec.types[name].type)
            case Enumeration(values):
                return list(values)
            case Interval(low, high):
                return list(range(low, high + 1)) if high - low < ANSWERS_MAX else None
            case Scalar("bool"):
                return [False, True]
            case Scalar("null"):
                return [None]
        return None


def _spelled(name: str, fields: Mapping[str, Any]) -> str:
    return repr((name, *sorted(fields.items())))
