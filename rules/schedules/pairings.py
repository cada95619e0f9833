"""Rounds that are known before anything is played: round robin, gauntlet, and the seats of the games of a pairing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Table = tuple[int, ...]
Round = tuple[Table, ...]


def round_robin(count: int) -> Iterator[Round]:
    """Yield the rounds in which each of ``count`` players meets each other once, by the circle method.

    With an odd number one has a bye in each round, each player in one. Each plays as often first as second, or nearly:
    the difference is 1 at most.

    >>> [*round_robin(4)]
    [((0, 3), (1, 2)), ((3, 2), (0, 1)), ((1, 3), (2, 0))]
    """
    if count < 2:
        return
    even = count + count % 2
    fixed = even - 1  # the others go round; with an odd number it is nobody, and who meets it has a bye
    for turn in range(even - 1):
        pairs = [(turn // 2 if turn % 2 == 0 else (turn + even) // 2 % fixed, fixed)]
        anchor = pairs[0][0]
        if turn % 2:
            pairs[0] = (fixed, anchor)
        for step in range(1, even // 2):
            one, other = (anchor + step) % fixed, (anchor - step) % fixed
            pairs.append((one, other))
        yield tuple([pair for pair in pairs if count not in pair])


def gauntlet(count: int, against: Sequence[int]) -> Iterator[Round]:
    """Yield rounds in which each player of ``against`` meets every other player once, and the rest nobody else."""
    chosen = list(dict.fromkeys(against))
    rest = [player for player in range(count) if player not in chosen]
    for pairs in round_robin(len(chosen)):
        yield tuple([tuple([chosen[player] for player in pair]) for pair in pairs])
    turns = max(len(chosen), len(rest)) if chosen and rest else 0
    for turn in range(turns):
        tables: list[Table] = []
        for place, player in enumerate(chosen):
            other = (turn + place) % turns
            if other < len(rest):
                pair = (player, rest[other])
                tables.append(pair if (turn + place) % 2 == 0 else pair[::-1])
        if tables:
            yield tuple(tables)


def turned(table: Table, game: int) -> Table:
    """Return the seats of a game of a pairing, ``game`` from 0: each game begins with the next player.

    >>> turned((4, 7, 2), 1)
    (7, 2, 4)
    """
    first = game % len(table)
    return table[first:] + table[:first]
