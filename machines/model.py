"""A spec as data: what the reader makes of the YAML, and what table, checker and pictures read.

Everything is frozen and knows its place in the file. Nothing here runs.

    Spec ── settings, types, messages
     └─ Role ── Machine ── always: Answers
                   └─ State ── steps, then one of: run | accept | ask/receive | nothing
                        └─ Answers: event -> Choice -> Branch ── guard, steps, next
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from machines.claims import Property as Property
from machines.claims import StatePredicate as StatePredicate
from machines.claims import Suppression as Suppression
from machines.expression_nodes import Attribute as Attribute
from machines.expression_nodes import Binary as Binary
from machines.expression_nodes import Call as Call
from machines.expression_nodes import Comprehension as Comprehension
from machines.expression_nodes import Conditional as Conditional
from machines.expression_nodes import Constant as Constant
from machines.expression_nodes import Expression as Expression
from machines.expression_nodes import Item as Item
from machines.expression_nodes import Mapped as Mapped
from machines.expression_nodes import Name as Name
from machines.expression_nodes import Sequence as Sequence
from machines.expression_nodes import Unary as Unary
from machines.frame_parts import Count, PlainPart
from machines.frame_parts import FrameBytes as FrameBytes
from machines.frame_parts import FrameUntil as FrameUntil
from machines.limits import Early as Early
from machines.limits import Wire as Wire
from machines.message_nodes import Body as Body
from machines.message_nodes import BodyList as BodyList
from machines.message_nodes import BodyMap as BodyMap
from machines.message_nodes import Enumeration as Enumeration
from machines.message_nodes import Field as Field
from machines.message_nodes import Interval as Interval
from machines.message_nodes import Key as Key
from machines.message_nodes import ListType as ListType
from machines.message_nodes import LiteralBody as LiteralBody
from machines.message_nodes import MapOf as MapOf
from machines.message_nodes import Message as Message
from machines.message_nodes import Named as Named
from machines.message_nodes import ObjectType as ObjectType
from machines.message_nodes import Pattern as Pattern
from machines.message_nodes import Scalar as Scalar
from machines.message_nodes import Text as Text
from machines.message_nodes import TupleType as TupleType
from machines.message_nodes import Type as Type
from machines.message_nodes import Union as Union
from machines.message_nodes import fields_of as fields_of
from machines.message_nodes import texts_of as texts_of
from machines.problems import Place

# -- frames ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FrameLine:
    """A line of a frame. ``pattern`` has literals at even places and names at odd ones; None: any text.

    ``shorter`` has the pattern without pieces that may be missing, in the order in which they are tried. ``values`` are
    the names that count nothing, each with the type of its field, None for any text; the others are counts, those in
    ``hexadecimal`` not decimal. ``any_case`` says that a to z in the literals may be capitals or not.
    """

    pattern: tuple[str, ...] | None
    place: Place = field(compare=False)
    values: tuple[tuple[str, Type | None], ...] = ()
    shorter: tuple[tuple[str, ...], ...] = ()
    hexadecimal: frozenset[str] = frozenset()
    any_case: bool = False
    text: str = field(default="", compare=False)  # as it is written in the spec


@dataclass(frozen=True, slots=True)
class FrameRepeat:
    """So many times the same parts."""

    count: Count
    parts: tuple[FramePart, ...]
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class FrameSize:
    """Parts that have so many bytes together; what they say stands beside what the parts around them say."""

    size: Count
    parts: tuple[FramePart, ...]
    place: Place = field(compare=False)


FramePart = FrameLine | FrameRepeat | FrameSize | PlainPart
CompositeFrame = tuple[FramePart, ...]


# -- steps, branches, answers ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Binding:
    """``name: value``, or ``peer.field: value`` (then ``target`` is ``peer`` and ``field`` its field)."""

    target: str
    field: str | None
    value: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Let:
    """Bind names; all right sides see the old values."""

    bindings: tuple[Binding, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class SendMessages:
    """Send messages, in order, to ``receivers`` (a peer or a list of peers), or to the peer at hand (None)."""

    receivers: Expression | None
    messages: tuple[Call, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class DropPeers:
    """Close a peer, or each of a list, once all sent before is out."""

    peers: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Secure:
    """Speak TLS with a peer, or each of a list, from here on; what it said before and nobody has read is forgotten."""

    peers: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a machine that nobody waits for."""

    machine: Call
    place: Place


