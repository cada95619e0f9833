"""The steps of branches and states written as Python over the slots ``s`` of a frame, which is ``s[0]``.

    place: {if: may_place(table, tile), return: place(table, tile)}

    def take(s, fields=()):
        s[3:6] = fields
        if (v1 := may_place_9(s[2], s[5])) is True or (v1 is not False and truth_of_10(v1)):
            s[0].result = (v2 if type(v2 := place_11(s[2], s[5])) in FROZEN_12 else freeze_13(v2))
            return end_14
        return None

They run inside a transition, and whoever runs it puts the slots back if one raises. `accord show --code` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from machines import model
from machines.engine.actions import (
    Action,
    MachineScope,
    MessageEncoder,
    Slots,
    Value,
    drop,
    limit_of,
    secure,
    sender,
    with_field,
)
from machines.engine.outcome import match_outcome
from machines.expressions.compiler import condition_of, part_of
from machines.expressions.python import Guard, Part, Writer
from machines.model import (
    Binding,
    Branch,
    Call,
    DropPeers,
    Expression,
    Let,
    Name,
    Return,
    Secure,
    SendMessages,
    Start,
    Step,
)

AtHand = Value | Expression | None  # who a bare ``send`` is for
Lines = list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A condition or an action of a row, as lines."""

    lines: tuple[str, ...]


