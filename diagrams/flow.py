"""A machine as what its picture consists of: nodes and arrows with their lines of text, not yet in any language.

    start ──▶ state ──?message──▶ state ──▶ end
                │ ▲
                ▼ └ what keeps the state stands inside its box
              choice

Every drawing of a machine reads this: one state diagram a machine, a role with its machines side by side, other
languages than DOT. Everything is in the order of the file, so the same spec gives the same drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isinf
from typing import Literal

from machines.expressions import show

from machines.model import (
    Always,
    Binding,
    Branch,
    Call,
    Choice,
    Constant,
    Drop,
    Each,
    Expression,
    Goto,
    Let,
    Machine,
    Name,
    Return,
    Send,
    Spec,
    State,
    Stay,
    Step,
)
from machines.problems import Place

KEEPS = "↺"  # before a branch that keeps the state

# Past these, arrows end at marks beside their source (see _Tracer._near). The shipped specs stay below.
SOURCES_OF_AN_END_MAX = 4
SOURCES_OF_A_STATE_MAX = 8
STEPS_TO_A_HUB_MAX = 2
STATES_OF_A_SMALL_MACHINE_MAX = 40
STEPS_MAX = 8
FAULTS = ("timeout", "invalid", "closed")


class Kind(StrEnum):
    """What an arrow stands for; each has its own colour, line and tail (see ``looks``)."""

    START = "start"
    PASS = "pass on"
    MESSAGE = "message received"
    ANSWER = "answer of the player"
    SEAT = "connection"
    CLOCK = "clock"
    INVALID = "invalid"
    CLOSED = "closed"
    FAILED = "failed"
    FAULT = "several faults"


class Voice(StrEnum):
    """What a line of text says, and so how it is set."""

    LOOP = "loop"
    NAME = "name"
    CALL = "call"
    EVENT = "event"
    GUARD = "guard"
    SEND = "send"
    DROP = "drop"
    LET = "let"
    WAIT = "wait"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a label before it is wrapped; ``kind`` colours an EVENT."""

    voice: Voice
    text: str
    kind: Kind = Kind.PASS


@dataclass(frozen=True, slots=True)
class Label:
    """The lines of one branch, and the branch's place; ``detail`` is what only the tooltip says, a line each."""

    lines: tuple[Line, ...]
    detail: tuple[str, ...]
    place: Place


NodeKind = Literal["start", "state", "choice", "junction", "end", "jump", "always"]


@dataclass(frozen=True, slots=True)
class Node:
    """A mark or a box.

    ``name`` is unique in its flow, among nodes of any kind. ``lines`` are the box's text, ``inside`` the branches
    that keep the state. ``calls`` is the machine that runs there. A jump's line is the name of the state it stands for.
    """

    name: str
    kind: NodeKind
    place: Place
    lines: tuple[Line, ...] = ()
    inside: tuple[Label, ...] = ()
    detail: tuple[str, ...] = ()
    calls: str | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """All branches of one kind that lead from one node to another."""

    source: str
    target: str
    kind: Kind
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """A machine's nodes and arrows, in the order of the file, and the machines of its role that run it."""

    machine: Machine
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    callers: tuple[str, ...]


def flow(spec: Spec, role: str, machine: str) -> Flow:
    """Return the nodes and arrows of one machine.

    Raises:
        KeyError: the spec has no such role, or the role no such machine.
    """
    return _Tracer(spec, spec.roles[role].machines[machine]).trace()


def backward(drawn: Flow) -> frozenset[int]:
    """Return the indices of the arrows that lead back to a node on the way to their source, loops included.

    Found by the same depth-first walk by which Graphviz decides which arrows run upwards.
    """
    onward: dict[str, list[tuple[int, str]]] = {}
    for index, arrow in enumerate(drawn.arrows):
        onward.setdefault(arrow.source, []).append((index, arrow.target))
    back: set[int] = set()
    done: set[str] = set()
    for node in drawn.nodes:
        # An explicit stack: a machine of a thousand states in a row is deeper than Python's own allows.
        way = [(node.name, iter(onward.get(node.name, ())))] if node.name not in done else []
        done.add(node.name)
        while way:
            step = next(way[-1][1], None)
            if step is None:
                way.pop()
            elif any(step[1] == name for name, _ in way):
                back.add(step[0])
            elif step[1] not in done:
                done.add(step[1])
                way.append((step[1], iter(onward.get(step[1], ()))))
    return frozenset(back)


