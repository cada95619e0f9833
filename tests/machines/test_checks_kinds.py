"""Kinds of settings, literals and fields where they are used: a bad text and a mended one for each check."""

from __future__ import annotations

import pytest

from tests.support.quiz import AS, FAULT, LIMIT, MORE, OVER, RESIGN, TURN, Case, changed, found

REPLY = "  reply: 5 s\n"
WORD = (REPLY, "  reply: 5 s\n  word: hello\n")
ROUNDS = "        run: turn(player, score)\n"


def moved(guard: str) -> tuple[tuple[str, str], ...]:
    return ((TURN, f"MOVE: [{{if: {guard}, return: score}}, {{return: x}}]"),)


def bad_guard(name: str, bad: str, good: str, says: str, code: str = "A340") -> Case:
    return Case(name, code, bad=moved(bad), good=moved(good), at="MOVE:", says=says)


KINDS = [
    Case(
        "a limit that is a text",
        "A340",
        bad=(
            (REPLY, "  reply: '5 sek'\n"),
            ("        await: peer\n        within: reply", "        await: peer\n        within: 5 s"),
        ),
        good=((REPLY, "  reply: 5 s\n"),),
        at="within: reply",
        says="'within' takes a duration, and reply is a text",
    ),
    Case(
        "a limit that is a range",
        "A340",
        bad=((REPLY, "  reply: 5 s\n  few: 1..2\n"), ("within: never", "within: few")),
        good=((REPLY, "  reply: 5 s\n  few: 12\n"), ("within: never", "within: few")),
        at="within: few",
        says="few is a range",
    ),
    Case(
        "a moment that is a text",
        "A340",
        bad=(WORD, (FAULT, "        after: {word: {send: ASK, then: stay}}\n" + FAULT)),
        good=(WORD, (FAULT, "        after: {2 s: {send: NEWS(word), then: stay}}\n" + FAULT)),
        at="after:",
        says="'after' takes a duration",
    ),
    Case(
        "a beat that is true",
        "A340",
        bad=((FAULT, "        every: {true: {send: ASK, then: stay}}\n" + FAULT),),
        good=((FAULT, "        every: {2: {send: ASK, then: stay}}\n" + FAULT),),
        at="every:",
    ),
    Case(
        "a time to linger that is a rate",
        "A340",
        bad=(
            (REPLY, "  reply: 5 s\n  often: 1 per 1 s\n"),
            ("        seats: 2\n", "        seats: 1..2\n        linger: often\n"),
        ),
        good=(
            (REPLY, "  reply: 5 s\n  often: 1 s\n"),
            ("        seats: 2\n", "        seats: 1..2\n        linger: often\n"),
        ),
        at="linger:",
    ),
    Case(
        "seats that are a duration",
        "A340",
        bad=(("seats: 2", "seats: window"),),
        good=(("seats: 2", "seats: 2..3"),),
        at="seats:",
        says="window is a duration",
    ),
    Case(
        "side by side by a text",
        "A340",
        bad=(("score)\n        as: score", "0)\n        parallel: ('two')\n        as: {score: score + result}"),),
        good=(
            ("score)\n        as: score", "0)\n        parallel: len(players)\n        as: {score: score + result}"),
        ),
        at="parallel:",
    ),
    Case(
        "a loop over a number",
        "A340",
        bad=(
            (OVER, "      a: {each: n in window, let: {m: n}, then: over}\n" + OVER),
            ("        then: over\n", "        then: a\n"),
            (AS, ""),
        ),
        good=(
            (OVER, "      a: {each: n in 1..3, let: {m: n}, then: over}\n" + OVER),
            ("        then: over\n", "        then: a\n"),
            (AS, ""),
        ),
        at="a: {each",
    ),
    Case(
        "a wait on a duration",
        "A340",
        bad=((LIMIT, "        await: reply\n        within: reply\n"),),
        good=((LIMIT, LIMIT),),
        at="await: reply",
    ),
    Case(
        "a send to a text",
        "A340",
        bad=(WORD, ("NEWS('bye')]}\n", "NEWS('bye')]}\n        drop: word\n")),
        good=(WORD, ("NEWS('bye')]}\n", "NEWS(word)]}\n        drop: players\n")),
        at="drop: word",
    ),
    Case(
        "a text for a number",
        "A340",
        bad=(("send: MOVE(1)", "send: MOVE('one')"),),
        good=(("send: MOVE(1)", "send: MOVE(my.number)"),),
        at="MOVE('one')",
        says="the field 'x' of MOVE takes a whole number, and 'one' is a text",
    ),
    bad_guard("a number as a condition", "x", "x > 0", "'if' takes true or false, and x is a whole number"),
    bad_guard("a duration as a condition", "reply", "x > reply", "reply is a duration"),
    bad_guard("a number that chooses", "(if x then 1 else 2) == 1", "(if x > 1 then 1 else 2) == 1", "'if' takes true"),
    bad_guard(
        "a choice of texts", "(if x > 1 then 'a' else 'b') - 1 > 0", "(if x > 1 then 1 else 2) > x", "two numbers"
    ),
    bad_guard("a part of a text", "head('text', x) + 1 > 2", "head('text', 2) > 'a'", "'+' takes two", "A341"),
    bad_guard("a number beside 'and'", "x and x > 1", "x > 0 and x > 1", "'and' takes true or false"),
    bad_guard("a number behind 'or'", "x > 1 or 7", "x > 1 or x < 7", "'or' takes true or false"),
    bad_guard("a number that is not", "not x", "not (x == 0)", "'not' takes true or false"),
    bad_guard("an element of a number", "3 in x", "x in 1..3", "'in' asks a list"),
    bad_guard("a difference of texts", "x - 'a' > 0", "x - 1 > 0", "'-' takes two numbers"),
    bad_guard("a number that is a text", "x == 'one'", "x == 1", "x is a whole number, 'one' is a text", "A341"),
    bad_guard("a number unlike a text", "x != 'one'", "x != 1", "this is always true", "A341"),
    bad_guard("an order across kinds", "x < 'one'", "x < 1", "'<' takes two numbers or two texts", "A341"),
    bad_guard("a sum across kinds", "x + 'one' == 2", "x + 1 == 2", "'+' takes two numbers", "A341"),
    Case(
        "the end of a loop that is a number",
        "A340",
        bad=((AS, "        as: score\n        until: len(players)\n"),),
        good=((AS, "        as: score\n        until: len(players) == score\n"),),
        at="until:",
    ),
]


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case.name)
def test_a_fault_is_told_and_a_mended_one_is_not(case: Case) -> None:
    case.judge()


