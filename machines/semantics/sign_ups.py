"""How an ``accept`` seats those who have signed up, and when it has enough of them."""

from __future__ import annotations

from machines.semantics.domain import C, Domain, Reading, Seat


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
    """A sign-up returned: take the seat, unless the peer is gone, gets no fields, or ``seated`` refuses it.

    The branch under ``seated`` may leave the sign-up; who was seated keeps the seat, as the names show it afterwards.
    """
    seat, node = domain.signed_up(call, sign_up), call.node
    if domain.is_gone(seat):
        domain.tell_gone(seat)
        return
    if domain.introduce(call, sign_up, seat):
        if ".seated" in node.layer.events and not domain.welcome(call, seat):
            return
        domain.sit(call, node, seat)
        domain.recount(call)
