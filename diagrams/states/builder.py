"""A spec's machine traced into the nodes and arrows of its picture.

States, branches and answers are walked in the order of the file, so the same spec gives the same drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from diagrams.rendering.expressions import show
from diagrams.states.model import KEEPS, Arrow, Kind, Label, Line, LineRole, Node, StateDiagram, untangled
from diagrams.states.parting import parted
from diagrams.states.phrases import bound, moment, outcome_parts, quantity, same, sends_in_full, sent_in_full, told
from machines.model import (
    Always,
    Branch,
    Choice,
    DropPeers,
    Each,
    Expression,
    Goto,
    Let,
    Machine,
    Return,
    Secure,
    SendMessages,
    Spec,
    Start,
    State,
    Stay,
    Step,
)
from machines.problems import Place

FAULTS = ("timeout", "invalid", "closed")  # what any wait may meet, answered or not


def flow(spec: Spec, role: str, machine: str) -> StateDiagram:
    """Return the nodes and arrows of one machine.

    Raises:
        KeyError: the spec has no such role, or the role no such machine.
    """
    return parted(untangled(_StateDiagramBuilder(spec, spec.roles[role].machines[machine]).trace()))


# -- tracing ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _StateDiagramBuilder:
    """Collects the nodes and arrows of one machine."""

    spec: Spec
    machine: Machine
    ends: dict[str, Node] = field(default_factory=dict)
    junctions: list[Node] = field(default_factory=list)
    arrows: dict[tuple[str, str, Kind], list[Label]] = field(default_factory=dict)
    inside: dict[str, list[Label]] = field(default_factory=dict)

    def trace(self) -> StateDiagram:
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
        arrows = tuple(Arrow(*ends, tuple(labels)) for ends, labels in self.arrows.items())
        runners = (*callers(self.spec, self.machine), *starters(self.spec, self.machine))
        called_by = tuple(dict.fromkeys(runner.name for runner, _ in runners))
        nodes += [*self.junctions, *self.ends.values()]
        return StateDiagram(self.machine, tuple(nodes), arrows, called_by)

    # Branches become arrows or lines inside a box.

    def _events(self, source: str, state: State | None, always: Always | None) -> None:
        answers = state.answers if state is not None else always.answers if always is not None else None
        assert answers is not None
        sayings = [(self._event(event, state), choice) for event, choice in answers.choices()]
        # Faults that do the same, as those that `fault` stands for, are one line and one arrow.
        merged: dict[tuple[object, ...], tuple[list[Line], list[Choice]]] = {}
        for index, (line, choice) in enumerate(sayings):
            mergeable = line.kind in (Kind.CLOCK, Kind.INVALID, Kind.CLOSED, Kind.FAILED)
            key = (same(choice),) if mergeable and not line.text.startswith(("after", "every", "when")) else (index,)
            lines, choices = merged.setdefault(key, ([], []))
            lines.append(line)
            choices.append(choice)
        for lines, choices in merged.values():
            kind = lines[0].kind if len(lines) == 1 else Kind.FAULT
            line = Line(LineRole.EVENT, ", ".join(line.text for line in lines), kind)
            self._branches(source, state, choices, kind, (line,), self._speaker(state, kind))

    def _onward(self, state: State) -> None:
        if state.then is not None:
            lines: tuple[Line, ...] = ()
            if state.each is not None:
                lines = (Line(LineRole.NOTE, "after the last"),)
            elif state.accept is not None:
                lines = (Line(LineRole.NOTE, "enough are seated"),)
            self._branches(state.name, state, [state.then], Kind.PASS, lines, self._at_hand(state))

    def _branches(
        self, source: str, state: State | None, same: list[Choice], kind: Kind, head: tuple[Line, ...], at_hand: str
    ) -> None:
        """Draw the branches of choices that do the same; ``head`` is the event, said once by each branch."""
        if _keeps(same[0]):
            places = tuple(place for choice in same for place in _places(choice))
            lines = [*head, *self._kept(same[0], at_hand, depth=0)]
            self._keep(source, Label(tuple(lines), tuple(dict.fromkeys(sent_in_full(same[0]))), places))
            return
        for index, branch in enumerate(same[0].branches):
            alike = [choice.branches[index] for choice in same]
            places = tuple(branch.place for branch in alike)
            lines = [*head, *self._branch(branch, index + 1, len(same[0].branches), at_hand)]
            label = Label(tuple(lines), tuple(dict.fromkeys(sends_in_full(branch.steps))), places)
            match branch.next:
                case Goto(target, _) if target == source:
                    self._keep(source, _with(label, Line(LineRole.NOTE, "entered again")))
                case Goto(target, _):
                    self._arrow(source, target, kind, label)
                case Return(value, place):
                    self._arrow(source, self._end(value, place), kind, label)
                case Stay(again, _) if source.startswith(".junction"):
                    said = Line(LineRole.NOTE, "stays, clock restarted" if again else "stays")
                    self._arrow(source, state.name if state else ".always", kind, _with(label, said))
                case Stay(again, _):
                    said = Line(LineRole.NOTE, "clock restarted")
                    self._keep(source, _with(label, said) if again else label)
                case Choice():
                    name = f".junction{len(self.junctions) + 1}"
                    self.junctions.append(Node(name, "junction", branch.next.place))
                    self._arrow(source, name, kind, label)
                    nested = [branch.next for branch in alike if isinstance(branch.next, Choice)]
                    self._branches(name, state, nested, Kind.PASS, (), at_hand)

    def _kept(self, choice: Choice, at_hand: str, depth: int) -> Iterator[Line]:
        """The lines of a choice all of whose ends keep the state; nested choices are indented."""
        for number, branch in enumerate(choice.branches, 1):
            for line in self._branch(branch, number, len(choice.branches), at_hand):
                yield Line(line.voice, "\N{NO-BREAK SPACE}" * 2 * depth + line.text, line.kind)
            if isinstance(branch.next, Choice):
                yield from self._kept(branch.next, at_hand, depth + 1)
            elif isinstance(branch.next, Stay) and branch.next.again:
                yield Line(LineRole.NOTE, "clock restarted")

    def _keep(self, source: str, label: Label) -> None:
        first, *others = label.lines
        marked = Line(first.voice, f"{KEEPS} {first.text}", first.kind)
        self.inside.setdefault(source, []).append(replace(label, lines=(marked, *others)))

    def _arrow(self, source: str, target: str, kind: Kind, label: Label) -> None:
        self.arrows.setdefault((source, target, kind), []).append(label)

    def _end(self, value: Expression, place: Place) -> str:
        text = show(value)
        if text not in self.ends:
            name = f".end{len(self.ends) + 1}"
            self.ends[text] = Node(name, "end", place, (Line(LineRole.NAME, text),))
        return self.ends[text].name

    # Texts.

    def _event(self, event: str, state: State | None) -> Line:
        """The line that names an event: ``? NAME`` for a message, a word for all others."""
        if not event.startswith("."):
            message = self.spec.messages.get(event)
            asked = state is not None and state.ask is not None
            if asked and message is not None and self.machine.role in message.senders:
                return Line(LineRole.EVENT, f"answer {event}", Kind.ANSWER)
            return Line(LineRole.EVENT, f"? {event}", Kind.MESSAGE)
        word = event[1:]
        answers = state.answers if state is not None else self.machine.always.answers if self.machine.always else None
        assert answers is not None
        said = moment(self.spec, answers, event)
        if said is not None:
            return Line(LineRole.EVENT, said, Kind.CLOCK)
        kinds = {"timeout": Kind.CLOCK, "invalid": Kind.INVALID, "closed": Kind.CLOSED, "failed": Kind.FAILED}
        return Line(LineRole.EVENT, word, kinds.get(word, Kind.SEAT))

    def _branch(self, branch: Branch, number: int, of: int, at_hand: str) -> Iterator[Line]:
        """The lines of a branch after the event: its number among several, its guard and limit, what it does."""
        count = f"{number} " if of > 1 else ""
        if branch.guard is not None:
            yield Line(LineRole.GUARD, f"{count}[{show(branch.guard)}]")
            count = ""
        elif of > 1 and branch.limit is None:
            yield Line(LineRole.GUARD, f"{count}[else]")
        if branch.limit is not None:
            yield Line(LineRole.GUARD, f"{count}[at most {quantity(self.spec, branch.limit)}]")
        yield from self._steps(branch.steps, at_hand)
        if isinstance(branch.next, Return):
            yield from (Line(LineRole.LET, f"outcome {said}") for said in outcome_parts(branch.next))

    def _steps(self, steps: Iterable[Step], at_hand: str) -> Iterator[Line]:
        for step in steps:
            match step:
                case Let(bindings, _):
                    yield from (Line(LineRole.LET, bound(binding)) for binding in bindings)
                case Start(machine, _):
                    yield Line(LineRole.CALL, f"start {show(machine)}")
                case SendMessages(receivers, messages, _):
                    to = at_hand if receivers is None else show(receivers)
                    for message in messages:
                        yield Line(LineRole.SEND, f"! {told(message)}" + (f" → {to}" if to else ""))
                case Secure(peers, _):
                    yield Line(LineRole.LET, f"secure {show(peers)}")
                case DropPeers(peers, _):
                    yield Line(LineRole.DROP, f"drop {show(peers)}")

    def _speaker(self, state: State | None, kind: Kind) -> str:
        """Whom a send without receivers goes to after an event: who spoke, called ``peer``, unless there is but one."""
        awaits = state is not None and state.awaits is not None
        return "peer" if kind is Kind.SEAT or (awaits and kind is not Kind.ANSWER) else self._at_hand(state)

    def _at_hand(self, state: State | None) -> str:
        """Whom a send without receivers goes to outside of an event."""
        if state is not None and state.awaits is not None:
            return show(state.awaits)
        role = self.spec.roles[self.machine.role]
        others = self.spec.peers_of(role.name)
        # A role that seats its peers has several; one that connects, or runs once a connection, has one of each role.
        several = role.name not in self.spec.connects and not role.machines["main"].parameters
        return "peer" if several or len(others) != 1 else others[0]

    # Boxes.

    def _always_node(self, always: Always) -> Node:
        lines = [Line(LineRole.NAME, "in every state")]
        lines += self._waiting(always.awaits, always.within)
        return Node(".always", "always", always.place, tuple(lines), tuple(self.inside.get(".always", ())))

    def _waiting(self, awaits: Expression | None, within: Expression | None) -> Iterator[Line]:
        if awaits is not None:
            yield Line(LineRole.WAIT, f"await: {show(awaits)}")
        if within is not None:
            yield Line(LineRole.WAIT, f"within: {quantity(self.spec, within, time=True)}")

    def _state_node(self, state: State) -> Node:
        inside = tuple(self.inside.get(state.name, ()))
        name = Line(LineRole.NAME, state.name)
        if is_choice(state):
            return Node(state.name, "choice", state.place, (name,), inside)
        lines = [*self._loop(state.each), name, *self._steps(state.steps, self._at_hand(state))]
        if state.run is not None:
            lines.append(Line(LineRole.CALL, f"run {show(state.run)}"))
        if state.ask is not None:
            lines.append(Line(LineRole.CALL, f"ask {show(state.ask)}"))
        if state.accept is not None:
            lines += self._sign_up(state)
        lines += self._waiting(state.awaits, state.within)
        if state.early is not None:
            lines.append(Line(LineRole.WAIT, f"early: {state.early}"))
        lines += [Line(LineRole.LET, bound(binding)) for binding in state.bindings]
        lines += self._elsewhere(state)
        call = state.run or (state.accept.machine if state.accept is not None else None)
        detail = tuple(dict.fromkeys(sends_in_full(state.steps)))
        return Node(
            state.name, "state", state.place, tuple(lines), inside, detail, call.path if call is not None else None
        )

    def _loop(self, each: Each | None) -> Iterator[Line]:
        if each is None:
            return
        yield Line(LineRole.LOOP, f"for each {each.name} in {show(each.items)}")
        if each.guard is not None:
            yield Line(LineRole.LOOP, f"if {show(each.guard)}")
        if each.until is not None:
            yield Line(LineRole.LOOP, f"until {show(each.until)}")
        if each.parallel is not None:
            yield Line(LineRole.LOOP, f"side by side: {quantity(self.spec, each.parallel)}")

    def _sign_up(self, state: State) -> Iterator[Line]:
        accept = state.accept
        assert accept is not None
        yield Line(LineRole.CALL, f"accept {show(accept.machine)} as {accept.name}")
        if accept.seats is not None:
            yield Line(LineRole.WAIT, f"seats: {quantity(self.spec, accept.seats)}")
        if accept.linger is not None:
            yield Line(LineRole.WAIT, f"linger: {quantity(self.spec, accept.linger, time=True)}")

    def _elsewhere(self, state: State) -> Iterator[Line]:
        """Faults of a wait that neither the state nor its machine answers, and which machine around them does."""
        if not (state.waits or state.ask is not None):
            return
        here = [state.answers, *([self.machine.always.answers] if self.machine.always is not None else [])]
        found: dict[str, list[str]] = {}
        for fault in FAULTS:
            if any(getattr(answers, fault) is not None for answers in here):
                continue
            if fault == "timeout" and state.within is None and not limited(self.spec, self.machine):
                continue
            for who in answered_by(self.spec, self.machine, fault):
                found.setdefault(who, []).append(fault)
        for who, faults in found.items():
            yield Line(LineRole.NOTE, f"{', '.join(faults)}: {who}")


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


def starters(spec: Spec, machine: Machine) -> Iterator[tuple[Machine, State | None]]:
    """Yield the machines of the same role that start a machine, each with the state that does; None: in every state."""
    for starter in spec.roles[machine.role].machines.values():
        for state in (None, *starter.states.values()):
            answers = state.answers if state is not None else starter.always.answers if starter.always else None
            choices = [choice for _, choice in answers.choices()] if answers is not None else []
            choices += [state.then] if state is not None and state.then is not None else []
            steps = [*(state.steps if state is not None else ())]
            steps += [step for choice in choices for step in _all_steps(choice)]
            if any(isinstance(step, Start) and step.machine.path == machine.name for step in steps):
                yield starter, state


def _all_steps(choice: Choice) -> Iterator[Step]:
    for branch in choice.branches:
        yield from branch.steps
        if isinstance(branch.next, Choice):
            yield from _all_steps(branch.next)


def answered_by(spec: Spec, machine: Machine, fault: str) -> tuple[str, ...]:
    """Say who answers a fault that a machine does not: ``see game``, ``no seat``; nothing if the session ends.

    The state that calls stands between the machine called and the caller's own ``always``. What a sign-up machine
    leaves unanswered costs the peer its seat.
    """
    found: dict[str, None] = {}
    waiting, met = [machine], {machine.name}
    while waiting:
        for caller, state in callers(spec, waiting.pop(0)):
            layers = [state.answers, *([caller.always.answers] if caller.always is not None else [])]
            if state.accept is not None:
                found["no seat"] = None
            elif any(getattr(answers, fault) is not None for answers in layers):
                found[f"see {caller.name}"] = None
            elif caller.name not in met:
                met.add(caller.name)
                waiting.append(caller)
    return tuple(found)


def limited(spec: Spec, machine: Machine) -> bool:
    """Whether a wait of a machine has a time limit even if it writes none: from an ``always`` around it."""
    waiting, met = [machine], {machine.name}
    while waiting:
        inner = waiting.pop(0)
        if inner.always is not None and inner.always.within is not None:
            return True
        for caller, state in callers(spec, inner):
            if state.run is not None and caller.name not in met:
                met.add(caller.name)
                waiting.append(caller)
    return False


def _keeps(choice: Choice) -> bool:
    """Whether every end of a choice keeps the state."""
    return all(
        isinstance(branch.next, Stay) or (isinstance(branch.next, Choice) and _keeps(branch.next))
        for branch in choice.branches
    )


def _with(label: Label, line: Line) -> Label:
    return replace(label, lines=(*label.lines, line))


def _places(choice: Choice) -> Iterator[Place]:
    for branch in choice.branches:
        yield branch.place
        if isinstance(branch.next, Choice):
            yield from _places(branch.next)
