"""One phase as a protocol document has it: what its role does on the left, the other end of each message on the right.

host: turn(guest, best)                       guest

asked
ASK(best)                              -->  main.listening: bidding
awaits guest, within reply (5 s)
BID                                    <--  main.bidding: an answer of its player, on BID
if amount > best: return amount
return best
late, wrong or gone: return best
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from diagrams.states.phrases import bound, moment, quantity, same
from machines.expressions.unparse import show
from machines.model import (
    Branch,
    Call,
    Choice,
    DropPeers,
    Expression,
    Goto,
    Handlers,
    Let,
    Machine,
    Return,
    Secure,
    SendMessages,
    Spec,
    Start,
    State,
    Stay,
    Step,
)

OTHERS_MAX: Final = 6  # places of the other end that are listed of one message; of more it is said how many
LEFT_MAX: Final = 72  # columns of the left side, before a longer line pushes the right side away
SHORT_MAX: Final = 48  # columns of a message with what it leads to; what is longer has two lines
_FAULTS: Final = {"timeout": "late", "invalid": "wrong", "closed": "gone"}

Way = Literal["-->", "<--", ""]


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """A line: what the phase does, ``-->`` or ``<--`` for a message, and where its other end is."""

    left: str
    way: Way = ""
    right: str = ""


def phases(spec: Spec, name: str) -> tuple[Machine, ...]:
    """Return the machines that are meant by a name, ``turn`` or ``host.turn``: one of each role that has it."""
    role, dot, machine = name.rpartition(".")
    return tuple(
        found.machines[machine]
        for found in spec.roles.values()
        if machine in found.machines and (not dot or found.name == role)
    )


def exchange(spec: Spec, machine: Machine) -> tuple[ExchangeRow, ...]:
    """Return the lines of a phase."""
    return tuple(_rows(spec, machine))


def exchange_text(spec: Spec, machine: Machine) -> list[str]:
    """Return a phase as lines of plain text, under a heading that names both ends."""
    rows = exchange(spec, machine)
    width = min(max((len(row.left) for row in rows if row.way), default=0), LEFT_MAX)
    called = f"{machine.name}({', '.join(machine.parameters)})" if machine.parameters else machine.name
    others = " and ".join(spec.peers_of(machine.role))
    lines = [f"{f'{machine.role}: {called}'.ljust(width + 5)}  {others}".rstrip(), ""]
    for row in rows:
        lines.append(
            f"{row.left.ljust(width)}  {row.way:3}  {row.right}".rstrip() if row.way or row.right else row.left
        )
    return lines


def _rows(spec: Spec, machine: Machine) -> Iterator[ExchangeRow]:
    if machine.always is not None:
        yield ExchangeRow("in every state")
        if machine.always.awaits is not None or machine.always.within is not None:
            yield ExchangeRow(f"  {_wait(spec, machine.always.awaits, machine.always.within)}")
        yield from _answers(spec, machine, machine.always.answers)
    for state in machine.states.values():
        yield ExchangeRow(state.name + (f": {' '.join(state.doc.split())}" if state.doc else ""))
        yield from _state(spec, machine, state)


def _state(spec: Spec, machine: Machine, state: State) -> Iterator[ExchangeRow]:
    if state.each is not None:
        each = state.each
        guard = f" if {show(each.guard)}" if each.guard is not None else ""
        yield ExchangeRow(f"  for each {each.name} in {show(each.items)}{guard}")
    yield from _steps(spec, machine, state.steps, "  ")
    if state.accept is not None:
        yield ExchangeRow(f"  signs up by {show(state.accept.machine)}, as {state.accept.name}")
    if state.run is not None:
        bindings = ", ".join(map(bound, state.bindings))
        yield ExchangeRow(f"  {show(state.run)}" + (f", {bindings}" if bindings else ""))
    if state.ask is not None:
        yield ExchangeRow(f"  asks its player: {show(state.ask)}")
    if state.waits or state.within is not None:
        yield ExchangeRow(f"  {_wait(spec, state.awaits, state.within)}")
    yield from _answers(spec, machine, state.answers, asks=state.ask is not None)
    if state.each is not None and state.each.until is not None:
        yield ExchangeRow(f"  until {show(state.each.until)}")
    if state.then is not None:
        yield from _choice(spec, machine, "then", state.then, "  ")


def _wait(spec: Spec, awaits: Expression | None, within: Expression | None) -> str:
    parts = [f"awaits {show(awaits)}"] if awaits is not None else []
    parts += [f"within {quantity(spec, within, time=True)}"] if within is not None else []
    return ", ".join(parts) or "waits"


def _answers(spec: Spec, machine: Machine, answers: Handlers, *, asks: bool = False) -> Iterator[ExchangeRow]:
    for name, choice in answers.receive.items():
        own = asks and machine.role in spec.messages[name].senders
        others = [] if own else list(_senders(spec, machine.role, name))
        label = f"{name}, its answer" if own else name
        branches = list(_branch_rows(spec, machine, choice, "    "))
        short = f"  {label}: {branches[0].left.strip()}"
        if len(branches) == 1 and not branches[0].way and len(short) <= SHORT_MAX:
            yield from _ended(short, "<--", others)
        else:
            yield from _ended(f"  {label}", "<--", others)
            yield from branches
    told: dict[tuple[object, ...], list[str]] = {}
    choices: dict[tuple[object, ...], Choice] = {}
    for event, word in _FAULTS.items():
        fault: Choice | None = getattr(answers, event)
        if fault is not None:
            told.setdefault(same(fault), []).append(word)
            choices[same(fault)] = fault
    for key, words in told.items():
        listed = " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        yield from _choice(spec, machine, listed, choices[key], "  ")
    for event, choice in answers.choices():
        if event.startswith(".") and event[1:] not in _FAULTS:
            named = moment(spec, answers, event) or event[1:]
            yield from _choice(spec, machine, named, choice, "  ")


def _choice(spec: Spec, machine: Machine, label: str, choice: Choice, indent: str) -> Iterator[ExchangeRow]:
    rows = list(_branch_rows(spec, machine, choice, f"{indent}  "))
    if len(rows) == 1 and not rows[0].way:
        yield ExchangeRow(f"{indent}{label}: {rows[0].left.strip()}")
    else:
        yield ExchangeRow(f"{indent}{label}")
        yield from rows


def _branch_rows(spec: Spec, machine: Machine, choice: Choice, indent: str) -> Iterator[ExchangeRow]:
    for branch in choice.branches:
        asked = _asked(branch)
        inner = indent
        if asked and (branch.steps or isinstance(branch.next, Choice)):
            yield ExchangeRow(f"{indent}{asked}")
            inner = f"{indent}  "
        yield from _steps(spec, machine, branch.steps, inner)
        if isinstance(branch.next, Choice):
            yield from _branch_rows(spec, machine, branch.next, inner)
        else:
            before = f"{asked} " if asked and inner == indent else ""
            yield ExchangeRow(f"{inner}{before}{_next(branch)}")


def _asked(branch: Branch) -> str:
    parts = [f"if {show(branch.guard)}"] if branch.guard is not None else []
    parts += [f"at most {show(branch.limit)}"] if branch.limit is not None else []
    return f"{', '.join(parts)}:" if parts else ""


def _next(branch: Branch) -> str:
    match branch.next:
        case Goto(state):
            return f"to {state}"
        case Stay(again):
            return "again" if again else "stay"
        case Return(value):
            return f"return {show(value)}"
        case Choice():
            return ""


def _steps(spec: Spec, machine: Machine, steps: tuple[Step, ...], indent: str) -> Iterator[ExchangeRow]:
    for step in steps:
        match step:
            case Let(bindings):
                yield ExchangeRow(f"{indent}{', '.join(map(bound, bindings))}")
            case Start(called):
                yield ExchangeRow(f"{indent}start {show(called)}")
            case Secure(peers):
                yield ExchangeRow(f"{indent}secure {show(peers)}")
            case DropPeers(peers):
                yield ExchangeRow(f"{indent}drop {show(peers)}")
            case SendMessages(receivers, messages):
                to = f" to {show(receivers)}" if receivers is not None else ""
                for call in messages:
                    yield from _ended(
                        f"{indent}{_said(call)}{to}", "-->", list(_hearers(spec, machine.role, call.path))
                    )


def _said(call: Call) -> str:
    return show(call) if call.arguments is not None else call.path


def _ended(left: str, way: Way, others: list[str]) -> Iterator[ExchangeRow]:
    """Yield a message with the places of its other end, the first in its own line."""
    shown = (
        others if len(others) <= OTHERS_MAX else [*others[: OTHERS_MAX - 1], f"and {len(others) - OTHERS_MAX + 1} more"]
    )
    yield ExchangeRow(left, way if others or way == "-->" else "", shown[0] if shown else "")
    yield from (ExchangeRow("", "", other) for other in shown[1:])


# -- the other end ---------------------------------------------------------------------------------------------------


def _hearers(spec: Spec, role: str, name: str) -> Iterator[str]:
    """Yield where a message of a role is heard, and where that leads."""
    for where, answers, _ in _layers(spec, role):
        choice = answers.receive.get(name)
        if choice is not None and role in spec.messages[name].senders:
            leads = dict.fromkeys(filter(None, map(_next, _flat(choice))))
            yield f"{where}: {', '.join(leads)}"


def _senders(spec: Spec, role: str, name: str) -> Iterator[str]:
    """Yield where a message that a role hears is sent, and upon what."""
    for where, answers, state in _layers(spec, role):
        if state is not None and _sends(state.steps, name):
            yield f"{where}: on entry"
        for event, choice in answers.choices():
            if any(_sends(branch.steps, name) for branch in _flat(choice)):
                own = state is not None and state.ask is not None and event in answers.receive
                whose = f", its player's answer to {state.ask.path}" if own and state is not None and state.ask else ""
                yield f"{where}: on {event.removeprefix('.')}{whose}"
        then = state.then if state is not None else None
        if then is not None and any(_sends(branch.steps, name) for branch in _flat(then)):
            yield f"{where}: after that"


def _layers(spec: Spec, role: str) -> Iterator[tuple[str, Handlers, State | None]]:
    """Yield every layer of the roles at the other end of a role, with where it is."""
    others = spec.peers_of(role)
    for other in others:
        whose = f"{other}, " if len(others) > 1 else ""
        for machine in spec.roles[other].machines.values() if other in spec.roles else ():
            if machine.always is not None:
                yield f"{whose}{machine.name}, any state", machine.always.answers, None
            for state in machine.states.values():
                yield f"{whose}{machine.name}.{state.name}", state.answers, state


def _flat(choice: Choice) -> Iterator[Branch]:
    for branch in choice.branches:
        yield branch
        if isinstance(branch.next, Choice):
            yield from _flat(branch.next)


def _sends(steps: tuple[Step, ...], name: str) -> bool:
    return any(isinstance(step, SendMessages) and any(call.path == name for call in step.messages) for step in steps)