Step = Let | Start | SendMessages | Secure | DropPeers


@dataclass(frozen=True, slots=True)
class Goto:
    """Enter a state afresh (also the present one)."""

    state: str
    place: Place


@dataclass(frozen=True, slots=True)
class Stay:
    """Keep the state: its steps are not run again; its clock runs on, or with ``again`` starts afresh."""

    again: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Return:
    """End the machine with a value; ``outcome`` says how the match went: ``ranking``, ``faults`` and ``points``."""

    value: Expression
    place: Place
    outcome: Mapped | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Branches in order; the first that may be taken is."""

    branches: tuple[Branch, ...]
    place: Place


Next = Goto | Stay | Return | Choice


@dataclass(frozen=True, slots=True)
class Branch:
    """One way to go on: may it be taken, what is done, what is next.

    ``limit`` is a setting's name or a number or rate given in place: so many times since the state was entered, or
    in so many seconds.
    """

    guard: Expression | None
    limit: Expression | None
    steps: tuple[Step, ...]
    next: Next
    place: Place


@dataclass(frozen=True, slots=True)
class Timer:
    """``after: {25 s: branch}``, ``every: {10 s: branch}``, or ``when: {condition: branch}``: what is waited for."""

    wait: Expression
    choice: Choice
    place: Place


@dataclass(frozen=True, slots=True)
class Handlers:
    """What a state, or an ``always``, does about events. ``fault`` is already spelt out as the events it stands for."""

    receive: Mapping[str, Choice]
    timeout: Choice | None = None
    invalid: Choice | None = None
    closed: Choice | None = None
    failed: Choice | None = None
    connected: Choice | None = None
    seated: Choice | None = None
    ended: Choice | None = None
    after: tuple[Timer, ...] = ()
    every: tuple[Timer, ...] = ()
    when: tuple[Timer, ...] = ()

    def choices(self) -> Iterator[tuple[str, Choice]]:
        """Yield (event, choice) for every event answered; a message's event is its name, others start with a dot."""
        yield from self.receive.items()
        for event in ("timeout", "invalid", "closed", "failed", "connected", "seated", "ended"):
            choice: Choice | None = getattr(self, event)
            if choice is not None:
                yield "." + event, choice
        for kind, moments in (("after", self.after), ("every", self.every), ("when", self.when)):
            for index, moment in enumerate(moments):
                yield f".{kind}{index}", moment.choice


# -- states, machines, roles -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Each:
    """Do the state's keys for each item, skipping those whose ``guard`` fails when their turn comes.

    ``until`` is asked after each item and ends the loop when it holds. ``parallel`` is how many items run side by
    side, None for one after another.
    """

    name: str
    items: Expression
    guard: Expression | None
    until: Expression | None
    parallel: Expression | None
    place: Place


@dataclass(frozen=True, slots=True)
class Accept:
    """Run ``machine`` for each connection; those it returns for are seated, in that order, under ``name``.

    ``seats`` None keeps the sign-up open until the state is left. ``linger`` is how long to wait on once there are
    enough.
    """

    machine: Call
    name: str
    seats: Expression | None
    linger: Expression | None
    place: Place


