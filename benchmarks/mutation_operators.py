"""Faults put into a spec that is right, one at a time: `mutants` makes them, on the model and from a seed.

A mutant changes one role. Where a message is changed, that role alone has it so; the others keep the spec as it was.
A way to change is an operator of `OPERATORS`; each says in a few words what it does, and its mutants say where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import chain, pairwise
from random import Random
from typing import Any, Final

from machines.checks.reachability import is_never
from machines.expressions.unparse import show
from machines.model import (
    Always,
    Binary,
    Body,
    BodyList,
    BodyMap,
    Branch,
    Call,
    Choice,
    Constant,
    DropPeers,
    Each,
    Enumeration,
    Expression,
    Field,
    Goto,
    Handlers,
    Interval,
    Item,
    ListType,
    LiteralBody,
    Machine,
    MapOf,
    Message,
    Name,
    Named,
    ObjectType,
    Pattern,
    Return,
    Role,
    Scalar,
    SendMessages,
    Spec,
    State,
    Stay,
    Text,
    TupleType,
    Type,
    Unary,
    Union,
)
from machines.model import Sequence as Listed
from machines.problems import Place

Rebuild = Callable[[Any], Any]
_FAULTS: Final = ("timeout", "invalid", "closed", "failed")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A spec with one fault: which operator put it there, in which role, where and how.

    ``spec`` has the fault in ``role``; the other roles run the spec that it was made from.
    """

    operator: str
    role: str
    where: str
    what: str
    spec: Spec

    def __str__(self) -> str:
        return f"{self.operator}: {self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Site:
    """A part of a machine: ``name`` is the field that has it, ``rebuild`` makes the machine with another in place."""

    value: Any
    name: str
    state: State | None
    event: str
    rebuild: Rebuild


@dataclass(frozen=True, slots=True)
class _Scene:
    """What an operator may ask: which spec, role and machine; ``chance`` for what is one of many."""

    spec: Spec
    role: Role
    machine: Machine
    chance: Random

    def groups(self) -> set[str]:
        """The names that stand for several peers: those that are seated, and those gone through one by one."""
        states = [state for machine in self.role.machines.values() for state in machine.states.values()]
        seated = {state.accept.name for state in states if state.accept is not None}
        return seated | {
            state.each.items.name for state in states if state.each is not None and isinstance(state.each.items, Name)
        }


def sites(machine: Machine) -> Iterator[Site]:
    """Yield every part of a machine, the outer before the inner."""
    yield from _below(machine, "", None, "", lambda new: new)


def _below(value: Any, name: str, state: State | None, event: str, rebuild: Rebuild) -> Iterator[Site]:
    if isinstance(value, State):
        state = value
    yield Site(value, name, state, event, rebuild)
    if isinstance(value, tuple):
        for at, one in enumerate(value):
            yield from _below(one, name, state, event, _in_tuple(rebuild, value, at))
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _below(one, name, state, str(key) if name == "receive" else event, _in_map(rebuild, value, key))
    elif is_dataclass(value) and not isinstance(value, Place):
        for field in fields(value):
            inner = getattr(value, field.name)
            same = _written_as(value, field.name)
            if same and same[0] != field.name:
                continue
            if isinstance(inner, tuple | Mapping) or is_dataclass(inner):
                inside = f".{field.name}" if isinstance(value, Handlers) and field.name != "receive" else event
                yield from _below(inner, field.name, state, inside, _in_fields(rebuild, value, same or [field.name]))


def _in_tuple(rebuild: Rebuild, whole: tuple[Any, ...], at: int) -> Rebuild:
    return lambda new: rebuild((*whole[:at], new, *whole[at + 1 :]))


def _in_map(rebuild: Rebuild, whole: Mapping[Any, Any], key: Any) -> Rebuild:
    return lambda new: rebuild({**whole, key: new})


def _in_fields(rebuild: Rebuild, whole: Any, names: Sequence[str]) -> Rebuild:
    return lambda new: rebuild(replace(whole, **dict.fromkeys(names, new)))


