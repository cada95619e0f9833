"""What expressions call: a bad text and a mended one for each check."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.support.quiz import (
    RESIGN,
    TURN,
    Case,
    changed,
    found,
)


def scoring() -> ModuleType:
    module = ModuleType("scoring")
    source = "def add(score, x, /, bonus=0): pass\ndef best(*scores): pass\ndef _own(): pass\n"
    exec(compile(source, "scoring", "exec"), vars(module))  # noqa: S102 (a module made for this test)
    return module


WITH_RULES = ("settings:\n", "rules: [scoring]\nsettings:\n")
IN_BLOCK = (
    f"receive: {{{TURN}, {RESIGN}}}",
    "receive:\n          RESIGN: {return: score}\n          MOVE:\n            return: CALL",
)
RULES = [
    Case(
        "a rule that is not there",
        "A401",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.ad(score, x)")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.add(score, x)")),
        at="scoring.ad(",
        says="did you mean 'add'?",
    ),
    Case(
        "a rule that is its module's own affair",
        "A401",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.own()")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.best(score, x, 1, 2)")),
        at="scoring.own()",
    ),
    Case(
        "a rule given too few values",
        "A402",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.add(score)")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.add(score, x, 1)")),
        at="scoring.add(score)",
        says="it is scoring.add(score, x, bonus=0)",
    ),
    Case(
        "a rule given too many values",
        "A402",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "score + scoring.add(1, 2, 3, 4)")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "score + scoring.add(1, 2, 3)")),
        at="scoring.add(1, 2, 3, 4)",
        says="can not take 4 values",
    ),
    Case(
        "a rule of a module that is not named",
        "A403",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "scorin.add(score, x)")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.add(score, x)")),
        at="scorin.add",
        says="did you mean 'scoring'?",
    ),
    Case(
        "a function that is not built in",
        "A404",
        bad=(IN_BLOCK, ("CALL", "size([x])")),
        good=(IN_BLOCK, ("CALL", "len([x])")),
        at="size([x])",
    ),
    Case(
        "a built-in function given too many values",
        "A404",
        bad=(IN_BLOCK, ("CALL", "len(score, x)")),
        good=(IN_BLOCK, ("CALL", "len([score, x])")),
        at="len(score, x)",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", RULES, ids=lambda case: case.name)
def test_a_wrong_call_is_told_and_a_mended_one_is_not(case: Case) -> None:
    case.judge({"scoring": scoring()})


def test_rules_are_not_looked_at_without_their_modules() -> None:
    assert found(changed(WITH_RULES, IN_BLOCK, ("CALL", "scoring.nothing()"))) == []


def test_a_module_of_rules_may_not_hide_a_setting_nor_a_role() -> None:
    text = changed(("settings:\n", "rules: [reply, server]\nsettings:\n"))

    assert [(problem.code, problem.place.line) for problem in found(text)] == [("A311", 5), ("A311", 7)]
