"""A knock-out between any number of players: rounds of games, whose winners go on until one game is left.

    start -> enter | kick    for each player      what it brings along, if a tournament asks for something
          -> over, groups    then a game for each group, side by side if one likes, and `add` for each result
          -> ...             until `over` says so
          -> winners, losers, kick, result

A cup is a value; each function returns the next one. It knows nothing of the game: a player is anything that can be
compared and has a name; the result of a game is a mapping with ``ranking``, groups of players, best first, and
``kicked``, the players thrown out. Whoever is in the first group goes on.

- Up to ``most`` players left play one game, the last: its first group wins.
- More are split into groups in the order in which they signed up; all winners go on.
- If a round's winners are exactly those of the round before, the games decide nothing more: all of them win.
- Fewer than ``least`` players cannot play: they win as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

__all__ = [
    "add",
    "enter",
    "entries",
    "groups",
    "kick",
    "kicked",
    "left",
    "losers",
    "over",
    "points",
    "result",
    "sizes",
    "start",
    "winners",
]


class Player(Protocol):
    """Who takes part: comparable, with a name that need not be unique."""

    @property
    def name(self) -> str:
        """What the player is called."""


@dataclass(frozen=True, slots=True)
class Cup:
    """The tournament at one moment.

    ``players`` are all in order of sign-up; ``left`` those who are still in it; ``kicked`` those thrown out, in the
    order in which they were. ``brought`` are pairs (player, what it brought along). ``games`` are the groups of the
    present round whose results are still to come, none between rounds; ``through`` the round's winners so far.
    ``before`` are the winners of the round before, None if there was none. ``decided`` tells that the last game is
    played, or that games decide nothing more. ``scored`` are pairs (player, points) of the last game that each has
    played to its end.
    """

    players: tuple[Any, ...]
    left: tuple[Any, ...]
    least: int
    most: int
    kicked: tuple[Any, ...] = ()
    brought: tuple[tuple[Any, Any], ...] = ()
    games: tuple[tuple[Any, ...], ...] = ()
    through: tuple[Any, ...] = ()
    before: tuple[Any, ...] | None = None
    decided: bool = False
    scored: tuple[tuple[Any, float], ...] = ()


def start(players: Sequence[Player], least: int = 2, most: int = 8) -> Cup:
    """Return the cup before the first round; games have ``least`` to ``most`` players.

    Raises:
        ValueError: the sizes are not 1 <= least <= most.
    """
    if not 1 <= least <= most:
        raise ValueError(f"a game needs one player or more, and no fewer at most than at least: not {least}..{most}")
    return Cup(tuple(players), tuple(players), least, most)


def enter(cup: Cup, player: Player, entry: Any) -> Cup:
    """Return the cup with what the player brings along; of several things it is the last."""
    others = tuple([pair for pair in cup.brought if pair[0] != player])
    return replace(cup, brought=(*others, (player, entry)))


def entries(cup: Cup) -> tuple[Any, ...]:
    """Return what the players still in it brought along, in order of sign-up; who brought nothing is passed over."""
    return tuple([entry for player in cup.left for whose, entry in cup.brought if whose == player])


def left(cup: Cup) -> tuple[Any, ...]:
    """Return the players still in it, in order of sign-up."""
    return cup.left


def over(cup: Cup) -> bool:
    """Tell whether nothing more is to be played."""
    return cup.decided or len(cup.left) < cup.least


def groups(cup: Cup) -> tuple[tuple[Any, ...], ...]:
    """Return the players of each game of the round that is still to be played; all in order of sign-up.

    Between rounds they are those of the next round, none when the cup is over.
    """
    return cup.games or _drawn(cup)


def add(cup: Cup, result: Mapping[str, Any]) -> Cup:
    """Return the cup with the result of a game of this round; with the last one the round is over.

    The games of a round may end in any order. ``result`` has ``ranking``, groups of players, best first, and
    ``kicked``, players; the game is known by the players in them. It may have ``players``, a mapping each, with the
    ``player`` and its ``points``, None for none.

    Raises:
        ValueError: these are not the players of one game of this round.
    """
    ranking = [tuple(group) for group in result["ranking"]]
    named = [player for group in (*ranking, tuple(result["kicked"])) for player in group]
    games = groups(cup)
    game = next((game for game in games if all(player in game for player in named)), None)
    if game is None or not named:
        raise ValueError("this is the result of no game of this round: it names other players, or none")
    cup = replace(cup, scored=_scored(cup, result.get("players", ())))
    for player in result["kicked"]:
        cup = kick(cup, player)
    first = ranking[0] if ranking else ()
    through = (*cup.through, *[player for player in first if player in cup.left])
    others = tuple([other for other in games if other != game])
    if others:
        return replace(cup, games=others, through=through)
    on = tuple([player for player in cup.left if player in through])
    # Without a game that is over before it, this one was the whole round.
    decided = not cup.games or on == cup.before
    return replace(cup, left=on, games=(), through=(), before=on, decided=decided)


def kick(cup: Cup, player: Player) -> Cup:
    """Return the cup with the player thrown out, at whatever point; twice is as good as once."""
    if player in cup.kicked or player not in cup.players:
        return cup
    return replace(
        cup,
        left=tuple([other for other in cup.left if other != player]),
        through=tuple([other for other in cup.through if other != player]),
        kicked=(*cup.kicked, player),
    )


def winners(cup: Cup) -> tuple[Any, ...]:
    """Return, once it is over, the players who won and were not kicked, in order of sign-up."""
    return cup.left


def losers(cup: Cup) -> tuple[Any, ...]:
    """Return the players who lost and were not kicked, in order of sign-up."""
    return tuple([player for player in cup.players if player not in cup.left and player not in cup.kicked])


def kicked(cup: Cup) -> tuple[Any, ...]:
    """Return the players who were thrown out, in the order in which they were."""
    return cup.kicked


def points(cup: Cup) -> tuple[tuple[Any, float], ...]:
    """Return pairs (player, points) of the last game that each has played to its end; nobody who was thrown out."""
    return tuple([pair for pair in cup.scored if pair[0] not in cup.kicked])


def _scored(cup: Cup, told: Sequence[Mapping[str, Any]]) -> tuple[tuple[Any, float], ...]:
    new = [(one["player"], one["points"]) for one in told if one["points"] is not None]
    return (*[pair for pair in cup.scored if all(pair[0] != player for player, _ in new)], *new)


def result(cup: Cup) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sorted names of the winners and of those who were kicked."""
    return tuple(sorted(player.name for player in cup.left)), tuple(sorted(player.name for player in cup.kicked))


