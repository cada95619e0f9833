"""Santorini looked ahead: can a player stay alive for so many rounds, whatever the other one does?

A round is a turn of the player and the other's answer. Who wins on the way has stayed alive; who has no turn has not.
The course judged strategies by this question, and a player that always takes a turn by which it stays alive for as
many rounds as it can see is the students' "stay alive" player: ``turns_that_stay_alive`` is its core.

The search is exact. What makes it fast: a threat to step up to the top has to be capped at once, so two are the end
and one leaves few turns; positions are remembered; and where the floors that both can add cannot carry the other
player up in the turns it has left, only running out of turns matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rules.santorini_board import AROUND, CAP, CELLS, TOP, Board, place_of

Turn = tuple[str, int, int | None]  # Worker, the cell it steps to, the cell it builds on or None for a winning step.
_Move = tuple[int, int, int]  # Index of a worker, target, cell built on.


def _distance(one: int, other: int) -> int:
    (row, column), (to_row, to_column) = place_of(one), place_of(other)
    return max(abs(row - to_row), abs(column - to_column))


DISTANCE = tuple(tuple(_distance(one, other) for other in range(CELLS)) for one in range(CELLS))


class OutOfNodesError(Exception):
    """The search was allowed fewer positions than the answer takes."""


def can_stay_alive(
    board: Board, player: str, rounds: int, first: Turn | None = None, *, half: bool = False, nodes: int | None = None
) -> bool:
    """Tell whether a player, who is to move, can stay alive for so many rounds whatever the other one does.

    ``first`` is its turn in the first round, if that is given; one that is not legal does not stay alive. With
    ``half`` the last round ends with the player's own turn, without an answer. ``rounds`` of 0 or less are survived
    by whoever has a legal ``first``, or is given none. At most ``nodes`` positions are looked at.

    Raises:
        OutOfNodesError: they were not enough.
    """
    if first is not None and first not in set(board.turns(player)):
        return False
    if rounds <= 0 or (first is not None and first[2] is None):
        return True
    search = _Search.of(board, player, half=half, nodes=nodes)
    if first is None:
        return search.lives(rounds)
    return search.survives(_move_of(board, player, first), rounds)


def turns_that_stay_alive(
    board: Board, player: str, rounds: int, *, half: bool = False, nodes: int | None = None
) -> Iterator[Turn]:
    """Yield a player's turns by which it can stay alive for so many rounds, as ``Board.turns`` orders them.

    A winning step is one. ``half`` and ``nodes``, which is for all turns together, as for ``can_stay_alive``.

    Raises:
        OutOfNodesError: there were not enough, for the turn that would come next.
    """
    search = _Search.of(board, player, half=half, nodes=nodes)
    for turn in board.turns(player):
        if rounds <= 0 or turn[2] is None or search.survives(_move_of(board, player, turn), rounds):
            yield turn


def _move_of(board: Board, player: str, turn: Turn) -> _Move:
    worker, target, raised = turn
    assert raised is not None
    return [name for name, _ in board.own(player)].index(worker), target, raised


@dataclass(slots=True)
class _Search:
    """A position that is changed in place and put back: heights, the cells of both players' workers, what is taken."""

    heights: list[int]
    mine: list[int]
    theirs: list[int]
    taken: bytearray
    half: bool
    left: int | None
    known: dict[tuple[int, bool, bytes, tuple[int, ...], tuple[int, ...]], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, board: Board, player: str, *, half: bool, nodes: int | None) -> _Search:
        mine = [cell for _, cell in board.own(player)]
        theirs = [cell for worker, cell in board.workers if worker[:-1] != player]
        taken = bytearray(CELLS)
        for _, cell in board.workers:
            taken[cell] = 1
        return cls(list(board.heights), mine, theirs, taken, half, nodes)

    def lives(self, rounds: int, climbing: bool = True) -> bool:
        """Tell whether the player, who is to move, can stay alive; ``climbing``: the other one might get to the top."""
        if rounds == 0 or self.can_win(self.mine):
            return True
        self.count()
        if climbing:
            climbing = self.can_climb(rounds - self.half)
        if rounds == 1 and (self.half or not climbing):
            return next(self.moves(self.mine), None) is not None
        key = (rounds, climbing, bytes(self.heights), tuple(sorted(self.mine)), tuple(sorted(self.theirs)))
        found = self.known.get(key)
        if found is None:
            found = any(self.survives(move, rounds, climbing) for move in self.defences(climbing))
            self.known[key] = found
        return found

    def survives(self, move: _Move, rounds: int, climbing: bool = True) -> bool:
        """Tell whether the player stays alive if it moves so now."""
        index, target, raised = move
        source = self.make(self.mine, index, target, raised)
        try:
            return self.withstands(rounds, climbing)
        finally:
            self.unmake(self.mine, index, source, raised)

    def withstands(self, rounds: int, climbing: bool) -> bool:
        """Tell whether the player stays alive whatever the other one, who is to move, does."""
        if self.half and rounds == 1:
            return True
        if climbing and self.can_win(self.theirs):
            return False
        if rounds == 1 or (rounds == 2 and not climbing and self.has_room()):
            return True
        moves = list(self.moves(self.theirs))
        if climbing:
            heights = self.heights
            moves.sort(key=lambda move: (heights[move[1]], heights[move[2]]), reverse=True)
        for index, target, raised in moves:
            source = self.make(self.theirs, index, target, raised)
            try:
                alive = self.lives(rounds - 1, climbing)
            finally:
                self.unmake(self.theirs, index, source, raised)
            if not alive:
                return False
        return True

    def defences(self, climbing: bool) -> Iterator[_Move]:
        """Yield the moves worth trying, those first that help the other player least. None of them wins."""
        threats = self.threats() if climbing else set()
        if len(threats) > 1:
            return
        moves = self.moves(self.mine)
        if threats:
            yield from (move for move in moves if move[2] in threats)
            return
        far = [min((DISTANCE[other][cell] for other in self.theirs), default=0) for cell in range(CELLS)]
        yield from sorted(moves, key=lambda move: (self.heights[move[2]] == TOP, far[move[2]]), reverse=True)

    # What is so.

    def can_win(self, workers: list[int]) -> bool:
        """Tell whether one of the workers can step up to the top at once."""
        heights, taken = self.heights, self.taken
        for cell in workers:
            if heights[cell] >= TOP - 1:
                for target in AROUND[cell]:
                    if heights[target] == TOP and not taken[target]:
                        return True
        return False

    def threats(self) -> set[int]:
        """Return where the other player could step up to the top. The player itself cannot step there: it would win."""
        return {
            target
            for cell in self.theirs
            if self.heights[cell] >= TOP - 1
            for target in AROUND[cell]
            if self.heights[target] == TOP and not self.taken[target]
        }

    def has_room(self) -> bool:
        """Tell whether the player has a step to one of three cells or more, so that one turn cannot close them all.

        A turn takes away two at most: it steps on one and builds on one. After a step there is a build: the cell
        that was left is free, and lower than 4.
        """
        targets: set[int] = set()
        for cell in self.mine:
            targets.update(self.targets(cell))
        return len(targets) > 2

    def can_climb(self, turns: int) -> bool:
        """Tell whether the other player might get to the top in so many turns; no only if it surely cannot.

        Before its first turn one floor is added, before each later one two more. Whether anybody would add them there,
        or who stands in the way, is not asked.
        """
        # Only a board that somebody made up has a worker on the top already; it goes to another top as if from 2.
        return any(self.rises(cell, min(self.heights[cell], TOP - 1), 1, turns, 0) for cell in self.theirs)

    def rises(self, cell: int, height: int, turn: int, turns: int, spent: int) -> bool:
        """Tell whether a worker at that height can be at the top after the last turn, with so many floors spent."""
        if height + turns - turn + 1 < TOP:
            return False
        if height + 1 < TOP and turns - turn > TOP - height - 1:
            return True  # There is a turn to spare: too many ways to follow.
        if height >= TOP - 1 and turns > turn:
            return True
        budget = 2 * turn - 1 - spent
        for target in AROUND[cell]:
            floors = height + 1 - self.heights[target]
            if 0 <= floors <= budget and (
                height + 1 == TOP or self.rises(target, height + 1, turn + 1, turns, spent + floors)
            ):
                return True
        return False

    def targets(self, cell: int) -> list[int]:
        """Return where a worker may step to from a cell."""
        heights, taken = self.heights, self.taken
        highest = min(TOP, heights[cell] + 1)
        return [target for target in AROUND[cell] if heights[target] <= highest and not taken[target]]

    def moves(self, workers: list[int]) -> Iterator[_Move]:
        """Yield all turns of the workers that do not win."""
        heights, taken = self.heights, self.taken
        for index, source in enumerate(workers):
            for target in self.targets(source):
                if heights[target] == TOP:
                    continue
                for raised in AROUND[target]:
                    if heights[raised] < CAP and (raised == source or not taken[raised]):
                        yield index, target, raised

    # What is done.

    def make(self, workers: list[int], index: int, target: int, raised: int) -> int:
        """Carry out a turn; return where the worker came from."""
        source = workers[index]
        self.taken[source] = 0
        self.taken[target] = 1
        workers[index] = target
        self.heights[raised] += 1
        return source

    def unmake(self, workers: list[int], index: int, source: int, raised: int) -> None:
        """Take a turn back."""
        self.heights[raised] -= 1
        self.taken[workers[index]] = 0
        self.taken[source] = 1
        workers[index] = source

    def count(self) -> None:
        """Count a position.

        Raises:
            OutOfNodesError: it is one too many.
        """
        if self.left is not None:
            if self.left <= 0:
                raise OutOfNodesError("the answer takes more positions than are allowed")
            self.left -= 1
