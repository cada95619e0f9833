"""Every pair of a waiting state and an event that may come there, and who answers it: `pairs`. None of it is a problem.

| answer | means |
|---|---|
| here, always | the state lists it; or the `always` of its machine |
| outside | a layer further out does, on every way from `main` |
| invalid | a message that is not listed on some way: the event becomes `invalid`, reason `unexpected` |
| early | the same, but the state is not strict with its peer: what `early` says happens |
| end | nobody answers on some way: the session ends |
| drop | the same in a sign-up: the peer is dropped, and nobody else notices |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from machines.analysis.call_graph import CallGraph, CallSite, Chains, kind, surely_taken
from machines.checks.ambiguity import roles_heard
from machines.checks.reachability import is_never
from machines.model import Handlers, Machine, Role, Spec, State

Answer = Literal["here", "always", "outside", "invalid", "early", "end", "drop"]
FAULTS = ("timeout", "invalid", "closed")


@dataclass(frozen=True, slots=True)
class Pair:
    """An event that may come in a state, and its answer; ``event`` is a message's name, or a fault's with a dot."""

    role: str
    machine: str
    state: str
    event: str
    answer: Answer


def pairs(spec: Spec) -> Iterator[Pair]:
    """Yield every pair of every role whose calls go in no circle, in file order."""
    for role in spec.roles.values():
        flow = CallGraph(spec, role)
        if not flow.circle:
            yield from _pairs_of(flow, role)


def _pairs_of(flow: CallGraph, role: Role) -> Iterator[Pair]:
    messages = flow.spec.heard_by(role.name)
    seated = flow.open_chains(lambda _: False, lambda site: not site.accepts)  # not by a sign-up alone
    events = [*(message.name for message in messages), *(f".{fault}" for fault in FAULTS)]
    open_ = {event: _open_ways(flow, event) for event in events}
    for machine in role.machines.values():
        for state in machine.states.values():
            if kind(state) != "wait":
                continue
            heard = roles_heard(flow, state)
            strict = state.awaits is not None or (flow.one_peer and state.ask is None)
            for message in messages:
                if not heard.isdisjoint(message.senders):
                    answer = _answer(machine, state, message.name, open_[message.name])
                    other: Answer = "invalid" if strict else "early"
                    yield Pair(role.name, machine.name, state.name, message.name, answer or other)
            for fault in FAULTS:
                if not (fault == "timeout" and is_never(state.within)):
                    event = f".{fault}"
                    answer = _answer(machine, state, event, open_[event])
                    yield Pair(
                        role.name,
                        machine.name,
                        state.name,
                        event,
                        answer or ("end" if seated.to(machine.name) else "drop"),
                    )


def _open_ways(flow: CallGraph, event: str) -> Chains:
    """Return the ways from `main` on which no layer answers an event."""

    def passes(site: CallSite) -> bool:
        return not (_answers(site.state.answers, event) and not (site.accepts or site.starts))

    return flow.open_chains(lambda machine: _in_always(machine, event), passes)


def _answer(machine: Machine, state: State, event: str, open_: Chains) -> Answer | None:
    if _answers(state.answers, event):
        return "here"
    if _in_always(machine, event):
        return "always"
    return None if open_.to(machine.name) else "outside"


def _in_always(machine: Machine, event: str) -> bool:
    return machine.always is not None and _answers(machine.always.answers, event)


def _answers(answers: Handlers, event: str) -> bool:
    return surely_taken(getattr(answers, event[1:])) if event.startswith(".") else event in answers.receive
