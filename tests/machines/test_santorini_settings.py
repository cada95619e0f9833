"""The limits of the shipped Santorini protocols turn nobody away whom their documents would have: they name none."""

from __future__ import annotations

import pytest

from machines.parser.loader import load
from tests.machines.santorini_games import PROTOCOLS, RULES, Protocol, Table
from tests.support.session_harness import Run

PLACEMENT = {"type": "placement", "content": None}


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
def test_a_client_may_name_its_players_one_after_another(protocol: Protocol) -> None:
    server = Table(protocol, seats="4..4", games="1").server
    for _ in range(4):
        server.join()
    for number, name in enumerate(("ann", "bob", "cyd", "dan")):
        server.wait(1.0)
        server.say(number, {"type": "Name", "content": name} if protocol.name == "relay" else name)
    server.wait(1.0)

    assert not server.dropped
    assert any(server.heard(number) for number in range(4)), "the tournament has begun"


def test_who_never_names_itself_has_no_seat() -> None:
    for protocol in PROTOCOLS.values():
        server = Table(protocol, seats="2..2", games="1").server
        server.join()
        server.wait(10.1)
        assert 0 in server.dropped, protocol.name


def test_a_remote_ai_has_as_long_as_its_client() -> None:
    client = Run(load("santorini-relay"), "client", RULES, my={"name": "ann"})
    server, ai = 0, 1  # in the order of connects
    client.say(server, {"type": "Start", "content": None})
    client.heard(server)
    client.say(server, PLACEMENT)
    assert client.heard(ai)
    client.wait(4.9)
    client.say(ai, {"type": "placement", "content": [1, [1, 4]]})
    assert client.heard(server) == [{"type": "placement", "content": [1, [1, 4]]}]
