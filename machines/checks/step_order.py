"""A317: keys that are written in another order than they are done in, where that makes a difference.

What is done first and last in a state or branch is fixed, so that the order of its keys means nothing:

    each   if   let   start   send   secure   drop   what is waited for or called   then, return

Whoever reads them as they stand would take some for something else: a `send` above the `let` that binds what it reads
would tell the old value, an `if` below it would ask for the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from machines.analysis.traversal import all_branches, all_choices, choice_expressions, steps_expressions
from machines.expressions.unparse import names
from machines.model import (
    Branch,
    Choice,
    DropPeers,
    Expression,
    Let,
    Machine,
    Message,
    Return,
    Secure,
    SendMessages,
    Start,
    State,
    Step,
)
from machines.problems import Move, Place, Problems

_WORDS = {Let: "let", SendMessages: "send", Secure: "secure", DropPeers: "drop", Start: "start"}
_IN_ORDER = "for the order written, do: [{{{}: …}}, {{{}: …}}]"


class _Key(NamedTuple):
    """A key of a state or branch, what it reads, and where it begins."""

    word: str
    reads: tuple[Expression, ...]


def check_order(machine: Machine, messages: Mapping[str, Message], problems: Problems) -> None:
    """A317: a key is written where it would read another value, or go out at another time, than it does."""
    for state in machine.states.values():
        first = [_Key("each", _there(state.each.items)), _Key("if", _there(state.each.guard))] if state.each else []
        _check(state.place, first, state.steps, list(_last_of_state(state, messages)), messages, problems)
    for _, choice in all_choices(machine):
        for branch in all_branches(choice):
            first = [_Key("if", _there(branch.guard))]
            _check(branch.place, first, branch.steps, list(_last_of_branch(branch, messages)), messages, problems)


def _there(*found: Expression | None) -> tuple[Expression, ...]:
    return tuple(one for one in found if one is not None)


def _last_of_state(state: State, messages: Mapping[str, Message]) -> Iterator[_Key]:
    yield _Key("await", _there(state.awaits))
    yield _Key("within", _there(state.within))
    for word, call in (("run", state.run), ("ask", state.ask)):
        yield _Key(word, (call.arguments or ()) if call is not None else ())
    if state.then is not None:
        only = state.then.branches[0] if len(state.then.branches) == 1 else None
        word = "return" if only is not None and isinstance(only.next, Return) else "then"
        yield _Key(word, tuple(choice_expressions(state.then, messages)))


def _last_of_branch(branch: Branch, messages: Mapping[str, Message]) -> Iterator[_Key]:
    match branch.next:
        case Return(value, _, outcome):
            yield _Key("return", _there(value, outcome))
        case Choice():
            yield _Key("then", tuple(choice_expressions(branch.next, messages)))


def _check(
    begin: Place,
    first: Iterable[_Key],
    steps: tuple[Step, ...],
    last: Iterable[_Key],
    messages: Mapping[str, Message],
    problems: Problems,
) -> None:
    """Look at the keys of one state or branch, which begins at a place; what is from another file has no order."""
    for index, step in enumerate(steps):
        behind = [other for other in steps[index + 1 :] if _is_before(begin, other.place, step.place)]
        if isinstance(step, Let):
            for word, reads in first:
                _check_asked(word, reads, step, problems)
            after = [_Key(_WORDS[type(one)], tuple(steps_expressions((one,), messages))) for one in behind]
            for word, reads in (*after, *last):
                _check_told(word, [one for one in reads if _is_before(begin, one.place, step.place)], step, problems)
        elif isinstance(step, Start | SendMessages | Secure):
            _check_sent(step, behind, problems)


def _is_before(begin: Place, one: Place, other: Place) -> bool:
    return one.file == other.file and begin <= one < other


def _bound(let: Let, reads: Iterable[Expression]) -> tuple[str, Place] | None:
    """Return the first name that a step binds and expressions read, and where it is read."""
    targets = {binding.target for binding in let.bindings if binding.field is None}
    return next(((one.name, one.place) for each in reads for one in names(each) if one.name in targets), None)


def _check_asked(word: str, reads: Iterable[Expression], let: Let, problems: Problems) -> None:
    """Tell of what is asked before a `let` that stands above it."""
    found = _bound(let, [one for one in reads if one.place.file == let.place.file and let.place < one.place])
    if found is not None:
        name, place = found
        text = f"{word!r} reads {name!r} before 'let' in line {let.place.line} binds it: {word!r} comes first"
        hint = f"write {word!r} before 'let'; for the new value, ask in the state that follows"
        problems.add(place, "A317", text, hint, mends=(Move(let.place, place),))


def _check_told(word: str, reads: Iterable[Expression], let: Let, problems: Problems) -> None:
    """Tell of what stands above a `let`, and reads what that has bound."""
    found = _bound(let, reads)
    if found is not None:
        name, place = found
        text = f"{word!r} reads the {name!r} that 'let' in line {let.place.line} has bound: 'let' is done first"
        hint = f"write 'let' before {word!r}; for the old value, bind it in the state that follows"
        problems.add(place, "A317", text, hint, mends=(Move(place, let.place),))


def _check_sent(step: Start | SendMessages | Secure, above: Iterable[Step], problems: Problems) -> None:
    """Tell of a `send` above a `start`, a `secure` or `drop` above a `send`: what goes out would be something else."""
    for other in above:
        word, own = _WORDS[type(other)], _WORDS[type(step)]
        if isinstance(other, SendMessages) and isinstance(step, Start):
            text = f"'send' is written before 'start', and done after it: what {step.machine.path} sends goes out first"
        elif isinstance(other, Secure) and isinstance(step, SendMessages):
            said = ", ".join(call.path for call in step.messages)
            text = f"'secure' is written before 'send', and done after it: {said} goes out plain"
            hint = "write 'send' before 'secure'; what is to go out in TLS is sent by the state that follows"
            problems.add(other.place, "A317", text, hint, mends=(Move(other.place, step.place),))
            continue
        elif isinstance(other, DropPeers):
            text = f"'drop' is written before {own!r}, and done after it: who is dropped is sent to before"
        else:
            continue
        hint = f"write {own!r} before {word!r}; {_IN_ORDER.format(word, own)}"
        problems.add(other.place, "A317", text, hint, mends=(Move(other.place, step.place),))
