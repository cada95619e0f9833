"""A machine of a spec told as a scenario: its main course with loops, alternatives and calls, and its cases.

The main course follows messages, decisions, calls and choices. Time limits, faults, and what may come at any time are
cases: each is told by itself up to where it joins the main course again, as protocol documents do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from diagrams.phrases import bound, outcome_parts, quantity, same
from diagrams.sequences.control_structure import EXIT, Structure
from diagrams.sequences.inlining import MainPath, PathStep, inline_course
from diagrams.sequences.model import Case, Element, Fragment, Frame, Message, Operand, Remark, Scenario, Tone, walk
from diagrams.states.builder import is_choice
from machines.expressions.unparse import show
from machines.model import (
    Call,
    Choice,
    Drop,
    Each,
    Expression,
    Goto,
    Handlers,
    Let,
    Machine,
    Name,
    Return,
    Send,
    Spec,
    Start,
    State,
    Stay,
    Step,
)

AGAIN: Final = "↺ goes on waiting"
EXCEPTIONS_MAX: Final = 4  # states named one by one in a case's title
NESTED_MAX = 12  # fragments inside each other; what lies deeper is told as a jump


def scenario(spec: Spec, role: str, machine: str) -> Scenario:
    """Return what one machine says and hears, told along the lifelines of all roles that take part in it.

    Raises:
        KeyError: the spec has no such role, or the role no such machine.
    """
    return _ScenarioBuilder(spec, spec.roles[role].machines[machine], {}).tell()


class _ScenarioBuilder:
    def __init__(self, spec: Spec, machine: Machine, tellers: dict[tuple[str, str], _ScenarioBuilder]) -> None:
        self.spec = spec
        self.machine = machine
        self.tellers = tellers  # one for each machine that was looked into, this one included
        tellers[machine.role, machine.name] = self
        self.drawn: set[str] = set()
        self.ways = {state.name: tuple(self._main(state)) for state in machine.states.values()}
        self.first = next(iter(machine.states))
        onward = {name: [way.target for way in ways if not way.stays] for name, ways in self.ways.items()}
        self.structure = Structure(self.first, onward)
        self.onward = onward
        self.told = set(self.structure.reached)  # what the main course tells, and the courses that begin in a case
        self.pending: list[str] = []

    def tell(self) -> Scenario:
        machine = self.machine
        elements = (*self._opening(), *self._course(self.first, frozenset(), None, 0))
        title = f"{machine.name}({', '.join(machine.parameters)})" if machine.parameters else machine.name
        cases = (*self._cases(), *self._further())
        taking_part = {machine.role, *self.spec.peers_of(machine.role)}
        for element in walk((*elements, *(element for case in cases for element in case.elements))):
            if isinstance(element, Message):
                taking_part |= {element.source, element.target}
        lifelines = tuple(role for role in self.spec.roles if role in taking_part)
        return Scenario(self.spec.protocol, title, machine.role, lifelines, elements, cases, machine.place)

    def _opening(self) -> Iterator[Element]:
        role = self.machine.role
        if self.machine.name == "main":
            for target in self.spec.connects.get(role, ()):
                yield Message(role, target, "connects", tone=Tone.LOCAL, place=self.machine.place)

    # -- the course ----------------------------------------------------------------------------------------------------

    def _course(
        self, name: str, stops: frozenset[str], region: frozenset[str] | None, depth: int, *, entered: bool = False
    ) -> Iterator[Element]:
        """Tell what happens from a state on, up to a stop or out of the region, which is that of the loop told.

        ``entered``: the state is the loop's own first, and a stop only when it is met again.
        """
        while name != EXIT and (entered or name not in stops) and (region is None or name in region):
            loop = self.structure.loops.get(name)
            if loop is not None and not entered:
                if name in self.drawn:
                    yield self._jump(name)
                    return
                yield self._loop(name, loop, stops, depth)
                after = self.structure.meets.get(name, EXIT)
                # The meeting point of a loop's ways may lie in the loop itself: then nothing leaves it in one place.
                if after in loop:
                    after = self._past(after, loop)
                name = after
                continue
            if name in self.drawn or depth > NESTED_MAX:
                yield self._jump(name)
                return
            entered = False
            self.drawn.add(name)
            state = self.machine.states[name]
            entering = tuple(self._entered(state))
            yield from entering
            ways = tuple(self._with_answer(entering, way) for way in self.ways[name])
            meet = self.structure.meets.get(name, EXIT)
            if len(ways) == 1 and not ways[0].stays:
                yield from self._guarded(ways[0])
                yield from self._leaving(ways[0], stops, region, depth)
                name = ways[0].target
            elif ways:
                if len(ways) > 1:
                    shared, ways = _parted(ways)
                    yield from shared
                yield Fragment(
                    Frame.ALT,
                    "",
                    tuple(
                        Operand(way.guard, tuple(self._operand(way, stops | {meet}, region, depth + 1))) for way in ways
                    ),
                    place=state.place,
                )
                name = meet
            else:
                return

    def _with_answer(self, entering: tuple[Element, ...], way: PathStep) -> PathStep:
        """Put before an answer what the other side does to find it, if it was asked in this state."""
        answer = way.head[0] if way.head else None
        if not isinstance(answer, Message) or answer.source == self.machine.role:
            return way
        asked = [element for element in entering if isinstance(element, Message) and element.target == answer.source]
        if not asked:
            return way
        own = self.machine.role
        before = inline_course(self.spec, self._course_of, answer.source, asked[-1].text, answer.text, own)
        return replace(way, head=(*before, *way.head))

    def _course_of(self, machine: Machine) -> MainPath:
        """Return what weaving knows of another machine, with what is woven into it in turn."""
        teller = self.tellers.get((machine.role, machine.name)) or _ScenarioBuilder(self.spec, machine, self.tellers)
        return teller.course

    @cached_property
    def course(self) -> MainPath:
        """The machine's states and ways as weaving reads them."""
        states = self.machine.states.values()
        return MainPath(
            self.first,
            {state.name: tuple(self._entered(state)) for state in states},
            {state.name: state.run.path if state.run is not None else None for state in states},
            self.ways,
        )

    def _past(self, name: str, loop: frozenset[str]) -> str:
        while name in loop:
            name = self.structure.meets.get(name, EXIT)
        return name

    def _operand(
        self, way: PathStep, stops: frozenset[str], region: frozenset[str] | None, depth: int
    ) -> Iterator[Element]:
        yield from way.head
        if way.stays:
            yield Remark(self.machine.role, AGAIN, Tone.STATE)
            return
        yield from self._leaving(way, stops, region, depth)
        yield from self._course(way.target, stops, region, depth) if way.target not in stops else ()

    def _leaving(
        self, way: PathStep, stops: frozenset[str], region: frozenset[str] | None, depth: int
    ) -> Iterator[Element]:
        """A way out of the loop that is told: what lies on it before the place where the loop's ways meet."""
        if region is not None and way.target != EXIT and way.target not in region:
            yield Remark(self.machine.role, "leaves the loop", Tone.STATE)
            if way.target not in stops:
                yield from self._course(way.target, stops, None, depth)

    def _loop(self, header: str, loop: frozenset[str], stops: frozenset[str], depth: int) -> Fragment:
        after = self.structure.meets.get(header, EXIT)
        inner = stops | {header, after if after not in loop else self._past(after, loop)}
        state = self.machine.states[header]
        ways = self.ways[header]
        inside = [way for way in ways if way.target in loop]
        outside = [way for way in ways if way.target not in loop]
        if is_choice(state) and len(ways) == 2 and len(inside) == 1 and not outside[0].head:
            # A choice whose one way leads out is the loop's own condition: `until over`, `while more`.
            self.drawn.add(header)
            first = outside[0] is ways[0]
            heading = f"until {outside[0].guard}" if first else f"while {inside[0].guard}"
            body: Iterable[Element] = (*inside[0].head, *self._course(inside[0].target, inner, loop, depth + 1))
        else:
            heading = ""
            body = self._course(header, inner, loop, depth + 1, entered=True)
        return Fragment(Frame.LOOP, heading, (Operand("", tuple(body)),), place=state.place)

    def _jump(self, name: str) -> Element:
        return Remark(self.machine.role, f"→ {name}", Tone.STATE, place=self.machine.states[name].place)

    def _guarded(self, way: PathStep) -> Iterator[Element]:
        """The head of the only way on; a guard that it has stands behind the message it judges, or else before all."""
        own = self.machine.role
        guard = [Remark(own, f"[{way.guard}]", Tone.LOCAL)] if way.guard else []
        heard = [
            index for index, element in enumerate(way.head) if isinstance(element, Message) and element.target == own
        ]
        at = heard[-1] + 1 if heard else 0
        yield from (*way.head[:at], *guard, *way.head[at:])

    # -- a state -------------------------------------------------------------------------------------------------------

    def _entered(self, state: State) -> Iterator[Element]:
        """What a state does until it waits, or is through."""
        yield Remark(self.machine.role, state.name, Tone.STATE, place=state.place)
        if is_choice(state):
            return
        if state.accept is not None:
            yield self._door(state)
            return
        inner = (*self._steps(state.steps, state), *self._called(state))
        if state.each is not None:
            frame = Frame.LOOP if state.each.parallel is None else Frame.PAR
            yield Fragment(frame, self._each(state.each), (Operand("", inner),), place=state.each.place)
        else:
            yield from inner
        if state.ask is not None:
            yield Remark(self.machine.role, f"decides: {show(state.ask)}", Tone.LOCAL, place=state.ask.place)

    def _called(self, state: State) -> Iterator[Element]:
        if state.run is not None:
            results = ", ".join(bound(binding).removeprefix("as ") for binding in state.bindings)
            heading = show(state.run) + (f" as {results}" if results else "")
            yield Fragment(Frame.REF, heading, link=state.run.path, place=state.run.place)

    def _door(self, state: State) -> Fragment:
        accept = state.accept
        assert accept is not None, "only a state with a door has one"
        own = self.machine.role
        callers = [role for role, targets in self.spec.connects.items() if own in targets]
        inner: list[Element] = [
            *(Message(role, own, "connects", tone=Tone.LOCAL, place=state.place) for role in callers),
            Fragment(Frame.REF, show(accept.machine), link=accept.machine.path, place=accept.machine.place),
        ]
        if state.answers.seated is not None:
            seated = tuple(self._flat(state.answers.seated, state, (), heard=True))
            if len(seated) == 1:
                inner += seated[0].head
            else:
                shared, seated = _parted(seated)
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
            Frame.LOOP, heading, (Operand("", (*self._steps(state.steps, state), *inner)),), place=state.place
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

    def _main(self, state: State) -> Iterator[PathStep]:
        """The ways of the main course: messages and answers, what follows, and time where nothing else leads on."""
        if state.then is not None:
            head = (Remark(self.machine.role, "enough are seated"),) if state.accept is not None else ()
            yield from self._flat(state.then, state, head)
        calls = state.run is not None or state.accept is not None
        if not calls:
            several = len(state.answers.receive) > 1
            for name, choice in state.answers.receive.items():
                said = self._heard(name, state, choice)
                for way in self._flat(choice, state, (said,), heard=isinstance(said, Message)):
                    # Which message a guard judges: it stands above it, and there may be an `else` to each.
                    yield replace(way, guard=f"{name}: {way.guard}") if several and way.guard else way
        timed = state.accept is not None or (state.then is None and not state.answers.receive)
        if timed and state.run is None:
            for event, choice in _clocks(state.answers):
                yield from self._flat(choice, state, (self._remark(event, state, choice),), heard=True)

    def _flat(
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
            steps = (*head, *self._steps(branch.steps, state, heard=heard))
            match branch.next:
                case Choice():
                    yield from self._flat(branch.next, state, steps, joined, heard=heard)
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

    def _heard(self, name: str, state: State | None, choice: Choice) -> Message | Remark:
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

    def _named(self) -> tuple[str, ...]:
        """The peers that have a name of their own in the whole role: those it connects to, or whose session it is."""
        role = self.spec.roles[self.machine.role]
        return (*self.spec.connects.get(role.name, ()), *role.machines["main"].parameters)

    def _steps(self, steps: Iterable[Step], state: State | None, *, heard: bool = False) -> Iterator[Element]:
        own = self.machine.role
        for step in steps:
            match step:
                case Let(bindings, place):
                    yield from (Remark(own, bound(binding), Tone.LOCAL, place=place) for binding in bindings)
                case Start(machine, place):
                    yield Remark(own, f"starts {show(machine)}", Tone.LOCAL, place=place)
                case Send(receivers, messages, place):
                    for message in messages:
                        yield self._sent(message, receivers, state, heard=heard)
                case Drop(peers, place):
                    yield Remark(own, f"drops {show(peers)}", Tone.LOST, place=place)

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

    # -- cases ---------------------------------------------------------------------------------------------------------

    def _cases(self) -> Iterator[Case]:
        merged: dict[tuple[object, ...], tuple[list[tuple[str, str]], State | None, Choice, Message | Remark]] = {}
        for state, event, choice in self._besides():
            where = state.name if state is not None else self._anywhere(event)
            key = (where, event) if event.startswith((".after", ".every")) else (state is None, same(choice))
            element: Message | Remark = (self._remark if event.startswith(".") else self._heard)(event, state, choice)
            said = self._event(event, state), where
            merged.setdefault(key, ([], state, choice, element))[0].append(said)
        for happened, state, choice, element in merged.values():
            head: list[Element] = []
            if state is not None:
                head.append(Remark(self.machine.role, state.name, Tone.STATE, place=state.place))
                head += self._steps(state.steps, state)
            happens = replace(element, text=_either(event for event, _ in happened))
            yield Case(_title(happened), (*head, *self._case(happens, choice, state)))

    def _further(self) -> Iterator[Case]:
        """The courses that nothing but a case leads into, and that part into several ways."""
        while self.pending:
            name = self.pending.pop(0)
            if name not in self.told:
                main, self.structure = self.structure, Structure(name, self.onward)
                self.drawn = set(self.told)
                course = tuple(self._course(name, frozenset(), None, 0))
                self.told |= self.structure.reached - {EXIT}
                self.structure = main
                yield Case(f"what follows in {name}", course)

    def _anywhere(self, event: str) -> str:
        """Where the machine's ``always`` answers an event: not where a state does itself, whatever it makes of it."""
        own: list[str] = []
        for state in self.machine.states.values() if not event.startswith((".after", ".every")) else ():
            choice = dict(state.answers.choices()).get(event)
            # What refuses a fault passes it on; a message is the state's alone.
            if choice is not None and (not event.startswith(".") or _takes_all(choice)):
                own.append(state.name)
        if not own:
            return "any state"
        return f"any state but {_both(own)}" if len(own) <= EXCEPTIONS_MAX else "any state that does not answer it"

    def _besides(self) -> Iterator[tuple[State | None, str, Choice]]:
        """Every event answered that is no part of the main course."""
        for state in self.machine.states.values():
            calls = state.run is not None or state.accept is not None
            timed = state.accept is not None or (state.then is None and not state.answers.receive)
            main = {event for event, _ in _clocks(state.answers)} if timed and state.run is None else set()
            for event, choice in state.answers.choices():
                if event == ".seated" or event in main or (not event.startswith(".") and not calls):
                    continue
                yield state, event, choice
        if self.machine.always is not None:
            for event, choice in self.machine.always.answers.choices():
                yield None, event, choice

    def _case(self, event: Element, choice: Choice, state: State | None) -> tuple[Element, ...]:
        self.drawn = set(self.told)  # what the main course tells is not told again
        ways = tuple(self._flat(choice, state, (event,), heard=True))
        if len(ways) == 1:
            return tuple(self._case_way(ways[0], guarded=True))
        shared, ways = _parted(ways)
        return (
            *shared,
            Fragment(Frame.ALT, "", tuple(Operand(way.guard, tuple(self._case_way(way))) for way in ways)),
        )

    def _case_way(self, way: PathStep, *, guarded: bool = False) -> Iterator[Element]:
        yield from self._guarded(way) if guarded else way.head
        if way.stays:
            yield Remark(self.machine.role, AGAIN, Tone.STATE)
        elif way.target != EXIT:
            yield from self._aside(way.target)

    def _aside(self, name: str) -> Iterator[Element]:
        """From a state that only a case leads to: straight on as long as there is one way."""
        while name != EXIT:
            if name in self.drawn:
                yield self._jump(name)
                return
            ways = self.ways[name]
            if any(way.target not in self.drawn | {EXIT, name} for way in ways) and len(ways) > 1:
                yield self._jump(name)
                self.pending.append(name)
                return
            self.drawn.add(name)
            yield from self._entered(self.machine.states[name])
            if len(ways) != 1 or ways[0].stays:
                if ways:
                    jumps = [(self._jump(way.target),) if way.target != EXIT else () for way in ways]
                    operands = (Operand(way.guard, (*way.head, *jump)) for way, jump in zip(ways, jumps, strict=True))
                    yield Fragment(Frame.ALT, "", tuple(operands))
                return
            yield from self._guarded(ways[0])
            name = ways[0].target

    # -- words ---------------------------------------------------------------------------------------------------------

    def _event(self, event: str, state: State | None) -> str:
        if not event.startswith("."):
            return event
        answers = state.answers if state is not None else self.machine.always.answers if self.machine.always else None
        assert answers is not None, "an event belongs to a state or to `always`"
        for way, moments in (("after", answers.after), ("every", answers.every)):
            if event.startswith(f".{way}"):
                wait = moments[int(event.removeprefix(f".{way}"))].wait
                return f"{way} {quantity(self.spec, wait, time=True)}"
        if event == ".timeout" and state is not None and state.within is not None:
            return f"timeout after {quantity(self.spec, state.within, time=True)}"
        return event[1:]

    def _remark(self, event: str, state: State | None, choice: Choice) -> Remark:
        kinds = {
            ".invalid": Tone.WRONG,
            ".closed": Tone.LOST,
            ".failed": Tone.WRONG,
            ".connected": Tone.LOCAL,
            ".ended": Tone.LOCAL,
        }
        return Remark(self.machine.role, self._event(event, state), kinds.get(event, Tone.CLOCK), place=choice.place)


def _title(happened: Iterable[tuple[str, str]]) -> str:
    """Return what happens in which states, in as few words as it takes: ``invalid or closed in asked or told``."""
    events: dict[str, list[str]] = {}
    for event, where in happened:
        events.setdefault(where, []).append(event)
    states: dict[tuple[str, ...], list[str]] = {}
    for where, found in events.items():
        states.setdefault(tuple(found), []).append(where)
    return "; ".join(f"{_either(found)} in {_either(where)}" for found, where in states.items())


def _either(words: Iterable[str]) -> str:
    *most, last = dict.fromkeys(words)
    return f"{', '.join(most)} or {last}" if most else last


def _both(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _takes_all(choice: Choice) -> bool:
    """Whether some branch of a choice is taken for certain."""
    return any(branch.guard is None and branch.limit is None for branch in choice.branches)


def _parted(ways: tuple[PathStep, ...]) -> tuple[tuple[Element, ...], tuple[PathStep, ...]]:
    """Return what happens first on all of several ways, which is told once, and the ways without it."""
    first, *others = (way.head for way in ways)
    size = 0
    while all(size < len(head) and head[size] == first[size] for head in (first, *others)):
        size += 1
    return first[:size], tuple(replace(way, head=way.head[size:]) for way in ways)


def _clocks(answers: Handlers) -> Iterator[tuple[str, Choice]]:
    for event, choice in answers.choices():
        if event == ".timeout" or event.startswith(".after"):
            yield event, choice
