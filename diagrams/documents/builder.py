"""A spec's document: what stands in its tables, in the order of the file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from math import isinf
from pathlib import PurePath
from typing import Any, Final

from diagrams.catalogue import Drawing, Kind, album
from diagrams.documents.model import (
    Document,
    FieldRow,
    LimitRow,
    MessageRow,
    Party,
    Phase,
    SettingRow,
    TypeRow,
    WaitRow,
)
from diagrams.documents.wire_words import EARLY, LIMITS, framing_words
from diagrams.states.builder import answered_by, callers, limited, starters
from diagrams.states.phrases import body_text, bound, duration, frame_text, moment, outcome_parts, quantity, told
from machines.expressions.unparse import show, walk
from machines.messages.bodies import compile_message
from machines.messages.types import compile_type, type_text
from machines.model import (
    Branch,
    Call,
    Choice,
    DropPeers,
    Each,
    Expression,
    Goto,
    Handlers,
    Let,
    ListType,
    Machine,
    MapOf,
    Message,
    Name,
    Named,
    ObjectType,
    Return,
    Secure,
    SendMessages,
    Setting,
    Spec,
    State,
    Stay,
    Step,
    TupleType,
    Type,
    Union,
    fields_of,
)
from machines.values import plain

EXAMPLE_CHARACTERS_MAX: Final = 160
EXAMPLE_ITEM_CHARACTERS_MAX: Final = 60
EXAMPLE_ITEMS_MAX: Final = 3  # more are told by their number
CALLED_MAX: Final = 8  # places listed of one message or setting; the rest is counted


def document(spec: Spec) -> Document:
    """Return the document of a spec."""
    drawings = album(spec)
    return Document(
        spec.protocol,
        spec.title,
        PurePath(spec.file).name,
        framing_words(spec.wire),
        EARLY[spec.wire.early],
        tuple(name for name, _ in spec.rules),
        tuple(_party(spec, role, drawings) for role in spec.roles),
        tuple(_message(spec, message) for message in spec.messages.values()),
        tuple(_type(spec, name) for name in spec.types),
        tuple(_setting(spec, setting) for setting in spec.settings.values()),
        tuple(_waits(spec)),
        tuple(_limits(spec)),
        spec.doc,
        tuple(_foreign(spec)),
    )


def text_of(value: Any) -> str:
    """Return a JSON value on one line."""
    return json.dumps(plain(value), ensure_ascii=False)


def example_of(value: Any) -> str:
    """Return a JSON value on one line; if that is too long to read, long lists are cut, with how many items they have.

    >>> example_of([7] * 300)
    '[7, … 300 in all]'
    """
    whole = text_of(value)
    return whole if len(whole) <= EXAMPLE_CHARACTERS_MAX else _cut(plain(value))


def _cut(value: Any) -> str:
    match value:
        case dict():
            return f"{{{', '.join(f'{text_of(key)}: {_cut(item)}' for key, item in value.items())}}}"
        case list() if len(text_of(value)) > EXAMPLE_ITEM_CHARACTERS_MAX and len(value) > EXAMPLE_ITEMS_MAX:
            return f"[{_cut(value[0])}, … {len(value)} in all]"
        case list():
            return f"[{', '.join(map(_cut, value))}]"
        case _:
            return text_of(value)


# -- roles -----------------------------------------------------------------------------------------------------------


def _party(spec: Spec, role: str, drawings: tuple[Drawing, ...]) -> Party:
    found = {(drawing.kind, drawing.machine): drawing for drawing in drawings if drawing.role == role}
    targets = spec.connects.get(role, ())
    does = [f"connects to {' and '.join(targets)}"] if targets else []
    does += ["listens"] if role in spec.listeners() else []
    phases = tuple(
        Phase(
            role,
            machine.name,
            called(machine),
            tuple(dict.fromkeys(_run_by(spec, machine))),
            found[Kind.STATES, machine.name],
            found[Kind.SEQUENCES, machine.name],
            machine.doc,
            tuple((state.name, state.doc) for state in machine.states.values() if state.doc),
        )
        for machine in spec.roles[role].machines.values()
    )
    return Party(
        role,
        " and ".join(does) or "neither connects nor listens",
        found[Kind.OVERVIEW, ""],
        phases,
        spec.roles[role].doc,
    )


def _foreign(spec: Spec) -> Iterator[tuple[str, str]]:
    for name in spec.foreign:
        targets = spec.connects.get(name, ())
        does = f"connects to {' and '.join(targets)}" if targets else "listens"
        yield name, f"{does}; only programs of others play it"


def _run_by(spec: Spec, machine: Machine) -> Iterator[str]:
    yield from (f"{caller.name}, {state.name}" for caller, state in callers(spec, machine))
    for starter, state in starters(spec, machine):
        yield f"{starter.name}, {state.name if state is not None else 'in every state'}, which starts it"


def called(machine: Machine) -> str:
    """Return a machine as it is called: ``turn(player, play)``."""
    return f"{machine.name}({', '.join(machine.parameters)})" if machine.parameters else machine.name


# -- messages --------------------------------------------------------------------------------------------------------


def _message(spec: Spec, message: Message) -> MessageRow:
    shape = compile_message(message, spec.types)
    rows = tuple(
        FieldRow(
            field.name,
            type_text(field.type),
            text_of(field.default) if field.optional else None,
        )
        for field in message.fields
    )
    return MessageRow(
        message.name,
        message.senders,
        tuple(dict.fromkeys(peer for sender in message.senders for peer in spec.peers_of(sender))),
        body_text(message.body, spec),
        tuple(body_text(body, spec) for body in message.also),
        frame_text(spec.frames[message.name]) if message.name in spec.frames else "",
        rows,
        tuple(map(example_of, message.examples or (shape.example(),))),
        _few(place for place, call in _sends(spec) if call.path == message.name),
        _few(place for place, name in _hears(spec) if name == message.name),
        message.urgent,
        message.doc,
    )


def _sends(spec: Spec) -> Iterator[tuple[str, Call]]:
    """Yield every send of a spec with where and when it is done, in words."""
    for machine, state, when, steps in _steps(spec):
        for step in steps:
            if isinstance(step, SendMessages):
                to = f", to {show(step.receivers)}" if step.receivers is not None else ""
                for call in step.messages:
                    yield f"{_where(machine, state)}: {when}{to}", call


def _hears(spec: Spec) -> Iterator[tuple[str, str]]:
    for machine in _machines(spec):
        for state, answers in _layers(machine):
            asks = state is not None and state.ask is not None
            for name in answers.receive:
                own = asks and machine.role in spec.messages[name].senders
                yield f"{_where(machine, state)}{': the answer of its player' if own else ''}", name


def _steps(spec: Spec) -> Iterator[tuple[Machine, State | None, str, tuple[Step, ...]]]:
    for machine in _machines(spec):
        for state in machine.states.values():
            when = f"for {_each(state.each)}" if state.each is not None else "on entry"
            yield machine, state, when, state.steps
        for state_or_none, answers in _layers(machine):
            for event, choice in answers.choices():
                for branch in _branches(choice):
                    yield machine, state_or_none, f"on {_event(spec, machine, state_or_none, event)}", branch.steps
            if state_or_none is not None and state_or_none.then is not None:
                for branch in _branches(state_or_none.then):
                    yield machine, state_or_none, "after that", branch.steps


def _each(each: Each) -> str:
    return f"each {each.name} in {show(each.items)}" + (f" if {show(each.guard)}" if each.guard is not None else "")


def _layers(machine: Machine) -> Iterator[tuple[State | None, Handlers]]:
    if machine.always is not None:
        yield None, machine.always.answers
    for state in machine.states.values():
        yield state, state.answers


def _branches(choice: Choice) -> Iterator[Branch]:
    for branch in choice.branches:
        yield branch
        if isinstance(branch.next, Choice):
            yield from _branches(branch.next)


def _event(spec: Spec, machine: Machine, state: State | None, event: str) -> str:
    if not event.startswith("."):
        return event
    answers = state.answers if state is not None else machine.always.answers if machine.always is not None else None
    assert answers is not None, "an event belongs to a state or to `always`"
    return moment(spec, answers, event) or event[1:]


def _machines(spec: Spec) -> Iterator[Machine]:
    for role in spec.roles.values():
        yield from role.machines.values()


def _where(machine: Machine, state: State | None) -> str:
    return f"{machine.role}, {machine.name}, {state.name if state is not None else 'in every state'}"


def _few(places: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(places))
    return found if len(found) <= CALLED_MAX else (*found[: CALLED_MAX - 1], f"and {len(found) - CALLED_MAX + 1} more")


# -- types and settings ----------------------------------------------------------------------------------------------


def _type(spec: Spec, name: str) -> TypeRow:
    shape = compile_type(spec.types[name].type, spec.types)
    used = [f"type {other.name}" for other in spec.types.values() if name in _named(other.type)]
    for message in spec.messages.values():
        bodies = (message.body, *message.also)
        if any(name in _named(field.type) for body in bodies for field in fields_of(body)):
            used.append(message.name)
    declared = spec.types[name]
    examples = tuple(map(example_of, declared.examples or (shape.example(),)))
    return TypeRow(name, type_text(declared.type), examples, _few(used), declared.doc)


def _named(type_: Type) -> set[str]:
    match type_:
        case Named(name):
            return {name}
        case TupleType(items) | Union(items):
            return {name for item in items for name in _named(item)}
        case ListType(item):
            return _named(item)
        case ObjectType(pairs):
            return {name for pair in pairs for name in _named(pair.type)}
        case MapOf(key, value):
            return _named(key) | _named(value)
        case _:
            return set()


def _setting(spec: Spec, setting: Setting) -> SettingRow:
    used = [place for place, expression in _expressions(spec) if _uses(expression, setting.name)]
    return SettingRow(setting.name, setting_text(setting), setting.kind, _few(used), setting.doc)


def setting_text(setting: Setting) -> str:
    """Return a setting's value as a spec writes it."""
    match setting.kind:
        case "duration":
            return "never" if isinf(setting.value) else duration(setting.value)
        case "bool":
            return "true" if setting.value else "false"
        case _:
            return str(setting.value)