def _written_as(value: Any, name: str) -> list[str]:
    """Return the events that one ``fault`` of the file stands for, this one among them."""
    choice = getattr(value, name) if isinstance(value, Handlers) and name in _FAULTS else None
    return [event for event in _FAULTS if choice is not None and getattr(value, event) == choice]


# -- operators on a part of a machine ----------------------------------------------------------------------------------

Change = tuple[str, Any]  # what is done, and the part as it is then


def _drop_transition(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, Handlers):
        for name in site.value.receive:
            left = {other: choice for other, choice in site.value.receive.items() if other != name}
            yield f"{name} is not read", replace(site.value, receive=left)


def _drop_timeout(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, Handlers) and site.value.timeout is not None:
        yield "no answer to timeout", replace(site.value, timeout=None)


def _drop_fault(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, Handlers):
        there = [event for event in ("invalid", "closed", "failed") if getattr(site.value, event) is not None]
        for event in there:
            yield f"no answer to {event}", replace(site.value, **{event: None})  # type: ignore[arg-type]
        if len(there) > 1:
            yield "no answer to any fault", replace(site.value, invalid=None, closed=None, failed=None, timeout=None)


def _drop_within(site: Site, scene: _Scene) -> Iterator[Change]:
    behind = scene.machine.always.within if scene.machine.always is not None else None
    within = site.value.within if isinstance(site.value, State | Always) else None
    if within is None or is_never(within):
        return  # without a limit there would be none either
    if isinstance(site.value, State) and behind is not None and show(within) == show(behind):
        return  # the one of 'always' stands there then
    if isinstance(site.value, State | Always):
        yield "no 'within'", replace(site.value, within=None, answers=replace(site.value.answers, timeout=None))


def _drop_send(site: Site, scene: _Scene) -> Iterator[Change]:
    for at, step in _steps(site):
        if isinstance(step, SendMessages) and not _to_many(step, scene):
            yield f"{_told(step)} is not sent", site.value[:at] + site.value[at + 1 :]
    if isinstance(site.value, SendMessages) and len(site.value.messages) > 1:
        for at, call in enumerate(site.value.messages):
            left = site.value.messages[:at] + site.value.messages[at + 1 :]
            yield f"{call.path} is not sent", replace(site.value, messages=left)


def _drop_broadcast(site: Site, scene: _Scene) -> Iterator[Change]:
    for at, step in _steps(site):
        if isinstance(step, SendMessages) and _to_many(step, scene):
            yield f"{_told(step)} is sent to nobody", site.value[:at] + site.value[at + 1 :]


def _send_to_one(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, SendMessages) and site.value.receivers is not None and _to_many(site.value, scene):
        yield f"{_told(site.value)} is sent to the first", replace(site.value, receivers=_first(site.value.receivers))
    each = site.value
    if isinstance(each, Each) and isinstance(each.items, Name) and each.items.name in scene.groups():
        only = Listed((_first(each.items),), each.place)
        yield f"only for the first of {each.items.name}", replace(each, items=only)


def _guard(site: Site, scene: _Scene, change: Callable[[Expression], Iterator[tuple[str, Expression | None]]]) -> Any:
    if isinstance(site.value, Branch | Each) and site.value.guard is not None:
        for what, guard in change(site.value.guard):
            yield what, replace(site.value, guard=guard)


def _negate_guard(site: Site, scene: _Scene) -> Iterator[Change]:
    yield from _guard(site, scene, lambda guard: iter([("'if' negated", Unary("not", guard, guard.place))]))


def _drop_guard(site: Site, scene: _Scene) -> Iterator[Change]:
    yield from _guard(site, scene, lambda guard: iter([("no 'if'", None)]))


