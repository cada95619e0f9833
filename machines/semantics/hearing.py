"""Who hears a peer now, from the inside out, and what becomes of a message that nobody awaits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from machines.model import Early
from machines.semantics.domain import ACCEPT, C, Hearer, Hearing, Seat


def below(call: C) -> Iterator[C]:
    """Yield a call and all that were made from it, callees before callers, older ones first."""
    for child in call.children():
        yield from below(child)
    yield call


def leaves(calls: Iterator[C]) -> Iterator[C]:
    """Yield the calls that wait for no other."""
    for call in calls:
        if next(call.called(), None) is None:
            yield call


def layers(call: C) -> Iterator[Hearer[C]]:
    """Yield what stands behind a call's state, from the inside out: its state, its always, then the callers'."""
    at: C | None = call
    waited_for = True
    while at is not None:
        if waited_for:  # behind a started machine stands no state, which may be any by now
            yield at, at.node.layer
        if at.table.always is not None:
            yield at, at.table.always
        waited_for = not at.detached
        at = at.parent


def last_layer(call: C) -> Any:
    """Return the outermost layer that a call itself has."""
    return call.table.always if call.table.always is not None else call.node.layer


def outward(calls: Iterator[C]) -> Iterator[Hearer[C]]:
    """Yield every layer of these calls once, inner before outer."""
    for call in calls:
        yield call, call.node.layer
        if call.table.always is not None:
            yield call, call.table.always


def only_seats(holder: C) -> bool:
    """Whether a call awaits a peer only because it has seated it: then it reads nothing of it, and hears its loss."""
    return holder.node.kind == ACCEPT and holder.node.awaits is None


def hearers(domain: Hearing[C, Seat], seat: Seat) -> Iterator[Hearer[C]]:
    """Yield the layers that hear a peer now, from the inside out."""
    holder = domain.holder_of(seat)
    if holder is not None and not only_seats(holder):
        inner = True
        for call, layer in layers(holder):
            if inner or domain.hears(call, layer, seat, held=True):
                yield call, layer
            inner = False
        return
    for call, layer in outward(domain.calls()):
        if domain.hears(call, layer, seat, held=False):
            yield call, layer


def early_policy(domain: Hearing[C, Seat], seat: Seat) -> Early:
    """Look from the innermost call that was given the peer outward: state, machine, …; else the role, or the wire."""
    at: C | None = _given(domain, seat)
    while at is not None:
        state = at.node.state
        if state is not None and state.early is not None:
            return state.early
        if at.table.early is not None:
            return at.table.early
        at = at.parent
    return domain.early_of(seat)


def _given(domain: Hearing[C, Seat], seat: Seat) -> C | None:
    last: C | None = None
    for leaf in leaves(domain.calls()):
        at: C | None = leaf
        while at is not None:
            if domain.was_given(at, seat):
                return at
            last, at = at, at.parent
    return last  # the outermost: callers come last


def boundary_of(call: C) -> C | None:
    """Return the sign-up or started machine that a call belongs to, itself or one that called it, or None.

    Its faults never get out of that.
    """
    at: C | None = call
    while at is not None:
        if at.detached or at.is_sign_up:
            return at
        at = at.parent
    return None
