"""The exploration beside the engine: each step of a real session has to be one that the exploration knows.

A `Twin` keeps every local state in which the exploration may be after what a session was given so far. With each input
it goes on from all of them, in all ways; those are kept that send and close what the session did, have read as much,
and rest in the same states. If none is left, the exploration misses what a run does, and could call it proved.

What the exploration does not know of (bytes that are no message, a player without an answer, data for which an
expression has no value) ends the watch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from machines.effects import Ask, Drop, Effect, Send
from machines.engine.call_stack import CallFrame, PeerState
from machines.engine.compiler import Program
from machines.engine.session import Session
from machines.messages.bodies import compile_message
from machines.model import Spec
from machines.parser.loader import rules_modules
from machines.verification.abstract.contracts import contracts_for
from machines.verification.abstract.domain import OtherThan, Value, lifted
from machines.verification.abstract.process import BoundExceeded, Process
from machines.verification.abstract.state import LOST, Closed, Sent
from machines.verification.search.system import System
from machines.wire.codec import Codec, Malformed
from machines.wire.framing import FrameError, make_framer

CLOSED = "(closed)"
RINGS_MAX = 4  # clocks that may ring at one moment
WAYS_MAX = 20_000  # that a twin follows through one input

Out = tuple[tuple[str, ...], ...]  # what goes out to each seat, in order
Waiting = tuple[tuple[int, ...], ...]  # what each seat sent that is not read yet, by its number
Way = tuple[int, Waiting, Out, int]  # local state, what waits, what went out, clocks that may still ring


class MissedError(AssertionError):
    """A session did what the exploration does not know of."""


def processes(spec: Spec, clients: int) -> dict[str, Process]:
    """Return each role of a spec as the exploration computes it, with seats for so many clients."""
    return System(spec, clients, contracts_for(spec, rules_modules(spec)), others=min(clients, 2)).parts


class Twin:
    """The exploration's side of one session."""

    def __init__(self, spec: Spec, role: str, process: Process) -> None:
        self.spec = spec
        self.role = role
        self.process = process
        self.watching = True
        self.inputs: list[str] = []
        self._seats = process.seats
        self._pushed: list[list[list[Any]]] = [[] for _ in range(self._seats)]
        self._lost: set[int] = set()
        self._here: set[tuple[int, Waiting]] = set()
        self._urgent = [message for message in spec.messages.values() if message.urgent]
        self._codec = Codec(spec.wire, spec.frames)
        self._framers: dict[int, Any] = {}

    # -- inputs ------------------------------------------------------------------------------------------------------

    def start(self, session: Session, effects: list[Effect]) -> None:
        """Follow the start."""
        self._here = {(-1, ((),) * self._seats)}
        self._follow(session, effects, "start", lambda _: [("start",)])

    def connect(self, session: Session, seat: int, effects: list[Effect]) -> None:
        """Follow a connection; one for which the exploration has no seat ends the watch."""
        if seat >= self._seats:
            self.watching = False
        self._follow(session, effects, f"connect {seat}", lambda _: [("connect", seat)])

    def receive(self, session: Session, seat: int, data: bytes, effects: list[Effect]) -> None:
        """Follow bytes, which may hold several messages; any that is none of the peer's ends the watch."""
        framer = self._framers.setdefault(seat, make_framer(self.spec.wire))
        framer.feed(data)
        names = []
        try:
            while self.watching and (raw := framer.next()) is not None:
                tokens = list(self._tokens(seat, self._codec.decode(raw)))
                self.watching = bool(tokens)
                names.append("/".join(str(token[0]) for token in tokens))
                self._push(seat, tokens)
        except (Malformed, FrameError):
            self.watching = False
        self._follow(session, effects, f"{seat} says {', '.join(names)}", None)

    def lose(self, session: Session, seat: int, effects: list[Effect]) -> None:
        """Follow a lost connection."""
        if seat not in self._lost:
            self._lost.add(seat)
            self._push(seat, [f"{LOST}died"])
        self._follow(session, effects, f"lose {seat}", None)

    def tick(self, session: Session, effects: list[Effect]) -> None:
        """Follow time: any clocks may ring, in any order."""
        self._follow(session, effects, "tick", None, rings=RINGS_MAX)

    def answer(self, session: Session, message: str, effects: list[Effect]) -> None:
        """Follow an answer of the player."""

        def given(local: int) -> list[tuple[Any, ...]]:
            return [("answer", at, name) for at, name in self.process.rest(local).questions if name == message]

        self._follow(session, effects, f"answer {message}", given)

    def _push(self, seat: int, tokens: list[Any]) -> None:
        at = len(self._pushed[seat])
        self._pushed[seat].append(tokens)
        self._here = {(local, _with(waiting, seat, (*waiting[seat], at))) for local, waiting in self._here}

    # -- following ---------------------------------------------------------------------------------------------------

    def _tokens(self, seat: int, value: Any) -> Iterator[Any]:
        """Yield what a value may be as a message on its way."""
        outline = self.process.outline
        for name, message in self.spec.messages.items():
            if not set(outline.senders(seat)) & set(message.senders):
                continue
            shape = compile_message(message, self.spec.types)
            found = shape.read(value)
            if found is None:
                continue
            values = dict(zip(shape.fields, found, strict=True))
            tracked = outline.tracked[name]
            yield name, tuple((field, _option(options, values[field])) for field, options in tracked.items())

    def _follow(self, session: Session, effects: list[Effect], text: str, given: Any, rings: int = 0) -> None:
        if not self.watching:
            return
        self.inputs.append(text)
        try:
            self._follow_all(session, effects, given, rings)
        except BoundExceeded:
            self.watching = False

    def _follow_all(self, session: Session, effects: list[Effect], given: Any, rings: int) -> None:
        if session.ended is not None and session.ended.failed and "has no answer" not in session.ended.failed:
            self.watching = False  # an expression without a value, a machine that never waits: other checks tell of it
            return
        wanted = self._out(effects)
        left = self._left(session)
        failed = session.ended is not None and session.ended.failed is not None
        states = frozenset(_states(session.root)) if session.ended is None and session.root is not None else None
        nothing: Out = ((),) * self._seats
        todo: list[Way] = []
        for local, waiting in self._here:
            if given is None:
                todo.append((local, waiting, nothing, rings))
                continue
            for one in given(local):
                todo += self._ways((local, waiting, nothing, rings), one, wanted)
        seen = set(todo)
        found: set[tuple[int, Waiting]] = set()
        reached: set[str] = set()
        while todo:
            way = todo.pop()
            local, waiting, out, _ = way
            rest = self.process.rest(local)
            reached.add(f"{rest.where} waiting {waiting} out {out}")
            rests = rest.states == states if states is not None else rest.over is not None and bool(rest.over) == failed
            if rests and out == wanted and all(map(_may_be, left, waiting)):
                kept = [() if have is None else those for have, those in zip(left, waiting, strict=True)]
                found.add((local, tuple(kept)))
            for more in self._onward(way, wanted):
                if more not in seen:
                    seen.add(more)
                    todo.append(more)
            if len(seen) > WAYS_MAX:
                self.watching = False
                return
        if not found:
            raise MissedError(
                f"{self.role} after {self.inputs}: no way of the exploration sends {wanted}, leaves {left} unread, "
                f"is in {sorted(states or ['the end'])}; there are {sorted(reached)[:20]}"
            )
        self._here = found
        if session.ended is not None:
            self.watching = False

    def _onward(self, way: Way, wanted: Out) -> Iterator[Way]:
        local, waiting, _, rings = way
        rest = self.process.rest(local)
        if rest.over is not None:
            return
        for seat, (first, *others) in ((at, those) for at, those in enumerate(waiting) if those):
            if seat not in rest.closed:
                ways = list(self._reads(way, "read", seat, first, wanted))
                yield from ways or self._past(way, seat, others, wanted)
        if rings:
            for timer in rest.timers:
                yield from self._ways((local, waiting, way[2], rings - 1), ("ring", timer), wanted)

    def _past(self, way: Way, seat: int, others: list[int], wanted: Out) -> Iterator[Way]:
        """Yield what may be read though the first thing that waits is not: see `StateSpace._past`."""
        for at in others:
            if self.spec.messages.get(self._pushed[seat][at][0][0]) in self._urgent:
                yield from self._reads(way, "overtake", seat, at, wanted)
        if seat in self._lost and seat in self.process.rest(way[0]).seated:
            for more in self._reads(way, "read", seat, others[-1], wanted) if others else ():
                yield more[0], _with(more[1], seat, ()), *more[2:]

    def _reads(self, way: Way, how: str, seat: int, at: int, wanted: Out) -> Iterator[Way]:
        left = tuple(one for one in way[1][seat] if one != at)
        for token in self._pushed[seat][at]:
            for more in self._ways(way, (how, seat, token), wanted):
                yield more[0], _with(more[1], seat, left), *more[2:]

    def _ways(self, way: Way, given: tuple[Any, ...], wanted: Out) -> Iterator[Way]:
        local, waiting, out, rings = way
        for successor in self.process.after(local, given):
            more = [list(one) for one in out]
            for effect in successor.outcome.out:
                if effect.seat not in self._lost:
                    more[effect.seat].append(effect.token[0] if isinstance(effect, Sent) else CLOSED)
            found = tuple(map(tuple, more))
            if all(one == whole[: len(one)] for one, whole in zip(found, wanted, strict=True)):
                yield successor.local, waiting, found, rings

    def _out(self, effects: list[Effect]) -> Out:
        found: list[list[str]] = [[] for _ in range(self._seats)]
        for effect in effects:
            if isinstance(effect, Send | Drop) and effect.peer not in self._lost:
                found[effect.peer].append(effect.message if isinstance(effect, Send) else CLOSED)
        return tuple(map(tuple, found))

    def _left(self, session: Session) -> tuple[int | None, ...]:
        """Return how much of what each seat said is unread; None where nothing of it will ever be read."""
        seats = session.seats
        if session.ended is not None:
            return (None,) * self._seats
        return tuple(
            None if at >= len(seats) or seats[at].dropped or seats[at].number < 0 else len(seats[at].inbox)
            for at in range(self._seats)
        )