def _widen_guard(site: Site, scene: _Scene) -> Iterator[Change]:
    def widened(guard: Expression) -> Iterator[tuple[str, Expression | None]]:
        if isinstance(guard, Binary) and guard.operator == "and":
            yield "'if' without what is behind 'and'", guard.left
            yield "'if' without what is before 'and'", guard.right
        else:
            wider = {"<": "<=", ">": ">=", "==": "<=", "<=": "!=", ">=": "!="}
            if isinstance(guard, Binary) and guard.operator in wider:
                new = wider[guard.operator]
                if guard.operator == "==" and isinstance(guard.left, Call) and guard.left.path == "len":
                    return  # a length is never below 0, which is what the specs compare with
                if guard.operator != "==" or (isinstance(guard.right, Constant) and isinstance(guard.right.value, int)):
                    yield f"{guard.operator} is {new}", replace(guard, operator=new)

    yield from _guard(site, scene, widened)


def _other_state(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, Goto):
        others = [name for name in scene.machine.states if name != site.value.state]
        if others:
            state = scene.chance.choice(others)
            yield f"to {state}, not {site.value.state}", replace(site.value, state=state)
    elif isinstance(site.value, Stay):
        yield "to the first state, no 'stay'", Goto(next(iter(scene.machine.states)), site.value.place)


def _return_early(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, Goto):
        yield f"returns, no {site.value.state}", Return(Constant(None, site.value.place), site.value.place)


def _never_return(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, Return):
        first = next(iter(scene.machine.states))
        yield f"to {first} again, no return", Goto(first, site.value.place)


def _swap_sends(site: Site, scene: _Scene) -> Iterator[Change]:
    sends = [at for at, step in _steps(site) if isinstance(step, SendMessages)]
    for one, other in pairwise(sends):
        steps = list(site.value)
        steps[one], steps[other] = steps[other], steps[one]
        yield f"{_told(steps[one])} before {_told(steps[other])}", tuple(steps)
    if isinstance(site.value, SendMessages) and len(site.value.messages) > 1:
        first, second, *rest = site.value.messages
        yield f"{second.path} before {first.path}", replace(site.value, messages=(second, first, *rest))


def _send_twice(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, SendMessages):
        first = site.value.messages[0]
        yield f"{first.path} twice", replace(site.value, messages=(first, *site.value.messages))


def _drop_drop(site: Site, scene: _Scene) -> Iterator[Change]:
    for at, step in _steps(site):
        if isinstance(step, DropPeers):
            yield "no 'drop'", site.value[:at] + site.value[at + 1 :]


def _send_other(site: Site, scene: _Scene) -> Iterator[Change]:
    if not isinstance(site.value, SendMessages):
        return
    for at, call in enumerate(site.value.messages):
        given = len(call.arguments) if call.arguments is not None else None
        fields = len(scene.spec.messages[call.path].fields)
        may = [
            message
            for message in scene.spec.messages.values()
            if scene.role.name in message.senders and message.name != call.path
            if len(message.fields) == (fields if given is None else given) or not message.fields
        ]
        if may:
            other = scene.chance.choice(may)
            arguments = call.arguments if other.fields else None
            new = replace(call, path=other.name, arguments=arguments)
            messages = (*site.value.messages[:at], new, *site.value.messages[at + 1 :])
            yield f"{other.name} is sent, not {call.path}", replace(site.value, messages=messages)


def _read_other(site: Site, scene: _Scene) -> Iterator[Change]:
    if not isinstance(site.value, Handlers):
        return
    receive = site.value.receive
    for name in receive:
        senders = set(scene.spec.messages[name].senders)
        may = [one.name for one in scene.spec.heard_by(scene.role.name) if senders & set(one.senders)]
        may = [one for one in may if one not in receive]
        if may:
            other = scene.chance.choice(may)
            yield (
                f"{other} is read, not {name}",
                replace(site.value, receive={other if key == name else key: value for key, value in receive.items()}),
            )


def _swap_branches(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, Choice) and len(site.value.branches) > 1:
        first, second, *rest = site.value.branches
        if _exclude(first.guard, second.guard) or _exclude(second.guard, first.guard):
            return  # one of them at most may be taken
        yield "the second branch first", replace(site.value, branches=(second, first, *rest))


