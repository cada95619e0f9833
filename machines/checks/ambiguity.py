"""Checks of who sends and hears which messages, and whether they can be told apart.

A330  a message that is never sent             A335  answers to one question that can not be told apart
A331  a message that is never received         A336  an urgent message that is like another
A332  a type that is never used
A333  a setting that is never used
A334  messages that can not be told apart      A339  messages that were not compared
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from machines.analysis.call_graph import CallGraph, kind
from machines.analysis.newcomers import Newcomers, names_the_seated
from machines.analysis.traversal import all_steps, machine_expressions
from machines.checks.first_lines import FirstLines
from machines.checks.first_words import FirstWords
from machines.expressions.unparse import names
from machines.messages.types import MessageCodec, Overlap, Work, compile_message, narrower, overlap
from machines.messages.well_formed import field_meant, named_types
from machines.model import (
    Body,
    BodyList,
    BodyMap,
    Call,
    Field,
    Handlers,
    LiteralBody,
    Machine,
    Message,
    Name,
    SendMessages,
    Spec,
    State,
    Text,
    fields_of,
)
from machines.parser.context import joined
from machines.problems import Location, Place, Problems

EXAMPLE_MAX = 60  # characters of an example value in a problem
# Steps that all comparisons of one spec may take: some two seconds. The shipped specs take 263 at most.
WORK_MAX = 2_000_000
NARROWER_STEPS = 100  # what it takes at least to look whether one message is a special case of another

# -- used at all -----------------------------------------------------------------------------------------------------


def check_traffic(spec: Spec, problems: Problems) -> None:
    """A330: a message is never sent.

    A331: a message is never received.

    Neither is asked of a role that programs of others play, nor of ours that connects to one: it may use a part.
    """
    sent = {role.name: {call.path for call in _sent(role.machines.values())} for role in spec.roles.values()}
    received = {role.name: set(_received(role.machines.values())) for role in spec.roles.values()}
    for message in spec.messages.values():
        for sender in message.senders:
            if sender in sent and message.name not in sent[sender] and not spec.uses_part(sender):
                text = f"{message.name} is never sent: no machine of {sender} does"
                problems.add(message.place, "A330", text, "send it, or leave it out")
            others = [role for role in spec.peers_of(sender) if role in received or role in spec.foreign]
            if any(role in spec.foreign or spec.uses_part(role) for role in others):
                continue
            if others and not any(message.name in received[role] for role in others):
                text = f"{message.name} is never received: no machine of {joined(others, 'or')} does"
                problems.add(message.place, "A331", text, "list it under 'receive', or leave it out")


def _sent(machines: Iterable[Machine]) -> Iterator[Call]:
    for machine in machines:
        for step in all_steps(machine):
            if isinstance(step, SendMessages):
                yield from step.messages


def _received(machines: Iterable[Machine]) -> Iterator[str]:
    for machine in machines:
        if machine.always is not None:
            yield from machine.always.answers.receive
        for state in machine.states.values():
            yield from state.answers.receive


def check_declarations(spec: Spec, problems: Problems) -> None:
    """A332: a type is never used.

    A333: a setting is never used.
    """
    used: set[str] = set()
    todo = [
        named.name
        for message in spec.messages.values()
        for body in (message.body, *message.also)
        for field in fields_of(body)
        for named in named_types(field.type)
    ]
    while todo:
        name = todo.pop()
        if name not in used and name in spec.types:
            used.add(name)
            todo.extend(named.name for named in named_types(spec.types[name].type))
    for declaration in spec.types.values():
        if declaration.name not in used:
            text = f"the type {declaration.name!r} is never used"
            meant = field_meant(declaration.name, spec.messages.values())
            problems.add(declaration.place, "A332", text, meant or "give it to a field, or leave it out")
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


class AmbiguityTable:
    """Which messages are alike: answers are computed once for each pair of names.

    All of them together may take WORK_MAX steps. Beyond that nothing is compared: ``undecided`` counts what was asked
    then, and ``tell`` makes a problem of it.
    """

    def __init__(self, spec: Spec, steps: int = WORK_MAX) -> None:
        self.undecided = 0
        self.words = FirstWords(spec.messages, spec.frames)
        self._lines = FirstLines(spec, self._shape)
        self._spec = spec
        self._work = Work(steps)
        self._sizes: dict[str, int] = {}
        self._shapes: dict[str, MessageCodec] = {}
        self._overlaps: dict[tuple[str, str], Overlap | None] = {}
        self._narrower: dict[tuple[str, str], bool] = {}

    def both_fit(self, a: str, b: str) -> Overlap | None:
        """Return a value that is either message; None if there is none, or if it was not decided."""
        if self._work.left <= 0:
            self.undecided += 1
            return None
        if self._differ(a, b):  # what is cut as the one is never read as the other, but a line may open either
            return self._lines.both(a, b, self._work) if self._lines.opens(a) or self._lines.opens(b) else None
        one, other = self._spec.messages[a], self._spec.messages[b]
        self._work.left -= self._size(one) + self._size(other)
        bodies = [(x, y) for x in (one.body, *one.also) for y in (other.body, *other.also)]
        if all(apart(x, y) for x, y in bodies):
            return None  # most are told apart by a word; only the rest is worth compiling
        key = (a, b) if a <= b else (b, a)
        if key not in self._overlaps:
            found = overlap(self._shape(key[0]), self._shape(key[1]), self._work)
            if found is not None and not found.certain and self._work.left <= 0:
                self.undecided += 1  # it was still looked for when the work was used up
                found = None
            self._overlaps[key] = found
        return self._overlaps[key]

    def is_narrower(self, a: str, b: str) -> bool:
        """Whether what is read as message ``a``, where both fit, is meant by it: it is a special case of ``b``."""
        if self._differ(a, b):
            return self._lines.is_meant(a, b, self._work)
        if (a, b) not in self._narrower:
            self._work.left -= NARROWER_STEPS
            self._narrower[a, b] = narrower(self._shape(a), self._shape(b), self._work)
        return self._narrower[a, b]

    def _differ(self, a: str, b: str) -> bool:
        return self._spec.frames.get(a) != self._spec.frames.get(b)

    def tell(self, problems: Problems) -> None:
        """A339: the messages are too many, or their patterns too intricate, for all to be compared."""
        if self.undecided:
            place = next(iter(self._spec.messages.values())).place
            pairs = f"{self.undecided} pair{'' if self.undecided == 1 else 's'} of messages"
            text = f"not decided whether {pairs} can be told apart: comparing all of them takes too long"
            problems.add(place, "A339", text, "begin each with a fixed word, or make the patterns of texts simpler")

    def _size(self, message: Message) -> int:
        """Return of how many parts the bodies of a message are made."""
        if message.name not in self._sizes:
            self._sizes[message.name] = sum(map(_parts, (message.body, *message.also)))
        return self._sizes[message.name]

    def _shape(self, name: str) -> MessageCodec:
        if name not in self._shapes:
            self._shapes[name] = compile_message(self._spec.messages[name], self._spec.types)
        return self._shapes[name]


def _parts(body: Body) -> int:
    match body:
        case BodyList(items):
            return 1 + sum(map(_parts, items))
        case BodyMap(pairs):
            return 1 + sum(_parts(item) for _, item in pairs)
        case _:
            return 1


def apart(a: Body, b: Body) -> bool:
    """Whether the fixed parts of two bodies are enough to tell them apart."""
    match a, b:
        case LiteralBody(left), LiteralBody(right):
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
        case (Field(), _) | (_, Field()):
            return False
        case (Text(parts), LiteralBody(value)) | (LiteralBody(value), Text(parts)):
            return not isinstance(value, str) or not (value.startswith(_first(parts)) and value.endswith(_last(parts)))
        case Text(left), Text(right):
            return not (_begins(_first(left), _first(right)) and _begins(_last(left)[::-1], _last(right)[::-1]))
        case _:
            return True  # a list, a mapping and a text or number are never the same


def _first(parts: tuple[str | Field, ...]) -> str:
    """Return what a text with fields always begins with."""
    return parts[0] if parts and isinstance(parts[0], str) else ""


def _last(parts: tuple[str | Field, ...]) -> str:
    """Return what it always ends with."""
    return parts[-1] if parts and isinstance(parts[-1], str) else ""


def _begins(one: str, other: str) -> bool:
    """Whether a text may begin with both."""
    return one.startswith(other) or other.startswith(one)


def _may_be_missing(body: Body) -> bool:
    return isinstance(body, Field) and body.optional


@dataclass(frozen=True, slots=True)
class _Layer:
    """The messages of peers that a state or an `always` lists, each with its place; ``heard``: whose they may be.

    ``seated`` says that it hears only peers that have a seat.
    """

    where: str
    listed: Mapping[str, Place]
    heard: frozenset[str]
    spot: Location
    seated: bool


def check_recognition(flow: CallGraph, likeness: AmbiguityTable, problems: Problems) -> None:
    """A334: two messages that are expected together can not be told apart.

    A335: two answers to one question can not be told apart.
    """
    told: set[frozenset[str]] = set()
    newcomers = Newcomers(flow)
    # By machine: each message listed further out, with a layer that does; and so for who has no seat yet.
    around: dict[str, dict[str, _Layer]] = {}
    around_newcomers: dict[str, dict[str, _Layer]] = {}
    for name in reversed(flow.bottom_up):
        machine = flow.machines[name]
        around[name] = _listed_around(flow, name, around, to_newcomers=False)
        around_newcomers[name] = _listed_around(flow, name, around_newcomers, to_newcomers=True)
        for state in machine.states.values():
            _check_answers(flow, machine, state, likeness, problems)
            outer = (around_newcomers if newcomers.awaits_one(machine, state) else around)[name]
            inner, *behind = _layers(flow, machine, state)
            _check_layer(flow, inner, likeness, told, problems)
            for layer in behind:
                _check_layers(flow, inner, dict.fromkeys(layer.listed, layer), likeness, told, problems)
            _check_layers(flow, inner, outer, likeness, told, problems)
        if machine.always is not None:
            outer = (around_newcomers if newcomers.awaits_one(machine, None) else around)[name]
            layer = _always_layer(flow, machine)
            _check_layer(flow, layer, likeness, told, problems)
            _check_layers(flow, layer, outer, likeness, told, problems)


def _listed_around(
    flow: CallGraph, name: str, around: Mapping[str, Mapping[str, _Layer]], *, to_newcomers: bool
) -> dict[str, _Layer]:
    """Return each message that a layer around a machine lists, with the innermost layer that does."""
    outer: dict[str, _Layer] = {}
    for site in flow.callers[name]:
        layers = [(message, layer) for layer in _layers(flow, site.caller, site.state) for message in layer.listed]
        for message, layer in (*layers, *around[site.caller.name].items()):
            if not (to_newcomers and site.accepts and layer.seated):
                outer.setdefault(message, layer)
    return outer


def _layers(flow: CallGraph, machine: Machine, state: State) -> list[_Layer]:
    """Return the layer of a state and, if there is one, that of its machine's `always`."""
    where = f"the state {state.name!r} of {machine.name}"
    spot = Location(flow.role.name, machine.name, state.name)
    found = [
        _Layer(where, messages_listed(flow, state.answers), roles_heard(flow, state), spot, state.accept is not None)
    ]
    if machine.always is not None:
        found.append(_always_layer(flow, machine))
    return found


