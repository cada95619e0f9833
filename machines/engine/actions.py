"""Steps and values of a branch, compiled to closures over a frame's slots.

A closure takes the slot list and does its work at once; it runs inside a transition, and whoever runs the transition
puts the slots back if one raises. Names are resolved here, once: to a slot, a setting, a partner or a built-in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from operator import itemgetter
from types import ModuleType
from typing import Any, NamedTuple

from machines import model
from machines.effects import Send as SendEffect
from machines.expressions.compiler import TOTAL, compile, fixed  # noqa: A004 (as in re.compile)
from machines.messages.shapes import shown
from machines.model import (
    Binding,
    Call,
    Constant,
    DropPeers,
    Expression,
    Let,
    Name,
    Secure,
    SendMessages,
    Spec,
    Start,
    Step,
)
from machines.parser.loader import rules_functions
from machines.values import FROZEN, Peer, Range, Rate, Record, freeze
from machines.work import SHORT, spend

Slots = list[Any]
Value = Callable[[Slots], Any]
Action = Callable[[Slots], None]


class MessageEncoder(NamedTuple):
    """How a message is written: ``build`` makes its value of those of its ``fields``, ``pack`` its framed bytes.

    Both raise Mismatch for what they cannot write.
    """

    fields: tuple[str, ...]
    build: Callable[[Sequence[Any]], Any]
    pack: Callable[[Any], bytes]


class MachineScope:
    """What a machine's expressions can name, and how each name is read."""

    def __init__(
        self,
        spec: Spec,
        role: str,
        slot_of: Mapping[str, int],
        rules: Mapping[str, ModuleType],
        live: Collection[str] = (),
        around: Collection[str] = (),
    ) -> None:
        self.spec = spec
        self.role = role
        self.live = live  # the machine's own live values, and those of machines around it
        self.around = around
        self.slot_of = slot_of
        self.rules = rules

    def name(self, name: Name) -> Value:
        """Return how to read a name from the slots."""
        text = name.name
        slot = self.slot_of.get(text)
        if slot is not None:
            if text in self.live:  # a view of a loop's item does not have the present one
                return lambda slots: slots[0].slots[slot]
            return itemgetter(slot)
        if text in self.around:
            return lambda slots: _read_live(slots[0], text)
        if text in self.spec.settings:
            return fixed(self.spec.settings[text].value)
        partners = self.spec.connects.get(self.role, ())
        if text in partners:
            index = partners.index(text)
            return lambda slots: slots[0].tree.seats[index].peer
        match text:
            case "seed":
                return lambda slots: slots[0].seed()
            case "elapsed":
                return lambda slots: slots[0].elapsed()
            case "running":
                return lambda slots: slots[0].running()
            case "my":
                return lambda slots: slots[0].tree.my
        raise LookupError(f"{name.place}: nothing is called {text!r}; the checker should have said so")

    def call(self, call: Call) -> tuple[Callable[..., Any], bool]:
        """Return the function of a call and whether it wants the slots as its first argument."""
        if call.path == "gone":
            return _gone, True
        if call.path in TOTAL:
            return TOTAL[call.path], False
        module, _, function = call.path.partition(".")
        exported = rules_functions(self.rules[module])
        if function not in exported:
            raise LookupError(f"{call.place}: {module} has no rule {function!r}; the checker should have said so")
        return exported[function], False

    def value(self, expression: Expression) -> Value:
        """Compile an expression."""
        return compile(expression, self)

    def frozen(self, expression: Expression) -> Value:
        """Compile an expression whose value will be bound to a name or returned: a rule's is made immutable."""
        value = compile(expression, self)
        if isinstance(expression, Name | Constant):
            return value

        def frozen(slots: Slots) -> Any:
            found = value(slots)
            return found if type(found) in FROZEN else freeze(found)

        return frozen


def _read_live(frame: Any, name: str) -> Any:
    slots, slot = frame.live(name)
    return slots[slot]


def _gone(slots: Slots, peer: Peer) -> bool:
    return bool(slots[0].tree.seats[peer.number].gone)