def _exclude(one: Expression | None, other: Expression | None) -> bool:
    """Whether one of the conditions that the other asks for is that the first does not hold."""
    if one is None or other is None:
        return False
    if isinstance(other, Binary) and other.operator == "and":
        return _exclude(one, other.left) or _exclude(one, other.right)
    return isinstance(other, Unary) and other.operator == "not" and show(other.operand) == show(one)


def _drop_early(site: Site, scene: _Scene) -> Iterator[Change]:
    if isinstance(site.value, State | Machine) and site.value.early is not None:
        yield f"no 'early: {site.value.early}'", replace(site.value, early=None)


Operator = Callable[[Site, _Scene], Iterator[Change]]

IN_MACHINES: Final[Mapping[str, Operator]] = {
    "drop a transition": _drop_transition,
    "drop a timeout": _drop_timeout,
    "drop a fault": _drop_fault,
    "drop 'within'": _drop_within,
    "drop a send": _drop_send,
    "drop a broadcast": _drop_broadcast,
    "broadcast to one": _send_to_one,
    "negate a guard": _negate_guard,
    "drop a guard": _drop_guard,
    "widen a guard": _widen_guard,
    "another state": _other_state,
    "return early": _return_early,
    "never return": _never_return,
    "swap sends": _swap_sends,
    "send twice": _send_twice,
    "drop a 'drop'": _drop_drop,
    "send another": _send_other,
    "read another": _read_other,
    "swap branches": _swap_branches,
    "drop 'early'": _drop_early,
}


def _steps(site: Site) -> Iterator[tuple[int, Any]]:
    if site.name == "steps" and isinstance(site.value, tuple):
        yield from enumerate(site.value)


def _to_many(send: SendMessages, scene: _Scene) -> bool:
    return isinstance(send.receivers, Name) and send.receivers.name in scene.groups()


def _first(peers: Expression) -> Expression:
    return Item(peers, Constant(0, peers.place), peers.place)


def _told(send: SendMessages) -> str:
    return " and ".join(call.path for call in send.messages)


# -- operators on a message, for one role only -------------------------------------------------------------------------


def _renamed(body: Body) -> Body | None:
    """Return a body with its first literal text or number another; None if it has none."""
    match body:
        case LiteralBody(str(value)):
            return LiteralBody(value + "x")
        case LiteralBody(bool(value)):
            return LiteralBody(not value)
        case LiteralBody(int(value)):
            return LiteralBody(value + 1)
        case Text(parts):
            at = next((at for at, part in enumerate(parts) if isinstance(part, str) and part), None)
            return Text((*parts[:at], f"x{parts[at]}", *parts[at + 1 :])) if at is not None else None
        case BodyList(items):
            for at, item in enumerate(items):
                if (new := _renamed(item)) is not None:
                    return BodyList((*items[:at], new, *items[at + 1 :]))
        case BodyMap(pairs):
            for at, (key, item) in enumerate(pairs):
                if (new := _renamed(item)) is not None:
                    return BodyMap((*pairs[:at], (key, new), *pairs[at + 1 :]))
    return None


def _other_type(spec: Spec, wanted: Type) -> Type | None:
    """Return a type that no value of ``wanted`` has; None for one that takes everything."""
    match wanted:
        case Named(name):
            return _other_type(spec, spec.types[name].type)
        case Enumeration(values) if all(isinstance(value, str) for value in values):
            return Enumeration(("nothing-of-it",))
        case Interval() | Scalar("int" | "number") | Enumeration():
            return Pattern("[A-Z]{3}")
        case Pattern() | Scalar("string"):
            return Interval(0, 9)
        case Union(members) if any(_other_type(spec, member) == Pattern("[A-Z]{3}") for member in members):
            return Scalar("bool")
        case Union() | TupleType() | ListType() | ObjectType() | MapOf() | Scalar("null"):
            return Interval(0, 9)
        case Scalar("bool"):
            return Pattern("[A-Z]{3}")
    return None


