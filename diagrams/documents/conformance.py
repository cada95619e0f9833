"""What `accord conform` found, as one page of HTML: no script, nothing to load.

A summary by class; the role's state diagrams, green where a program passed, red where it failed, pale where it never
came; a row a requirement, which opens to what was said, the line, the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from diagrams.documents.html import POLICY, STYLE, inline
from diagrams.render import render
from diagrams.rendering.labels import visible
from diagrams.states.dot import write_machine
from diagrams.states.marks import Marks
from machines.conforming.case_results import CaseResult
from machines.conforming.judging import Judgement, RequirementVerdict, covered, line_of

BYTES_SHOWN = 400
LINES_SHOWN = 60
COLOURS = {"pass": "#d9f2d9", "fail": "#f6c9c9", "open": "#f2f2f2"}
LOOK = """\
.pass { background: #d9f2d9; } .fail { background: #f6c9c9; } .open { background: #f2f2f2; }
summary { cursor: pointer; } details { margin: .2em 0; padding: .2em .5em; border: 1px solid #c9d2de; }
pre { overflow-x: auto; font-size: .8em; }
"""
CLASSES = ("must", "broken peer", "tolerant", "strict")


def page(found: Judgement, spec: str, shown: str, again: Callable[[RequirementVerdict], str]) -> str:
    """Return the page. ``shown`` says which program, ``again`` gives the command that runs a fail again.

    Raises:
        PictureError: a state diagram cannot be drawn.
    """
    return "\n".join(_lines(found, spec, shown, again)) + "\n"


def _lines(found: Judgement, spec: str, shown: str, again: Callable[[RequirementVerdict], str]) -> Iterator[str]:
    marks = Marks(found.spec)
    title = escape(visible(f"{spec} {found.role}: {shown}"))
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield f"<title>{title}</title><style>{STYLE}{LOOK}{_painted(found, marks)}</style></head><body>"
    yield f"<h1>{title}</h1>"
    yield "<table><tr><th>class</th><th>pass</th><th>fail</th><th>open</th></tr>"
    for of in CLASSES:
        cells = "".join(f"<td>{len(found.of(which, of))}</td>" for which in ("pass", "fail", "open"))  # type: ignore[arg-type]
        yield f"<tr><th>{of}</th>{cells}</tr>"
    yield "</table>"
    there, missing = covered(found.spec, found.role, found.results)
    yield f"<p>Covered: {len(there)} of {len(there) + len(missing)} states.</p>"
    stems = frozenset(marks.pictures.values())
    for (role, machine), stem in marks.pictures.items():
        if role == found.role:
            drawn = inline(render(write_machine(found.spec, role, machine), "svg"), stem, stems)
            yield f"<figure>{drawn}<figcaption>{escape(machine)}</figcaption></figure>"
    yield "<h2>Requirements</h2>"
    for one in found.verdicts:
        yield from _row(found, one, again)
    yield "</body></html>"


def _painted(found: Judgement, marks: Marks) -> str:
    """Return the rules that colour the states."""
    standings: dict[str, str] = {}
    there, _ = covered(found.spec, found.role, found.results)
    for name in there:
        standings[name] = "pass"
    for one in found.of("fail"):
        state = one.requirement.id.split("/")[1]
        standings[state] = "fail"
        for result in one.failed:
            for listed in result.deviation.states if result.deviation is not None else ():
                standings.update(dict.fromkeys(listed.split(", "), "fail"))
    rules = []
    for machine in found.spec.roles[found.role].machines.values():
        for state in machine.states:
            box = marks.box(found.role, machine.name, state)
            if box is not None:
                colour = COLOURS[standings.get(f"{machine.name}.{state}", "open")]
                rules.append(f"[id='{box}'] polygon {{ fill: {colour}; }}")
    return "\n".join(rules)


def _row(found: Judgement, one: RequirementVerdict, again: Callable[[RequirementVerdict], str]) -> Iterator[str]:
    head = f"<code>{escape(one.requirement.id)}</code> {escape(one.requirement.text)}"
    yield f'<details class="{one.standing}"><summary>{one.standing.upper()} {head}</summary>'
    place = escape(str(line_of(found.spec, found.role, one)))
    yield f"<p>{escape(one.requirement.of)}, {place}; {one.came} cases came through it.</p>"
    if one.why:
        yield f"<p>{escape(visible(one.why))}</p>"
    if one.known:
        yield f"<p>Known: {escape(visible(one.known))}</p>"
    if one.failed:
        yield f"<pre>{escape(_way(one.failed[0]))}</pre><p>Again: <code>{escape(visible(again(one)))}</code></p>"
    yield "</details>"


def _way(result: CaseResult) -> str:
    shown = result.trace[-LINES_SHOWN:]
    lines = [f"… {len(result.trace) - len(shown)} lines before"] if len(shown) < len(result.trace) else []
    for one in shown:
        text = visible(one.data[:BYTES_SHOWN].decode(errors="backslashreplace").strip())
        more = f"… ({len(one.data)} bytes)" if len(one.data) > BYTES_SHOWN else ""
        lines.append(f"{one.when:7.3f} s  {one.who}  {one.name}  {text}{more}")
    lines += [f"it printed: {visible(line)}" for line in result.printed]
    return "\n".join(lines)
