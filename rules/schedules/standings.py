"""Points, places and tie-breaks: what stands in the table of an event, worked out anew from all of its matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final


@dataclass(frozen=True, slots=True)
class Played:
    """A match that was played: ``groups`` of players, best first, those at ``fault`` last; ``own`` are its points.

    Those in ``out`` have a place and did not play.
    """

    groups: tuple[tuple[int, ...], ...]
    faults: tuple[int, ...] = ()
    own: tuple[tuple[int, float], ...] = ()
    out: tuple[int, ...] = ()

    def places(self) -> dict[int, int]:
        """Return the place of each player, from 1; who shares one has the first of those shared."""
        found: dict[int, int] = {}
        for group in self.groups:
            found |= dict.fromkeys(group, len(found) + 1)
        return found


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; ``ties`` has a value for each tie-break, ``rank`` is shared by those whom none parts."""

    rank: int
    player: int
    points: float
    ties: tuple[float, ...]
    played: int
    faults: int


def groups_of(seats: Sequence[int], ranking: Sequence[Sequence[int]], faults: Sequence[int]) -> Played:
    """Return a match of the players in ``seats`` as its server told it, with everybody in one group.

    Who is at fault is last, whatever the ranking; who is in no group shares the place before them.
    """
    groups = [tuple([player for player in group if player not in faults]) for group in ranking]
    ranked = {player for group in groups for player in group}
    groups.append(tuple([player for player in seats if player not in ranked and player not in faults]))
    groups.append(tuple([player for player in seats if player in faults]))
    return Played(tuple([group for group in groups if group]), tuple(faults))


def points(match: Played, scheme: Sequence[float] | None) -> dict[int, float]:
    """Return the points of each player: ``scheme`` by place; None stands for as many as one has left behind.

    Of two, that is 1 and 0. Who shares places shares their points; who is at fault, or did not play, has none.

    >>> points(Played(((4,), (7, 2)), ()), None)
    {4: 2.0, 7: 0.5, 2: 0.5}
    """
    count = sum(map(len, match.groups))
    wanted = tuple(scheme) if scheme is not None else tuple(range(count - 1, -1, -1))
    found: dict[int, float] = {}
    for group in match.groups:
        shared = wanted[len(found) : len(found) + len(group)]
        found |= dict.fromkeys(group, sum(shared) / len(group))
    return found | dict.fromkeys((*match.faults, *match.out), 0.0)


def encounters(match: Played) -> Iterable[tuple[int, int, float]]:
    """Yield (player, other, score) for each two of a match: 1 where the player is before the other, 0.5 where beside.

    Two who are both at fault did not play against each other.
    """
    places = match.places()
    for one, other in combinations(places, 2):
        if not (one in match.faults and other in match.faults):
            yield one, other, 0.5 if places[one] == places[other] else float(places[one] < places[other])


def table(
    players: Sequence[int],
    matches: Sequence[tuple[Played, Mapping[int, float]]],
    given: Mapping[int, float],
    ties: Sequence[str],
) -> list[Row]:
    """Return the standings, the best first; who is equal in all stands by seeding, which is the order of ``players``.

    ``matches`` come with the points of their players, ``given`` are points without a match, as for byes. ``ties`` are
    names in TIES, asked in their order.
    """
    total = dict.fromkeys(players, 0.0)
    played, faults = dict.fromkeys(players, 0), dict.fromkeys(players, 0)
    for match, scored in matches:
        for player, worth in scored.items():
            total[player] += worth
            played[player] += 1
            faults[player] += player in match.faults
    for player, worth in given.items():
        total[player] += worth
    only = [match for match, _ in matches]
    values = [TIES[name](total, only) for name in ties]
    keys = {player: (total[player], *(value.get(player, 0.0) for value in values)) for player in players}
    order = sorted(players, key=lambda player: tuple([-value for value in keys[player]]))
    rows: list[Row] = []
    for place, player in enumerate(order):
        rank = rows[-1].rank if place and keys[order[place - 1]] == keys[player] else place + 1
        rows.append(Row(rank, player, total[player], keys[player][1:], played[player], faults[player]))
    return rows


# -- tie-breaks ------------------------------------------------------------------------------------------------------

Totals = Mapping[int, float]


def _head_to_head(total: Totals, matches: Sequence[Played]) -> dict[int, float]:
    """Score against those who have as many points."""
    found = dict.fromkeys(total, 0.0)
    for one, other, score in _all(matches):
        if total[one] == total[other]:
            found[one] += score
            found[other] += 1 - score
    return found


def _buchholz(total: Totals, matches: Sequence[Played]) -> dict[int, float]:
    """Points of all opponents, summed up, one that was met twice counted twice."""
    found = dict.fromkeys(total, 0.0)
    for one, other, _ in _all(matches):
        found[one] += total[other]
        found[other] += total[one]
    return found


def _sonneborn_berger(total: Totals, matches: Sequence[Played]) -> dict[int, float]:
    """Points of those who were beaten, and half of those one drew with."""
    found = dict.fromkeys(total, 0.0)
    for one, other, score in _all(matches):
        found[one] += score * total[other]
        found[other] += (1 - score) * total[one]
    return found


def _wins(total: Totals, matches: Sequence[Played]) -> dict[int, float]:
    """Matches won alone."""
    found = dict.fromkeys(total, 0.0)
    for match in matches:
        if match.groups and len(match.groups[0]) == 1 and match.groups[0][0] not in match.faults:
            found[match.groups[0][0]] += 1
    return found


def _few_faults(total: Totals, matches: Sequence[Played]) -> dict[int, float]:
    """Faults, the fewer the better."""
    found = dict.fromkeys(total, 0.0)
    for match in matches:
        for player in match.faults:
            found[player] -= 1
    return found


def _all(matches: Sequence[Played]) -> Iterable[tuple[int, int, float]]:
    for match in matches:
        yield from encounters(match)


TIES: Final[Mapping[str, Callable[[Totals, Sequence[Played]], dict[int, float]]]] = {
    "head-to-head": _head_to_head,
    "buchholz": _buchholz,
    "sonneborn-berger": _sonneborn_berger,
    "wins": _wins,
    "few-faults": _few_faults,
}
