"""A trace of the exploration as a scenario: every session has its lifeline, and each message stands where it is read.

What was sent and not yet read when the trace ends is drawn last, as on its way.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagrams.sequences.model import Element, Message, Remark, Scenario, Tone
from machines.problems import Place
from machines.verification.verdict import Finding, TraceStep

ENDED = ("over", "failed", "dead")


def scenario(finding: Finding, protocol: str, title: str, place: Place) -> Scenario:
    """Return the drawing of a finding's trace; ``place`` is where the drawing is of, if the finding has none."""
    lifelines: dict[str, None] = {}
    for step in finding.trace:
        for name in (step.who, step.peer, *(to for to, _ in step.sent)):
            if name:
                lifelines.setdefault(name)
    elements = tuple(_elements(finding.trace))
    return Scenario(protocol, title, "", tuple(lifelines), elements, (), finding.place or place)


def _elements(trace: tuple[TraceStep, ...]) -> Iterator[Element]:
    waiting: dict[tuple[str, str], list[str]] = {}  # by sender and receiver: what is not yet read
    places: dict[str, str] = {}
    for step in trace:
        yield from _happens(step)
        coming = waiting.get((step.peer, step.who), [])
        if step.kind == "reads" and step.message in coming:
            coming.remove(step.message)
        for to, message in step.sent:
            waiting.setdefault((step.who, to), []).append(message)
        if step.where != places.get(step.who):
            places[step.who] = step.where
            yield Remark(step.who, step.where, Tone.END if step.where in ENDED else Tone.STATE)
    for (sender, receiver), messages in waiting.items():
        for message in messages:
            yield Message(sender, receiver, f"{message}, on its way")


def _happens(step: TraceStep) -> Iterator[Element]:
    match step.kind:
        case "connects":
            if step.peer:
                yield Message(step.peer, step.who, "connects")
        case "reads" if step.message:
            yield Message(step.peer, step.who, step.message)
            if step.taken:
                yield Remark(step.who, f"takes it for {step.taken}", Tone.WRONG)
        case "reads" | "dies":
            yield Remark(step.who, step.does, Tone.LOST)
        case "decides":
            yield Remark(step.who, step.does)
        case "rings":
            yield Remark(step.who, step.does, Tone.CLOCK)
        case "misbehaves":
            yield Remark(step.who, step.does, Tone.WRONG)
