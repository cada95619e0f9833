"""Scenarios as PlantUML sequence diagrams; a page for the course and for each case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from diagrams.rendering.labels import shorten, visible
from diagrams.sequences.layout import said
from diagrams.sequences.model import Element, Fragment, Frame, Message, Remark, Scenario, Tone

PLAIN: Final = re.compile(
    r"[^A-Za-z0-9 ,.()\[\]=:+?!-]"
)  # all else is written as <U+NNNN>: no markup, no end of a line
TEXT_CHARACTERS_MAX: Final = 300
NOTES: Final = {Tone.STATE: "hnote", Tone.END: "rnote"}


def scenario_plantuml(scenario: Scenario) -> str:
    """Return a scenario as one PlantUML source of several pages."""
    return "\n".join(_lines(scenario)) + "\n"


def escaped(text: str) -> str:
    """Return a text that PlantUML shows and does not act on."""
    cut = shorten(visible(text), TEXT_CHARACTERS_MAX)
    written = PLAIN.sub(lambda found: f"<U+{ord(found[0]):04X}>", cut).strip()
    # Two of a kind in a row are markup: --struck out--, [[a link]], ..a line..
    return re.sub(r"([-.\[\]=+!?:(])(?=\1)", lambda found: f"<U+{ord(found[0]):04X}>", written) or "<U+00A0>"


def _lines(scenario: Scenario) -> Iterator[str]:
    names = {lifeline: f"p{number}" for number, lifeline in enumerate(scenario.lifelines, 1)}
    yield "@startuml"
    yield f"title {escaped(f'{scenario.own} {scenario.title}'.strip())}"
    yield from (f'participant "{escaped(lifeline)}" as {name}' for lifeline, name in names.items())
    yield from _elements(scenario.elements, names)
    for case in scenario.cases:
        yield f"newpage case {escaped(case.title)}"
        yield from _elements(case.elements, names)
    yield "@enduml"


def _elements(elements: tuple[Element, ...], names: dict[str, str]) -> Iterator[str]:
    for element in elements:
        match element:
            case Message():
                arrow = "-->" if element.tone is Tone.LOCAL else "->x" if element.tone is Tone.LOST else "->"
                yield f"{names[element.source]} {arrow} {names[element.target]} : {escaped(said(element))}"
            case Remark():
                yield f"{NOTES.get(element.tone, 'note')} over {names[element.lifeline]} : {escaped(element.text)}"
            case Fragment(frame=Frame.REF):
                yield f"ref over {', '.join(names.values())} : {escaped(element.heading)}"
            case Fragment():
                yield from _fragment(element, names)


def _fragment(fragment: Fragment, names: dict[str, str]) -> Iterator[str]:
    further = {Frame.ALT: "else", Frame.PAR: "else", Frame.LOOP: ""}[fragment.frame]
    for number, operand in enumerate(fragment.operands):
        heading = operand.guard if number or not fragment.heading else fragment.heading
        yield f"{further if number else fragment.frame.value} {escaped(heading) if heading else ''}".rstrip()
        yield from _elements(operand.elements, names)
    yield "end"
