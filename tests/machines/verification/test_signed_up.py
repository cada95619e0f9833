"""Fields that a sign-up gave a peer are known later: which kind it is, and that a number it gave is no null."""

from __future__ import annotations

import pytest

from machines.parser.loader import load_text
from machines.verification.abstract.role_info import is_never_null
from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

# One sets a riddle and one guesses; whoever comes first, the host tells them apart by what they said of themselves.
RIDDLE = """
protocol: riddle
connects: {sphinx: host, hero: host}
messages:
  sphinx: {RIDDLE: {riddle: $answer int}}
  hero: {HERE: here, GUESS: {guess: $guess int}}
  host: {GO: go, RIGHT: right, WRONG: wrong}
roles:
  host:
    main:
      door: {accept: sign_up(peer), as: both, seats: 2, within: 1 min, timeout: {return: null}, then: sorted}
      sorted:
        - {if: FIRST, let: {sphinx: "both[0]", hero: "both[1]"}, then: begin}
        - {if: SECOND, let: {sphinx: "both[1]", hero: "both[0]"}, then: begin}
        - {return: null}
      begin:
        send: {hero: GO}
        await: hero
        within: 1 min
        receive:
          GUESS:
            - {if: guess == sphinx.answer, send: {hero: RIGHT, sphinx: RIGHT}, return: null}
            - {send: {hero: WRONG, sphinx: WRONG}, return: null}
        fault: {return: null}
    sign_up(peer):
      named:
        await: peer
        within: 1 min
        receive:
          RIDDLE: {return: {kind: "'sphinx'", answer: answer}}
          HERE: {return: {kind: "'hero'", answer: null}}
  sphinx:
    main:
      always: {within: 10 min, fault: {return: null}}
      begin: {ask: riddle, receive: {RIDDLE: {send: RIDDLE, then: waiting}}}
      waiting: {receive: {RIGHT: {return: null}, WRONG: {return: null}}}
  hero:
    main:
      always: {within: 10 min, fault: {return: null}}
      begin: {send: HERE, then: ready}
      ready: {receive: {GO: guessing}}
      guessing: {ask: guess, within: 30 s, receive: {GUESS: {send: GUESS, then: told}}}
      told: {receive: {RIGHT: {return: null}, WRONG: {return: null}}}
"""
BY_KIND = ("both[0].kind == 'sphinx' and both[1].kind == 'hero'", "both[1].kind == 'sphinx' and both[0].kind == 'hero'")
BY_NULL = ("both[0].answer != null and both[1].answer == null", "both[1].answer != null and both[0].answer == null")


def riddle(first: str, second: str) -> str:
    return RIDDLE.replace("FIRST", f'"{first}"').replace("SECOND", f'"{second}"')


@pytest.mark.parametrize("conditions", [BY_KIND, BY_NULL])
def test_who_is_who_is_known_from_the_sign_up(conditions: tuple[str, str]) -> None:
    assert verdict_of(riddle(*conditions), (1,)).state == PROVED


@pytest.mark.parametrize(
    "conditions",
    [
        BY_KIND[::-1],
        BY_NULL[::-1],
        ("true", "false"),
    ],
)
def test_a_condition_that_takes_one_for_the_other_is_refuted(conditions: tuple[str, str]) -> None:
    verdict = verdict_of(riddle(*conditions), (1,))

    assert verdict.state == REFUTED
    assert {one.code for one in verdict.findings} & {"A500", "A501"}


@pytest.mark.parametrize(("answer", "null"), [("int", False), ("any", True), ("Riddle", False), ("Maybe", True)])
def test_only_a_value_whose_type_has_no_null_is_known_to_be_none(answer: str, null: bool) -> None:
    types = "types: {Riddle: {string: '[a-z]+'}, Maybe: {enum: [yes, null]}}\nmessages:"
    spec = load_text(riddle(*BY_NULL).replace("messages:", types, 1).replace("$answer int", f"$answer {answer}"))

    assert is_never_null(spec.messages["RIDDLE"].fields[0].type, spec) is not null
