"""A person's turn in Trains by clicks: a connection on the map, or more cards; the map's question by its number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from rules.players.trains import MORE_CARDS, connection
from rules.players.trains_view import View
from rules.trains_map import COLOURS
from rules.views.offered import Answer, Offered, Spot, offered_by
from rules.views.trains_svg import map_svg, middles

SIDE = 26.0  # Pixels of the spot on a connection.
CARDS = Spot(8, 6, 150, 26, "ask for more cards", "more cards")


def offered(state: Any, question: str, arguments: Mapping[str, Any], choices: Sequence[Answer]) -> Offered | None:
    """Return the answers to ``play``, each with its spot; None for other questions, or before the map is known."""
    if question != "play" or state is None or state[0] is None:
        return None
    view = View.of(state[0], arguments["state"])
    where = middles(state[0])
    found: list[Answer] = []
    keys: list[tuple[Hashable, ...]] = []
    spots: dict[Hashable, Spot] = {}
    for one in view.options():
        text = f"{one[0]} - {one[1]}, {one[2]} {one[3]}"
        x, y = where[one]
        found.append((f"take {text}", connection(one)))
        keys.append((one,))
        spots[one] = Spot(x - SIDE / 2, y - SIDE / 2, SIDE, SIDE, text, "a connection")
    found.append(("ask for more cards", MORE_CARDS))
    keys.append(("cards",))
    spots["cards"] = CARDS
    owned = owned_by(view)
    hand = ", ".join(f"{count} {colour}" for count, colour in zip(view.cards, COLOURS, strict=True) if count)
    notes = {"you": f"{view.rails} rails"}
    told = [f"cards: {hand or 'none'}", *(" to ".join(pair) for pair in view.wanted)]
    return offered_by(found, keys, spots, partial(map_svg, state[0], owned=owned, notes=notes, lines=told))


def owned_by(view: View) -> dict[str, Sequence[Any]]:
    """Return the connections of each player as one of them is told: its own first, then those of who comes after it."""
    return {"you": view.owned, **{f"player {number}": those for number, those in enumerate(view.others, 2)}}
