"""The course's test harnesses for Trains: JSON values in, one JSON value out.

    xmap        two cities and a map: does a path join them?
    xlegal      a map, a PlayerState, a connection: may the active player take it?
    xstrategy   a map and a PlayerState: what does Hold-10 do?
    xref        a map, players, cards: the ranking of one game, and who was kicked
    xmanager    the same, and every player brings the map along: the winners of a tournament, and who was kicked
    xserver     the same again: the course held it over TCP
    xbonus      the same and a call: each player is there a second time, named r..., and misbehaves in that call

Players are pairs ``[name, strategy]``, in turn order; the strategies are ``STRATEGIES``. Nothing is left to chance:
cards come in the order given, destinations are offered in theirs. Where the map has too few destinations for the
players the answer is a text that says so. Names in a group are sorted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rules import knockout, trains
from rules.players.trains import PLAYERS, Hold10
from rules.trains_map import COLOURS, is_connection, joined, read_map

__all__ = ["HARNESSES", "STRATEGIES", "Harness", "HarnessError"]

Harness = Callable[[Sequence[object]], Iterable[object]]

NOT_ENOUGH = "error: not enough destinations"
CALLS = ("start", "setup", "pick", "play", "more", "win", "end")
SAME_CALL = {"action": "play", "game-map": "start"}  # as the course called them for xbonus
STRATEGIES = {"Hold-10": "hold-10", "Buy-Now": "buy-now", "Cheat": "cheat"} | {
    f"player-bad-{call}": f"bad-{call}" for call in CALLS
}
PLAYERS_MAX = 50  # As many as may sign up.


class HarnessError(ValueError):
    """The input is not what the harness reads; the text says which value."""


class Entrant:
    """A player of a tournament that is held in one process; two with the same name are two."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.strategy = PLAYERS[kind](name, 0)

    def told(self, message: str, **fields: Any) -> bool:
        """Tell whether the player took note of a message, rather than being stuck in it."""
        self.strategy.heard(message, fields)
        return not getattr(self.strategy, "stuck", False)


def xmap(values: Sequence[object]) -> Iterator[object]:
    """Answer whether a path joins two cities: name, name, map.

    Raises:
        HarnessError: these are not two cities of a map, and the map.
    """
    city, other, submitted = _values(values, "two cities and a map", 3)
    atlas = read_map(submitted)
    names = [name for name, _ in atlas.cities]
    if not isinstance(city, str) or not isinstance(other, str) or city not in names or other not in names:
        raise HarnessError("the first two values are not cities of the map")
    yield joined(atlas.connections, city, other)


def xlegal(values: Sequence[object]) -> Iterator[object]:
    """Answer whether the active player may take a connection: map, PlayerState, connection.

    Raises:
        HarnessError: the second value is no PlayerState, or the third no connection.
        MapError: the first value is no map.
    """
    submitted, state, wanted = _values(values, "a map, a PlayerState and a connection", 3)
    if not is_connection(wanted):
        raise HarnessError("the third value is no connection [city, city, colour, length]")
    assert isinstance(wanted, Sequence)
    yield tuple(wanted) in _strategy(submitted, state).view(state).options()


def xstrategy(values: Sequence[object]) -> Iterator[object]:
    """Answer what Hold-10 does: map, PlayerState.

    Raises:
        HarnessError: the second value is no PlayerState.
        MapError: the first value is no map.
    """
    submitted, state = _values(values, "a map and a PlayerState", 2)
    message, fields = _strategy(submitted, state).play(state)
    yield list(fields["connection"]) if message == "connection" else "more cards"


def xref(values: Sequence[object]) -> Iterator[object]:
    """Answer with the ranking of one game and who was kicked: map, 2 to 8 players, cards.

    Raises:
        HarnessError: the second value are no players, or too many; or the third no cards.
        MapError: the first value is no map.
    """
    submitted, entrants, cards = _tournament(values, 8)
    if trains.choose([submitted], entrants) is None:
        yield NOT_ENOUGH
        return
    ranking, kicked = _game(entrants, submitted, cards)
    yield [[sorted(player.name for player in group) for group in ranking], sorted(player.name for player in kicked)]


def xmanager(values: Sequence[object]) -> Iterator[object]:
    """Answer with the winners of a tournament and who was kicked: map, 2 to 50 players, cards of each game.

    Raises:
        HarnessError: the second value are no players, or too many; or the third no cards.
        MapError: the first value is no map.
    """
    yield _manager(*_tournament(values, PLAYERS_MAX))


def xbonus(values: Sequence[object]) -> Iterator[object]:
    """Answer like `xmanager` when each player has a double that misbehaves in a call: ``rm-MISDEED-CALL``, last.

    The misdeed is ill-formed, non-json or invalid: whichever it is, the double is kicked in that call.

    Raises:
        HarnessError: as for `xmanager`, or the fourth value names no call.
        MapError: the first value is no map.
    """
    *three, call = _values(values, "a map, players, cards and a call", 4)
    submitted, entrants, cards = _tournament(three, PLAYERS_MAX)
    found = re.fullmatch(r"rm-(?:ill-formed|non-json|invalid)-(.+)", call) if isinstance(call, str) else None
    name = SAME_CALL.get(found[1], found[1]) if found else ""
    if name not in CALLS:
        raise HarnessError(
            f"the fourth value is rm-ill-formed-, rm-non-json- or rm-invalid- and one of {', '.join(CALLS)}, "
            "or action for play, game-map for start"
        )
    doubles = [Entrant(f"r{player.name}", f"bad-{name}") for player in entrants]
    for double in doubles:
        double.strategy.plays_before = 0
    yield _manager(submitted, [*entrants, *doubles], cards)


