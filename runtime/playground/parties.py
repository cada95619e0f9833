"""The parties of a trial: programs with their sessions, and what they were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from machines.effects import Ask, Effect
from machines.engine.routing import Stand
from machines.engine.session import Session
from runtime.journal.writing import Kind
from runtime.playground.message_input import written

SHOWN_MAX: Final = 200  # characters of a message that are shown


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a session and what it led to, as a journal has it; ``order`` counts those of all sessions.

    ``stood`` is where its calls stand then.
    """

    order: int
    kind: Kind
    now: float
    took: Sequence[tuple[str, str, str, str]]
    out: Sequence[Effect]
    more: Mapping[str, Any]
    stood: Stand


@dataclass(eq=False)
class ManualParticipant:
    """One program: its session, or None if a person plays it. ``links`` are its connections, by its own seats."""

    name: str
    role: str
    session: Session | None
    number: int = 0  # among those of its role
    links: dict[int, tuple[ManualParticipant, int]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # who sits or sat at each seat
    asked: dict[int, Ask] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)
    over: bool = False
    ahead: float = 0.0  # seconds that have passed for it alone

    @property
    def open(self) -> dict[int, ManualParticipant]:
        """The parties at the other ends, by seat."""
        return {seat: other for seat, (other, _) in self.links.items()}

    def met(self, seat: int) -> str:
        """Return who sits there, for people."""
        return self.names.get(seat, f"peer {seat}")

    def link(self, seat: int, other: ManualParticipant, there: int) -> None:
        """Connect a seat with one of another party."""
        self.links[seat], other.links[there] = (other, there), (self, seat)
        self.names[seat], other.names[there] = other.name, self.name


def deadline(party: ManualParticipant) -> float | None:
    """Return when a party's next clock may ring, by the time of all; None if none runs."""
    due = party.session.deadline if party.session is not None and not party.over else None
    return due - party.ahead if due is not None else None


def listed(fields: Mapping[str, Any]) -> str:
    """Return the fields of a message behind a colon, for people; nothing if it has none."""
    return ": " + short(", ".join(f"{name} {written(value)}" for name, value in fields.items())) if fields else ""


def short(text: str) -> str:
    """Return a text, or its beginning if it is too long to be shown."""
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 3] + "..."
