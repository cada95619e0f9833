"""What asks the properties of a spec while a session runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from machines.effects import Effect
from machines.engine.call_stack import TransitionRecord
from machines.engine.session import Program


class PropertyMonitor(Protocol):
    """What a session needs of `machines.verification.temporal.Monitor`."""

    def fed(self, took: Iterable[TransitionRecord], effects: Iterable[Effect]) -> list[str]:
        """Take in what an input did; return what it broke."""


def monitor_of(program: Program) -> PropertyMonitor | None:
    """Return what asks the properties of the spec that speak of this role only; None if there are none."""
    if not program.spec.properties:
        return None
    from machines.verification.temporal import Monitor  # a spec without properties need not wait for all it imports

    monitor = Monitor(program.spec, program.role.name)
    return monitor if monitor.properties else None
