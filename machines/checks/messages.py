"""Checks of who sends and hears which messages, and whether they can be told apart.

    A330  a message that is never sent             A335  answers to one question that can not be told apart
    A331  a message that is never received         A336  an urgent message that is like another
    A332  a type that is never used                A337  a wait that does not say for whom
    A333  a setting that is never used             A338  a send with nobody at hand
    A334  messages that can not be told apart

Each function's docstring is the manual page of its code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from machines.checks.flow import RoleFlow, all_branches, all_steps, kind, machine_expressions
from machines.checks.speakers import Speakers
from machines.expressions.spelling import names
from machines.messages.typecheck import named_types
from machines.messages.types import MessageShape, Overlap, compile_message, narrower, overlap
from machines.model import (
    Answers,
    Body,
    BodyList,
    BodyMap,
    Call,
    Choice,
    Hole,
    Machine,
    Name,
    Send,
    Spec,
    State,
    Step,
    Text,
    Verbatim,
    holes,
)
from machines.problems import Place, Problems
from machines.reading.outline import joined

EXAMPLE_MAX = 60  # characters of an example value in a problem

# -- used at all -----------------------------------------------------------------------------------------------------


def check_traffic(spec: Spec, problems: Problems) -> None:
    """A330, A331: each sender of a message sends it somewhere, and a role at the other end receives it somewhere.

    A message that nobody sends is a leftover or a slip; one that nobody receives would be `unexpected` whenever it
    came. Bad: ``server: {STARTED: started}`` and no ``send: STARTED``. Mended: send it, or take it out of the table.
    """
    sent = {role.name: {call.path for call in _sent(role.machines.values())} for role in spec.roles.values()}
    received = {role.name: set(_received(role.machines.values())) for role in spec.roles.values()}
    for message in spec.messages.values():
        for sender in message.senders:
            if sender in sent and message.name not in sent[sender]:
                text = f"{message.name} is never sent: no machine of {sender} does"
                problems.add(message.place, "A330", text, "send it, or leave it out")
            others = [role for role in spec.peers_of(sender) if role in received]
            if others and not any(message.name in received[role] for role in others):
                text = f"{message.name} is never received: no machine of {joined(others, 'or')} does"
                problems.add(message.place, "A331", text, "list it under 'receive', or leave it out")


def _sent(machines: Iterable[Machine]) -> Iterator[Call]:
    for machine in machines:
        for step in all_steps(machine):
            if isinstance(step, Send):
                yield from step.messages


def _received(machines: Iterable[Machine]) -> Iterator[str]:
    for machine in machines:
        if machine.always is not None:
            yield from machine.always.answers.receive
        for state in machine.states.values():
            yield from state.answers.receive


def check_declarations(spec: Spec, problems: Problems) -> None:
    """A332, A333: each type stands in a message, and each setting in an expression.

    What is never used misleads whoever changes it: a person sets ``reply: 2 s`` and nothing happens.
    Bad: ``settings: {reply: 5 s}`` beside ``within: 5 s``. Mended: ``within: reply``.
    """
    used: set[str] = set()
    todo = [
        named.name
        for message in spec.messages.values()
        for body in (message.body, *message.also)
        for hole in holes(body)
        for named in named_types(hole.type)
    ]
    while todo:
        name = todo.pop()
        if name not in used and name in spec.types:
            used.add(name)
            todo.extend(named.name for named in named_types(spec.types[name].type))
    for declaration in spec.types.values():
        if declaration.name not in used:
            text = f"the type {declaration.name!r} is never used"
            problems.add(declaration.place, "A332", text, "give it to a hole, or leave it out")
    read = {
        name.name
        for role in spec.roles.values()
        for machine in role.machines.values()
        for expression in machine_expressions(machine, spec.messages)
        for name in names(expression)
    }
    for setting in spec.settings.values():
        if setting.name not in read:
            text = f"the setting {setting.name!r} is never used"
            problems.add(setting.place, "A333", text, "use it, or leave it out")


# -- told apart ------------------------------------------------------------------------------------------------------


class Likeness:
    """Which messages are alike: answers are computed once for each pair of names."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._shapes: dict[str, MessageShape] = {}
        self._overlaps: dict[tuple[str, str], Overlap | None] = {}
        self._narrower: dict[tuple[str, str], bool] = {}

    def both_fit(self, a: str, b: str) -> Overlap | None:
        """Return a value that is either message; None if there is none."""
        one, other = self._spec.messages[a], self._spec.messages[b]
        bodies = [(x, y) for x in (one.body, *one.also) for y in (other.body, *other.also)]
        if all(apart(x, y) for x, y in bodies):
            return None  # most are told apart by a word; only the rest is worth compiling
        key = (a, b) if a <= b else (b, a)
        if key not in self._overlaps:
            self._overlaps[key] = overlap(self._shape(key[0]), self._shape(key[1]))
        return self._overlaps[key]

    def is_narrower(self, a: str, b: str) -> bool:
        """Whether every value that is message ``a`` is also message ``b``, and not the other way round."""
        if (a, b) not in self._narrower:
            self._narrower[a, b] = narrower(self._shape(a), self._shape(b))
        return self._narrower[a, b]

    def _shape(self, name: str) -> MessageShape:
        if name not in self._shapes:
            self._shapes[name] = compile_message(self._spec.messages[name], self._spec.types)
        return self._shapes[name]


