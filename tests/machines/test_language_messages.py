"""The language, shown key by key: types, bodies and their fields, ``also`` and ``urgent``."""

from __future__ import annotations

from typing import Any

import pytest

from machines.values import Record
from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

BAD = object()  # what comes back for a value that is no such message


def taken(type_: str, value: Any) -> Any:
    """Return what a field of this type, declared as ``T``, holds once a value has come; BAD if the value is refused."""
    client = start(
        f"""
        types:
          T: {type_}
        messages:
          server: {{VALUE: {{value: $value T}}}}
        roles:
          client:
            main:
              listening:
                within: never
                receive: {{VALUE: {{return: value}}}}
                invalid: {{return: [reason]}}
        """,
        "client",
    )
    client.say(0, {"value": value})
    got = returned(client)
    return BAD if got == ("unknown",) else got


# -- types -----------------------------------------------------------------------------------------------------------

TYPES: list[tuple[str, str, list[Any], list[Any]]] = [
    ("type.string", "string", ["", "a b", "12"], [12, None, True]),
    ("type.int", "int", [0, -5, 1.0], [1.5, True, "1"]),
    ("type.number", "number", [0, 1.5], [True, "1"]),
    ("type.bool", "bool", [True, False], [0, 1, "true"]),
    ("type.null", "null", [None], [0, "", False]),
    ("type.any", "any", [None, 1, "a", [1, {"a": 2}]], []),
    ("type.[A, B]", "[int, string]", [[1, "a"]], [[1], [1, "a", 2], ["a", 1], {}]),
    ("type.[A, ...]", "[int, ...]", [[], [1, 2, 3]], [["a"], 1]),
    ("type.[A, ... n]", "[int, ... 2]", [[1, 2]], [[1], [1, 2, 3]]),
    ("type.[A, ... m..n]", "[int, ... 0..2]", [[], [1], [1, 2]], [[1, 2, 3]]),
    ("type.{key: A}", "{x: int, y: int}", [{"x": 1, "y": 2}, {"y": 2, "x": 1}], [{"x": 1}, {"x": 1, "y": 2, "z": 3}]),
    ("type.A | B", "int | null", [1, None], ["a", True]),
    ("type.enum", "{enum: [white, 2, null]}", ["white", 2, None], ["White", "2", 3]),
    ("type.int", "{int: 0..9}", [0, 9, 9.0], [-1, 10, 0.5]),
    ("type.string", '{string: "[a-z]{1,3}"}', ["a", "abc"], ["", "abcd", "A", "a\n"]),
    ("type.int m..n", "int 0..9 | null", [0, 9, None], [-1, 10]),
    ("type.string m..n", "string 1..3", ["a", "a\nb"], ["", "abcd"]),
    ("type.map", "{map: [string, int]}", [{}, {"a": 1, "b": 2}], [{"a": "b"}, []]),
]


@shows("type.string", "type.int", "type.number", "type.bool", "type.null", "type.any", "type.enum", "type.map")
@shows("type.[A, B]", "type.[A, ...]", "type.[A, ... n]", "type.[A, ... m..n]", "type.{key: A}", "type.A | B")
@shows("type.int m..n", "type.string m..n")
@pytest.mark.parametrize(("type_", "good", "bad"), [row[1:] for row in TYPES], ids=[row[1] for row in TYPES])
def test_a_type_takes_what_it_says_and_nothing_else(type_: str, good: list[Any], bad: list[Any]) -> None:
    # string int number bool null any enum map [A, B] [A, ...] [A, ... n] [A, ... m..n] {key: A} A | B
    assert [plain(taken(type_, value)) for value in good] == good
    assert [taken(type_, value) for value in bad] == [BAD] * len(bad)


@shows("type.map")
def test_the_keys_of_a_map_may_have_a_type_of_their_own() -> None:
    # {map: [Colour, int]}
    text = "{map: [Colour, int]}\n          Colour: {enum: [red, blue]}"

    assert plain(taken(text, {"red": 1})) == {"red": 1}
    assert taken(text, {"green": 1}) is BAD


