"""Players of Santorini, for any of its protocols: some play by rote, two look ahead, the others misbehave.

A kind decides where to place a worker and which turn to take, from a `Position`; `Speaker` hears the protocol's
questions and says it in the protocol's words (``rules.players.santorini_dialects``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random as Chance
from typing import Any, TypeVar

from rules.players.santorini_dialects import Answer, Asked, read_question
from rules.players.santorini_position import (
    BIT,
    CAPPED,
    CELLS,
    LISTED,
    NEAR,
    SIDE,
    SUMMIT,
    Position,
    Turn,
    beside,
    endures,
)
from rules.players.santorini_search import Search, middle
from rules.santorini_board import WORDS, place_of, step_between

T = TypeVar("T", int, Turn)

# 0.7 s with CPython 3.11 on the machine of benchmarks/README.md, a second on a busy one: four turns ahead as a rule.
STRONG_POSITIONS = 300_000
QUICK_POSITIONS = 10_000
LATER_TURNS = 3  # How many turns the kinds that misbehave later take first.


class Speaker:
    """Hears the questions of whichever protocol and words the decisions of a kind of player."""

    def __init__(self, name: str, seed: int) -> None:
        self.chance = Chance(f"santorini {type(self).__name__} {seed}")
        self._own: list[int] = []  # Where it placed workers in this game, for protocols that do not say who is who.
        self._turn: Turn | None = None  # The turn it is in the middle of.
        self._chosen: int | Turn | None = None
        self._checks: Iterator[tuple[Any, bool]] = iter(())
        self._expected: bool | None = None

    # What a kind decides.

    def choose_cell(self, position: Position) -> int:
        """Return where to place the next worker: any free cell, each as likely as the others."""
        return self.chance.choice(_free(position))

    def choose_turn(self, position: Position) -> Turn | None:
        """Return the turn to take, None to give up: any legal one, each as likely as the others."""
        legal = list(position.turns())
        return self.chance.choice(legal) if legal else None

    def to_check(self, chosen: T, wrong: T) -> Iterator[tuple[T, bool]]:
        """Yield what to ask a rule checker before the decision is told, each with the answer that is due.

        ``wrong`` is something like ``chosen`` that is never legal.
        """
        return iter(())

    # The protocols' questions.

    def placement(self, *values: Any) -> Answer:
        """Answer where a worker is placed; asked by three protocols."""
        return self._place(read_question("placement", values))

    def place(self, *values: Any) -> Answer:
        """Answer where a worker is placed."""
        return self._place(read_question("place", values))

    def move_build(self, *values: Any) -> Answer:
        """Answer with a whole turn."""
        return self._take_turn(read_question("move_build", values))

    def turn(self, *values: Any) -> Answer:
        """Answer with a whole turn; asked by two protocols."""
        return self._take_turn(read_question("turn", values))

    def move(self, *values: Any) -> Answer:
        """Answer with the first half of a turn, and keep the other."""
        return self._take_turn(read_question("move", values))

    def build(self, *values: Any) -> Answer:
        """Answer with the other half of the turn; with any build if the move was not this player's own."""
        asked = read_question("build", values)
        here = asked.position.mine[asked.number - 1]
        if self._turn is None or (self._turn.worker, self._turn.to) != (asked.number, here):
            free = asked.position.cells_below(CAPPED) & ~asked.position.occupied
            self._turn = Turn(asked.number, here, self.chance.choice(LISTED[NEAR[here] & free]))
        turn, check = self._next(asked, self._turn, Turn(asked.number, here, here))
        return asked.dialect.turn(asked, turn, check)

    def _place(self, asked: Asked) -> Answer:
        position = asked.position
        taken = position.mine + position.theirs
        if len(taken) < 2:
            self._own = []
        if asked.me is None:
            mine = tuple([cell for cell in self._own if cell in taken])
            position = replace(position, mine=mine, theirs=tuple([cell for cell in taken if cell not in mine]))
        chosen = self.choose_cell(position) if asked.ok is None else None
        cell, check = self._next(asked, chosen, taken[0] if taken else CELLS)
        if not check:
            self._own.append(cell)
        return asked.dialect.place(asked, cell, check)

    def _take_turn(self, asked: Asked) -> Answer:
        position = asked.position
        if asked.ok is None:
            self._turn = self.choose_turn(position)
            if self._turn is None:
                word = asked.dialect.give_up(asked)
                if word is None:
                    raise ValueError("it gives up, and this protocol has no word for that")
                return word
        assert self._turn is not None
        worker = self._turn.worker
        start = position.mine[worker - 1]
        turn, check = self._next(asked, self._turn, Turn(worker, start, beside(start)[0]))
        return asked.dialect.turn(asked, turn, check)

    def _next(self, asked: Asked, chosen: T | None, wrong: T) -> tuple[T, bool]:
        """Return what to say next, and whether it is only to be checked.

        Raises:
            ValueError: the rule checker's last answer is not what the rules say.
        """
        if asked.ok is None:
            self._chosen = chosen
            self._checks = self.to_check(chosen, wrong) if asked.dialect.checks and chosen is not None else iter(())
        elif asked.ok is not self._expected:
            raise ValueError(f"the rule checker said {asked.ok}, where the rules say {self._expected}")
        following = next(self._checks, None)
        if following is not None:
            said, self._expected = following
            return said, True
        kept: Any = self._chosen
        return kept, False


