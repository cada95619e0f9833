"""Scenarios as PlantUML sequence diagrams; a page for the course and for each case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from diagrams.rendering.escaping import plantuml_text
from diagrams.sequences.layout import said
from diagrams.sequences.model import Element, Fragment, Frame, Message, Remark, Scenario, Tone

NOTES: Final = {Tone.STATE: "hnote", Tone.END: "rnote"}


def scenario_plantuml(scenario: Scenario) -> str:
    """Return a scenario as one PlantUML source of several pages."""
    return "\n".join(_lines(scenario)) + "\n"


def _lines(scenario: Scenario) -> Iterator[str]:
    names = {lifeline: f"p{number}" for number, lifeline in enumerate(scenario.lifelines, 1)}
    yield "@startuml"
    yield f"title {plantuml_text(f'{scenario.own} {scenario.title}'.strip())}"
    yield from (f'participant "{plantuml_text(lifeline)}" as {name}' for lifeline, name in names.items())
    yield from _elements(scenario.elements, names)
    for case in scenario.cases:
        yield f"newpage case {plantuml_text(case.title)}"
        yield from _elements(case.elements, names)
    yield "@enduml"


def _elements(elements: tuple[Element, ...], names: dict[str, str]) -> Iterator[str]:
    for element in elements:
        match element:
            case Message():
                arrow = "-->" if element.tone is Tone.LOCAL else "->x" if element.tone is Tone.LOST else "->"
                yield f"{names[element.source]} {arrow} {names[element.target]} : {plantuml_text(said(element))}"
            case Remark():
                note = NOTES.get(element.tone, "note")
                yield f"{note} over {names[element.lifeline]} : {plantuml_text(element.text)}"
            case Fragment(frame=Frame.REF, operands=(inside, *_)):
                yield f"group ref [{plantuml_text(element.heading)}]"
                yield from _elements(inside.elements, names)
                yield "end"
            case Fragment(frame=Frame.REF):
                yield f"ref over {', '.join(names.values())} : {plantuml_text(element.heading)}"
            case Fragment():
                yield from _fragment(element, names)


def _fragment(fragment: Fragment, names: dict[str, str]) -> Iterator[str]:
    further = {Frame.ALT: "else", Frame.PAR: "else", Frame.LOOP: ""}[fragment.frame]
    for number, operand in enumerate(fragment.operands):
        heading = operand.guard if number or not fragment.heading else fragment.heading
        yield f"{further if number else fragment.frame.value} {plantuml_text(heading) if heading else ''}".rstrip()
        yield from _elements(operand.elements, names)
    yield "end"
