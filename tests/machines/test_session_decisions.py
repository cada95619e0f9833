"""Decisions: a question to the player, what its answer is judged by, and what becomes of one that is overtaken."""

from __future__ import annotations

from typing import Any

import pytest

from machines.effects import Ask, Cancel
from tests.support.session_harness import Run
from tests.support.sketch import client, failure, move, said, text_of, value

THINK = """
main:
  always:
    receive:
      BYE: {return: "'over'"}
      SAID: stay
  start: {let: {n: 7}, then: play}
  play:
    ask: which(n, my.name, n + 1)
    within: reply
    receive:
      MOVE: {if: acts.odd(move), send: MOVE, then: play}
      NUMBER: {limit: 1, send: NUMBER, then: stay}
      QUIT: {send: QUIT, return: "'quit'"}
      PONG: again
    timeout: {return: "'late'"}
    invalid: {let: {why: reason}, then: bad}
  bad: {return: why}
"""


def thinking() -> Run:
    return client(THINK)


# -- the question ----------------------------------------------------------------------------------------------------


def test_a_question_carries_its_arguments_by_name_the_messages_that_answer_and_its_time() -> None:
    run = thinking()

    assert run.questions == [Ask(1, "which", (("n", 7), ("1", "ann"), ("2", 8)), ("MOVE", "NUMBER", "QUIT"), 5.0)]


def test_the_time_of_a_question_ends_with_the_innermost_limit_around_it() -> None:
    run = client("""
    main:
      always: {within: long}
      play: {run: turn, within: brief, timeout: {return: "'late'"}, then: play}
    turn:
      first: {ask: which, within: never, receive: {MOVE: {send: MOVE, then: second}}}
      second: {ask: again, within: never, receive: {MOVE: {return: null}}}
    """)
    assert run.questions[0].seconds == 2.0

    run.wait(0.5)
    run.answer(("MOVE", {"move": 1}))
    assert run.questions[0].seconds == 1.5
    run.wait(1.5)

    assert value(run) == "late"


def test_a_question_with_no_limit_anywhere_has_no_time() -> None:
    run = client("main: {play: {ask: which, within: never, receive: {MOVE: {return: move}}}}")

    assert run.questions[0].seconds is None


# -- the answer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [("MOVE", {"move": 3}), {"move": 3}, ("MOVE", {"move": 3.0}), {"move": 3.0}])
def test_an_answer_is_a_message_with_its_fields_by_name_or_its_body(answer: Any) -> None:
    run = thinking()

    run.answer(answer)

    assert run.heard(0) == [move(3)]
    assert len(run.questions) == 1  # the state was entered afresh, and asks again


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (("MOVE", {"move": 2}), "illegal"),
        (("MOVE", {}), "malformed"),
        (("MOVE", {"move": "far"}), "malformed"),
        (("MOVE", {"move": True}), "malformed"),
        (("PONG", {}), "malformed"),
        (("PING", {}), "malformed"),
        ({"shove": 1}, "malformed"),
        (None, "malformed"),
        ("pong", "malformed"),
        ((1, 2, 3), "malformed"),
        (("MOVE", None), "malformed"),
        (("MOVE", [3]), "malformed"),
        (object(), "malformed"),
        (float("nan"), "malformed"),
    ],
)
def test_an_answer_that_does_not_do_is_invalid_like_a_peers_message(answer: Any, reason: str) -> None:
    run = thinking()

    run.answer(answer)

    assert run.all_sent == []
    assert value(run) == reason


def test_fields_that_the_message_does_not_have_are_not_an_answer() -> None:
    run = thinking()

    run.answer(("MOVE", {"move": 3, "mvoe": 4}))

    assert value(run) == "malformed"
    assert any("mvoe" in note for note in run.notes)


def test_a_field_whose_key_may_be_missing_may_be_left_out_of_an_answer() -> None:
    run = Run(
        text_of(client="main: {play: {ask: which, within: reply, receive: {ASIDE: {send: ASIDE, return: [x, loud]}}}}")
        .replace("PING: ping", 'ASIDE: {x: $x int, loud: $loud bool = false}'),
        "client",
    )  # fmt: skip

    run.answer(("ASIDE", {"x": 3}))

    assert value(run) == (3, False)


