"""What the other side does between a message that it hears and its answer, told inside the asker's own scenario.

    server ── placement_request ──▶ client            the server's machine
                                    client ── … ──▶ ai    woven in
                                    client ◀── … ── ai    woven in
    server ◀───── wid_posn ──────── client            the server's machine

The shortest way through the other role's machines is taken. Where there is none, nothing is told: the drawing of the
other role's own machines has it all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from diagrams.sequences.model import Element, Fragment, Message, Remark, Tone
from machines.model import Machine, Spec

WAYS_MAX: Final = 2_000  # looked at for one answer; the shipped specs need fewer than 40


@dataclass(frozen=True, slots=True)
class PathStep:
    """One way on from a state: when, what happens on it, and where it leads (empty: it returns; itself: it stays)."""

    guard: str
    head: tuple[Element, ...]
    target: str
    stays: bool = False


@dataclass(frozen=True, slots=True)
class MainPath:
    """What weaving knows of a machine: its first state, what happens in each, and the ways on."""

    first: str
    entered: Mapping[str, tuple[Element, ...]]
    calls: Mapping[str, str | None]
    ways: Mapping[str, tuple[PathStep, ...]]


Courses = Callable[[Machine], MainPath]


def inline_course(spec: Spec, courses: Courses, role: str, heard: str, said: str, asker: str) -> tuple[Element, ...]:
    """Return what a role does after it hears one message until it says another to the one who asked."""
    for machine in spec.roles[role].machines.values():
        course = courses(machine)
        for ways in course.ways.values():
            for way in ways:
                first = way.head[0] if way.head else None
                if isinstance(first, Message) and first.text == heard and first.source == asker:
                    found = _search(spec, courses, machine, way, said, asker)
                    if found is not None:
                        return found
    return ()


def _search(
    spec: Spec, courses: Courses, machine: Machine, way: PathStep, said: str, asker: str
) -> tuple[Element, ...] | None:
    """Breadth first from the far end of a way; a call goes on in the machine called, a return ends the search there."""
    before, found = _until(way.head[1:], said, asker)
    if found:
        return _told(before)
    todo = deque([(machine, way.target, before)]) if way.target and not way.stays else deque()
    met: set[tuple[str, str]] = set()
    looked = 0
    while todo and looked < WAYS_MAX:
        looked += 1
        machine, state, past = todo.popleft()
        if (machine.name, state) in met or not state:
            continue
        met.add((machine.name, state))
        course = courses(machine)
        before, found = _until(course.entered[state], said, asker)
        past = (*past, *before)
        if found:
            return _told(past)
        called = course.calls[state]
        if called is not None:
            inner = spec.roles[machine.role].machines[called]
            todo.append((inner, courses(inner).first, past))
        if any(isinstance(element, Message) and element.source == asker for element in past):
            continue
        for onward in course.ways[state]:
            head = onward.head
            if onward.stays or (head and isinstance(head[0], Message) and head[0].source == asker):
                continue
            before, found = _until(head, said, asker)
            if found:
                return _told((*past, *before))
            todo.append((machine, onward.target, (*past, *before)))
    return None


def _until(elements: tuple[Element, ...], said: str, asker: str) -> tuple[tuple[Element, ...], bool]:
    for index, element in enumerate(elements):
        if isinstance(element, Message) and element.text == said and element.target == asker:
            return elements[:index], True
    return elements, False


def _told(elements: tuple[Element, ...]) -> tuple[Element, ...]:
    return tuple(_kept(elements))


def _kept(elements: tuple[Element, ...]) -> Iterator[Element]:
    """The names of states, and calls gone into, belong to the other role's own drawings."""
    for element in elements:
        match element:
            case Fragment():
                pass
            case Remark(tone=Tone.LOCAL) | Message():
                yield element
            case Remark():
                pass
