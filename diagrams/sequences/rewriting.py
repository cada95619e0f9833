"""Scenarios made over: calls with what is called told inside of them, and a lifeline for each of several peers.

┌ ref ── placement(player, play) ─┐     ┌ ref ── placement(player, play) ───────┐
└─────────────────────────────────┘     │    │── placement_request ──▶│          │
                                        └───────────────────────────────────────┘
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from diagrams.sequences.model import Case, Element, Fragment, Frame, Message, Operand, Remark, walk

UNFOLDED_MAX: Final = 100  # calls of one drawing; the shipped specs have fewer than 30
ONE_OF_SEVERAL: Final = re.compile(r"(?:to|from) (\w+\[\d+\])")


class Unfolding:
    """Tells what is called inside of each call; ``course`` returns the main course of a machine of the role.

    A machine that runs within itself is not told there again, and after UNFOLDED_MAX calls all stay folded.
    """

    def __init__(self, course: Callable[[str], tuple[Element, ...]]) -> None:
        self._course = course
        self._left = UNFOLDED_MAX

    def unfolded(self, elements: Sequence[Element], path: tuple[str, ...]) -> tuple[Element, ...]:
        """Return elements with their calls unfolded; ``path`` are the machines in which they lie."""
        return tuple(self._inside(element, path) for element in elements)

    def _inside(self, element: Element, path: tuple[str, ...]) -> Element:
        if not isinstance(element, Fragment):
            return element
        called = element.link
        if element.frame is Frame.REF and called is not None:
            if called in path or not self._left:
                return element
            self._left -= 1
            return replace(element, operands=(Operand("", self.unfolded(self._course(called), (*path, called))),))
        operands = (replace(one, elements=self.unfolded(one.elements, path)) for one in element.operands)
        return replace(element, operands=tuple(operands))


def with_each(
    lifelines: Sequence[str], elements: tuple[Element, ...], cases: tuple[Case, ...]
) -> tuple[tuple[str, ...], tuple[Element, ...], tuple[Case, ...]]:
    """Return the same with a lifeline for each of those of a role who are told apart by their place in a list.

    So ``client`` parts into ``client pair[0]`` and ``client pair[1]`` where something goes to either of them alone.
    """
    everything = [*walk(elements), *(element for case in cases for element in walk(case.elements))]
    found: dict[str, list[str]] = {}
    for element in everything:
        match = ONE_OF_SEVERAL.fullmatch(element.to) if isinstance(element, Message) else None
        if isinstance(element, Message) and match is not None:
            role = element.target if element.to.startswith("to ") else element.source
            found.setdefault(role, []).append(match[1])
    parts = {role: sorted(set(which)) for role, which in found.items() if len(set(which)) > 1}
    if not parts:
        return tuple(lifelines), elements, cases
    parted = _Parting(parts)
    elements = tuple(parted.parted(elements))
    cases = tuple(replace(case, elements=tuple(parted.parted(case.elements))) for case in cases)
    rest = {role for role in parts if role in parted.together}
    named = [
        [*([name] if name not in parts or name in rest else []), *(f"{name} {one}" for one in parts.get(name, ()))]
        for name in lifelines
    ]
    return tuple(name for names in named for name in names), elements, cases


class _Parting:
    """Gives each message its lifeline. ``together`` are the roles of which one is still meant without its place."""

    def __init__(self, parts: dict[str, list[str]]) -> None:
        self._parts = parts
        self._last: dict[str, str] = {}  # of a role, the lifeline that was spoken to last
        self.together: set[str] = set()

    def parted(self, elements: Sequence[Element]) -> Iterator[Element]:
        """Yield elements at their lifelines; what a peer does by itself stands where it was spoken to."""
        for element in elements:
            match element:
                case Message():
                    yield self._message(element)
                case Remark():
                    yield replace(element, lifeline=self._at(element.lifeline))
                case Fragment():
                    operands = (replace(one, elements=tuple(self.parted(one.elements))) for one in element.operands)
                    yield replace(element, operands=tuple(operands))

    def _message(self, message: Message) -> Message:
        if not message.to:
            return replace(message, source=self._at(message.source), target=self._at(message.target))
        to = message.to.startswith("to ")
        role = message.target if to else message.source
        if role not in self._parts:
            return message
        which = message.to.partition(" ")[2]
        lifeline = role
        if which in self._parts[role]:
            lifeline = f"{role} {which}"
            message = replace(message, to="")
        else:
            self.together.add(role)
        self._last[role] = lifeline
        return replace(message, target=lifeline) if to else replace(message, source=lifeline)

    def _at(self, role: str) -> str:
        if role not in self._parts:
            return role
        lifeline = self._last.get(role, role)
        if lifeline == role:
            self.together.add(role)
        return lifeline
