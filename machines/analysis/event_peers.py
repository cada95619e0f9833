"""Which events have a peer: who spoke, was lost or is late. It is `peer` in a branch, and a bare `send` goes to it.

A message, a loss, a sign-up and a late connection have one. A player's answer has none, nor have `after`, `every` and
`failed`. A timeout or an invalid has none where no peer is at its root: the limit of a call or of a window is nobody's,
and so is an answer of the player that is no good.
"""

from __future__ import annotations

from collections.abc import Mapping

from machines.analysis.call_graph import CallGraph, kind, surely_taken
from machines.model import Handlers, Machine, State

Events = frozenset[str]
_NONE: Events = frozenset()


class Speakers:
    """Which events of a role's machines have a peer; the calls of the role may not go in a circle."""

    def __init__(self, flow: CallGraph) -> None:
        self._messages = flow.spec.messages
        # Of each machine, the timeouts and invalids without a peer that get past its states, and out of it.
        self._past_states: dict[str, Events] = {}
        self._past: dict[str, Events] = {}
        for name in flow.bottom_up:
            machine = flow.machines[name]
            events = _NONE.union(
                *(_not_answered(_raised(state, self._past), state.answers) for state in machine.states.values())
            )
            self._past_states[name] = events
            self._past[name] = _not_answered(events, machine.always.answers) if machine.always is not None else events

    def has_peer(self, machine: Machine, state: State | None, event: str) -> bool:
        """Whether an event surely has a peer where a state answers it, or with None the machine's `always`."""
        if not event.startswith("."):
            message = self._messages.get(event)
            answers = state is not None and state.ask is not None
            return not (answers and message is not None and machine.role in message.senders)
        if event in (".closed", ".connected", ".seated"):
            return True
        if event not in (".timeout", ".invalid"):
            return False
        if state is None:
            return event not in self._past_states.get(machine.name, _NONE)
        return event not in _raised(state, self._past)


def _raised(state: State, past: Mapping[str, Events]) -> Events:
    """Return the events without a peer that come up in a state, its own and those of what it calls."""
    events: set[str] = set()
    if state.ask is not None and state.awaits is None:
        events |= {".timeout", ".invalid"}
    if kind(state) in ("call", "accept") and state.within is not None:
        events.add(".timeout")
    if state.run is not None:
        events |= past.get(state.run.path, _NONE)
    return frozenset(events)


def _not_answered(events: Events, answers: Handlers) -> Events:
    return frozenset(event for event in events if not surely_taken(getattr(answers, event[1:])))
