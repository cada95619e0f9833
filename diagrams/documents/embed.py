"""Parts of a Markdown file that are written from specs, so that a document by hand never lies about one.

    <!-- accord: chart tsuro server join -->        what a machine says and hears, as text
    ...
    <!-- accord: end -->

The rest of the file stays byte for byte. ``course`` is a chart without its cases; ``messages``, ``fields``, ``types``,
``waits`` and ``settings`` are the tables of a spec's document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from diagrams.documents import markdown
from diagrams.documents.builder import document
from diagrams.documents.model import Document
from diagrams.sequences.builder import scenario
from diagrams.sequences.text import scenario_chart
from machines.model import Spec
from machines.problems import near

TABLES: Final[dict[str, Callable[[Document], Iterable[str]]]] = {
    "messages": markdown.message_table,
    "fields": markdown.field_table,
    "types": markdown.type_table,
    "waits": markdown.wait_table,
    "settings": markdown.setting_table,
}
CHARTS: Final = ("chart", "course")
END: Final = "<!-- accord: end -->"
_BEGIN = re.compile(r"<!-- accord: ([^\r\n]+?) -->")
_LIKE_ONE = re.compile(r"<!-*\s*accord\b", re.IGNORECASE)


class FillError(Exception):
    """A part cannot be written: it asks for what there is not, or has no end. The text has the line and the cause."""


def filled(text: str, load: Callable[[str], Spec]) -> str:
    """Return a Markdown text with its parts written anew; ``load`` gives the spec of a name.

    Raises:
        FillError: a part asks for what there is not, has no end, or is not written as one.
        Whatever ``load`` raises.
    """
    once = cache(load)
    return "\n".join(_lines(text.split("\n"), once))


def has_parts(text: str) -> bool:
    """Tell whether anything in a Markdown text is to be written from a spec."""
    return any(_LIKE_ONE.match(line.strip()) for line in text.split("\n"))


def _lines(lines: list[str], load: Callable[[str], Spec]) -> Iterator[str]:
    inside = 0
    for number, line in enumerate(lines, 1):
        found = _BEGIN.fullmatch(line.strip())
        if line.strip() == END:
            if not inside:
                raise FillError(f"line {number}: {END} ends nothing")
            inside = 0
        elif found is not None:
            if inside:
                raise FillError(f"line {number}: the part that begins in line {inside} has no {END}")
            inside = number
            yield line
            yield from _part(found[1].split(), number, load)
            continue
        elif _LIKE_ONE.match(line.strip()):
            raise FillError(
                f"line {number}: a part begins with <!-- accord: ... --> and ends with {END}, written just so"
            )
        if not inside:
            yield line
    if inside:
        raise FillError(f"line {inside}: this part has no {END}")


def _part(words: list[str], number: int, load: Callable[[str], Spec]) -> Iterator[str]:
    what, *of = words
    if what in TABLES and len(of) == 1:
        yield ""
        yield from TABLES[what](document(load(of[0])))
        yield ""
    elif what in CHARTS and len(of) == 3:
        name, role, machine = of
        spec = load(name)
        if role not in spec.roles:
            hint = near(role, spec.roles) or f"there is {', '.join(spec.roles)}"
            raise FillError(f"line {number}: {name} has no role {role!r}: {hint}")
        if machine not in spec.roles[role].machines:
            named = spec.roles[role].machines
            hint = near(machine, named) or f"there is {', '.join(named)}"
            raise FillError(f"line {number}: the role {role} of {name} has no machine {machine!r}: {hint}")
        told = scenario(spec, role, machine)
        yield ""
        yield from markdown.fenced(scenario_chart(replace(told, cases=()) if what == "course" else told))
        yield ""
    else:
        forms = f"{' or '.join(CHARTS)} SPEC ROLE MACHINE, or {', '.join(TABLES)} SPEC"
        raise FillError(f"line {number}: {' '.join(words)!r} is not one of: {forms}")
