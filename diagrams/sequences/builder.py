"""A machine of a spec told as a scenario: its main course with loops, alternatives and calls, and its cases.

The main course follows messages, decisions, calls and choices. Time limits, faults, and what may come at any time are
cases: each is told by itself up to where it joins the main course again, as protocol documents do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from diagrams.sequences.control_structure import EXIT, Structure
from diagrams.sequences.inlining import MainPath, PathStep, inline_course
from diagrams.sequences.model import Case, Element, Fragment, Frame, Message, Operand, Remark, Scenario, Tone, walk
from diagrams.sequences.rewriting import Unfolding, with_each
from diagrams.sequences.state_elements import StateElements, clocks, parted
from diagrams.states.builder import is_choice
from diagrams.states.phrases import same
from machines.model import (
    Choice,
    Machine,
    Spec,
    State,
)

AGAIN: Final = "↺ goes on waiting"
EXCEPTIONS_MAX: Final = 4  # states named one by one in a case's title
WAYS_WITHIN_MAX: Final = 4  # of a state that is told within the course that a case leads into
NESTED_MAX = 12  # fragments inside each other; what lies deeper is told as a jump


def scenario(spec: Spec, role: str, machine: str, *, unfold: bool = False) -> Scenario:
    """Return what one machine says and hears, told along the lifelines of all roles that take part in it.

    With ``unfold`` the main course of each machine that it calls is told inside of the call.

    Raises:
        KeyError: the spec has no such role, or the role no such machine.
    """
    return _ScenarioBuilder(spec, spec.roles[role].machines[machine], {}).tell(unfold=unfold)


class _ScenarioBuilder:
    def __init__(self, spec: Spec, machine: Machine, tellers: dict[tuple[str, str], _ScenarioBuilder]) -> None:
        self.spec = spec
        self.machine = machine
        self.tellers = tellers  # one for each machine that was looked into, this one included
        tellers[machine.role, machine.name] = self
        self.elements = StateElements(spec, machine)
        self.drawn: set[str] = set()
        self.ways = {state.name: tuple(self.elements.ways(state)) for state in machine.states.values()}
        self.first = next(iter(machine.states))
        onward = {name: [way.target for way in ways if not way.stays] for name, ways in self.ways.items()}
        self.structure = Structure(self.first, onward)
        self.onward = onward
        self.told = set(self.structure.reached)  # what the main course tells, and the courses that begin in a case
        self.pending: list[str] = []
        self.apart = False  # whether a state of many ways within a course is told by itself

    def tell(self, *, unfold: bool) -> Scenario:
        machine = self.machine
        elements = self.main_course()
        title = f"{machine.name}({', '.join(machine.parameters)})" if machine.parameters else machine.name
        cases = (*self._cases(), *self._further())
        if unfold:
            within = Unfolding(self._course_within)
            elements = within.unfolded(elements, (machine.name,))
            cases = tuple(replace(case, elements=within.unfolded(case.elements, (machine.name,))) for case in cases)
        taking_part = {machine.role, *self.spec.peers_of(machine.role)}
        for element in walk((*elements, *(element for case in cases for element in case.elements))):
            if isinstance(element, Message):
                taking_part |= {element.source, element.target}
        roles = [role for role in self.spec.all_roles() if role in taking_part]
        return Scenario(
            self.spec.protocol, title, machine.role, *with_each(roles, elements, cases), place=machine.place
        )

    def main_course(self) -> tuple[Element, ...]:
        """Tell the machine without its cases."""
        return (*self._opening(), *self._course(self.first, frozenset(), None, 0))

    def _course_within(self, machine: str) -> tuple[Element, ...]:
        other = self.spec.roles[self.machine.role].machines[machine]
        return _ScenarioBuilder(self.spec, other, {}).main_course()

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
                    yield self.elements.jump(name)
                    return
                yield self._loop(name, loop, stops, depth)
                after = self.structure.meets.get(name, EXIT)
                # The meeting point of a loop's ways may lie in the loop itself: then nothing leaves it in one place.
                if after in loop:
                    after = self._past(after, loop)
                name = after
                continue
            if self._is_elsewhere(name, depth, entered=entered):
                yield self.elements.jump(name)
                return
            entered = False
            self.drawn.add(name)
            state = self.machine.states[name]
            entering = tuple(self.elements.entered(state))
            yield from entering
            ways = tuple(self._with_answer(entering, way) for way in self.ways[name])
            meet = self.structure.meets.get(name, EXIT)
            if len(ways) == 1 and not ways[0].stays:
                yield from self.elements.guarded(ways[0])
                yield from self._leaving(ways[0], stops, region, depth)
                name = ways[0].target
            elif ways:
                if len(ways) > 1:
                    shared, ways = parted(ways)
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

    def _is_elsewhere(self, name: str, depth: int, *, entered: bool) -> bool:
        """Whether a state is not told here: it was told, lies too deep, or is to be told by itself."""
        if self.apart and depth and not entered and len(self.ways[name]) > WAYS_WITHIN_MAX:
            self.pending.append(name)
            return True
        return name in self.drawn or depth > NESTED_MAX

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
            {state.name: tuple(self.elements.entered(state)) for state in states},
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

    # -- cases ---------------------------------------------------------------------------------------------------------

    def _cases(self) -> Iterator[Case]:
        merged: dict[tuple[object, ...], tuple[list[tuple[str, str]], State | None, Choice, Message | Remark]] = {}
        for state, event, choice in self._besides():
            where = state.name if state is not None else self._anywhere(event)
            key = (where, event) if event.startswith((".after", ".every", ".when")) else (state is None, same(choice))
            tell = self.elements.remark if event.startswith(".") else self.elements.heard
            element: Message | Remark = tell(event, state, choice)
            said = self.elements.event_text(event, state), where
            merged.setdefault(key, ([], state, choice, element))[0].append(said)
        for happened, state, choice, element in merged.values():
            head: list[Element] = []
            if state is not None:
                head.append(Remark(self.machine.role, state.name, Tone.STATE, place=state.place))
                head += self.elements.steps(state.steps, state)
            happens = replace(element, text=_either(event for event, _ in happened))
            yield Case(_title(happened), (*head, *self._case(happens, choice, state)))

    def _further(self) -> Iterator[Case]:
        """The courses that nothing but a case leads into, and that part into several ways."""
        while self.pending:
            name = self.pending.pop(0)
            if name not in self.told:
                main, self.structure = self.structure, Structure(name, self.onward)
                self.drawn, self.apart = set(self.told), True
                course = tuple(self._course(name, frozenset(), None, 0))
                self.told |= self.drawn
                self.structure, self.apart = main, False
                yield Case(f"what follows in {name}", course)

    def _anywhere(self, event: str) -> str:
        """Where the machine's ``always`` answers an event: not where a state does itself, whatever it makes of it."""
        own: list[str] = []
        for state in self.machine.states.values() if not event.startswith((".after", ".every", ".when")) else ():
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
            main = {event for event, _ in clocks(state.answers)} if timed and state.run is None else set()
            for event, choice in state.answers.choices():
                if event == ".seated" or event in main or (not event.startswith(".") and not calls):
                    continue
                yield state, event, choice
        if self.machine.always is not None:
            for event, choice in self.machine.always.answers.choices():
                yield None, event, choice

    def _case(self, event: Element, choice: Choice, state: State | None) -> tuple[Element, ...]:
        self.drawn = set(self.told)  # what the main course tells is not told again
        ways = tuple(self.elements.flat(choice, state, (event,), heard=True))
        if len(ways) == 1:
            return tuple(self._case_way(ways[0], guarded=True))
        shared, ways = parted(ways)
        return (
            *shared,
            Fragment(Frame.ALT, "", tuple(Operand(way.guard, tuple(self._case_way(way))) for way in ways)),
        )

    def _case_way(self, way: PathStep, *, guarded: bool = False) -> Iterator[Element]:
        yield from self.elements.guarded(way) if guarded else way.head
        if way.stays:
            yield Remark(self.machine.role, AGAIN, Tone.STATE)
        elif way.target != EXIT:
            yield from self._aside(way.target)

    def _aside(self, name: str) -> Iterator[Element]:
        """From a state that only a case leads to: straight on as long as there is one way."""
        while name != EXIT:
            if name in self.drawn:
                yield self.elements.jump(name)
                return
            ways = self.ways[name]
            if any(way.target not in self.drawn | {EXIT, name} for way in ways) and len(ways) > 1:
                yield self.elements.jump(name)
                self.pending.append(name)
                return
            self.drawn.add(name)
            yield from self.elements.entered(self.machine.states[name])
            if len(ways) != 1 or ways[0].stays:
                if ways:
                    jumps = [(self.elements.jump(way.target),) if way.target != EXIT else () for way in ways]
                    operands = (Operand(way.guard, (*way.head, *jump)) for way, jump in zip(ways, jumps, strict=True))
                    yield Fragment(Frame.ALT, "", tuple(operands))
                return
            yield from self.elements.guarded(ways[0])
            name = ways[0].target


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