@shows("type.key = default")
def test_a_key_with_a_default_may_be_missing_and_then_reads_as_that() -> None:
    # {x: int, y: int = 0}
    assert taken("{x: int, y: int = 0}", {"x": 1}) == Record(x=1, y=0)
    assert taken("{x: int, y: int = 0}", {"x": 1, "y": 5}) == Record(x=1, y=5)
    assert taken("{x: int, y: int = 0}", {"x": 1, "y": None}) is BAD


@shows("type.loose")
def test_a_loose_enumeration_looks_past_case_and_blanks_and_reads_as_the_word_declared() -> None:
    # loose: true
    text = "{enum: [NorthEast, South], loose: true}"

    assert [taken(text, said) for said in ("NorthEast", "north-east", "NORTH_EAST", "north east", "south")] == [
        *["NorthEast"] * 4,
        "South",
    ]
    assert taken(text, "northeasterly") is BAD


# -- bodies ----------------------------------------------------------------------------------------------------------


@shows("body.$field Type", "messages")
def test_a_body_both_recognises_and_writes_a_message() -> None:
    # each $field Type is a place for a value
    client = start(
        """
        messages:
          server: {ADD: {type: add, content: [$a int, $b int]}}
          client: {SUM: {type: sum, content: $sum int, of: [1, two, null, true]}}
        roles:
          client:
            main:
              listening: {within: never, receive: {ADD: {send: SUM(a + b), then: listening}}, closed: {return: null}}
        """,
        "client",
    )

    client.say(0, {"content": [2, 3], "type": "add"})

    assert client.heard(0) == [{"type": "sum", "content": 5, "of": [1, "two", None, True]}]


@shows("body.$field Type = default")
def test_a_key_of_a_body_with_a_default_may_be_missing() -> None:
    # $to string = all
    client = start(
        """
        messages:
          server: {SAY: {say: $line string, to: $to string = all}}
        roles:
          client:
            main:
              listening: {within: never, receive: {SAY: {return: [line, to]}}, closed: {return: null}}
        """,
        "client",
    )

    client.say(0, {"say": "hi"})

    assert returned(client) == ("hi", "all")


HOLES = [
    ("match 3/12 starting", (3, 12)),
    ("match 03/12 starting", BAD),
    ("match 3/12", BAD),
    ("match three/12 starting", BAD),
]


@shows("body.text ${field Type}")
@pytest.mark.parametrize(("line", "fields"), HOLES, ids=[line for line, _ in HOLES])
def test_a_text_may_have_fields_in_it(line: str, fields: Any) -> None:
    # match ${n int}/${of int} starting
    client = start(
        """
        messages:
          server: {START: "match ${n int}/${of int} starting"}
          client: {STARTED: "started ${n int} of ${of int}"}
        roles:
          client:
            main:
              listening:
                within: never
                receive: {START: {send: STARTED, return: [n, of]}}
                invalid: {return: reason}
        """,
        "client",
    )

    client.say(0, line)

    assert returned(client) == ("unknown" if fields is BAD else fields)
    assert client.heard(0) == ([] if fields is BAD else ["started 3 of 12"])


@shows("body.text ${field Type}")
def test_what_would_be_read_otherwise_is_not_written_into_a_text() -> None:
    # ${name string} ends at the text behind it, so the name may not hold that text, nor a line end
    spec = """
        messages:
          server: {NAME: [$name string]}
          client: {TOLD: "${name string} is here"}
        roles:
          client:
            main:
              listening: {within: never, receive: {NAME: {send: TOLD, then: listening}}, failed: {return: reason}}
    """
    client = start(spec, "client")

    client.say(0, ["ann"])
    assert client.heard(0) == ["ann is here"]
    client.say(0, ["who is here"])

    assert returned(client) == "failed"


@shows("body.$$")
def test_two_dollars_are_one() -> None:
    # costs $$${price int}, and [$$price]
    client = start(
        """
        messages:
          server: {PRICE: "costs $$${price int}"}
          client: {PAID: {$$price: $price int, word: $$price}}
        roles:
          client:
            main:
              listening: {within: never, receive: {PRICE: {send: PAID, return: price}}, closed: {return: null}}
        """,
        "client",
    )

    client.say(0, "costs $12")

    assert client.heard(0) == [{"$price": 12, "word": "$price"}]