def _uses(expression: Expression, name: str) -> bool:
    return any(isinstance(part, Name) and part.name == name for part in walk(expression))


def _expressions(spec: Spec) -> Iterator[tuple[str, Expression]]:
    """Yield the expressions of a spec, each with where it stands."""
    for machine in _machines(spec):
        if machine.always is not None and machine.always.within is not None:
            yield f"{_where(machine, None)}: within", machine.always.within
        for state in machine.states.values():
            yield from _of_state(machine, state)
    for machine, at, _, steps in _steps(spec):
        for step in steps:
            yield from ((_where(machine, at), expression) for expression in _of_step(step))
    for machine in _machines(spec):
        for at, answers in _layers(machine):
            choices = [choice for _, choice in answers.choices()]
            choices += [at.then] if at is not None and at.then is not None else []
            for branch in (branch for choice in choices for branch in _branches(choice)):
                if branch.guard is not None:
                    yield f"{_where(machine, at)}: if", branch.guard
                if branch.limit is not None:
                    yield f"{_where(machine, at)}: at most", branch.limit
                if isinstance(branch.next, Return):
                    said = (branch.next.value, branch.next.outcome)
                    yield from ((_where(machine, at), one) for one in said if one is not None)
            for clock in (*answers.after, *answers.every):
                yield f"{_where(machine, at)}: clock", clock.wait
            for condition in answers.when:
                yield f"{_where(machine, at)}: when", condition.wait


