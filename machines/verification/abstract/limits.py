"""Which limits of a role are counted: those that a peer may use up though it keeps to its own role.

A limit is there for peers who say too much. Where a message goes out only when a player chose to say it, who uses its
limit up has that player to blame, as for a move that is not legal; such a limit is used up or not as the search likes.
What a role sends by itself is another matter: there the two roles do not fit, so it is counted how often. So is how
often a clock rings, and all else that shares its limit with what is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from machines.analysis.traversal import all_branches, all_steps
from machines.model import (
    Branch,
    Choice,
    Constant,
    Expression,
    Goto,
    Handlers,
    Machine,
    Name,
    SendMessages,
    Spec,
    State,
)

COUNTED_MAX = 12  # uses of one limit that are counted; of a larger one, or a rate, nobody knows when it is used up
CLOCKS = (".timeout", ".after", ".every", ".when")
COUNTER = ".limit "  # the names of a machine that count begin with this, which no name of a spec does


def counters(machine: Machine, spec: Spec) -> dict[int, str]:
    """Return what counts the uses of a branch's limit, by the id of the branch, for limits that are counted."""
    unasked = sent_unasked(spec, machine.role)
    limited = [
        (event, branch)
        for event, choice in _choices(machine)
        for branch in all_branches(choice)
        if branch.limit is not None and is_counted(branch, spec)
    ]
    # Branches of other events may share a limit: they are counted as well then.
    keys = {limit_key(branch) for event, branch in limited if event in unasked or event.startswith(CLOCKS)}
    return {id(branch): COUNTER + limit_key(branch) for _, branch in limited if limit_key(branch) in keys}


def is_counted(branch: Branch, spec: Spec) -> bool:
    """Whether a limit is a number that is known before it runs, and small."""
    value = _constant(branch.limit, spec)
    return type(value) is int and value <= COUNTED_MAX


def _constant(expression: Expression | None, spec: Spec) -> Any:
    """Return the value of a constant or a setting, None of anything else."""
    if isinstance(expression, Name):
        setting = spec.settings.get(expression.name)
        return setting.value if setting is not None else None
    return expression.value if isinstance(expression, Constant) else None


def limit_key(branch: Branch) -> str:
    """Return what a limit is counted by: the setting that several branches may share, or its own place."""
    return branch.limit.name if isinstance(branch.limit, Name) else str(branch.place)


def uncounted(spec: Spec) -> Iterator[str]:
    """Yield the messages whose limits are not counted though a role sends them by itself."""
    for role in spec.roles.values():
        of_role = sent_unasked(spec, role.name)
        for machine in role.machines.values():
            for event, choice in _choices(machine):
                limited = (branch for branch in all_branches(choice) if branch.limit is not None)
                if event in of_role and any(not is_counted(branch, spec) for branch in limited):
                    yield event


def sent_unasked(spec: Spec, receiver: str) -> frozenset[str]:
    """Return the messages that peers of a role may send it without any player having chosen to."""
    return frozenset(
        message.path
        for role in (spec.roles[name] for name in spec.peers_of(receiver) if name in spec.roles)
        for machine in role.machines.values()
        for send in _unasked(machine, spec)
        for message in send.messages
    )


def _unasked(machine: Machine, spec: Spec) -> Iterator[SendMessages]:
    """Yield what a machine sends, but for what goes out with an answer that its player was free to give."""
    free = {
        id(step)
        for state in machine.states.values()
        if state.ask is not None and is_free(state, machine, spec)
        for event, choice in state.answers.choices()
        if event in spec.messages and machine.role in spec.messages[event].senders
        for branch in all_branches(choice)
        for step in branch.steps
    }
    yield from (step for step in all_steps(machine) if isinstance(step, SendMessages) and id(step) not in free)


def is_free(state: State, machine: Machine, spec: Spec) -> bool:
    """Whether a player that is asked may say something else, or nothing."""
    answers = [name for name in state.answers.receive if machine.role in spec.messages[name].senders]
    within = state.within
    if within is None and machine.always is not None:
        within = machine.always.within
    return len(answers) > 1 or within is None or _constant(within, spec) == inf


def beats_within(limit: Any, wait: Any) -> float:
    """Return how often a clock rings every ``wait`` seconds before a limit ends that, if both are known; else inf.

    More than COUNTED_MAX are not counted either: each would make a state more.
    """
    known = all(type(one) in (int, float) for one in (limit, wait))
    return int(limit // wait) if known and wait > 0 and limit <= COUNTED_MAX * wait else inf


def _choices(machine: Machine) -> Iterator[tuple[str, Choice]]:
    listed: list[Handlers] = [state.answers for state in machine.states.values()]
    if machine.always is not None:
        listed.append(machine.always.answers)
    for answers in listed:
        yield from answers.choices()


def is_meant(answers: Handlers) -> bool:
    """Whether it is no fault if time passes in a state: what is done then is not what is done for any fault.

    A fault is answered alike by one ``fault``, or by several events that do nothing but lead to the same state.
    """
    timeout = answers.timeout
    return timeout is not None and not any(_alike(timeout, other) for other in (answers.invalid, answers.closed))


def _alike(one: Choice, other: Choice | None) -> bool:
    led = _leads_to(one)
    return one is other or (led != "" and other is not None and led == _leads_to(other))


def _leads_to(choice: Choice) -> str:
    """Return the state that a choice leads to if that is all it does; else nothing."""
    if len(choice.branches) != 1:
        return ""
    (branch,) = choice.branches
    return branch.next.state if isinstance(branch.next, Goto) and not branch.steps and branch.guard is None else ""
