"""What an ``accept`` does with connections, from the first word to a seat, and when it has enough of them."""

from __future__ import annotations

from machines.semantics.domain import ACCEPT, WAIT, C, Domain, Reading, Seat


def look_again(domain: Domain[C, Seat, Reading], call: C) -> None:
    """An open sign-up hears those who are seated now, and goes on if they are as many as may be."""
    domain.hear_seated(call)
    low, high = domain.seats_wanted(call)
    seated = domain.seated(call)
    if seated >= high:
        close(domain, call)
    else:
        domain.linger(call, enough=seated >= low)


def close(domain: Domain[C, Seat, Reading], call: C) -> None:
    """The sign-up is complete: those still at it are closed, and the state goes on."""
    domain.shut(call)
    domain.go_on(call)


def take_seat(domain: Domain[C, Seat, Reading], call: C, sign_up: C) -> None:
    """A sign-up returned: take the seat, unless the peer is gone, has no name, or ``seated`` refuses it."""
    seat = domain.signed_up(call, sign_up)
    if domain.is_gone(seat):
        domain.tell_gone(seat)
        return
    if domain.introduce(call, sign_up, seat):
        if ".seated" in call.node.layer.events and not domain.welcome(call, seat):
            return
        domain.sit(call, seat)
        domain.recount(call)


def time_is_up(domain: Domain[C, Seat, Reading], call: C) -> None:
    """The limit of a state is over: a sign-up with enough seated goes on, any other state has a fault."""
    due = domain.stop_limit(call)
    if call.node.kind == ACCEPT and domain.wants_seats(call) and domain.seated(call) >= domain.seats_wanted(call)[0]:
        close(domain, call)
        return
    seat = call.hears[0] if call.node.kind == WAIT and len(call.hears) == 1 else None
    domain.tell_late(call, seat, due)
    domain.fault(call, ".timeout", seat, "late")
