"""A knock-out by seeding: the best two meet last, byes go to the best, and each round halves who is left.

slots of 6 players     0 -   3 4   5 2   - 1      round 1: 3-4 and 5-2, byes for 0 and 1
through                0     3 or 4  ...          round 2: the winners, side by side
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rules.schedules.pairings import Round, Table

Slots = tuple[int | None, ...]


def bracket(count: int) -> Slots:
    """Return the slots of the first round for players 0 to ``count`` - 1, the best first; None stands for a bye.

    >>> bracket(6)
    (0, None, 3, 4, 1, None, 2, 5)
    """
    order = [0]
    while len(order) < count:
        size = 2 * len(order)
        order = [slot for player in order for slot in (player, size - 1 - player)]
    return tuple([player if player < count else None for player in order])


def tables(slots: Slots) -> Round:
    """Return who meets whom: neighbours, unless one of them is nobody."""
    pairs = zip(slots[::2], slots[1::2], strict=False)
    return tuple([(one, other) for one, other in pairs if one is not None and other is not None])


def through(slots: Slots, winners: Mapping[Table, int]) -> Slots:
    """Return the slots of the next round: the winner of each table, and who had a bye.

    Raises:
        KeyError: a table has no winner.
    """
    if len(slots) < 2:
        return slots
    found: list[int | None] = []
    for one, other in zip(slots[::2], slots[1::2], strict=True):
        if one is None or other is None:
            found.append(other if one is None else one)
        else:
            found.append(winners[one, other])
    return tuple(found)


def without(slots: Slots, out: Sequence[int]) -> Slots:
    """Return the slots with nobody where somebody was who is out: whoever would have met them has a bye."""
    return tuple([None if player in out else player for player in slots])


def left(slots: Slots) -> int:
    """Return how many are left."""
    return sum(player is not None for player in slots)