@dataclass(frozen=True, slots=True)
class State:
    """One state. Its keys are done in a fixed order, whatever the order written (see specs/README.md).

    Exactly one of ``run``, ``accept``, ``ask`` may be set. A state waits if it has ``ask``, or ``waits`` is set
    (it wrote ``receive``, ``await`` or ``within`` without calling anything). ``bindings`` is what ``as`` binds of a
    call's result, which is called ``result`` there; a bare ``as: t`` is a binding of ``t`` to the name ``result``.
    ``then`` is what follows once the state is through with its steps, its call or its items; None for a state that
    only leaves by events.
    """

    name: str
    steps: tuple[Step, ...]
    each: Each | None
    run: Call | None
    accept: Accept | None
    ask: Call | None
    waits: bool
    awaits: Expression | None
    within: Expression | None
    bindings: tuple[Binding, ...]
    answers: Handlers
    then: Choice | None
    early: Early | None
    place: Place
    doc: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Always:
    """Answers that stand behind every state of a machine and of the machines called from there."""

    awaits: Expression | None
    within: Expression | None
    answers: Handlers
    place: Place


@dataclass(frozen=True, slots=True)
class Machine:
    """One named machine of a role; it starts in its first state."""

    name: str
    role: str
    parameters: tuple[str, ...]
    always: Always | None
    states: Mapping[str, State]
    early: Early | None
    place: Place
    live: tuple[Binding, ...] = ()  # values with their first value, shared with the machines it runs and starts
    doc: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Role:
    """The machines of a role by name; ``main`` is entered first."""

    name: str
    machines: Mapping[str, Machine]
    early: Early | None
    place: Place
    doc: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value a person may override: float seconds for a duration, Range, Rate, int, float, bool or text."""

    name: str
    value: Any
    kind: Literal["duration", "range", "rate", "int", "number", "bool", "text"]
    place: Place
    doc: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    """A declared type."""

    name: str
    type: Type
    place: Place
    doc: str = field(default="", compare=False)
    examples: tuple[Any, ...] = field(default=(), compare=False)  # frozen, as on the wire


@dataclass(frozen=True, slots=True)
class Spec:
    """One protocol, read and understood. ``connects`` maps a role to the roles it opens a connection to, in order."""

    protocol: str
    title: str
    wire: Wire
    rules: tuple[tuple[str, Place], ...]
    connects: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, Setting]
    types: Mapping[str, TypeDeclaration]
    messages: Mapping[str, Message]
    roles: Mapping[str, Role]
    file: str
    place: Place
    frames: Mapping[str, CompositeFrame] = field(default_factory=dict)  # of messages that are not lines, by name
    accepted: tuple[Suppression, ...] = ()
    properties: tuple[Property, ...] = ()
    doc: str = field(default="", compare=False)
    foreign: Mapping[str, Place] = field(default_factory=dict)  # roles that others play: not among `roles`

    def all_roles(self) -> tuple[str, ...]:
        """The names of all roles, those that others play last."""
        return (*self.roles, *self.foreign)

    def of_ours(self) -> Spec:
        """The same without the foreign roles that connect to ours; itself if there are none."""
        ours = {role: targets for role, targets in self.connects.items() if role not in self.foreign}
        return replace(self, connects=ours, foreign={}) if self.foreign else self

    def uses_part(self, role: str) -> bool:
        """Whether a role needs no more of the messages than it uses: it connects to one that others play."""
        return any(target in self.foreign for target in self.connects.get(role, ()))

    def listeners(self) -> tuple[str, ...]:
        """The roles that others connect to, in the order in which the file has them."""
        targets = {target for listed in self.connects.values() for target in listed}
        return tuple(role for role in self.roles if role in targets)

    def peers_of(self, role: str) -> tuple[str, ...]:
        """The roles at the other end of a role's connections: those it connects to, then those that connect to it."""
        callers = [caller for caller, targets in self.connects.items() if role in targets]
        return (*self.connects.get(role, ()), *callers)

    def heard_by(self, role: str) -> tuple[Message, ...]:
        """The messages that a role may be sent, in file order."""
        others = self.peers_of(role)
        return tuple(message for message in self.messages.values() if any(s in others for s in message.senders))
