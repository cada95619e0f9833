"""A role in the middle of a step as the rules of `machines.semantics` see it: what they ask, and what they tell."""

from __future__ import annotations

from machines.model import FrameUntil
from machines.semantics import reception, sign_ups
from machines.semantics.domain import Hearer
from machines.semantics.hearing import only_seats
from machines.verification.abstract.dialogue import is_ignored
from machines.verification.abstract.domain import Fields, PeerRef
from machines.verification.abstract.outlines import LayerOutline, StateOutline
from machines.verification.abstract.state import (
    DROPPED,
    DROPPED_TOLD,
    MARKED,
    NONSENSE,
    OPEN,
    REASON,
    SILENT,
    TOLD,
    AbstractCall,
    Observation,
    Reading,
    Token,
    is_marked,
)
from machines.verification.abstract.transitions import StateTransitions
from machines.wire.arrived_frames import opens_with_pattern


class RoleDomain(StateTransitions):
    """A `machines.semantics.domain.Domain` over unknown values, with `queries` and `transitions`.

    What is told becomes an `Observation` where it may be a fault of the protocol.
    """

    # -- events and messages -------------------------------------------------------------------------------------------

    def react(
        self, call: AbstractCall, layer: LayerOutline, event: str, seat: int | None, reason: str | None = None
    ) -> bool:
        """Take the first branch of an event of a layer that may be taken; return False if none may."""
        return self._fire(call, layer, event, seat, reason)

    def fault(self, call: AbstractCall, event: str, seat: int | None, reason: str, why: str = "") -> None:
        """Let whoever answers a fault do so."""
        reception.fault(self, call, event, seat, reason, why)

    def stop_limit(self, call: AbstractCall) -> float:
        """Return 0: there is no time here."""
        return 0.0

    def lists(self, layer: LayerOutline, seat: int) -> bool:
        """Say whether a layer lists any message."""
        return bool(layer.answers.receive)

    def decoded(self, seat: int, hearers: list[Hearer[AbstractCall]], payload: Token) -> Token:
        """Return a message as it is: it has no bytes."""
        return payload

    def read(self, layer: LayerOutline, seat: int, value: Token) -> Reading | None:
        """Read something as a message of a layer."""
        name = self._listed(layer, seat, value)
        return (name, value) if name is not None else None

    def take(self, call: AbstractCall, layer: LayerOutline, seat: int, reading: Reading) -> bool:
        """Take the first branch of a message that may be taken; return False if none may."""
        name, token = reading
        here = f"{call.table.name}.{call.state}"
        self.event = self.event or f"reads {token[0]}"
        if self.alike.is_renamed(token[0], name):
            token = (name, token[1])
        elif name != token[0]:
            text = f"{token[0]} is taken for {name} in {here}"
            self.hits.append(Observation("misread", text, token[0], here, seat, name))
            token = (name, ())
        self.reckoner.guessed = False
        mistaken = bool(self.outline.questions) and self._answers(seat, token)
        before = len(self.taken)
        taken = self._fire(call, layer, name, seat, token=token)
        if taken and mistaken and not is_ignored(self.taken[before]):
            self._tell_mistaken(call, layer, seat, name, here)
        return taken

    def refused(self, call: AbstractCall, layer: LayerOutline, seat: int, reading: Reading) -> str:
        """Return the reason why no branch of a message could be taken, and tell it."""
        holder = self.holder_of(seat)
        at = call if holder is None or only_seats(holder) else holder
        return self._tell_refused(f"{at.table.name}.{at.state}", reading[0], seat)

    def _tell_refused(self, where: str, message: str, seat: int = -1) -> str:
        if not self.reckoner.guessed and self.used_up:
            text = f"{message} comes once more than its limit in {where} allows"
            self.hits.append(Observation("limit", text, message, where, seat))
        if not self.reckoner.guessed and self.wrong != "limit":
            text = f"{message} is refused by every branch in {where}"
            self.hits.append(Observation("illegal", text, message, where, seat))
        elif not self.wrong:
            self.wrong = "illegal"
        return "limit" if self.over_limit else "illegal"

    def unlisted(self, holder: AbstractCall, seat: int, value: Token) -> str:
        """Return the reason why something is no message that somebody awaits, and tell it."""
        here = f"{holder.table.name}.{holder.state}"
        self.hits.append(Observation("unexpected", f"{value[0]} is not expected in {here}", value[0], here, seat))
        return reason_of(value, "unexpected")

    # -- inboxes and seats ---------------------------------------------------------------------------------------------

    def pop(self, seat: int) -> str:
        """What is looked at of a peer is dealt with: a fault of it that waited, else what it has sent, or its loss.

        The reason is that of a loss for a message, too: nobody asks for it there.
        """
        status = self.seats[seat]
        if is_marked(status):
            self.seats[seat] = OPEN
            return status.removeprefix(MARKED)
        self.popped = True
        return "closed"

    def mark(self, seat: int, reason: str) -> None:
        """A fault of a peer that nobody awaits meets whoever hears the peer next."""
        if self.seats[seat] == OPEN:
            self.seats[seat] = MARKED + reason

    def concerns(self, call: AbstractCall, seat: int) -> bool:
        """Faults of a peer that is lent are only its affair who has it."""
        return not self.outline.starts or call.host is self.lent_to(seat)

    def loss_known(self, seat: int) -> None:
        """Somebody is told now that a peer is gone, and nobody will be again."""
        self.event = self.event or "hears that the connection is lost"
        self.seats[seat] = DROPPED_TOLD if self.seats[seat] in (DROPPED, DROPPED_TOLD) else TOLD

    def is_gone(self, seat: int) -> bool:
        """Say whether nothing can be sent to a peer any more."""
        return self.seats[seat] in SILENT

    # -- sign-ups ------------------------------------------------------------------------------------------------------

    def wants_seats(self, call: AbstractCall) -> bool:
        """Say whether a sign-up says how many it wants."""
        return call.node.accept is not None and call.node.accept.seats is not None

    def seated(self, call: AbstractCall) -> int:
        """Return how many have a seat."""
        return len(call.env[self._seats_at(call)])

    def _seats_at(self, call: AbstractCall) -> int:
        accept = call.node.accept
        assert accept is not None, "only an accept has seats"
        return call.table.index[accept.name]

    def hear_seated(self, call: AbstractCall) -> None:
        """Let a sign-up hear those who are seated, and whom it awaits besides."""
        seated = [one.seat for one in call.env[self._seats_at(call)]]
        if call.node.awaits is not None:
            group, _ = self.reckoner.group(self._value(call.node.awaits, call))
            seated.extend(seat for seat in group if seat not in seated)
        call.hears = self._not_lent(call, tuple(seated))
        for seat in call.hears:
            if self.seats[seat] == DROPPED:
                self._tell_closed(call, seat)

    def recount(self, call: AbstractCall) -> None:
        """Look again at a sign-up, if it is open."""
        if call.sign_ups is not None and call.alive and call.node.accept is not None:
            sign_ups.look_again(self, call)

    def linger(self, call: AbstractCall, *, enough: bool) -> None:
        """Do nothing: which clocks may ring is seen from how many are seated."""

    def shut(self, call: AbstractCall) -> None:
        """A sign-up is open no longer: whoever was still signing up is closed."""
        pending, call.sign_ups = call.sign_ups, None
        self._close_pending(pending or {})

    def _admit(self, call: AbstractCall, seat: int) -> None:
        accept = call.node.accept
        assert accept is not None, "only an accept admits"
        assert call.sign_ups is not None, "it is open"
        call.env[call.table.index["peer"]] = PeerRef(seat)
        arguments = tuple([self._value(argument, call) for argument in accept.machine.arguments or ()])
        child = self.new_call(accept.machine.path, arguments, call)
        child.seat = seat
        call.sign_ups[seat] = child
        self.work.append(child)

    def signed_up(self, call: AbstractCall, sign_up: AbstractCall) -> int:
        """A sign-up is over; return whose it was."""
        assert call.sign_ups is not None, "it is open"
        del call.sign_ups[sign_up.seat]
        return sign_up.seat

    def introduce(self, call: AbstractCall, sign_up: AbstractCall, seat: int) -> bool:
        """Give a peer the fields that its sign-up returned."""
        call.env[call.table.index["peer"]] = PeerRef(seat)
        if type(sign_up.result) is Fields:
            self._know_of(PeerRef(seat), dict(sign_up.result.items))
        return True

    def welcome(self, call: AbstractCall, seat: int) -> bool:
        """Take the branch for who is about to be seated; False, and it is closed, if none may be taken."""
        if self._fire(call, call.node.layer, ".seated", seat):
            return True
        self._drop(seat, "door")
        return False

    def sit(self, call: AbstractCall, node: StateOutline, seat: int) -> None:
        """A peer takes the next seat of a sign-up."""
        assert node.accept is not None, "only an accept has seats"
        at = call.table.index[node.accept.name]
        call.env[at] = (*call.env[at], PeerRef(seat))

    def unseat(self, call: AbstractCall, seat: int) -> None:
        """A seated peer left while the sign-up is open: its seat is free."""
        at = self._seats_at(call)
        call.env[at] = tuple(one for one in call.env[at] if one != PeerRef(seat))

    # -- what is told --------------------------------------------------------------------------------------------------

    def tell_loss(self, holder: AbstractCall, seat: int) -> None:
        """Tell nothing: a loss is no fault of the protocol."""

    def tell_gone(self, seat: int) -> None:
        """Tell nothing: who leaves early is no fault of the protocol."""

    def tell_late(self, call: AbstractCall, seat: int | None, due: float) -> None:
        """Tell nothing: that a clock rang is what the step is about."""

    def tell_kept(self, seat: int) -> None:
        """Tell nothing: what waits is seen in what the peer has sent."""

    def tell_ignored(self, seat: int) -> None:
        """Tell of a message that is thrown away."""
        where = self.where()
        self.event = self.event or f"ignores {self.looked_at[0]}"
        text = f"{self.looked_at[0]} is ignored in {where}"
        self.hits.append(Observation("ignored", text, self.looked_at[0], where, seat))

    def tell_early(self, seat: int, hearers: list[Hearer[AbstractCall]]) -> None:
        """Tell of a message that nobody had asked for, if anybody answers to it now."""
        where = self.where()
        self.event = self.event or f"did not ask for {self.looked_at[0]}"
        if any(".invalid" in layer.events for _, layer in hearers):
            text = f"nobody asked for {self.looked_at[0]} in {where}"
            self.hits.append(Observation("early", text, self.looked_at[0], where, seat))

    def _tell_swallowed(self, holder: AbstractCall, message: str) -> None:
        """Note that a message has come where a frame is read that takes whatever comes."""
        frames = self.outline.spec.frames
        for name in holder.node.layer.answers.receive if frames else ():
            if name in frames and frames.get(message) != frames[name] and not opens_with_pattern(frames[name]):
                how = "up to its mark" if isinstance(frames[name][0], FrameUntil) else "whatever comes"
                here = f"{holder.table.name}.{holder.state}"
                self.swallowed.add(f"{name} is read {how} in {here}, and takes {message} if that comes first")

    # -- how it ends ---------------------------------------------------------------------------------------------------

    def end_sign_up(self, sign_up: AbstractCall, reason: str) -> None:
        """A sign-up that answers to nothing more loses its peer."""
        parent = sign_up.parent
        assert parent is not None, "a sign-up has a caller"
        pending = parent.sign_ups if parent.sign_ups is not None else parent.parked
        assert pending is not None, "a sign-up is pending"
        del pending[sign_up.seat]
        self.abandon(sign_up)
        self._drop(sign_up.seat, "door")

    def unanswered(self, call: AbstractCall, event: str, seat: int | None, why: str) -> None:
        """Nobody answers a fault: the session fails."""
        here = f"{call.table.name}.{call.state}"
        text = f"{here} has no answer to {event[1:]}"
        at = -1 if seat is None else seat
        self.hits.append(Observation("unanswered", f"{text} ({why})", "", here, at))
        self._end(text + (f": {self.lost}" if event == ".closed" else ""))


def reason_of(token: Token, otherwise: str) -> str:
    """Return the reason of a fault: what is no message says it itself."""
    return str(dict(token[1]).get(REASON, otherwise)) if token[0] == NONSENSE else otherwise
