"""Machines side by side that have to do with one another: what the exploration, which takes them in turn, misses.

What runs side by side is taken one item after another. That is right where each speaks to the peers of its own item
only, and they hear of each other in no other way. A peer of others comes in by an argument that speaks of who was
admitted; it is followed through calls and names, but not through what a rule makes of it. Peers of one item hear of
those of another, too, by a role that all of them speak to, and by whoever stands behind all items: what one of them
says may be told to others there, or end what they are at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from machines.analysis.call_graph import is_per_connection
from machines.analysis.traversal import all_branches, all_steps
from machines.expressions.unparse import names
from machines.model import (
    Call,
    DropPeers,
    Expression,
    Goto,
    Handlers,
    Let,
    Machine,
    Name,
    Return,
    Role,
    Secure,
    SendMessages,
    Spec,
    State,
    Step,
)

_DOES = {SendMessages: "sends to", Secure: "secures", DropPeers: "drops"}


def beside(spec: Spec, role: Role) -> Iterator[str]:
    """Yield each way in which machines of a role that run side by side have to do with one another."""
    loops = [(machine, state) for machine in role.machines.values() for state in machine.states.values()]
    loops = [(machine, state) for machine, state in loops if state.each is not None and state.each.parallel is not None]
    if loops:
        yield from _to_others(role, loops, frozenset(spec.connects.get(role.name, ())))
        yield from _by_others(spec, role)
        yield from _behind(role, loops)


def _by_others(spec: Spec, role: Role) -> Iterator[str]:
    """Yield each role that several peers of a role speak to as well, in one session."""
    for peer in spec.peers_of(role.name):
        for other in spec.peers_of(peer):
            if other != role.name and not (other in spec.roles and is_per_connection(spec.roles[other])):
                yield f"{role.name}: who is spoken to side by side, {peer}, speaks to {other} as well"


def _behind(role: Role, loops: list[tuple[Machine, State]]) -> Iterator[str]:
    """Yield each answer behind machines side by side by which what one peer says comes to others."""
    layers: dict[str, Handlers] = {f"{machine.name}.{state.name}": state.answers for machine, state in loops}
    todo = [machine.name for machine, _ in loops]
    seen = set(todo)
    while todo:
        machine = role.machines[todo.pop()]
        if machine.always is not None:
            layers[f"the always of {machine.name}"] = machine.always.answers
        for caller in role.machines.values():
            for state in caller.states.values():
                if state.run is not None and state.run.path == machine.name:
                    layers[f"{caller.name}.{state.name}"] = state.answers
                    todo += [caller.name] if caller.name not in seen else []
                    seen.add(caller.name)
    for where, answers in layers.items():
        for event, choice in answers.choices():
            if not event.startswith(".") or event == ".invalid":
                for branch in all_branches(choice):
                    if isinstance(branch.next, Goto | Return) or any(map(_is_told_others, branch.steps)):
                        what = event.removeprefix(".")
                        yield (
                            f"{role.name}: {where}, behind machines side by side, lets others know of {what} "
                            f"in line {branch.place.line}"
                        )


def _is_told_others(step: Step) -> bool:
    """Whether a step speaks to, secures or drops others than who spoke."""
    peers = (
        step.receivers
        if isinstance(step, SendMessages)
        else step.peers
        if isinstance(step, Secure | DropPeers)
        else None
    )
    return peers is not None and not (isinstance(peers, Name) and peers.name == "peer")


def _to_others(role: Role, loops: list[tuple[Machine, State]], partners: frozenset[str]) -> Iterator[str]:
    """Yield each step by which a machine that runs side by side with others sends to or drops peers of theirs."""
    todo: list[tuple[str, frozenset[str]]] = []
    for machine, state in loops:
        doors = [other.accept.name for other in machine.states.values() if other.accept is not None]
        peers_of_all = _foreign(machine, frozenset((*doors, *machine.parameters)))
        if state.each is not None and state.run is not None:
            of_all = partial(_overlap, peers_of_all - {state.each.name})
            todo.append((state.run.path, _given(role, state.run, of_all)))
    seen = set(todo)
    while todo:
        name, given = todo.pop()
        machine = role.machines[name]
        foreign = _foreign(machine, given) | partners
        for step in all_steps(machine):
            peers = (
                step.receivers
                if isinstance(step, SendMessages)
                else step.peers
                if isinstance(step, Secure | DropPeers)
                else None
            )
            if peers is not None and not foreign.isdisjoint(_mentioned(peers)):
                does = _DOES[type(step)]
                yield f"{role.name}: {name}, which runs side by side, {does} peers of others in line {step.place.line}"
        for state in machine.states.values():
            call = state.run or (state.accept.machine if state.accept is not None else None)
            if call is not None and call.path in role.machines:
                further = (call.path, _given(role, call, partial(_overlap, foreign)))
                if further not in seen:
                    seen.add(further)
                    todo.append(further)


def _given(role: Role, call: Call, is_foreign: Callable[[frozenset[str]], bool]) -> frozenset[str]:
    """Return the parameters of a called machine whose arguments may hold peers of others."""
    pairs = zip(role.machines[call.path].parameters, call.arguments or (), strict=False)
    return frozenset(parameter for parameter, argument in pairs if is_foreign(_mentioned(argument)))


def _overlap(foreign: frozenset[str], mentioned: frozenset[str]) -> bool:
    return not foreign.isdisjoint(mentioned)


def _foreign(machine: Machine, given: frozenset[str]) -> frozenset[str]:
    """Return the names of a machine that may hold peers of others: those given, and what is bound from them."""
    bound: list[tuple[str, frozenset[str]]] = []
    for step in all_steps(machine):
        if isinstance(step, Let):
            bound += [
                (one.target, _mentioned(one.value))
                for one in step.bindings
                if one.field is None and not (isinstance(one.value, Call) and "." in one.value.path)
            ]
    for state in machine.states.values():
        if state.each is not None:
            bound.append((state.each.name, _mentioned(state.each.items)))
    found = set(given)
    while more := {name for name, mentioned in bound if not found.isdisjoint(mentioned)} - found:
        found |= more
    return frozenset(found)


def _mentioned(expression: Expression) -> frozenset[str]:
    return frozenset(one.name for one in names(expression))
