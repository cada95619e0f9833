"""What names of a role may hold at each place, for all that peers may send: sets of values followed through a spec.

What comes of rules, `my`, live values and most settings is unknown, and so is a number that goes on growing. Of each
field that is written, and each operation that lacks a value for some of what it may be given, the place and the set
are kept: `machines.checks.partial_values` tells them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from machines.analysis.call_graph import CallGraph, answers_itself, is_per_connection, is_sure
from machines.analysis.conditions import Values, merged, narrowed
from machines.analysis.evaluated_sets import Evaluation, Partial
from machines.analysis.incoming import field_sets
from machines.analysis.scopes import frame_names
from machines.analysis.value_sets import (
    LENGTHS,
    MEASURE,
    NOTHING,
    NULL,
    NUMBER,
    PEER,
    UNKNOWN,
    as_list,
    is_known,
    is_list,
    joined,
    members,
    of_constant,
    union,
)
from machines.expressions.unparse import show
from machines.messages.compiler import compile_type
from machines.model import (
    Binary,
    Call,
    Choice,
    DropPeers,
    Expression,
    Field,
    Goto,
    Handlers,
    Interval,
    Let,
    ListType,
    Machine,
    Name,
    ObjectType,
    Return,
    Scalar,
    Secure,
    SendMessages,
    Start,
    State,
    Stay,
    Step,
    Type,
)
from machines.problems import Location
from machines.values import INTEGER_MAX
from machines.work import SILENT_STEPS_MAX

# Where one of the first two is met, nothing is known any more of what machines are called with and return, nor of what
# their states are entered with: only what a message brings is followed then, to where its own branch uses it.
ROUNDS_MAX = 6  # through all machines
WORK_MAX = 150_000  # names that are joined where ways meet
CHANGES_MAX = 4  # of one name in one state, until it is unknown


@dataclass(frozen=True, slots=True)
class Write:
    """A field of a message that is written, and what with; those of one sending have one number."""

    message: str
    field: Field
    value: Expression
    holds: Type
    spot: Location
    number: int


class DataFlow:
    """Follows one role's values; its calls may not go in a circle."""

    def __init__(self, flow: CallGraph) -> None:
        self.flow = flow
        self.types = flow.spec.types
        self.built_in: Values = {"elapsed": NUMBER, "seed": Interval(0, INTEGER_MAX), "running": LENGTHS}
        for setting in flow.spec.settings.values():
            if setting.kind in ("number", "duration"):
                value = of_constant(setting.value)
                self.built_in[setting.name] = MEASURE if isinstance(value, Interval) or value == UNKNOWN else value
        self.writes: list[Write] = []
        self.sendings = 0
        self.partial: list[tuple[Partial, Location]] = []
        self.results: list[tuple[Expression, Type, Location]] = []
        self.fields: dict[str, Type] = {}  # of peers, as sign-ups return them
        self._incoming = field_sets(flow.spec)
        self._called: dict[str, Values] = {}  # the parameters of each machine that is called
        self._results: dict[str, Type] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._changed = False
        self._telling = False
        self.work = WORK_MAX
        self.coarse = False  # a bound was met
        main = flow.machines["main"]
        peer = PEER if is_per_connection(flow.role) else UNKNOWN
        self._called["main"] = dict.fromkeys(main.parameters, peer)
        order = [flow.machines[name] for name in reversed(flow.bottom_up)]
        for number in range(ROUNDS_MAX):
            self._changed = False
            # What is called with goes down in one round, what is returned goes up in the next.
            self._follow(order if number % 2 == 0 else order[::-1])
            if self.coarse or not (self._changed or number == 0):
                break
        else:
            self.coarse = True
        self._telling = True
        self._follow(order)

    def _follow(self, order: list[Machine]) -> None:
        for machine in order:
            if machine.name in self._called:
                _Walk(self, machine).run()

    def note(self, known: dict[str, Type], key: str, holds: Type) -> None:
        """Widen what is known under a key by a set."""
        before = known.get(key, NOTHING)
        after = joined(before, holds, self.types)
        if after != before or key not in known:
            known[key] = after
            self._changed = True

    def call(self, name: str, arguments: list[Type]) -> Type:
        """Note what a machine is called with; return what it may return."""
        machine = self.flow.machines.get(name)
        if machine is None:
            return UNKNOWN
        if name not in self._called:
            self._called[name] = {}
            self._changed = True
        for parameter, holds in zip(machine.parameters, arguments, strict=False):
            self.note(self._called[name], parameter, holds)
        return UNKNOWN if self.coarse else self._results.get(name, NOTHING)

    def returned(self, machine: str, holds: Type, value: Expression, spot: Location) -> None:
        """Note what a machine returns, in the last round also where."""
        self.note(self._results, machine, holds)
        if self._telling:
            self.results.append((value, holds, spot))

    def seated(self, returned: Type) -> None:
        """Note the fields of peers whose sign-up returned this."""
        for member in members(returned, self.types):
            match member:
                case ObjectType(fields):
                    for field in fields:
                        self.note(self.fields, field.name, field.type)
                case _ if member not in (NULL, NOTHING):
                    self.note(self.fields, "", UNKNOWN)  # any field may be anything

    def field_of_peer(self, name: str) -> Type:
        """Return what a field of a peer may hold."""
        if name == "number":
            return Scalar("int")  # every peer has one
        return UNKNOWN if self.coarse or "" in self.fields else self.fields.get(name, NOTHING)

    def write(self, write: Write) -> None:
        """Keep what a field is written with, in the last round."""
        if self._telling:
            self.writes.append(write)

    def lacks(self, found: Partial, spot: Location) -> None:
        """Keep an operation that may lack a value, in the last round."""
        if self._telling:
            self.partial.append((found, spot))

    def incoming(self, message: str) -> Values:
        """Return what the fields of a message that comes in may hold."""
        return self._incoming.get(message, {})

    def is_as_sent(self, name: str, holds: Type) -> bool:
        """Whether a name may hold what a field of this name brought, and nothing else."""
        return any(fields.get(name) == holds for fields in self._incoming.values())

    def longest(self, item: Type) -> float:
        """Return how many such items a message that comes in may have, at most."""
        room = len(json.dumps(compile_type(item, self.types).example())) + 1 if is_known(item, self.types) else 2
        return self.flow.spec.wire.message_bytes_max / room

    def names(self, machine: Machine) -> tuple[str, ...]:
        """Return the names of a machine's frame."""
        if machine.name not in self._names:
            self._names[machine.name] = frame_names(machine, self.flow.spec)
        return self._names[machine.name]

    def parameters(self, machine: Machine) -> Values:
        """Return what a machine's parameters may hold."""
        if self.coarse:
            return dict.fromkeys(machine.parameters, UNKNOWN)
        return {name: self._called[machine.name].get(name, UNKNOWN) for name in machine.parameters}


