"""Swiss rounds: each meets somebody of about the same score whom they have not met, as long as there is anybody.

Players stand in order of score, then of seeding. The first who is free meets, within its score group, the one half a
group below, else the nearest who is left; where that leads nowhere the pair before is undone. With an odd number the
last who has had no bye has one. Who has been first less often, against second, is first; two who have both been first,
or both second, LEAD_MAX times more often do not meet, if that can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from rules.schedules.pairings import Round, Table

STEPS_MAX = 200_000  # pairs tried in a round; beyond, who has met may meet again. 300 players take about 300.
BALANCED_STEPS_MAX = 20_000  # of them, for a round in which no seats get out of balance
LEAD_MAX = 2  # times that somebody is first more often than second, or the other way round, as by FIDE's rules


def swiss_round(scores: Mapping[int, float], history: Sequence[Round], seated: Sequence[int]) -> Round:
    """Return the next round of the players in ``scores``; ``history`` are the rounds so far.

    ``seated`` are the players in order of seeding. Who had a bye is who sat at no table of a round of ``history``. A
    pair meets again only if there is no other way to give everybody somebody to meet (or none was found within
    STEPS_MAX).
    """
    order = sorted(scores, key=lambda player: (-scores[player], seated.index(player)))
    met = {frozenset(table) for tables in history for table in tables}
    leads, byes = _leads(order, history), _byes(order, history)
    balanced = met | _unbalanced(leads)
    for barred, bye, strict, steps_max in (
        (balanced, byes[0], True, BALANCED_STEPS_MAX),
        *((met, bye, True, STEPS_MAX) for bye in byes),
        *((met, bye, False, STEPS_MAX) for bye in byes),
    ):
        free = [player for player in order if player != bye]
        pairs = _paired(free, barred, scores, strict=strict, steps_max=steps_max)
        if pairs is not None:
            return tuple([_in_seats(pair, leads, history) for pair in pairs])
    return ()


def _leads(order: Sequence[int], history: Sequence[Round]) -> dict[int, int]:
    """Return how much more often each was first than second."""
    found = dict.fromkeys(order, 0)
    for tables in history:
        for first, second in tables:
            found[first] = found.get(first, 0) + 1
            found[second] = found.get(second, 0) - 1
    return found


def _unbalanced(leads: Mapping[int, int]) -> set[frozenset[int]]:
    """Return the pairs of which one would have to be first, or second, more often than it may."""
    ahead = [player for player, lead in leads.items() if lead >= LEAD_MAX]
    behind = [player for player, lead in leads.items() if lead <= -LEAD_MAX]
    return {frozenset(pair) for alike in (ahead, behind) for pair in combinations(alike, 2)}


def _byes(order: Sequence[int], history: Sequence[Round]) -> list[int | None]:
    """Return who may have the bye, the likeliest first; nobody where all can be paired."""
    if len(order) % 2 == 0:
        return [None]
    had = dict.fromkeys(order, 0)
    for tables in history:
        playing = {player for table in tables for player in table}
        for player in order:
            had[player] += player not in playing
    return [*sorted(order, key=lambda player: (had[player], -order.index(player)))]


def _paired(
    order: Sequence[int], barred: set[frozenset[int]], scores: Mapping[int, float], *, strict: bool, steps_max: int
) -> list[Table] | None:
    """Return pairs of all players; None if, being ``strict``, there is no way without a ``barred`` one."""
    free = list(order)
    pairs: list[Table] = []
    ways: list[list[int]] = []  # for the pair at each place, the opponents not tried yet, the best last
    steps = 0
    while free or len(ways) > len(pairs):
        if len(ways) == len(pairs):
            ways.append(_opponents(free, barred, scores, strict=strict))
        steps += 1
        if ways[-1] and steps <= steps_max:
            pair = (free[0], ways[-1].pop())
            pairs.append(pair)
            free = [player for player in free if player not in pair]
        else:
            ways.pop()
            if not pairs or steps > steps_max:
                return None
            undone = pairs.pop()
            free = sorted([*free, *undone], key=order.index)
    return pairs


def _opponents(
    free: Sequence[int], barred: set[frozenset[int]], scores: Mapping[int, float], *, strict: bool
) -> list[int]:
    """Return whom the first of those who are free may meet, the best last; who is barred comes first of all."""
    first = free[0]
    group = [player for player in free if scores[player] == scores[first]]
    half = len(group) // 2
    wanted = [*group[half:], *group[1:half][::-1], *free[len(group) :]] if half else list(free[1:])
    again = [player for player in wanted if frozenset((first, player)) in barred]
    fresh = [player for player in wanted if frozenset((first, player)) not in barred]
    return [*([] if strict else again[::-1]), *fresh[::-1]]


def _in_seats(pair: Table, leads: Mapping[int, int], history: Sequence[Round]) -> Table:
    """Return a pair with the one first who has been first less often, against second; else who was second last."""
    one, other = pair
    if leads[one] != leads[other]:
        return pair if leads[one] < leads[other] else (other, one)
    return pair if len(history) % 2 == 0 else (other, one)
