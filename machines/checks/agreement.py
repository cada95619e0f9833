"""Checks of two roles by the message that joins them.

    A344  what the other side sends is never taken here
    A345  the other side's own condition lets through what is refused here

Of A344 the sets of `machines.analysis.data_flow` decide; they may be wider than what is sent, so what they leave out is
never sent. A345 has a witness: values on both sides of each literal are tried on all conditions of both sides. What
asks for more than the message's fields is undecided, and nothing is told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from typing import Any

from machines.analysis.conditions import narrowed
from machines.analysis.data_flow import Write
from machines.analysis.traversal import all_branches
from machines.analysis.value_sets import members
from machines.expressions.builtins import TOTAL
from machines.expressions.compiler import EvaluationError, Evaluator, compile_guard
from machines.expressions.unparse import names, show, walk
from machines.messages.compiler import compile_type
from machines.messages.shapes import NO_MATCH, shown
from machines.model import (
    Binary,
    Branch,
    Call,
    Choice,
    Constant,
    DropPeers,
    Enumeration,
    Expression,
    Handlers,
    Interval,
    Let,
    Message,
    Name,
    Role,
    SendMessages,
    Spec,
    Type,
    Unary,
)
from machines.problems import Problems

VALUES_MAX = 2_000  # that are tried of one message
WAYS_MAX = 64  # in which one message is sent, that are compared with each place that takes it

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Place:
    """A place that takes a message: a state of a role, or an `always` (then `state` is empty)."""

    role: str
    machine: str
    state: str
    choice: Choice

    def __str__(self) -> str:
        return f"{self.role}.{self.machine}" + (f".{self.state}" if self.state else "")


def check_agreement(spec: Spec, writes: Iterable[Write], problems: Problems) -> None:
    """Compare the conditions of those who send a message and of those who take it.

    A344: what the other side sends is never taken here.

    A345: the other side's own condition lets through what is refused here.
    """
    sent: dict[str, dict[tuple[str, int], dict[str, Type]]] = {}
    for write in writes:
        sent.setdefault(write.message, {}).setdefault((write.spot.role, write.number), {})[write.field.name] = (
            write.holds
        )
    for message in spec.messages.values():
        taken = list(_taken(spec, message.name))
        if not taken or not message.fields or any(field.optional for field in message.fields):
            continue
        writings = sent.get(message.name, {})
        vain = [place for place in taken if _is_vain(spec, place, writings, problems, message)]
        if not vain:
            _check_refused(spec, message, taken, problems)


def _taken(spec: Spec, message: str) -> Iterator[_Place]:
    for role in spec.roles.values():
        asked = _asked(role)
        for machine, state, answers in _answers(role):
            if message in answers.receive and (machine, state) not in asked:
                yield _Place(role.name, machine, state, answers.receive[message])


def _answers(role: Role) -> Iterator[tuple[str, str, Handlers]]:
    for machine in role.machines.values():
        if machine.always is not None:
            yield machine.name, "", machine.always.answers
        for state in machine.states.values():
            yield machine.name, state.name, state.answers


def _asked(role: Role) -> set[tuple[str, str]]:
    """Return the states that ask a player: what they receive is no message of a peer."""
    return {
        (machine.name, state.name)
        for machine in role.machines.values()
        for state in machine.states.values()
        if state.ask is not None
    }


# -- A344 ------------------------------------------------------------------------------------------------------------


def _is_vain(
    spec: Spec,
    place: _Place,
    ways: Mapping[tuple[str, int], dict[str, Type]],
    problems: Problems,
    message: Message,
) -> bool:
    """Tell of a place that takes nothing of what is sent."""
    meant = [branch for branch in place.choice.branches if not _refuses(branch)]
    of_peers = {way: sets for way, sets in ways.items() if place.role in spec.peers_of(way[0])}
    if not of_peers or len(of_peers) > WAYS_MAX or not meant or any(branch.guard is None for branch in meant):
        return False
    types: dict[str, Type] = {field.name: field.type for field in message.fields}
    if not _may_take(place.choice, types, spec):
        who = f"{message.name} takes {_sets(spec, [types], place.choice)}"
    elif any(_may_take(place.choice, sets, spec) for sets in of_peers.values()):
        return False
    else:
        senders = " and ".join(dict.fromkeys(role for role, _ in of_peers))
        who = f"{senders} sends {_sets(spec, list(of_peers.values()), place.choice)}"
    asked = " or ".join(show(branch.guard) for branch in meant if branch.guard is not None)
    text = f"no {message.name} is ever taken in {place}: {who}, and {asked} never holds of that"
    problems.add(meant[0].place, "A344", text, "let both sides ask for the same")
    return True


def _may_take(choice: Choice, sets: Mapping[str, Type], spec: Spec) -> bool:
    return any(
        branch.guard is None or narrowed(dict(sets), branch.guard, spec.types, holds=True) is not None
        for branch in choice.branches
        if not _refuses(branch)
    )


def _refuses(branch: Branch) -> bool:
    """Whether a branch drops somebody without a word: it is there for what is not taken."""
    kinds = {type(step) for step in branch.steps}
    return DropPeers in kinds and SendMessages not in kinds and not isinstance(branch.next, Choice)


def _sets(spec: Spec, ways: list[Mapping[str, Type]] | list[dict[str, Type]], choice: Choice) -> str:
    """Return in words what the fields that are asked for may hold."""
    asked = {name.name for branch in choice.branches if branch.guard is not None for name in names(branch.guard)}
    parts = []
    for field in dict.fromkeys(name for way in ways for name in way if name in asked):
        told = dict.fromkeys(compile_type(way[field], spec.types).describe() for way in ways if field in way)
        parts.append(f"{field} as {' or '.join(told)}")
    return ", ".join(parts)


# -- A345 ------------------------------------------------------------------------------------------------------------


def _check_refused(spec: Spec, message: Message, taken: list[_Place], problems: Problems) -> None:
    if not all(place.choice.branches for place in taken):
        return
    for role in spec.roles.values():
        places = [place for place in taken if place.role in spec.peers_of(role.name)]
        if role.name not in message.senders or not places:
            continue
        for choice in _asked_choices(role, message):
            found = _witness(spec, message, choice, places)
            if found is not None:
                asked, values = found
                shown_values = " and ".join(f"{name} as {shown(values[name])}" for name in asked)
                there = " and ".join(str(place) for place in places)
                text = f"{role.name} may send {message.name} with {shown_values}, which {there} refuses"
                line = places[0].choice.place.line
                problems.add(choice.place, "A345", text, f"let both sides ask for the same: see line {line}")


def _asked_choices(role: Role, message: Message) -> Iterator[Choice]:
    """Yield what a role does with answers of its player that it sends as they are."""
    for machine in role.machines.values():
        for state in machine.states.values():
            choice = state.answers.receive.get(message.name)
            if state.ask is not None and choice is not None:
                yield choice


def _witness(
    spec: Spec, message: Message, sending: Choice, places: list[_Place]
) -> tuple[list[str], dict[str, Any]] | None:
    """Return the fields that the sender asks about, and values that it sends and nobody takes."""
    fields = {field.name: field.type for field in message.fields}
    mine = [guard for guard in _guards(sending) if any(name.name in fields for name in names(guard))]
    theirs = [guard for place in places for guard in _guards(place.choice)]
    asked = [field for field in fields if any(name.name == field for guard in mine for name in names(guard))]
    if not asked or not theirs:
        return None
    tried = {field: _tried(type_, [*mine, *theirs], spec, field) for field, type_ in fields.items()}
    count = 1
    for some in tried.values():
        count *= len(some)
    if not 0 < count <= VALUES_MAX:
        return None
    conditions = _Conditions(tuple(fields))
    for combination in product(*tried.values()):
        values = dict(zip(fields, combination, strict=True))
        if _is_sent(sending, message, values, conditions) and all(
            _is_refused(place.choice, values, conditions) for place in places
        ):
            return asked, values
    return None


def _guards(choice: Choice) -> Iterator[Expression]:
    return (branch.guard for branch in all_branches(choice) if branch.guard is not None)


def _tried(type_: Type, guards: list[Expression], spec: Spec, field: str) -> list[Any]:
    """Return values of a field on both sides of each literal, and at the ends of its type."""
    shape = compile_type(type_, spec.types)
    found: list[Any] = []
    if any(name.name == field for guard in guards for name in names(guard)):
        for part in (part for guard in guards for part in walk(guard)):
            if isinstance(part, Constant):
                whole = isinstance(part.value, int) and not isinstance(part.value, bool)
                found += (part.value, part.value - 1, part.value + 1) if whole else (part.value,)
        for member in members(type_, spec.types):
            match member:
                case Interval(low, high):
                    found += (low, high)
                case Enumeration(listed, _):
                    found += listed
    found.append(shape.example())
    fitting = {(type(value), value): value for value in found if isinstance(value, int | float | str | bool | None)}
    return [value for value in fitting.values() if shape.take(value) is not NO_MATCH]


def _is_sent(choice: Choice, message: Message, values: Values, conditions: _Conditions) -> bool:
    """Whether a message is surely sent as it was answered."""
    for branch in choice.branches:
        holds = True if branch.guard is None else conditions.holds(branch.guard, values)
        if holds is False:
            continue
        if holds is None or branch.limit is not None:
            return False
        for step in branch.steps:
            if isinstance(step, Let) and any(binding.target in values for binding in step.bindings):
                return False
            if isinstance(step, SendMessages) and any(_as_it_is(call, message) for call in step.messages):
                return True
        return isinstance(branch.next, Choice) and _is_sent(branch.next, message, values, conditions)
    return False


def _as_it_is(call: Call, message: Message) -> bool:
    if call.path != message.name:
        return False
    given = call.arguments
    return given is None or [part.name if isinstance(part, Name) else "" for part in given] == [
        field.name for field in message.fields
    ]


def _is_refused(choice: Choice, values: Values, conditions: _Conditions) -> bool:
    """Whether surely no branch takes a message, or one that drops somebody."""
    for branch in choice.branches:
        holds = True if branch.guard is None else conditions.holds(branch.guard, values)
        if holds is None or (holds and branch.limit is not None):
            return False
        if holds:
            return _refuses(branch)
    return True


class _UndecidedError(Exception):
    """A condition asks for more than the fields of a message."""


class _Conditions:
    """Conditions over the fields of a message; they are compiled once."""

    def __init__(self, fields: tuple[str, ...]) -> None:
        self.slots = {name: index for index, name in enumerate(fields)}
        self.compiled: dict[int, Callable[[list[Any]], bool] | None] = {}
        self.kept: list[Expression] = []  # so that no identity is used twice

    def name(self, name: Name, /) -> Evaluator:
        """Return how to read a field."""
        if name.name not in self.slots:
            raise _UndecidedError
        return itemgetter(self.slots[name.name])

    def call(self, call: Call, /) -> tuple[Callable[..., Any], bool]:
        """Return a built-in function."""
        if call.path not in TOTAL:
            raise _UndecidedError
        return TOTAL[call.path], False

    def holds(self, guard: Expression, values: Values) -> bool | None:
        """Return whether a condition holds of a message; None if it asks for more, or has no value."""
        match guard:
            case Unary("not", operand):
                inner = self.holds(operand, values)
                return None if inner is None else not inner
            case Binary("and" | "or" as word, left, right):
                parts = {self.holds(left, values), self.holds(right, values)}
                decides = word == "or"
                return decides if decides in parts else None if None in parts else not decides
        if id(guard) not in self.compiled:
            self.kept.append(guard)
            try:
                self.compiled[id(guard)] = compile_guard(guard, self)
            except (_UndecidedError, EvaluationError):
                self.compiled[id(guard)] = None
        run = self.compiled[id(guard)]
        try:
            return run(list(values.values())) if run is not None else None
        except (EvaluationError, ArithmeticError, TypeError, ValueError, LookupError):
            return None