def _free(position: Position) -> list[int]:
    return [cell for cell in range(CELLS) if not position.occupied & BIT[cell]]


# Kinds that play by the rules ----------------------------------------------------------------------------------------


class Diagonal(Speaker):
    """Plays by rote: places on the diagonal, then takes the first turn with which it stays alive two rounds."""

    ROUNDS = 2

    def choose_cell(self, position: Position) -> int:
        """Return the first free cell of the diagonal, from the north-west."""
        free = _free(position)
        return next(cell for cell in range(0, CELLS, SIDE + 1) if cell in free)

    def choose_turn(self, position: Position) -> Turn | None:
        """Return a turn that wins, else the first that survives so many rounds, or one less, or the first at all."""
        legal = list(position.turns())
        for turn in legal:
            if turn.build is None:
                return turn
        after = {turn: position.after(turn) for turn in legal}
        for rounds in range(self.ROUNDS, 0, -1):
            for turn in legal:
                if endures(after[turn], rounds):
                    return turn
        return legal[0] if legal else None


class Random(Speaker):
    """Plays any legal turn, each as likely as the others."""


class Strong(Speaker):
    """Looks ahead as far as a second reaches, four turns as a rule; one seed gives one game."""

    POSITIONS = STRONG_POSITIONS

    @staticmethod
    def late() -> bool:
        """Tell whether to decide at once; whoever runs the player may put a clock in its place."""
        return False

    def choose_cell(self, position: Position) -> int:
        """Return one of the free cells nearest to the middle."""
        free = _free(position)
        best = max(map(middle, free))
        return self.chance.choice([cell for cell in free if middle(cell) == best])

    def choose_turn(self, position: Position) -> Turn | None:
        """Return the turn that the search finds best."""
        if next(position.turns(), None) is None:
            return None
        return Search(position).best(self.POSITIONS, self.chance, self.late).turn


class Quick(Strong):
    """Looks ahead like the strong one, for a thirtieth of the time."""

    POSITIONS = QUICK_POSITIONS


class Checker(Random):
    """Plays any legal turn, and asks the rule checker, where there is one, about it and about an illegal one first."""

    def to_check(self, chosen: T, wrong: T) -> Iterator[tuple[T, bool]]:
        """Yield an illegal decision, then its own."""
        yield wrong, False
        yield chosen, True


# Kinds that misbehave ------------------------------------------------------------------------------------------------


class IllegalPlacement(Random):
    """Places its second worker on a taken cell."""

    def choose_cell(self, position: Position) -> int:
        """Return a free cell for the first worker, then a taken one."""
        taken = position.mine + position.theirs
        return self.chance.choice(taken) if position.mine else super().choose_cell(position)


class IllegalLater(Random):
    """Takes three legal turns; then each one has the right shape and breaks a rule."""

    LEGAL = LATER_TURNS

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self._taken = 0

    def choose_turn(self, position: Position) -> Turn | None:
        """Return a legal turn so many times, then a step or a build that is not allowed, or a win that is none."""
        self._taken += 1
        if self._taken <= self.LEGAL:
            return super().choose_turn(position)
        steps, builds, wins = illegal_turns(position)
        return self.chance.choice(self.chance.choice([kind for kind in (steps, builds, wins) if kind]))


class Illegal(IllegalLater):
    """Breaks a rule with its first turn: a step or a build that is not allowed, or a win that is none."""

    LEGAL = 0


