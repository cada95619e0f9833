"""What the expressions and steps of a machine can name, and what they call when they run.

Names are resolved here, once: to a slot, a setting, a partner or a built-in. How steps are written as functions is in
`machines.engine.steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from operator import itemgetter
from types import ModuleType
from typing import Any, NamedTuple

from machines.effects import Send as SendEffect
from machines.expressions.compiler import TOTAL, compile, fixed  # noqa: A004 (as in re.compile)
from machines.messages.bodies import MessageCodec
from machines.messages.shapes import shown
from machines.messages.width import WIDE_MIN, widest
from machines.model import Call, Expression, Name, Spec
from machines.parser.loader import rules_functions
from machines.values import Peer, Range, Rate, Record
from machines.wire.codec import Codec
from machines.work import SHORT, spend, spend_through

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


def encoder_of(spec: Spec, shape: MessageCodec, codec: Codec) -> MessageEncoder:
    """Return how a message of a spec is written."""
    build = shape.build if shape.name in spec.frames else shape.pack  # frames are written of plain lists
    if any(widest(field.type, spec.types) > WIDE_MIN for field in spec.messages[shape.name].fields):
        build = _counted(build)  # it may hold so many elements by nesting that they are counted before it is written
    return MessageEncoder(shape.fields, build, codec.packs.get(shape.name, codec.pack))


def _counted(build: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    def counted(values: Sequence[Any]) -> Any:
        spend_through(values)
        return build(values)

    return counted


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


def _read_live(frame: Any, name: str) -> Any:
    slots, slot = frame.live(name)
    return slots[slot]


def _gone(slots: Slots, peer: Peer) -> bool:
    return bool(slots[0].tree.seats[peer.number].gone)


def peers_in(value: Any, depth: int = 4) -> Iterator[int]:
    """Yield the numbers of the peers in a value: see `peers_within`."""
    for peer in peers_within(value, depth):
        yield peer.number


def peers_within(value: Any, depth: int = 4) -> Iterator[Peer]:
    """Yield the peers in a value: itself, or within lists, records and frozen dataclasses."""
    if isinstance(value, Peer):
        yield value
    elif depth == 0:
        return
    elif isinstance(value, tuple | Record):
        for item in value.values() if isinstance(value, Record) else value:
            yield from peers_within(item, depth - 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from peers_within(getattr(value, field.name), depth - 1)


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


# -- what written steps call -----------------------------------------------------------------------------------------


def with_field(peer: Peer, name: str, value: Any) -> Peer:
    """Return a seat's peer with a field more, before anyone else has seen the peer."""
    return Peer(peer.number, Record({**peer.fields, name: value}))


def sender(name: str, writer: MessageEncoder) -> Callable[[Any, Any, Any], None]:
    """Return what sends a message: it is given the session, one peer or several, and the values of the fields."""
    _, build, pack = writer

    def send(tree: Any, receiver: Any, values: Any) -> None:
        value = build(values)
        if type(receiver) is Peer:  # by far the most frequent: `Transaction.send` would do just this
            seat = tree.seats[receiver.number]
            if not (seat.lost or seat.dropped):
                tree.effects.append(SendEffect(receiver.number, pack(value), name))
                seat.asked = name
                return
        tree.send(receiver, name, value, pack)

    return send


def secure(tree: Any, found: Any) -> None:
    """Have peers speak TLS, if any are named."""
    if found is not None:
        for peer in peers(found):
            tree.secure(peer)


def drop(tree: Any, found: Any) -> None:
    """Close peers, if any are named."""
    if found is not None:
        for peer in peers(found):
            tree.drop(peer, "dropped by its protocol")
