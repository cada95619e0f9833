"""State diagrams as Mermaid's ``stateDiagram-v2`` and as PlantUML: one machine, or a role with its machines.

    [*] --> s1                          starts
    s1 : asked                          a state with what it does, a line each
    s1 --> s2 : ? MOVE [n == 1] ! YES   an arrow with its event, guard and sends
    s2 --> [*] : return table           ends

Both languages know no more of a state than its text, so everything is said in words that the pictures say by looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from diagrams.rendering.escaping import mermaid_text, plantuml_text
from diagrams.states.builder import callers, flow, starters
from diagrams.states.model import Label, Line, LineRole, Node, StateDiagram
from machines.model import Spec

LABELS_MAX: Final = 8  # branches at one arrow; more would be a column of text without an arrow

Escape = Callable[[str], str]


def machine_mermaid(spec: Spec, role: str, machine: str) -> str:
    """Return one machine's state diagram as Mermaid; KeyError as for `diagrams.states.dot.write_machine`."""
    lines = _Writer(mermaid, "<br/>").machine(flow(spec, role, machine), "s", 1)
    return "\n".join(("stateDiagram-v2", *lines)) + "\n"


def machine_plantuml(spec: Spec, role: str, machine: str) -> str:
    """Return one machine's state diagram as PlantUML; KeyError as for `diagrams.states.dot.write_machine`."""
    lines = _Writer(plantuml_text, "\\n").machine(flow(spec, role, machine), "s", 0)
    title = f"title {plantuml_text(f'{spec.protocol} {role} {machine}')}"
    return "\n".join(("@startuml", "hide empty description", title, *lines, "@enduml")) + "\n"


def role_mermaid(spec: Spec, role: str) -> str:
    """Return the machines of a role, each a state with states in it, and the calls between them, as Mermaid."""
    return "\n".join(("stateDiagram-v2", *_role(spec, role, _Writer(mermaid, "<br/>"), 1))) + "\n"


def role_plantuml(spec: Spec, role: str) -> str:
    """Return the machines of a role as PlantUML; see `role_mermaid`."""
    title = f"title {plantuml_text(f'{spec.protocol} {role}')}"
    lines = _role(spec, role, _Writer(plantuml_text, "\\n"), 0)
    return "\n".join(("@startuml", "hide empty description", title, *lines, "@enduml")) + "\n"


def _role(spec: Spec, role: str, writer: _Writer, depth: int) -> Iterator[str]:
    margin = "    " * depth
    machines = list(spec.roles[role].machines.values())
    numbers = {machine.name: number for number, machine in enumerate(machines, 1)}
    for machine in machines:
        title = f"{machine.name}({', '.join(machine.parameters)})" if machine.parameters else machine.name
        prefix = f"m{numbers[machine.name]}"
        yield f'{margin}state "{writer.text(title)}" as {prefix} {{'
        yield from writer.machine(flow(spec, role, machine.name), f"{prefix}s", depth + 1)
        yield f"{margin}}}"
    for machine in machines:
        runs = [(caller, state.name, "runs") for caller, state in callers(spec, machine)]
        runs += [(by, state.name if state is not None else "", "starts") for by, state in starters(spec, machine)]
        for caller, state_name, does in runs:
            place = list(caller.states).index(state_name) + 1 if state_name in caller.states else "a"
            yield f"{margin}m{numbers[caller.name]}s{place} --> m{numbers[machine.name]} : {does}"


def mermaid(text: str) -> str:
    """Return a text that Mermaid shows in a state diagram: until version 11.13 a colon in it ends the text."""
    return mermaid_text(text).replace(":", "#58;")


class _Writer:
    def __init__(self, escape: Escape, line_end: str) -> None:
        self.escape = escape
        self.line_end = line_end

    def text(self, text: str) -> str:
        return self.escape(text)

    def machine(self, drawn: StateDiagram, prefix: str, depth: int) -> Iterator[str]:
        margin = "    " * depth
        states = list(drawn.machine.states)
        names = {state: f"{prefix}{number}" for number, state in enumerate(states, 1)}
        for number, node in enumerate((n for n in drawn.nodes if n.kind == "junction"), 1):
            names[node.name] = f"{prefix}j{number}"
        nodes = {node.name: node for node in drawn.nodes}
        for node in drawn.nodes:
            match node.kind:
                case "state" | "choice" | "always":
                    names.setdefault(node.name, f"{prefix}a")
                    yield from self._state(node, names[node.name], margin)
                case "junction":
                    yield f"{margin}state {names[node.name]} <<choice>>"
                case "start" | "end" | "jump":
                    pass
        for arrow in drawn.arrows:
            target = nodes[arrow.target]
            source = "[*]" if nodes[arrow.source].kind == "start" else names[arrow.source]
            labels = list(self._labels(arrow.labels))
            match target.kind:
                case "end":
                    goal = "[*]"
                    labels.append(self.escape(f"return {target.lines[0].text}"))
                case "jump":
                    goal = names[target.lines[0].text]
                case _:
                    goal = names[arrow.target]
            text = self.line_end.join(labels)
            yield f"{margin}{source} --> {goal} : {text}" if text else f"{margin}{source} --> {goal}"

    def _state(self, node: Node, name: str, margin: str) -> Iterator[str]:
        title = next((line.text for line in node.lines if line.voice is LineRole.NAME), node.name)
        mark = "◇ " if node.kind == "choice" else ""
        yield f'{margin}state "{self.escape(mark + title)}" as {name}'
        for line in node.lines:
            if line.voice is not LineRole.NAME:
                yield f"{margin}{name} : {self.escape(line.text)}"
        for label in node.inside:
            yield f"{margin}{name} : {self.escape(_said(label.lines))}"

    def _labels(self, labels: tuple[Label, ...]) -> Iterator[str]:
        said = [text for label in labels if (text := _said(label.lines))]
        for text in said[:LABELS_MAX]:
            yield self.escape(text)
        if len(said) > LABELS_MAX:
            yield self.escape(f"and {len(said) - LABELS_MAX} more")


def _said(lines: tuple[Line, ...]) -> str:
    return " ".join(line.text.strip().replace("\N{NO-BREAK SPACE}", " ") for line in lines)
