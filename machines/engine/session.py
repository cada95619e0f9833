"""The sans-IO session: bytes, clocks and answers in; effects out. It never sees a socket or a clock.

What one event does, in order (``specs/README.md`` tells it to authors):

1. An event belongs to a peer, or is a clock or a player's answer. Bytes are cut into messages, which wait in the
   peer's inbox until somebody hears the peer: the state that awaits it, then every ``always`` around it.
2. A message is read against what its hearers list, inside first. What fits nothing there is ``invalid``
   (`machines.semantics.reception`).
3. The first branch that ``if`` and ``limit`` allow is taken (`Interpreter.fire`); what follows silently is done
   (`Interpreter.run_to_completion`), until every frame waits again.
4. The effects of all that are handed to the runtime, in order.

The same inputs at the same times give the same effects: that is what a journal replays.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from machines.effects import Effect, Note, Pause, Received, Resume
from machines.engine import admission, mailbox, routing, spawning, timers, violations
from machines.engine.answers import judge
from machines.engine.call_stack import (
    FAULT,
    LOST,
    MESSAGE,
    TOO_SILENT,
    CallFrame,
    FailedError,
    PeerState,
    TransitionRecord,
    told,
)
from machines.engine.compiled_states import WAIT
from machines.engine.compiler import Program
from machines.engine.keeping import EVENT_BYTES, WORK_BYTES
from machines.engine.session_domain import SessionDomain
from machines.semantics import reception
from machines.semantics.hearing import hearers, only_seats
from machines.values import Peer
from machines.wire.codec import Malformed
from machines.wire.composite_framing import Cut
from machines.work import METER, SILENT_STEPS_MAX


class Session(SessionDomain):
    """One run of a role: the server with all its peers, or one client.

    ``seed`` is the run's; ``my`` is what ``my.name`` and the like read, of which ``secure`` is false if not given. With
    ``watch`` every message taken is also reported as a `Received` effect. Times are seconds on any clock that never
    goes back.
    """

    __slots__ = ()

    def __init__(
        self, program: Program, *, seed: int = 0, my: Mapping[str, Any] | None = None, watch: bool = False
    ) -> None:
        super().__init__(program, seed, my or {})
        self.watch = watch

    # -- inputs ------------------------------------------------------------------------------------------------------

    def start(self, now: float) -> list[Effect]:
        """Enter ``main``. The seats of the roles that this one connects to are 0, 1, …; all are connected by now.

        A role whose ``main`` takes a parameter has one session for each connection; its seat comes next.
        """
        assert self.root is None, "a session starts once"
        self._begin(now)
        program = self.program
        arguments: tuple[Any, ...] = ()
        for role in program.connects:
            self._new_seat(role, accepted=False)
        if program.per_connection:
            arguments = (self._new_seat(program.callers[0], accepted=True).peer,)
        if program.refused:
            self.end_failed(program.refused)
            return self._done()
        try:
            self.root = self.new_frame("main", arguments, None, 0)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.end_failed(f"main cannot start: {error}")
            return self._done()
        self.work.append(self.root)
        return self._done()

    def connect(self, now: float) -> tuple[int, list[Effect]]:
        """A connection has come; return its seat number too. Nobody may want it: then it is dropped at once."""
        self._begin(now)
        seat = self._new_seat(self.program.callers[0], accepted=True)
        self.event_mark = len(self.effects)
        if self.ended is not None:
            self.drop(seat.peer, "the session is over")
            return seat.number, self._done()
        sign_up = routing.open_sign_up(self)
        if sign_up is not None:
            admission.admit(self, sign_up, seat)
            return seat.number, self._done()
        if not reception.connection(self, seat):
            self.drop(seat.peer, "the door is shut")
        return seat.number, self._done()

    def receive(self, number: int, chunk: bytes, now: float) -> list[Effect]:
        """Bytes have come from a peer; ``now`` is when the last of them did."""
        self._begin(now)
        seat = self.seats[number]
        if self.ended is None and not (seat.lost or seat.dropped or seat.deaf):
            grown = len(chunk) + EVENT_BYTES
            seat.grown += grown
            self.room -= grown
            if not seat.inbox and self._fast_path(seat, chunk):
                self.run_to_completion()  # it may make what few sessions have: so that is looked at after it
                if self.ready or self.lonely or self.extra is not None or METER.left < self.program.work_max:
                    return self._done(seat)
                METER.left = inf  # the rest of `_done`, for nearly all sessions
                self.reading = b""
                effects, self.effects = self.effects, []
                return effects
            self.reading = chunk
            seat.framer.feed(chunk)
            self._cut(seat)
            self.look_at(seat)
        return self._done(seat)

    def _fast_path(self, seat: PeerState, chunk: bytes) -> bool:
        """Take a chunk that is just the message somebody awaits, as nearly all are, past framer and inbox.

        False leaves all as it was. What differs from the long way is only how soon it is done: a program without
        ``quick`` has none but that one, and tests hold the two together.
        """
        holder, program = seat.holder, self.program
        if holder is None or holder.node.kind != WAIT or not program.quick or seat.role in program.urgent:
            return False
        raw = seat.framer.try_single_message(chunk)
        if raw is None:
            return False
        self.reading = raw
        layer = holder.node.layer
        only = layer.only.get(seat.role)
        if only is not None and (len(raw) <= program.shallow_bytes or program.is_shallow(raw)):
            (event, shape, _), parse = only
            fields = parse(raw)
            if fields is not None:
                if self.effects or self.steps or self.transitions:  # a clock has rung first
                    self._new_event(fresh=True)
                if self.watch:
                    self.effects.append(Received(seat.number, shape.name, dict(zip(shape.fields, fields, strict=True))))
                if not self.fire(holder, layer, event, seat.peer, None, fields):
                    refused = self.refused(holder, layer, seat, (only[0], fields))
                    self.fault(holder, ".invalid", seat, refused)
                return True
        try:
            value = program.codec.decode(raw)
        except Malformed:
            return False
        if self.effects or self.steps or self.transitions:
            self._new_event(fresh=True)
        reception.message(self, seat, holder, value)
        return True

    def lose(self, number: int, now: float) -> list[Effect]:
        """A peer's connection has ended or failed: it can get nothing more; what it had sent is still read."""
        self._begin(now)
        seat = self.seats[number]
        if not seat.lost and self.ended is None:
            seat.lost = True
            self.left(seat)
            if not seat.dropped:
                holder = seat.holder
                if holder is not None and only_seats(holder):
                    mailbox.discard(self, seat)  # nobody will ever read it: its seat is freed now
                    seat.deaf = True  # nor what its framer still holds
                self._cut(seat)
                self.look_at(seat)
        return self._done(seat)

    def tick(self, now: float) -> list[Effect]:
        """Time has passed: whatever clock is due rings. Call it when `deadline` has come; earlier does no harm."""
        self._begin(now)
        self._ring(now, inclusive=True)
        return self._done()

    def answer(self, number: int, value: Any, now: float) -> list[Effect]:
        """The player has answered a question: ``(message, {field: value})``, or the body as on the wire."""
        self._begin(now)
        frame = self._answered(number)
        if frame is not None:
            refused = judge(self, frame, value)
            if refused is not None:
                self.fault(frame, ".invalid", None, *refused)
        return self._done()

    def answer_failed(self, number: int, why: str, now: float, kind: str = "no answer") -> list[Effect]:
        """The player could not answer; the question counts as answered by something malformed.

        ``kind`` is what the runtime calls that: crash, exit, and so on.
        """
        self._begin(now)
        frame = self._answered(number)
        if frame is not None:
            violations.note(self, None, kind, frame, why=why, came=b"")
            self.effects.append(Note("error", f"the player failed: {why}"))
            self.fault(frame, ".invalid", None, "malformed", f"the player failed: {why}")
        return self._done()

    # -- what the runtime may ask ------------------------------------------------------------------------------------

    @property
    def deadline(self) -> float | None:
        """When `tick` is next wanted, or None; it may be too early, never too late."""
        return self.earliest if self.earliest != inf and self.ended is None else None

    @property
    def took(self) -> list[TransitionRecord]:
        """The transitions of the last input: (path of the machine's call, state, event, where it led)."""
        return [told(transition) for transition in self.transitions]

    def may_close_now(self, number: int) -> bool:
        """Say whether a peer's connection may well end now: who hears it lists no message, and takes its loss."""
        for _, layer in hearers(self, self.seats[number]):
            return not layer.readers.get(self.seats[number].role) and ".closed" in layer.events
        return False

    def where(self) -> str:
        """Say what the session waits for, for people."""
        return routing.where(self)

    # -- one input ---------------------------------------------------------------------------------------------------

    def _begin(self, now: float) -> None:
        self.transitions = []
        self.event_mark = 0
        self.steps = self.granted = self.failures = 0
        METER.left = self.program.work_max
        if now > self.now:
            self.now = now
            if self.earliest < now:
                self._ring(now, inclusive=False)
        elif self.root is None:
            self.now = now

    def _done(self, changed: PeerState | None = None) -> list[Effect]:
        if self.work or self.extra is not None:
            self.run_to_completion()
        if self.ready or self.lonely or self.extra is not None:
            self._drain()
        if changed is not None and self.ended is None:
            if METER.left < self.program.work_max:  # what it had done may have made something grow
                grown = int(self.program.work_max - METER.left) * WORK_BYTES
                changed.grown += grown
                self.room -= grown
            self._apply_backpressure(changed)
        if self.extra is not None and len(self.extra.vacant) >= self.extra.sweep_at:
            admission.release_peers(self, self.extra)
        METER.left = inf
        self.reading = b""  # a session between two events keeps no bytes of the last
        effects, self.effects = self.effects, []
        return effects

    def _apply_backpressure(self, seat: PeerState) -> None:
        """Stop or go on reading from a peer, as its inbox fills or empties."""
        full = seat.more
        if full and self.program.frames:  # these are cut only for whoever hears them
            full = seat.framer.waiting >= min(self.program.wire.inbox_bytes_max, mailbox.UNCUT_BYTES_MAX)
        if full and not seat.paused and not seat.silent:
            seat.paused = True
            self.effects.append(Pause(seat.number))
            self.effects.append(Note("info", "its inbox is full: reading stops", seat.number))
        elif seat.paused and not full:
            seat.paused = False
            self.effects.append(Resume(seat.number))

    def _drain(self) -> None:
        """Settle, and let inboxes be read, until nobody has anything to do."""
        while self.ended is None:
            if self.work or self.extra is not None:
                self.run_to_completion()
            if self.extra is not None and self.extra.endings:
                spawning.notify_parent(self, self.extra)
            elif self.lonely:
                frame, *others = self.lonely
                self.lonely = tuple(others)
                if frame.alive and frame.empty_told and frame.node.kind == WAIT:
                    self._new_event(fresh=False)
                    self.fault(frame, ".closed", None, "closed", "nobody is left in the group it awaits")
            elif self._woken():
                continue
            elif isinstance(self.ready, list):
                seat = self.ready.pop(0)
                if not self.ready:
                    self.ready = ()
                if seat.more and not (seat.inbox or seat.dropped) and self.program.frames:
                    mailbox.cut_one(self, seat, [layer for _, layer in hearers(self, seat)])
                if seat.inbox or seat.dropped:
                    self._new_event(fresh=bool(seat.inbox) and seat.inbox[0][0] != LOST)
                    if not self._take(seat):
                        if seat.inbox and seat.number not in self.unheard:
                            self.unheard += (seat.number,)
                    else:
                        if seat.more:
                            self._cut(seat)
                        if seat.paused:
                            self._apply_backpressure(seat)
                        if seat.inbox or (seat.more and self.program.frames):
                            self.look_at(seat)
            else:
                return

    def _woken(self) -> bool:
        """Take the branch of the next condition that has come to hold; return whether there was one."""
        watching = self.extra.watching if self.extra is not None else None
        found = watching.due() if watching is not None else None
        if found is None:
            return False
        frame, watch, error = found
        self._new_event(fresh=False)
        event = watch.condition.event
        self.steps += 1
        if self.steps > SILENT_STEPS_MAX + self.granted:
            error = FailedError(TOO_SILENT)
        layer = frame.table.always if watch.always else frame.node.layer
        assert layer is not None, "what stands behind the states stands in an always"
        if error is not None:
            self.failed(frame, error, f"{event} in {frame.node.name}")
        elif not self.fire(frame, layer, layer.prefix + event, None):
            self.effects.append(Note("debug", f"{frame.path}: no branch of {event[1:]} may be taken"))
        return True

    def _new_event(self, *, fresh: bool) -> None:
        """Begin another event of this input. One that is not ``fresh`` was made by the session itself.

        Those share the bound on silent steps: a peer that is gone answers every wait at once, and a clock of no
        seconds rings at once, so a machine that waits for them again and again would never come to rest.
        """
        self.event_mark = len(self.effects)
        if fresh:
            self.steps = self.granted = self.failures = 0
            METER.left = self.program.work_max

    def _new_seat(self, role: str, *, accepted: bool) -> PeerState:
        seat = PeerState(len(self.seats), role, self.program.make_framer(), accepted=accepted)
        self.seats.append(seat)
        return seat

    # -- inboxes -----------------------------------------------------------------------------------------------------

    def _take(self, seat: PeerState) -> bool:
        """Let whoever hears a peer take the first thing in its inbox; return whether somebody did."""
        if seat.dropped:
            told = seat.closed_told and all(kind != LOST for kind, _, _ in seat.inbox)
            mailbox.discard(self, seat)
            if seat.holder is None or told:
                return False
            seat.put(LOST, None, self.now)
        kind, payload, _ = seat.inbox[0]
        holder = seat.holder
        if holder is None or only_seats(holder):
            return self._take_unawaited(seat, holder, kind, payload)
        mailbox.pop(seat)
        if kind == LOST:
            reception.loss(self, seat, holder)
        elif kind == FAULT:
            self.fault(holder, ".invalid", seat, payload)
        else:
            self.reading = payload
            if self.program.frames:
                self.extras().framed = payload.frame if type(payload) is Cut else None
            try:
                value = self.program.codec.decode(payload)
            except Malformed as error:
                violations.note(self, seat, "malformed", why=str(error))
                self.effects.append(Note("warning", f"malformed: {error}", seat.number))
                self.fault(holder, ".invalid", seat, "malformed")
            else:
                reception.message(self, seat, holder, value)
        return True

    def _take_unawaited(self, seat: PeerState, sign_up: CallFrame | None, kind: str, payload: Any) -> bool:
        if kind == MESSAGE:
            return reception.unawaited_message(self, seat, payload)
        if kind == FAULT:
            return reception.unawaited_fault(self, seat)
        if sign_up is None:
            return reception.unawaited_loss(self, seat)
        mailbox.pop(seat)
        reception.loss(self, seat, sign_up)
        return True

    def _cut(self, seat: PeerState) -> None:
        mailbox.cut(self, seat, self._overtakes if seat.role in self.program.urgent else None)

    def _overtakes(self, seat: PeerState, raw: bytes) -> bool:
        """Let a message declared urgent be taken at once, if it is one and somebody lists it now."""
        try:
            value = self.program.codec.decode(raw)
        except Malformed:
            return False
        names = {shape.name for shape in self.program.urgent[seat.role] if shape.read(value) is not None}
        if not names:
            return False
        for frame, layer in hearers(self, seat):
            for reader in layer.readers.get(seat.role, ()):
                if reader[1].name in names:
                    fields = reader[1].read(value)
                    assert fields is not None, "it was read before"
                    self._new_event(fresh=True)
                    if not self.take(frame, layer, seat, (reader, fields)):
                        del self.effects[self.event_mark :]  # its turn comes, and it is told of then
                        return False
                    self.run_to_completion()
                    return True
        return False

    # -- clocks ------------------------------------------------------------------------------------------------------

    def _ring(self, now: float, *, inclusive: bool) -> None:
        """Let the clocks that are due ring, by deadline and age; messages already read came first.

        Before any input those ring whose time is over, so what comes at its very deadline still counts, and what comes
        later is late; ``inclusive`` rings those of this very moment too, as `tick` does.
        """
        oldest_new = self.serial
        while self.ended is None:
            due, serial, ring = min(timers.clocks(self), key=lambda clock: clock[:2], default=(inf, 0, None))
            if ring is None or due > now or (due == now and not inclusive):
                self.earliest = due
                return
            self._new_event(fresh=serial <= oldest_new)
            ring()
            self._drain()

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answered(self, number: int) -> CallFrame | None:
        frame = self.questions.pop(number, None)
        if frame is None:
            if self.ended is None:
                self.effects.append(Note("info", f"the answer to question {number} comes too late and is not used"))
            return None
        frame.question = None
        self.event_mark = len(self.effects)
        return frame


__all__ = ["Peer", "Program", "Session"]