def _of_state(machine: Machine, state: State) -> Iterator[tuple[str, Expression]]:
    where = _where(machine, state)
    if state.within is not None:
        yield f"{where}: within", state.within
    if state.each is not None:
        each = state.each
        yield from ((where, part) for part in (each.items, each.guard, each.until, each.parallel) if part is not None)
    if state.accept is not None:
        if state.accept.seats is not None:
            yield f"{where}: seats", state.accept.seats
        if state.accept.linger is not None:
            yield f"{where}: linger", state.accept.linger
    for call in (state.run, state.ask, state.accept.machine if state.accept is not None else None):
        if call is not None:
            yield from ((where, argument) for argument in call.arguments or ())
    yield from ((where, binding.value) for binding in state.bindings)


def _of_step(step: Step) -> Iterator[Expression]:
    match step:
        case Let(bindings, _):
            yield from (binding.value for binding in bindings)
        case SendMessages(receivers, messages, _):
            yield from () if receivers is None else (receivers,)
            yield from (argument for call in messages for argument in call.arguments or ())
        case Secure(peers, _) | DropPeers(peers, _):
            yield peers
        case _:
            yield from step.machine.arguments or ()


# -- waits and limits ------------------------------------------------------------------------------------------------


def _waits(spec: Spec) -> Iterator[WaitRow]:
    for machine in _machines(spec):
        for state in machine.states.values():
            if state.accept is not None or state.ask is not None or state.waits:
                awaits = show(state.awaits) if state.awaits is not None else ""
                if state.ask is not None:
                    awaits = f"its player: {show(state.ask)}" + (f", and {awaits}" if awaits else "")
                if state.accept is not None:
                    awaits = (
                        f"connections, up to {quantity(spec, state.accept.seats)}"
                        if state.accept.seats is not None
                        else "connections"
                    )
                within = _limit(spec, machine, state)
                late = _consequence(spec, machine, state, "timeout") if within else "no limit"
                wrong, gone = (_consequence(spec, machine, state, fault) for fault in ("invalid", "closed"))
                yield WaitRow(_where(machine, state), awaits, within or "none", late, wrong, gone)


