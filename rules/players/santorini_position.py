"""A moment of Santorini as players see it: heights and workers, and every turn that may be made, fast.

The 36 cells are numbered row by row from the north-west corner. Sets of cells are integers with a bit for each cell,
so that a question like "is there a cell of height 3 beside this worker" is one operation. The rules themselves are in
``rules.santorini``; the tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

SIDE = 6
CELLS = SIDE * SIDE
EVERY_CELL = (1 << CELLS) - 1
BIT = tuple(1 << cell for cell in range(CELLS))
SUMMIT = 3  # Who steps up to here has won.
CAPPED = 4


def beside(cell: int) -> tuple[int, ...]:
    """Return the up to eight neighbours of a cell, from the north-west, row by row."""
    row, column = divmod(cell, SIDE)
    return tuple(
        SIDE * r + c
        for r in range(max(row - 1, 0), min(row + 2, SIDE))
        for c in range(max(column - 1, 0), min(column + 2, SIDE))
        if (r, c) != (row, column)
    )


def _subsets(cells: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for chosen in range(1 << len(cells)):
        yield tuple(cell for i, cell in enumerate(cells) if chosen >> i & 1)


def bits(cells: tuple[int, ...]) -> int:
    """Return the set of these cells."""
    return sum(BIT[cell] for cell in cells)


NEAR = tuple(bits(beside(cell)) for cell in range(CELLS))
# Each set of neighbours of one cell, and its cells in order: 3,839 entries, and no counting of bits later.
LISTED = {bits(cells): cells for cell in range(CELLS) for cells in _subsets(beside(cell))}


class Turn(NamedTuple):
    """Worker 1 or 2 steps to a cell and builds on another; no build where the step wins."""

    worker: int
    to: int
    build: int | None


@dataclass(frozen=True, slots=True)
class Position:
    """Heights of the 36 cells, and the cells of the workers, mine and the opponent's, in order of their numbers.

    While workers are being placed there are fewer than two a side.
    """

    heights: tuple[int, ...]
    mine: tuple[int, ...]
    theirs: tuple[int, ...]

    @property
    def occupied(self) -> int:
        """The set of the cells that have a worker."""
        return bits(self.mine + self.theirs)

    def cells_below(self, height: int) -> int:
        """Return the set of the cells that are less than so high."""
        return sum(BIT[cell] for cell, floors in enumerate(self.heights) if floors < height)

    def turns(self) -> Iterator[Turn]:
        """Yield every turn I may make, worker by worker, targets and builds in order of cells."""
        uncapped = self.cells_below(CAPPED)
        for worker, cell in enumerate(self.mine, 1):
            others = self.occupied ^ BIT[cell]
            low = self.cells_below(min(self.heights[cell] + 2, CAPPED))
            for to in LISTED[NEAR[cell] & low & ~others]:
                if self.heights[to] == SUMMIT:
                    yield Turn(worker, to, None)
                else:
                    for build in LISTED[NEAR[to] & uncapped & ~others]:
                        yield Turn(worker, to, build)

    def after(self, turn: Turn) -> Position:
        """Return the position after a turn of mine, as the opponent sees it."""
        heights = list(self.heights)
        if turn.build is not None:
            heights[turn.build] += 1
        mine = (turn.to, self.mine[1]) if turn.worker == 1 else (self.mine[0], turn.to)
        return Position(tuple(heights), self.theirs, mine)

    def summits(self) -> int:
        """Return the set of the cells that one step of mine wins on."""
        high = EVERY_CELL & ~self.cells_below(SUMMIT) & self.cells_below(CAPPED) & ~self.occupied
        found = 0
        for cell in self.mine:
            if self.heights[cell] == SUMMIT - 1:
                found |= high & NEAR[cell]
        return found


def survives(position: Position, rounds: int) -> bool:
    """Return whether I stay alive for so many rounds, whatever the opponent does.

    A round is a turn of mine and the opponent's answer. Alive is who has neither lost nor is without a legal turn when
    it must make one; who wins is alive. The work grows about fiftyfold with each round.
    """
    if rounds == 0:
        return True
    return bool(position.summits()) or any(endures(position.after(turn), rounds) for turn in position.turns())


def endures(position: Position, rounds: int) -> bool:
    """Return whether the other side, which moved last, stays alive for ``rounds``, the one just begun included.

    ``position`` is as the side to move sees it.
    """
    if position.summits():
        return False
    return rounds == 1 or all(survives(position.after(turn), rounds - 1) for turn in position.turns())
