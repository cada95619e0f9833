"""What the exploration says of a value that an expression cannot have: as people know it, never how it is kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.expressions.parser import parse
from machines.problems import Place, Problems
from machines.values import Range
from machines.verification.abstract.domain import (
    FALSE,
    TRUE,
    UNSET,
    AbstractError,
    ChoiceSequence,
    Fields,
    OtherThan,
    PeerRef,
    Unknown,
)
from machines.verification.abstract.evaluator import AbstractEvaluator, shown
from machines.verification.verify import verify
from tests.support.session_harness import spec_of

KEPT = re.compile(r"Data|Fields|Flag|At\(|Another|Range|term=|peers=|seat|frozenset|<unset>|<.* object")

PLAIN = st.one_of(
    st.sampled_from(
        [None, TRUE, FALSE, UNSET, 3, 0.5, "it's", Range(3, 5), PeerRef(0), Unknown(("call", "tsuro.deal", 7))]
    ),
    st.builds(OtherThan, st.just(("x",))),
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("ab"), inner).map(lambda found: Fields(tuple(found.items()))),
    ),
    max_leaves=5,
)
BREAKING = ["a.b", "a[0]", "a['b']", "not a", "a + b", "a - b", "a < b", "a >= b"]


@given(left=VALUES, right=VALUES, text=st.sampled_from(BREAKING))
def test_no_expression_says_how_its_values_are_kept(left: Any, right: Any, text: str) -> None:
    reckoner = AbstractEvaluator(ChoiceSequence(), {}, lambda seat: FALSE)
    look = {"a": left, "b": right}.__getitem__
    expression = parse(text, Place("test.yaml", 1, 1), Problems())
    assert expression is not None
    told = []
    for ask in (lambda: reckoner.value(expression, look), lambda: reckoner.holds(expression, look),
                lambda: reckoner.peer(left)):  # fmt: skip
        try:
            ask()
        except AbstractError as error:
            told.append(str(error))

    assert [text for text in told if KEPT.search(text)] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Unknown(("field", 3, "x")), "some value"),
        ((PeerRef(2), Unknown(0)), "[a peer, some value]"),
        (Fields((("who", PeerRef(0)), ("n", 3))), "{who: a peer, n: 3}"),
        ("it's", "'it''s'"),
        (None, "null"),
        (TRUE, "true"),
        (Range(3, 5), "3..5"),
    ],
)
def test_a_value_is_shown_as_it_is_written(value: Any, text: str) -> None:
    assert shown(value) == text


FAILING = """protocol: failing
connects: {client: server}
messages:
  client: {HI: {hi: $name string}}
  server: {HELLO: {hello: $name string}}
roles:
  server:
    main(client):
      named:
        await: client
        within: 5 s
        receive:
          HI:
            let:
              record: {given: name, seat: client}
            then: told
        fault: {return: null}
      told: {send: HELLO(name), let: {sum: record + 1}, return: null}
  client:
    main:
      always: {within: 10 s}
      come: {send: HI(my.name), then: waiting}
      waiting: {receive: {HELLO: {return: name}}}
"""


def test_a_session_that_fails_whatever_the_data_is_told_with_what_a_person_knows() -> None:
    findings = {finding.code: finding.text for finding in verify(spec_of(FAILING)).findings}

    assert "'+' of {given: some value, seat: a peer} and 1 has no value" in findings["A506"]
