"""The language, shown key by key: ``ask``, the questions of a role to its player."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

MESSAGES = """
        messages:
          server: {TURN: [turn, $board Board], MORE: [more, $n int], OVER: over}
          client: {MOVE: [move, $x int, $y int], PASS: pass}
        roles:
          client:
            main:
"""


def client(states: str) -> Run:
    """Start a client whose ``main`` has these states; peer 0 is its server, which says TURN(board), MORE(n), OVER."""
    types = "        types: {Board: [int, ...]}\n"
    return start(types + MESSAGES.lstrip("\n") + states.strip("\n") + "\n", "client")


ASKING = """
              always: {within: never}
              waiting: {receive: {TURN: thinking, OVER: {return: null}}}
              thinking:
                ask: move(board, len(board), 'now')
                within: 4 s
                receive:
                  MOVE: {if: x < 3, send: MOVE, then: waiting}
                  PASS: {send: PASS, then: waiting}
"""


@shows("state.ask", "state.receive")
def test_ask_puts_a_question_whose_answer_is_one_of_the_messages_listed() -> None:
    run = client(ASKING)

    run.say(0, ["turn", [5, 6]])
    (question,) = run.questions
    assert question.question == "move"
    assert question.arguments == (("board", (5, 6)), ("1", 2), ("2", "now"))
    assert question.messages == ("MOVE", "PASS")
    assert question.seconds == 4
    run.answer(("MOVE", {"x": 1, "y": 2}))

    assert run.heard(0) == [["move", 1, 2]]


ANSWERS: list[tuple[Any, Any]] = [
    (("MOVE", {"x": 1, "y": 2}), ["move", 1, 2]),
    (["move", 2, 2], ["move", 2, 2]),
    ("pass", "pass"),
    (("PASS", {}), "pass"),
]


@shows("state.ask")
@pytest.mark.parametrize(("answer", "sent"), ANSWERS)
def test_an_answer_is_a_message_by_its_name_or_by_its_body(answer: Any, sent: Any) -> None:
    # ask
    run = client(ASKING)
    run.say(0, ["turn", []])

    run.answer(answer)

    assert run.heard(0) == [sent]


REFUSED: list[tuple[Any, str]] = [
    (("MOVE", {"x": 3, "y": 2}), "illegal"),
    (("MOVE", {"x": "a", "y": 2}), "malformed"),
    (("MOVE", {"x": 1}), "malformed"),
    (("TURN", {"board": []}), "malformed"),
    (17, "malformed"),
]


@shows("state.ask", "state.invalid", "then.stay")
@pytest.mark.parametrize(("answer", "reason"), REFUSED)
def test_a_refused_answer_is_invalid_and_stay_puts_the_question_again(answer: Any, reason: str) -> None:
    run = client(
        """
              always: {within: never}
              waiting: {receive: {TURN: thinking}}
              thinking:
                ask: move
                within: 4 s
                receive: {MOVE: {if: x < 3, send: MOVE, return: board}}
                invalid:
                  - {limit: 2, then: stay}
                  - {return: reason}
        """
    )
    run.say(0, ["turn", []])

    for _ in range(3):
        run.answer(answer)

    assert run.heard(0) == []
    assert returned(run) == reason


@shows("state.ask")
def test_a_message_may_overtake_a_question_which_is_then_cancelled() -> None:
    run = client(
        """
              always: {within: never}
              waiting: {receive: {TURN: thinking}}
              thinking:
                ask: move(board)
                receive:
                  MOVE: {send: MOVE, then: waiting}
                  MORE: {let: {board: "board + [n]"}, then: thinking}
                  OVER: {return: "'over'"}
        """
    )
    run.say(0, ["turn", [1]])

    run.say(0, ["more", 2])
    assert len(run.cancelled) == 1
    assert [dict(ask.arguments) for ask in run.questions] == [{"board": (1, 2)}]
    run.say(0, "over")

    assert len(run.cancelled) == 2
    assert returned(run) == "over"


@shows("state.ask")
def test_what_an_asking_state_does_not_list_waits_until_somebody_does() -> None:
    run = client(ASKING)
    run.say(0, ["turn", []])

    run.say(0, "over")
    assert run.ended is None
    run.answer("pass")

    assert run.heard(0) == ["pass"]
    assert returned(run) is None


@shows("state.ask", "state.await")
def test_an_asking_state_that_awaits_its_peer_is_strict_with_it() -> None:
    run = client(
        """
              always: {within: never}
              waiting: {receive: {TURN: thinking}}
              thinking:
                ask: move
                await: server
                receive:
                  MOVE: {send: MOVE, then: waiting}
                  OVER: {return: null}
                invalid: {return: reason}
        """
    )
    run.say(0, ["turn", []])

    run.say(0, ["more", 1])

    assert returned(run) == "unexpected"


@shows("state.ask", "state.timeout")
def test_a_question_does_not_outlive_its_time_and_a_late_answer_is_not_used() -> None:
    run = client(
        """
              always: {within: never}
              waiting: {receive: {TURN: thinking, OVER: {return: null}}}
              thinking: {ask: move, within: 4 s, receive: {MOVE: {send: MOVE, then: waiting}}, timeout: waiting}
        """
    )
    run.say(0, ["turn", []])
    number = run.questions[0].number

    run.wait(4)
    assert run.cancelled == [number]
    run._carry(run.session.answer(number, ["move", 1, 1], run.now))

    assert run.heard(0) == []
    assert any("comes too late" in note for note in run.notes)


@shows("send.bare")
def test_a_message_named_without_arguments_takes_its_fields_from_the_names_spelt_like_them() -> None:
    # MOVE: {send: MOVE}
    run = client(
        """
              always: {within: never}
              waiting: {receive: {TURN: thinking}}
              thinking:
                ask: move
                receive:
                  MOVE: {let: {y: x + y}, send: MOVE, return: y}
        """
    )
    run.say(0, ["turn", []])

    run.answer(["move", 1, 2])

    assert run.heard(0) == [["move", 1, 3]]
