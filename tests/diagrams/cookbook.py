"""The generated blocks of ``docs/cookbook.md``: ``python -m tests.diagrams.cookbook`` writes them anew.

``<!-- recipe: NAME -->`` is followed by the recipe's file, ``<!-- drawn: NAME ROLE MACHINE -->`` by that machine before
and after as ``accord draw --format mmd`` has it, ``<!-- wire: NAME -->`` by framing and messages before and after as
``accord show`` has them, ``<!-- settings: NAME -->`` by the settings; each block goes to ``<!-- end -->``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from diagrams.catalogue import Kind, album
from diagrams.states.phrases import body_text
from machines.model import Spec
from machines.parser.loader import load, sources
from runtime.commands.show import written

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "cookbook.md"
FOLDER = DOCS / "cookbook"
BLOCK = re.compile(r"^<!-- (recipe|drawn|wire|settings): ([^\n]*?) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def filled(text: str) -> str:
    """Return the page with every block as it has to be."""
    return BLOCK.sub(lambda found: f"<!-- {found[1]}: {found[2]} -->\n{block(found[1], found[2])}<!-- end -->", text)


@cache
def block(kind: str, what: str) -> str:
    """Return what stands in one block.

    Raises:
        KeyError: there is no such machine in the base or in the recipe.
    """
    name, *where = what.split()
    path = FOLDER / f"{name}.yaml"
    if kind == "recipe":
        return f"```yaml\n{path.read_text()}```\n"
    specs = load(str(sources(str(path))[-1])), load(str(path))
    match kind:
        case "wire":
            shown = [f"```\n{wire(spec)}```" for spec in specs]
        case "settings":
            shown = [f"```\n{settings(spec)}```" for spec in specs]
        case _:
            shown = [f"```mermaid\n{chart(spec, *where)}```" for spec in specs]
    before, after = shown
    return f"<details><summary>before and after</summary>\n\n{before}\n\nAfter:\n\n{after}\n\n</details>\n"


def chart(spec: Spec, role: str, machine: str) -> str:
    """Return a machine as a Mermaid diagram.

    Raises:
        KeyError: the spec does not have it.
    """
    if machine not in spec.roles[role].machines:
        raise KeyError(f"{spec.protocol} has no machine {machine} of {role}")
    drawn = next(one for one in album(spec, [Kind.STATES]) if (one.role, one.machine) == (role, machine))
    return drawn.text("mmd") or ""


def settings(spec: Spec) -> str:
    """Return the settings, one a line."""
    return "".join(f"{setting.name}  {written(setting)}\n" for setting in spec.settings.values())


def wire(spec: Spec) -> str:
    """Return how messages are cut, and which there are."""
    width = max(map(len, spec.messages))
    lines = [f"{name.ljust(width)}  {body_text(message.body, spec)}" for name, message in spec.messages.items()]
    return "\n".join([f"framing {spec.wire.framing}", *lines]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
