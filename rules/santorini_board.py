"""The board of Santorini: heights, workers, steps and floors on 6 x 6 cells. No turns and no winner here.

Cells are (row, column) in 0..5 with (0, 0) at the top left; NORTH is row - 1, EAST is column + 1. Inside, a cell is one
number, ``6 row + column``, and ``AROUND[cell]`` are its up to eight neighbours. On the wire a board is a list of rows:

    [[0, 2, "1alfred1", 0, 0, 0], ...]     a height, or a height and the worker that stands there

A worker is its player's name and 1 or 2: ``alfred1``. Short rows and missing ones are of height 0, without workers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

WireBoard = tuple[tuple[int | str, ...], ...]  # Six rows of six cells.
Step = tuple[int, int]  # Rows down, columns to the right: each -1, 0 or 1.

SIDE = 6
CELLS = SIDE * SIDE
TOP = 3  # Who steps up to it has won.
CAP = 4  # A cell of this height is closed for good.
FLAT = (0,) * CELLS
WORDS: dict[Step, str] = {
    (-1, 0): "North",
    (-1, 1): "NorthEast",
    (0, 1): "East",
    (1, 1): "SouthEast",
    (1, 0): "South",
    (1, -1): "SouthWest",
    (0, -1): "West",
    (-1, -1): "NorthWest",
}
STEPS: dict[str, Step] = {word.lower(): step for step, word in WORDS.items()}
NORTH_SOUTH = {"NORTH": -1, "PUT": 0, "SOUTH": 1}
EAST_WEST = {"EAST": 1, "PUT": 0, "WEST": -1}
DIRECTION_MAX = 40  # Characters looked at in a direction's word: what is longer is none.

WORKER = re.compile(r"([0-4])([a-z]+[12])")
LOOSE_WORKER = re.compile(r"([0-4])(.*[12])", re.DOTALL)


def _around() -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(
            SIDE * (row + down) + column + right
            for down, right in WORDS
            if 0 <= row + down < SIDE and 0 <= column + right < SIDE
        )
        for row in range(SIDE)
        for column in range(SIDE)
    )


AROUND: tuple[tuple[int, ...], ...] = _around()


class BoardError(ValueError):
    """A board from the wire cannot be read: too many rows or cells, a cell that is none, a worker twice."""


def cell_of(place: Any) -> int | None:
    """Return the cell at a place ``[row, column]``, or None if it is not on the board. Any value may be asked about."""
    if isinstance(place, (tuple, list)) and len(place) == 2:
        row, column = place
        if type(row) is int and type(column) is int and 0 <= row < SIDE and 0 <= column < SIDE:
            return SIDE * row + column
    return None


def place_of(cell: int) -> tuple[int, int]:
    """Return (row, column): the reverse of ``cell_of``."""
    return divmod(cell, SIDE)


def step_of(direction: Any) -> Step | None:
    """Return (down, right) for a direction as any of the protocols writes it, or None if it is none.

    It is one of eight words, whatever their case and whatever ``-``, ``_`` and blanks are in them, or a pair
    ``[EastWest, NorthSouth]``, of which ``["PUT", "PUT"]`` is (0, 0). Any value may be asked about.

    >>> step_of("south-west"), step_of(["EAST", "PUT"]), step_of("up")
    ((1, -1), (0, 1), None)
    """
    if isinstance(direction, str):
        if len(direction) > DIRECTION_MAX:
            return None
        return STEPS.get(re.sub(r"[-_\s]", "", direction).lower())
    if isinstance(direction, (tuple, list)) and len(direction) == 2:
        east_west, north_south = direction
        if isinstance(east_west, str) and isinstance(north_south, str):
            right, down = EAST_WEST.get(east_west), NORTH_SOUTH.get(north_south)
            if right is not None and down is not None:
                return down, right
    return None


def pair_of(step: Step) -> tuple[str, str]:
    """Return a step as ``(EastWest, NorthSouth)``, the other reverse of ``step_of`` beside ``WORDS``."""
    return ("WEST", "PUT", "EAST")[step[1] + 1], ("NORTH", "PUT", "SOUTH")[step[0] + 1]


def step_between(source: int, target: int) -> Step:
    """Return the step from a cell to another one; it is a direction's if they are neighbours."""
    (row, column), (to_row, to_column) = place_of(source), place_of(target)
    return to_row - row, to_column - column


def beside(cell: int, step: Step) -> int | None:
    """Return the cell that lies a step away, or None off the board."""
    row, column = place_of(cell)
    return cell_of((row + step[0], column + step[1]))


