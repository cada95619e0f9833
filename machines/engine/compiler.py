"""A role compiled: one shared ``transitions.Machine`` for each of its machines, whose rows are lines of Python.

Every (state, event) pair that a machine answers has rows ``(guard, action, destination)``, which
`machines.engine.steps` writes as one function. Events are messages by their names, and ``.timeout .invalid .closed
.failed .ended .connected .seated .after0 .every0 .when0``; what stands behind every state (``always``) has the same
names with ``always:`` in front; ``.then`` is what follows when a state is through with its own work. A branch that
decides again after its steps leads through a hidden state, so that the rows stay flat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, Literal

from transitions import Machine as TransitionsMachine

from machines.analysis.call_graph import CALL_DEPTH_MAX, CallGraph, live_around
from machines.analysis.scopes import bindings, frame_names
from machines.analysis.traversal import all_branches, all_steps
from machines.engine.actions import Action, MachineScope, Slots, Value, duration, encoder_of
from machines.engine.compiled_states import (
    ACCEPT,
    CALL,
    CHOICE,
    EACH,
    END,
    FINAL,
    KEPT,
    NO_LAYER,
    PASS,
    UNSET,
    WAIT,
    CompiledAccept,
    CompiledEach,
    CompiledState,
    HandlerScope,
    Kind,
    LeanEvent,
    LeanMachine,
    MessageHandler,
    side_by_side,
    stock_take,
)
from machines.engine.steps import AtHand, StepWriter, Written
from machines.engine.watching import AwaitedCondition, is_live_only
from machines.expressions.unparse import walk
from machines.messages.bodies import MessageCodec, compile_message
from machines.messages.decoding import INT_DIGITS
from machines.model import (
    Accept,
    Always,
    Call,
    Choice,
    CompositeFrame,
    Each,
    Expression,
    Goto,
    Handlers,
    Let,
    Machine,
    Message,
    Name,
    Return,
    Role,
    Spec,
    Start,
    State,
    Stay,
    Step,
    Timer,
)
from machines.wire.codec import Codec
from machines.wire.composite_framing import PartsFramer
from machines.wire.framing import Framer, make_framer


class CompiledMachine:
    """One machine, compiled; shared by all its calls in all sessions."""

    def __init__(self, machine: Machine, program: Program) -> None:
        self.name = machine.name
        self.first = next(iter(machine.states))
        names = frame_names(machine, program.spec, program.live_around[machine.name])
        self.slot_of = {name: index for index, name in enumerate(names, start=1)}
        for name in ("result", *(["peer"] if any(state.accept for state in machine.states.values()) else [])):
            self.slot_of.setdefault(name, len(self.slot_of) + 1)
        self.parameters = len(machine.parameters)
        self.blank: list[Any] = [UNSET] * (len(self.slot_of) + 1)  # the slots of a new frame
        self.arguments = slice(1, 1 + self.parameters)
        self.result_slot = self.slot_of["result"]
        parameters = machine.parameters
        self.peer_slot = self.slot_of.get("peer", 0) if "peer" not in parameters else 0
        self.reason_slot = self.slot_of.get("reason", 0) if "reason" not in parameters else 0
        self.early = machine.early
        self.live = {binding.target: self.slot_of[binding.target] for binding in machine.live}
        self.first_live: Action | None = None  # what gives those their first values
        self.within: Value | None = None
        self.always: HandlerScope | None = None
        self.standing: tuple[tuple[str, bool, Value], ...] = ()
        self.whens: tuple[AwaitedCondition, ...] = ()  # of its ``always``
        self.stands = False  # whether there are clocks or conditions of its ``always``
        self.nodes: dict[str, CompiledState] = {}
        self.machine: TransitionsMachine  # its events have all rows
        self.entrance: CompiledState
        self.conditions: dict[tuple[str, str], Any] = {}  # that may refuse, by state and message; made when one does
        _Builder(machine, self, program).build()

    def code(self) -> Iterator[tuple[str, str, str]]:
        """Yield the functions that the machine is run as: (state, what it is for, text in Python)."""
        if self.first_live is not None:
            yield "", "live", self.first_live.__doc__ or ""
        for node in self.nodes.values():
            for purpose, function in (("entry", node.entry), ("as", node.bind), *node.takes.items()):
                if function is not None:
                    yield node.name, purpose, function.__doc__ or ""


class Program:
    """A role of a spec, compiled once and shared by all its sessions.

    ``rules`` gives the modules that the spec names. With ``stock`` the tables run on the stock event class of
    transitions instead of the lean one, and without ``quick`` no quick way stands before the rules of
    `machines.semantics`: both make the slow twin for the test that they agree.
    """

    def __init__(
        self, spec: Spec, role: str, rules: Mapping[str, ModuleType], *, stock: bool = False, quick: bool = True
    ) -> None:
        self.spec = spec
        self.role: Role = spec.roles[role]
        self.wire = spec.wire
        self.work_max = spec.wire.work_max
        self.rules, self.stock, self.quick = rules, stock, quick
        self.codec = Codec(spec.wire, spec.frames)
        self.frames = spec.frames
        # What is listed of a role by layers that hear it together, as they are met: see `machines.engine.mailbox`.
        self.expected: dict[tuple[str, tuple[HandlerScope, ...]], tuple[bool, tuple[CompositeFrame, ...], bool]] = {}
        # Whether a message's bytes may be parsed past the codec: see `machines.messages.decoding.parser_of`.
        self.shallow_bytes = 2 * spec.wire.depth_max  # a text that is no longer is not nested too deep
        self.parses = quick and spec.wire.framing != "text" and spec.wire.digits_max >= INT_DIGITS
        self.connects: tuple[str, ...] = tuple(spec.connects.get(role, ()))
        main = self.role.machines["main"]
        self.per_connection = bool(main.parameters)
        self.callers = tuple(caller for caller, targets in spec.connects.items() if role in targets)
        self.accepts = bool(self.callers)
        self.starts = any(isinstance(step, Start) for of in self.role.machines.values() for step in all_steps(of))
        self.one_partner = (len(self.connects) == 1 and not self.accepts) or (self.per_connection and not self.connects)
        self.shapes: dict[str, MessageCodec] = {
            name: compile_message(message, spec.types) for name, message in spec.messages.items()
        }
        self.writers = {name: encoder_of(spec, shape, self.codec) for name, shape in self.shapes.items()}
        # A seat's role is the one we connected to; those who connect to us share one port and so one seat role.
        self.seat_roles: tuple[str, ...] = (*self.connects, *self.callers[:1])
        self.heard: dict[str, tuple[MessageCodec, ...]] = {
            seat_role: tuple(self.shapes[m.name] for m in spec.messages.values() if self.may_hear(seat_role, m))
            for seat_role in self.seat_roles
        }
        urgent = {message.name for message in spec.messages.values() if message.urgent}
        self.urgent: dict[str, tuple[MessageCodec, ...]] = {  # of roles that have any
            seat_role: tuple(shape for shape in shapes if shape.name in urgent)
            for seat_role, shapes in self.heard.items()
            if any(shape.name in urgent for shape in shapes)
        }
        flow = CallGraph(spec, self.role)
        self.refused = _why_refused(flow)
        self.live_around = live_around(flow, union=True)
        self.tables: dict[str, CompiledMachine] = {}
        for machine in self.role.machines.values():
            self.tables[machine.name] = CompiledMachine(machine, self)

    def make_framer(self) -> Framer:
        """Return a framer for one connection."""
        return PartsFramer(self.wire) if self.frames else make_framer(self.wire)

    def is_shallow(self, raw: bytes) -> bool:
        """Whether a JSON text is surely not nested deeper than the wire allows."""
        return raw.count(b"[") + raw.count(b"{") <= self.wire.depth_max

    def may_hear(self, seat_role: str, message: Message) -> bool:
        """Whether a seat of this role may send a message."""
        senders = self.callers if seat_role in self.callers else (seat_role,)
        return any(sender in message.senders for sender in senders)


def _why_refused(flow: CallGraph) -> str:
    """Return why no session of a role can be run, or nothing: the checker says so too, with the place."""
    if flow.circle:
        return f"calls go in a circle: {' -> '.join(flow.circle)}"
    if len(flow.longest_chain()) > CALL_DEPTH_MAX:
        return f"machines call one another more than {CALL_DEPTH_MAX} deep"
    return ""


class _Builder:
    """Builds one table: nodes, layers and rows."""

    def __init__(self, machine: Machine, table: CompiledMachine, program: Program) -> None:
        self.machine = machine
        self.table = table
        self.program = program
        around = program.live_around[machine.name] - table.slot_of.keys()
        self.scope = MachineScope(program.spec, program.role.name, table.slot_of, program.rules, table.live, around)
        self.steps = StepWriter(self.scope, program.writers, machine.place)
        self.rows: list[tuple[str, str, str, Written | None, Written | None]] = []
        self.hidden = 0

    def build(self) -> None:
        table = self.table
        always = self.machine.always
        if always is not None:
            table.always = self.layer("always:", always.answers, always.awaits, None)
            table.within = self.seconds(always.within) if always.within is not None else None
            table.standing = self.moments(always.answers)
            table.whens = self.conditions(always.answers)
            table.stands = bool(table.standing or table.whens)
        if self.machine.live:
            table.first_live = self.steps.bind(self.machine.live)
        for state in self.machine.states.values():
            table.nodes[state.name] = self.node(state)
        table.entrance = table.nodes[table.first]
        table.nodes[END] = CompiledState(END, FINAL, NO_LAYER, str(self.machine.place))
        for state in self.machine.states.values():
            self.state_rows(state, always)
        nodes = {**table.nodes, **KEPT}
        machine_class = TransitionsMachine if self.program.stock else LeanMachine
        machine = table.machine = machine_class(
            model=None,
            states=list(nodes),
            initial=None,
            auto_transitions=False,
            model_attribute="_state",
        )
        part = self.steps.alone if self.program.stock else _as_written
        for name, source, destination, *parts in self.rows:
            conditions, before = [[part(one)] if one is not None else [] for one in parts]
            machine.add_transition(name, source, destination, conditions=conditions, before=before)
        for name, event in machine.events.items():
            for source in event.transitions:
                places = self.places(name)
                if isinstance(event, LeanEvent):
                    take = self.steps.take(event.rows(source, nodes), places, table.peer_slot)
                else:
                    bind = self.steps.bind_fields(places, table.peer_slot) if places else None
                    take = stock_take(event, source, nodes, bind)
                nodes[source].takes[name] = take
        for node in table.nodes.values():
            node.then = node.takes.get(".then")

    # -- layers ------------------------------------------------------------------------------------------------------

    def layer(self, prefix: str, answers: Handlers, awaits: Any, ask: State | None) -> HandlerScope:
        """Compile what a state or an always lists. Only a state that asks takes answers from its player."""
        audience: Value | Literal["inner", "partner"] = "inner"
        if awaits is not None:
            audience = self.steps.value(awaits)
        elif self.program.one_partner:
            audience = "partner"
        readers: dict[str, list[MessageHandler]] = {}
        player: dict[str, MessageHandler] = {}
        messages = self.program.spec.messages
        for name in answers.receive:
            message: Message = messages[name]
            shape = self.program.shapes[name]
            slots = tuple(self.table.slot_of[field] for field in shape.fields)
            reader: MessageHandler = (prefix + name, shape, side_by_side(slots))
            if ask is not None and self.program.role.name in message.senders:
                player[name] = reader
            for role in self.program.seat_roles:
                if self.program.may_hear(role, message):
                    readers.setdefault(role, []).append(reader)
        events = frozenset(event for event, _ in answers.choices() if event.startswith("."))
        by_role = {role: tuple(found) for role, found in readers.items()}
        return HandlerScope(prefix, audience, by_role, player, events, parses=self.program.parses)

    def places(self, event: str) -> tuple[int, ...]:
        """Return the slots of what an event brings: the fields of a message, or how a started machine has ended."""
        table, name = self.table, event.removeprefix("always:")
        if name == ".ended":
            return (table.result_slot, table.reason_slot) if table.reason_slot else (table.result_slot,)
        shape = self.program.shapes.get(name)
        return tuple(table.slot_of[field] for field in shape.fields) if shape is not None else ()

    def moments(self, answers: Handlers) -> tuple[tuple[str, bool, Value], ...]:
        """Compile the clocks beside the limit: (event, whether it repeats, how long)."""

        def listed(kind: str, moments: tuple[Timer, ...]) -> Iterator[tuple[str, bool, Value]]:
            for index, moment in enumerate(moments):
                yield f".{kind}{index}", kind == "every", self.steps.value(moment.wait)

        return (*listed("after", answers.after), *listed("every", answers.every))

    def conditions(self, answers: Handlers) -> tuple[AwaitedCondition, ...]:
        """Compile what is under ``when``."""
        own = {name for name, _ in bindings(self.machine, self.program.spec)}
        changing = (own - {*self.table.live, *self.scope.around}) | {"peer", "reason", "result", "running"}
        return tuple(
            AwaitedCondition(f".when{index}", self.steps.guard(one.wait), is_live_only(one.wait, changing))
            for index, one in enumerate(answers.when)
        )

    def seconds(self, expression: Expression) -> Value:
        """Compile a limit to a closure that gives its seconds."""
        value = self.steps.value(expression)
        return lambda slots: duration(value(slots))

    def known_seconds(self, expression: Expression) -> float | None:
        """Return the seconds of a limit that is a setting; None if they are known only when it runs."""
        if isinstance(expression, Name) and expression.name not in self.table.slot_of:
            setting = self.program.spec.settings.get(expression.name)
            if setting is not None and type(setting.value) in (int, float):
                return duration(setting.value)
        return None

    # -- nodes -------------------------------------------------------------------------------------------------------

    def node(self, state: State) -> CompiledState:
        """Compile one state: what is done on entry, and what it then waits for or calls."""
        kind = _kind(state)
        layer = self.layer("", state.answers, state.awaits, state if state.ask is not None else None)
        node = CompiledState(state.name, kind, layer, f"{state.place.file}:{state.place.line}")
        node.state = state
        node.entry = self.steps.entry(state.steps, state.awaits if state.awaits is not None else self.partner())
        node.binds = kind not in (PASS, WAIT) or _lets(state.steps)
        node.binds_then = state.then is None or any(_lets(branch.steps) for branch in all_branches(state.then))
        self.wait(node, state)
        if state.run is not None:
            node.run = (state.run.path, self.steps.arguments(state.run.arguments or ()))
        if state.bindings and state.accept is None:
            node.bind = self.steps.bind(state.bindings)
            parts = [part for binding in state.bindings for part in walk(binding.value)]
            node.timeless = not any(
                (isinstance(part, Name) and part.name == "elapsed") or (isinstance(part, Call) and part.path == "gone")
                for part in parts
            )
        if state.each is not None:
            node.each = self.each(state.each)
            node.in_turn = self.program.quick and state.run is not None and node.each.parallel is None
        if state.accept is not None:
            node.accept = self.accept(state.accept)
        return node

    def wait(self, node: CompiledState, state: State) -> None:
        """Compile whom a state awaits, what it asks, and its clocks and conditions."""
        if state.awaits is not None:
            node.awaits = self.steps.value(state.awaits)
        elif node.kind == WAIT and state.ask is None:
            node.awaits = self.partner()
        if state.within is not None:
            node.seconds = self.known_seconds(state.within)
            node.within = self.seconds(state.within) if node.seconds is None else None
        node.moments, node.whens = self.moments(state.answers), self.conditions(state.answers)
        node.timed = node.kind == WAIT or state.within is not None or bool(node.moments or node.whens)
        if state.ask is not None:
            arguments = state.ask.arguments or ()
            names = tuple(a.name if isinstance(a, Name) else str(i) for i, a in enumerate(arguments))
            node.asked = (state.ask.path, names, self.steps.arguments(arguments), tuple(node.layer.answers))
        plain = state.ask is None and node.awaits is not None and node.seconds is not None
        node.plain = self.program.quick and node.kind == WAIT and plain and not (node.moments or node.whens)

    def each(self, each: Each) -> CompiledEach:
        """Compile the items of a loop."""
        return CompiledEach(
            self.table.slot_of[each.name],
            self.steps.value(each.items),
            self.steps.guard(each.guard) if each.guard is not None else None,
            self.steps.guard(each.until) if each.until is not None else None,
            self.steps.value(each.parallel) if each.parallel is not None else None,
        )

    def accept(self, accept: Accept) -> CompiledAccept:
        """Compile a sign-up."""
        arguments = self.steps.arguments(accept.machine.arguments or ())
        slot, peer_slot = self.table.slot_of[accept.name], self.table.slot_of["peer"]
        compiled = CompiledAccept(accept.name, accept.machine.path, arguments, slot, peer_slot)
        compiled.seats = self.steps.value(accept.seats) if accept.seats is not None else None
        compiled.linger = self.steps.value(accept.linger) if accept.linger is not None else None
        return compiled

    def partner(self) -> Value | None:
        """Return how to read the only peer of the role, if it has only one."""
        if not self.program.one_partner:
            return None
        return lambda slots: slots[0].tree.seats[0].peer

    def speaker(self, awaited: Expression | None) -> Value:
        """Return how to read the peer at hand under an event: who spoke, or is awaited, or is the only one."""
        partner = self.steps.value(awaited) if awaited is not None else self.partner()

        def speaking(slots: Slots) -> Any:
            peer = slots[0].tree.speaker
            if peer is None:
                if partner is None:
                    raise LookupError("no peer is at hand here: name the receiver")
                return partner(slots)
            return peer

        return speaking

    # -- rows --------------------------------------------------------------------------------------------------------

    def state_rows(self, state: State, always: Always | None) -> None:
        """Add every row that leaves a state: its own, those of ``always``, and what follows its own work."""
        speaker = self.speaker(state.awaits)
        for event, choice in state.answers.choices():
            self.choice_rows(event, state.name, state.name, choice, speaker)
        if state.then is not None:
            self.choice_rows(".then", state.name, state.name, state.then, self.partner())
        if always is not None:
            speaker = self.speaker(always.awaits)
            for event, choice in always.answers.choices():
                self.choice_rows("always:" + event, state.name, state.name, choice, speaker)

    def choice_rows(self, event: str, source: str, origin: str, choice: Choice, at_hand: AtHand) -> None:
        """Add the rows of one choice; ``origin`` is the state that ``stay`` keeps."""
        for branch in choice.branches:
            match branch.next:
                case Goto(state):
                    destination = state
                case Stay(again=again):
                    destination = ".again" if again else ".stay"
                case Return():
                    destination = END
                case Choice():
                    self.hidden += 1
                    destination = f"{origin}/{self.hidden}"
                    self.table.nodes[destination] = CompiledState(destination, CHOICE, NO_LAYER, str(branch.place))
            condition, action = self.steps.condition(branch), self.steps.action(branch, at_hand)
            self.rows.append((event, source, destination, condition, action))
            if isinstance(branch.next, Choice):
                self.choice_rows(".then", f"{origin}/{self.hidden}", origin, branch.next, at_hand)


def _as_written(part: Written) -> Any:
    return part  # a lean event writes its rows as one function, and calls no part


def _kind(state: State) -> Kind:
    if state.run is not None:
        return CALL
    if state.accept is not None:
        return ACCEPT
    if state.each is not None:
        return EACH
    return WAIT if state.ask is not None or state.waits else PASS


def _lets(steps: tuple[Step, ...]) -> bool:
    return any(isinstance(step, Let) for step in steps)