def _limit(spec: Spec, machine: Machine, state: State) -> str:
    if state.within is not None:
        return quantity(spec, state.within, time=True)
    if machine.always is not None and machine.always.within is not None:
        return f"{quantity(spec, machine.always.within, time=True)}, of the whole machine"
    return "that of a machine around it" if limited(spec, machine) else ""


def _consequence(spec: Spec, machine: Machine, state: State, fault: str) -> str:
    """What a fault leads to, in words; a layer further out is named."""
    layers = [state.answers, *([machine.always.answers] if machine.always is not None else [])]
    for answers in layers:
        choice = getattr(answers, fault)
        if choice is not None:
            return "; ".join(_outcome(branch) for branch in choice.branches)
    if state.accept is not None and fault != "timeout":
        return "no seat"
    return ", ".join(answered_by(spec, machine, fault)) or "the session ends as failed"


def _outcome(branch: Branch) -> str:
    parts = [f"if {show(branch.guard)}:"] if branch.guard is not None else []
    parts += [f"at most {show(branch.limit)}:"] if branch.limit is not None else []
    for step in branch.steps:
        match step:
            case Let(bindings, _):
                parts += [f"{bound(binding)}," for binding in bindings]
            case SendMessages(_, messages, _):
                parts += [f"send {told(call)}," for call in messages]
            case Secure(peers, _) | DropPeers(peers, _):
                parts.append(f"{'close' if isinstance(step, DropPeers) else 'speak TLS with'} {show(peers)},")
            case _:
                parts.append(f"start {show(step.machine)},")
    match branch.next:
        case Goto(name, _):
            parts.append(f"go to {name}")
        case Stay(again, _):
            parts.append("wait on, the clock afresh" if again else "wait on")
        case Return(value, _):
            parts += [f"the outcome's {said}," for said in outcome_parts(branch.next)]
            parts.append(f"return {show(value)}")
        case Choice(branches, _):
            parts.append(f"({'; '.join(_outcome(inner) for inner in branches)})")
    return " ".join(parts)


def _limits(spec: Spec) -> Iterator[LimitRow]:
    for field in fields(spec.wire):
        if field.name in LIMITS:
            means, broken = LIMITS[field.name]
            yield LimitRow(field.name, str(getattr(spec.wire, field.name)), means, broken)
