"""Whose program ends the process of its match: a match whose process was lost each time is tried with one player's
program alone, the others played by a kind that comes with the game. Three times lost so, and it is that player's fault.

An attempt of this sort is kept as a broken one, and its reason says all that is to be known of it thereafter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from runtime.tournament.store import Match, Placed

LOST_TRIES: Final = 3  # with one player's program alone, and all of them lost
STAND_IN: Final = "random"  # who sits in the others' places then
LOST: Final = "its process ended with "  # a reason begins so if a process was lost
ALONE: Final = "with the program of {} alone: "
ENDED_WELL: Final = "it came to its end, and counts for nothing"
FAULT: Final = "the process of its match was lost {} times with its program alone"


@dataclass
class LostProcesses:
    """What is known of the lost processes of one match. ``alone`` has an entry for each who was tried: lost, or not."""

    lost: int = 0
    others: int = 0  # attempts that the arena broke in another way
    alone: dict[str, list[bool]] = field(default_factory=dict)

    def note(self, why: str, seats: Sequence[str]) -> bool:
        """Take note of a broken attempt; return whether it counts as a try of the match itself."""
        for name in seats:
            if why.startswith(told := ALONE.format(name)):
                self.alone.setdefault(name, []).append(why.startswith(LOST, len(told)))
                return False
        if why.startswith(LOST):
            self.lost += 1
        else:
            self.others += 1
        return True

    def suspect(self, programs: Sequence[str], tries: int) -> str:
        """Return whose program is to be tried alone now; empty if nobody's. ``programs`` are those who have one."""
        if self.others or self.lost < tries or len(programs) < 2:
            return ""
        for name in programs:
            found = self.alone.get(name, [])
            if all(found) and len(found) < LOST_TRIES:
                return name
        return ""

    def culprits(self, programs: Sequence[str], tries: int) -> tuple[str, ...]:
        """Return those whose program ended the process each time; nobody as long as not all of it is known."""
        if self.others or self.lost < tries or self.suspect(programs, tries):
            return ()
        if len(programs) == 1:
            return tuple(programs) if self.lost >= LOST_TRIES else ()
        return tuple(name for name in programs if len(found := self.alone.get(name, [])) >= LOST_TRIES and all(found))


def places_without(match: Match, culprits: Sequence[str]) -> tuple[Placed, ...]:
    """Return the places of a match whose process some players' programs ended: those are last, all others first."""
    left = len(match.seats) - len(culprits)
    fault = FAULT.format(LOST_TRIES)
    return tuple(
        Placed(name, left + 1, None, True, fault) if name in culprits else Placed(name, 1) for name in match.seats
    )
