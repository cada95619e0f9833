"""What people write who come from other languages is told with the whole expression as it is written here."""

from __future__ import annotations

import random
import time

import pytest

from machines.expressions.habits import as_meant
from machines.expressions.parser import parse
from machines.parser.mending import mended
from machines.problems import Mend, Place, Problems

MEANT = [
    ("1 if x else 2", "if x then 1 else 2"),
    ("a + 1 if x > 1 else b if y else c", "if x > 1 then a + 1 else if y then b else c"),
    ("f((1 if x else 2), 3)", "f((if x then 1 else 2), 3)"),
    ("x > 1 ? 'a ? b : c' : g(2)", "if x > 1 then 'a ? b : c' else g(2)"),
    ("if x then 1 elif y then 2 else 3", "if x then 1 else if y then 2 else 3"),
    ("(m.name for m in all)", "[m.name for m in all]"),
    ("any(m > 1 for m in f(all, 2) if m != 3)", "any([m > 1 for m in f(all, 2) if m != 3])"),
    ("sum(  m for m in all )", "sum([  m for m in all ])"),
    ("a and x not in [1, 2] or b", "a and not (x in [1, 2]) or b"),
    ("x is null and y is not null", "x == null and y != null"),
    ("all[-1].name", "all[len(all) - 1].name"),
    ("f(a.all[1:], all[:n + 1])", "f(tail(a.all, 1), head(all, n + 1))"),
    ("all[1:3]", "tail(head(all, 3), 1)"),
    ("1...5", "1..5"),
    ("$name + ${other} + 'costs $5'", "name + other + 'costs $5'"),
    ("1_000 * x", "1000 * x"),
    ("0 <= x < 9", "0 <= x and x < 9"),
    ("a and 0 <= x < 9", "a and 0 <= x and x < 9"),
    ("x + if a then 1 else 2", "x + (if a then 1 else 2)"),
    ("x == not a", "x == (not a)"),
]
NOBODY_CAN_TELL = [
    "{a: i for i in x}",
    "[m for m, n in x]",
    "x ? 1",
    "1 if x",
    "x[::2]",
    "x[-2:]",
    "f(x=1)",
    'f"{x}"',
    "x += 1",
    "(1 if x else 2",
    "x ? 1 : 2 : 3",
    "lambda x: x",
]


def offered(text: str) -> str | None:
    """Return what the first problem of a text offers in its place; None if it has none to offer."""
    problems = Problems()
    assert parse(text, Place("f", 1, 1), problems) is None
    meant, done = mended(text, list(problems)[:1])
    return meant if done else None


@pytest.mark.parametrize(("written", "meant"), MEANT, ids=[written for written, _ in MEANT])
def test_a_habit_is_told_as_it_is_written_here(written: str, meant: str) -> None:
    assert offered(written) == meant
    problems = Problems()
    assert parse(meant, Place("f", 1, 1), problems) is not None, list(problems)


@pytest.mark.parametrize("written", NOBODY_CAN_TELL)
def test_what_can_be_meant_in_several_ways_is_told_without_an_offer(written: str) -> None:
    assert offered(written) is None


def test_what_is_offered_can_be_read_whatever_the_words() -> None:
    draw = random.Random(19)
    pieces = [written for written, _ in MEANT] + NOBODY_CAN_TELL + ["x", "1", "(", ")", "[", "if", "else", ":", "not"]
    offers = 0
    for _ in range(500):
        text = draw.choice((" + ", " and ", " ", ", ")).join(draw.choices(pieces, k=draw.randint(1, 4)))
        problems = Problems()
        if parse(text, Place("f", 1, 1), problems) is None:
            found = (mend for problem in problems for mend in problem.mends)
            whole = [mend for mend in found if isinstance(mend, Mend) and mend.old == text]
            offers += len(whole)
            for mend in whole:
                assert parse(mend.new, Place("f", 1, 1), Problems()) is not None, (text, mend)
    assert offers > 40


@pytest.mark.parametrize("piece", ["(", "a not in ", "x if y else ", "x[1:]", "is ", "? : ", "[", "a for a in ("])
def test_a_long_text_costs_little(piece: str) -> None:
    text = (piece * 1_000)[:1_000]
    begin = time.thread_time()
    as_meant(text)
    assert time.thread_time() - begin < 0.1