def peers_in(value: Any, depth: int = 4) -> Iterator[int]:
    """Yield the numbers of the peers in a value: itself, or within lists, records and frozen dataclasses."""
    if isinstance(value, Peer):
        yield value.number
    elif depth == 0:
        return
    elif isinstance(value, tuple | Record):
        for item in value.values() if isinstance(value, Record) else value:
            yield from peers_in(item, depth - 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from peers_in(getattr(value, field.name), depth - 1)


def peers(value: Any) -> tuple[Peer, ...]:
    """Return the peers that a value names: one, or a list of them.

    Raises:
        TypeError: it is neither.
    """
    if type(value) is Peer:
        return (value,)
    if isinstance(value, tuple | list) and len(value) > SHORT:
        spend(len(value))
    if isinstance(value, tuple | list) and all(type(item) is Peer for item in value):
        return tuple(value)
    raise TypeError(f"{shown(value)} is not a peer or a list of peers")


def duration(value: Any) -> float:
    """Return a number of seconds, not below zero.

    Raises:
        TypeError: it is not a number.
    """
    if type(value) is float or type(value) is int:
        return value if value > 0 else 0.0
    raise TypeError(f"{shown(value)} is not a duration in seconds")


def count_range(value: Any) -> tuple[int, int]:
    """Return (least, most) of a number of seats: a range, or one number for exactly so many.

    Raises:
        TypeError: it is neither, or an empty or negative range.
    """
    if type(value) is int and value >= 0:
        return value, value
    if isinstance(value, Range) and 0 <= value.low <= value.high:
        return value.low, value.high
    raise TypeError(f"{shown(value)} is not a number of seats")


def limit_of(value: Any) -> int | Rate:
    """Return a limit's value: a count, or a rate.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(value, Rate) or type(value) is int:
        return value
    raise TypeError(f"{shown(value)} is not a limit: a number, or a rate like 10 per 1 s")


def compile_bindings(bindings: tuple[Binding, ...], scope: MachineScope) -> Action:
    """Return the closure that binds names; all right sides see the old values."""
    if any(binding.target in scope.live or binding.target in scope.around for binding in bindings):
        return _compile_live(bindings, scope)
    if len(bindings) == 1 and bindings[0].field is None:
        slot = scope.slot_of[bindings[0].target]
        value = scope.frozen(bindings[0].value)

        def bind_one(slots: Slots) -> None:
            slots[slot] = value(slots)

        return bind_one
    compiled = [(scope.slot_of[b.target], b.field, scope.frozen(b.value)) for b in bindings]

    def bind(slots: Slots) -> None:
        values = [value(slots) for _, _, value in compiled]
        for (slot, field, _), value in zip(compiled, values, strict=True):
            if field is None:
                slots[slot] = value
            else:  # a seat's field, before anyone else has seen the peer
                peer: Peer = slots[slot]
                slots[slot] = Peer(peer.number, Record({**peer.fields, field: value}))

    return bind


def _compile_live(bindings: tuple[Binding, ...], scope: MachineScope) -> Action:
    """Return the closure that binds names of which some are live; what it writes around it can be taken back."""
    own = [binding for binding in bindings if binding.target not in scope.live and binding.target not in scope.around]
    bind_own = compile_bindings(tuple(own), scope) if own else None
    shared = [(b.target, scope.slot_of.get(b.target), scope.frozen(b.value)) for b in bindings if b not in own]

    def bind(slots: Slots) -> None:
        frame = slots[0]
        values = [value(slots) for _, _, value in shared]
        if bind_own is not None:
            bind_own(slots)
        for (name, slot, _), value in zip(shared, values, strict=True):
            if slot is not None:
                frame.tree.write_live(frame.slots, slot, value)
            else:
                frame.tree.write_live(*frame.live(name), value)

    return bind


def compile_start(start: Start, scope: MachineScope) -> Action:
    """Return the closure that starts a machine."""
    name = start.machine.path
    arguments = start.machine.arguments or ()
    values = [scope.frozen(argument) for argument in arguments]

    def begin(slots: Slots) -> None:
        frame = slots[0]
        frame.tree.start_later(frame, name, tuple([value(slots) for value in values]))

    return begin


def compile_send(
    send: SendMessages, scope: MachineScope, writers: Mapping[str, MessageEncoder], at_hand: Value | None
) -> Action:
    """Return the closure that sends. ``at_hand`` gives the peer that a bare ``send`` goes to."""
    if send.receivers is not None:
        receivers = scope.value(send.receivers)
    elif at_hand is not None:
        receivers = at_hand
    else:
        raise LookupError(f"{send.place}: nobody is at hand; the checker should have said so")
    actions = [_compile_message(call, scope, writers[call.path], receivers) for call in send.messages]
    return actions[0] if len(actions) == 1 else in_order(actions)


def _compile_message(call: Call, scope: MachineScope, writer: MessageEncoder, receivers: Value) -> Action:
    fields, build, pack = writer
    arguments = call.arguments
    if arguments is None:
        arguments = tuple(Name(field, call.place) for field in fields)
    name = call.path
    if not arguments:
        constant = build(())

        def send_constant(slots: Slots) -> None:
            slots[0].tree.send(receivers(slots), name, constant, pack)

        return send_constant
    values = scope.value(model.Sequence(arguments, call.place))

    def send(slots: Slots) -> None:
        receiver = receivers(slots)
        value = build(values(slots))
        tree = slots[0].tree
        if type(receiver) is Peer:  # by far the most frequent: `Acting.send` would do just this
            seat = tree.seats[receiver.number]
            if not (seat.lost or seat.dropped):
                tree.effects.append(SendEffect(receiver.number, pack(value), name))
                seat.asked = name
                return
        tree.send(receiver, name, value, pack)

    return send


def compile_secure(secure: Secure, scope: MachineScope) -> Action:
    """Return the closure that has peers speak TLS."""
    value = scope.value(secure.peers)

    def secure_peers(slots: Slots) -> None:
        found = value(slots)
        if found is not None:
            for peer in peers(found):
                slots[0].tree.secure(peer)

    return secure_peers


def compile_drop(drop: DropPeers, scope: MachineScope) -> Action:
    """Return the closure that closes peers."""
    value = scope.value(drop.peers)

    def drop_peers(slots: Slots) -> None:
        found = value(slots)
        if found is not None:
            for peer in peers(found):
                slots[0].tree.drop(peer, "dropped by its protocol")

    return drop_peers


def compile_steps(
    steps: tuple[Step, ...], scope: MachineScope, writers: Mapping[str, MessageEncoder], at_hand: Value | None
) -> Action | None:
    """Return one closure for steps in order, or None where there are none."""
    actions: list[Action] = []
    for step in steps:
        match step:
            case Let():
                actions.append(compile_bindings(step.bindings, scope))
            case Start():
                actions.append(compile_start(step, scope))
            case SendMessages():
                actions.append(compile_send(step, scope, writers, at_hand))
            case Secure():
                actions.append(compile_secure(step, scope))
            case DropPeers():
                actions.append(compile_drop(step, scope))
    if not actions:
        return None
    return actions[0] if len(actions) == 1 else in_order(actions)


def in_order(actions: list[Action]) -> Action:
    """Return one closure that does several."""
    if len(actions) == 2:
        first, second = actions

        def both(slots: Slots) -> None:
            first(slots)
            second(slots)

        return both

    def all_of_them(slots: Slots) -> None:
        for action in actions:
            action(slots)

    return all_of_them
