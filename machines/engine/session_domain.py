"""A session as the rules of `machines.semantics` see it: what they ask of it, and what they tell it to do."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from machines.effects import Ended, Note, Received
from machines.engine import admission, iteration, mailbox, spawning, violations
from machines.engine.actions import peers, peers_in
from machines.engine.call_stack import FAULT, CallFrame, ParallelLoop, PeerState, is_within
from machines.engine.compiled_states import ACCEPT, CompiledState, HandlerScope, Reading
from machines.engine.interpreter import Interpreter
from machines.engine.timers import start_clocks
from machines.messages.bodies import MessageCodec
from machines.model import Early
from machines.semantics import calls, reception, sign_ups
from machines.semantics.domain import Hearer
from machines.semantics.hearing import below
from machines.wire.codec import Malformed
from machines.wire.composite_framing import Cut


class SessionDomain(Interpreter):
    """What a session answers to the rules: a `machines.semantics.domain.Domain` over values."""

    __slots__ = ("watch",)

    watch: bool

    # -- who hears a peer --------------------------------------------------------------------------------------------

    def calls(self) -> Iterator[CallFrame]:
        """Yield every live frame, callees before callers, older calls first."""
        return below(self.root) if self.root is not None else iter(())

    def holder_of(self, seat: PeerState) -> CallFrame | None:
        """Return the frame whose present state awaits a peer."""
        return seat.holder

    def hears(self, frame: CallFrame, layer: HandlerScope, seat: PeerState, *, held: bool) -> bool:
        """Say whether a layer hears a peer; ``held`` if the state inside it awaits that peer.

        What is lent is heard by who has it; behind that stand, for messages, the `always` of who lent it.
        """
        if not held:
            lent = self.lent_to(seat)
            if frame.host is not lent and not (
                lent is not None and layer is frame.table.always and is_within(lent, frame)
            ):
                return False
        audience = layer.audience
        if audience == "inner":
            return held
        if audience == "partner":
            return True
        if frame.node.layer is layer and frame.node.kind == ACCEPT:
            return seat in frame.hears
        try:
            named = audience(frame.slots)
            return seat.peer in peers(named)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a name not yet bound, or bound to no peer: then it hears nobody yet
            return False

    def was_given(self, frame: CallFrame, seat: PeerState) -> bool:
        """Say whether a frame's arguments speak of a peer."""
        return seat.number in peers_in(tuple(frame.slots[1 : frame.table.parameters + 1]))

    def early_of(self, seat: PeerState) -> Early:
        """Return what becomes of early messages of a peer where no state and no machine says it."""
        if self.program.role.early is not None:
            return self.program.role.early
        return self.program.wire.early if seat.accepted else "keep"

    def concerns(self, frame: CallFrame, seat: PeerState) -> bool:
        """Say whether faults of a peer are a frame's affair: those of one that is lent are only its who has it."""
        return frame.host is self.lent_to(seat)

    # -- events and messages -----------------------------------------------------------------------------------------

    def react(
        self, frame: CallFrame, layer: HandlerScope, event: str, seat: PeerState | None, reason: str | None = None
    ) -> bool:
        """Take the first branch of an event of a layer that may be taken; return False if none may."""
        return self.fire(frame, layer, layer.prefix + event, seat.peer if seat is not None else None, reason)

    def fault(self, frame: CallFrame, event: str, seat: PeerState | None, reason: str, why: str = "") -> None:
        """Let whoever answers a fault do so."""
        reception.fault(self, frame, event, seat, reason, why)

    def stop_limit(self, frame: CallFrame) -> float:
        """Let a state's limit, which is over, ring no more; return when it was due."""
        due, frame.deadline = frame.deadline, inf
        return due

    def lists(self, layer: HandlerScope, seat: PeerState) -> bool:
        """Say whether a layer lists any message that a peer may send."""
        return seat.role in layer.readers

    def decoded(self, seat: PeerState, hearers: list[Hearer[CallFrame]], payload: Any) -> Any:
        """Return the value of bytes if anybody may read it; what fits no message is told once the peer is awaited."""
        if self.program.frames:
            self.extras().framed = payload.frame if type(payload) is Cut else None
        self.reading = payload
        if any(seat.role in layer.readers for _, layer in hearers):
            try:
                return self.program.codec.decode(payload)
            except Malformed:
                pass
        return Malformed

    def read(self, layer: HandlerScope, seat: PeerState, value: Any) -> Reading | None:
        """Read a value as the first message of a layer that it is."""
        if value is Malformed:
            return None
        frames = self.program.frames
        for reader in layer.readers.get(seat.role, ()):
            fields = reader[1].read(value) if not frames or self._is_cut_as(reader[1]) else None
            if fields is not None:
                return reader, fields
        return None

    def _is_cut_as(self, shape: MessageCodec) -> bool:
        """Whether a message has the frame that what is being read was cut by; nearly always both have none."""
        framed = self.extra.framed if self.extra is not None else None
        return self.program.frames.get(shape.name) == framed

    def take(self, frame: CallFrame, layer: HandlerScope, seat: PeerState, reading: Reading) -> bool:
        """Take the first branch of a message that may be taken; return False if none may."""
        (event, shape, _), fields = reading
        if self.watch:
            self.effects.append(Received(seat.number, shape.name, dict(zip(shape.fields, fields, strict=True))))
        return self.fire(frame, layer, event, seat.peer, None, fields)

    def refused(self, frame: CallFrame, layer: HandlerScope, seat: PeerState, reading: Reading) -> str:
        """Return the reason why no branch of a message could be taken, and tell it."""
        reason = "limit" if self.over_limit else "illegal"
        reader, fields = reading
        rule, why = violations.refusal(self, frame, layer, reader, fields, seat)
        violations.note(self, seat, reason, frame, rule=rule, why=why)
        self.effects.append(Note("warning", f"{reason}: no branch for {reader[1].name} may be taken", seat.number))
        return reason

    def unlisted(self, holder: CallFrame, seat: PeerState, value: Any) -> str:
        """Return the reason why a value is no message that somebody awaits, and tell it."""
        known = violations.heard_as(self, seat.role, value)
        reason = "unknown" if known is None else "unexpected"
        violations.misread(self, holder, seat, known, value)
        why = known
        if why is None:
            readers = holder.node.layer.readers.get(seat.role, ())
            why = (
                "; ".join(f"{shape.name}: {shape.why_not(value)}" for _, shape, _ in readers) or violations.NO_LIKENESS
            )
        self.effects.append(Note("warning", f"{reason}: {why}", seat.number))
        return reason

    # -- inboxes and seats -------------------------------------------------------------------------------------------

    def pop(self, seat: PeerState) -> str:
        """Take the first thing out of an inbox; return the reason of a fault or a loss, "" of a message."""
        return mailbox.pop(seat)

    def mark(self, seat: PeerState, reason: str) -> None:
        """A fault of a peer that nobody awaits meets whoever hears the peer next, before anything new."""
        seat.inbox = [(FAULT, reason, self.now), *seat.inbox]

    def loss_known(self, seat: PeerState) -> None:
        """Somebody is told now that a peer is gone, and nobody will be again."""
        seat.closed_told = True

    # -- calls and loops ---------------------------------------------------------------------------------------------

    def end_main(self, frame: CallFrame) -> None:
        """``main`` has returned: all is over."""
        self.end(Ended(frame.result, None, frame.extra.outcome if frame.extra is not None else None))

    def take_result(self, frame: CallFrame, child: CallFrame) -> None:
        """Bind what a called machine returned, and do the next item or go on."""
        slots = frame.slots
        saved = slots
        mark = len(self.effects)
        node = frame.node
        self.undoable = ()
        self.speaker = None
        try:
            loop = frame.loop
            if isinstance(loop, ParallelLoop):
                index = child.ordinal - loop.offset
                del loop.running[index]
                loop.done.add(index)
                loop.results[index] = child.result
                saved = slots[:]
                iteration.start_items(self, frame, node, loop)
                return
            frame.child = None
            if node.bind is not None:  # binds all its names or, where it raises, none
                slots[frame.table.result_slot] = child.result
                node.bind(slots)
            saved = slots.copy()  # what was returned stays, whatever the next item does
            self.undoable = ()
            calls.after_result(self, frame)
        except BaseException as error:
            self.rollback(frame, saved, mark)
            self.failed(frame, error, f"with what {child.table.name} returned in {node.name}")

    def begin_loop(self, frame: CallFrame) -> bool:
        """Read the list of a loop; False if its items run side by side, and have begun."""
        return iteration.begin(self, frame, frame.node)

    def advance(self, frame: CallFrame) -> bool:
        """Go to the next item of a loop; False if there is none."""
        return iteration.advance(self, frame)

    def do_steps(self, frame: CallFrame) -> None:
        """Do the steps of a state, or of an item of it."""
        if frame.node.entry is not None:
            frame.node.entry(frame.slots)

    def wait(self, frame: CallFrame) -> None:
        """Let a state's clocks run, hear whom it awaits, and ask what it asks."""
        node = frame.node
        start_clocks(self, frame, node)
        frame.empty_told = False
        if node.awaits is not None:
            self.register(frame, node, afresh=True)
        if node.asked is not None:
            self.ask(frame, node)
        if self.unheard:
            self.hear_more()

    def run(self, frame: CallFrame) -> None:
        """Call the machine of a state."""
        node, loop = frame.node, frame.loop
        if node.timed:
            start_clocks(self, frame, node)
        assert node.run is not None, "a call calls"
        machine, arguments = node.run
        ordinal = loop.offset + loop.index if loop is not None else frame.number_calls(machine)
        frame.child = child = self.new_frame(machine, arguments(frame.slots), frame, ordinal)
        self.work.append(child)

    def is_wanted(self, frame: CallFrame) -> bool:
        """Say whether an item is done at all, when its turn has come."""
        each = frame.node.each
        return each is None or each.guard is None or each.guard(frame.slots)

    def is_enough(self, frame: CallFrame) -> bool:
        """Say whether an item was the last: what ``until`` asks holds."""
        each = frame.node.each
        return each is not None and each.until is not None and each.until(frame.slots)

    def in_loop(self, frame: CallFrame) -> bool:
        """Say whether a state does items."""
        return frame.loop is not None

    def end_loop(self, frame: CallFrame) -> None:
        """No item is left."""
        frame.loop = None

    def open_sign_up(self, frame: CallFrame) -> None:
        """Take in connections."""
        admission.enter_accept(self, frame, frame.node)

    # -- sign-ups ----------------------------------------------------------------------------------------------------

    def is_gone(self, seat: PeerState) -> bool:
        """Say whether nothing can be sent to a peer any more."""
        return seat.gone

    def wants_seats(self, frame: CallFrame) -> bool:
        """Say whether a sign-up says how many it wants."""
        accept = frame.node.accept
        return accept is not None and accept.seats is not None and frame.accepting is not None

    def seats_wanted(self, frame: CallFrame) -> tuple[int, float]:
        """Return how many an open sign-up wants at least, and how many at most."""
        assert frame.accepting is not None, "it is open"
        return frame.accepting.low, frame.accepting.high

    def seated(self, frame: CallFrame) -> int:
        """Return how many have a seat."""
        assert frame.node.accept is not None, "only an accept has seats"
        return len(frame.slots[frame.node.accept.slot])

    def hear_seated(self, frame: CallFrame) -> None:
        """Let a sign-up hear those who are seated, and whom it awaits besides."""
        admission.hear_seated(self, frame, frame.node)

    def recount(self, frame: CallFrame) -> None:
        """Look again at a sign-up, if it is open."""
        if frame.accepting is not None and frame.alive and frame.node.kind == ACCEPT:
            try:
                sign_ups.look_again(self, frame)
            except BaseException as error:
                self.failed(frame, error, "counting seats")

    def linger(self, frame: CallFrame, *, enough: bool) -> None:
        """Wait for more, as long as it may, if there are enough; else for as long as it takes."""
        assert frame.accepting is not None, "it is open"
        admission.linger(self, frame, frame.accepting, enough=enough)

    def shut(self, frame: CallFrame) -> None:
        """A sign-up is open no longer: whoever was still signing up is closed."""
        accepting, frame.accepting = frame.accepting, None
        if accepting is not None:
            self.close_pending(accepting.pending)

    def signed_up(self, frame: CallFrame, sign_up: CallFrame) -> PeerState:
        """A sign-up is over; return whose it was."""
        assert frame.accepting is not None, "it is open"
        del frame.accepting.pending[sign_up.ordinal]
        return self.seats[sign_up.ordinal]

    def introduce(self, frame: CallFrame, sign_up: CallFrame, seat: PeerState) -> bool:
        """Give a peer the fields that its sign-up returned; False, and it is closed, if those are none."""
        return admission.introduce(self, frame, sign_up, seat)

    def welcome(self, frame: CallFrame, seat: PeerState) -> bool:
        """Take the branch for who is about to be seated; False, and it is closed, if none may be taken."""
        return admission.welcome(self, frame, seat)

    def sit(self, frame: CallFrame, node: CompiledState, seat: PeerState) -> None:
        """A peer takes the next seat of a sign-up; it is told unless the branch for it has left that."""
        assert node.accept is not None, "only an accept has seats"
        frame.slots[node.accept.slot] = (*frame.slots[node.accept.slot], seat.peer)
        if frame.accepting is not None:
            self.effects.append(Note("info", "it is seated", seat.number))

    def unseat(self, frame: CallFrame, seat: PeerState) -> None:
        """A seated peer left while the sign-up is open: its seat is free."""
        admission.unseat(self, frame, seat)
        self.effects.append(Note("info", "it left its seat", seat.number))

    # -- what is told ------------------------------------------------------------------------------------------------

    def tell_loss(self, holder: CallFrame, seat: PeerState) -> None:
        """Tell of a peer that has closed its connection."""
        if not seat.dropped:
            violations.note(self, seat, "closed", holder, came=b"", why="it closed the connection")

    def tell_gone(self, seat: PeerState) -> None:
        """Tell of a peer that left before it took its seat."""
        self.effects.append(Note("info", "it is gone before it took its seat", seat.number))

    def tell_late(self, frame: CallFrame, seat: PeerState | None, due: float) -> None:
        """Tell of a limit that is over."""
        violations.late(self, frame, seat, due)
        if seat is not None:
            waited = f"late: {frame.path} in {frame.node.name} has waited in vain"
            self.effects.append(Note("info", waited, seat.number))

    def tell_kept(self, seat: PeerState) -> None:
        """Tell, once, of a message that waits for somebody to await it."""
        if not seat.noted:
            seat.noted = True
            self.effects.append(Note("debug", "a message nobody awaits yet is kept", seat.number))

    def tell_ignored(self, seat: PeerState) -> None:
        """Tell of a message that is thrown away."""
        self.effects.append(Note("info", "a message nobody awaits is ignored", seat.number))

    def tell_early(self, seat: PeerState, hearers: list[Hearer[CallFrame]]) -> None:
        """Tell of a message that nobody had asked for."""
        violations.note(self, seat, "early", why="nobody had asked for it")
        self.effects.append(Note("warning", "early: a message that nobody asked for", seat.number))

    # -- how it ends -------------------------------------------------------------------------------------------------

    def end_sign_up(self, sign_up: CallFrame, reason: str) -> None:
        """A sign-up that answers to nothing more loses its peer."""
        admission.refuse(self, sign_up, f"its sign-up ended: {reason}")

    def end_started(self, started: CallFrame, event: str, seat: PeerState | None, why: str) -> None:
        """A started machine that answers to nothing more ends, alone."""
        peer = seat.peer if seat is not None else None
        spawning.fail(self, started, f"nobody answers to {event[1:]} of {peer or 'its player'}: {why}")

    def unanswered(self, frame: CallFrame, event: str, seat: PeerState | None, why: str) -> None:
        """Nobody answers a fault: the session fails."""
        waited = f"{frame.path} in {frame.node.name} ({frame.node.place})"
        who = f" of {seat.peer}" if seat is not None else ""
        self.end_failed(f"{waited} has no answer to {event[1:]}{who}: {why}")
