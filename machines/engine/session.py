"""The sans-IO session: bytes, clocks and answers in; effects out. It never sees a socket or a clock.

What one event does, in order (``specs/README.md`` tells it to authors):

1. An event belongs to a peer, or is a clock or a player's answer. Bytes are cut into messages, which wait in the
   peer's inbox until somebody hears the peer: the state that awaits it, then every ``always`` around it.
2. A message is read against what its hearers list, inside first. What fits nothing there is ``invalid``.
3. The first branch that ``if`` and ``limit`` allow is taken (`Interpreter.fire`); what follows silently is done
   (`Interpreter.run_to_completion`), until every frame waits again.
4. The effects of all that are handed to the runtime, in order.

The same inputs at the same times give the same effects: that is what a journal replays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any

from machines.effects import Effect, Note, Pause, Received, Resume
from machines.engine import admission, mailbox, routing, spawning, violations
from machines.engine.answers import judge
from machines.engine.call_stack import (
    FAULT,
    LOST,
    MESSAGE,
    CallFrame,
    PeerState,
    RunningTimer,
    TransitionRecord,
    layers,
    told,
)
from machines.engine.compiler import ACCEPT, WAIT, HandlerScope, MessageHandler, Program
from machines.engine.interpreter import Interpreter
from machines.engine.keeping import EVENT_BYTES, WORK_BYTES
from machines.messages.bodies import MessageCodec
from machines.values import Peer
from machines.wire.codec import Malformed
from machines.wire.composite_framing import Cut
from machines.work import METER


class Session(Interpreter):
    """One run of a role: the server with all its peers, or one client.

    ``seed`` is the run's; ``my`` is what ``my.name`` and the like read, of which ``secure`` is false if not given. With
    ``watch`` every message taken is also reported as a `Received` effect. Times are seconds on any clock that never
    goes back.
    """

    __slots__ = ("watch",)

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
        for holder, layer in routing.outward(self):
            if ".connected" in layer.events and self.fire(holder, layer, layer.prefix + ".connected", seat.peer):
                return seat.number, self._done()
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
                if self.extra is not None or METER.left < self.program.work_max:
                    return self._done(seat)
                self.run_to_completion()  # the rest is `_done`, for nearly all sessions
                if self.ready or self.lonely:
                    self._drain()
                METER.left = inf
                self.reading = b""
                effects, self.effects = self.effects, []
                return effects
            self.reading = chunk
            seat.framer.feed(chunk)
            mailbox.cut(self, seat)
            self.ready.append(seat)
        return self._done(seat)

    def _fast_path(self, seat: PeerState, chunk: bytes) -> bool:
        """Take a chunk that is just the message somebody awaits, as nearly all are, past framer and inbox.

        False leaves all as it was. What differs from the long way is only how soon it is done.
        """
        holder = seat.holder
        if holder is None:
            return False
        node = holder.node
        program = self.program
        if node.kind != WAIT or seat.role in program.urgent:
            return False
        raw = seat.framer.try_single_message(chunk)
        if raw is None:
            return False
        self.reading = raw
        layer = node.layer
        if seat.role in layer.only and (len(raw) <= program.shallow_bytes or program.is_shallow(raw)):
            (event, shape, places), parse = layer.only[seat.role]
            fields = parse(raw)
            if fields is not None:
                if self.effects or self.steps:  # a clock has rung first
                    self._new_event(fresh=True)
                if self.watch:
                    self._report(seat, shape, fields)
                if not self.fire(holder, layer, event, seat.peer, None, places, fields):
                    refused = self._refused(holder, layer, layer.only[seat.role][0], fields, seat)
                    self._fault(holder, ".invalid", seat, refused)
                return True
        try:
            value = program.codec.decode(raw)
        except Malformed:
            return False
        if self.effects or self.steps:
            self._new_event(fresh=True)
        self._message(seat, holder, value)
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
                if holder is not None and holder.node.kind == ACCEPT and holder.node.awaits is None:
                    mailbox.discard(self, seat)  # nobody will ever read it: its seat is freed now
                    seat.deaf = True  # nor what its framer still holds
                mailbox.cut(self, seat)
                self.ready.append(seat)
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
                self._fault(frame, ".invalid", None, *refused)
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
            self._fault(frame, ".invalid", None, "malformed", f"the player failed: {why}")
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
        for _, layer in routing.hearers(self, self.seats[number]):
            return not layer.readers.get(self.seats[number].role) and ".closed" in layer.events
        return False

    def where(self) -> str:
        """Say what the session waits for, for people."""
        if self.ended is not None:
            return "over"
        waits = []
        for frame in routing.leaves(self):
            heard = ", ".join(str(seat.peer) for seat in frame.hears)
            waits.append(f"{frame.path} in {frame.node.name}" + (f", hears {heard}" if heard else ""))
        return "; ".join(waits) or "nothing"

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
            full = seat.framer.waiting >= self.program.wire.inbox_bytes_max
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
                    self._fault(frame, ".closed", None, "closed", "nobody is left in the group it awaits")
            elif self.ready:
                seat = self.ready.pop(0)
                if seat.more and not (seat.inbox or seat.dropped) and self.program.frames:
                    mailbox.cut_one(self, seat)
                if seat.inbox or seat.dropped:
                    self._new_event(fresh=bool(seat.inbox) and seat.inbox[0][0] != LOST)
                    if not self._take(seat):
                        if seat.inbox and seat.number not in self.unheard:
                            self.unheard += (seat.number,)
                    else:
                        if seat.more:
                            mailbox.cut(self, seat)
                        if seat.paused:
                            self._apply_backpressure(seat)
                        if seat.inbox or (seat.more and self.program.frames):
                            self.ready.append(seat)
            else:
                return

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
        if holder is None or (holder.node.kind == ACCEPT and holder.node.awaits is None):
            return self._take_unawaited(seat, holder, kind, payload)
        mailbox.pop(self, seat)
        if kind == MESSAGE:
            self.reading = payload
            if self.program.frames:
                self.extras().framed = payload.frame if type(payload) is Cut else None
            try:
                value = self.program.codec.decode(payload)
            except Malformed as error:
                violations.note(self, seat, "malformed", why=str(error))
                self.effects.append(Note("warning", f"malformed: {error}", seat.number))
                self._fault(holder, ".invalid", seat, "malformed")
            else:
                self._message(seat, holder, value)
        elif kind == FAULT:
            self._fault(holder, ".invalid", seat, payload)
        else:
            self._lost(seat, holder)
        return True

    def _lost(self, seat: PeerState, holder: CallFrame) -> None:
        seat.closed_told = True
        if holder.node.kind == ACCEPT:
            self._seated_left(seat, holder)
        else:
            self._tell_closed(seat, holder)
            self._fault(holder, ".closed", seat, "closed")

    def _tell_closed(self, seat: PeerState, frame: CallFrame) -> None:
        if not seat.dropped:
            violations.note(self, seat, "closed", frame, came=b"", why="it closed the connection")

    def _seated_left(self, seat: PeerState, holder: CallFrame) -> None:
        """A seated peer left while the sign-up is open: its seat is free; ``closed`` may add steps."""
        admission.unseat(self, holder, seat)
        self.effects.append(Note("info", "it left its seat", seat.number))
        if ".closed" in holder.node.layer.events:
            self.fire(holder, holder.node.layer, ".closed", seat.peer, "closed")
        admission.recount(self, holder)

    def _message(self, seat: PeerState, holder: CallFrame, value: Any) -> None:
        """Read an awaited peer's message against the state and the layers behind it."""
        role = seat.role
        frames = self.program.frames
        inner = True
        for frame, layer in layers(holder):
            readers = layer.readers.get(role)
            if readers and (inner or routing.hears(self, frame, layer, seat, held=True)):
                for reader in readers:
                    fields = reader[1].read(value) if not frames or self._is_cut_as(reader[1]) else None
                    if fields is not None:
                        if not self._heard(frame, layer, reader, seat, fields):
                            refused = self._refused(frame, layer, reader, fields, seat)
                            self._fault(holder, ".invalid", seat, refused)
                        return
            inner = False
        known = violations.heard_as(self, role, value)
        reason = "unknown" if known is None else "unexpected"
        violations.misread(self, holder, seat, known, value)
        self.effects.append(Note("warning", f"{reason}: {known or self._why_not(holder, role, value)}", seat.number))
        self._fault(holder, ".invalid", seat, reason)

    def _is_cut_as(self, shape: MessageCodec) -> bool:
        """Whether a message has the frame that what is being read was cut by; nearly always both have none."""
        framed = self.extra.framed if self.extra is not None else None
        return self.program.frames.get(shape.name) == framed

    def _refused(
        self, frame: CallFrame, layer: HandlerScope, reader: MessageHandler, fields: tuple[Any, ...], seat: PeerState
    ) -> str:
        """Return the reason why no branch of a message could be taken, and say so."""
        reason = "limit" if self.over_limit else "illegal"
        rule, why = violations.refusal(self, frame, layer, reader, fields, seat)
        violations.note(self, seat, reason, frame, rule=rule, why=why)
        self.effects.append(Note("warning", f"{reason}: no branch for {reader[1].name} may be taken", seat.number))
        return reason

    def _why_not(self, holder: CallFrame, role: str, value: Any) -> str:
        readers = holder.node.layer.readers.get(role, ())
        return "; ".join(f"{shape.name}: {shape.why_not(value)}" for _, shape, _ in readers) or "no message is like it"

    def _heard(
        self, frame: CallFrame, layer: HandlerScope, reader: MessageHandler, seat: PeerState, fields: tuple[Any, ...]
    ) -> bool:
        event, shape, places = reader
        if self.watch:
            self._report(seat, shape, fields)
        return self.fire(frame, layer, event, seat.peer, None, places, fields)

    def _report(self, seat: PeerState, shape: MessageCodec, fields: tuple[Any, ...]) -> None:
        self.effects.append(Received(seat.number, shape.name, dict(zip(shape.fields, fields, strict=True))))

    def overtakes(self, seat: PeerState, raw: bytes, urgent: tuple[MessageCodec, ...]) -> bool:
        """Let a message declared urgent be taken at once, if it is one and somebody lists it now."""
        try:
            value = self.program.codec.decode(raw)
        except Malformed:
            return False
        names = {shape.name for shape in urgent if shape.read(value) is not None}
        if not names:
            return False
        for frame, layer in routing.hearers(self, seat):
            for reader in layer.readers.get(seat.role, ()):
                if reader[1].name in names:
                    fields = reader[1].read(value)
                    assert fields is not None, "it was read before"
                    self._new_event(fresh=True)
                    if not self._heard(frame, layer, reader, seat, fields):
                        return False
                    self.run_to_completion()
                    return True
        return False

    # -- peers that nobody awaits ------------------------------------------------------------------------------------

    def _take_unawaited(self, seat: PeerState, sign_up: CallFrame | None, kind: str, payload: Any) -> bool:
        """Only an ``always``, or a calling state, that names the peer hears it now; else it waits, or is early."""
        hearers = list(routing.hearers(self, seat))
        if kind == LOST:
            if sign_up is not None:
                mailbox.pop(self, seat)
                self._lost(seat, sign_up)
                return True
            for frame, layer in hearers:
                if ".closed" in layer.events and frame.host is self.lent_to(seat):
                    mailbox.pop(self, seat)
                    seat.closed_told = True
                    self._tell_closed(seat, frame)
                    if not self.fire(frame, layer, layer.prefix + ".closed", seat.peer, "closed"):
                        self._fault(frame, ".closed", seat, "closed")
                    return True
            return False
        if kind == FAULT:
            return self._fault_unawaited(seat, hearers, payload)
        if self.program.frames:
            self.extras().framed = payload.frame if type(payload) is Cut else None
        self.reading = payload
        if any(seat.role in layer.readers for _, layer in hearers):
            try:
                value = self.program.codec.decode(payload)
            except Malformed:
                value = Malformed  # it fits no message; what it is will be said when somebody awaits the peer
            for frame, layer in hearers:
                for reader in layer.readers.get(seat.role, ()):
                    fields = reader[1].read(value) if value is not Malformed and self._is_cut_as(reader[1]) else None
                    if fields is not None:
                        mailbox.pop(self, seat)
                        if not self._heard(frame, layer, reader, seat, fields):
                            self._mark(seat, self._refused(frame, layer, reader, fields, seat))
                        return True
        return self._early(seat, hearers)

    def _fault_unawaited(self, seat: PeerState, hearers: list[routing.Hearer], reason: str) -> bool:
        for frame, layer in hearers:
            if ".invalid" in layer.events and frame.host is self.lent_to(seat):
                mailbox.pop(self, seat)
                if not self.fire(frame, layer, layer.prefix + ".invalid", seat.peer, reason):
                    self._fault(frame, ".invalid", seat, reason)
                return True
        return False

    def _mark(self, seat: PeerState, reason: str) -> None:
        """A fault of a peer that nobody awaits meets whoever hears the peer next, before anything new."""
        seat.inbox = [(FAULT, reason, self.now), *seat.inbox]

    def _early(self, seat: PeerState, hearers: list[routing.Hearer]) -> bool:
        policy = routing.early_policy(self, seat)
        if policy == "keep":
            if not seat.noted:
                seat.noted = True
                self.effects.append(Note("debug", "a message nobody awaits yet is kept", seat.number))
            return False
        mailbox.pop(self, seat)
        if policy == "ignore":
            self.effects.append(Note("info", "a message nobody awaits is ignored", seat.number))
            return True
        violations.note(self, seat, "early", why="nobody had asked for it")
        self.effects.append(Note("warning", "early: a message that nobody asked for", seat.number))
        self._mark(seat, "early")
        return self._fault_unawaited(seat, hearers, "early")

    # -- faults ------------------------------------------------------------------------------------------------------

    def _fault(self, frame: CallFrame, event: str, seat: PeerState | None, reason: str, why: str = "") -> None:
        """Let the innermost layer that answers do so: from a frame's state outward, within its sign-up if it is one.

        With no answer at all a sign-up loses its peer, and any other machine ends the session as failed.
        """
        peer = seat.peer if seat is not None else None
        boundary = admission.boundary_of(self, frame)
        inner = True
        for holder, layer in layers(frame):
            heard = event in layer.events and (
                inner or seat is None or routing.hears(self, holder, layer, seat, held=True)
            )
            if heard and self.fire(holder, layer, layer.prefix + event, peer, reason):
                return
            inner = False
            if holder is boundary and (layer is holder.table.always or holder.table.always is None):
                break
        if boundary is not None and boundary.detached:
            spawning.fail(self, boundary, f"nobody answers to {event[1:]} of {peer or 'its player'}: {why or reason}")
            return
        if boundary is not None:
            admission.refuse(self, boundary, f"its sign-up ended: {reason}")
            return
        waited = f"{frame.path} in {frame.node.name} ({frame.node.place})"
        who = f" of {peer}" if peer is not None else ""
        self.end_failed(f"{waited} has no answer to {event[1:]}{who}: {why or reason}")

    # -- clocks ------------------------------------------------------------------------------------------------------

    def _ring(self, now: float, *, inclusive: bool) -> None:
        """Let the clocks that are due ring, by deadline and age; messages already read came first.

        Before any input those ring whose time is over, so what comes at its very deadline still counts, and what comes
        later is late; ``inclusive`` rings those of this very moment too, as `tick` does.
        """
        oldest_new = self.serial
        while self.ended is None:
            due, serial, ring = min(self._clocks(), key=lambda clock: clock[:2], default=(inf, 0, None))
            if ring is None or due > now or (due == now and not inclusive):
                self.earliest = due
                return
            self._new_event(fresh=serial <= oldest_new)
            ring()
            self._drain()

    def _clocks(self) -> Iterator[tuple[float, int, Callable[[], None]]]:
        for frame in routing.frames(self):
            if frame.deadline != inf:
                yield frame.deadline, frame.serial, lambda frame=frame: self._late(frame)  # type: ignore[misc]
            if frame.accepting is not None and frame.accepting.linger != inf:
                yield (
                    frame.accepting.linger,
                    frame.accepting.linger_serial,
                    lambda frame=frame: admission.close_sign_up(self, frame),  # type: ignore[misc]
                )
            for layer, moments in ((frame.node.layer, frame.moments), (frame.table.always, frame.standing)):
                for moment in moments or ():
                    yield (
                        moment.due,
                        moment.serial,
                        lambda frame=frame, layer=layer, moments=moments, moment=moment: (  # type: ignore[misc]
                            self._moment(frame, layer, moments, moment)
                        ),
                    )

    def _late(self, frame: CallFrame) -> None:
        deadline, frame.deadline = frame.deadline, inf
        node = frame.node
        accept = node.accept
        sign_up = frame.accepting if accept is not None and accept.seats is not None else None
        if accept is not None and sign_up is not None and len(frame.slots[accept.slot]) >= sign_up.low:
            admission.close_sign_up(self, frame)  # there are enough
            return
        seat = frame.hears[0] if node.kind == WAIT and len(frame.hears) == 1 else None
        violations.late(self, frame, seat, deadline)
        if seat is not None:
            self.effects.append(Note("info", f"late: {frame.path} in {node.name} has waited in vain", seat.number))
        self._fault(frame, ".timeout", seat, "late")

    def _moment(self, frame: CallFrame, layer: HandlerScope, moments: list[RunningTimer], moment: RunningTimer) -> None:
        if moment.interval is None:
            moments.remove(moment)
        else:
            missed = int((self.now - moment.due) / moment.interval)
            if missed:
                self.effects.append(
                    Note("warning", f"{frame.path}: every {moment.interval:g} s was missed {missed} times")
                )
            moment.due += moment.interval * (missed + 1)
        if not self.fire(frame, layer, layer.prefix + moment.event, None):
            self.effects.append(Note("debug", f"{frame.path}: no branch of {moment.event[1:]} may be taken"))

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
