"""Which branches can be taken: a bad text and a mended one, and what is said against trying all values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.checks import guards
from machines.model import Expression
from tests.support.quiz import FAULT, LIMIT, RESIGN, TURN, Case, changed, found

LAST = "{return: score}"


def moved(*branches: str) -> tuple[tuple[str, str], ...]:
    return ((TURN, f"MOVE: [{', '.join(branches)}]"),)


GUARDS = [
    Case(
        "a branch behind a sure one",
        "A327",
        bad=((RESIGN, "RESIGN: [{return: score}, {if: score == 0, return: 1}]"),),
        good=((RESIGN, "RESIGN: [{if: score == 0, return: 1}, {return: score}]"),),
        at="{if: score == 0, return: 1}",
    ),
    Case(
        "a branch whose condition a wider one before it has",
        "A327",
        bad=moved("{if: x > 0, return: x}", "{if: x > 9, return: 9}", LAST),
        good=moved("{if: x > 9, return: 9}", "{if: x > 0, return: x}", LAST),
        at="{if: x > 9, return: 9}",
        says="whenever its 'if' holds, one before it is taken",
    ),
    Case(
        "a branch that two before it leave nothing to",
        "A327",
        bad=moved("{if: my.tired, return: x}", "{if: not my.tired, return: 9}", "{if: x == 3, return: 3}"),
        good=moved("{if: my.tired, return: x}", "{if: x == 3, return: 3}", LAST),
        at="{if: x == 3, return: 3}",
    ),
    Case(
        "a condition that contradicts itself",
        "A327",
        bad=moved("{if: x < 3 and x > 5, return: x}", LAST),
        good=moved("{if: x > 3 and x < 5, return: x}", LAST),
        at="x < 3 and x > 5",
        says="its 'if' never holds",
    ),
    Case(
        "a timeout of a wait for ever",
        "A327",
        bad=((LIMIT, "        await: player\n        within: never\n"), (FAULT, f"        timeout: {LAST}\n" + FAULT)),
        good=((LIMIT, "        await: player\n        within: never\n"),),
        at="timeout:",
        says="waits for ever",
    ),
    Case(
        "a point that two branches leave out",
        "A329",
        bad=moved("{if: x < 3, return: x}", "{if: x > 3, return: 9}"),
        good=moved("{if: x < 3, return: x}", "{if: x >= 3, return: 9}"),
        at="MOVE: [",
        says="but not x == 3",
    ),
    Case(
        "a stretch that two branches leave out",
        "A329",
        bad=moved("{if: 3 >= x, return: x}", "{if: x > 5, return: 9}"),
        good=moved("{if: x <= 3 or x > 5, return: x}"),
        at="MOVE: [",
        says="3 < x and x < 5",
    ),
]


@pytest.mark.parametrize("case", GUARDS, ids=lambda case: case.name)
def test_a_fault_is_told_and_a_mended_one_is_not(case: Case) -> None:
    case.judge()


@pytest.mark.parametrize(
    "branches",
    [
        ("{if: x <= 3, return: x}", "{if: x >= 4, return: 9}"),  # no whole number lies between
        ("{if: x < 3, return: x}", "{if: x == 7, return: 9}"),  # the rest is refused on purpose
        ("{limit: 3 per 1 min, if: x > 0, return: x}", "{if: x > 0, return: 9}", LAST),  # the limit is used up some day
        ("{if: my.tired, return: x}", "{if: not my.tired, return: 9}", LAST),  # to be safe
        ("{if: score > x, return: x}", "{if: score < x, return: 9}"),  # two names: nothing is known of them
    ],
)
def test_what_may_be_meant_is_not_told(branches: tuple[str, ...]) -> None:
    assert found(changed(*moved(*branches))) == []


SIGNS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
asked = st.tuples(st.sampled_from(sorted(SIGNS)), st.sampled_from([0, 2, 4]))


@settings(max_examples=60, deadline=None)
@given(st.lists(asked, min_size=1, max_size=3))
def test_a_branch_is_told_if_and_only_if_no_value_takes_it(guards: list[tuple[str, int]]) -> None:
    branches = [f"{{if: x {sign} {number}, return: {at}}}" for at, (sign, number) in enumerate(guards)]
    problems = found(changed(*moved(*branches, LAST)))
    taken = set()
    for x in (-1, 0, 1, 2, 3, 4, 5):
        taken.update([at for at, (sign, number) in enumerate(guards) if SIGNS[sign](x, number)][:1])

    assert [problem.code for problem in problems] == ["A327"] * (len(guards) - len(taken)), guards


def test_branches_that_compare_one_value_with_a_literal_each_are_not_asked_in_every_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0
    holds = guards._holds

    def counting(guard: Expression, case: Mapping[str, guards.Cell]) -> bool:
        nonlocal asked
        asked += 1
        return holds(guard, case)

    monkeypatch.setattr(guards, "_holds", counting)

    def work(count: int) -> int:
        nonlocal asked
        asked = 0
        branches = [f"{{if: x == {number} and my.tired, return: {number}}}" for number in range(count)]
        assert found(changed((TURN, f"MOVE: [{', '.join(branches)}, {{if: x == 3, return: 3}}, {LAST}]"))) == []
        return asked

    assert work(200) < 2.2 * work(100), "the work grows with the branches, not with their square"
    last = "{if: x == 3, return: 3}"
    (problem,) = found(changed((TURN, f"MOVE: [{last}, {{if: x == 4, return: 4}}, {last}, {LAST}]")))
    assert problem.code == "A327"
