"""Trains: who may take which connection, when the game ends, who has how many points.

Two to eight players collect cards, pay for connections between cities with them, and want two destinations joined.

    choose                                        the map, of those that players brought along
    start -> offer, seat | kick  for each player  cards, and two destinations of the five that are offered
          -> mover, acquire | draw | skip | kick  a turn, as often as `over` says no
          -> by_rank, first, kick, result

A table is a value; each function returns the next one. A player is anything that can be compared.

The rules are those of the course's text. The last round is one more turn for each player but the one who began it; a
game that stands still ends at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from rules.trains_map import COLOURS, PLAYERS_MAX, Atlas, Connection, Destination, MapError, is_map, joined, read_map
from rules.trains_paths import longest_path

__all__ = [
    "acquire",
    "by_rank",
    "choose",
    "draw",
    "first",
    "has_cards",
    "is_map",
    "kick",
    "kicked",
    "may_acquire",
    "may_return",
    "mover",
    "offer",
    "over",
    "ranking",
    "result",
    "seat",
    "skip",
    "start",
    "start_with",
    "state",
    "top",
]

RAILS = 45  # What each player begins with.
RAILS_LOW = 3  # Who has fewer at the end of its turn begins the last round.
CARDS_FIRST = 4
CARDS_TURN = 2
DECK = 250
OFFERED, KEPT = 5, 2  # Destinations.
PLAYERS_MIN = 2
POINTS_PATH = 20
POINTS_DESTINATION = 10


@dataclass(frozen=True, slots=True)
class Offer:
    """What a player begins with: ``rails``, ``cards`` (colours) and five ``destinations``, of which it keeps two."""

    rails: int
    cards: tuple[str, ...]
    destinations: tuple[Destination, ...]


@dataclass(frozen=True, slots=True)
class Seat:
    """A player and what it has. ``cards`` counts them by colour, in the order of COLOURS.

    ``fate`` is ``in``, ``kicked``, or ``failed``: kicked when the game was over, so that its points still count.
    """

    player: Any
    rails: int
    cards: tuple[int, ...]
    wanted: tuple[Destination, ...]
    owned: tuple[Connection, ...] = ()
    fate: str = "in"

    def __str__(self) -> str:
        hand = ", ".join(f"{count} {colour}" for count, colour in zip(self.cards, COLOURS, strict=True) if count)
        wanted = ", ".join(" to ".join(pair) for pair in self.wanted)
        return f"{self.rails} rails; {hand or 'no cards'}; {len(self.owned)} connections; wants {wanted}; {self.fate}"


@dataclass(frozen=True, slots=True)
class Table:
    """The whole game at one moment.

    ``pool`` are the destinations nobody has, in the order in which they are offered; ``deck`` the cards, top first.
    ``seats`` are in turn order; ``out`` the players who were kicked before they had a seat. ``turn`` is the place of
    who moves. ``idle`` counts the turns in a row that changed nothing; ``last`` are the places that have a turn left
    in the last round, None before it.
    """

    atlas: Atlas
    pool: tuple[Destination, ...]
    deck: tuple[str, ...]
    seats: tuple[Seat, ...] = ()
    out: tuple[Any, ...] = ()
    turn: int = 0
    idle: int = 0
    last: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return "\n".join([f"{len(self.deck)} cards in the deck", *map(str, self.seats)])


# Setting up ----------------------------------------------------------------------------------------------------------


def choose(entries: Sequence[Any], left: Sequence[Any]) -> Any:
    """Return the first of the maps that has enough destinations for a game, or None.

    ``left`` are the players: a game is of all of them, or of eight if they are more. For n players that is 2n + 3
    destinations, as each keeps two and the last is still offered five.
    """
    count = min(len(left), PLAYERS_MAX)
    for entry in entries:
        try:
            if enough(read_map(entry), count):
                return entry
        except MapError:
            pass  # no map at all is no map for a game
    return None


def enough(atlas: Atlas, count: int) -> bool:
    """Tell whether a map has the destinations for a game of so many players."""
    return len(atlas.destinations) >= destinations_for(count)


def destinations_for(count: int) -> int:
    """Return how many destinations a game of so many players needs."""
    return KEPT * count + OFFERED - KEPT


def start(players: Sequence[Any], submitted: Any, seed: int, deck: str = "shuffled", offers: str = "shuffled") -> Table:
    """Return the table before anyone has a seat; ``seed`` says which cards come, and which destinations.

    ``deck`` may be the cards instead, top first, each by the first letter of its colour; ``offers`` may be ``sorted``.

    Raises:
        ValueError: the map is none, or has too few destinations for the players; there is no such deck or order.
    """
    chance = Random(f"trains {seed}")
    colour_of = {colour[0]: colour for colour in COLOURS}
    if deck != "shuffled" and not set(deck) <= set(colour_of):
        raise ValueError(f"a deck is 'shuffled', or its cards by first letters, {', '.join(colour_of)}")
    if offers not in ("shuffled", "sorted"):
        raise ValueError(f"destinations are offered 'shuffled' or 'sorted', not {offers!r}")
    cards = [chance.choice(COLOURS) for _ in range(DECK)]
    table = start_with(players, submitted, cards if deck == "shuffled" else [colour_of[letter] for letter in deck])
    return table if offers == "sorted" else replace(table, pool=tuple(chance.sample(table.pool, len(table.pool))))


def start_with(players: Sequence[Any], submitted: Any, cards: Sequence[str]) -> Table:
    """Return the table of a game without chance: the cards in this order, destinations offered in theirs.

    Raises:
        ValueError: the map is none, or has too few destinations for the players.
    """
    atlas = read_map(submitted)
    if not enough(atlas, len(players)):
        raise ValueError(f"a map of {len(atlas.destinations)} destinations has too few for {len(players)} players")
    return Table(atlas, atlas.destinations, tuple(cards))


def offer(table: Table) -> Offer:
    """Return what the next player to sit down is offered."""
    return Offer(RAILS, table.deck[:CARDS_FIRST], table.pool[:OFFERED])


def may_return(offer: Offer, unwanted: Sequence[Any]) -> bool:
    """Tell whether a player may give back these destinations: exactly three different ones of the five."""
    back = [_pair(item) for item in unwanted]
    return len(back) == len(set(back)) == OFFERED - KEPT and all(pair in offer.destinations for pair in back)


def seat(table: Table, player: Any, offer: Offer, unwanted: Sequence[Any]) -> Table:
    """Return the table with the player seated; those ``unwanted`` stay in the pool, in place."""
    assert may_return(offer, unwanted), "may_return refuses this"
    back = [_pair(item) for item in unwanted]
    kept = tuple([pair for pair in offer.destinations if pair not in back])
    counts = tuple([offer.cards.count(colour) for colour in COLOURS])
    return replace(
        table,
        pool=tuple([pair for pair in table.pool if pair not in kept]),
        deck=table.deck[len(offer.cards) :],
        seats=(*table.seats, Seat(player, offer.rails, counts, kept)),
    )


# Turns ---------------------------------------------------------------------------------------------------------------


def over(table: Table) -> bool:
    """Tell whether the game is over: nobody left, the last round played, or a whole round that changed nothing."""
    remaining = sum(seat.fate != "kicked" for seat in table.seats)
    return remaining == 0 or table.last == () or table.idle >= remaining


def mover(table: Table) -> Any:
    """Return the player whose turn it is, None if the game is over."""
    return None if over(table) else table.seats[_place(table)].player


def state(table: Table, player: Any, show: str = "all") -> dict[str, Any]:
    """Return what a player is shown: its PlayerState, or with ``show`` ``own`` only its ThisPlayer.

    Raises:
        ValueError: ``show`` is neither ``all`` nor ``own``.
    """
    if show not in ("all", "own"):
        raise ValueError(f"a player is shown 'all' or its 'own', not {show!r}")
    index = _index(table, player)
    seat = table.seats[index]
    mine = {
        "destination1": seat.wanted[0],
        "destination2": seat.wanted[1],
        "rails": seat.rails,
        "cards": dict(zip(COLOURS, seat.cards, strict=True)),
        "acquired": seat.owned,
    }
    if show == "own":
        return mine
    after = [*table.seats[index + 1 :], *table.seats[:index]]
    return {"this": mine, "acquired": tuple([other.owned for other in after if other.fate == "in"])}


def may_acquire(table: Table, player: Any, connection: Sequence[Any]) -> bool:
    """Tell whether the player may take the connection now. Any value may be asked about.

    It may if it is the player's turn; the connection is on the map, written in order; nobody still in the game owns
    it; and the player has as many cards of its colour, and as many rails, as it is long.
    """
    index = _index(table, player)
    if index < 0 or over(table) or index != _place(table):
        return False
    found = _known(table.atlas, connection)
    seat = table.seats[index]
    taken = any(found in other.owned for other in table.seats if other.fate == "in")
    return found is not None and not taken and payable(found, seat.cards, seat.rails)


def payable(connection: Connection, cards: Sequence[int], rails: int) -> bool:
    """Tell whether cards, counted in the order of COLOURS, and rails are enough for a connection."""
    _, _, colour, length = connection
    return cards[COLOURS.index(colour)] >= length and rails >= length


def _why_no_acquire(table: Table, player: Any, connection: Sequence[Any]) -> str:
    found = _known(table.atlas, connection)
    if found is None:
        return "there is no such connection on the map"
    if any(found in other.owned for other in table.seats if other.fate == "in"):
        return "somebody owns the connection already"
    return f"there are too few {found[2]} cards or rails for a length of {found[3]}"


WHY_NOT = {"may_acquire": _why_no_acquire}  # in words, for who lost by it


def acquire(table: Table, player: Any, connection: Sequence[Any]) -> Table:
    """Return the table after a turn that took a connection, which ``may_acquire`` allows."""
    index, found = _index(table, player), _known(table.atlas, connection)
    assert found is not None, f"{connection} is not on the map, may_acquire refuses it"
    before, length = table.seats[index], found[3]
    cards = tuple([n - length * (colour == found[2]) for colour, n in zip(COLOURS, before.cards, strict=True)])
    after = replace(before, rails=before.rails - length, cards=cards, owned=(*before.owned, found))
    table = replace(table, seats=_with(table, index, after), idle=0)
    if table.last is None and after.rails < RAILS_LOW:
        return _passed(replace(table, last=tuple(_others(table, index))), index)
    return _passed(table, index)


def has_cards(table: Table) -> bool:
    """Tell whether there are cards for who asks: two, one alone is never handed out."""
    return len(table.deck) >= CARDS_TURN


def top(table: Table) -> tuple[str, ...]:
    """Return the cards that who asks gets, none if there are too few."""
    return table.deck[:CARDS_TURN] if has_cards(table) else ()


def draw(table: Table, player: Any) -> Table:
    """Return the table after a turn that asked for cards and got the top two."""
    index, drawn = _index(table, player), top(table)
    before = table.seats[index]
    cards = tuple([n + drawn.count(colour) for colour, n in zip(COLOURS, before.cards, strict=True)])
    seats = _with(table, index, replace(before, cards=cards))
    return _passed(replace(table, seats=seats, deck=table.deck[len(drawn) :], idle=0), index)


def skip(table: Table, player: Any) -> Table:
    """Return the table after a turn that asked for cards when there were none."""
    return _passed(replace(table, idle=table.idle + 1), _index(table, player))


def kick(table: Table, player: Any) -> Table:
    """Return the table with the player thrown out, at whatever point; twice is as good as once.

    Before it has a seat that costs neither cards nor destinations. Later its connections are free again, but its
    cards and destinations stay away. Once the game is over the points of all are as they were, and it keeps none.
    """
    index = _index(table, player)
    if index < 0:
        return table if player in table.out else replace(table, out=(*table.out, player))
    if table.seats[index].fate != "in":
        return table
    if over(table):
        return replace(table, seats=_with(table, index, replace(table.seats[index], fate="failed")))
    moves = _place(table) == index
    table = replace(table, seats=_with(table, index, replace(table.seats[index], fate="kicked")), idle=0)
    if moves:
        return _passed(table, index)
    last = None if table.last is None else tuple([place for place in table.last if place != index])
    return replace(table, last=last)


# Points --------------------------------------------------------------------------------------------------------------


def ranking(table: Table) -> tuple[tuple[Any, ...], ...]:
    """Return the players in groups of equal points, best first, each in turn order.

    Who was kicked once the game was over is missing from its group, which may be empty then.
    """
    groups = _groups(table)
    return tuple(tuple([seat.player for seat in group if seat.fate == "in"]) for group in groups)


def by_rank(table: Table) -> tuple[Any, ...]:
    """Return the players still in, best first."""
    return tuple([player for group in ranking(table) for player in group])


def first(table: Table, player: Any) -> bool:
    """Tell whether the player has the most points, or as many."""
    groups = _groups(table)
    return bool(groups) and any(seat.player == player for seat in groups[0])


def kicked(table: Table) -> tuple[Any, ...]:
    """Return the players who were kicked: those without a seat first, then in turn order."""
    return (*table.out, *[seat.player for seat in table.seats if seat.fate != "in"])


def result(table: Table) -> dict[str, Any]:
    """Return what there is to say about the game.

    ``ranking`` are groups of players, ``kicked`` players; ``players`` has for each seat in turn order its ``player``,
    ``fate`` (in, kicked, failed), ``points`` (None if kicked during the game), ``rails`` and ``acquired``.
    """
    points = _points(table)
    return {
        "ranking": ranking(table),
        "kicked": kicked(table),
        "players": tuple(
            {
                "player": seat.player,
                "fate": seat.fate,
                "points": points.get(index),
                "rails": seat.rails,
                "acquired": seat.owned,
            }
            for index, seat in enumerate(table.seats)
        ),
    }


def points_of(owned: Sequence[Connection], wanted: Sequence[Destination]) -> int:
    """Return the points of connections and destinations, without those for the longest path."""
    reached = sum(1 if joined(owned, *pair) else -1 for pair in wanted)
    return sum(connection[3] for connection in owned) + POINTS_DESTINATION * reached


# How it is worked out ------------------------------------------------------------------------------------------------


def _index(table: Table, player: Any) -> int:
    """Return the player's place in turn order, or -1."""
    return next((index for index, seat in enumerate(table.seats) if seat.player == player), -1)


