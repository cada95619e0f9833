"""Every expression, choice, branch and step that stands in a machine, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from machines.model import (
    Branch,
    Call,
    Choice,
    DropPeers,
    Expression,
    Handlers,
    Let,
    Machine,
    Message,
    Name,
    Return,
    Secure,
    SendMessages,
    Start,
    State,
    Step,
)


def machine_expressions(machine: Machine, messages: Mapping[str, Message]) -> Iterator[Expression]:
    """Yield every expression of a machine; a message sent by its name alone gives the names of its fields."""
    yield from (binding.value for binding in machine.live)
    if machine.always is not None:
        if machine.always.awaits is not None:
            yield machine.always.awaits
        if machine.always.within is not None:
            yield machine.always.within
        yield from answers_expressions(machine.always.answers, messages)
    for state in machine.states.values():
        yield from state_expressions(state, messages)


def state_expressions(state: State, messages: Mapping[str, Message]) -> Iterator[Expression]:
    """Yield every expression of a state."""
    each, accept = state.each, state.accept
    single: list[Expression | None] = [state.awaits, state.within]
    if each is not None:
        single += [each.items, each.guard, each.until, each.parallel]
    if accept is not None:
        single += [accept.seats, accept.linger]
    yield from (expression for expression in single if expression is not None)
    for call in (state.run, state.ask, accept.machine if accept is not None else None):
        if call is not None:
            yield from call.arguments or ()
    yield from steps_expressions(state.steps, messages)
    for binding in state.bindings:
        yield binding.value
    yield from answers_expressions(state.answers, messages)
    if state.then is not None:
        yield from choice_expressions(state.then, messages)


def answers_expressions(answers: Handlers, messages: Mapping[str, Message]) -> Iterator[Expression]:
    """Yield every expression of answers."""
    for _, choice in answers.choices():
        yield from choice_expressions(choice, messages)
    for moment in (*answers.after, *answers.every, *answers.when):
        yield moment.wait


def choice_expressions(choice: Choice, messages: Mapping[str, Message]) -> Iterator[Expression]:
    """Yield every expression of a choice."""
    for branch in choice.branches:
        if branch.guard is not None:
            yield branch.guard
        if branch.limit is not None:
            yield branch.limit
        yield from steps_expressions(branch.steps, messages)
        match branch.next:
            case Return(value, _, outcome):
                yield value
                if outcome is not None:
                    yield outcome
            case Choice():
                yield from choice_expressions(branch.next, messages)


def steps_expressions(steps: Iterable[Step], messages: Mapping[str, Message]) -> Iterator[Expression]:
    """Yield every expression of steps."""
    for step in steps:
        match step:
            case Let(bindings):
                yield from (binding.value for binding in bindings)
            case Start(machine):
                yield from machine.arguments or ()
            case SendMessages(receivers, sent):
                if receivers is not None:
                    yield receivers
                for call in sent:
                    yield from message_arguments(call, messages)
            case Secure(peers) | DropPeers(peers):
                yield peers


def message_arguments(call: Call, messages: Mapping[str, Message]) -> tuple[Expression, ...]:
    """Return what a sent message's fields are filled with: its arguments, or the names spelt like its fields."""
    if call.arguments is not None:
        return call.arguments
    message = messages.get(call.path)
    return tuple(Name(field.name, call.place) for field in message.fields) if message is not None else ()


def all_choices(machine: Machine) -> Iterator[tuple[str, Choice]]:
    """Yield every choice of a machine with its event, ``.then`` for what follows a state's own work."""
    if machine.always is not None:
        yield from machine.always.answers.choices()
    for state in machine.states.values():
        yield from state.answers.choices()
        if state.then is not None:
            yield ".then", state.then


def all_branches(choice: Choice) -> Iterator[Branch]:
    """Yield every branch of a choice, those that decide again before those they lead to."""
    for branch in choice.branches:
        yield branch
        if isinstance(branch.next, Choice):
            yield from all_branches(branch.next)


def all_steps(machine: Machine) -> Iterator[Step]:
    """Yield every step of a machine, of its states and of all branches."""
    for state in machine.states.values():
        yield from state.steps
    for _, choice in all_choices(machine):
        for branch in all_branches(choice):
            yield from branch.steps