# Groups --------------------------------------------------------------------------------------------------------------


def sizes(count: int, least: int, most: int) -> tuple[int, ...]:
    """Return the sizes of the games for so many players, largest first.

    Games of ``most`` are filled as long as that works out; if too few are left over, full games are taken back, the
    last one first, and their players and the rest split into games of one less, and so on. 9 players in games of 2 to
    8 are 7 and 2; 26 in games of 6 to 8 are 8, 6, 6 and 6. A number that no games of these sizes hold (9 in games of
    6 to 8) is split into as few games as ``most`` allows, as equal as can be, with less than ``least`` players each.
    """
    found = _split(count, least, most)
    if found is not None:
        return found
    games = -(-count // most)
    return tuple([(count + i) // games for i in range(games)][::-1])


@lru_cache(maxsize=1024)
def _split(count: int, least: int, most: int) -> tuple[int, ...] | None:
    """Return the sizes by the rule, or None if there are none."""
    if count == 0:
        return ()
    if least <= count <= most:
        return (count,)
    if most < least:
        return None
    for full in range(count // most, -1, -1):
        rest = count - full * most
        found = (rest,) if least <= rest <= most else _split(rest, least, most - 1)
        if found is not None:
            return (*[most] * full, *found)
    return None


def _drawn(cup: Cup) -> tuple[tuple[Any, ...], ...]:
    """Return the groups of the next round."""
    if over(cup):
        return ()
    drawn: list[tuple[Any, ...]] = []
    taken = 0
    for size in sizes(len(cup.left), cup.least, cup.most):
        drawn.append(cup.left[taken : taken + size])
        taken += size
    return tuple(drawn)
