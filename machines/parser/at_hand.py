"""Who is at hand where nobody is named: the item of a loop, else the first parameter of the machine.

turn(player, table):
  asked: {send: ASK, receive: {MOVE: …}}      send: {player: ASK}, await: player
round(players):
  told: {each: guest in players, send: NEWS}  send: {guest: NEWS}

A role that has one peer speaks with that one, and an event has who spoke.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from machines.model import Branch, Choice, Expression, Machine, Name, Next, Role, SendMessages, State, Step


def has_one_peer(connects: Mapping[str, tuple[str, ...]], role: Role) -> bool:
    """Whether a role has exactly one peer, so that all it says and awaits is that one's."""
    targets = connects.get(role.name, ())
    called = any(role.name in others for others in connects.values())
    main = role.machines.get("main")
    is_per_connection = main is not None and bool(main.parameters)
    return (len(targets) == 1 and not called) or (is_per_connection and not targets)


def with_peers_at_hand(role: Role, connects: Mapping[str, tuple[str, ...]]) -> Role:
    """Return a role in which whatever is said or awaited has somebody, if one is at hand.

    A state that asks its player is strict with whom it names, and with nobody else: nothing is added there.
    """
    if has_one_peer(connects, role):
        return role
    return replace(role, machines={name: _of_machine(machine) for name, machine in role.machines.items()})


def _of_machine(machine: Machine) -> Machine:
    first = machine.parameters[0] if machine.parameters else None
    return replace(machine, states={name: _of_state(state, first) for name, state in machine.states.items()})


def _of_state(state: State, first: str | None) -> State:
    if state.accept is not None or state.ask is not None or state.awaits is not None:
        return state
    name = state.each.name if state.each is not None else first
    if name is None:
        return state
    if state.waits:
        answers = state.answers
        hears = bool(answers.receive) or answers.closed is not None or answers.invalid is not None
        return replace(state, awaits=Name(name, state.place)) if hears and state.run is None else state
    there = Name(name, state.place)
    then = _of_choice(state.then, there) if state.then is not None else None
    return replace(state, steps=_of_steps(state.steps, there), then=then)


def _of_choice(choice: Choice, there: Expression) -> Choice:
    return replace(choice, branches=tuple(_of_branch(branch, there) for branch in choice.branches))


def _of_branch(branch: Branch, there: Expression) -> Branch:
    after: Next = _of_choice(branch.next, there) if isinstance(branch.next, Choice) else branch.next
    return replace(branch, steps=_of_steps(branch.steps, there), next=after)


def _of_steps(steps: tuple[Step, ...], there: Expression) -> tuple[Step, ...]:
    return tuple(
        replace(step, receivers=there) if isinstance(step, SendMessages) and step.receivers is None else step
        for step in steps
    )
