"""The bytes of a program that others wrote: what of them is a message, and what is nothing."""

from __future__ import annotations

import pytest

from machines.conforming.incoming_stream import IncomingStream
from machines.conforming.role_knowledge import RoleKnowledge
from machines.engine.compiler import Program
from machines.parser.loader import load_text

SPEC = """
protocol: blanks
wire: {{framing: {framing}}}
connects: {{client: server}}
messages: {{client: {{WORD: {body}}}, server: {{}}}}
roles:
  client: {{main: {{begin: {{send: {{server: {word}}}, return: null}}}}}}
  server: {{main(peer): {{begin: {{within: never, receive: {{WORD: {{return: null}}}}, fault: {{return: null}}}}}}}}
"""


@pytest.mark.parametrize(
    ("framing", "came", "blank"),
    [
        ("text", b" \r\n", False),
        ("text", b"\r\n\n", True),
        ("lines", b"  \n", False),
        ("lines", b"\n", True),
        ("json", b" \n", True),
        ("json", b" 1", False),
    ],
)
def test_a_line_of_blanks_is_a_message_but_between_json_values(framing: str, came: bytes, blank: bool) -> None:
    body, word = ("$word string", "WORD('a')") if framing == "text" else ("word", "WORD")
    spec = load_text(SPEC.format(framing=framing, body=body, word=word))
    stream = IncomingStream(RoleKnowledge(Program(spec, "client", {}), {}, 1).reader)

    stream.feed(came)

    assert stream.is_blank(0) == blank
