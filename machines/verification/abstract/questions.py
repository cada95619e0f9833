"""Which messages are questions, and which only ever answer one: so that a late answer is known from the one asked for.

A role answers with a message if, each time it sends it, it has read another one that it has not answered yet. Whoever
asked in vain (its clock rang, or somebody else was faster) and asks again, or asks something else, has two answers
coming: the first may be taken for the second, and the second for the one after.

The exploration counts the questions that were put to a seat while another was open, and a message that answers carries
the count of its question: see `machines.verification.abstract.dialogue`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from machines.analysis.call_graph import is_per_connection
from machines.analysis.traversal import all_branches, all_steps, machine_expressions
from machines.expressions.unparse import names, walk
from machines.model import Binary, Choice, Goto, Handlers, Machine, Role, SendMessages, Spec, Start, State, Stay, Step

UNASKED = ""
Prompts = frozenset[str]  # messages read last and not answered yet; with UNASKED among them if there may be none
_NONE: Prompts = frozenset()


class QuestionTable:
    """Of one role: what it asks, what answers that, and what it answers itself; nothing, where nobody is to count."""

    def __init__(self, spec: Spec, role: str, *, counts: bool = True) -> None:
        self.answered = answered(spec, role) if counts else {}
        self.asked: Prompts = _NONE.union(*self.answered.values())
        ours = [
            (message, asked)
            for peer in spec.peers_of(role)
            if peer in spec.roles and counts
            for message, asked in answered(spec, peer).items()
            if role in spec.messages[message].senders
        ]
        self.answers = frozenset(message for message, _ in ours)
        self.asked_us = _NONE.union(*(asked for _, asked in ours))

    def __bool__(self) -> bool:
        return bool(self.answered or self.answers)


def answered(spec: Spec, role: str) -> Mapping[str, Prompts]:
    """Return what a role is answered with, each with the questions, where it matters which of them was answered."""
    peers = [name for name in spec.peers_of(role) if name in spec.roles]
    of_peers = {peer: prompted(spec, peer) for peer in peers}
    found: dict[str, Prompts] = {}
    for message in dict.fromkeys(name for of in of_peers.values() for name in of):
        senders = [peer for peer in peers if peer in spec.messages[message].senders]
        asked = _NONE.union(*(of_peers[peer].get(message, frozenset({UNASKED})) for peer in senders))
        if all(name and role in spec.messages[name].senders for name in asked):
            found[message] = asked
    rivals = {
        message: {other for other in found if other != message and found[other] & found[message]} for message in found
    }
    used = [
        (
            [answers.receive for answers in _handlers(machine)],
            {name.name for one in machine_expressions(machine, spec.messages) for name in names(one)},
        )
        for machine in spec.roles[role].machines.values()
    ]
    apart = {one for one, asked in found.items() if _is_always_told_apart(spec, role, one, asked)}
    return {
        one: asked
        for one, asked in found.items()
        if not {one, *rivals[one]} <= apart and _tells(spec, one, rivals[one], used)
    }


def _is_always_told_apart(spec: Spec, role: str, message: str, asked: Prompts) -> bool:
    """Whether wherever an answer is listed a condition says which question it answers: then nobody has to count."""
    return all(
        is_told_apart(answers.receive[message], message, asked, machine, spec)
        for machine in spec.roles[role].machines.values()
        for answers in _handlers(machine)
        if message in answers.receive
    )


def _tells(
    spec: Spec, message: str, rivals: set[str], used: Sequence[tuple[list[Mapping[str, Choice]], set[str]]]
) -> bool:
    """Whether it makes a difference which answer it is: what it carries is used, or it is one of some.

    Of each machine of who is answered there is what its states list, and the names that it reads.
    """
    fields = {field.name for field in spec.messages[message].fields}
    for received, read in used:
        listed = [receive for receive in received if message in receive]
        if any(rivals & receive.keys() for receive in listed) or (listed and not fields.isdisjoint(read)):
            return True
    return False


def is_told_apart(choice: Choice, message: str, asked: Prompts, machine: Machine, spec: Spec) -> bool:
    """Whether a condition holds what an answer repeats of its question against what was asked, as a number of both."""
    repeated = set(_repeated(message, asked, spec))
    asking = {
        name.name
        for step in all_steps(machine)
        if isinstance(step, SendMessages)
        for call in step.messages
        if call.path in asked
        for argument in call.arguments or ()
        for name in names(argument)
    }
    return any(
        isinstance(part, Binary) and not repeated.isdisjoint(read) and not asking.isdisjoint(read)
        for branch in all_branches(choice)
        if branch.guard is not None
        for part in walk(branch.guard)
        for read in [{one.name for one in names(part)}]
    )


def _repeated(message: str, asked: Prompts, spec: Spec) -> Iterator[str]:
    """Yield the fields of an answer that may be fields of its question: by their names, or as they are sent."""
    known = {field.name for question in asked for field in spec.messages[question].fields}
    fields = [field.name for field in spec.messages[message].fields]
    yield from known.intersection(fields)
    for role in spec.messages[message].senders:
        for machine in spec.roles[role].machines.values() if role in spec.roles else ():
            for step in all_steps(machine):
                for call in step.messages if isinstance(step, SendMessages) else ():
                    for field, argument in zip(fields, call.arguments or (), strict=False):
                        if call.path == message and known.intersection(name.name for name in names(argument)):
                            yield field


# -- what a role sends in answer to what -----------------------------------------------------------------------------


def prompted(spec: Spec, role: str) -> Mapping[str, Prompts]:
    """Return what a role with one partner sends, each with what it may have read last when it does."""
    one = spec.roles[role]
    targets, callers = spec.connects.get(role, ()), [name for name, of in spec.connects.items() if role in of]
    alone = (len(targets) == 1 and not callers) or (is_per_connection(one) and not targets)
    return _Prompting(spec, one).found if alone and "main" in one.machines else {}


class _Prompting:
    """Follows what was read last through all machines of a role, until nothing changes."""

    def __init__(self, spec: Spec, role: Role) -> None:
        self.spec = spec
        self.role = role
        self.found: dict[str, Prompts] = {}
        self.at: dict[tuple[str, str, bool], Prompts] = {}  # machine, state, whether its steps are done
        self.after: dict[str, Prompts] = {}  # of each machine, once it has returned
        self.changed = True
        self._join((role.machines["main"].name, next(iter(role.machines["main"].states)), False), frozenset({UNASKED}))
        while self.changed:
            self.changed = False
            for machine in role.machines.values():
                for state in machine.states.values():
                    self._state(machine, state)

    def _join(self, key: tuple[str, str, bool], prompts: Prompts) -> None:
        before = self.at.get(key)
        if before is None or not prompts <= before:
            self.at[key] = (before or _NONE) | prompts
            self.changed = True

    def _state(self, machine: Machine, state: State) -> None:
        entered = self.at.get((machine.name, state.name, False))
        if entered is None:
            return
        rest = (machine.name, state.name, True)
        self._join(rest, self._steps(state.steps, entered))
        prompts = self.at[rest]
        call = state.run if state.run is not None else state.accept.machine if state.accept is not None else None
        callee = self.role.machines.get(call.path) if call is not None else None
        if callee is not None:
            self._join((callee.name, next(iter(callee.states)), False), prompts)
        for answers in (state.answers, *([machine.always.answers] if machine.always is not None else ())):
            for event, choice in answers.choices():
                heard = event in self.spec.messages and machine.role not in self.spec.messages[event].senders
                self._choice(machine, state, choice, frozenset({event}) if heard else prompts)
        if state.then is not None:
            then = self.after.get(callee.name) if callee is not None else prompts
            if state.each is not None:
                then = (then or _NONE) | prompts
                self._join((machine.name, state.name, False), then)
            if then is not None:
                self._choice(machine, state, state.then, then)

    def _choice(self, machine: Machine, state: State, choice: Choice, prompts: Prompts) -> None:
        for branch in choice.branches:
            left = self._steps(branch.steps, prompts)
            match branch.next:
                case Goto(target):
                    self._join((machine.name, target, False), left)
                case Choice():
                    self._choice(machine, state, branch.next, left)
                case Stay():
                    if any(isinstance(step, SendMessages) for step in branch.steps):
                        self._join((machine.name, state.name, True), left)
                case _:
                    before = self.after.get(machine.name)
                    if before is None or not left <= before:
                        self.after[machine.name] = (before or _NONE) | left
                        self.changed = True

    def _steps(self, steps: tuple[Step, ...], prompts: Prompts) -> Prompts:
        for step in steps:
            if isinstance(step, Start):
                begun = self.role.machines[step.machine.path]
                self._join((begun.name, next(iter(begun.states)), False), prompts)
            for message in step.messages if isinstance(step, SendMessages) else ():
                self.found[message.path] = self.found.get(message.path, _NONE) | prompts
                prompts = frozenset({UNASKED})
        return prompts


def _handlers(machine: Machine) -> Iterator[Handlers]:
    if machine.always is not None:
        yield machine.always.answers
    for state in machine.states.values():
        yield state.answers
