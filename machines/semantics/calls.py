"""What a state does once it is entered, item by item if it is a loop, and where what a machine returned goes."""

from __future__ import annotations

from machines.semantics.domain import ACCEPT, CALL, WAIT, C, Domain, Reading, Seat
from machines.semantics.sign_ups import take_seat


def enter(domain: Domain[C, Seat, Reading], call: C) -> None:
    """Do what the state of a call does: its items or its steps, and then wait, call, seat or go on."""
    kind = call.node.kind
    if call.node.each is not None:
        if domain.begin_loop(call):
            next_item(domain, call)
        return
    domain.do_steps(call)
    if kind == WAIT:
        domain.wait(call)
    elif kind == CALL:
        domain.run(call)
    elif kind == ACCEPT:
        domain.open_sign_up(call)
    else:
        domain.go_on(call)


def next_item(domain: Domain[C, Seat, Reading], call: C) -> None:
    """Do the items of a loop in turn, up to the next one that calls a machine; after the last one go on."""
    calls = call.node.kind == CALL
    while domain.advance(call):
        if domain.is_wanted(call):
            domain.do_steps(call)
            if calls:
                domain.run(call)
                return
            if domain.is_enough(call):
                break
    domain.end_loop(call)
    domain.go_on(call)


def returned(domain: Domain[C, Seat, Reading], call: C) -> None:
    """A machine is over: with ``main`` all is; a sign-up has its peer seated, any other hands over its result."""
    parent = call.parent
    if parent is None:
        domain.end_main(call)
    elif call.is_sign_up:
        take_seat(domain, parent, call)
    else:
        domain.take_result(parent, call)


def after_result(domain: Domain[C, Seat, Reading], call: C) -> None:
    """What a called machine returned is bound: do the next item, or go on."""
    if domain.in_loop(call) and not domain.is_enough(call):
        next_item(domain, call)
    else:
        domain.end_loop(call)
        domain.go_on(call)
