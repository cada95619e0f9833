"""Who answers what may come in a waiting state, told as the session does it."""

from __future__ import annotations

import pytest

from machines.checks.event_coverage import Pair, pairs
from machines.parser.loader import load_text
from tests.support.quiz import FAULT, QUIZ, changed

ASKED = """\
      asked:
        ask: move
        within: 1 min
        receive: {MOVE: {send: MOVE, then: playing}, RESIGN: {send: RESIGN, then: playing}}
      playing:
"""


def answers(text: str, state: str) -> dict[str, str]:
    return {
        pair.event: pair.answer
        for pair in pairs(load_text(text))
        if f"{pair.role}.{pair.machine}.{pair.state}" == state
    }


def test_a_state_that_awaits_is_strict_and_a_sign_up_drops_the_peer() -> None:
    assert answers(QUIZ, "server.join.named") == {
        "HELLO": "here",
        "MOVE": "invalid",
        "RESIGN": "invalid",
        ".timeout": "drop",
        ".invalid": "drop",
        ".closed": "drop",
    }


def test_a_client_may_rely_on_the_built_in_end_and_a_wait_for_ever_has_no_timeout() -> None:
    assert answers(QUIZ, "client.main.playing") == {
        "ASK": "here", "NEWS": "here", "OVER": "here", ".invalid": "end", ".closed": "end",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("edit", "answer"),
    [
        ((FAULT, FAULT), "here"),
        ((FAULT, "        timeout: {return: 1}\n        closed: {return: 1}\n"), "end"),
        (("        as: score\n", "        as: score\n        fault: over\n"), "outside"),
        (("    turn(player, score):\n", "    turn(player, score):\n      always: {fault: {return: 1}}\n"), "always"),
        ((FAULT, "        fault: [{if: score > 3, return: 1}]\n"), "end"),
    ],
)
def test_the_nearest_layer_that_surely_answers_is_told(edit: tuple[str, str], answer: str) -> None:
    edits = [edit] if edit[0] == FAULT else [edit, (FAULT, "")]

    assert answers(changed(*edits), "server.turn.asked")[".invalid"] == answer


def test_a_state_that_asks_is_not_strict() -> None:
    text = changed(
        ("ASK:  [{if: my.tired, send: RESIGN, then: stay}, {send: MOVE(1), then: stay}]", "ASK: asked"),
        (
            "      playing:\n",
            ASKED,
        ),
    )

    assert answers(text, "client.main.asked") == {
        "ASK": "early", "NEWS": "early", "OVER": "early", ".timeout": "end", ".invalid": "end", ".closed": "end",
    }  # fmt: skip


def test_every_pair_is_told_once() -> None:
    found = list(pairs(load_text(QUIZ)))

    assert len({(pair.role, pair.machine, pair.state, pair.event) for pair in found}) == len(found) == 6 + 6 + 5
    assert isinstance(found[0], Pair)