@dataclass(frozen=True, slots=True)
class Board:
    """Heights of the 36 cells, and the workers in the order in which they were placed, each with its cell.

    ``str(board)`` draws it for a debugger.
    """

    heights: tuple[int, ...] = FLAT
    workers: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        """Six lines of heights, each followed by who stands there, as in a message."""
        width = max([1, *(1 + len(worker) for worker, _ in self.workers)])
        return "\n".join(" ".join(f"{cell:<{width}}" for cell in row).rstrip() for row in self.wire)

    @property
    def wire(self) -> WireBoard:
        """The board as it is sent: six rows of six cells."""
        cells: list[int | str] = list(self.heights)
        for worker, cell in self.workers:
            cells[cell] = f"{self.heights[cell]}{worker}"
        return tuple([tuple(cells[start : start + SIDE]) for start in range(0, CELLS, SIDE)])

    def cell(self, worker: Any) -> int | None:
        """Return where a worker stands, or None if there is none of that name. Any value may be asked about."""
        for name, cell in self.workers:
            if name == worker:
                return cell
        return None

    def worker(self, cell: int) -> str | None:
        """Return who stands on a cell, or None."""
        for name, at in self.workers:
            if at == cell:
                return name
        return None

    def own(self, player: str) -> tuple[tuple[str, int], ...]:
        """Return the workers of the player of that name, with their cells."""
        return tuple([(worker, cell) for worker, cell in self.workers if worker[:-1] == player])

    # What is allowed.

    def may_step(self, source: int, target: int) -> bool:
        """Tell whether a worker on ``source`` may step to ``target``: a free neighbour below 4, at most one higher."""
        height = self.heights[target]
        return (
            target in AROUND[source]
            and height < CAP
            and height <= self.heights[source] + 1
            and self.worker(target) is None
        )

    def may_raise(self, source: int, target: int) -> bool:
        """Tell whether a worker on ``source`` may build on ``target``: a free neighbour below 4."""
        return target in AROUND[source] and self.heights[target] < CAP and self.worker(target) is None

    def steps(self, source: int) -> tuple[int, ...]:
        """Return where a worker on ``source`` may step to, clockwise from the north."""
        return tuple([target for target in AROUND[source] if self.may_step(source, target)])

    def floors(self, source: int) -> tuple[int, ...]:
        """Return where a worker on ``source`` may build, clockwise from the north."""
        return tuple([target for target in AROUND[source] if self.may_raise(source, target)])

    def turns(self, player: str) -> Iterator[tuple[str, int, int | None]]:
        """Yield a player's legal turns as (worker, the cell it steps to, the cell it builds on).

        There is no building after a step up to the top, which wins. Workers in the order of placing, cells clockwise.
        """
        for worker, source in self.own(player):
            for target in self.steps(source):
                if self.heights[target] == TOP:
                    yield worker, target, None
                    continue
                for raised in self.step(worker, target).floors(target):
                    yield worker, target, raised

    def stuck(self, player: str) -> bool:
        """Tell whether a player has no legal turn; who has no worker has none."""
        return next(self.turns(player), None) is None

    # What happens. Nothing is checked but that the worker is there: a referee asks first.

    def put(self, worker: str, cell: int) -> Board:
        """Return the board with one worker more."""
        return Board(self.heights, (*self.workers, (worker, cell)))

    def step(self, worker: str, target: int) -> Board:
        """Return the board with a worker somewhere else."""
        return Board(self.heights, tuple([(name, target if name == worker else at) for name, at in self.workers]))

    def raised(self, cell: int) -> Board:
        """Return the board with one floor more; a capped cell stays as it is."""
        height = min(CAP, self.heights[cell] + 1)
        return Board((*self.heights[:cell], height, *self.heights[cell + 1 :]), self.workers)


EMPTY = Board()


def read_board(wire: Any, *, loose: bool = False) -> Board:
    """Return the board that a peer wrote: any value, read as leniently as the peers of the course write.

    Up to six rows of up to six cells; a free cell may be a text of one digit. Workers come in the order of their names,
    as the wire does not tell in which they were placed. A player's name is small letters; with ``loose`` it is any
    text, also none as in ``"01"``, and of a worker that is there twice the last place counts: so the course's programs
    read, and some of its cases need it.

    Raises:
        BoardError: it is no list of at most six lists of at most six such cells, or a worker is there twice and the
            reading is not loose.
    """
    if not isinstance(wire, (tuple, list)) or len(wire) > SIDE:
        raise BoardError(f"a board is a list of at most {SIDE} rows")
    pattern = LOOSE_WORKER if loose else WORKER
    heights = list(FLAT)
    workers: dict[str, int] = {}
    for row, cells in enumerate(wire):
        if not isinstance(cells, (tuple, list)) or len(cells) > SIDE:
            raise BoardError(f"row {row} is no list of at most {SIDE} cells")
        for column, said in enumerate(cells):
            height, worker = _read_cell(said, pattern, row, column)
            heights[SIDE * row + column] = height
            if worker is not None:
                if worker in workers and not loose:
                    raise BoardError(f"{worker} is at {place_of(workers[worker])} and at {(row, column)}")
                workers[worker] = SIDE * row + column
    return Board(tuple(heights), tuple(sorted(workers.items())))


def _read_cell(said: Any, pattern: re.Pattern[str], row: int, column: int) -> tuple[int, str | None]:
    """Return a cell's height and the worker on it, or None."""
    if type(said) is int and 0 <= said <= CAP:
        return said, None
    if isinstance(said, str):
        if len(said) == 1 and said in "01234":
            return int(said), None
        found = pattern.fullmatch(said)
        if found is not None:
            return int(found[1]), found[2]
    raise BoardError(f"the cell at {row},{column} is no height 0..{CAP}, nor a height and a worker")


def rows_of(heights: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return 36 heights as six rows."""
    return tuple([tuple(heights[start : start + SIDE]) for start in range(0, CELLS, SIDE)])
