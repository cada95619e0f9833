"""What a machine is compiled to: its states, what they answer, and the events that ``transitions`` moves it by.

The stock event class of transitions costs 8 us of CPU an event; its documented ``event_cls`` hook lets `LeanEvent`
do the same for 0.4 us. A test drives both with the same events and requires the same states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from transitions import Machine as TransitionsMachine
from transitions.core import Event

from machines.engine.actions import Action, Slots, Value
from machines.engine.steps import Written
from machines.engine.watching import AwaitedCondition
from machines.messages.bodies import MessageCodec
from machines.messages.decoding import Parse
from machines.model import State

UNSET = type("Unset", (), {"__repr__": lambda self: "<unset>", "__slots__": ()})()
END = ".end"
Kind = Literal["pass", "wait", "call", "each", "accept", "choice", "final", "stay", "again"]
PASS: Final = "pass"
WAIT: Final = "wait"
CALL: Final = "call"
EACH: Final = "each"
ACCEPT: Final = "accept"
CHOICE: Final = "choice"
FINAL: Final = "final"
STAY: Final = "stay"  # not a state, but that the present one is kept
AGAIN: Final = "again"  # and its clocks start afresh

Guard = Callable[[Slots], bool]
# Takes the first row that may be taken, and says where it leads; it is given the fields of a message, too.
Take = Callable[..., "CompiledState | None"]
Places = slice | tuple[int, ...]  # slots: a slice if they lie side by side, as those of one message nearly always do
MessageHandler = tuple[str, MessageCodec, Places]  # event, how to recognise it, where its fields go
Row = tuple[Written | None, Written | None, "CompiledState"]  # a branch: its condition, what it does, where it leads
Reading = tuple[MessageHandler, tuple[Any, ...]]  # the message that something is, and its fields


class LeanEvent(Event):
    """The event class of a table: what takes the rows of a state is one function, written of them."""

    def rows(self, source: str, nodes: Mapping[str, CompiledState]) -> list[Row]:
        """Return the rows of a state; later additions would not be seen."""

        def written(row: Any) -> Row:
            condition = row.conditions[0].func if row.conditions else None
            return condition, row.before[0] if row.before else None, nodes[row.dest]

        return list(map(written, self.transitions[source]))


class Cursor:
    """What the stock event class moves from state to state."""

    __slots__ = ("_state",)

    _state: str


def stock_take(
    event: Event, source: str, nodes: Mapping[str, CompiledState], bind: Callable[[Slots, tuple[Any, ...]], None] | None
) -> Take:
    """Return what takes the rows of a state as the stock event class does; ``bind`` puts fields to their places."""
    cursor, trigger = Cursor(), event.trigger

    def take(slots: Slots, fields: tuple[Any, ...] = ()) -> CompiledState | None:
        if bind is not None:
            bind(slots, fields)
        cursor._state = source
        return nodes[cursor._state] if trigger(cursor, slots) else None

    return take


class LeanMachine(TransitionsMachine):
    """A ``transitions.Machine`` whose events are lean."""

    event_cls = LeanEvent


class HandlerScope:
    """The answers of a state or of an ``always``: which messages it lists and which other events it answers."""

    __slots__ = ("answers", "audience", "events", "only", "prefix", "readers")

    def __init__(
        self,
        prefix: str,
        audience: Value | Literal["inner", "partner"],
        readers: dict[str, tuple[MessageHandler, ...]],
        answers: dict[str, MessageHandler],
        events: frozenset[str],
        *,
        parses: bool = False,
    ) -> None:
        self.prefix = prefix
        self.audience = audience  # whom it hears: the peer the inner state awaits, the only partner, or these
        self.readers = readers  # by the role that sends
        # Where one message alone is listed of a role, and its bytes can be parsed at once: how.
        self.only: dict[str, tuple[MessageHandler, Parse]] = {
            role: (found[0], found[0][1].parse)
            for role, found in readers.items()
            if parses and len(found) == 1 and found[0][1].parse is not None
        }
        self.answers = answers  # what the player may answer here
        self.events = events


class CompiledState:
    """One compiled state."""

    __slots__ = ("accept", "asked", "awaits", "bind", "binds", "binds_then", "each", "entry", "in_turn", "keeps",
                 "kind", "layer", "moments", "name", "place", "plain", "run", "seconds", "state", "takes", "then",
                 "timed", "timeless", "whens", "within")  # fmt: skip

    def __init__(self, name: str, kind: Kind, layer: HandlerScope, place: str) -> None:
        self.name = name
        self.kind: Kind = kind
        self.keeps = kind in (STAY, AGAIN)
        self.layer = layer
        self.place = place  # file:line, for the log
        self.state: State | None = None
        self.entry: Action | None = None
        self.binds = True  # whether entering it may bind names, which a failure would have to take back
        self.binds_then = True  # whether what follows it may
        self.awaits: Value | None = None
        self.plain = False  # it only awaits a peer, within a limit that is known beforehand, as most that wait do
        self.in_turn = False  # it calls a machine for each of its items in turn, as most loops do
        self.seconds: float | None = None  # the limit, if it is known beforehand, as nearly always
        self.within: Value | None = None  # what gives it otherwise
        self.moments: tuple[tuple[str, bool, Value], ...] = ()  # (event, repeats, how long)
        self.whens: tuple[AwaitedCondition, ...] = ()
        self.timed = False  # whether a clock may run here, or a condition is waited for
        self.run: tuple[str, Value] | None = None  # (machine, its arguments)
        self.asked: tuple[str, tuple[str, ...], Value, tuple[str, ...]] | None = (
            None  # question, names, values, answers
        )
        self.bind: Action | None = None  # what ``as`` binds of ``result``
        self.timeless = True  # whether that is the same whenever it is asked
        self.each: CompiledEach | None = None
        self.accept: CompiledAccept | None = None
        self.takes: dict[str, Take] = {}  # what takes the rows of an event here
        self.then: Take | None = None  # those of ``.then``


class CompiledEach:
    """An ``each``, compiled."""

    __slots__ = ("guard", "items", "parallel", "slot", "until")

    def __init__(
        self, slot: int, items: Value, guard: Guard | None, until: Guard | None, parallel: Value | None
    ) -> None:
        self.slot = slot
        self.items = items
        self.guard = guard
        self.until = until
        self.parallel = parallel


class CompiledAccept:
    """An ``accept``, compiled."""

    __slots__ = ("arguments", "linger", "machine", "name", "peer_slot", "seats", "slot")

    def __init__(self, name: str, machine: str, arguments: Value, slot: int, peer_slot: int) -> None:
        self.name = name
        self.machine = machine
        self.arguments = arguments
        self.slot = slot
        self.peer_slot = peer_slot
        self.seats: Value | None = None
        self.linger: Value | None = None


def side_by_side(slots: tuple[int, ...]) -> Places:
    """Return slots that follow one another as a slice, others as they are."""
    if len(slots) > 1 and slots == tuple(range(slots[0], slots[0] + len(slots))):
        return slice(slots[0], slots[-1] + 1)
    return slots


NO_LAYER = HandlerScope("", "inner", {}, {}, frozenset())
KEPT = {f".{kind}": CompiledState(f".{kind}", kind, NO_LAYER, "") for kind in (STAY, AGAIN)}