def _retyped(spec: Spec, body: Body, wanted: str) -> Body:
    match body:
        case Field(name) if name == wanted:
            return replace(body, type=_other_type(spec, body.type) or body.type)
        case Text(parts):
            new = [_retyped(spec, part, wanted) if isinstance(part, Field) else part for part in parts]
            return Text(tuple(new))  # type: ignore[arg-type]  # a field stays one
        case BodyList(items):
            return BodyList(tuple(_retyped(spec, item, wanted) for item in items))
        case BodyMap(pairs):
            return BodyMap(tuple((key, _retyped(spec, item, wanted)) for key, item in pairs))
    return body


def _of_messages(spec: Spec) -> Iterator[tuple[str, str, Message, str]]:
    """Yield (operator, role, the message as that role alone has it, what is other)."""
    for message in spec.messages.values():
        who = set(message.senders).union(*[spec.peers_of(sender) for sender in message.senders])
        for role in spec.roles:
            if role not in who:
                continue
            renamed = _renamed(message.body)
            if renamed is None and spec.wire.framing != "text":
                renamed = BodyList((message.body,))
            if renamed is not None:
                yield "rename a message", role, replace(message, body=renamed, also=()), "has another shape"
            for field in message.fields:
                if _other_type(spec, field.type) is not None:
                    body = _retyped(spec, message.body, field.name)
                    yield "swap a type", role, replace(message, body=body, also=()), f"${field.name} has another type"
            if message.urgent:
                yield "drop 'urgent'", role, replace(message, urgent=False), "is not urgent"


OPERATORS: Final = (*IN_MACHINES, "rename a message", "swap a type", "drop 'urgent'")


def mutants(spec: Spec, seed: int = 0, most: int | None = None) -> list[Mutant]:
    """Return the mutants of a spec, by operator; the same seed makes the same ones.

    ``most`` takes so many of them, of each operator in turn one, so that rare operators are not left out.
    """
    by_operator: dict[str, list[Mutant]] = {operator: [] for operator in OPERATORS}
    chance = Random(f"mutants {seed}")
    for role in spec.roles.values():
        for machine in role.machines.values():
            scene = _Scene(spec, role, machine, chance)
            for site in sites(machine):
                for operator, change in IN_MACHINES.items():
                    for what, new in change(site, scene):
                        changed = _with_machine(spec, role, site.rebuild(new))
                        inner = f".{site.state.name}" if site.state is not None else ""
                        where = f"{role.name}.{machine.name}{inner}"
                        event = f" ({site.event})" if site.event else ""
                        by_operator[operator].append(Mutant(operator, role.name, where + event, what, changed))
        if role.early is not None:
            early = replace(spec, roles={**spec.roles, role.name: replace(role, early=None)})
            by_operator["drop 'early'"].append(Mutant("drop 'early'", role.name, role.name, "no 'early'", early))
        if spec.wire.early != "keep":
            early = replace(spec, wire=replace(spec.wire, early="keep"))
            by_operator["drop 'early'"].append(Mutant("drop 'early'", role.name, "wire", "no 'early'", early))
    for operator, role_name, message, what in _of_messages(spec):
        messages = {**spec.messages, message.name: message}
        where = f"{role_name}: {message.name}"
        by_operator[operator].append(Mutant(operator, role_name, where, what, replace(spec, messages=messages)))
    for of_one in by_operator.values():
        chance.shuffle(of_one)
    return _in_turn(list(by_operator.values()), most)


def _in_turn(lists: Sequence[list[Mutant]], most: int | None) -> list[Mutant]:
    rounds = max((len(one) for one in lists), default=0)
    turns = chain.from_iterable([one[at] for one in lists if at < len(one)] for at in range(rounds))
    taken = list(turns)[:most]
    return sorted(taken, key=lambda mutant: OPERATORS.index(mutant.operator))


def _with_machine(spec: Spec, role: Role, machine: Machine) -> Spec:
    machines = {**role.machines, machine.name: machine}
    return replace(spec, roles={**spec.roles, role.name: replace(role, machines=machines)})