_Way = tuple[str, bool, Values]  # a state, whether it is kept rather than entered, what names hold


class _Walk:
    """One walk through all states of a machine, again and again until nothing changes."""

    def __init__(self, data: DataFlow, machine: Machine) -> None:
        self.data = data
        self.machine = machine
        self.types = data.types
        flow = data.flow
        unknown = {binding.target for binding in machine.live} | set(flow.live_somewhere[machine.name])
        self.live = frozenset(unknown)
        self.partners = frozenset(flow.spec.connects.get(machine.role, ()))
        self.entered: dict[str, Values] = {}
        self.kept: dict[str, Values] = {}
        self.changes: dict[tuple[str, str], int] = {}
        self.given_up: set[tuple[str, bool]] = set()  # states of which nothing is known, as entered or kept
        self.state = ""
        self.sent: frozenset[str] = frozenset()  # the names that the message at hand has just bound

    def run(self) -> None:
        first = next(iter(self.machine.states))
        self.entered[first] = self.data.parameters(self.machine)
        todo = {first: None}  # in the order in which they came up
        telling, self.data._telling = self.data._telling, False
        while todo:
            name = next(iter(todo))
            del todo[name]
            for target, kept, values in self._state(self.machine.states[name]):
                if target in self.machine.states and self._join(target, values, kept=kept):
                    todo[target] = None
        self.data._telling = telling
        if telling:
            for name in self.entered:
                list(self._state(self.machine.states[name]))

    def _join(self, state: str, values: Values, *, kept: bool) -> bool:
        store = self.kept if kept else self.entered
        self.data.work -= len(values) + 1
        if self.data.work < 0:
            self.data.coarse = True
        if self.data.coarse:
            if (state, kept) in self.given_up:
                return False
            self.given_up.add((state, kept))
            store[state] = dict.fromkeys((*self.data.names(self.machine), *values), UNKNOWN)
            return True
        if state not in store:
            store[state] = dict(values)
            return True
        here, changed = store[state], False
        for name, holds in values.items():
            before = here.get(name, NOTHING)
            if before is holds or before is UNKNOWN:
                continue
            after = joined(before, holds, self.types)
            if after != before:
                count = self.changes[state, name] = self.changes.get((state, name), 0) + 1
                here[name] = UNKNOWN if count > CHANGES_MAX else after
                changed = True
        return changed

    # -- expressions -------------------------------------------------------------------------------------------------

    def _value(self, expression: Expression | None, values: Values) -> Type:
        if expression is None:
            return NOTHING
        evaluation = Evaluation(self.data, values, self.live, self.partners, self.sent, self._lacks)
        return evaluation.of(expression)

    def _lacks(self, found: Partial) -> None:
        self.data.lacks(found, self._spot())

    def _spot(self) -> Location:
        return Location(self.machine.role, self.machine.name, self.state)

    def _arguments(self, call: Call, values: Values) -> list[Type]:
        return [self._value(argument, values) for argument in call.arguments or ()]

    # -- a state -----------------------------------------------------------------------------------------------------

    def _state(self, state: State) -> Iterator[_Way]:
        self.state, self.sent = state.name, frozenset()
        values: Values | None = dict(self.entered.get(state.name, {}))
        assert values is not None, "it is narrowed below"
        before = values
        if state.each is not None:
            each = state.each
            items = self._value(each.items, values)
            if not self.data.flow.waits_in(state):
                self._goes_through(each.items, items, values)
            values = {**values, each.name: self._item_of(items)}
            if each.guard is not None:
                self._value(each.guard, values)
                values = narrowed(values, each.guard, self.types, holds=True)
        after = None
        if values is not None:
            values = merged(self._steps(state.steps, values), self.kept.get(state.name), self.types)
            assert values is not None, "its first part is there"
            result = self._work(state, values)
            yield from self._answers(state, values)
            after = dict(values)
            for binding in state.bindings:
                after[binding.target] = self._value(binding.value, {**values, "result": result})
            if state.each is not None:
                self._value(state.each.until, after)
                yield state.name, False, after
                after = merged(before, after, self.types)
        if state.then is not None:
            yield from self._choice(state.then, after if after is not None else before)

    def _goes_through(self, items: Expression, holds: Type, values: Values) -> None:
        """Tell of a loop that does not wait, over what a peer may make longer than that may be."""
        parts = members(holds, self.types)
        if len(parts) != 1 or not is_list(parts[0]):
            return
        many, more = as_list(parts[0]), ""
        if isinstance(items, Binary) and items.operator == "..":
            last = self._value(items.right, values)
            if many.high is not None and many.high > SILENT_STEPS_MAX and isinstance(last, Interval):
                more = f"{show(items.right)} may be {last.high}"
        elif isinstance(items, Name) and many.high is None and self.data.is_as_sent(items.name, holds):
            high = self.data.longest(many.item)
            more = f"a message has room for {high:.0f} of them" if high > SILENT_STEPS_MAX else ""
        if more:
            text = f"'each' goes through {show(items)} without waiting, which {SILENT_STEPS_MAX} items at most can be"
            self._lacks(Partial(items, items, holds, "", False, f"{text}, and {more}"))

    def _item_of(self, items: Type) -> Type:
        lists = [as_list(one).item for one in members(items, self.types) if is_list(one)]
        return union(lists) if len(lists) == len(members(items, self.types)) and lists else UNKNOWN

    def _work(self, state: State, values: Values) -> Type:
        """Return what a state's call may return; note whom it seats."""
        for expression in (state.within, state.awaits, *(condition.wait for condition in state.answers.when)):
            self._value(expression, values)
        if state.ask is not None:
            self._arguments(state.ask, values)
        if state.accept is not None:
            values[state.accept.name] = ListType(PEER, 0, None)
            values["peer"] = PEER
            call = state.accept.machine
            self.data.seated(self.data.call(call.path, self._arguments(call, values)))
        if state.run is not None:
            return self.data.call(state.run.path, self._arguments(state.run, values))
        return UNKNOWN

    def _answers(self, state: State, values: Values) -> Iterator[_Way]:
        yield from self._events(state.answers, values, state)
        always = self.machine.always
        if always is not None and self.data.flow.waits_in(state):
            where, self.state = self.state, ""
            yield from self._events(always.answers, values, state, behind=True)
            self.state = where

    def _events(self, answers: Handlers, values: Values, state: State, *, behind: bool = False) -> Iterator[_Way]:
        for event, choice in answers.choices():
            if behind and answers_itself(state, event):
                continue
            fields = self.data.incoming(event)
            self.sent = frozenset(fields)
            brought: Values = {**fields, "peer": PEER, "reason": UNKNOWN, "result": UNKNOWN}
            left = {name: holds for name, holds in values.items() if name.split(".")[0] not in brought}
            yield from (
                (target or state.name, kept, found) for target, kept, found in self._choice(choice, {**left, **brought})
            )
        self.sent = frozenset()

    def _choice(self, choice: Choice, values: Values) -> Iterator[_Way]:
        left: Values | None = values
        for branch in choice.branches:
            if left is None:
                return
            taken: Values | None = left
            if branch.guard is not None:
                self._value(branch.guard, left)
                taken = narrowed(left, branch.guard, self.types, holds=True)
                left = narrowed(left, branch.guard, self.types, holds=False)
            if taken is not None:
                after = self._steps(branch.steps, taken)
                match branch.next:
                    case Goto(target):
                        yield target, False, after
                    case Stay():
                        yield "", True, after
                    case Return(value, _, outcome):
                        self._value(outcome, after)
                        self.data.returned(self.machine.name, self._value(value, after), value, self._spot())
                    case Choice():
                        yield from self._choice(branch.next, after)
            if is_sure(branch):
                return

    def _steps(self, steps: tuple[Step, ...], values: Values) -> Values:
        values = dict(values)
        for step in steps:
            match step:
                case Let(bindings):
                    bound = [(binding, self._value(binding.value, values)) for binding in bindings]
                    for binding, holds in bound:
                        if binding.field is not None:
                            self.data.note(self.data.fields, binding.field, holds)
                            values.pop(f"{binding.target}.{binding.field}", None)
                        else:
                            values[binding.target] = holds
                            for name in [name for name in values if name.startswith(f"{binding.target}.")]:
                                del values[name]
                case SendMessages(receivers, calls):
                    self._value(receivers, values)
                    for call in calls:
                        self._sent(call, values)
                case Secure(peers) | DropPeers(peers):
                    self._value(peers, values)
                case Start(machine):
                    self.data.call(machine.path, self._arguments(machine, values))
        return values

    def _sent(self, call: Call, values: Values) -> None:
        message = self.data.flow.spec.messages.get(call.path)
        if message is None:
            return
        self.data.sendings += 1
        for index, field in enumerate(message.fields):
            value: Expression = Name(field.name, call.place)
            if call.arguments is not None:
                if index >= len(call.arguments):
                    return  # told by the reader
                value = call.arguments[index]
            self.data.write(
                Write(call.path, field, value, self._value(value, values), self._spot(), self.data.sendings)
            )