def _always_layer(flow: CallGraph, machine: Machine) -> _Layer:
    assert machine.always is not None, "only a machine with an always has its layer"
    listed = messages_listed(flow, machine.always.answers)
    spot = Location(flow.role.name, machine.name, "")
    heard = frozenset(flow.spec.peers_of(flow.role.name))
    seated = names_the_seated(flow, machine, machine.always.awaits)
    return _Layer(f"the 'always' of {machine.name}", listed, heard, spot, seated)


def messages_listed(flow: CallGraph, answers: Handlers) -> dict[str, Place]:
    """Return the messages of peers that answers list, each with the place of its branches."""
    partners = set(flow.spec.peers_of(flow.role.name))
    messages = flow.spec.messages
    return {
        name: choice.place
        for name, choice in answers.receive.items()
        if name in messages and not partners.isdisjoint(messages[name].senders)
    }


def roles_heard(flow: CallGraph, state: State) -> frozenset[str]:
    """Return the roles whose messages may come to a state."""
    partners = flow.spec.peers_of(flow.role.name)
    if isinstance(state.awaits, Name) and state.awaits.name in flow.spec.connects.get(flow.role.name, ()):
        return frozenset({state.awaits.name})
    if kind(state) == "wait" and state.awaits is None and not flow.one_peer:
        return frozenset()
    return frozenset(partners)


