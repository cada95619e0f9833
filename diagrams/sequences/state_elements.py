"""What a state of a machine is on a page, and each way on from it; the course through the states is `builder`'s."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from diagrams.rendering.expressions import show
from diagrams.sequences.control_structure import EXIT
from diagrams.sequences.inlining import PathStep
from diagrams.sequences.model import Element, Fragment, Frame, Message, Operand, Remark, Tone
from diagrams.states.builder import is_choice
from diagrams.states.phrases import bound, moment, outcome_parts, quantity
from machines.model import (
    Call,
    Choice,
    DropPeers,
    Each,
    Expression,
    Goto,
    Handlers,
    Let,
    Machine,
    Name,
    Return,
    Secure,
    SendMessages,
    Spec,
    Start,
    State,
    Stay,
    Step,
)


class StateElements:
    """The elements that tell of one machine's states, steps and events."""

    def __init__(self, spec: Spec, machine: Machine) -> None:
        self.spec = spec
        self.machine = machine

    def entered(self, state: State) -> Iterator[Element]:
        """What a state does until it waits, or is through."""
        yield Remark(self.machine.role, state.name, Tone.STATE, place=state.place)
        if is_choice(state):
            return
        if state.accept is not None:
            yield self._sign_up(state)
            return
        inner = (*self.steps(state.steps, state), *self._called(state))
        if state.each is not None:
            frame = Frame.LOOP if state.each.parallel is None else Frame.PAR
            yield Fragment(frame, self._each(state.each), (Operand("", inner),), place=state.each.place)
        else:
            yield from inner
        if state.ask is not None:
            yield Remark(self.machine.role, f"decides: {show(state.ask)}", Tone.LOCAL, place=state.ask.place)

    def ways(self, state: State) -> Iterator[PathStep]:
        """The ways of the main course: messages and answers, what follows, and time where nothing else leads on."""
        if state.then is not None:
            head = (Remark(self.machine.role, "enough are seated"),) if state.accept is not None else ()
            yield from self.flat(state.then, state, head)
        calls = state.run is not None or state.accept is not None
        if not calls:
            several = len(state.answers.receive) > 1
            for name, choice in state.answers.receive.items():
                said = self.heard(name, state, choice)
                for way in self.flat(choice, state, (said,), heard=isinstance(said, Message)):
                    # Which message a guard judges: it stands above it, and there may be an `else` to each.
                    yield replace(way, guard=f"{name}: {way.guard}") if several and way.guard else way
        timed = state.accept is not None or (state.then is None and not state.answers.receive)
        if timed and state.run is None:
            for event, choice in clocks(state.answers):
                yield from self.flat(choice, state, (self.remark(event, state, choice),), heard=True)

    def flat(
        self, choice: Choice, state: State | None, head: tuple[Element, ...], guard: str = "", *, heard: bool = False
    ) -> Iterator[PathStep]:
        """Yield each way through a choice, nested ones too, with the guards on it joined.

        ``heard``: the choice answers an event of a peer, so a send that names nobody goes to that one.
        """
        several = len(choice.branches) > 1
        for branch in choice.branches:
            text = show(branch.guard) if branch.guard is not None else "else" if several else ""
            if branch.limit is not None:
                limited = f"at most {quantity(self.spec, branch.limit)}"
                text = f"{text}, {limited}" if text and text != "else" else limited
            joined = f"{guard} and {text}" if guard and text else guard or text
            steps = (*head, *self.steps(branch.steps, state, heard=heard))
            match branch.next:
                case Choice():
                    yield from self.flat(branch.next, state, steps, joined, heard=heard)
                case Goto(target, _):
                    yield PathStep(joined, steps, target)
                case Return(value, place):
                    end = Remark(self.machine.role, f"returns {show(value)}", Tone.END, place=place)
                    said = [
                        Remark(self.machine.role, f"outcome {part}", Tone.LOCAL, place=place)
                        for part in outcome_parts(branch.next)
                    ]
                    yield PathStep(joined, (*steps, *said, end), EXIT)
                case Stay():
                    yield PathStep(joined, steps, state.name if state is not None else EXIT, stays=True)

    def guarded(self, way: PathStep) -> Iterator[Element]:
        """The head of the only way on; a guard that it has stands behind the message it judges, or else before all."""
        own = self.machine.role
        guard = [Remark(own, f"[{way.guard}]", Tone.LOCAL)] if way.guard else []
        heard = [
            index for index, element in enumerate(way.head) if isinstance(element, Message) and element.target == own
        ]
        at = heard[-1] + 1 if heard else 0
        yield from (*way.head[:at], *guard, *way.head[at:])

    def heard(self, name: str, state: State | None, choice: Choice) -> Message | Remark:
        """A message that arrives, or the player's answer."""
        own = self.machine.role
        message = self.spec.messages[name]
        if state is not None and state.ask is not None and own in message.senders:
            return Remark(own, f"answer: {name}", Tone.LOCAL, place=choice.place)
        senders = [role for role in message.senders if role in self.spec.peers_of(own)]
        awaited = state.awaits if state is not None else None
        if isinstance(awaited, Name) and awaited.name in senders and awaited.name in self._named():
            senders = [awaited.name]
        source = senders[0] if senders else own
        several = awaited is not None and not (
            isinstance(awaited, Name) and awaited.name == source and source in self._named()
        )
        speaker = f"from {show(awaited)}" if several and awaited is not None else ""
        return Message(source, own, name, to=speaker, place=choice.place)

    def steps(self, steps: Iterable[Step], state: State | None, *, heard: bool = False) -> Iterator[Element]:
        """What is bound, started, sent and dropped, in order."""
        own = self.machine.role
        for step in steps:
            match step:
                case Let(bindings, place):
                    yield from (Remark(own, bound(binding), Tone.LOCAL, place=place) for binding in bindings)
                case Start(machine, place):
                    yield Remark(own, f"starts {show(machine)}", Tone.LOCAL, place=place)
                case SendMessages(receivers, messages, place):
                    for message in messages:
                        yield self._sent(message, receivers, state, heard=heard)
                case Secure(peers, place):
                    yield Remark(own, f"TLS with {show(peers)} from here on", Tone.LOCAL, place=place)
                case DropPeers(peers, place):
                    yield Remark(own, f"drops {show(peers)}", Tone.LOST, place=place)

    def jump(self, name: str) -> Element:
        """That the course goes on in a state which is told elsewhere."""
        return Remark(self.machine.role, f"→ {name}", Tone.STATE, place=self.machine.states[name].place)

    def remark(self, event: str, state: State | None, choice: Choice) -> Remark:
        """An event that is no message, in the colour of its kind."""
        kinds = {
            ".invalid": Tone.WRONG,
            ".closed": Tone.LOST,
            ".failed": Tone.WRONG,
            ".connected": Tone.LOCAL,
            ".ended": Tone.LOCAL,
        }
        return Remark(
            self.machine.role, self.event_text(event, state), kinds.get(event, Tone.CLOCK), place=choice.place
        )

    def event_text(self, event: str, state: State | None) -> str:
        """What an event is called: a message, a clock with its time, a fault."""
        if not event.startswith("."):
            return event
        answers = state.answers if state is not None else self.machine.always.answers if self.machine.always else None
        assert answers is not None, "an event belongs to a state or to `always`"
        said = moment(self.spec, answers, event)
        if said is not None:
            return said
        if event == ".timeout" and state is not None and state.within is not None:
            return f"timeout after {quantity(self.spec, state.within, time=True)}"
        return event[1:]

    def _called(self, state: State) -> Iterator[Element]:
        if state.run is not None:
            results = ", ".join(bound(binding).removeprefix("as ") for binding in state.bindings)
            heading = show(state.run) + (f" as {results}" if results else "")
            yield Fragment(Frame.REF, heading, link=state.run.path, place=state.run.place)

    def _sign_up(self, state: State) -> Fragment:
        accept = state.accept
        assert accept is not None, "only a state with a sign-up has one"
        own = self.machine.role
        callers = [role for role, targets in self.spec.connects.items() if own in targets]
        inner: list[Element] = [
            *(Message(role, own, "connects", tone=Tone.LOCAL, place=state.place) for role in callers),
            Fragment(Frame.REF, show(accept.machine), link=accept.machine.path, place=accept.machine.place),
        ]
        if state.answers.seated is not None:
            seated = tuple(self.flat(state.answers.seated, state, (), heard=True))
            if len(seated) == 1:
                inner += seated[0].head
            else:
                shared, seated = parted(seated)
                operands = tuple(Operand(way.guard, way.head) for way in seated)
                inner += (*shared, Fragment(Frame.ALT, "", operands))
        heading = f"for each connection, seated as {accept.name}"
        if accept.seats is not None:
            heading += f": {quantity(self.spec, accept.seats)} of them"
        if accept.linger is not None:
            heading += f"; once they are enough, for {quantity(self.spec, accept.linger, time=True)} more"
        if state.within is not None:
            heading += f"; within {quantity(self.spec, state.within, time=True)}"
        return Fragment(
            Frame.LOOP, heading, (Operand("", (*self.steps(state.steps, state), *inner)),), place=state.place
        )

    def _each(self, each: Each) -> str:
        heading = f"for each {each.name} in {show(each.items)}"
        if each.guard is not None:
            heading += f", if {show(each.guard)}"
        if each.until is not None:
            heading += f", until {show(each.until)}"
        if each.parallel is not None:
            heading += f", {quantity(self.spec, each.parallel)} at a time"
        return heading

    def _sent(self, call: Call, receivers: Expression | None, state: State | None, *, heard: bool) -> Element:
        own = self.machine.role
        others = self.spec.peers_of(own)
        meant = receivers if receivers is not None else state.awaits if state is not None else None
        if isinstance(meant, Name) and meant.name in others and meant.name in self._named():
            target, to = meant.name, ""
        elif heard and receivers is None and meant is not None:
            target, to = others[0], "to peer"  # the one who spoke, of all that were awaited
        else:
            target = others[0] if others else own
            several = own not in self.spec.connects and not self.spec.roles[own].machines["main"].parameters
            to = f"to {show(meant)}" if meant is not None else "to peer" if several else ""
        detail = show(call) if call.arguments else ""
        return Message(own, target, call.path, to=to, detail=detail, place=call.place)

    def _named(self) -> tuple[str, ...]:
        """The peers that have a name of their own in the whole role: those it connects to, or whose session it is."""
        role = self.spec.roles[self.machine.role]
        return (*self.spec.connects.get(role.name, ()), *role.machines["main"].parameters)


def parted(ways: tuple[PathStep, ...]) -> tuple[tuple[Element, ...], tuple[PathStep, ...]]:
    """Return what happens first on all of several ways, which is told once, and the ways without it."""
    first, *others = (way.head for way in ways)
    size = 0
    while all(size < len(head) and head[size] == first[size] for head in (first, *others)):
        size += 1
    return first[:size], tuple(replace(way, head=way.head[size:]) for way in ways)


def clocks(answers: Handlers) -> Iterator[tuple[str, Choice]]:
    """Yield the clocks among what is answered: the time limit, moments, and what is waited for."""
    for event, choice in answers.choices():
        if event == ".timeout" or event.startswith((".after", ".when")):
            yield event, choice