class GivesUp(Random):
    """Takes three legal turns, then gives up; where the protocol has no word for that, it says nothing any more."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self._taken = 0

    def choose_turn(self, position: Position) -> Turn | None:
        """Return a legal turn so many times, then None."""
        self._taken += 1
        return super().choose_turn(position) if self._taken <= LATER_TURNS else None


class CheckFlood(Random):
    """Asks the rule checker, where there is one, about its decision without end, and never tells it."""

    def to_check(self, chosen: T, wrong: T) -> Iterator[tuple[T, bool]]:
        """Yield its own decision for ever."""
        while True:
            yield chosen, True


def illegal_turns(position: Position) -> tuple[list[Turn], list[Turn], list[Turn]]:
    """Return turns that break a rule, all between cells of the board: by the step, by the build, by claiming a win.

    Of the second and the third the step is legal and does not win.
    """
    legal = set(position.turns())
    may_step = {(turn.worker, turn.to): turn.build is None for turn in legal}
    steps, builds, wins = [], [], []
    for worker, source in enumerate(position.mine, 1):
        for to in beside(source):
            wins_there = may_step.get((worker, to))
            if wins_there is None:
                steps += [Turn(worker, to, build) for build in beside(to)]
            elif not wins_there:
                builds += [turn for build in beside(to) if (turn := Turn(worker, to, build)) not in legal]
                wins.append(Turn(worker, to, None))
    return steps, builds, wins


PLAYERS: dict[str, type] = {
    "diagonal": Diagonal,
    "random": Random,
    "quick": Quick,
    "strong": Strong,
    "checker": Checker,
    "illegal": Illegal,
    "illegal-later": IllegalLater,
    "illegal-placement": IllegalPlacement,
    "gives-up": GivesUp,
    "check-flood": CheckFlood,
}
# Each seed gives another game, and mostly a good one; a turn takes about 20 ms.
DEFAULT = "quick"
# Within the rules and at once: who plays the games of `accord check --games`, in turn.
FAIR = ("random", "checker")


# For a person --------------------------------------------------------------------------------------------------------


def choices(question: str, arguments: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> list[tuple[str, Answer]]:
    """Return every legal answer with what it does in words, for a person to choose from.

    ``arguments`` are the question's, by name and in order. Placements come by cell, turns by worker and step. Nothing
    is offered to be checked: what is offered is legal.

    Raises:
        ValueError: no protocol of Santorini asks such a question, or its values do not fit.
    """
    return [(text, answer) for text, answer, _ in _options(question, arguments)]


def cells(question: str, arguments: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> list[tuple[tuple[str, int], ...]]:
    """Return for each of the `choices` what is done at which cells, one after another; nothing if one gives up.

    Raises:
        ValueError: as for ``choices``.
    """
    return [those for _, _, those in _options(question, arguments)]


def _options(
    question: str, arguments: Mapping[str, Any] | Iterable[tuple[str, Any]]
) -> list[tuple[str, Answer, tuple[tuple[str, int], ...]]]:
    asked = read_question(question, list(dict(arguments).values()))
    position = asked.position
    if asked.phase == "place":
        placed = asked.dialect.place
        return [(_at(cell), placed(asked, cell, check=False), (("place", cell),)) for cell in _free(position)]
    if asked.phase == "build":
        here = position.mine[asked.number - 1]
        builds = LISTED[NEAR[here] & position.cells_below(CAPPED) & ~position.occupied]
        turns = [Turn(asked.number, here, build) for build in builds]
        return [
            (_build_text(position, turn), asked.dialect.turn(asked, turn, check=False), _cells(asked, turn))
            for turn in turns
        ]
    words = {}
    for turn in position.turns():
        answer = asked.dialect.turn(asked, turn, check=False)
        text = f"worker {turn.worker} {_step_text(position, asked.source(turn), turn.to)}"
        if turn.build is not None and not asked.dialect.halves:
            text += f", {_build_text(position, turn)}"
        words[text] = answer, _cells(asked, turn)
    given_up = asked.dialect.give_up(asked)
    found = [(text, answer, those) for text, (answer, those) in words.items()]
    return [*found, *([("give up", given_up, ())] if given_up is not None else [])]


def _cells(asked: Any, turn: Turn) -> tuple[tuple[str, int], ...]:
    """Return what a turn does at which cells, as far as it is asked for."""
    if asked.phase == "build":
        assert turn.build is not None
        return (("build on", turn.build),)
    step = (("worker at", asked.source(turn)), ("step to", turn.to))
    return step if turn.build is None or asked.dialect.halves else (*step, ("build on", turn.build))


def _at(cell: int) -> str:
    return "{},{}".format(*place_of(cell))


def _step_text(position: Position, source: int, to: int) -> str:
    how = f"{WORDS[step_between(source, to)]} to {_at(to)}, height {position.heights[to]}"
    return f"{how}: you win" if position.heights[to] == SUMMIT else how


def _build_text(position: Position, turn: Turn) -> str:
    assert turn.build is not None
    where = f"{WORDS[step_between(turn.to, turn.build)]} on {_at(turn.build)}"
    return f"build {where}, then {position.heights[turn.build] + 1}"
