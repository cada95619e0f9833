"""Traces without the steps that have nothing to do with their end."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from machines.verification.verdict import TraceStep


def needed(units: Sequence[Sequence[TraceStep]], of: Collection[str] = ()) -> tuple[TraceStep, ...]:
    """Return the steps without those that neither the last unit nor the last step of these actors needs.

    ``units`` are steps that are one move each. A step needs those of its actor before it, and the one that sent what
    it reads; what is left is a run too.
    """
    before: list[set[int]] = []
    latest: dict[str, int] = {}
    sent: dict[tuple[str, str], list[int]] = {}
    for at, unit in enumerate(units):
        wanted = {latest[step.who] for step in unit if step.who in latest}
        for step in unit:
            coming = sent.get((step.peer, step.who), []) if step.kind == "reads" else []
            if coming:
                wanted.add(coming.pop(0))
        for step in unit:
            latest[step.who] = at
            peers = [to for to, _ in step.sent] + list(step.closed)
            if step.kind == "dies":
                peers = [who for who in latest if who != step.who]
            for to in peers:
                sent.setdefault((step.who, to), []).append(at)
        before.append(wanted)
    todo = [latest[who] for who in of if who in latest] if of else list(range(len(units)))[-1:]
    kept: set[int] = set()
    while todo:
        at = todo.pop()
        if at not in kept:
            kept.add(at)
            todo.extend(before[at])
    return tuple(step for at, unit in enumerate(units) if at in kept for step in unit)