def _check_layer(
    flow: CallGraph, layer: _Layer, likeness: AmbiguityTable, told: set[frozenset[str]], problems: Problems
) -> None:
    for first, second in likeness.words.pairs(layer.listed):
        if _one_sender(flow, first, second, layer.heard):
            where = f"{layer.where} expects both"
            _tell(first, second, layer.listed[second], where, layer.spot, likeness, told, problems)


def _check_layers(
    flow: CallGraph,
    inner: _Layer,
    outer: Mapping[str, _Layer],
    likeness: AmbiguityTable,
    told: set[frozenset[str]],
    problems: Problems,
) -> None:
    for first, second in likeness.words.pairs_between(inner.listed, outer):
        if second not in inner.listed and _one_sender(flow, first, second, inner.heard):
            where = f"{inner.where} expects the first, {outer[second].where} around it the second"
            _tell(first, second, inner.listed[first], where, inner.spot, likeness, told, problems)


def _one_sender(flow: CallGraph, first: str, second: str, heard: frozenset[str]) -> bool:
    messages = flow.spec.messages
    return not heard.isdisjoint(set(messages[first].senders) & set(messages[second].senders))


def _tell(
    first: str,
    second: str,
    place: Place,
    where: str,
    spot: Location,
    likeness: AmbiguityTable,
    told: set[frozenset[str]],
    problems: Problems,
) -> None:
    pair = frozenset({first, second})
    if pair in told:
        return
    if problems.is_full("A334"):
        problems.cut("A334", place)
        return
    both = likeness.both_fit(first, second)
    if both is None or likeness.is_narrower(first, second):
        return
    told.add(pair)
    text = f"{first} and {second} can not be told apart: {_either(both)}; {where}"
    spot = replace(spot, names=(first, second), example=_shown(both))
    problems.add(place, "A334", text, "tell them apart by a fixed word, or receive them in different states", spot)


