"""What the exploration needs to know of a role before it runs: which fields decide, which names still matter.

A name that nothing reads any more would only tell apart what is alike, so it is forgotten when a machine comes to rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from machines.analysis.call_graph import CallGraph, kind
from machines.analysis.reachable_calls import Asking
from machines.analysis.scopes import frame_names
from machines.analysis.traversal import all_branches, all_steps
from machines.expressions.unparse import names, walk
from machines.model import (
    Attribute,
    Binary,
    Branch,
    Call,
    Choice,
    Constant,
    Drop,
    Enumeration,
    Expression,
    Goto,
    Handlers,
    Interval,
    Let,
    Machine,
    Name,
    Named,
    Pattern,
    Return,
    Role,
    Scalar,
    Send,
    Spec,
    State,
    Step,
    Type,
    Unary,
)
from machines.verification.abstract.domain import FALSE, TRUE, Flag, OtherThan, Value, lifted
from machines.verification.abstract.limits import counters
from machines.verification.abstract.questions import QuestionTable
from machines.verification.contracts import Contract

TRACKED_MAX = 4  # of one field: so many values are told apart where conditions ask for them
PEERS = ".peers"  # a name of main: who was seated, each with the fields of its sign-up that conditions ask for
Names = frozenset[str]
_NONE: Names = frozenset()
_OF_EVENT: dict[str, Names] = {
    ".timeout": frozenset({"peer", "reason"}),
    ".invalid": frozenset({"peer", "reason"}),
    ".closed": frozenset({"peer", "reason"}),
    ".connected": frozenset({"peer"}),
    ".seated": frozenset({"peer"}),
}


class MachineOutline:
    """One machine: its names, and for each state those that are still read while it rests there."""

    def __init__(self, machine: Machine, spec: Spec, around: Names = _NONE, *, seats: bool = False) -> None:
        self.machine = machine
        self.around = around  # the live values of machines around it: what they are is kept there
        self.live = frozenset(binding.target for binding in machine.live)
        self.name = machine.name
        self.states = machine.states
        self.first = next(iter(machine.states))
        self.always = machine.always
        listed = list(frame_names(machine, spec, around))
        for name in ("result", "peer", "reason"):
            if name not in listed:
                listed.append(name)
        if seats:
            listed.append(PEERS)
        self.counters = counters(machine, spec)
        listed.extend(dict.fromkeys(self.counters.values()))
        self.names = tuple(listed)
        self.index = {name: at for at, name in enumerate(self.names)}
        self.counted = tuple(self.index[name] for name in dict.fromkeys(self.counters.values()))
        live = _Liveness(machine, spec)
        live.solve()
        self.kept = self._flags(live.rest)
        self.entered = self._flags(live.entry)

    def _flags(self, found: Mapping[str, Names]) -> dict[str, tuple[bool, ...]]:
        # Of live values it is others who read and write them.
        always = self.live | {PEERS, *self.counters.values()}
        return {state: tuple(name in names or name in always for name in self.names) for state, names in found.items()}


class RoleOutline:
    """One role of a spec. ``spec`` may be another version than the other end's (`verification.compatibility`).

    Without ``counts_questions`` messages are as they stand on the wire: nothing says which question one answers.
    """

    def __init__(
        self, spec: Spec, role: str, contracts: Mapping[str, Contract], *, counts_questions: bool = True
    ) -> None:
        self.spec = spec
        self.role: Role = spec.roles[role]
        self.name = role
        self.contracts = contracts
        self.connects = tuple(spec.connects.get(role, ()))
        self.callers = tuple(caller for caller, targets in spec.connects.items() if role in targets)
        main = self.role.machines["main"]
        self.per_connection = bool(main.parameters)
        self.one_partner = (len(self.connects) == 1 and not self.callers) or (self.per_connection and not self.connects)
        self.settings: dict[str, Value] = {name: lifted(setting.value) for name, setting in spec.settings.items()}
        around: Mapping[str, Names] = {}
        if any(machine.live for machine in self.role.machines.values()):
            around = CallGraph(spec, self.role).live_somewhere
        self.asked_of_peers = fields_asked_of_peers(self.role)
        self.questions = QuestionTable(spec, role, counts=counts_questions)
        self.machines = {
            name: MachineOutline(
                machine,
                spec,
                around.get(name, _NONE),
                seats=name == "main" and bool(self.asked_of_peers or self.questions),
            )
            for name, machine in self.role.machines.items()
        }
        self.tracked = tracked_fields(spec)
        self.idle = idle_arguments(self.role, spec, self.tracked)
        self.asking = Asking(self.role.machines, spec.messages, self.idle)
        self.parting = frozenset(path for path, one in contracts.items() if one.kind in ("some", "others"))
        self.asks_gone = "gone" in {call for machine in self.role.machines.values() for call in _paths(machine, spec)}

    def senders(self, seat: int) -> tuple[str, ...]:
        """Return the roles that a seat may have: the one we connected to, or any that connects to us."""
        return (self.connects[seat],) if seat < len(self.connects) else self.callers


def fields_asked_of_peers(role: Role) -> Names:
    """Return the fields that conditions of a role ask for, of whatever value; none if it seats nobody."""
    if all(state.accept is None for machine in role.machines.values() for state in machine.states.values()):
        return _NONE
    return frozenset(
        part.name
        for machine in role.machines.values()
        for condition in _conditions(machine)
        for part in walk(condition)
        if isinstance(part, Attribute)
    )


def is_never_null(type_: Type, spec: Spec) -> bool:
    """Whether a value of a type is surely not null; False where that is not plain to see."""
    match type_:
        case Scalar(kind):
            return kind not in ("null", "any")
        case Interval() | Pattern():
            return True
        case Enumeration(values):
            return None not in values
        case Named(name) if name in spec.types:
            return is_never_null(spec.types[name].type, spec)
    return False


def tracked_fields(spec: Spec) -> dict[str, dict[str, tuple[Value, ...]]]:
    """Return the fields whose values are told apart, by message: booleans and short enumerations that are asked for."""
    found: dict[str, dict[str, tuple[Value, ...]]] = {name: {} for name in spec.messages}
    for role in spec.roles.values():
        asked: dict[str, list[Value]] = {}
        for machine in role.machines.values():
            for condition in _conditions(machine):
                for name, value in _asked(condition):
                    asked.setdefault(name, []).append(value)
        for machine in role.machines.values():
            for listed in _listed(machine):
                for field in spec.messages[listed].fields if listed in spec.messages else ():
                    if field.name in asked:
                        found[listed][field.name] = _told_apart(field.type, asked[field.name], spec)
    return {message: {field: values for field, values in fields.items() if values} for message, fields in found.items()}


def idle_arguments(role: Role, spec: Spec, tracked: Mapping[str, object]) -> frozenset[int]:
    """Return the ids of those arguments of messages that need no value.

    Nobody asks for what such a message carries, and they have a value whatever the data. So what a rule would answer
    there makes no difference to any run, and which of its answers it was need not be told apart.
    """
    return frozenset(
        id(argument)
        for machine in role.machines.values()
        for step in all_steps(machine)
        if isinstance(step, Send)
        for message in step.messages
        if not tracked.get(message.path)
        for argument in message.arguments or ()
        if _has_value(argument)
    )


def _has_value(expression: Expression) -> bool:
    """Whether an expression surely has a value."""
    match expression:
        case Name() | Constant():
            return True
        case Call(_, arguments):
            return all(map(_has_value, arguments or ()))
        case Binary("==" | "!=" | "in", left, right):
            return _has_value(left) and _has_value(right)
    return False


def _told_apart(type_: Type, asked: list[Value], spec: Spec) -> tuple[Value, ...]:
    """Return the values that somebody asks for, and one that stands for all others."""
    if _is_boolean(type_, spec):
        return (TRUE, FALSE)
    named = tuple(dict.fromkeys(value for value in asked if not isinstance(value, Flag)))
    return (*named, OtherThan(named)) if 0 < len(named) <= TRACKED_MAX else ()


def _listed(machine: Machine) -> Iterator[str]:
    if machine.always is not None:
        yield from machine.always.answers.receive
    for state in machine.states.values():
        yield from state.answers.receive


def _asked(condition: Expression) -> Iterator[tuple[str, Value]]:
    """Yield the names whose value a condition compares with a constant, or takes as true or false; and that value."""
    match condition:
        case Name(name):
            yield name, TRUE
        case Unary("not", operand):
            yield from _asked(operand)
        case Binary("and" | "or", left, right):
            yield from _asked(left)
            yield from _asked(right)
        case Binary("==" | "!=", Name(name), Constant(value)) | Binary("==" | "!=", Constant(value), Name(name)):
            yield name, lifted(value)


def _is_boolean(type_: Type, spec: Spec) -> bool:
    match type_:
        case Scalar("bool"):
            return True
        case Named(name) if name in spec.types:
            return _is_boolean(spec.types[name].type, spec)
    return False


def _conditions(machine: Machine) -> Iterator[Expression]:
    for choice in _choices(machine):
        for branch in all_branches(choice):
            if branch.guard is not None:
                yield branch.guard
    for state in machine.states.values():
        if state.each is not None:
            yield from (one for one in (state.each.guard, state.each.until) if one is not None)


def _choices(machine: Machine) -> Iterator[Choice]:
    if machine.always is not None:
        yield from (choice for _, choice in machine.always.answers.choices())
    for state in machine.states.values():
        yield from (choice for _, choice in state.answers.choices())
        if state.then is not None:
            yield state.then


def _paths(machine: Machine, spec: Spec) -> Iterator[str]:
    from machines.analysis.traversal import machine_expressions
    from machines.expressions.unparse import calls

    for expression in machine_expressions(machine, spec.messages):
        yield from (call.path for call in calls(expression))


# -- which names still matter ----------------------------------------------------------------------------------------


class _Liveness:
    """The names of a machine that are read after it has come to rest in a state, state by state."""

    def __init__(self, machine: Machine, spec: Spec) -> None:
        self.machine = machine
        self.messages = spec.messages
        self.role = machine.role
        self.entry: dict[str, Names] = dict.fromkeys(machine.states, _NONE)
        self.rest: dict[str, Names] = dict.fromkeys(machine.states, _NONE)

    def solve(self) -> None:
        """Go round until nothing changes."""
        changed = True
        while changed:
            changed = False
            for state in reversed(tuple(self.machine.states.values())):
                rest, entry = self._state(state)
                changed = changed or rest != self.rest[state.name] or entry != self.entry[state.name]
                self.rest[state.name], self.entry[state.name] = rest, entry

    def _state(self, state: State) -> tuple[Names, Names]:
        """Return the names read after the state was entered, and those read from before its steps on."""
        then = self._choice(state.then, state) if state.then is not None else _NONE
        rest = self._answers(state.answers, state) | _read(state.awaits)
        if self.machine.always is not None:
            rest |= self._answers(self.machine.always.answers, state) | _read(self.machine.always.awaits)
            rest |= _read(self.machine.always.within)
        match kind(state):
            case "wait":
                before = rest | _read(state.within)
                if state.ask is not None:
                    before |= _reads(state.ask.arguments or ())
                    rest = before
            case "call":
                bound = _reads(binding.value for binding in state.bindings) - {"result"}
                targets = frozenset(binding.target for binding in state.bindings)
                assert state.run is not None, "a call calls"
                rest |= bound | (then - targets)
                before = rest | _reads(state.run.arguments or ()) | _read(state.within)
                before -= targets - bound - _reads(state.run.arguments or ()) - self._of_events(state)
            case "accept":
                assert state.accept is not None, "an accept accepts"
                accept = state.accept
                rest |= then | {accept.name} | (_reads(accept.machine.arguments or ()) - {"peer"})
                rest |= _read(accept.seats) | _read(accept.linger) | _read(state.within)
                before = rest
            case _:
                before = then
        before = self._steps(state.steps, before)
        if state.each is not None:
            each = state.each
            inside = before | _read(each.guard) | _read(each.until) | then
            rest |= inside
            before = (inside - {each.name}) | _read(each.items) | _read(each.parallel)
        return rest, before

    def _of_events(self, state: State) -> Names:
        found = self._answers(state.answers, state)
        return found | (self._answers(self.machine.always.answers, state) if self.machine.always is not None else _NONE)

    def _answers(self, answers: Handlers, state: State) -> Names:
        found = _NONE
        for event, choice in answers.choices():
            bound = _OF_EVENT.get(event, _NONE)
            if event in self.messages:
                bound = frozenset(field.name for field in self.messages[event].fields)
                if self.role not in self.messages[event].senders:
                    bound |= {"peer"}
            found |= self._choice(choice, state) - bound
        for moment in (*answers.after, *answers.every):
            found |= _read(moment.wait)
        return found

    def _choice(self, choice: Choice, state: State) -> Names:
        return _NONE.union(*(self._branch(branch, state) for branch in choice.branches))

    def _branch(self, branch: Branch, state: State) -> Names:
        match branch.next:
            case Goto(target):
                after = self.entry[target]
            case Return(value):
                after = _read(value)
            case Choice():
                after = self._choice(branch.next, state)
            case _:
                after = self.rest[state.name]
        return self._steps(branch.steps, after) | _read(branch.guard) | _read(branch.limit)

    def _steps(self, steps: tuple[Step, ...], after: Names) -> Names:
        for step in reversed(steps):
            match step:
                case Let(bindings):
                    after -= {binding.target for binding in bindings if binding.field is None}
                    after |= _reads(binding.value for binding in bindings)
                    after |= {binding.target for binding in bindings if binding.field is not None}
                case Send():
                    after |= _read(step.receivers) | {"peer"}
                    for call in step.messages:
                        if call.arguments is None:
                            after |= {field.name for field in self.messages[call.path].fields}
                        else:
                            after |= _reads(call.arguments)
                case Drop():
                    after |= _read(step.peers)
        return after


def _read(expression: Expression | None) -> Names:
    return frozenset(name.name for name in names(expression)) if expression is not None else _NONE


def _reads(expressions: Iterable[Expression]) -> Names:
    return _NONE.union(*map(_read, expressions))
