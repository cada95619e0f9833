"""An exchange that goes on for ever (A507): a lost connection ends anything, so it is no way out; a player may stop."""

from __future__ import annotations

import pytest

from machines.parser.loader import load_text
from machines.verification.verify import verify

TALK = """\
protocol: talk
connects: {client: server}
messages:
  client: {PING: ping}
  server: {PONG: pong}
roles:
  server:
    main(client):
      ready: {within: never, receive: {PING: {send: PONG, then: ready}}, closed: {return: null}}
  client:
    main:
      STATES
"""
BY_ITSELF = "begin: {send: PING, within: never, receive: {PONG: begin}}"
ASKED = """\
begin: {ask: more, within: 5 s, receive: {PING: {send: PING, then: told}}}
      told: {within: never, receive: {PONG: begin}}"""
LIMITED = "begin: {send: PING, within: 5 s, receive: {PONG: begin}}"
ANSWERED = "begin: {send: PING, within: never, receive: {PONG: begin}, closed: {return: null}}"


@pytest.mark.parametrize(
    ("client", "found"),
    [
        pytest.param(BY_ITSELF, ["A507"], id="nobody can end it"),
        pytest.param(ANSWERED, ["A507"], id="only a lost connection ends it, whatever answers to that"),
        pytest.param(ASKED, [], id="its player may stop"),
        pytest.param(LIMITED, [], id="a limit that nobody answers ends it"),
    ],
)
def test_an_exchange_without_an_end_is_found_unless_a_player_or_a_limit_may_end_it(
    client: str, found: list[str]
) -> None:
    verdict = verify(load_text(TALK.replace("STATES", client)))

    assert [one.code for one in verdict.findings] == found
