"""Scenarios as Mermaid's ``sequenceDiagram``, which Markdown viewers draw: the course, then each case on a shade.

All of them are one diagram: Mermaid refuses a file that holds several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from diagrams.rendering.escaping import mermaid_text
from diagrams.sequences.layout import said
from diagrams.sequences.model import Element, Fragment, Frame, Message, Remark, Scenario, Tone

CASE_GROUND: Final = "rgba(128, 128, 128, 0.1)"  # a shade on white, and on black


def scenario_mermaid(scenario: Scenario) -> str:
    """Return the diagram of a scenario: its course first, then each case, whose title stands in a note at its top."""
    names = {lifeline: f"p{number}" for number, lifeline in enumerate(scenario.lifelines, 1)}
    return "\n".join(("sequenceDiagram", *_Writer(names).diagram(scenario))) + "\n"


class _Writer:
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names  # of the lifelines, as Mermaid knows them

    def diagram(self, scenario: Scenario) -> Iterator[str]:
        for lifeline, name in self.names.items():
            yield f"    participant {name} as {mermaid_text(lifeline)}"
        yield from self._elements(scenario.elements, 1)
        for case in scenario.cases:
            yield f"    rect {CASE_GROUND}"
            yield f"        Note over {self._all()}: {mermaid_text(f'case: {case.title}')}"
            yield from self._elements(case.elements, 2)
            yield "    end"

    def _all(self) -> str:
        names = list(self.names.values())
        return names[0] if len(names) == 1 else f"{names[0]},{names[-1]}"

    def _elements(self, elements: tuple[Element, ...], depth: int) -> Iterator[str]:
        margin = "    " * depth
        for element in elements:
            match element:
                case Message():
                    arrow = "-->>" if element.tone is Tone.LOCAL else "-x" if element.tone is Tone.LOST else "->>"
                    ends = f"{self.names[element.source]}{arrow}{self.names[element.target]}"
                    yield f"{margin}{ends}: {mermaid_text(said(element))}"
                case Remark():
                    yield f"{margin}Note over {self.names[element.lifeline]}: {mermaid_text(element.text)}"
                case Fragment():
                    yield from self._fragment(element, depth)

    def _fragment(self, fragment: Fragment, depth: int) -> Iterator[str]:
        margin = "    " * depth
        if fragment.frame is Frame.REF:
            if fragment.operands:
                yield f"{margin}rect {CASE_GROUND}"
            yield f"{margin}Note over {self._all()}: {mermaid_text(f'ref {fragment.heading}')}"
            for operand in fragment.operands:
                yield from self._elements(operand.elements, depth + 1)
                yield f"{margin}end"
            return
        words = {Frame.ALT: ("alt", "else"), Frame.PAR: ("par", "and"), Frame.LOOP: ("loop", "")}
        first, further = words[fragment.frame]
        for number, operand in enumerate(fragment.operands):
            heading = operand.guard if number or not fragment.heading else fragment.heading
            yield f"{margin}{further if number else first} {mermaid_text(heading) if heading else ''}".rstrip()
            yield from self._elements(operand.elements, depth + 1)
        yield f"{margin}end"
