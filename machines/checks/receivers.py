"""Checks of whom a role speaks with: A337, a wait that does not say for whom, and A338, a send with nobody at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from machines.analysis.call_graph import CallGraph, kind
from machines.analysis.event_peers import Speakers
from machines.analysis.traversal import all_branches
from machines.checks.ambiguity import messages_listed
from machines.model import Choice, Machine, SendMessages, State, Step
from machines.parser.context import joined
from machines.problems import Problems


def check_peers(flow: CallGraph, machine: Machine, speakers: Speakers, problems: Problems) -> None:
    """A337: a wait does not say for whom.

    A338: a send has nobody at hand.
    """
    if flow.one_peer:
        return
    if machine.always is not None:
        for event, choice in machine.always.answers.choices():
            if not speakers.has_peer(machine, None, event):
                _check_sends(_choice_steps(choice), problems)
    for state in machine.states.values():
        answers = state.answers
        if state.awaits is None:
            if kind(state) == "wait":
                listens = bool(messages_listed(flow, answers)) if state.ask is None else _hears_more(flow, state)
                if listens or (state.ask is None and (answers.closed is not None or answers.invalid is not None)):
                    text = f"the state {state.name!r} does not say for whom it waits"
                    problems.add(state.place, "A337", text, f"{flow.role.name} has several peers: add 'await: PEER'")
            elif kind(state) == "accept" and messages_listed(flow, answers):
                text = f"the state {state.name!r} lists messages, but does not say whose: none of those seated is heard"
                problems.add(state.place, "A337", text, "add 'await' with the name after 'as'")
            _check_sends(state.steps, problems)
            for event, choice in answers.choices():
                if not speakers.has_peer(machine, state, event):
                    _check_sends(_choice_steps(choice), problems)
        if state.then is not None:
            _check_sends(_choice_steps(state.then), problems)


def _hears_more(flow: CallGraph, state: State) -> bool:
    """Whether a state that asks its player also lists messages that only peers send."""
    return any(flow.role.name not in flow.spec.messages[name].senders for name in messages_listed(flow, state.answers))


def _choice_steps(choice: Choice) -> Iterator[Step]:
    for branch in all_branches(choice):
        yield from branch.steps


def _check_sends(steps: Iterable[Step], problems: Problems) -> None:
    for step in steps:
        if isinstance(step, SendMessages) and step.receivers is None:
            sent = joined(call.path for call in step.messages) if step.messages else "this"
            text = f"nobody is at hand that {sent} could be sent to"
            hint = f"name the receiver: send: {{player: {sent.split(',')[0].split(' ')[0]}}}"
            problems.add(step.place, "A338", text, hint)