def apart(a: Body, b: Body) -> bool:
    """Whether the fixed parts of two bodies are enough to tell them apart."""
    match a, b:
        case Verbatim(left), Verbatim(right):
            return isinstance(left, bool) is not isinstance(right, bool) or left != right
        case BodyList(left_items), BodyList(right_items):
            return len(left_items) != len(right_items) or any(map(apart, left_items, right_items))
        case BodyMap(left_pairs), BodyMap(right_pairs):
            ours, theirs = dict(left_pairs), dict(right_pairs)
            for some, others in ((ours, theirs), (theirs, ours)):
                if any(key not in others and not _may_be_missing(body) for key, body in some.items()):
                    return True
            return any(
                key in theirs and not _may_be_missing(body) and apart(body, theirs[key]) for key, body in ours.items()
            )
        case (Hole(), _) | (_, Hole()):
            return False
        case (Text(), Verbatim(value)) | (Verbatim(value), Text()):
            return not isinstance(value, str)
        case Text(), Text():
            return False
        case _:
            return True  # a list, a mapping and a text or number are never the same


def _may_be_missing(body: Body) -> bool:
    return isinstance(body, Hole) and body.optional


@dataclass(frozen=True, slots=True)
class _Layer:
    """The messages of peers that a state or an `always` lists, each with its place; ``heard``: whose they may be."""

    where: str
    listed: Mapping[str, Place]
    heard: frozenset[str]


def check_recognition(flow: RoleFlow, likeness: Likeness, problems: Problems) -> None:
    """A334, A335: one value may not be two messages where both are expected.

    That is: two messages of a state, or of it and a layer around it on some way from `main`, that one peer may send.
    The order written does not decide, unless the earlier or inner one is strictly narrower: then it is meant as the
    exception. What a player may answer to one question is told apart likewise.
    Bad: ``receive: {NAME: …, NICK: …}`` with ``NAME: $name string`` and ``NICK: $nick string``. Mended:
    ``NICK: [nick, $nick string]``; or receive them in different states.
    """
    told: set[frozenset[str]] = set()
    around: dict[str, dict[str, _Layer]] = {}  # by machine: each message listed further out, with a layer that does
    for name in reversed(flow.bottom_up):
        machine = flow.machines[name]
        outer: dict[str, _Layer] = {}
        for site in flow.callers[name]:
            for layer in _layers(flow, site.caller, site.state):
                for message in layer.listed:
                    outer.setdefault(message, layer)
            for message, layer in around[site.caller.name].items():
                outer.setdefault(message, layer)
        around[name] = outer
        for state in machine.states.values():
            _check_answers(flow, state, likeness, problems)
            inner, *behind = _layers(flow, machine, state)
            _check_layer(flow, inner, likeness, told, problems)
            for layer in behind:
                _check_layers(flow, inner, dict.fromkeys(layer.listed, layer), likeness, told, problems)
            _check_layers(flow, inner, outer, likeness, told, problems)
        if machine.always is not None:
            layer = _always_layer(flow, machine)
            _check_layer(flow, layer, likeness, told, problems)
            _check_layers(flow, layer, outer, likeness, told, problems)


