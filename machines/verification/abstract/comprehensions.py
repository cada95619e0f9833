"""``[value for item in list if condition]`` over abstract values: item by item where all is known, else *some* list.

No condition is asked of the oracle: a list of n items would have 2 to the n ways. Where one is open, so is the list; it
holds no peers but those that its values might hold.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from machines.expressions.unparse import names, show
from machines.model import Comprehension, Expression
from machines.verification.abstract.domain import (
    FALSE,
    NUMBER_MAX,
    TRUE,
    AbstractError,
    Infeasible,
    OtherThan,
    Range,
    Unknown,
    Value,
    bounded,
    marks_in,
    seats_in,
)

Look = Callable[[str], Value]


class Evaluator(Protocol):
    """What works out the parts of an expression."""

    def value(self, expression: Expression, look: Look) -> Value:
        """Return the value of an expression. Raises AbstractError if it has none, whatever the data."""

    def known(self, value: Value) -> Value:
        """Return a value with what has become known of it."""

    def term(self, value: Value) -> Any:
        """Return what stands for a value within a term."""


def made_list(evaluator: Evaluator, made: Comprehension, look: Look) -> Value:
    """Return the list that is made of another.

    Raises AbstractError if ``over`` is no list, or a value of an item that is surely in it has none.
    """
    over = evaluator.value(made.over, look)
    if type(over) is Range and len(over) <= NUMBER_MAX:
        over = tuple(over)
    if type(over) is not tuple:
        if type(over) not in (Unknown, OtherThan, Range):
            raise AbstractError("'for' goes through a list or a range")
        return _some_list(
            evaluator, made, look, (Unknown(("item", evaluator.term(over)), seats_in(over), marks_in(over)),)
        )
    found = []
    for item in over:
        of_item = _with(look, made.item, item)
        holds = TRUE if made.condition is None else evaluator.value(made.condition, of_item)
        if holds is TRUE:
            found.append(evaluator.value(made.value, of_item))
        elif holds is not FALSE:
            return _some_list(evaluator, made, look, over)
    return bounded(tuple(found))


def _some_list(evaluator: Evaluator, made: Comprehension, look: Look, items: tuple[Value, ...]) -> Value:
    """Return a list of which is known what it is made of: the same of the same is the same."""
    within = []
    for item in items:
        with suppress(AbstractError, Infeasible):  # the item need not be there, or its condition may not hold
            within.append(evaluator.value(made.value, _with(look, made.item, item)))
    read = [look(name) for name in dict.fromkeys(name.name for name in names(made))]
    term = ("call", "for", show(made), *(evaluator.term(evaluator.known(value)) for value in read))
    return evaluator.known(Unknown(term, seats_in(*within), marks_in(*within)))


def _with(look: Look, item: str, value: Value) -> Look:
    return lambda name: value if name == item else look(name)
