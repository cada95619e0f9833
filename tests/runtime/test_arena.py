"""Whole games in one process, over loopback TCP, on every event loop."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from machines.effects import Effect, Received
from machines.model import Spec
from machines.parser.loader import load, rules_modules
from runtime.players.base import UnknownPlayerError
from runtime.players.seeds import derived_seed
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play
from tests.support.session_harness import spec_of

pytestmark = pytest.mark.anyio
LOOPS = {
    "asyncio": ("asyncio", {"use_uvloop": False}),
    "uvloop": ("asyncio", {"use_uvloop": True}),
    "trio": ("trio", {}),
}


@pytest.fixture(params=LOOPS)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    if request.param == "uvloop":
        pytest.importorskip("uvloop")
    return LOOPS[request.param]


def tsuro(count: int, **settings: str) -> Spec:
    return load("tsuro", {"seats": f"{count}..{count}", **settings})


def seats(*kinds: str, seed: int = 1) -> list[Participant]:
    return [Participant(f"p{index}", kind, derived_seed(seed, index)) for index, kind in enumerate(kinds)]


async def game(*kinds: str, seed: int = 1, heard: list[tuple[int, str]] | None = None, **settings: str) -> GameResult:
    spec = tsuro(len(kinds), **settings)

    def observe(effect: Effect) -> None:
        if heard is not None and isinstance(effect, Received):
            heard.append((effect.peer, effect.message))

    with anyio.fail_after(30):
        return await play(
            spec,
            rules_modules(spec),
            seats(*kinds, seed=seed),
            server="server",
            client="client",
            seed=seed,
            observe=observe,
        )


@pytest.mark.parametrize("count", [3, 4, 5])
async def test_a_whole_game_is_played(count: int) -> None:
    result = await game(*["second"] * count)

    assert result.ended is not None
    assert result.ended.failed is None
    ranking = result.ended.value["ranking"]
    assert sorted(name for group in ranking for name in group) == [f"p{index}" for index in range(count)]
    for outcome in result.players:
        assert outcome.failed is None
        assert outcome.value["winners"] == ranking


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_same_seed_gives_the_same_game(seed: int) -> None:
    first: list[tuple[int, str]] = []
    second: list[tuple[int, str]] = []
    one = await game("random", "random", "random", seed=seed, heard=first)
    two = await game("random", "random", "random", seed=seed, heard=second)

    assert one.ended == two.ended
    assert first == second
    # Joined in order, so peer n is the n-th player.
    assert first[:3] == [(0, "JOIN"), (1, "JOIN"), (2, "JOIN")]


def test_the_same_seed_gives_the_same_game_on_every_loop() -> None:
    ends = [
        anyio.run(lambda: game("random", "strong", "random", seed=5), backend=backend, backend_options=options).ended
        for backend, options in LOOPS.values()
    ]

    assert ends[0] is not None
    assert ends[0] == ends[1] == ends[2]


@pytest.mark.parametrize("kind", ["silent", "malformed", "gone", "infinite", "illegal", "illegal-later", "example"])
async def test_who_breaks_the_protocol_is_a_cheater_and_the_others_play_on(kind: str) -> None:
    # A client whose player does not answer gives up when its own time to think is over.
    result = await game("second", kind, "second", think="1 s")

    assert result.ended is not None
    assert result.ended.failed is None
    assert list(result.ended.value["cheaters"]) == ["p1"]
    assert [outcome.failed for outcome in result.players][::2] == [None, None]


async def test_a_player_that_cannot_be_made_stops_the_game_with_its_own_error() -> None:
    with pytest.raises(UnknownPlayerError):
        await game("second", "exec:/no/such/program", "second")


RELAY = spec_of("""
protocol: relay
title: a client passes what it is asked on to an advisor of its own
wire: {framing: lines}
connects: {client: [server, advisor]}
messages:
  client:
    JOIN: {join: $name string}
    PLEASE: {please: $number int}
  server:
    ADD: {add: $number int}
    SUM: {sum: $total int}
  advisor, client:
    SAID: {said: $answer int}
roles:
  server:
    main:
      open:
        accept: join(peer)
        as: players
        seats: 2..2
        within: 5 s
        timeout: {return: null}
        then: asking
      asking:
        let: {total: 0}
        then: round
      round:
        each: player in players
        run: turn(player, total)
        as: total
        then: over
      over: {send: {players: SUM(total)}, return: total}
    join(peer):
      named: {await: peer, within: 5 s, receive: {JOIN: {return: {name: name}}}}
    turn(player, total):
      asked:
        send: ADD(total + 1)
        await: player
        within: 5 s
        receive:
          SAID: {return: answer}
        fault: {return: total}
  client:
    main:
      always: {within: 10 s}
      come: {send: {server: JOIN(my.name)}, then: waiting}
      waiting:
        await: server
        receive:
          ADD: passing
          SUM: {return: total}
      passing:
        send: {advisor: PLEASE(number)}
        await: advisor
        receive:
          SAID: {send: {server: SAID}, then: waiting}
  advisor:
    main(client):
      idle:
        await: client
        within: 10 s
        receive: {PLEASE: thinking}
        closed: {return: null}
      thinking:
        ask: think(number)
        within: 5 s
        receive:
          SAID: {send: SAID, then: idle}
""")


class Doubler:
    """Doubles, and adds its seed's parity so that the advisors differ."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name

    def think(self, number: int) -> Any:
        return "SAID", {"answer": 2 * number + (1 if self.name == "p1" else 0)}


async def test_a_server_that_runs_for_ever_is_stopped_once_all_players_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.sessions.match.CLIENTS_SECONDS", 0.1)
    with anyio.fail_after(30):
        result = await play(load("redis"), {}, seats("random"), server="server", client="client", seed=1)

    assert result.ended is None
    assert [outcome.failed for outcome in result.players] == [None]


async def test_a_role_with_a_session_for_each_connection_has_a_player_behind_it() -> None:
    kind = f"python:{__name__}:Doubler"
    with anyio.fail_after(30):
        result = await play(RELAY, {}, seats(kind, kind), server="server", client="client", seed=1)

    assert result.ended is not None
    assert result.ended.value == 2 * (2 * (0 + 1) + 1) + 1
    assert [outcome.value for outcome in result.players] == [7, 7]