def _layers(flow: RoleFlow, machine: Machine, state: State) -> list[_Layer]:
    """Return the layer of a state and, if there is one, that of its machine's `always`."""
    where = f"the state {state.name!r} of {machine.name}"
    found = [_Layer(where, _listed(flow, state.answers), _heard(flow, state))]
    if machine.always is not None:
        found.append(_always_layer(flow, machine))
    return found


def _always_layer(flow: RoleFlow, machine: Machine) -> _Layer:
    assert machine.always is not None, "only a machine with an always has its layer"
    listed = _listed(flow, machine.always.answers)
    return _Layer(f"the 'always' of {machine.name}", listed, frozenset(flow.spec.peers_of(flow.role.name)))


def _listed(flow: RoleFlow, answers: Answers) -> dict[str, Place]:
    partners = set(flow.spec.peers_of(flow.role.name))
    messages = flow.spec.messages
    return {
        name: choice.place
        for name, choice in answers.receive.items()
        if name in messages and not partners.isdisjoint(messages[name].senders)
    }


def _heard(flow: RoleFlow, state: State) -> frozenset[str]:
    """Return the roles whose messages may come to a state."""
    partners = flow.spec.peers_of(flow.role.name)
    if isinstance(state.awaits, Name) and state.awaits.name in flow.spec.connects.get(flow.role.name, ()):
        return frozenset({state.awaits.name})
    if kind(state) == "wait" and state.awaits is None and not flow.one_peer:
        return frozenset()
    return frozenset(partners)


def _check_layer(
    flow: RoleFlow, layer: _Layer, likeness: Likeness, told: set[frozenset[str]], problems: Problems
) -> None:
    listed = list(layer.listed)
    for index, first in enumerate(listed):
        for second in listed[index + 1 :]:
            if _one_sender(flow, first, second, layer.heard):
                _tell(first, second, layer.listed[second], f"{layer.where} expects both", likeness, told, problems)


def _check_layers(
    flow: RoleFlow,
    inner: _Layer,
    outer: Mapping[str, _Layer],
    likeness: Likeness,
    told: set[frozenset[str]],
    problems: Problems,
) -> None:
    for first, place in inner.listed.items():
        for second, layer in outer.items():
            if second != first and second not in inner.listed and _one_sender(flow, first, second, inner.heard):
                where = f"{inner.where} expects the first, {layer.where} around it the second"
                _tell(first, second, place, where, likeness, told, problems)


def _one_sender(flow: RoleFlow, first: str, second: str, heard: frozenset[str]) -> bool:
    messages = flow.spec.messages
    return not heard.isdisjoint(set(messages[first].senders) & set(messages[second].senders))


def _tell(
    first: str,
    second: str,
    place: Place,
    where: str,
    likeness: Likeness,
    told: set[frozenset[str]],
    problems: Problems,
) -> None:
    pair = frozenset({first, second})
    if pair in told:
        return
    both = likeness.both_fit(first, second)
    if both is None or likeness.is_narrower(first, second):
        return
    told.add(pair)
    text = f"{first} and {second} can not be told apart: {_either(both)}; {where}"
    problems.add(place, "A334", text, "tell them apart by a fixed word, or receive them in different states")


