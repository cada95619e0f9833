"""Tournaments: everybody plays a series of games against everybody else, and who offends is out and is re-scored.

It knows no game. A game's outcome is anything with a ``winner`` (None if nobody won) and ``offenders``, those who broke
the rules of the game or of the protocol in it. A player is anything that can be compared and has a name.

    start -> pairs            each pair in order of sign-up, if both_in
          -> series           seating, played        as often as undecided says so
          -> add              for each series, in the order of pairs
          -> history | series_rows | result_rows, expelled, won, result

Whoever offends loses the series at once, whatever its score, and plays no more. All it has won before becomes its
opponents', unless the opponent has offended as well: a row of two offenders is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol

__all__ = [
    "add",
    "both_in",
    "expelled",
    "fresh_name",
    "history",
    "leader",
    "length",
    "match_number",
    "names",
    "odd",
    "offenders",
    "pairs",
    "places",
    "played",
    "points",
    "result",
    "result_rows",
    "seating",
    "series",
    "series_rows",
    "start",
    "survivors",
    "undecided",
    "won",
]

PADDING = "a"
IRREGULAR = "irregular"


class Player(Protocol):
    """Who takes part: comparable, with a name."""

    @property
    def name(self) -> str:
        """What the player is called; no two in a tournament share a name."""


class Outcome(Protocol):
    """How a game ended."""

    @property
    def winner(self) -> Any:
        """The player who won, or None."""

    @property
    def offenders(self) -> Sequence[Any]:
        """Who broke the rules in it; mostly nobody."""


Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Game:
    """A game that was played: who won it, if anybody, and who offended in it."""

    winner: Any
    offenders: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """The games of a pair, in order. ``games`` is how many there are to be, ``played`` holds those there were.

    ``pair`` is in order of sign-up, and the first of it begins the first game; with ``alternate`` the second of it
    begins every second game.
    """

    pair: Pair
    games: int
    stop_when_decided: bool = False
    alternate: bool = False
    played: tuple[Game, ...] = ()

    def __str__(self) -> str:
        first, second = self.pair
        score = f"{_games_won(self, first)}:{_games_won(self, second)}"
        return f"{first.name} {score} {second.name}, best of {self.games}"


@dataclass(frozen=True, slots=True)
class Cup:
    """A tournament so far: who takes part, the series as scheduled, and who offended, in order of failure."""

    players: tuple[Any, ...]
    series: tuple[Series, ...] = ()
    offenders: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*map(str, self.series), f"expelled: {', '.join(expelled(self)) or 'nobody'}"])


# Who plays whom ------------------------------------------------------------------------------------------------------


def fresh_name(players: Iterable[Player], given: str) -> str:
    """Return the name under which a newcomer plays: the given one, unless one of the players has it.

    Then it is padded with ``a`` until it is longer than the longest so far: a second matthias is matthiasa. So does
    the course's own server, and it keeps names within ``[a-z]+``.
    """
    taken = names(players)
    if given not in taken:
        return given
    return given + PADDING * (max(map(len, taken)) + 1 - len(given))


def names(players: Iterable[Player]) -> tuple[str, ...]:
    """Return the names of the players, in their order."""
    return tuple([player.name for player in players])


def pairs(players: Sequence[Player]) -> tuple[Pair, ...]:
    """Return the schedule: each player against every later one, in order of sign-up."""
    return tuple(combinations(players, 2))


def match_number(players: Sequence[Player], pair: Sequence[Player], player: Player) -> int:
    """Return which of the player's own series this one is by the schedule, from 1.

    Raises:
        ValueError: the player is none of the pair, or one of the pair is none of the players.
    """
    if player not in pair:
        raise ValueError(f"{player.name} is none of {' and '.join(names(pair))}")
    other = pair[1] if pair[0] == player else pair[0]
    return [opponent for opponent in players if opponent != player].index(other) + 1


# A series of games ---------------------------------------------------------------------------------------------------


def odd(games: int) -> int:
    """Return the number of games where a document says that an even one becomes one more, so that somebody wins."""
    return games + 1 - games % 2


def series(pair: Sequence[Player], games: int, stop_when_decided: bool, alternate: bool) -> Series:
    """Return a series of which nothing is played; see `Series`.

    Raises:
        ValueError: there are not two players, or less than one game.
    """
    if games < 1:
        raise ValueError(f"a series has one game or more, not {games}")
    first, second = pair
    return Series((first, second), games, stop_when_decided, alternate)


def length(series: Series) -> int:
    """Return how many games the series has if all are played."""
    return series.games


def seating(series: Series, number: int) -> Pair:
    """Return the pair in the order in which it moves in a game; ``number`` is from 1."""
    first, second = series.pair
    return (second, first) if series.alternate and number % 2 == 0 else (first, second)


def undecided(series: Series) -> bool:
    """Tell whether a further game is to be played, if the series is not through.

    It is not once somebody has offended, nor, if it stops when decided, once one has won more than half of the games.
    """
    if _offenders(series):
        return False
    return not series.stop_when_decided or 2 * max(_games_won(series, player) for player in series.pair) <= series.games


def played(series: Series, outcome: Outcome) -> Series:
    """Return the series with a further game.

    Raises:
        ValueError: the winner or an offender is none of the pair.
    """
    game = Game(outcome.winner, tuple(outcome.offenders))
    for player in (*game.offenders, *(() if game.winner is None else (game.winner,))):
        if player not in series.pair:
            raise ValueError(f"{player.name} is none of {' and '.join(names(series.pair))}")
    return replace(series, played=(*series.played, game))


def leader(series: Series) -> Any:
    """Return who has won the series so far: who has more games, or whose opponent has offended; else None."""
    first, second = series.pair
    offenders = _offenders(series)
    if offenders:
        clean = [player for player in series.pair if player not in offenders]
        return clean[0] if clean else None
    score = _games_won(series, first) - _games_won(series, second)
    return first if score > 0 else second if score < 0 else None


# The whole tournament ------------------------------------------------------------------------------------------------


def start(players: Sequence[Player]) -> Cup:
    """Return the tournament before its first series; the players are in order of sign-up."""
    return Cup(tuple(players))


def both_in(cup: Cup, pair: Sequence[Player]) -> bool:
    """Tell whether none of a pair has been expelled, so that their series is to be played."""
    return not any(player in cup.offenders for player in pair)


def add(cup: Cup, series: Series) -> Cup:
    """Return the tournament with a series that is through; whoever offended in it is expelled."""
    expelled_now = tuple([player for player in _offenders(series) if player not in cup.offenders])
    return Cup(cup.players, (*cup.series, series), cup.offenders + expelled_now)


def expelled(cup: Cup) -> tuple[str, ...]:
    """Return the names of those who offended, in order of failure."""
    return names(cup.offenders)


def survivors(cup: Cup) -> tuple[Any, ...]:
    """Return the players who have not been expelled, in order of sign-up."""
    return tuple([player for player in cup.players if player not in cup.offenders])


def offenders(cup: Cup) -> tuple[Any, ...]:
    """Return the players who offended, in order of failure."""
    return cup.offenders


def places(cup: Cup) -> tuple[tuple[Any, ...], ...]:
    """Return the players in groups, most series won first, after re-scoring; who offended is in none."""
    groups: dict[int, list[Any]] = {}
    for player in survivors(cup):
        groups.setdefault(_series_won(cup, player), []).append(player)
    return tuple(tuple(groups[count]) for count in sorted(groups, reverse=True))


def points(cup: Cup) -> tuple[tuple[Any, int], ...]:
    """Return how many series each player has won, after re-scoring, in order of sign-up; who offended has none."""
    return tuple([(player, 0 if player in cup.offenders else _series_won(cup, player)) for player in cup.players])


def history(cup: Cup) -> tuple[tuple[str, str], ...]:
    """Return a row (winner, loser) for each game, after re-scoring, in the order in which they were scheduled."""
    return tuple([(winner.name, loser.name) for winner, loser in _scored_games(cup)])


def series_rows(cup: Cup) -> tuple[tuple[str, str], ...]:
    """Return a row (winner, loser) for each series that somebody won, after re-scoring, as they were scheduled."""
    return tuple([(winner.name, loser.name) for _, winner, loser in _scored_series(cup)])


def result_rows(cup: Cup) -> tuple[tuple[str, ...], ...]:
    """Return the rows of `series_rows`; if the loser offended in that series, it is (winner, loser, "irregular").

    A series that the loser had won before it offended in another is turned round, and is not marked: so the course's
    own server does.
    """
    return tuple(
        [
            (winner.name, loser.name, *((IRREGULAR,) if loser in _offenders(games) else ()))
            for games, winner, loser in _scored_series(cup)
        ]
    )


def won(cup: Cup, player: Player) -> bool:
    """Tell whether a player has won the tournament: nobody has more series. Several may have; who offended has not."""
    counts = {number: _series_won(cup, other) for number, other in enumerate(cup.players) if other not in cup.offenders}
    return player not in cup.offenders and _series_won(cup, player) == max(counts.values(), default=0)


def result(cup: Cup) -> dict[str, Any]:
    """Return how it ended, as a table.

    ``players`` are in order of sign-up, each with ``name``, ``series`` and ``games`` won after re-scoring, and whether
    it was ``expelled``. ``winners`` are names, ``expelled`` names in order of failure, ``rows`` those of `series_rows`.
    """
    return {
        "winners": names([player for player in cup.players if won(cup, player)]),
        "expelled": expelled(cup),
        "players": tuple(
            [
                {
                    "name": player.name,
                    "series": _series_won(cup, player),
                    "games": sum(winner == player for winner, _ in _scored_games(cup)),
                    "expelled": player in cup.offenders,
                }
                for player in cup.players
            ]
        ),
        "rows": series_rows(cup),
    }


# How it is worked out ------------------------------------------------------------------------------------------------


def _offenders(series: Series) -> list[Any]:
    return [player for game in series.played for player in game.offenders]


def _games_won(series: Series, player: Player) -> int:
    return sum(game.winner == player for game in series.played)


def _series_won(cup: Cup, player: Player) -> int:
    return sum(winner == player for _, winner, _ in _scored_series(cup))


def _scored_games(cup: Cup) -> Iterator[Pair]:
    """Yield winner and loser of each game that counts, as it counts now."""
    for games in cup.series:
        for game in games.played:
            yield from _scored(cup, games.pair, game.winner)


def _scored_series(cup: Cup) -> Iterator[tuple[Series, Any, Any]]:
    """Yield each series that counts, with its winner and its loser as it counts now."""
    for games in cup.series:
        for winner, loser in _scored(cup, games.pair, leader(games)):
            yield games, winner, loser


def _scored(cup: Cup, pair: Pair, winner: Any) -> Iterator[Pair]:
    """Yield (winner, loser) of what one of a pair won, turned round if only the winner has offended by now."""
    if winner is None or all(player in cup.offenders for player in pair):
        return
    loser = pair[1] if winner == pair[0] else pair[0]
    yield (loser, winner) if winner in cup.offenders else (winner, loser)
