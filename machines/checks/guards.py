"""Checks of which branches can be taken, by a truth table over what their conditions ask.

    A327  a branch that is never taken
    A329  branches that leave a gap between them

All conditions of one choice are asked at the same moment, and expressions are pure, so a part that is written twice has
one value: it is an atom. Comparisons of one expression with literals are one atom too: the numbers on the line cut it
into points and the stretches between them, and any other literal is a value of its own. Of more than CASES_MAX cases
nothing is said.

A condition that has no value (``x < 3`` where x is a text) makes the machine fail, so such a case takes no branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import inf

from machines.analysis.call_graph import is_sure, kind
from machines.analysis.conditions import against_literal
from machines.analysis.traversal import all_choices
from machines.checks.reachability import is_never
from machines.expressions.unparse import show
from machines.model import Binary, Choice, Constant, Expression, Machine, Unary
from machines.problems import Problems

CASES_MAX = 1 << 12  # 12 conditions that are true or false; people write 3

Cell = tuple[str, object, object]  # ("number", low, high), both the same for a point; ("is", a literal, its type)
_OTHER: Cell = ("other", None, None)
_TRUE: Cell = ("is", True, bool)
_FALSE: Cell = ("is", False, bool)


class _NoValueError(Exception):
    """A condition has no value in this case."""


def check_branches(machine: Machine, problems: Problems) -> None:
    """A327: a branch is never taken.

    A329: branches that compare one value with numbers leave a gap between them.
    """
    for event, choice in all_choices(machine):
        for decided in _all_decisions(choice):
            _check(event if decided is choice else ".then", decided, problems)
    for state in machine.states.values():
        timeout = state.answers.timeout
        meant = timeout is not None and timeout not in (state.answers.invalid, state.answers.closed)
        if timeout is not None and meant and kind(state) == "wait" and is_never(state.within):
            text = f"this branch is never taken: the state {state.name!r} waits for ever"
            problems.add(timeout.place, "A327", text, "give it a time limit, or leave 'timeout' out")


def _all_decisions(choice: Choice) -> Iterator[Choice]:
    yield choice
    for branch in choice.branches:
        if isinstance(branch.next, Choice):
            yield from _all_decisions(branch.next)


def _check(event: str, choice: Choice, problems: Problems) -> None:
    sure = next((place for place, branch in enumerate(choice.branches) if is_sure(branch)), None)
    if sure is not None and sure + 1 < len(choice.branches):
        text = f"this branch is never taken: the one in line {choice.branches[sure].place.line} always is"
        problems.add(choice.branches[sure + 1].place, "A327", text, "put it before, or give that one an 'if'")
    guards = [branch.guard for branch in choice.branches[:sure]]
    if not any(guard is not None for guard in guards):
        return
    table = _Table(guard for guard in guards if guard is not None)
    if table.count > CASES_MAX or table.mixed:  # mixed: one value as a condition and compared, which is A340's to tell
        return
    possible = [False] * len(guards)  # its 'if' holds in some case
    taken = [False] * len(guards)  # and no branch before it is taken
    left: list[Mapping[str, Cell]] = []
    worth = _Worth(guards)
    for case in table.cases():
        open_ = True
        for index in worth.asking(case):
            branch = choice.branches[index]
            try:
                holds = branch.guard is None or _holds(branch.guard, case)
            except _NoValueError:
                if open_:  # the machine fails here
                    open_ = False
                    break
                continue
            if holds:
                possible[index] = True
                taken[index] = taken[index] or open_
                open_ = open_ and branch.limit is not None
        if open_:
            left.append(case)
    for index, branch in enumerate(choice.branches[: len(guards)]):
        if not possible[index]:
            text = "this branch is never taken: its 'if' never holds"
            problems.add(branch.place, "A327", text, "change the condition, or leave the branch out")
        elif not taken[index]:
            text = "this branch is never taken: whenever its 'if' holds, one before it is taken"
            problems.add(branch.place, "A327", text, "put it before, or let those before it ask for less")
    no_limits = all(branch.limit is None for branch in choice.branches)
    if event != ".then" and sure is None and len(guards) > 1 and no_limits:
        _check_gap(choice, table, left, problems)


def _check_gap(choice: Choice, table: _Table, left: list[Mapping[str, Cell]], problems: Problems) -> None:
    """A329, where one value is compared with numbers, and what is less and what is more is taken."""
    if len(table.cells) != 1:
        return
    ((asked, cells),) = table.cells.items()
    numbers = [cell for cell in cells if cell[0] == "number"]
    gaps = [case[asked] for case in left if case[asked][0] == "number"]
    if not numbers or numbers[0] in gaps or numbers[-1] in gaps:
        return
    for _, low, high in gaps:
        assert isinstance(low, int | float), "the bounds of numbers are numbers"
        assert isinstance(high, int | float), "the bounds of numbers are numbers"
        if low == high or high - low > 1:  # between 3 and 4 there may be nothing
            shown = f"{asked} == {low}" if low == high else f"{low} < {asked} and {asked} < {high}"
            text = f"these branches take what is less and what is more, but not {shown}"
            problems.add(choice.place, "A329", text, "let one of them take it too, or write one branch with 'or'")
            return


# -- the table -------------------------------------------------------------------------------------------------------


class _Table:
    """Which atoms some conditions ask for, and of each the cells that it can be in."""

    def __init__(self, guards: Iterable[Expression]) -> None:
        literals: dict[str, list[object]] = {}
        self.bare: set[str] = set()  # what is taken for true or false as it stands
        for guard in guards:
            self._collect(guard, literals)
        self.mixed = any(literals[atom] for atom in self.bare)
        self.cells = {atom: _cells(found) for atom, found in literals.items()}
        self.count = 1
        for cells in self.cells.values():
            self.count *= len(cells)

    def _collect(self, guard: Expression, literals: dict[str, list[object]]) -> None:
        match guard:
            case Constant(bool()):
                pass
            case Unary("not", operand):
                self._collect(operand, literals)
            case Binary("and" | "or", left, right):
                self._collect(left, literals)
                self._collect(right, literals)
            case _:
                compared = _compared(guard)
                if compared is None:
                    self.bare.add(show(guard))
                    literals.setdefault(show(guard), [])
                else:
                    literals.setdefault(compared[0], []).append(compared[2])

    def cases(self) -> Iterator[Mapping[str, Cell]]:
        """Yield every case: a cell for each atom."""
        for cells in product(*self.cells.values()):
            yield dict(zip(self.cells, cells, strict=True))


class _Worth:
    """Which branches are worth asking in a case: of those that compare with `==` first, the ones that may hold."""

    def __init__(self, guards: Iterable[Expression | None]) -> None:
        self.equal: dict[str, dict[Cell, list[int]]] = {}
        self.others: list[int] = []
        for index, guard in enumerate(guards):
            first = guard
            while isinstance(first, Binary) and first.operator == "and":
                first = first.left
            compared = _compared(first) if first is not None else None
            if compared is not None and compared[1] == "==":
                self.equal.setdefault(compared[0], {}).setdefault(_cell(compared[2]), []).append(index)
            else:
                self.others.append(index)

    def asking(self, case: Mapping[str, Cell]) -> list[int]:
        """Return the places of these branches, in order."""
        found = [place for atom, cells in self.equal.items() for place in cells.get(case[atom], ())]
        return sorted([*self.others, *found])


def _cell(literal: object) -> Cell:
    """Return the cell that a literal is alone in."""
    number = isinstance(literal, int | float) and not isinstance(literal, bool)
    return ("number", literal, literal) if number else ("is", literal, type(literal))


def _compared(guard: Expression) -> tuple[str, str, object] | None:
    """Return what is compared, how, and with which literal; None for any other condition."""
    asked = against_literal(guard)
    if asked is None:
        return None
    left, operator, literal = asked
    number = isinstance(literal, int | float) and not isinstance(literal, bool)
    if operator not in ("==", "!=") and not number:
        return None  # texts have an order too, and nothing is known of where in it a text stands
    return show(left), operator, literal


def _cells(literals: list[object]) -> list[Cell]:
    if not literals:
        return [_TRUE, _FALSE]
    numbers = sorted({value for value in literals if isinstance(value, int | float) and not isinstance(value, bool)})
    cells: list[Cell] = []
    low: float = -inf
    for number in numbers:
        cells += [("number", low, number), ("number", number, number)]
        low = number
    if numbers:
        cells.append(("number", low, inf))
    others = [value for value in literals if isinstance(value, bool) or not isinstance(value, int | float)]
    cells += dict.fromkeys(("is", value, type(value)) for value in others)
    if any(isinstance(value, bool) for value in others):
        cells = list(dict.fromkeys([*cells, _TRUE, _FALSE]))
    return [*cells, _OTHER]


def _holds(guard: Expression, case: Mapping[str, Cell]) -> bool:
    match guard:
        case Constant(bool() as value):
            return value
        case Unary("not", operand):
            return not _holds(operand, case)
        case Binary("and", left, right):
            return _holds(left, case) and _holds(right, case)
        case Binary("or", left, right):
            return _holds(left, case) or _holds(right, case)
    compared = _compared(guard)
    if compared is None:
        cell = case[show(guard)]
        if cell not in (_TRUE, _FALSE):
            raise _NoValueError
        return cell == _TRUE
    atom, operator, literal = compared
    return _compare(operator, case[atom], literal)


def _compare(operator: str, cell: Cell, literal: object) -> bool:
    word, low, high = cell
    number = isinstance(literal, int | float) and not isinstance(literal, bool)
    if operator in ("==", "!="):
        same = low == high == literal if word == "number" and number else cell == ("is", literal, type(literal))
        return same is (operator == "==")
    if not (word == "number" and number):
        raise _NoValueError
    assert isinstance(low, int | float), "the bounds of numbers are numbers"
    assert isinstance(high, int | float), "the bounds of numbers are numbers"
    assert isinstance(literal, int | float), "asked for above"
    less = high <= literal and low != literal  # all of the stretch lies below, or it is a lesser point
    match operator:
        case "<":
            return less
        case "<=":
            return less or low == high == literal
        case ">":
            return not (less or low == high == literal)
        case _:
            return not less