def _check_answers(flow: RoleFlow, state: State, likeness: Likeness, problems: Problems) -> None:
    if state.ask is None:
        return
    messages = flow.spec.messages
    answers = [name for name in state.answers.receive if name in messages and flow.role.name in messages[name].senders]
    for index, first in enumerate(answers):
        for second in answers[index + 1 :]:
            both = likeness.both_fit(first, second)
            if both is not None and not likeness.is_narrower(first, second):
                text = f"the answers {first} and {second} can not be told apart: {_either(both)}"
                place = state.answers.receive[second].place
                problems.add(place, "A335", text, "tell them apart by a fixed word, or ask two questions")


def _either(both: Overlap) -> str:
    text = str(both)
    shown = text if len(text) <= EXAMPLE_MAX else text[: EXAMPLE_MAX - 1] + "…"
    return f"{shown} is either" if both.certain else f"that a value like {shown} is either could not be ruled out"


def check_urgent(spec: Spec, likeness: Likeness, problems: Problems) -> None:
    """A336: an urgent message differs in shape from everything else its sender may send.

    It is taken on arrival, before anyone says what is expected, so nothing but its shape can tell it.
    Bad: ``urgent: [PING]`` with ``PING: $text string``. Mended: ``PING: [ping, $id int]``, nothing else beginning so.
    """
    for message in spec.messages.values():
        if not message.urgent:
            continue
        for other in spec.messages.values():
            if other.name == message.name or set(other.senders).isdisjoint(message.senders):
                continue
            if other.urgent and other.name < message.name:
                continue  # told the other way round
            both = likeness.both_fit(message.name, other.name)
            if both is not None:
                text = f"{message.name} is urgent, but not told apart from {other.name}: {_either(both)}"
                problems.add(message.place, "A336", text, "give it a shape of its own")


# -- to and from whom ------------------------------------------------------------------------------------------------


def check_peers(flow: RoleFlow, machine: Machine, speakers: Speakers, problems: Problems) -> None:
    """A337, A338: a role with several peers says whom it waits for and to whom it sends.

    Only what answers a peer has one at hand: who spoke, was lost or is late, or the one a state awaits.
    Bad: in a server, ``asked: {send: MOVE_REQ, receive: {MOVE: …}}``. Mended: ``await: player`` beside them. Bad:
    ``each: player in players``, ``send: STARTED``. Mended: ``send: {player: STARTED}``. A door that lists messages of
    those seated says ``await: players`` too.
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
                listens = bool(_listed(flow, answers)) if state.ask is None else _hears_more(flow, state)
                if listens or (state.ask is None and (answers.closed is not None or answers.invalid is not None)):
                    text = f"the state {state.name!r} does not say for whom it waits"
                    problems.add(state.place, "A337", text, f"{flow.role.name} has several peers: add 'await: PEER'")
            elif kind(state) == "accept" and _listed(flow, answers):
                text = f"the state {state.name!r} lists messages, but does not say whose: none of those seated is heard"
                problems.add(state.place, "A337", text, "add 'await' with the name after 'as'")
            _check_sends(state.steps, problems)
            for event, choice in answers.choices():
                if not speakers.has_peer(machine, state, event):
                    _check_sends(_choice_steps(choice), problems)
        if state.then is not None:
            _check_sends(_choice_steps(state.then), problems)


def _hears_more(flow: RoleFlow, state: State) -> bool:
    """Whether a state that asks its player also lists messages that only peers send."""
    return any(flow.role.name not in flow.spec.messages[name].senders for name in _listed(flow, state.answers))


def _choice_steps(choice: Choice) -> Iterator[Step]:
    for branch in all_branches(choice):
        yield from branch.steps


def _check_sends(steps: Iterable[Step], problems: Problems) -> None:
    for step in steps:
        if isinstance(step, Send) and step.receivers is None:
            sent = joined(call.path for call in step.messages) if step.messages else "this"
            text = f"nobody is at hand that {sent} could be sent to"
            hint = f"name the receiver: send: {{player: {sent.split(',')[0].split(' ')[0]}}}"
            problems.add(step.place, "A338", text, hint)
