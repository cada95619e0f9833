"""What comes from outside, and what it leads to: a message, a fault, a loss, a new connection, a limit that is over."""

from __future__ import annotations

from typing import Any

from machines.semantics.domain import ACCEPT, WAIT, C, Domain, Hearer, Reading, Seat
from machines.semantics.hearing import boundary_of, early_policy, hearers, last_layer, layers, outward
from machines.semantics.sign_ups import close


def message(domain: Domain[C, Seat, Reading], seat: Seat, holder: C, value: Any) -> None:
    """Read what an awaited peer has sent against the state that awaits it and the layers behind that."""
    inner = True
    for call, layer in layers(holder):
        if domain.lists(layer, seat) and (inner or domain.hears(call, layer, seat, held=True)):
            reading = domain.read(layer, seat, value)
            if reading is not None:
                if not domain.take(call, layer, seat, reading):
                    domain.fault(holder, ".invalid", seat, domain.refused(call, layer, seat, reading))
                return
        inner = False
    domain.fault(holder, ".invalid", seat, domain.unlisted(holder, seat, value))


def loss(domain: Domain[C, Seat, Reading], seat: Seat, holder: C) -> None:
    """Whoever awaits a peer is told that it is gone: an open sign-up has its seat free, any other has a fault."""
    domain.loss_known(seat)
    if holder.node.kind != ACCEPT:
        domain.tell_loss(holder, seat)
        domain.fault(holder, ".closed", seat, "closed")
        return
    domain.unseat(holder, seat)
    if ".closed" in holder.node.layer.events:
        domain.react(holder, holder.node.layer, ".closed", seat, "closed")
    domain.recount(holder)


def connection(domain: Domain[C, Seat, Reading], seat: Seat) -> bool:
    """Let the innermost layer that answers to a new connection do so; return False if none does."""
    for call, layer in outward(domain.calls()):
        if ".connected" in layer.events and domain.react(call, layer, ".connected", seat):
            return True
    return False


# -- peers that nobody awaits ----------------------------------------------------------------------------------------


def unawaited_message(domain: Domain[C, Seat, Reading], seat: Seat, payload: Any) -> bool:
    """Only an ``always``, or a calling state, that names the peer hears it now; else the message is early.

    Return whether it is dealt with; else it waits, or a fault of the peer does in its place (`Domain.mark`).
    """
    hearing = list(hearers(domain, seat))
    value = domain.decoded(seat, hearing, payload)
    for call, layer in hearing:
        reading = domain.read(layer, seat, value)
        if reading is not None:
            domain.pop(seat)
            if domain.take(call, layer, seat, reading):
                return True
            domain.mark(seat, domain.refused(call, layer, seat, reading))
            return unawaited_fault(domain, seat, hearing)
    policy = early_policy(domain, seat)
    if policy == "keep":
        domain.tell_kept(seat)
        return False
    domain.pop(seat)
    if policy == "ignore":
        domain.tell_ignored(seat)
        return True
    domain.tell_early(seat, hearing)
    domain.mark(seat, "early")
    return unawaited_fault(domain, seat, hearing)


def unawaited_fault(domain: Domain[C, Seat, Reading], seat: Seat, hearing: list[Hearer[C]] | None = None) -> bool:
    """The fault that a peer is marked with is answered at once, or waits for whoever hears the peer next."""
    return _told(domain, seat, ".invalid", hearing)


def unawaited_loss(domain: Domain[C, Seat, Reading], seat: Seat) -> bool:
    """The loss of a peer that nobody awaits is told at once to whom it concerns, or waits, too."""
    return _told(domain, seat, ".closed", None)


def _told(domain: Domain[C, Seat, Reading], seat: Seat, event: str, hearing: list[Hearer[C]] | None) -> bool:
    for call, layer in hearing if hearing is not None else list(hearers(domain, seat)):
        if event in layer.events and domain.concerns(call, seat):
            reason = domain.pop(seat)
            if event == ".closed":
                domain.loss_known(seat)
                domain.tell_loss(call, seat)
            if not domain.react(call, layer, event, seat, reason):
                domain.fault(call, event, seat, reason)
            return True
    return False


# -- faults ----------------------------------------------------------------------------------------------------------


def fault(domain: Domain[C, Seat, Reading], call: C, event: str, seat: Seat | None, reason: str, why: str = "") -> None:
    """Let the innermost layer that answers do so: from a call's state outward, within its sign-up or started machine.

    With no answer at all a sign-up loses its peer, a started machine ends alone, and any other ends the run as failed.
    """
    boundary = boundary_of(call)
    inner = True
    for holder, layer in layers(call):
        heard = event in layer.events and (inner or seat is None or domain.hears(holder, layer, seat, held=True))
        if heard and domain.react(holder, layer, event, seat, reason):
            return
        inner = False
        if holder is boundary and layer is last_layer(holder):
            break
    if boundary is None:
        domain.unanswered(call, event, seat, why or reason)
    elif boundary.detached:
        domain.end_started(boundary, event, seat, why or reason)
    else:
        domain.end_sign_up(boundary, reason)


def time_is_up(domain: Domain[C, Seat, Reading], call: C) -> None:
    """The limit of a state is over: a sign-up with enough seated goes on, any other state has a fault."""
    due = domain.stop_limit(call)
    if call.node.kind == ACCEPT and domain.wants_seats(call) and domain.seated(call) >= domain.seats_wanted(call)[0]:
        close(domain, call)
        return
    seat = call.hears[0] if call.node.kind == WAIT and len(call.hears) == 1 else None
    domain.tell_late(call, seat, due)
    domain.fault(call, ".timeout", seat, "late")