@shows("body.null true 12 text")
def test_what_is_no_field_stands_on_the_wire_as_it_is() -> None:
    # null true 12 text: as JSON has them; in quotes it is always a text
    client = start(
        """
        messages:
          client: {ALL: [null, true, 12, 1.5, word, "12", 'null', on, 1:30, {key: [x]}]}
        roles:
          client: {main: {only: {send: ALL, return: null}}}
        """,
        "client",
    )

    assert client.heard(0) == [[None, True, 12, 1.5, "word", "12", "null", "on", "1:30", {"key": ["x"]}]]


@shows("messages.client, ai")
def test_one_message_may_have_several_senders() -> None:
    text = """
        connects: {client: server, ai: server}
        messages:
          client, ai: {HELLO: [hello, $name string]}
        roles:
          server:
            main:
              door: {accept: hello(peer), as: all, seats: 2, within: never, then: end}
              end:
                return:
                  - all[0].name
                  - all[1].name
            hello(peer):
              a: {await: peer, within: never, receive: {HELLO: {return: {name: name}}}}
          ai: {main: {only: {send: HELLO(my.name), return: null}}}
          client: {main: {only: {send: HELLO(my.name), return: null}}}
        """
    server = start(text)
    for role in ("client", "ai"):
        said = start(text, role, my={"name": role}).heard(0)
        server.say(server.join(), *said)

    assert returned(server) == ("client", "ai")


# -- also, urgent ----------------------------------------------------------------------------------------------------


@shows("also", "types")
def test_other_bodies_are_read_as_the_same_message_and_never_written() -> None:
    client = start(
        """
        types: {Cards: [int, ...]}
        messages:
          server: {CARDS: {Cards: $cards Cards}}
          client: {ECHO: {Cards: $cards Cards}}
        also:
          CARDS: [{cards: $cards Cards}, [cards, $cards Cards]]
        roles:
          client:
            main:
              listening: {within: never, receive: {CARDS: {send: ECHO, then: listening}}, closed: {return: null}}
        """,
        "client",
    )

    client.say(0, {"Cards": [1]}, {"cards": [2]}, ["cards", [3]])

    assert client.heard(0) == [{"Cards": [1]}, {"Cards": [2]}, {"Cards": [3]}]


def asking(urgent: str) -> Run:
    """Return a server that asks one seated player after the other; the second may ping meanwhile."""
    server = start(
        f"""
        messages:
          client: {{HELLO: hello, MOVE: [move, $x int], PING: ping}}
          server: {{PONG: pong}}
        {urgent}
        roles:
          server:
            main:
              always: {{await: players, receive: {{PING: {{send: PONG, then: stay}}}}}}
              door: {{accept: hello(peer), as: players, seats: 2, within: never, then: turns}}
              turns: {{each: player in players, run: turn(player), then: over}}
              over: {{await: players, within: 5 s, timeout: {{return: null}}, invalid: again, closed: stay}}
            hello(peer):
              a: {{await: peer, within: never, receive: {{HELLO: {{return: null}}}}}}
            turn(player):
              asked: {{await: player, within: 5 s, receive: {{MOVE: {{return: x}}}}, fault: {{return: reason}}}}
        """
    )
    for _ in range(2):
        server.say(server.join(), "hello")
    return server


@shows("urgent")
def test_an_urgent_message_overtakes_those_before_it() -> None:
    hasty, patient = asking("urgent: [PING]"), asking("")
    for server in (hasty, patient):
        server.say(1, ["move", 3], "ping")  # nobody awaits peer 1 yet

    assert hasty.heard(1) == ["pong"]
    assert patient.heard(1) == []

    patient.say(0, ["move", 1])  # now its move is read, and then its ping
    assert patient.heard(1) == ["pong"]


def plain(value: Any) -> Any:
    """Return a frozen value as JSON has it."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value