def _check_answers(
    flow: CallGraph, machine: Machine, state: State, likeness: AmbiguityTable, problems: Problems
) -> None:
    if state.ask is None:
        return
    messages = flow.spec.messages
    answers = [name for name in state.answers.receive if name in messages and flow.role.name in messages[name].senders]
    for first, second in likeness.words.pairs(answers):
        if problems.is_full("A335"):
            problems.cut("A335", state.answers.receive[second].place)
            return
        both = likeness.both_fit(first, second)
        if both is not None and not likeness.is_narrower(first, second):
            text = f"the answers {first} and {second} can not be told apart: {_either(both)}"
            place = state.answers.receive[second].place
            spot = Location(flow.role.name, machine.name, state.name, (first, second), _shown(both))
            problems.add(place, "A335", text, "tell them apart by a fixed word, or ask two questions", spot)


def _shown(both: Overlap) -> str:
    text = str(both)
    return text if len(text) <= EXAMPLE_MAX else text[: EXAMPLE_MAX - 1] + "…"


def _either(both: Overlap) -> str:
    shown = _shown(both)
    return f"{shown} is either" if both.certain else f"that a value like {shown} is either could not be ruled out"


def check_urgent(spec: Spec, likeness: AmbiguityTable, problems: Problems) -> None:
    """A336: an urgent message has the shape of another that its sender may send."""
    for message in spec.messages.values():
        if not message.urgent:
            continue
        for other in spec.messages.values():
            if other.name == message.name or set(other.senders).isdisjoint(message.senders):
                continue
            if other.urgent and other.name < message.name:
                continue  # told the other way round
            if problems.is_full("A336"):
                problems.cut("A336", message.place)
                return
            both = likeness.both_fit(message.name, other.name)
            if both is not None:
                text = f"{message.name} is urgent, but not told apart from {other.name}: {_either(both)}"
                problems.add(message.place, "A336", text, "give it a shape of its own")
