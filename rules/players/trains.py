"""Players of Trains: who decides for a client, the course's three by rote, one at random, one that plays well.

A player answers the client's three questions: ``map`` with one to play on, ``pick`` with the three destinations it does
not want, ``play`` with a connection or for more cards. It must hear ``setup`` to know the map that is played on. What
it is shown in ``play`` may be its PlayerState or only its ThisPlayer; then it cannot see what others own.

``choices`` lays the same decisions before a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random as Chance
from typing import Any

from rules.players.trains_maps import made_map
from rules.players.trains_search import Strong
from rules.players.trains_view import View
from rules.trains import PLAYERS_MIN, destinations_for, enough
from rules.trains_map import COLOURS, PLAYERS_MAX, Connection, Destination, read_map

Answer = tuple[str, dict[str, Any]]

HOLD = 10  # Cards: with as many or fewer, Hold-10 asks for more.


def returned(unwanted: Iterable[Destination]) -> Answer:
    """Return the answer to ``pick``."""
    return "returned", {"unwanted": tuple(unwanted)}


def connection(wanted: Connection) -> Answer:
    """Return an answer to ``play``."""
    return "connection", {"connection": wanted}


MORE_CARDS: Answer = ("more_cards", {})


class Listener:
    """Brings a map made by its seed along, and knows the one that is played on."""

    def __init__(self, name: str, seed: int) -> None:
        self._seed = seed
        self._chance = Chance(f"trains {seed}")
        self._map: Any = None

    def map(self) -> Answer:
        """Answer with a map that is good for eight players."""
        return "map", {"map": made_map(self._seed)}

    def heard(self, message: str, fields: Mapping[str, Any]) -> None:
        """Keep the map of a game that begins."""
        if message == "setup":
            self._map = fields["map"]

    def view(self, state: Any) -> View:
        """Return what a player can see.

        Raises:
            ValueError: the server asked for a turn before it set up a game, or sent no map.
        """
        if self._map is None:
            raise ValueError("a turn is asked for before a game was set up")
        return View.of(self._map, state)


class Hold10(Listener):
    """Saves up more than ten cards, then takes the first connection it can pay."""

    def pick(self, destinations: Any) -> Answer:
        """Answer with all but the first two, in order."""
        return returned(sorted(map(tuple, destinations))[2:])

    def play(self, state: Any) -> Answer:
        """Answer for more cards, with ten or fewer; else like `BuyNow`."""
        seen = self.view(state)
        return MORE_CARDS if sum(seen.cards) <= HOLD else _buy(seen)


class BuyNow(Listener):
    """Takes the first connection it can pay, at once."""

    def pick(self, destinations: Any) -> Answer:
        """Answer with all but the last two, in order."""
        return returned(sorted(map(tuple, destinations))[:3])

    def play(self, state: Any) -> Answer:
        """Answer with the first connection that can be had, by cities, length and colour; if there is none, ask."""
        return _buy(self.view(state))


class Cheat(Hold10):
    """Plays like hold-10, but asks at once for a connection that is not on the map."""

    def play(self, state: Any) -> Answer:
        """Answer with a colour that the first two cities (or the next that lack one) are not joined by, 3 long."""
        atlas = self.view(state).atlas
        names = sorted(name for name, _ in atlas.cities)
        for i, city in enumerate(names):
            for other in names[i + 1 :]:
                there = {colour for one, two, colour, _ in atlas.connections if (one, two) == (city, other)}
                if len(there) < len(COLOURS):
                    missing = [colour for colour in COLOURS if colour not in there]
                    return connection((city, other, self._chance.choice(missing), 3))
        return connection(("Nowhere", "Somewhere", "red", 3))


class Random(Listener):
    """Plays any legal answer, asking for cards every other time."""

    def pick(self, destinations: Any) -> Answer:
        """Answer with any three."""
        return returned(self._chance.sample(sorted(map(tuple, destinations)), 3))

    def play(self, state: Any) -> Answer:
        """Answer with any connection that can be had, or for cards."""
        options = self.view(state).options()
        return connection(self._chance.choice(options)) if options and self._chance.random() < 0.5 else MORE_CARDS


def _buy(seen: View) -> Answer:
    options = seen.options()
    return connection(options[0]) if options else MORE_CARDS


class Stuck(BuyNow):
    """Plays like buy-now until one call, in which it is stuck for ever: it answers nothing from then on.

    The call is ``start``, ``setup``, ``pick``, ``play`` (the fourth), ``more``, ``win`` or ``end``. A client whose
    protocol wants no answer to a call is found out at the next one that does.

    ``silent_from`` is the message from which on its client says nothing any more, not even what needs no decision.
    """

    call = ""
    silent_from = ""
    plays_before = 3

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self._plays = 0
        self.stuck = False

    def heard(self, message: str, fields: Mapping[str, Any]) -> None:
        """Be stuck if this is the call, and none that asks for a decision."""
        super().heard(message, fields)
        self.stuck = self.stuck or message == self.silent_from

    def map(self) -> Any:
        """Answer, or not."""
        return ... if self._sticks("start") else super().map()

    def pick(self, destinations: Any) -> Any:
        """Answer, or not."""
        return ... if self._sticks("pick") else super().pick(destinations)

    def play(self, state: Any) -> Any:
        """Answer, or not."""
        self._plays += 1
        return ... if self._sticks("play" if self._plays > self.plays_before else "") else super().play(state)

    def _sticks(self, call: str) -> bool:
        self.stuck = self.stuck or call == self.call
        return self.stuck


class StuckStart(Stuck):
    """Never answers start, so it brings no map."""

    call = "start"


class StuckSetup(Stuck):
    """Is stuck from setup on."""

    call = silent_from = "setup"


class StuckPick(Stuck):
    """Never answers which destinations it returns."""

    call = "pick"


class StuckPlay(Stuck):
    """Is stuck in its fourth turn."""

    call = "play"


class StuckMore(Stuck):
    """Is stuck when it is given cards."""

    call = silent_from = "more"


class StuckWin(Stuck):
    """Is stuck when a game is over."""

    call = silent_from = "win"


class StuckEnd(Stuck):
    """Is stuck when the tournament is over."""

    call = silent_from = "end"


PLAYERS: dict[str, type] = {
    "hold-10": Hold10,
    "buy-now": BuyNow,
    "cheat": Cheat,
    "random": Random,
    "strong": Strong,
    "bad-start": StuckStart,
    "bad-setup": StuckSetup,
    "bad-pick": StuckPick,
    "bad-play": StuckPlay,
    "bad-more": StuckMore,
    "bad-win": StuckWin,
    "bad-end": StuckEnd,
}
DEFAULT = "strong"
# Within the rules and at once: who plays the games of `accord check --games`, in turn.
FAIR = ("hold-10", "buy-now", "random")


# For a person --------------------------------------------------------------------------------------------------------


def choices(question: str, arguments: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> list[tuple[str, Answer]]:
    """Return the legal answers with what they are in words, for a person to choose from.

    ``arguments`` are the question's, by name. For ``map`` there are twelve made ones, for ``pick`` each pair that may
    be kept. For ``play`` there are none: what is free depends on the map, which is not among its arguments.

    Raises:
        ValueError: there is no such question, or it is ``play``.
    """
    arguments = dict(arguments)
    match question:
        case "map":
            return [(f"map {seed}, of 16 cities", ("map", {"map": made_map(seed)})) for seed in range(1, 13)]
        case "pick":
            offered = sorted(map(tuple, arguments["destinations"]))
            pairs = [(one, other) for i, one in enumerate(offered) for other in offered[i + 1 :]]
            return [
                (
                    f"keep {' to '.join(one)}, and {' to '.join(other)}",
                    returned([item for item in offered if item not in (one, other)]),
                )
                for one, other in pairs
            ]
    raise ValueError(f"Trains has no question {question!r} with answers to choose from, only map and pick")


def _a_map(fields: Mapping[str, Any], players: int | None) -> None:
    atlas = read_map(fields["map"])
    count = PLAYERS_MIN if players is None else min(max(players, PLAYERS_MIN), PLAYERS_MAX)
    if not enough(atlas, count):
        there, needed = len(atlas.destinations), destinations_for(count)
        raise ValueError(
            f"it has {there} destination{'' if there == 1 else 's'} (pairs of cities that are joined), and a game of "
            f"{count} needs {needed}"
        )


# What is given beforehand as the answer to a question, by the question: each is called with the fields of the message
# and how many will play, None if nobody knows, and raises ValueError with what is wrong.
CHECKS: dict[str, Callable[[Mapping[str, Any], int | None], None]] = {"map": _a_map}
