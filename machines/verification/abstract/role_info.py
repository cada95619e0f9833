"""What the exploration needs to know of a role before it runs: which fields decide, which names still matter.

A name that nothing reads any more would only tell apart what is alike, so it is forgotten when a machine comes to rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from machines.analysis.call_graph import CallGraph
from machines.analysis.reachable_calls import Asking
from machines.analysis.scopes import frame_names
from machines.analysis.traversal import all_branches, all_steps
from machines.expressions.unparse import walk
from machines.model import (
    Attribute,
    Binary,
    Binding,
    Call,
    Choice,
    Constant,
    Enumeration,
    Expression,
    Interval,
    Let,
    Machine,
    Mapped,
    Name,
    Named,
    Pattern,
    Role,
    Scalar,
    SendMessages,
    Sequence,
    Spec,
    Start,
    Timer,
    Type,
    Unary,
)
from machines.verification.abstract.asides import Asides, unnoticed
from machines.verification.abstract.contracts import Contract
from machines.verification.abstract.domain import FALSE, TRUE, Flag, OtherThan, Value, lifted
from machines.verification.abstract.limits import counters
from machines.verification.abstract.outlines import LayerOutline, StateOutline
from machines.verification.abstract.questions import QuestionTable
from machines.verification.abstract.relevance import Liveness, Relevance, has_early, has_value
from machines.verification.abstract.single_peers import single_peers

TRACKED_MAX = 4  # of one field: so many values are told apart where conditions ask for them
PEERS = ".peers"  # a name of main: who was seated, each with the fields of its sign-up that conditions ask for
Names = frozenset[str]
_NONE: Names = frozenset()


class MachineOutline:
    """One machine: its names, and for each state those that are still read while it rests there."""

    def __init__(self, machine: Machine, spec: Spec, around: Names = _NONE, *, seats: bool = False) -> None:
        self.machine = machine
        self.around = around  # the live values of machines around it: what they are is kept there
        self.live = frozenset(binding.target for binding in machine.live)
        self.name = machine.name
        self.states = machine.states
        self.first = next(iter(machine.states))
        self.early = machine.early
        self.nodes = {name: StateOutline(state) for name, state in machine.states.items()}
        behind = machine.always
        self.always = LayerOutline("always:", behind.answers, behind.awaits) if behind is not None else None
        listed = list(frame_names(machine, spec, around))
        for name in ("result", "peer", "reason"):
            if name not in listed:
                listed.append(name)
        if seats:
            listed.append(PEERS)
        self.begun = begun(machine) if spec.foreign else frozenset()
        self.counters = counters(machine, spec)
        listed.extend(dict.fromkeys(self.counters.values()))
        self.names = tuple(listed)
        self.index = {name: at for at, name in enumerate(self.names)}
        self.counted = tuple(self.index[name] for name in dict.fromkeys(self.counters.values()))
        self.kept: dict[str, tuple[bool, ...]] = {}
        self.entered: dict[str, tuple[bool, ...]] = {}

    def keep(self, live: Liveness) -> None:
        """Take note of the names that matter."""
        self.kept = self._flags(live.rest)
        self.entered = self._flags(live.entry)

    def _flags(self, found: Mapping[str, Names]) -> dict[str, tuple[bool, ...]]:
        # Of live values it is others who read and write them.
        always = self.live | {PEERS, *self.counters.values()}
        return {state: tuple(name in names or name in always for name in self.names) for state, names in found.items()}


class RoleOutline:
    """One role of a spec. ``spec`` may be another version than the other end's (`verification.compatibility`).

    Without ``counts_questions`` messages are as they stand on the wire: nothing says which question one answers.
    Without ``decides_only`` each name is known as long as anything reads it, be it only to tell of it.
    """

    def __init__(
        self,
        spec: Spec,
        role: str,
        contracts: Mapping[str, Contract],
        *,
        counts_questions: bool = True,
        decides_only: bool = True,
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
        self.starts = any(isinstance(step, Start) for of in self.role.machines.values() for step in all_steps(of))
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
        self.peers_at = self.machines["main"].index.get(PEERS, -1)
        self.fixed = max(len(self.connects), int(self.one_partner))  # seats that are heard, whoever is spoken of
        self.tracked = tracked_fields(spec)
        self.traced: frozenset[str] = frozenset()  # messages that carry the place that sent them
        self.idle = idle_arguments(self.role, spec, self.tracked)
        live = self._what_matters(around, decides_only=decides_only)
        for name, outline in self.machines.items():
            outline.keep(live[name])
        self.asking = Asking(self.role.machines, spec.messages, self.idle)
        self.parting = frozenset(path for path, one in contracts.items() if one.kind in ("some", "others"))
        self.single = single_peers(self.role, spec)
        self.asks_gone = "gone" in {call for machine in self.role.machines.values() for call in _paths(machine, spec)}

    def _what_matters(self, around: Mapping[str, Names], *, decides_only: bool) -> Mapping[str, Liveness]:
        """Return the names that matter in each machine; take note of what is idle, and of what nobody notices."""
        spec = self.spec
        if decides_only and not has_early(self.role):
            relevance = Relevance(self.role, spec, self.idle, self.tracked, self.asked_of_peers)
            self.idle |= relevance.spare
            wanted = relevance.wanted
            self.asides = Asides(unnoticed(self.role, spec.messages, around, wanted, unheard=self.unheard))
            return relevance.machines
        self.asides = Asides()
        live = {name: Liveness(machine, spec) for name, machine in self.role.machines.items()}
        for one in live.values():
            one.solve()
        return live

    @cached_property
    def wakes(self) -> bool:
        """Whether any of its machines waits for a condition."""
        return any(True for machine in self.role.machines.values() for _ in _waited_for(machine))

    @cached_property
    def unheard(self) -> bool:
        """Whether nobody who is looked at hears what it sends: all its peers are foreign, and no property asks."""
        peers = self.spec.peers_of(self.name)
        return bool(peers) and set(peers) <= set(self.spec.foreign) and not self.spec.properties

    def senders(self, seat: int) -> tuple[str, ...]:
        """Return the roles that a seat may have: the one we connected to, or any that connects to us."""
        return (self.connects[seat],) if seat < len(self.connects) else self.callers


def begun(machine: Machine) -> frozenset[Binding]:
    """Return the bindings that only begin a name which is bound to what is worked out elsewhere: ``{}``, ``[]``, 0.

    Against whoever may send anything, how it begins makes no difference for long, and would only double what is seen.
    """
    bindings = [
        binding
        for step in all_steps(machine)
        if isinstance(step, Let)
        for binding in step.bindings
        if binding.field is None
    ]
    first = {binding for binding in bindings if _begins(binding.value)}
    worked_out = {binding.target for binding in bindings if binding not in first}
    # A list of peers is followed, unless a function has made it.
    made = {one.target for one in bindings if any(isinstance(part, Call) for part in walk(one.value))}
    return frozenset(one for one in first if one.target in (made if isinstance(one.value, Sequence) else worked_out))


def _begins(value: Expression) -> bool:
    match value:
        case Constant(of):
            return isinstance(of, int | float) and not isinstance(of, bool)
        case Mapped(items) | Sequence(items):
            return not items
    return False


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
        if isinstance(step, SendMessages)
        for message in step.messages
        if not tracked.get(message.path)
        for argument in message.arguments or ()
        if has_value(argument)
    )


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
    yield from (one.wait for one in _waited_for(machine))
    for choice in _choices(machine):
        for branch in all_branches(choice):
            if branch.guard is not None:
                yield branch.guard
    for state in machine.states.values():
        if state.each is not None:
            yield from (one for one in (state.each.guard, state.each.until) if one is not None)


def _waited_for(machine: Machine) -> Iterator[Timer]:
    """Yield what stands under ``when``."""
    if machine.always is not None:
        yield from machine.always.answers.when
    for state in machine.states.values():
        yield from state.answers.when


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