class TwinnedSession(Session):
    """A session that is held to the exploration with everything it is given."""

    __slots__ = ("asks", "twin")

    def __init__(
        self, program: Program, twin: Twin, *, seed: int = 0, my: Mapping[str, Any] | None = None, watch: bool = False
    ) -> None:
        super().__init__(program, seed=seed, my=my, watch=watch)
        self.twin = twin
        self.asks: dict[int, tuple[str, ...]] = {}

    def _done(self, changed: PeerState | None = None) -> list[Effect]:
        effects = super()._done(changed)
        self.asks.update({effect.number: effect.messages for effect in effects if isinstance(effect, Ask)})
        return effects

    def start(self, now: float) -> list[Effect]:
        effects = super().start(now)
        self.twin.start(self, effects)
        return effects

    def connect(self, now: float) -> tuple[int, list[Effect]]:
        rung = self._rung(now)
        seat, effects = super().connect(now)
        self.twin.connect(self, seat, effects)
        return seat, rung + effects

    def receive(self, number: int, chunk: bytes, now: float) -> list[Effect]:
        rung = self._rung(now)
        effects = super().receive(number, chunk, now)
        self.twin.receive(self, number, chunk, effects)
        return rung + effects

    def lose(self, number: int, now: float) -> list[Effect]:
        rung = self._rung(now)
        effects = super().lose(number, now)
        self.twin.lose(self, number, effects)
        return rung + effects

    def tick(self, now: float) -> list[Effect]:
        effects = super().tick(now)
        self.twin.tick(self, effects)
        return effects

    def answer(self, number: int, value: Any, now: float) -> list[Effect]:
        rung = self._rung(now)
        frame = self.questions.get(number)
        name = self._named(value, self.asks.get(number, ())) if frame is not None else None
        effects = super().answer(number, value, now)
        if frame is not None:
            self.twin.watching = self.twin.watching and name is not None
            self.twin.answer(self, name or "", effects)
        return rung + effects

    def answer_failed(self, number: int, why: str, now: float, kind: str = "no answer") -> list[Effect]:
        self.twin.watching = False
        return super().answer_failed(number, why, now, kind)

    def _rung(self, now: float) -> list[Effect]:
        """Let the clocks ring that are due, so that each input is one thing."""
        return self.tick(now) if self.deadline is not None and self.deadline <= now else []

    def _named(self, value: Any, listed: tuple[str, ...]) -> str | None:
        """Return the message that an answer is, of those that were asked for; None if it is none of them."""
        for name, message in self.twin.spec.messages.items():
            if self.twin.role not in message.senders:
                continue
            if name not in listed:
                continue
            shape = compile_message(message, self.twin.spec.types)
            if isinstance(value, tuple | list) and len(value) == 2 and value[0] == name and isinstance(value[1], dict):
                try:
                    return name if shape.read(shape.build([value[1][field] for field in shape.fields])) else None
                except Exception:  # whatever is wrong with it, it is none
                    return None
        types, messages = self.twin.spec.types, self.twin.spec.messages
        names = [name for name in listed if compile_message(messages[name], types).read(value) is not None]
        return names[0] if len(names) == 1 else None


def _may_be(left: int | None, waiting: tuple[int, ...]) -> bool:
    return left is None or left == len(waiting)


def _with(waiting: Waiting, seat: int, those: tuple[int, ...]) -> Waiting:
    return (*waiting[:seat], those, *waiting[seat + 1 :])


def _option(options: tuple[Value, ...], value: Any) -> Value:
    plain = lifted(value)
    return next(
        (one for one in options if one == plain), next((one for one in options if type(one) is OtherThan), plain)
    )


def _states(frame: CallFrame) -> Iterator[str]:
    yield f"{frame.table.name}.{frame.node.name}"
    for child in frame.children():
        yield from _states(child)


__all__ = ["Closed", "MissedError", "Twin", "TwinnedSession", "processes"]
