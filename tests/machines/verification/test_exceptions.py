"""A message that may be written as another, its exception: what is proved of the two rests on nobody doing so."""

from __future__ import annotations

import pytest

from machines.parser.loader import load, load_text
from machines.verification.resting_on import EXCEPTIONS_TOLD, NOT_ALL, exceptions_of
from tests.machines.verification.bench import verdict_of

ANSWERED = """\
protocol: p
connects: {client: server}
types: {Word: {string: "[a-z]{1,8}"}}
messages:
  client: {ASK: {ask: $q string}}
  server: {FOUND: {say: $w Word}, NO: %s}
roles:
  server:
    main(peer):
      w:
        within: 5 s
        receive:
          ASK: [{if: q == 'x', send: FOUND('abc'), return: null}, {send: NO(q), return: null}]
        fault: {return: null}
  client:
    main:
      s: {ask: q, within: 5 s, receive: {ASK: {send: ASK, then: w}}}
      w: {within: 10 s, receive: {%s: {return: 1}, %s: {return: 2}}, fault: {return: 0}}
"""


def test_a_text_that_may_be_a_word_is_told_of_where_the_word_is_read_first() -> None:
    spec = load_text(ANSWERED % ("{say: $t string}", "FOUND", "NO"))

    assert list(exceptions_of(spec)) == ['NO like {"say": "a"} is FOUND']
    told = [line for line in verdict_of(spec).rests_on if "exception" in line]
    assert told == ['nobody writes a message so that it is read as its exception: NO like {"say": "a"} is FOUND']


@pytest.mark.parametrize("no", ["{no: $t string}", "[$t string]"])
def test_messages_that_are_never_alike_have_none(no: str) -> None:
    assert list(exceptions_of(load_text(ANSWERED % (no, "FOUND", "NO")))) == []


def test_of_the_shipped_specs_those_with_words_and_a_rest_have_some_and_a_few_are_told() -> None:
    assert list(exceptions_of(load("tsuro"))) == []
    assert len(list(exceptions_of(load("smtp")))) > EXCEPTIONS_TOLD


def test_a_state_with_very_many_messages_costs_bounded_time_and_says_so() -> None:
    names = [f"M{number}" for number in range(300)]
    text = "protocol: p\nconnects: {a: b}\nmessages:\n  a:\n"
    text += "".join(f"    {name}: {{x: $x string}}\n" for name in names)
    text += (
        "roles:\n  a: {main: {s: {send: M0('a'), return: null}}}\n  b:\n    main(c):\n      w:\n        within: 1 s\n"
    )
    text += "        receive:\n" + "".join(f"          {name}: {{return: null}}\n" for name in names)
    assert list(exceptions_of(load_text(text))) == [NOT_ALL]


def test_a_comparison_that_costs_too_much_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("machines.verification.resting_on.EXCEPTION_STEPS", 3)
    text = ANSWERED % ('"no ${t string}"', "FOUND", "NO")
    assert list(exceptions_of(load_text(text.replace("{say: $w Word}", '"no ${w Word}"')))) == [NOT_ALL]
