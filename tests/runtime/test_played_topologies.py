"""Games of roles that connect to each other in more than one step: each is played, or refused in a sentence."""

from __future__ import annotations

import anyio
import pytest

from machines.parser.loader import load_text
from machines.values import Range
from runtime.commands.exit_codes import CommandError
from runtime.commands.match_setup import cast, seats_of
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play
from runtime.sessions.topology import around, connections
from tests.machines.verification.test_topologies import FERRY

pytestmark = pytest.mark.anyio

CHAIN = """
protocol: chain
wire: {framing: lines}
connects: {guest: porter, porter: harbour}
messages:
  guest: {BOARD: board}
  porter: {LOAD: load, READY: ready}
  harbour: {BERTH: berth}
roles:
  harbour:
    main:
      door: {accept: enter(peer), as: carriers, seats: 2, within: 1 min, timeout: {return: null}, then: leaving}
      leaving: {send: {carriers: BERTH}, return: len(carriers)}
    enter(peer):
      named: {await: peer, within: 1 min, receive: {LOAD: {return: {}}}}
  porter:
    main(guest):
      always: {within: 1 min, fault: {return: null}}
      begin: {await: guest, receive: {BOARD: {send: {harbour: LOAD}, then: waiting}}}
      waiting: {await: harbour, receive: {BERTH: {send: {guest: READY}, return: null}}}
  guest:
    main:
      always: {within: 1 min, fault: {return: null}}
      begin: {send: BOARD, then: carried}
      carried: {receive: {READY: {return: 7}}}
"""


def test_who_listens_is_started_before_who_connects_to_it() -> None:
    assert around(load_text(FERRY), "guest") == ["harbour", "porter"]
    assert around(load_text(CHAIN), "guest") == ["harbour", "porter"]


def test_the_connections_of_a_player_to_the_server_are_counted() -> None:
    assert connections(load_text(FERRY), "guest", "harbour") == 2
    assert connections(load_text(CHAIN), "guest", "harbour") == 1


@pytest.mark.parametrize(("text", "count"), [(FERRY, 1), (CHAIN, 2)], ids=["triangle", "chain"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_game_is_played(text: str, count: int) -> None:
    chosen = cast(load_text(text), {}, None, [], None)
    assert (chosen.server, len(chosen.names)) == ("harbour", count)

    with anyio.fail_after(20):
        seated = [Participant(name, kind, 1) for name, kind in zip(chosen.names, chosen.kinds, strict=True)]
        result = await play(chosen.spec, {}, seated, server=chosen.server, client=chosen.client, seed=1)

    assert result.ended is not None
    assert result.ended.failed is None
    assert [outcome.failed for outcome in result.players] == [None] * count
    if text is CHAIN:
        assert [outcome.value for outcome in result.players] == [7] * count


def test_seats_that_no_number_of_players_fills_are_told() -> None:
    spec = load_text(FERRY.replace("seats: 2", "seats: 3..3"))

    assert seats_of(spec, spec.roles["harbour"]) == Range(3, 3)
    with pytest.raises(CommandError, match=r"each guest has 2 connections to harbour, and its seats are 3[.][.]3"):
        cast(spec, {}, None, [], None)
