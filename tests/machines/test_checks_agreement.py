"""Conditions of two roles on one message (A344, A345): told with a value where both sides are sure."""

from __future__ import annotations

import pytest

from tests.support.quiz import found

CELLS = """\
protocol: cells
connects: {client: server}
types:
  Few: {int: 0..9}
  Colour: {enum: [red, green, blue]}
messages:
  client: {MOVE: {x: $x X_TYPE, y: $y int}}
  server: {OK: ok, NO: no}
roles:
  server:
    main(client):
      ready:
        within: 1 min
        receive:
          MOVE: TAKEN
        invalid: {drop: client, return: null}
        fault: {return: null}
OTHER  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      deciding:
        ask: move
        receive:
          MOVE: SENT
      told: {receive: {OK: {return: null}, NO: {return: null}}}
"""


def told(sent: str, taken: str, *, x_type: str = "int", other: str = "") -> list[str]:
    state = f"      other: {{within: 1 min, receive: {{MOVE: {other}}}, fault: {{return: null}}}}\n" if other else ""
    text = CELLS.replace("X_TYPE", x_type).replace("SENT", sent).replace("TAKEN", taken).replace("OTHER", state)
    return [f"{problem.code} {problem.text}" for problem in found(text) if problem.code in ("A344", "A345")]


def asks(condition: str) -> str:
    return f'{{if: "{condition}", send: MOVE, then: told}}'


def takes(condition: str) -> str:
    return f'{{if: "{condition}", send: OK, return: null}}'


def test_a_value_that_one_side_lets_through_and_the_other_refuses() -> None:
    assert told(asks("x >= 0 and x <= 9"), takes("x >= 0 and x < 9")) == [
        "A345 client may send MOVE with x as 9, which server.main.ready refuses"
    ]
    assert told(asks("x >= 0 and x < 9"), takes("x >= 0 and x < 9")) == []
    assert told(asks("x >= 0 and x < 9"), takes("x >= 0 and x <= 9")) == [], "the server may take more"


@pytest.mark.parametrize(
    ("sent", "taken", "x_type", "value"),
    [
        ("x in ['red', 'green', 'grey']", "x == 'red' or x == 'green'", "string", 'x as "grey"'),
        ("x != 'red'", "x == 'green'", "Colour", 'x as "blue"'),
        ("x == 1 or x == 3", "x == 1", "int", "x as 3"),
        ("not (x < 0)", "x > 0", "int", "x as 0"),
        ("x >= 0 and y < 3 and x < 3", "x >= 0 and x < 3 and y < 3 and y > -1", "int", "x as 0 and y as -1"),
    ],
)
def test_texts_and_several_fields_are_compared_too(sent: str, taken: str, x_type: str, value: str) -> None:
    (problem,) = told(asks(sent), takes(taken), x_type=x_type)

    assert problem.startswith(f"A345 client may send MOVE with {value}"), problem


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ("{send: MOVE, then: told}", takes("x < 9")),  # the sender leaves it to the server
        (asks("x < 9 and seed > 0"), takes("x < 8")),  # undecided on this side
        (asks("x < 9"), takes("x < 8 or seed > 0")),  # undecided on that side
        (asks("x < 9"), "[{if: x < 8, send: OK, return: null}, {send: NO, then: stay}]"),  # it is answered
        ("{if: x < 9, let: {x: 0}, send: MOVE, then: told}", takes("x < 1")),  # another value is sent
        ("{if: x < 9, send: 'MOVE(0, y)', then: told}", takes("x < 1")),
    ],
)
def test_what_is_not_sure_is_not_told(sent: str, taken: str) -> None:
    assert told(sent, taken) == []


def test_one_place_that_takes_the_value_is_enough() -> None:
    assert told(asks("x <= 9"), takes("x < 9"), other="{if: x == 9, return: null}") == []


def test_a_silent_drop_is_a_refusal() -> None:
    (problem,) = told(asks("x <= 9"), "[{if: x < 9, send: OK, return: null}, {drop: client, return: null}]")

    assert problem.startswith("A345"), problem


def test_what_the_other_side_never_sends_is_all_that_is_taken() -> None:
    assert told(asks("x >= 0 and x <= 9"), takes("x > 100")) == [
        "A344 no MOVE is ever taken in server.main.ready: client sends x as int 0..9, and x > 100 never holds of that",
    ]
    assert told("{send: MOVE, then: told}", takes("x > 100"), x_type="Few")[0].startswith(
        "A344 no MOVE is ever taken in server.main.ready: MOVE takes x as Few"
    )
    assert told("{send: MOVE, then: told}", takes("x > 100")) == []
    assert told("{send: 'MOVE(seed, y)', then: told}", takes("x > 100")) == [], "what a seed is, is not known"
    assert told(asks("x < 9"), "[{if: x > 100, send: OK, return: null}, {send: NO, then: stay}]", other="stay") == []
