"""``say``: what the player answers is sent as it is."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from machines.parser.loader import load_text
from machines.problems import SpecError
from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start, tiny

TALK = """
        settings: {late: late}
        messages:
          server: {TURN: [turn, $n int]}
          client: {MOVE: [move, $x int], PASS: [pass]}
        roles:
          client:
            main:
              waiting: {within: 9 s, receive: {TURN: asked}}
              asked:
                ask: move(n)
                within: 4 s
                SAID
                timeout: {return: late}
              done: {return: n}
"""
SAID = "say: {MOVE: [{if: x > 9, then: waiting}, done], PASS: {return: n}}"
LONG = "receive: {MOVE: {send: MOVE, then: [{if: x > 9, then: waiting}, done]}, PASS: {send: PASS, return: n}}"


def asked(text: str = TALK.replace("SAID", SAID)) -> Run:
    client = start(text, "client")
    client.say(0, ["turn", 5])
    return client


@shows("state.say")
def test_an_answer_is_sent_as_it_is_and_what_is_next_is_decided_behind_it() -> None:
    client = asked()

    client.answer(["move", 12])

    assert client.heard(0) == [["move", 12]]
    client.say(0, ["turn", 6])
    client.answer(["pass"])
    assert client.heard(0) == [["pass"]]
    assert returned(client) == 6


def shape(text: str) -> str:
    """Return what a text says of the client, without places."""
    return re.sub(r"Place\([^)]*\)", "", repr(tiny(text).roles["client"]))


def test_say_means_what_receive_and_send_mean() -> None:
    assert shape(TALK.replace("SAID", SAID)) == shape(TALK.replace("SAID", LONG))
    assert shape(TALK.replace("SAID", SAID)) != shape(TALK.replace("SAID", SAID.replace("x > 9", "x > 8")))


def test_a_variant_receives_what_is_said_below_and_says_what_is_received(tmp_path: Path) -> None:
    below = tiny_text(SAID)
    (tmp_path / "below.yaml").write_text(below)
    states = (
        "roles: {client: {main: {asked: {receive: {MOVE: {then: waiting}}, say: {PASS: done}}, done: {let: {x: 1}}}}}\n"
    )

    spec = load_text(f"extends: below\nprotocol: above\n{states}", "above.yaml", folder=tmp_path)

    receive = spec.roles["client"].machines["main"].states["asked"].answers.receive
    moved, passed = receive["MOVE"].branches[0], receive["PASS"].branches[0]
    assert [type(step).__name__ for step in (*moved.steps, *passed.steps)] == ["SendMessages", "SendMessages"]
    assert [getattr(branch.next, "state", None) for branch in (moved, passed)] == ["waiting", "done"]


@shows("state.receive.A, B")
def test_several_messages_may_have_the_same_branches() -> None:
    one, two = "receive:\n                  MOVE, PASS: done", "receive: {MOVE: done, PASS: done}"

    assert shape(TALK.replace("SAID", one)) == shape(TALK.replace("SAID", two))
    assert shape(TALK.replace("SAID", one.replace("receive", "say"))) == shape(
        TALK.replace("SAID", two.replace("receive", "say"))
    )


WRONG = [
    ("say: [MOVE]", "A112", "'say' is a mapping"),
    ("say: {MOVE: done}\n                receive: {MOVE: waiting}", "A102", "MOVE stands twice"),
    ("receive:\n                  MOVE, MOVE: waiting", "A102", "MOVE stands twice"),
    ("receive:\n                  MOVE, PAS: waiting", "A105", "did you mean 'PASS'"),
    ("say: {MOV: done}", "A105", "did you mean 'MOVE'"),
    ("say: {TURN: done}", "A119", "TURN is sent by server"),
    ("say: {MOVE: don}", "A103", "did you mean 'done'"),
]


def tiny_text(said: str) -> str:
    """Return the whole text of the protocol, with these keys of its question."""
    head = "protocol: below\nwire: {framing: lines}\nconnects: {client: server}\n"
    return head + dedent(TALK.replace("SAID", said)) + "  server: {main: {idle: {within: never}}}\n"


@pytest.mark.parametrize(("said", "code", "text"), WRONG, ids=[text for _, _, text in WRONG])
def test_what_cannot_be_said_is_told(said: str, code: str, text: str) -> None:
    with pytest.raises(SpecError) as told:
        load_text(tiny_text(said))

    assert any(problem.code == code and text in str(problem) for problem in told.value.problems), told.value


def test_say_without_a_question_is_told() -> None:
    with pytest.raises(SpecError, match="client never hears MOVE"):
        load_text(tiny_text(SAID).replace("ask: move(n)", "doc: no question"))