def _place(table: Table) -> int:
    """Return the place of who moves, in a game that is not over: the first from ``turn`` on that is still in."""
    if table.last is not None:
        return table.last[0]
    count = len(table.seats)
    places = [(table.turn + i) % count for i in range(count)]
    return next(place for place in places if table.seats[place].fate == "in")


def _others(table: Table, index: int) -> list[int]:
    """Return the places of all others still in, in turn order after the one at ``index``."""
    count = len(table.seats)
    places = [(index + i) % count for i in range(1, count)]
    return [place for place in places if table.seats[place].fate == "in"]


def _passed(table: Table, index: int) -> Table:
    """Return the table with the turn of the player at ``index`` over."""
    last = None if table.last is None else tuple([place for place in table.last if place != index])
    return replace(table, turn=(index + 1) % len(table.seats), last=last)


def _with(table: Table, index: int, seat: Seat) -> tuple[Seat, ...]:
    return (*table.seats[:index], seat, *table.seats[index + 1 :])


def _pair(value: Any) -> Any:
    """Return a destination as a tuple, if a list came from elsewhere than a message; None for what is none."""
    match value:
        case [str() as city, str() as other]:
            return city, other
    return None


def _known(atlas: Atlas, connection: Any) -> Connection | None:
    """Return the connection of the map that a value names, or None."""
    match connection:
        case [str() as city, str() as other, str() as colour, int() as length]:
            return next((one for one in atlas.connections if one == (city, other, colour, length)), None)
    return None


def _points(table: Table) -> dict[int, int]:
    """Return the points by place, of those who were in when the game ended."""
    paths = {i: longest_path(seat.owned) for i, seat in enumerate(table.seats) if seat.fate != "kicked"}
    longest = max(paths.values(), default=0)
    return {
        index: points_of(table.seats[index].owned, table.seats[index].wanted)
        + (POINTS_PATH if path == longest > 0 else 0)
        for index, path in paths.items()
    }


def _groups(table: Table) -> list[list[Seat]]:
    points = _points(table)
    best = sorted(set(points.values()), reverse=True)
    return [[table.seats[index] for index, own in points.items() if own == group] for group in best]
