"""Lists made of others, as the exploration knows them: item by item where it can, and never with fewer peers."""

from __future__ import annotations

from typing import Any

import pytest

from machines.expressions.parser import parse
from machines.problems import Place, Problems
from machines.verification.abstract.domain import (
    FALSE,
    TRUE,
    AbstractError,
    ChoiceSequence,
    Fields,
    PeerRef,
    Unknown,
)
from machines.verification.abstract.evaluator import AbstractEvaluator
from machines.verification.verdict import PROVED
from machines.verification.verify import verify
from tests.support.session_harness import spec_of

ANN, BOB, CAT = map(PeerRef, range(3))
NAMES: dict[str, Any] = {
    "peers": (ANN, BOB, CAT),
    "some": Unknown(("call", "deal", 7), (0, 2)),
    "word": Unknown(("call", "word", 8)),
    "pair": (1, 2),
    "nothing": None,
}


def value_of(text: str, evaluator: AbstractEvaluator | None = None) -> Any:
    """Return what an expression is worth; bob is gone, ann is not, of cat nobody knows."""
    gone = {0: FALSE, 1: TRUE, 2: Unknown(("gone", CAT))}
    evaluator = evaluator or AbstractEvaluator(ChoiceSequence(), {}, gone.__getitem__)
    expression = parse(text, Place("test.yaml", 1, 1), Problems())
    assert expression is not None
    value = evaluator.value(expression, NAMES.__getitem__)
    assert evaluator.oracle.answers == []  # no condition is asked: n items would have 2 to the n ways
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[p for p in peers]", (ANN, BOB, CAT)),
        ("[n + 1 for n in pair if n > 1]", (3,)),
        ("[{who: p, n: 1} for p in [peers[0]]]", (Fields((("who", ANN), ("n", 1))),)),
        ("[p for p in [peers[0], peers[1]] if gone(p)]", (BOB,)),
        ("[n for n in 1..3]", (1, 2, 3)),
        ("[[n * m for m in pair] for n in pair]", ((1, 2), (2, 4))),
        ("len([p.name for p in peers])", 3),
        ("[n for n in pair if false]", ()),
    ],
)
def test_what_is_known_is_worked_out(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "seats"),
    [
        ("[p for p in peers if gone(p)]", (0, 1, 2)),
        ("[p for p in some]", (0, 2)),
        ("[[p, peers[1]] for p in some]", (0, 2, 1)),
        ("[1 for p in peers if gone(p)]", ()),
        ("[f(p) for p in some]", (0, 2)),
        ("[p for p in word]", ()),
        ("[n for n in 1..1000]", ()),
    ],
)
def test_what_is_not_known_holds_the_peers_that_its_values_may_hold(text: str, seats: tuple[int, ...]) -> None:
    value = value_of(text)

    assert isinstance(value, Unknown)
    assert value.peers == seats


def test_the_same_list_of_the_same_is_the_same_and_another_may_be_another() -> None:
    assert value_of("[p for p in some] == [p for p in some]") is TRUE
    assert isinstance(value_of("[p for p in some] == [p for p in word]"), Unknown)
    assert isinstance(value_of("[p for p in some] == [p for p in some if gone(p)]"), Unknown)


def test_a_value_that_an_item_surely_has_not_breaks_and_one_that_it_may_not_need_does_not() -> None:
    with pytest.raises(AbstractError):
        value_of("[n + nothing for n in pair]")
    with pytest.raises(AbstractError):
        value_of("[n for n in nothing]")
    assert isinstance(value_of("[n + nothing for n in pair if f(n)]"), Unknown)
    assert isinstance(value_of("[n + nothing for n in word]"), Unknown)


TABLES = """protocol: tables
connects: {guest: host}
types: {Row: {name: string, seat: int}, Rows: [Row, ...]}
messages:
  guest: {HELLO: {hello: $name string}}
  host: {TABLE: [$rows Rows]}
roles:
  host:
    main:
      door: {accept: come(peer), as: guests, seats: 1..3, within: 5 s, timeout: {return: null}, then: told}
      told:
        send: {guests: TABLE([{name: one.name, seat: one.number} for one in guests])}
        return: [one.name for one in guests if not gone(one)]
    come(peer):
      named: {await: peer, within: 5 s, receive: {HELLO: {return: {name: name}}}}
  guest:
    main:
      always: {within: 10 s}
      come: {send: HELLO(my.name), then: waiting}
      waiting: {receive: {TABLE: {return: [row.name for row in rows if row.seat > 0]}}}
"""


def test_a_spec_that_makes_lists_is_proved() -> None:
    found = verify(spec_of(TABLES))

    assert (found.state, found.findings) == (PROVED, ())
