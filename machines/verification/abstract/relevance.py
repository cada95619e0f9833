"""Which names of a role still matter, state by state, and which values nobody needs.

A name that nothing reads any more would only tell apart what is alike, so it is forgotten when a machine comes to rest.
The same holds of one that is read, but decides nothing: a table that is told on from call to call, and returned at the
end of all. `Relevance` follows that through the calls of a role: what a machine returns matters if who called it does
something with it that matters, and what it is given if it does. What decides is a condition, a limit, a clock, who is
heard, sent to, dropped or called for, a field that is told apart, and an expression that may have no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from machines.analysis.call_graph import kind
from machines.analysis.traversal import all_steps
from machines.expressions.unparse import names
from machines.model import (
    Binary,
    Binding,
    Branch,
    Call,
    Choice,
    Constant,
    DropPeers,
    Expression,
    Goto,
    Handlers,
    Let,
    Machine,
    Mapped,
    Name,
    Return,
    Role,
    Secure,
    SendMessages,
    Sequence,
    Spec,
    Start,
    State,
    Step,
)

Names = frozenset[str]
_NONE: Names = frozenset()
_OF_EVENT: dict[str, Names] = {
    ".timeout": frozenset({"peer", "reason"}),
    ".invalid": frozenset({"peer", "reason"}),
    ".closed": frozenset({"peer", "reason"}),
    ".connected": frozenset({"peer"}),
    ".seated": frozenset({"peer"}),
    ".ended": frozenset({"result", "reason"}),
}


class Liveness:
    """The names of a machine that are read after it has come to rest in a state, state by state: ``rest``.

    ``entry`` has those that are read from before its steps on.
    """

    def __init__(self, machine: Machine, spec: Spec) -> None:
        self.machine = machine
        self.messages = spec.messages
        self.role = machine.role
        self.entry: dict[str, Names] = dict.fromkeys(machine.states, _NONE)
        self.rest: dict[str, Names] = dict.fromkeys(machine.states, _NONE)

    def solve(self) -> bool:
        """Go round until nothing changes; return whether anything has."""
        ever, changed = False, True
        while changed:
            changed = False
            for state in reversed(tuple(self.machine.states.values())):
                rest, entry = self._state(state)
                changed = changed or rest != self.rest[state.name] or entry != self.entry[state.name]
                self.rest[state.name], self.entry[state.name] = rest, entry
            ever = ever or changed
        return ever

    # -- what is read for something that may not matter ---------------------------------------------------------------

    def _given(self, call: Call) -> Names:
        """Return the names read for what a machine is given."""
        return _reads(call.arguments or ())

    def _bound(self, bindings: tuple[Binding, ...], after: Names) -> Names:
        """Return the names read for what is bound where those of ``after`` are read later."""
        return _reads(binding.value for binding in bindings)

    def _returned(self, value: Expression) -> Names:
        return _read(value)

    def _told(self, call: Call) -> Names:
        """Return the names read for the fields of a message."""
        if call.arguments is None:
            return frozenset(field.name for field in self.messages[call.path].fields)
        return _reads(call.arguments)

    def _asked(self, call: Call) -> Names:
        return _reads(call.arguments or ())

    # -- what is read --------------------------------------------------------------------------------------------------

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
                    before |= self._asked(state.ask)
                    rest = before
            case "call":
                assert state.run is not None, "a call calls"
                given = self._given(state.run)
                bound = self._bound(state.bindings, then | self._next_item(state) | rest) - {"result"}
                targets = frozenset(binding.target for binding in state.bindings)
                rest |= bound | (then - targets)
                before = rest | given | _read(state.within)
                before -= targets - bound - given - self._of_events(state)
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
            # Of the item itself only what is read before the next one takes its name.
            rest |= (inside - {each.name}) | _read(each.until) | then
            before = (inside - {each.name}) | _read(each.items) | _read(each.parallel)
        return rest, before

    def _next_item(self, state: State) -> Names:
        """Return what a loop reads once an item is through with its call."""
        return self.rest[state.name] if state.each is not None else _NONE

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
        for moment in (*answers.after, *answers.every, *answers.when):
            found |= _read(moment.wait)
        return found

    def _choice(self, choice: Choice, state: State) -> Names:
        return _NONE.union(*(self._branch(branch, state) for branch in choice.branches))

    def _branch(self, branch: Branch, state: State) -> Names:
        match branch.next:
            case Goto(target):
                after = self.entry[target]
            case Return(value):
                after = self._returned(value)
            case Choice():
                after = self._choice(branch.next, state)
            case _:
                after = self.rest[state.name]
        return self._steps(branch.steps, after) | _read(branch.guard) | _read(branch.limit)

    def _steps(self, steps: tuple[Step, ...], after: Names) -> Names:
        for step in reversed(steps):
            match step:
                case Let(bindings):
                    read = self._bound(bindings, after)
                    after -= {binding.target for binding in bindings if binding.field is None}
                    after |= read
                    after |= {binding.target for binding in bindings if binding.field is not None}
                case SendMessages():
                    after |= _read(step.receivers) | {"peer"}
                    after = after.union(*map(self._told, step.messages))
                case Secure() | DropPeers():
                    after |= _read(step.peers)
                case Start():
                    after |= _reads(step.machine.arguments or ())
        return after


class Relevance:
    """The names that matter in the machines of a role, and the ids of expressions that need no value: ``spare``.

    ``idle`` are the arguments of messages that need none, ``tracked`` the fields that are told apart by message, and
    ``asked`` the fields of peers that conditions ask for.
    """

    def __init__(
        self, role: Role, spec: Spec, idle: frozenset[int], tracked: Mapping[str, Mapping[str, object]], asked: Names
    ) -> None:
        self.role = role
        self.idle = idle
        self.tracked = tracked
        self.asked = asked
        self.needed: set[int] = set()  # ids of the expressions that decide, of those met
        self.met: dict[int, Expression] = {}
        self.given: dict[str, Names] = dict.fromkeys(role.machines, _NONE)  # parameters that matter
        self.wanted: set[str] = set()  # machines of which it matters what they return
        for machine in role.machines.values():
            self.wanted |= {step.machine.path for step in all_steps(machine) if isinstance(step, Start)}
            for state in machine.states.values():
                if state.accept is not None:
                    self.wanted.add(state.accept.machine.path)  # the fields of who is seated
                    self.given[state.accept.machine.path] = _ALL
        self.machines = {name: _Deciding(machine, spec, self) for name, machine in role.machines.items()}
        while self._has_changed():
            pass
        self.spare = frozenset(self.met.keys() - self.needed)

    def _has_changed(self) -> bool:
        before = len(self.needed), len(self.wanted), dict(self.given)
        changed = [one.solve() for one in self.machines.values()]
        for name, one in self.machines.items():
            read = _NONE.union(*one.rest.values(), *one.entry.values())
            read |= _reads(binding.value for binding in one.machine.live)
            self.given[name] |= read.intersection(one.machine.parameters)
        return any(changed) or before != (len(self.needed), len(self.wanted), self.given)

    def reads(self, value: Expression, *, matters: bool) -> Names:
        """Return the names that a value is read for; none if it surely is one, and matters nowhere."""
        self.met[id(value)] = value
        if matters or not has_value(value):
            self.needed.add(id(value))
        return _read(value) if id(value) in self.needed else _NONE


_ALL: Names = frozenset({"*"})  # all parameters


class _Deciding(Liveness):
    """The names of a machine whose values decide something."""

    def __init__(self, machine: Machine, spec: Spec, relevance: Relevance) -> None:
        super().__init__(machine, spec)
        self.relevance = relevance
        self.own = frozenset(binding.target for binding in machine.live)

    def _given(self, call: Call) -> Names:
        callee = self.relevance.role.machines.get(call.path)
        if callee is None or call.arguments is None:
            return _reads(call.arguments or ())
        wanted = self.relevance.given[call.path]
        return _NONE.union(*(
            self.relevance.reads(argument, matters="*" in wanted or parameter in wanted)
            for parameter, argument in zip(callee.parameters, call.arguments, strict=False)
        ))  # fmt: skip

    def _bound(self, bindings: tuple[Binding, ...], after: Names) -> Names:
        found = _NONE
        for binding in bindings:
            if binding.field is not None:
                matters = binding.field in self.relevance.asked
            else:
                shared = binding.target in self.own or not self._is_local(binding.target)
                matters = shared or binding.target in after
            found |= self.relevance.reads(binding.value, matters=matters)
        return found

    def _is_local(self, name: str) -> bool:
        """Whether no machine around this one shares a value of that name."""
        return all(
            name != binding.target for machine in self.relevance.role.machines.values() for binding in machine.live
        )

    def _returned(self, value: Expression) -> Names:
        return self.relevance.reads(value, matters=self.machine.name in self.relevance.wanted)

    def _told(self, call: Call) -> Names:
        tracked = self.relevance.tracked.get(call.path, {})
        if call.arguments is None:
            return frozenset(field.name for field in self.messages[call.path].fields if field.name in tracked)
        return _reads(argument for argument in call.arguments if id(argument) not in self.relevance.idle)

    def _asked(self, call: Call) -> Names:
        return _NONE  # the player is asked, whatever with

    def _state(self, state: State) -> tuple[Names, Names]:
        if state.run is not None:
            for binding in state.bindings:
                if id(binding.value) in self.relevance.needed and "result" in _read(binding.value):
                    self.relevance.wanted.add(state.run.path)
        return super()._state(state)


def has_value(expression: Expression) -> bool:
    """Whether an expression surely has a value."""
    match expression:
        case Name() | Constant():
            return True
        case Call(_, arguments):
            return all(map(has_value, arguments or ()))
        case Binary("==" | "!=" | "in", left, right):
            return has_value(left) and has_value(right)
        case Sequence(items):
            return all(map(has_value, items))
        case Mapped(pairs):
            return all(has_value(value) for _, value in pairs)
    return False


def has_early(role: Role) -> bool:
    """Whether a machine or a state says what becomes of what comes early: then it matters who was given whom."""
    return any(
        machine.early is not None or any(state.early is not None for state in machine.states.values())
        for machine in role.machines.values()
    )


def _read(expression: Expression | None) -> Names:
    return frozenset(name.name for name in names(expression)) if expression is not None else _NONE


def _reads(expressions: Iterable[Expression]) -> Names:
    return _NONE.union(*map(_read, expressions))


__all__ = ["Liveness", "Relevance", "has_early", "has_value"]
