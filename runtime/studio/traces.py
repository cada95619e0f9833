"""A trace of ``accord check`` as the steps of a run: what everybody does, step by step, over the pictures of all roles.

The steps are the verdict's own: they have no data and no time, so that a step's number stands in place of seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from diagrams.states.marks import Marks, machine_of
from machines.model import Spec
from machines.verification.verdict import TraceStep
from runtime.studio.said import Said, Tone
from runtime.studio.steps import Party, Step

_GONE: Final = ("over", "failed", "lost", "gone")


def trace_steps(spec: Spec, marks: Marks, trace: Sequence[TraceStep]) -> tuple[list[Step], tuple[Party, ...]]:
    """Return a trace as steps, one each, and who takes part: those who listen first.

    What is lit as just taken are the transitions that lead from where a party stood to where it stands then, on what
    it read, decided or waited for.
    """
    met = (name for step in trace for name in (step.who, step.peer, *(to for to, _ in step.sent)) if name)
    names = sorted(dict.fromkeys(met), key=lambda name: role_of(spec, name) not in spec.listeners())
    ids = {name: f"t{number}" for number, name in enumerate(names)}
    callers = tuple(role for role in spec.connects if role not in spec.listeners())
    parties = tuple(
        Party(id_, role_of(spec, name), name, role_of(spec, name) not in callers) for name, id_ in ids.items()
    )
    steps: list[Step] = []
    where: dict[str, tuple[str, ...]] = {}
    stood: dict[str, frozenset[tuple[str, str]]] = {}
    for number, step in enumerate(trace):
        role, before = role_of(spec, step.who), stood.get(step.who, frozenset())
        after = frozenset(_states(step.where))
        stood[step.who] = after
        boxes = (marks.box(role, machine, state) for machine, state in after)
        where[ids[step.who]] = tuple(dict.fromkeys(box for box in boxes if box is not None))
        steps.append(
            Step(
                number, float(number + 1), step.kind, ids[step.who], tuple(_lines(step, ids)),
                {id_: lit for id_, lit in where.items() if lit}, frozenset(),
                tuple(_arrows(marks, role, step, before, after)), (),
            )
        )  # fmt: skip
    return steps, parties


def role_of(spec: Spec, name: str) -> str:
    """Return the role of a party of a trace, by its name: ``client 2``, ``server``, ``ai of client 1``."""
    first = name.partition(" of ")[0]
    if first in spec.roles:
        return first
    return max((role for role in spec.roles if first.startswith(f"{role} ")), key=len, default=first)


def _states(where: str) -> Iterator[tuple[str, str]]:
    """Yield the (machine, state) of every call that waits; nothing for one that is over."""
    for one in where.split(", "):
        machine, dot, state = one.rpartition(".")
        if dot and one not in _GONE:
            yield machine_of(machine), state


def _arrows(
    marks: Marks, role: str, step: TraceStep, before: frozenset[tuple[str, str]], after: frozenset[tuple[str, str]]
) -> Iterator[str]:
    for (of, machine, (state, event, to)), ids in marks.keys().items():
        if of != role or (machine, state) not in before - after:
            continue
        reached = (machine, to.partition("/")[0]) in after or not any(one == machine for one, _ in after)
        if reached and _fits(step, event):
            yield from ids


def _fits(step: TraceStep, event: str) -> bool:
    """Whether a transition on this event may be what a step does."""
    name = event.removeprefix("always:")
    if name.startswith("."):
        return step.kind != "rings" or name.startswith((".timeout", ".after", ".every"))
    return step.kind in ("reads", "decides") and name in (step.message, step.taken)


def _lines(step: TraceStep, ids: dict[str, str]) -> Iterator[Said]:
    me = ids[step.who]
    wrong = step.kind in ("dies", "misbehaves")
    yield Said(me, None, step.does, Tone.VIOLATION if wrong else Tone.CLOCK, f"where {step.who} is then: {step.where}")
    for to, message in step.sent:
        yield Said(me, ids[to], message, Tone.MESSAGE)
    for name in step.closed:
        yield Said(me, ids.get(name), f"closes {name}", Tone.CLOSED)
