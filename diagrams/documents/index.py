"""The page from which all documents and drawings of several specs can be reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagrams.catalogue import Kind, album
from diagrams.documents.markdown import code, text
from diagrams.rendering.labels import stem
from machines.model import Spec


def index(specs: Sequence[Spec], formats: Sequence[str]) -> str:
    """Return a page of Markdown with links to what `accord docs` and `accord draw` write for these specs."""
    return "\n".join(_lines(specs, formats)) + "\n"


def _lines(specs: Sequence[Spec], formats: Sequence[str]) -> Iterator[str]:
    yield "# Protocols"
    yield ""
    yield "Written by `accord docs --all` from the specs, as they run. A picture's tooltips name the lines of its spec."
    for spec in specs:
        name = stem(spec.protocol)
        links = [("document", f"{name}.md", "md"), ("page", f"{name}.html", "html")]
        links += [("JSON Schema", f"{name}.schema.json", "schema")]
        links += [
            (f"AsyncAPI of {role}", f"{stem(spec.protocol, role)}.asyncapi.json", "asyncapi")
            for role in spec.listeners()
        ]
        links.append(("a dialogue as bytes", f"{name}.wire.jsonl", "wire"))
        yield ""
        yield f"## {text(spec.protocol)}"
        yield ""
        yield f"{text(spec.title)}."
        yield ""
        yield " · ".join(f"[{text(label)}]({path})" for label, path, form in links if form in formats)
        yield ""
        yield "| role | machine | said | states |"
        yield "|---|---|---|---|"
        drawn = {(drawing.kind, drawing.role, drawing.machine): drawing.stem for drawing in album(spec)}
        for role in spec.roles.values():
            yield f"| {code(role.name)} | all | | [overview]({drawn[Kind.OVERVIEW, role.name, '']}.svg) |"
            for machine in role.machines:
                said, states = drawn[Kind.SEQUENCES, role.name, machine], drawn[Kind.STATES, role.name, machine]
                yield f"| | {code(machine)} | [sequence]({said}.svg) | [states]({states}.svg) |"