# -- texts -----------------------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """Return a duration as a spec writes it: ``5 s``, ``10 min``, ``400 ms``, ``never``.

    >>> duration(600.0), duration(0.4), duration(90.0)
    ('10 min', '400 ms', '90 s')
    """
    if isinf(seconds):
        return "never"
    if 0 < seconds < 1 or seconds % 1:
        return f"{seconds * 1000:g} ms"
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def quantity(spec: Spec, expression: Expression, *, time: bool = False) -> str:
    """Return an expression as text, with the value of a setting after its name; ``time``: a number is seconds."""
    if isinstance(expression, Constant) and time and type(expression.value) in (int, float):
        return duration(float(expression.value))
    if isinstance(expression, Name) and expression.name in spec.settings:
        setting = spec.settings[expression.name]
        value = duration(setting.value) if setting.kind == "duration" else setting.value
        return f"{expression.name} ({value})"
    return show(expression)


def _told(call: Call) -> str:
    """A message as it is sent: its arguments only where each is a constant, ``told(false)``."""
    if call.arguments and all(isinstance(argument, Constant) for argument in call.arguments):
        return show(call)
    return call.path


def _bound(binding: Binding) -> str:
    target = binding.target if binding.field is None else f"{binding.target}.{binding.field}"
    return f"{target} := {show(binding.value)}"


def _line_of(place: Place) -> str:
    return f"line {place.line}"


# -- tracing ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tracer:
    """Collects the nodes and arrows of one machine."""

    spec: Spec
    machine: Machine
    ends: dict[str, Node] = field(default_factory=dict)
    junctions: list[Node] = field(default_factory=list)
    arrows: dict[tuple[str, str, Kind], list[Label]] = field(default_factory=dict)
    inside: dict[str, list[Label]] = field(default_factory=dict)

    def trace(self) -> Flow:
        first = next(iter(self.machine.states.values()))
        start = Node(".start", "start", self.machine.place, detail=("the machine starts here",))
        self.arrows[start.name, first.name, Kind.START] = []
        nodes = [start]
        if self.machine.always is not None:
            self._events(".always", None, self.machine.always)
            nodes.append(self._always_node(self.machine.always))
        for state in self.machine.states.values():
            self._events(state.name, state, None)
            self._onward(state)
            nodes.append(self._state_node(state))
        arrows, marks = self._near()
        called_by = tuple(dict.fromkeys(caller.name for caller, _ in callers(self.spec, self.machine)))
        return Flow(self.machine, (*nodes, *self.junctions, *marks), arrows, called_by)

    def _near(self) -> tuple[tuple[Arrow, ...], tuple[Node, ...]]:
        """The arrows, and the end marks and jump marks: a mark beside its source in place of a tangle.

        Where many arrows meet at one end, each source has a mark of its own; where many meet at one state, or the
        machine is large and the state far off in the file, a jump mark stands for the state. Fifty long arrows to one
        mark say nothing, and cost Graphviz minutes.
        """
        order = {name: index for index, name in enumerate(self.machine.states)}
        sources: dict[str, dict[str, None]] = {}
        for source, target, _ in self.arrows:
            sources.setdefault(target, {})[source] = None
        ends = {end.name: end for end in self.ends.values()}
        marks: dict[tuple[str, str], Node] = {}
        for target, froms in sources.items():
            for number, source in enumerate(froms, 1):
                if target in ends:
                    shared = len(froms) <= SOURCES_OF_AN_END_MAX
                    end = ends[target]
                    marks[source, target] = end if shared else replace(end, name=f"{target}_{number}")
                elif target in order and source in order:
                    steps = abs(order[source] - order[target])
                    hub = len(froms) > SOURCES_OF_A_STATE_MAX and steps > STEPS_TO_A_HUB_MAX
                    if hub or (len(order) > STATES_OF_A_SMALL_MACHINE_MAX and steps > STEPS_MAX):
                        line = Line(Voice.NAME, target)
                        place = self.machine.states[target].place
                        marks[source, target] = Node(f".jump{order[target] + 1}_{number}", "jump", place, (line,))
        arrows = tuple(
            Arrow(source, marks[source, target].name if (source, target) in marks else target, kind, tuple(labels))
            for (source, target, kind), labels in self.arrows.items()
        )
        return arrows, tuple(dict.fromkeys(marks.values()))

    # Branches become arrows or lines inside a box.

    def _events(self, source: str, state: State | None, always: Always | None) -> None:
        answers = state.answers if state is not None else always.answers if always is not None else None
        assert answers is not None
        sayings = [(self._event(event, state), choice) for event, choice in answers.choices()]
        # Faults that do the same, as those that `fault` stands for, are one line and one arrow.
        merged: dict[tuple[object, ...], tuple[list[Line], Choice]] = {}
        for index, (line, choice) in enumerate(sayings):
            mergeable = line.kind in (Kind.CLOCK, Kind.INVALID, Kind.CLOSED, Kind.FAILED)
            key = (_same(choice),) if mergeable and not line.text.startswith(("after", "every")) else (index,)
            merged.setdefault(key, ([], choice))[0].append(line)
        for lines, choice in merged.values():
            kind = lines[0].kind if len(lines) == 1 else Kind.FAULT
            line = Line(Voice.EVENT, ", ".join(line.text for line in lines), kind)
            self._branches(source, state, choice, kind, (line,), self._speaker(state, kind))

    def _onward(self, state: State) -> None:
        if state.then is not None:
            lines: tuple[Line, ...] = ()
            if state.each is not None:
                lines = (Line(Voice.NOTE, "after the last"),)
            elif state.accept is not None:
                lines = (Line(Voice.NOTE, "enough are seated"),)
            self._branches(state.name, state, state.then, Kind.PASS, lines, self._at_hand(state))

    def _branches(
        self, source: str, state: State | None, choice: Choice, kind: Kind, head: tuple[Line, ...], at_hand: str
    ) -> None:
        """Draw the branches of a choice from ``source``; ``head`` is the event, said once by each of them."""
        if _keeps(choice):
            lines = [*head, *self._kept(choice, at_hand, depth=0)]
            self._keep(source, Label(tuple(lines), self._detail(choice), choice.place))
            return
        for number, branch in enumerate(choice.branches, 1):
            lines = [*head, *self._branch(branch, number, len(choice.branches), at_hand)]
            label = Label(tuple(lines), self._detail(Choice((branch,), branch.place)), branch.place)
            match branch.next:
                case Goto(target, _):
                    self._arrow(source, target, kind, label)
                case Return(value, _):
                    self._arrow(source, self._end(value, branch.next.place), kind, label)
                case Stay(again, _) if source.startswith(".junction"):
                    said = Line(Voice.NOTE, "stays, clock restarted" if again else "stays")
                    self._arrow(source, state.name if state else ".always", kind, _with(label, said))
                case Stay(again, _):
                    said = Line(Voice.NOTE, "clock restarted")
                    self._keep(source, _with(label, said) if again else label)
                case Choice():
                    name = f".junction{len(self.junctions) + 1}"
                    self.junctions.append(Node(name, "junction", branch.next.place))
                    self._arrow(source, name, kind, label)
                    self._branches(name, state, branch.next, Kind.PASS, (), at_hand)

    def _kept(self, choice: Choice, at_hand: str, depth: int) -> Iterator[Line]:
        """The lines of a choice all of whose ends keep the state; nested choices are indented."""
        for number, branch in enumerate(choice.branches, 1):
            for line in self._branch(branch, number, len(choice.branches), at_hand):
                yield Line(line.voice, "\N{NO-BREAK SPACE}" * 2 * depth + line.text, line.kind)
            if isinstance(branch.next, Choice):
                yield from self._kept(branch.next, at_hand, depth + 1)
            elif isinstance(branch.next, Stay) and branch.next.again:
                yield Line(Voice.NOTE, "clock restarted")

    def _keep(self, source: str, label: Label) -> None:
        first, *others = label.lines
        marked = Line(first.voice, f"{KEEPS} {first.text}", first.kind)
        self.inside.setdefault(source, []).append(Label((marked, *others), label.detail, label.place))

    def _arrow(self, source: str, target: str, kind: Kind, label: Label) -> None:
        self.arrows.setdefault((source, target, kind), []).append(label)

    def _end(self, value: Expression, place: Place) -> str:
        text = show(value)
        if text not in self.ends:
            name = f".end{len(self.ends) + 1}"
            self.ends[text] = Node(name, "end", place, (Line(Voice.NAME, text),))
        return self.ends[text].name

    # Texts.

    def _event(self, event: str, state: State | None) -> Line:
        """The line that names an event: ``? NAME`` for a message, a word for all others."""
        if not event.startswith("."):
            message = self.spec.messages.get(event)
            asked = state is not None and state.ask is not None
            if asked and message is not None and self.machine.role in message.senders:
                return Line(Voice.EVENT, f"answer {event}", Kind.ANSWER)
            return Line(Voice.EVENT, f"? {event}", Kind.MESSAGE)
        word = event[1:]
        answers = state.answers if state is not None else self.machine.always.answers if self.machine.always else None
        assert answers is not None
        for way, moments in (("after", answers.after), ("every", answers.every)):
            if word.startswith(way):
                wait = moments[int(word.removeprefix(way))].wait
                return Line(Voice.EVENT, f"{way} {quantity(self.spec, wait, time=True)}", Kind.CLOCK)
        kinds = {"timeout": Kind.CLOCK, "invalid": Kind.INVALID, "closed": Kind.CLOSED, "failed": Kind.FAILED}
        return Line(Voice.EVENT, word, kinds.get(word, Kind.SEAT))

    def _branch(self, branch: Branch, number: int, of: int, at_hand: str) -> Iterator[Line]:
        """The lines of a branch after the event: its number among several, its guard and limit, what it does."""
        count = f"{number} " if of > 1 else ""
        if branch.guard is not None:
            yield Line(Voice.GUARD, f"{count}[{show(branch.guard)}]")
        elif of > 1:
            yield Line(Voice.GUARD, f"{count}[else]" if branch.limit is None else f"{number}")
        if branch.limit is not None:
            yield Line(Voice.GUARD, f"[at most {quantity(self.spec, branch.limit)}]")
        yield from self._steps(branch.steps, at_hand)

    def _steps(self, steps: Iterable[Step], at_hand: str) -> Iterator[Line]:
        for step in steps:
            match step:
                case Let(bindings, _):
                    yield from (Line(Voice.LET, _bound(binding)) for binding in bindings)
                case Send(receivers, messages, _):
                    to = at_hand if receivers is None else show(receivers)
                    for message in messages:
                        yield Line(Voice.SEND, f"! {_told(message)}" + (f" → {to}" if to else ""))
                case Drop(peers, _):
                    yield Line(Voice.DROP, f"drop {show(peers)}")

    def _speaker(self, state: State | None, kind: Kind) -> str:
        """Whom a send without receivers goes to after an event: who spoke, called ``peer``, unless there is but one."""
        awaits = state is not None and state.awaits is not None
        return "peer" if kind is Kind.SEAT or (awaits and kind is not Kind.ANSWER) else self._at_hand(state)

    def _at_hand(self, state: State | None) -> str:
        """Whom a send without receivers goes to outside of an event."""
        if state is not None and state.awaits is not None:
            return show(state.awaits)
        peers = self.spec.peers_of(self.machine.role)
        return peers[0] if len(peers) == 1 else "peer"

    def _detail(self, choice: Choice) -> tuple[str, ...]:
        """The messages of a choice with all they are sent with, for the tooltip."""
        return tuple(dict.fromkeys(_sent_in_full(choice)))

    # Boxes.

    def _always_node(self, always: Always) -> Node:
        lines = [Line(Voice.NAME, "in every state")]
        lines += self._waiting(always.awaits, always.within)
        return Node(".always", "always", always.place, tuple(lines), tuple(self.inside.get(".always", ())))

    def _waiting(self, awaits: Expression | None, within: Expression | None) -> Iterator[Line]:
        if awaits is not None:
            yield Line(Voice.WAIT, f"await: {show(awaits)}")
        if within is not None:
            yield Line(Voice.WAIT, f"within: {quantity(self.spec, within, time=True)}")

    def _state_node(self, state: State) -> Node:
        inside = tuple(self.inside.get(state.name, ()))
        name = Line(Voice.NAME, state.name)
        if is_choice(state):
            return Node(state.name, "choice", state.place, (name,), inside)
        lines = [*self._loop(state.each), name, *self._steps(state.steps, self._at_hand(state))]
        if state.run is not None:
            lines.append(Line(Voice.CALL, f"run {show(state.run)}"))
        if state.ask is not None:
            lines.append(Line(Voice.CALL, f"ask {show(state.ask)}"))
        if state.accept is not None:
            lines += self._door(state)
        lines += self._waiting(state.awaits, state.within)
        bare = [b for b in state.bindings if isinstance(b.value, Name) and b.value.name == "result"]
        lines += [Line(Voice.LET, f"as {b.target}" if b in bare else _bound(b)) for b in state.bindings]
        lines += self._elsewhere(state)
        call = state.run or (state.accept.machine if state.accept is not None else None)
        detail = tuple(dict.fromkeys(_sends_in_full(state.steps)))
        return Node(
            state.name, "state", state.place, tuple(lines), inside, detail, call.path if call is not None else None
        )

    def _loop(self, each: Each | None) -> Iterator[Line]:
        if each is None:
            return
        yield Line(Voice.LOOP, f"for each {each.name} in {show(each.items)}")
        if each.guard is not None:
            yield Line(Voice.LOOP, f"if {show(each.guard)}")
        if each.until is not None:
            yield Line(Voice.LOOP, f"until {show(each.until)}")
        if each.parallel is not None:
            yield Line(Voice.LOOP, f"side by side: {quantity(self.spec, each.parallel)}")

    def _door(self, state: State) -> Iterator[Line]:
        accept = state.accept
        assert accept is not None
        yield Line(Voice.CALL, f"accept {show(accept.machine)} as {accept.name}")
        if accept.seats is not None:
            yield Line(Voice.WAIT, f"seats: {quantity(self.spec, accept.seats)}")
        if accept.linger is not None:
            yield Line(Voice.WAIT, f"linger: {quantity(self.spec, accept.linger, time=True)}")

    def _elsewhere(self, state: State) -> Iterator[Line]:
        """Faults of a wait that neither the state nor its machine answers, and which machine around them does."""
        if not (state.waits or state.ask is not None):
            return
        here = [state.answers, *([self.machine.always.answers] if self.machine.always is not None else [])]
        found: dict[str, list[str]] = {}
        for fault in FAULTS:
            if any(getattr(answers, fault) is not None for answers in here):
                continue
            if fault == "timeout" and not _limited(self.spec, self.machine, state):
                continue
            for who in answered_by(self.spec, self.machine, fault):
                found.setdefault(who, []).append(fault)
        for who, faults in found.items():
            yield Line(Voice.NOTE, f"{', '.join(faults)}: {who}")


def is_choice(state: State) -> bool:
    """Whether a state does nothing but choose among branches, and so is drawn as a diamond."""
    does = state.steps or state.each or state.run or state.accept or state.ask or state.waits
    if does or any(True for _ in state.answers.choices()) or state.then is None:
        return False
    return len(state.then.branches) > 1


def callers(spec: Spec, machine: Machine) -> Iterator[tuple[Machine, State]]:
    """Yield the machines of the same role that call a machine, each with the state that does."""
    for caller in spec.roles[machine.role].machines.values():
        for state in caller.states.values():
            call = state.run or (state.accept.machine if state.accept is not None else None)
            if call is not None and call.path == machine.name:
                yield caller, state


def answered_by(spec: Spec, machine: Machine, fault: str) -> tuple[str, ...]:
    """Say who answers a fault that a machine does not: ``see game``, ``no seat``; nothing if the session ends.

    The state that calls stands between the machine called and the caller's own ``always``. What a sign-up machine
    leaves unanswered costs the peer its seat.
    """
    found: dict[str, None] = {}
    for caller, state in callers(spec, machine):
        if state.accept is not None:
            found["no seat"] = None
        elif getattr(state.answers, fault) is not None or (
            caller.always is not None and getattr(caller.always.answers, fault) is not None
        ):
            found[f"see {caller.name}"] = None
        else:
            found.update(dict.fromkeys(answered_by(spec, caller, fault)))
    return tuple(found)


def _limited(spec: Spec, machine: Machine, state: State) -> bool:
    """Whether a wait has a time limit of its own or from an ``always`` around it."""
    if state.within is not None or (machine.always is not None and machine.always.within is not None):
        return True
    return any(_limited(spec, caller, calling) for caller, calling in callers(spec, machine))


def _keeps(choice: Choice) -> bool:
    """Whether every end of a choice keeps the state."""
    return all(
        isinstance(branch.next, Stay) or (isinstance(branch.next, Choice) and _keeps(branch.next))
        for branch in choice.branches
    )


def _with(label: Label, line: Line) -> Label:
    return Label((*label.lines, line), label.detail, label.place)


def _sends_in_full(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Send):
            yield from (f"! {show(message)}" for message in step.messages if message.arguments)


def _sent_in_full(choice: Choice) -> Iterator[str]:
    for branch in choice.branches:
        yield from _sends_in_full(branch.steps)
        if isinstance(branch.next, Choice):
            yield from _sent_in_full(branch.next)


def _same(choice: Choice) -> tuple[object, ...]:
    """What a choice does, without its places: equal for two that do the same."""

    def text(expression: Expression | None) -> str:
        return "" if expression is None else show(expression)

    def step(step: Step) -> tuple[object, ...]:
        match step:
            case Let(bindings, _):
                return ("let", *map(_bound, bindings))
            case Send(receivers, messages, _):
                return ("send", text(receivers), *map(show, messages))
            case Drop(peers, _):
                return ("drop", show(peers))

    def onward(branch: Branch) -> object:
        match branch.next:
            case Goto(state, _):
                return state
            case Stay(again, _):
                return again
            case Return(value, _):
                return ("return", show(value))
            case Choice():
                return _same(branch.next)

    return tuple(
        (text(branch.guard), text(branch.limit), tuple(map(step, branch.steps)), onward(branch))
        for branch in choice.branches
    )
