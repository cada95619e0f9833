"""What a player of Trains can see in its turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rules.trains import payable
from rules.trains_map import COLOURS, Atlas, Connection, Destination, read_map


@dataclass(frozen=True, slots=True)
class View:
    """A player's turn as it sees it. ``cards`` are counted in the order of COLOURS.

    ``owned`` are its own connections and ``others`` those of each other player still in, in turn order; none if the
    server shows a player its own things alone.
    """

    atlas: Atlas
    wanted: tuple[Destination, Destination]
    rails: int
    cards: tuple[int, ...]
    owned: tuple[Connection, ...]
    others: tuple[tuple[Connection, ...], ...]

    @classmethod
    def of(cls, submitted: Any, state: Mapping[str, Any]) -> View:
        """Return what a PlayerState or a ThisPlayer shows; colours that the hand leaves out are 0.

        Raises:
            MapError: the map is none.
        """
        this = state.get("this", state)
        return cls(
            read_map(submitted),
            (_tuple(this["destination1"]), _tuple(this["destination2"])),
            this["rails"],
            tuple([this["cards"].get(colour, 0) for colour in COLOURS]),
            tuple(map(_tuple, this["acquired"])),
            tuple(tuple(map(_tuple, owned)) for owned in state.get("acquired", ())) if "this" in state else (),
        )

    def free(self) -> list[Connection]:
        """Return the connections that nobody is seen to own, in order of cities, length and colour."""
        taken = set(self.owned).union(*self.others)
        return [one for one in self.atlas.connections if one not in taken]

    def options(self) -> list[Connection]:
        """Return the free connections that the player can pay, in the same order."""
        return [one for one in self.free() if payable(one, self.cards, self.rails)]


def _tuple(value: Any) -> Any:
    return tuple(value)