def test_a_body_that_looks_like_a_name_with_fields_is_read_as_a_body_if_it_is_no_such_answer() -> None:
    text = text_of(client="main: {play: {ask: which, within: reply, receive: {ASIDE: {return: x}}}}").replace(
        "PING: ping", "ASIDE: [ASIDE, {key: $x int}]"
    )
    by_name, by_body = Run(text, "client"), Run(text, "client")

    by_name.answer(["ASIDE", {"x": 3}])
    by_body.answer(["ASIDE", {"key": 4}])

    assert value(by_name) == 3
    assert value(by_body) == 4


def test_an_answer_over_its_limit_is_invalid_too() -> None:
    run = thinking()

    run.answer(("NUMBER", {"number": 1}))
    run.answer(2)

    assert run.heard(0) == [1]
    assert value(run) == "limit"


def test_a_player_that_fails_has_given_no_answer() -> None:
    run = thinking()

    run._carry(run.session.answer_failed(1, "its program ended", run.now))

    assert value(run) == "malformed"
    assert any("its program ended" in note for note in run.notes)


def test_an_invalid_answer_that_nobody_answers_ends_the_session_and_says_why() -> None:
    run = client("main: {play: {ask: which, within: reply, receive: {MOVE: {if: move > 5, return: move}}}}")

    run.answer(move(1))

    assert "the player's MOVE is illegal" in failure(run)


def test_stay_after_an_answer_asks_again_on_the_same_clock() -> None:
    run = thinking()

    run.wait(2.0)
    run.answer(("NUMBER", {"number": 1}))
    assert [ask.number for ask in run.questions] == [2]
    assert run.questions[0].seconds == 3.0
    run.wait(3.0)

    assert value(run) == "late"


# -- overtaken -------------------------------------------------------------------------------------------------------


def test_a_message_overtakes_the_decision_and_its_question_is_cancelled() -> None:
    run = thinking()

    run.say(0, said(1), "bye")

    assert run.cancelled == [1]
    assert value(run) == "over"


def test_a_message_that_stays_leaves_the_question_open() -> None:
    run = thinking()

    run.say(0, said(1), "pong")  # the second by `again`, which starts the clock afresh

    assert run.cancelled == []
    assert [ask.number for ask in run.questions] == [1]
    run.answer(("QUIT", {}))
    assert value(run) == "quit"


def test_a_question_whose_time_is_over_is_cancelled_and_its_late_answer_noted() -> None:
    run = client("""
    main:
      play: {ask: which, within: brief, receive: {MOVE: {return: move}}, timeout: next}
      next: {within: reply, receive: {PONG: {return: "'next'"}}}
    """)

    run.wait(2.0)
    assert run.cancelled == [1]
    run._carry(run.session.answer(1, move(1), run.now))
    assert any("question 1 comes too late" in note for note in run.notes)
    run.say(0, "pong")

    assert value(run) == "next"


def test_a_question_is_answered_once() -> None:
    run = thinking()
    run.answer(("NUMBER", {"number": 1}))

    run._carry(run.session.answer(1, move(3), run.now))

    assert run.all_sent == [(0, "NUMBER")]
    assert any("question 1 comes too late" in note for note in run.notes)


def test_a_message_that_the_thinking_state_does_not_list_waits_until_somebody_hears_it() -> None:
    run = client("""
    main:
      play: {ask: which, within: reply, receive: {MOVE: {send: MOVE, then: next}}}
      next: {within: reply, receive: {PONG: {return: "'pong'"}}}
    """)

    run.say(0, "pong")
    assert run.questions[0].number == 1
    run.answer(move(1))

    assert value(run) == "pong"


def test_the_loss_of_the_server_reaches_a_thinking_client_if_it_listens_for_it() -> None:
    run = client("""
    main:
      always: {closed: {return: "'alone'"}}
      play: {run: turn, within: long, then: play}
    turn:
      think: {ask: which, within: never, receive: {MOVE: {return: null}}}
    """)

    run.lose(0)

    assert value(run) == "alone"
    assert run.cancelled == [1]


def test_a_question_whose_argument_raises_was_never_put() -> None:
    run = client("""
    main:
      play:
        ask: which(acts.boom())
        within: reply
        receive: {MOVE: {return: move}}
        failed: {return: "'failed'"}
    """)

    assert value(run) == "failed"
    assert not any(isinstance(effect, Ask | Cancel) for effect in run.effects)
