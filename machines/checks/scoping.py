"""Checks of who may bind what: nothing hides anything, and no value is lost.

A303  a name that is seen everywhere is bound          A308  side by side, `as` binds what `run` reads
A304  a field would overwrite a parameter               A309  side by side, a name is bound in vain
A305  a field would overwrite a name of another type    A311  one name declared twice, in two kinds
A307  a layer writes what a running call will bind     A312  a sign-up's field that every peer has already
A313  a live value bound otherwise, or not on all ways  A318  an item of a list has another value's name
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from machines.analysis.call_graph import CallGraph, bound_on, lets, ways
from machines.analysis.scopes import BUILT_IN_VALUES, EVENT_NAMES, bindings, frame_names, global_names
from machines.analysis.traversal import all_branches, all_choices, all_steps, machine_expressions
from machines.expressions.unparse import names, walk
from machines.model import (
    Binding,
    Comprehension,
    Constant,
    Enumeration,
    Expression,
    Field,
    Handlers,
    Interval,
    Let,
    ListType,
    Machine,
    MapOf,
    Mapped,
    Name,
    Named,
    ObjectType,
    Pattern,
    Return,
    Role,
    Scalar,
    Spec,
    State,
    Stay,
    TupleType,
    Type,
    TypeDeclaration,
    Union,
)
from machines.problems import Place, Problems, Rename

PEER_FIELDS = frozenset({"number", "fields"})  # what a rule reads of any peer, see `machines.values.Peer`


def check_declared(spec: Spec, problems: Problems) -> None:
    """A311: two things that are seen everywhere have one name."""
    taken = dict.fromkeys((*BUILT_IN_VALUES, *EVENT_NAMES, "result"), "built in")
    partners = {target: "a role" for targets in spec.connects.values() for target in targets}
    for module, place in spec.rules:
        if module in taken:
            problems.add(place, "A311", f"the rules {module!r} would hide what is {taken[module]}", "rename the module")
        elif module in partners:
            text = f"the rules {module!r} would hide the role that is connected to"
            problems.add(place, "A311", text, "rename the role or the module")
    taken.update(partners)
    taken.update((module, "a module of rules") for module, _ in spec.rules)
    for setting in spec.settings.values():
        if setting.name in taken:
            text = f"the setting {setting.name!r} would hide what is {taken[setting.name]}"
            problems.add(setting.place, "A311", text, "rename the setting")


def check_bindings(flow: CallGraph, machine: Machine, problems: Problems) -> None:
    """Run the checks A303 to A309, A313 and A318 on one machine."""
    spec = flow.spec
    seen = global_names(spec, machine.role)
    _check_globals(machine, spec, seen, problems)
    _check_live(flow, machine, problems)
    _check_items(flow, machine, seen, problems)
    _check_fields(machine, spec, seen, problems)
    _check_layers(flow, machine, problems)
    for state in machine.states.values():
        if state.each is not None and state.each.parallel is not None:
            _check_parallel(state, spec, problems)


def check_fields(machine: Machine, role: Role, problems: Problems) -> None:
    """A312: a sign-up gives a field that every peer has already."""
    signs_up = any(
        state.accept is not None and state.accept.machine.path == machine.name
        for other in role.machines.values()
        for state in other.states.values()
    )
    named = [
        (binding.field, binding.place)
        for step in all_steps(machine)
        if isinstance(step, Let)
        for binding in step.bindings
        if binding.field is not None
    ]
    if signs_up:
        for _, choice in all_choices(machine):
            for branch in all_branches(choice):
                if isinstance(branch.next, Return) and isinstance(branch.next.value, Mapped):
                    named += [(name, value.place) for name, value in branch.next.value.items]
    for name, place in named:
        if name in PEER_FIELDS:
            problems.add(place, "A312", f"every peer has its own {name!r} already", "give the field another name")


def _check_globals(machine: Machine, spec: Spec, seen: Mapping[str, str], problems: Problems) -> None:
    """A303: a name is bound that is seen everywhere, or that events and calls bind."""
    hint = "choose another name"
    calls = any(state.run is not None and state.bindings for state in machine.states.values())
    for parameter in machine.parameters:
        if parameter in seen:
            text = f"{machine.name} takes a parameter {parameter!r}, which is {seen[parameter]}"
            problems.add(machine.place, "A303", text, hint)
        elif parameter == "result" and calls:
            text = f"{machine.name} takes a parameter 'result', which in 'as' is what the call returned"
            problems.add(machine.place, "A303", text, hint)
    fields = {place: event for event, place in _received(machine, spec)}
    for name, place in bindings(machine, spec):
        what = seen.get(name)
        if what is None and name == "peer":
            what = "bound by events"
        elif what is None and name == "result" and calls:
            what = "in 'as' what the call returned"
        if what is None:
            continue
        message = spec.messages.get(fields.get(place, ""))
        if message is not None and any(field.name == name for field in message.fields):
            text = f"the field {name!r} of {message.name} would be bound here, but {name!r} is {what}"
            problems.add(place, "A303", text, "rename the field, or what it hides")
        else:
            problems.add(place, "A303", f"{name!r} can not be bound: it is {what}", hint)


def _check_live(flow: CallGraph, machine: Machine, problems: Problems) -> None:
    """A313: a live value is bound by something else, or is not live on all ways to where it is used."""
    spec = flow.spec
    around = flow.live_somewhere[machine.name]
    own = {binding.target for binding in machine.live}
    hint = "choose another name; a live value is written by 'let' and 'as'"
    for binding in machine.live:
        if binding.target in around or binding.target in machine.parameters:
            problems.add(binding.place, "A313", f"{binding.target!r} is a value here already", hint)
    for parameter in machine.parameters:
        if parameter in around:
            text = f"{machine.name} takes a parameter {parameter!r}, which is a live value of a machine around it"
            problems.add(machine.place, "A313", text, hint)
    live = around | own
    for event, place in _received(machine, spec):
        for field in spec.messages[event].fields:
            if field.name in live:
                text = f"the field {field.name!r} of {event} would be bound here, but {field.name!r} is a live value"
                problems.add(place, "A313", text, "rename the field or the value")
    for state in machine.states.values():
        if state.each is not None and state.each.name in live:
            problems.add(state.each.place, "A313", f"{state.each.name!r} is a live value, no item", hint)
        if state.accept is not None and state.accept.name in live:
            problems.add(state.accept.place, "A313", f"{state.accept.name!r} is a live value", hint)
        if state.each is not None and state.each.parallel is not None:
            for binding in state.bindings:
                if binding.target in live:
                    text = f"side by side, 'as' may not bind the live value {binding.target!r}"
                    problems.add(binding.place, "A313", text, "bind another name, and 'let' it afterwards")
    some = around - flow.live[machine.name] - own
    if not flow.circle and some:
        used = {name.name: name.place for use in machine_expressions(machine, spec.messages) for name in names(use)}
        used.update((name, place) for name, place in bindings(machine, spec))
        for name in sorted(some & used.keys()):
            text = f"{name!r} is live around {machine.name} on some ways to it, not on all"
            problems.add(used[name], "A313", text, "let each machine that calls it have it, or pass it as a parameter")


def _check_items(flow: CallGraph, machine: Machine, seen: Mapping[str, str], problems: Problems) -> None:
    """A318: an item of a list that is made of another has the name of another value."""
    frame = {*frame_names(machine, flow.spec), *flow.live_somewhere[machine.name], *EVENT_NAMES, "result"}
    for whole in machine_expressions(machine, flow.spec.messages):
        for made in (part for part in walk(whole) if isinstance(part, Comprehension)):
            inner = (part for of in (made.value, made.condition) if of is not None for part in walk(of))
            item = made.item
            if any(isinstance(part, Comprehension) and part.item == item for part in inner):
                what = "an item of another list in it"
            elif item in seen or item in frame:
                what = seen.get(item, f"a value of {machine.name} already")
            else:
                continue
            new = next(name for name in ("one", f"one_{item}", "") if name not in seen and name not in frame)
            mends = (Rename(made.place, item, new),) if new and not _has(made, new) else ()
            text = f"'for' can not bind {item!r}: it is {what}"
            problems.add(made.place, "A318", text, "choose another name", mends=mends)


def _has(made: Comprehension, name: str) -> bool:
    """Whether a list made of another, or one in it, has a value or an item of this name."""
    return any(
        (isinstance(part, Comprehension) and part.item == name) or (isinstance(part, Name) and part.name == name)
        for part in walk(made)
    )


def _received(machine: Machine, spec: Spec) -> Iterator[tuple[str, Place]]:
    for answers in _all_answers(machine):
        for event, choice in answers.receive.items():
            if event in spec.messages:
                yield event, choice.place


def _all_answers(machine: Machine) -> Iterator[Handlers]:
    if machine.always is not None:
        yield machine.always.answers
    for state in machine.states.values():
        yield state.answers


def _check_fields(machine: Machine, spec: Spec, seen: Mapping[str, str], problems: Problems) -> None:
    """A304: a field would overwrite a parameter.

    A305: a field would overwrite a name that holds another type.
    """
    first: dict[str, tuple[str, Field]] = {}
    literals: dict[str, Binding] = {}
    for binding in _literal_lets(machine):
        literals.setdefault(binding.target, binding)
    for event, place in _received(machine, spec):
        for field in spec.messages[event].fields:
            if field.name in machine.parameters and field.name not in seen:
                text = f"the field {field.name!r} of {event} would overwrite the parameter {field.name!r}"
                problems.add(place, "A304", text, f"rename the parameter of {machine.name}, or the field")
                continue
            earlier = first.setdefault(field.name, (event, field))
            if not same_type(field.type, earlier[1].type, spec.types):
                what = f"the field {field.name!r}"
                text = f"{what} of {event} has another type than {what} of {earlier[0]}"
                problems.add(place, "A305", text, "rename one of the fields, or receive them in different machines")
            literal = literals.get(field.name)
            if literal is not None and not _may_hold(field.type, literal.value, spec.types):
                text = f"the field {field.name!r} of {event} has another type than the value bound in line"
                line = literal.place.line
                problems.add(place, "A305", f"{text} {line}", "rename the field or the name; null goes with any type")


def _literal_lets(machine: Machine) -> Iterator[Binding]:
    for step in all_steps(machine):
        if isinstance(step, Let):
            for binding in step.bindings:
                if binding.field is None and isinstance(binding.value, Constant) and binding.value.value is not None:
                    yield binding


def _check_layers(flow: CallGraph, machine: Machine, problems: Problems) -> None:
    """A307: a layer writes what a running call will bind."""
    calling = [state for state in machine.states.values() if state.run is not None and flow.waits_in(state)]
    for state in calling:
        will: dict[str, str] = {binding.target: "the call's 'as' will bind" for binding in state.bindings}
        if state.each is not None:
            will.setdefault(state.each.name, "the loop binds to its item")
        layers = [state.answers, *([machine.always.answers] if machine.always is not None else [])]
        for answers in layers:
            for event, choice in answers.choices():
                message = flow.spec.messages.get(event)
                for way in ways(choice):
                    if not isinstance(way.end, Stay):
                        continue
                    written = [(name, branch.place) for name, branch in bound_on(way)]
                    if message is not None:
                        written += [(field.name, choice.place) for field in message.fields]
                    for name, place in written:
                        if name in will:
                            text = f"{name!r} is written here and lost: {will[name]} it, in the state {state.name!r}"
                            hint = "leave the call with 'then: STATE', or bind another name and fold it in afterwards"
                            problems.add(place, "A307", text, hint)


def _check_parallel(state: State, spec: Spec, problems: Problems) -> None:
    """A308: side by side, 'as' binds what 'run' reads.

    A309: side by side, a name is bound in vain.
    """
    assert state.each is not None, "only a loop has items side by side"
    read: dict[str, None] = {}
    for argument in (state.run.arguments or ()) if state.run is not None else ():
        read.update((name.name, None) for name in names(argument))
    for binding in state.bindings:
        if binding.target in read:
            text = f"'as' binds {binding.target!r}, which 'run' reads: side by side there is no next item to read it"
            hint = "bind what is made of all results: as: {cup: tournament.add(cup, result)}"
            problems.add(binding.place, "A308", text, hint)
    for step in state.steps:
        if isinstance(step, Let):
            text = f"'let' side by side binds {next(lets((step,)), '')!r} for one item alone"
            problems.add(step.place, "A309", text, "bind it before the loop, or pass the value to 'run' as it is")
    sees: list[Expression] = [*(state.run.arguments or ())] if state.run is not None else []
    if state.each.guard is not None:
        sees.append(state.each.guard)
    shared = {name.name for expression in sees for name in names(expression)} - {state.each.name}
    for event, choice in state.answers.choices():
        message = spec.messages.get(event)
        for way in ways(choice):
            if not isinstance(way.end, Stay):
                continue
            written = {name: branch.place for name, branch in bound_on(way)}
            if message is not None:
                written.update((field.name, choice.place) for field in message.fields)
            for name in sorted(shared & written.keys()):
                text = f"{name!r} is bound here, but items that start later see it as it was before the loop"
                problems.add(written[name], "A309", text, "leave the state, or bind another name")


# -- types -----------------------------------------------------------------------------------------------------------


def same_type(a: Type, b: Type, types: Mapping[str, TypeDeclaration]) -> bool:
    """Whether two types have the same values, null aside; declared types count as what they stand for."""
    return _Sameness(types, set()).same(a, b)


@dataclass(slots=True)
class _Sameness:
    types: Mapping[str, TypeDeclaration]
    assumed: set[tuple[str, str]]

    def members(self, type_: Type) -> tuple[Type, ...]:
        """Return what a type is one of, null aside, with declared names replaced by their types."""
        depth = 0
        while isinstance(type_, Named) and type_.name in self.types and depth <= len(self.types):
            type_ = self.types[type_.name].type
            depth += 1
        if isinstance(type_, Union):
            return tuple(inner for member in type_.members for inner in self.members(member))
        return () if type_ == Scalar("null") else (type_,)

    def same(self, a: Type, b: Type) -> bool:
        if isinstance(a, Named) and isinstance(b, Named):
            if a.name == b.name or (a.name, b.name) in self.assumed:
                return True
            self.assumed.add((a.name, b.name))
        left, right = self.members(a), self.members(b)
        return all(any(self.alike(x, y) for y in right) for x in left) and all(
            any(self.alike(x, y) for x in left) for y in right
        )

    def alike(self, a: Type, b: Type) -> bool:
        match a, b:
            case TupleType(left), TupleType(right):
                return len(left) == len(right) and all(map(self.same, left, right))
            case ListType(), ListType():
                return (a.low, a.high) == (b.low, b.high) and self.same(a.item, b.item)
            case ObjectType(left_fields), ObjectType(right_fields):
                others = {field.name: field for field in right_fields}
                return len(left_fields) == len(right_fields) and all(
                    field.name in others and self.same(field.type, others[field.name].type) for field in left_fields
                )
            case MapOf(), MapOf():
                return self.same(a.key, b.key) and self.same(a.value, b.value)
            case _:
                return a == b


def _may_hold(type_: Type, value: Expression, types: Mapping[str, TypeDeclaration]) -> bool:
    """Whether a literal is of the kind that a type has: a text, a number, a boolean."""
    assert isinstance(value, Constant), "only a literal has a type of its own"
    literal = value.value
    for member in _Sameness(types, set()).members(type_):
        match member:
            case Scalar("any"):
                return True
            case Scalar("bool"):
                fits = isinstance(literal, bool)
            case Scalar("int") | Interval():
                fits = isinstance(literal, int) and not isinstance(literal, bool)
            case Scalar("number"):
                fits = isinstance(literal, int | float) and not isinstance(literal, bool)
            case Scalar("string") | Pattern():
                fits = isinstance(literal, str)
            case Enumeration(values):
                fits = any(type(literal) is type(one) for one in values)
            case _:
                fits = False
        if fits:
            return True
    return False