MORE_OR_LESS = "      more: [{if: y, return: 1}, {return: 0}]\n"
RIGHT = {
    "a field that may be a boolean": (
        ("$x int", "$x Maybe"),
        ("types:\n", "types:\n  Maybe: bool | null\n"),
        (TURN, "MOVE: [{if: x, return: score}, {return: 1}]"),
        ("MOVE(1)", "MOVE(null)"),
    ),
    "null may always be asked for": moved("x == null"),
    "a parameter is unknown": moved("score"),
    "a field of any type": (("$x int", "$x any"), *moved("x and x == 'a'")),
    "a name that is bound to two kinds": (
        (TURN, "MOVE: {let: {y: x}, then: more}"),
        (RESIGN, "RESIGN: {let: {y: true}, then: more}"),
        (FAULT, FAULT + MORE_OR_LESS),
    ),
    "a whole setting where a number is sent": ((REPLY, "  reply: 5 s\n  n: 1.0\n"), ("MOVE(1)", "MOVE(n)")),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_may_be_right_is_not_told(name: str) -> None:
    assert [str(p) for p in found(changed(*RIGHT[name]))] == []


# -- layers that name whom they answer for (A326) -------------------------------------------------------------------

TWO = (
    ("        each: player in players\n" + ROUNDS + AS, "        run: both(players[0], players[1], score)\n" + AS),
    (
        MORE,
        """\
    both(first, second, score):
      always: {await: first, fault: over}
      one:
        run: turn(second, score)
        return: score
      over: {return: score}
"""
        + MORE,
    ),
    (FAULT, ""),
)


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("await: first", "await: first", ["A326"]),
        ("await: first", "await: second", []),
        ("await: first, fault", "fault", []),
        ("{await: first, fault: over}", '{await: "[first, second]", fault: over}'.replace('"', "'"), []),
        ("run: turn(second", "run: turn(first", []),
        ("both(first, second, score):", "both(first, second, score):", ["A326"]),
        ("players[1], score)", "score, score)", []),  # nobody can tell
        ("both(players[0],", "both(players,", []),  # a group
    ],
)
def test_a_layer_that_names_another_peer_is_no_answer(old: str, new: str, codes: list[str]) -> None:
    text = changed(*TWO)
    assert old in text
    assert [problem.code for problem in found(text.replace(old, new))] == codes
