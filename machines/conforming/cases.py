"""The cases of a role: games with real rules in which seat, seed, number of clients and the cutting of bytes vary, and
one deed of ours in each state in which the role waits. The same spec, role and seed give the same cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from machines.analysis.call_graph import kind
from machines.conforming.requirements import DEEDS, Deed, RequirementClass, limit_seconds
from machines.model import Spec

Cutting = Literal["", "bytes", "glued", "odd"]
_ID: Final = re.compile(
    r"of(\d+),seat(\d+),seed(\d+)(?:,(bytes|glued|odd))?(?:,(closed|half|garbage|unexpected|silent)\.([\w.-]+))?"
    r"(?:,called\.([\w-]{1,40}))?"
)
SEEDS: Final = 2
MANY: Final = 5  # clients of a game at most, where the spec lets in more


@dataclass(frozen=True, slots=True)
class Case:
    """One run: ``clients`` take part, the stranger's seat is ``seat`` (of a server: the client that does the deed).

    ``cutting`` is what is done with our bytes, ``deed`` what we do in ``state``, after which we say nothing more.
    ``called`` is the name of our first client, if it is to have the stranger's.
    """

    clients: int
    seat: int
    seed: int
    cutting: Cutting = ""
    deed: Deed = ""
    state: str = ""
    called: str = ""

    @property
    def id(self) -> str:
        """The names by which it is called again."""
        parts = [f"of{self.clients}", f"seat{self.seat}", f"seed{self.seed}"]
        if self.cutting:
            parts.append(self.cutting)
        if self.deed:
            parts.append(f"{self.deed}.{self.state}")
        if self.called:
            parts.append(f"called.{self.called}")
        return ",".join(parts)

    @staticmethod
    def parse(text: str) -> Case | None:
        """Return the case of an id; None if it is none."""
        found = _ID.fullmatch(text)
        if found is None:
            return None
        clients, seat, seed, *words = found.groups(default="")
        return Case(int(clients), int(seat), int(seed), *words)  # type: ignore[arg-type]

    @property
    def of(self) -> RequirementClass:
        """The class of what fails in it."""
        if self.deed:
            return "broken peer"
        return "tolerant" if self.cutting == "odd" else "must"


def cases(
    spec: Spec, role: str, low: int, high: int, seed: int, *, longest: float, seeds: int = SEEDS
) -> tuple[Case, ...]:
    """Return the cases of a role, games first. A game takes ``low`` to ``high`` clients; a role that listens has no
    seat among them, so one game of a seed is as any other.

    Silence is tried where a limit is at most ``longest`` seconds. ``seeds`` is how many games a seat gets.
    """
    seats = 1 if role in spec.listeners() else min(low, MANY)
    found = dict.fromkeys((*_games(low, high, seats, seed, seeds), *_deeds(spec, role, low, seed, longest)))
    return tuple(found)


def namesake(first: Case, name: str) -> Case | None:
    """Return a game in which a client of ours was there before the stranger and has its name; None if there is none."""
    case = Case(first.clients, first.clients - 1, first.seed, called=name)
    return case if case.seat and Case.parse(case.id) == case else None


def _games(low: int, high: int, seats: int, seed: int, seeds: int) -> Iterator[Case]:
    yield Case(low, 0, seed)
    yield Case(low, low - 1, seed, "glued")
    yield Case(low, min(1, low - 1), seed, "bytes")
    for more in range(seeds):
        for seat in range(seats):
            yield Case(low, seat, seed + more)
    most = min(high, max(low, MANY))
    if most > low:
        yield Case(most, most - 1, seed)
        yield Case(most, 0, seed + 1, "glued")
    yield Case(low, 0, seed, "odd")


def _deeds(spec: Spec, role: str, clients: int, seed: int, longest: float) -> Iterator[Case]:
    for machine in spec.roles[role].machines.values():
        for state in machine.states.values():
            if kind(state) == "wait":
                for deed in DEEDS:
                    if deed != "silent" or (state.ask is None and limit_seconds(spec, machine, state) <= longest):
                        here = f"{machine.name}.{state.name}"
                        yield Case(clients, min(1, clients - 1), seed, "", deed, here)
