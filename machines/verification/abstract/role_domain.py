"""A role in the middle of a step as the rules of `machines.semantics` see it: what they ask, and what they tell."""

from __future__ import annotations

from machines.model import FrameUntil
from machines.semantics import reception
from machines.semantics.domain import Hearer
from machines.semantics.hearing import only_seats
from machines.verification.abstract.dialogue import is_ignored
from machines.verification.abstract.domain import PeerRef
from machines.verification.abstract.outlines import LayerOutline
from machines.verification.abstract.state import (
    DROPPED,
    DROPPED_TOLD,
    MARKED,
    NONSENSE,
    OPEN,
    REASON,
    TOLD,
    AbstractCall,
    Observation,
    Token,
    is_marked,
)
from machines.verification.abstract.transitions import StateTransitions
from machines.wire.composite_framing import opens_with_pattern

Reading = tuple[str, Token]  # the message that something is taken for, and what it is


class RoleDomain(StateTransitions):
    """A `machines.semantics.domain.Domain` over unknown values; what is told becomes an `Observation`."""

    # -- events and messages -------------------------------------------------------------------------------------------

    def react(
        self, call: AbstractCall, layer: LayerOutline, event: str, seat: int | None, reason: str | None = None
    ) -> bool:
        """Take the first branch of an event of a layer that may be taken; return False if none may."""
        return self._fire(call, layer, event, seat, reason)

    def fault(self, call: AbstractCall, event: str, seat: int | None, reason: str, why: str = "") -> None:
        """Let whoever answers a fault do so."""
        reception.fault(self, call, event, seat, reason, why)

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
        self.event = self.event or f"reads {token[0]}"
        if self.alike.is_renamed(token[0], name):
            token = (name, token[1])
        elif name != token[0]:
            here = f"{call.table.name}.{call.state}"
            text = f"{token[0]} is taken for {name} in {here}"
            self.hits.append(Observation("misread", text, token[0], here, seat, name))
            token = (name, ())
        self.reckoner.guessed = False
        mistaken = bool(self.outline.questions) and self._answers(seat, token)
        before = len(self.taken)
        taken = self._fire(call, layer, name, seat, token=token)
        if taken and mistaken and not is_ignored(self.taken[before]):
            self._tell_mistaken(call, layer, seat, name)
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
        """What is looked at of a peer is dealt with: a fault of it that waited, else what it has sent."""
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
        """Faults of a peer concern whoever hears it: what is started, and lent peers, is not explored."""
        return True

    def unseat(self, holder: AbstractCall, seat: int) -> None:
        """A seated peer left while the sign-up is open: its seat is free."""
        accept = holder.node.accept
        assert accept is not None, "only an accept has seats"
        at = holder.table.index[accept.name]
        holder.env[at] = tuple(one for one in holder.env[at] if one != PeerRef(seat))

    def recount(self, holder: AbstractCall) -> None:
        """Look again at how many an open sign-up has seated."""
        self._recount(holder)

    def loss_known(self, seat: int) -> None:
        """Somebody is told now that a peer is gone, and nobody will be again."""
        self.event = self.event or "hears that the connection is lost"
        self.seats[seat] = DROPPED_TOLD if self.seats[seat] in (DROPPED, DROPPED_TOLD) else TOLD

    # -- what is told --------------------------------------------------------------------------------------------------

    def tell_loss(self, holder: AbstractCall, seat: int) -> None:
        """Tell nothing: a loss is no fault of the protocol."""

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
        self._abandon(sign_up)
        self._drop(sign_up.seat, "door")

    def end_started(self, started: AbstractCall, event: str, seat: int | None, why: str) -> None:
        """Nothing is started here."""
        raise AssertionError(f"{started.table.name} is no started machine")

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