class StepWriter:
    """Writes the steps of one machine."""

    def __init__(self, scope: MachineScope, writers: Mapping[str, MessageEncoder], place: object) -> None:
        self.write = Writer(place)
        self._scope = scope
        self._senders = {name: sender(name, writer) for name, writer in writers.items()}
        self._fields = {name: writer.fields for name, writer in writers.items()}

    # -- functions ---------------------------------------------------------------------------------------------------

    def value(self, expression: Expression) -> Value:
        """Return the function of an expression."""
        return self.write.run(self._part(expression))

    def arguments(self, expressions: Sequence[Expression]) -> Value:
        """Return the function that gives the values of expressions as a tuple, immutable."""
        return self.write.run(self.write.sequence([self._frozen(expression) for expression in expressions]))

    def guard(self, expression: Expression) -> Guard:
        """Return the function of a condition."""
        return self.write.function("holds", "s", [f"return {condition_of(expression, self._scope, self.write)}"])

    def bind(self, bindings: tuple[Binding, ...]) -> Action:
        """Return the function that binds names; all right sides see the old values."""
        return self.write.function("bind", "s", self._bindings(bindings))

    def entry(self, steps: tuple[Step, ...], at_hand: AtHand) -> Action | None:
        """Return the function of a state's steps, None if it has none."""
        return self.write.function("enter", "s", self._steps(steps, at_hand)) if steps else None

    # -- rows --------------------------------------------------------------------------------------------------------

    def condition(self, branch: Branch) -> Written | None:
        """Write ``if`` and ``limit``: the limit is counted only where the guard holds, for then it is taken."""
        parts = []
        if branch.guard is not None:
            parts.append(f"({condition_of(branch.guard, self._scope, self.write)})")
        if branch.limit is not None:
            key = branch.limit.name if isinstance(branch.limit, Name) else str(branch.place)
            limit = f"{self.write.called(limit_of)}({self._part(branch.limit).text})"
            parts.append(f"s[0].allow({key!r}, {limit})")
        return Written((f"return {' and '.join(parts)}",)) if parts else None

    def action(self, branch: Branch, at_hand: AtHand) -> Written | None:
        """Write the steps of a branch, and what it returns; None if it does nothing."""
        lines = self._steps(branch.steps, at_hand)
        if isinstance(branch.next, Return):
            lines.append(f"s[0].result = {self._frozen(branch.next.value).text}")
            if branch.next.outcome is not None:
                outcome = f"{self.write.called(match_outcome)}({self._part(branch.next.outcome).text})"
                lines.append(f"s[0].extras().outcome = {outcome}")
        return Written(tuple(lines)) if lines else None

    def alone(self, written: Written) -> Callable[[Slots], Any]:
        """Return a condition or an action as a function of its own, as the stock event class calls them."""
        return self.write.function("alone", "s", written.lines)

    def take(
        self, rows: Sequence[tuple[Written | None, Written | None, Any]], places: Sequence[int], peer_slot: int
    ) -> Callable[..., Any]:
        """Return the function that takes the first row whose condition holds, and returns the last of it, or None.

        It is given the slots and the fields of a message, which go to ``places``.
        """
        lines = self._fields_bound(places, peer_slot)
        for condition, action, destination in rows:
            leads_to = self.write.called(destination, destination.name.lstrip("."))
            branch = [*(action.lines if action is not None else ()), f"return {leads_to}"]
            if condition is None:
                lines += branch
                break
            (asked,) = condition.lines
            lines += [f"if {asked.removeprefix('return ')}:", *(f"    {line}" for line in branch)]
        else:
            lines.append("return None")
        return self.write.function("take", "s, fields=()", lines)

    def bind_fields(self, places: Sequence[int], peer_slot: int) -> Callable[[Slots, tuple[Any, ...]], None]:
        """Return the function that does of `take` only that the fields go to their places."""
        return self.write.function("bind", "s, fields", self._fields_bound(places, peer_slot))

    def _fields_bound(self, places: Sequence[int], peer_slot: int) -> Lines:
        if len(places) > 1 and list(places) == list(range(places[0], places[-1] + 1)) and peer_slot not in places:
            return [f"s[{places[0]}:{places[-1] + 1}] = fields"]
        lines = []
        for index, place in enumerate(places):
            asked = "if s[0].tree.speaker is None: " if place == peer_slot else ""  # who spoke goes before a field
            lines.append(f"{asked}s[{place}] = fields[{index}]")
        return lines

    # -- steps -------------------------------------------------------------------------------------------------------

    def _steps(self, steps: tuple[Step, ...], at_hand: AtHand) -> Lines:
        lines: Lines = []
        for step in steps:
            match step:
                case Let():
                    lines += self._bindings(step.bindings)
                case Start():
                    given = self.write.sequence([self._frozen(argument) for argument in step.machine.arguments or ()])
                    lines.append(f"s[0].tree.start_later(s[0], {step.machine.path!r}, {given.text})")
                case SendMessages():
                    lines += [self._send(call, step, at_hand) for call in step.messages]
                case Secure():
                    lines.append(f"{self.write.called(secure)}(s[0].tree, {self._part(step.peers).text})")
                case DropPeers():
                    lines.append(f"{self.write.called(drop)}(s[0].tree, {self._part(step.peers).text})")
        return lines

    def _bindings(self, bindings: tuple[Binding, ...]) -> Lines:
        live = {*self._scope.live, *self._scope.around}
        shared = [binding for binding in bindings if binding.target in live]
        own = [binding for binding in bindings if binding.target not in live]
        if not shared and len(own) == 1 and own[0].field is None:
            return [f"s[{self._scope.slot_of[own[0].target]}] = {self._frozen(own[0].value).text}"]
        lines: Lines = []
        values = {}
        for binding in (*shared, *own):
            values[id(binding)] = value = self.write.temporary()
            lines.append(f"{value} = {self._frozen(binding.value).text}")
        for binding in own:
            place, value = f"s[{self._scope.slot_of[binding.target]}]", values[id(binding)]
            if binding.field is not None:
                value = f"{self.write.called(with_field)}({place}, {binding.field!r}, {value})"
            lines.append(f"{place} = {value}")
        for binding in shared:  # what is written around it can be taken back
            slot = self._scope.slot_of.get(binding.target)
            place = f"*s[0].live({binding.target!r})" if slot is None else f"s[0].slots, {slot}"
            lines.append(f"s[0].tree.write_live({place}, {values[id(binding)]})")
        return lines

    def _send(self, call: Call, step: SendMessages, at_hand: AtHand) -> str:
        to = step.receivers if step.receivers is not None else at_hand
        if to is None:
            raise LookupError(f"{step.place}: nobody is at hand; the checker should have said so")
        receivers = self.write.read(to) if callable(to) else self._part(to)
        given = call.arguments
        if given is None:
            given = tuple(Name(field, call.place) for field in self._fields[call.path])
        values = self._part(model.Sequence(given, call.place))
        send = self.write.called(self._senders[call.path], f"send_{call.path}")
        return f"{send}(s[0].tree, {receivers.text}, {values.text})"

    def _part(self, expression: Expression) -> Part:
        return part_of(expression, self._scope, self.write)

    def _frozen(self, expression: Expression) -> Part:
        return self.write.frozen(self._part(expression))
