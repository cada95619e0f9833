"""The language, shown key by key: the top of a file: ``wire``, ``settings``, ``connects``, ``rules``, ``extends``."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from machines.effects import Pause, Resume, Send
from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start, tiny

ECHO = """
    messages:
      server: {PING: [ping, $id int]}
      client: {PONG: [pong, $id int]}
    roles:
      client:
        main:
          listening: {within: never, receive: {PING: {send: PONG, then: listening}}, closed: {return: null}}
"""


@shows("protocol", "title", "messages", "roles")
def test_a_spec_is_a_protocol_with_messages_and_roles() -> None:
    spec = tiny(
        """
        protocol: ping-pong
        title: One asks, the other answers
        messages:
          server: {PING: ping}
          client: {PONG: pong}
        roles:
          client:
            main:
              listening: {within: never, receive: {PING: {send: PONG, then: listening}}, closed: {return: null}}
        """
    )
    client = Run(spec, "client")

    client.say(0, "ping", "ping")

    assert client.heard(0) == ["pong", "pong"]
    assert (spec.protocol, spec.title) == ("ping-pong", "One asks, the other answers")


def test_a_spec_without_a_title_is_called_after_its_protocol() -> None:
    assert tiny(ECHO).title == "tiny"


# -- wire ------------------------------------------------------------------------------------------------------------

FRAMINGS = [
    ("json", b' ["ping",1]["ping",\n2] ', b'["pong",1]\n'),
    ("lines", b'["ping",1]\r\n\n["ping", 2]\n', b'["pong",1]\n'),
    ("length", b'\x00\x00\x00\x0a["ping",1]\x00\x00\x00\x0a["ping",2]', b'\x00\x00\x00\x0a["pong",1]'),
]


@shows("wire", "wire.framing")
@pytest.mark.parametrize(("framing", "came", "first"), FRAMINGS, ids=[framing for framing, _, _ in FRAMINGS])
def test_framing_says_where_a_message_ends(framing: str, came: bytes, first: bytes) -> None:
    client = start(f"wire: {{framing: {framing}}}\n" + _dedented(ECHO), "client")

    client.write(0, came)

    assert client.heard(0) == [["pong", 1], ["pong", 2]]
    assert _written(client)[0] == first


@shows("wire.framing")
def test_under_framing_text_a_message_is_a_line_of_text() -> None:
    client = start(
        """
        wire: {framing: text}
        messages:
          server: {ADD: "ADD ${a int} ${b int}"}
          client: {SUM: "SUM ${sum int}"}
        roles:
          client:
            main:
              listening: {within: never, receive: {ADD: {send: SUM(a + b), then: listening}}, closed: {return: null}}
        """,
        "client",
    )

    client.write(0, b"ADD 2 3\r\nADD -1 1\n")

    assert client.heard(0) == ["SUM 5", "SUM 0"]


LIMITS = [
    ("message_bytes_max", 11, ["ping", 1], ["ping", 10]),
    ("depth_max", 1, ["ping"], [["ping"]]),
    ("digits_max", 3, ["ping", 999], ["ping", 1000]),
]


@shows("wire.message_bytes_max", "wire.depth_max", "wire.digits_max")
@pytest.mark.parametrize(("limit", "most", "allowed", "refused"), LIMITS, ids=[limit for limit, *_ in LIMITS])
def test_a_message_over_a_limit_of_the_wire_is_malformed(limit: str, most: int, allowed: Any, refused: Any) -> None:
    # message_bytes_max, depth_max, digits_max
    client = start(
        f"""
        wire: {{framing: lines, {limit}: {most}}}
        messages:
          server: {{ANY: $any any}}
        roles:
          client:
            main:
              listening:
                within: never
                receive: {{ANY: listening}}
                invalid: {{return: reason}}
        """,
        "client",
    )
    client.say(0, allowed)
    assert client.ended is None

    client.say(0, refused)

    assert returned(client) == "malformed"


@shows("wire.inbox_messages_max", "wire.inbox_bytes_max")
@pytest.mark.parametrize("limit", ["inbox_messages_max: 2", "inbox_bytes_max: 20"])
def test_a_full_inbox_stops_the_reading_of_its_peer_until_somebody_reads_it(limit: str) -> None:
    client = start(
        f"""
        wire: {{framing: lines, {limit}}}
        messages:
          server: {{PING: [ping, $id int]}}
          client: {{REST: rest}}
        roles:
          client:
            main:
              busy: {{await: server, within: 1 s, receive: {{PING: resting}}, timeout: {{return: null}}}}
              resting: {{ask: rest, within: 10 s, receive: {{REST: reading}}, timeout: reading}}
              reading: {{await: server, within: 1 s, receive: {{PING: reading}}, timeout: {{return: id}}}}
        """,
        "client",
    )
    client.say(0, ["ping", 0])
    client.say(0, *(["ping", id_] for id_ in range(1, 4)))
    assert [type(effect) for effect in client.effects if isinstance(effect, Pause | Resume)] == [Pause]

    client.wait(10)
    client.wait(1)

    assert [type(effect) for effect in client.effects if isinstance(effect, Pause | Resume)] == [Pause, Resume]
    assert returned(client) == 3


# -- connects --------------------------------------------------------------------------------------------------------


@shows("connects")
def test_a_role_may_connect_to_several_and_names_the_one_it_means() -> None:
    client = start(
        """
        connects: {client: [server, ai]}
        messages:
          server: {ASK: [ask, $n int]}
          client: {THINK: [think, $n int], TOLD: [told, $n int]}
          ai: {THOUGHT: [thought, $n int]}
        roles:
          client:
            main:
              asked: {await: server, within: 5 s, receive: {ASK: {send: {ai: THINK}, then: thinking}}}
              thinking: {await: ai, within: 5 s, receive: {THOUGHT: {send: {server: TOLD}, return: n}}}
          ai: {main: {idle: {within: never}}}
        """,
        "client",
    )
    server, ai = 0, 1  # in the order under ``connects``
    client.say(server, ["ask", 7])
    assert client.heard(ai) == [["think", 7]]

    client.say(ai, ["thought", 8])

    assert client.heard(server) == [["told", 8]]
    assert returned(client) == 8


# -- settings --------------------------------------------------------------------------------------------------------

SETTINGS = [
    ("5 s", 5.0, "300 ms", 0.3),
    ("10 min", 600.0, "1 h", 3600.0),
    ("never", float("inf"), "0 s", 0.0),
    ("3", 3, "-1", -1),
    ("0.5", 0.5, "2", 2.0),
    ("true", True, "false", False),
    ("words of any kind", "words of any kind", "5 s of silence", "5 s of silence"),
    ('"5 s"', "5 s", "true", "true"),
]


@shows("settings")
@pytest.mark.parametrize(("written", "value", "given", "changed"), SETTINGS, ids=[row[0] for row in SETTINGS])
def test_a_setting_is_a_value_that_a_person_may_override(written: str, value: Any, given: str, changed: Any) -> None:
    text = f"""
        settings: {{of: {written}}}
        messages: {{}}
        roles:
          client: {{main: {{only: {{return: of}}}}}}
        """

    assert returned(start(text, "client")) == value
    assert returned(start(text, "client", settings={"of": given})) == changed


@shows("settings")
def test_a_range_as_a_setting_counts_seats_and_holds_numbers() -> None:
    text = """
        settings: {few: 2..4}
        messages: {}
        roles:
          client: {main: {only: {return: [2 in few, 5 in few, len(few)]}}}
        """

    assert returned(start(text, "client")) == (True, False, 3)
    assert returned(start(text, "client", settings={"few": "5"})) == (False, True, 1)


# -- rules -----------------------------------------------------------------------------------------------------------


@shows("rules")
def test_expressions_call_the_functions_of_the_modules_under_rules() -> None:
    def twice(number: int) -> int:
        return 2 * number

    module = ModuleType("tsuro")
    module.twice = twice  # type: ignore[attr-defined]
    module.__all__ = ["twice"]  # type: ignore[attr-defined]
    text = """
        rules: [tsuro]
        messages: {}
        roles:
          client: {main: {only: {return: tsuro.twice(21)}}}
        """

    assert returned(start(text, "client", {"tsuro": module})) == 42


# -- extends ---------------------------------------------------------------------------------------------------------


@shows("extends")
def test_a_spec_that_extends_another_says_only_what_is_different(tmp_path: Path) -> None:
    base = tiny(ECHO)
    lines = [
        "protocol: tiny",
        "wire: {framing: lines}",
        "connects: {client: server}",
        *_dedented(ECHO).splitlines(),
        "  server: {main: {idle: {within: never}}}",
    ]
    (tmp_path / "echo.yaml").write_text("\n".join(lines))
    child = tiny(
        """
        extends: echo
        protocol: louder
        messages:
          client: {PONG: [PONG, $id int, $times int]}
        roles:
          client:
            main:
              listening:
                within: never
                receive:
                  PING:
                    send: PONG(id, 2)
                    then: listening
                closed: {return: null}
        """,
        folder=tmp_path,
    )
    before, after = Run(base, "client"), Run(child, "client")

    before.say(0, ["ping", 1])
    after.say(0, ["ping", 1])

    assert before.heard(0) == [["pong", 1]]
    assert after.heard(0) == [["PONG", 1, 2]]


def _dedented(text: str) -> str:
    lines = text.strip("\n").splitlines()
    return "\n".join(line[4:] for line in lines) + "\n"


def _written(run: Run) -> list[bytes]:
    return [effect.data for effect in run.effects if isinstance(effect, Send)]
