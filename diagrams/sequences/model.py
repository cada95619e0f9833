"""A sequence diagram as data: lifelines, and what happens along them from top to bottom, not yet in any language.

    Scenario ── lifelines: the roles
     ├─ elements: Message, Remark, Fragment (loop, alt, par, ref …) with operands that hold elements again
     └─ cases: drawings of their own for what may go wrong or come at any time

``telling.scenario`` makes it of a machine of a spec, ``recording.scenario`` of a journal, ``traced.scenario`` of a
trace that the checker found; ``layout`` gives it rows and columns, ``dot``, ``chart``, ``mermaid`` and ``plantuml``
write it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from machines.problems import Place


class Tone(StrEnum):
    """What an element is about; each has its own mark, line and colour."""

    PLAIN = "plain"
    STATE = "state"  # the name of the state that is entered
    LOCAL = "local"  # what a role does by itself: names bound, a decision, a peer dropped
    CLOCK = "clock"
    WRONG = "wrong"
    LOST = "lost"
    END = "end"


@dataclass(frozen=True, slots=True)
class Message:
    """An arrow from one lifeline to another.

    ``text`` is the message's name, ``to`` the expression that says which of several peers is meant (empty if there
    is but one), ``detail`` what it is sent with, for the tooltip; ``time`` says when, in a drawing of a journal.
    """

    source: str
    target: str
    text: str
    to: str = ""
    detail: str = ""
    tone: Tone = Tone.PLAIN
    time: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """A text at one lifeline."""

    lifeline: str
    text: str
    tone: Tone = Tone.LOCAL
    time: str = ""
    place: Place | None = None


class Frame(StrEnum):
    """What a fragment means, in the words of UML."""

    LOOP = "loop"
    ALT = "alt"  # one of the operands
    PAR = "par"  # the items of a loop side by side
    REF = "ref"  # another drawing: the machine called


@dataclass(frozen=True, slots=True)
class Operand:
    """One compartment of a fragment: when it applies, and what happens."""

    guard: str
    elements: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A box across lifelines. A REF has no operands; its ``link`` is the machine whose drawing is meant."""

    frame: Frame
    heading: str
    operands: tuple[Operand, ...] = ()
    link: str | None = None
    place: Place | None = None


Element = Message | Remark | Fragment


@dataclass(frozen=True, slots=True)
class Case:
    """What may happen beside the main course: a time limit, a fault, a message that may come at any time."""

    title: str
    elements: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A whole drawing. ``lifelines`` are names in order; ``own`` is the one whose machine is told (or empty)."""

    protocol: str
    title: str
    own: str
    lifelines: tuple[str, ...]
    elements: tuple[Element, ...]
    cases: tuple[Case, ...]
    place: Place


def walk(elements: tuple[Element, ...]) -> Iterator[Element]:
    """Yield all elements, those inside of fragments too, in order."""
    for element in elements:
        yield element
        if isinstance(element, Fragment):
            for operand in element.operands:
                yield from walk(operand.elements)