def _manager(submitted: object, entrants: Sequence[Entrant], cards: Sequence[str]) -> object:
    """Return the winners of a tournament and who was kicked, or that the map has too few destinations."""
    cup = knockout.start(entrants)
    for player in entrants:
        stuck = player.strategy.map() is ...
        cup = knockout.kick(cup, player) if stuck else knockout.enter(cup, player, submitted)
    chosen = trains.choose(knockout.entries(cup), knockout.left(cup))
    if chosen is None:
        return NOT_ENOUGH
    while not knockout.over(cup):
        for group in knockout.groups(cup):
            ranking, kicked = _game(group, chosen, cards)
            cup = knockout.add(cup, {"ranking": ranking, "kicked": kicked})
    winners = knockout.winners(cup)
    for player in (*knockout.losers(cup), *winners):
        if not player.told("end", won=player in winners):
            cup = knockout.kick(cup, player)
    return [list(names) for names in knockout.result(cup)]


HARNESSES: Mapping[str, Harness] = {
    "xmap": xmap,
    "xlegal": xlegal,
    "xstrategy": xstrategy,
    "xref": xref,
    "xmanager": xmanager,
    "xserver": xmanager,
    "xbonus": xbonus,
}


# A game in one process -----------------------------------------------------------------------------------------------


def _game(
    players: Sequence[Entrant], submitted: object, cards: Sequence[str]
) -> tuple[Sequence[Sequence[Entrant]], Sequence[Entrant]]:
    """Return the ranking of a game and who was kicked."""
    table = trains.start_with(players, submitted, cards)
    for player in players:
        offer = trains.offer(table)
        answer = ...
        if player.told("setup", map=submitted, rails=offer.rails, cards=offer.cards):
            answer = player.strategy.pick(offer.destinations)
        if answer is ... or not trains.may_return(offer, answer[1]["unwanted"]):
            table = trains.kick(table, player)
        else:
            table = trains.seat(table, player, offer, answer[1]["unwanted"])
    while not trains.over(table):
        table = _turn(table, trains.mover(table))
    for player in trains.by_rank(table):
        if not player.told("win", won=trains.first(table, player)):
            table = trains.kick(table, player)
    return trains.ranking(table), trains.kicked(table)


def _turn(table: trains.Table, player: Entrant) -> trains.Table:
    """Return the table after a player's turn."""
    match player.strategy.play(trains.state(table, player)):
        case ["connection", {"connection": wanted}] if trains.may_acquire(table, player, wanted):
            return trains.acquire(table, player, wanted)
        case ["more_cards", _] if not trains.has_cards(table):
            return trains.skip(table, player)
        case ["more_cards", _] if player.told("more", cards=trains.top(table)):
            return trains.draw(table, player)
    return trains.kick(table, player)


# Reading -------------------------------------------------------------------------------------------------------------


def _values(values: Sequence[object], wanted: str, count: int) -> Sequence[object]:
    if len(values) != count:
        raise HarnessError(f"{wanted} are read, {count} values, not {len(values)}")
    return values


def _strategy(submitted: object, state: object) -> Hold10:
    """Return a player that knows the map, once it is sure that it can look at the state."""
    read_map(submitted)
    match state:
        case {
            "this": {
                "destination1": [str(), str()],
                "destination2": [str(), str()],
                "rails": int(),
                "cards": {**hand},
                "acquired": [*mine],
            },
            "acquired": [*others],
        }:
            counts = all(type(count) is int for count in hand.values())
            owned = [one for each in (mine, *others) if _is_list(each) for one in each]
            if counts and all(map(_is_list, others)) and all(map(is_connection, owned)):
                player = Hold10("", 0)
                player.heard("setup", {"map": submitted})
                return player
    raise HarnessError("the second value is no PlayerState")


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _tournament(values: Sequence[object], most: int) -> tuple[object, list[Entrant], list[str]]:
    submitted, players, cards = _values(values, "a map, players and cards", 3)
    read_map(submitted)
    entrants = []
    for item in players if isinstance(players, Sequence) else ():
        match item:
            case [str() as name, str() as strategy] if strategy in STRATEGIES:
                entrants.append(Entrant(name, STRATEGIES[strategy]))
            case _:
                raise HarnessError(f"a player is [name, strategy], the strategy {', '.join(STRATEGIES)}: got {item!r}")
    if not 2 <= len(entrants) <= most:
        raise HarnessError(f"the second value is a list of 2 to {most} players")
    if not isinstance(cards, Sequence) or not all(card in COLOURS for card in cards):
        raise HarnessError(f"the third value is a list of colours: {', '.join(COLOURS)}")
    return submitted, entrants, list(cards)
