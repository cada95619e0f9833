"""A late answer is not taken for the answer to the next question, without being told of."""

from __future__ import annotations

import pytest

from machines.parser.loader import load_text
from machines.verification.abstract.questions import answered
from machines.verification.counterexamples.replay import confirmed
from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

QUIZ = """
protocol: quiz
connects: {pupil: teacher}
messages:
  pupil: {REPLY: {reply: $n int, about: $nr int}, PASS: pass}
  teacher: {PLUS: {plus: $nr int}, OVER: {over: $sum any}}
roles:
  teacher:
    main(pupil):
      begin: {let: {round: 0, sum: 0}, then: next}
      next:
        - {if: round == 2, send: OVER(sum), return: sum}
        - {let: {round: round + 1}, then: asking}
      asking:
        send: PLUS(round)
        within: 2 s
        receive:
          REPLY: {let: {sum: n}, then: next}
        timeout: next
        fault: {return: sum}
  pupil:
    main:
      always: {within: 1 min, closed: {return: null}}
      ready: {receive: {PLUS: thinking, OVER: {return: sum}}}
      thinking: {ask: reply(nr), within: 1 s, receive: {REPLY: {send: "REPLY(n, nr)", then: ready}}}
"""
TAKEN = "REPLY: {let: {sum: n}, then: next}"


def test_the_answer_to_one_question_counts_for_the_next() -> None:
    verdict = verdict_of(QUIZ, (1,))

    assert verdict.state == REFUTED
    (finding,) = verdict.findings
    assert (finding.code, finding.text) == (
        "A509",
        "teacher: REPLY is taken for the answer to a question that its sender had not read, in main.asking",
    )
    assert [(step.kind, step.message) for step in finding.trace if step.who != "pupil"][-2:] == [
        ("rings", ""),
        ("reads", "REPLY"),
    ]
    (real,) = confirmed(verdict, load_text(QUIZ), {}, lambda *_: None).findings
    assert real.confirmed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("timeout: next\n", "timeout: {drop: pupil, return: sum}\n"),
        (TAKEN, "REPLY: [{if: nr == round, let: {sum: n}, then: next}, stay]"),
        (TAKEN, "REPLY: [{if: nr < round, then: stay}, {let: {sum: n}, then: next}]"),
        (TAKEN, "REPLY: next"),  # what it says makes no difference
        ("within: 2 s", "within: never"),
    ],
    ids=["who is late is dropped", "it repeats the number", "an older one is thrown away", "no difference", "no clock"],
)  # fmt: skip
def test_it_does_not_where_that_can_be_told_or_cannot_be(old: str, new: str) -> None:
    assert old in QUIZ
    verdict = verdict_of(QUIZ.replace(old, new), (1,), queue=3)

    assert (verdict.state, verdict.findings) == (PROVED, ())


APART = "REPLY: [{if: nr < round, then: stay}, {let: {sum: n}, then: next}]"
ELSEWHERE = "    main(pupil):\n      always: {receive: {REPLY: {let: {sum: n}, then: next}}}\n"
PASSED = QUIZ.replace(TAKEN, f"{APART}\n          PASS: next").replace(
    "REPLY: {send:", "PASS: {send: PASS, then: ready}, REPLY: {send:"
)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        (QUIZ, True),
        (QUIZ.replace(TAKEN, APART), False),
        (QUIZ.replace(TAKEN, APART).replace("    main(pupil):\n", ELSEWHERE, 1), True),  # not wherever it is listed
        (PASSED, True),
    ],
    ids=["it counts", "told apart", "told apart in one place only", "another answer is not told apart"],
)  # fmt: skip
def test_questions_are_counted_only_where_some_answer_to_them_is_not_told_apart(text: str, counted: bool) -> None:
    assert bool(answered(load_text(text), "teacher")) is counted


def test_a_condition_on_what_the_player_says_tells_nothing_of_the_question() -> None:
    text = QUIZ.replace(TAKEN, "REPLY: [{if: n <= round, let: {sum: n}, then: next}, stay]")

    assert [finding.code for finding in verdict_of(text, (1,)).findings] == ["A509"]


def test_a_name_that_says_something_is_an_answer_too() -> None:
    both = "receive: {REPLY: next, PASS: next}"
    text = QUIZ.replace(f"receive:\n          {TAKEN}", both)
    text = text.replace("then: ready}}}", "then: ready}, PASS: {send: PASS, then: ready}}}")

    assert both in text
    assert {finding.code for finding in verdict_of(text, (1,)).findings} == {"A509"}


def test_a_question_put_again_is_the_same_one_but_its_second_answer_is_none_of_the_next() -> None:
    again = QUIZ.replace("timeout: next\n", "timeout:\n          - {limit: 1, send: PLUS(round), then: again}\n"
                         "          - {drop: pupil, return: sum}\n")  # fmt: skip
    (finding,) = verdict_of(again, (1,)).findings

    assert finding.code == "A509"
    assert [message for step in finding.trace for _, message in step.sent].count("PLUS") == 3
    once = again.replace("round == 2", "round == 1")
    assert verdict_of(once, (1,)).state == PROVED


WINDOW = (
    QUIZ.replace("send: PLUS(round)", "send: [PLUS(round), PLUS(round + 1)]")
    .replace("timeout: next\n", "timeout: {drop: pupil, return: sum}\n")
    .replace(TAKEN, "REPLY: second")
    .replace(
        "  pupil:\n    main",
        "      second: {within: 2 s, receive: {REPLY: {let: {sum: n}, then: next}}}\n  pupil:\n    main",
    )
)


def test_questions_asked_at_once_are_answered_one_after_the_other() -> None:
    assert "second:" in WINDOW
    assert verdict_of(WINDOW, (1,), queue=4).findings == ()


PARTY = """
protocol: party
connects: {guest: host}
messages:
  guest: {HELLO: hello, GUESS: {guess: $n int}}
  host: {RIDDLE: {riddle: $nr int}, BYE: bye}
roles:
  host:
    main:
      door: {accept: sign_up(peer), as: guests, seats: 2, within: 1 min, timeout: {return: null}, then: begin}
      begin: {let: {nr: 0, last: 0}, then: next}
      next:
        - {if: nr == 2, send: {guests: BYE}, return: last}
        - {let: {nr: nr + 1}, then: asking}
      asking:
        send: {guests: RIDDLE(nr)}
        await: guests
        within: 1 min
        receive: {GUESS: {let: {last: n}, then: next}}
        fault: {send: {guests: BYE}, return: null}
    sign_up(peer): {named: {await: peer, within: 5 s, receive: {HELLO: {return: {}}}}}
  guest:
    main:
      always: {within: 5 min, fault: {return: null}, receive: {BYE: {return: null}}}
      begin: {send: HELLO, then: ready}
      ready: {receive: {RIDDLE: guessing}}
      guessing: {ask: guess(nr), receive: {RIDDLE: guessing, GUESS: {send: GUESS, then: ready}}}
"""


def test_who_is_slower_than_another_answers_the_question_before() -> None:
    verdict = verdict_of(PARTY, (2,))

    assert "A509" in [finding.code for finding in verdict.findings]
