"""What a spec says about itself: properties that shall hold of every run, and problems that it has on purpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from machines.problems import Place


@dataclass(frozen=True, slots=True)
class StatePredicate:
    """Where roles are, and what one of them does: it holds if all of it does at the same time.

    ``places`` are (role, machine, state): some session of that role is there; ``state`` None for anywhere in the
    machine, and ``machine`` None for a session that is over. ``sends`` and ``reads`` are messages.
    """

    places: tuple[tuple[str, str | None, str | None], ...]
    sends: str | None
    reads: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class Property:
    """What is never so; what is always so while something else is; what comes, once something else has been."""

    name: str
    kind: Literal["never", "always", "eventually"]
    what: StatePredicate
    when: StatePredicate | None
    place: Place


@dataclass(frozen=True, slots=True)
class Suppression:
    """A problem that the spec has on purpose: its code, where (None: anywhere), and the reason.

    ``where`` is a message, a setting, a type, ``role``, ``role.machine`` or ``role.machine.state``.
    """

    code: str
    where: str | None
    reason: str
    place: Place
