"""Whole tournaments of Trains over loopback TCP: as `accord play` holds them, and the course's own fixtures."""

from __future__ import annotations

import json
from typing import Any, Final

import anyio
import pytest

from machines.effects import Effect, Ended, Send
from machines.parser.loader import load
from machines.values import freeze
from rules.players.trains import PLAYERS
from runtime.players.seeds import derived_seed
from runtime.players.strategy import StrategyPlayer
from runtime.sessions.client import join
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play
from tests.runtime.trains_table import CALLS, DIALECTS, OFFICIAL, RULES, TrainsTable, tcp_table, trains
from tests.support.shared import SHARED, needs_shared

pytestmark = pytest.mark.anyio

CASES: Final = SHARED / "cases" / "trains"
FIXTURES: Final = sorted(f"xserver/{path.name[:-8]}" for path in (CASES / "xserver").glob("*-in.json"))
DOUBLED: Final = sorted(f"xbonus/{path.name[:-8]}" for path in (CASES / "xbonus").glob("*-in.json"))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return request.param, {}


# -- our own tournaments -----------------------------------------------------------------------------------------------

KINDS: Final = ("hold-10", "buy-now", "random", "hold-10", "cheat")


async def tournament(dialect: str, players: int, **settings: str) -> tuple[Any, list[tuple[int, str]], Any]:
    """Hold a tournament; return how it ended, what was said to whom, and the players' ends."""
    said: list[tuple[int, str]] = []

    def observe(effect: Effect) -> None:
        if isinstance(effect, Send):
            said.append((effect.peer, effect.message))

    # The last to come ends the first period. Time is not the point here, and a busy machine must make nobody late.
    spec = load(dialect, {"most": str(players), "reply": "30 s", "think": "25 s", **settings})
    seats = [
        Participant(f"p{chr(97 + n // 26)}{chr(97 + n % 26)}", KINDS[n % 5], derived_seed(1, str(n)))
        for n in range(players)
    ]
    result = await play(spec, RULES, seats, server="server", client="client", seed=1, observe=observe)
    return result.ended, said, result.players


@pytest.mark.matrix("dialect", "players", "anyio_backend", strength=1)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("players", [10, 40])
async def test_a_tournament_is_signed_up_for_played_in_rounds_and_told(players: int, dialect: str) -> None:
    ended, said, clients = await tournament(dialect, players)

    assert ended.failed is None
    winners, cheaters = ended.value
    assert len(cheaters) == players // 5
    assert winners
    for number, client in enumerate(clients):
        calls = [call for peer, call in said if peer == number]
        assert calls[0] == "start"
        assert calls.count("start") == 1
        if client.kind == "cheat":
            assert client.name in cheaters
            assert set(calls) == {"start", "setup", "pick", "play"}
        else:
            assert client.value == freeze({"won": client.name in winners})
            assert calls.count("setup") == calls.count("win") >= 1
            assert calls[-1] == "end"


async def test_the_same_seed_gives_the_same_tournament_however_many_games_are_played_at_once() -> None:
    results = [await tournament("trains", 20, side_by_side=number) for number in ("8", "1")]

    (ended, at_once, _), (ended_again, in_turn, _) = results
    assert ended == ended_again
    for number in range(20):
        assert [call for peer, call in at_once if peer == number] == [call for peer, call in in_turn if peer == number]
    # In the first, calls of different games of a round take turns; in the second, one game is over before the next.
    assert games_overlap(at_once)
    assert not games_overlap(in_turn)


def games_overlap(said: list[tuple[int, str]]) -> bool:
    """Say whether somebody of the second game had a turn before the first game was over; 20 play 8, 8 and 4."""
    won = next(index for index, (peer, call) in enumerate(said) if call == "win" and peer < 8)
    return any(call == "play" and 8 <= peer < 16 for peer, call in said[:won])


# -- the course's fixtures ---------------------------------------------------------------------------------------------

# As few as there are of some may start at once; how long the server waits for more is tried in virtual time.
FEW: Final = "extends: {}\nprotocol: trains-few\nroles: {{server: {{main: {{first_period: {{seats: 2..most}}}}}}}}\n"


class OwnMap:
    """A strategy that brings the fixture's map."""

    def __init__(self, strategy: Any, submitted: Any) -> None:
        self._strategy = strategy
        self._map = submitted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strategy, name)

    def map(self) -> Any:
        """Answer with the fixture's map, unless the strategy is stuck."""
        answer = self._strategy.map()
        return answer if answer is ... else ("map", {"map": self._map})


def values_in(path: str) -> list[Any]:
    """Return the JSON values of a file, back to back."""
    text, decoder, values = (CASES / path).read_text().strip(), json.JSONDecoder(), []
    while text:
        value, end = decoder.raw_decode(text)
        values.append(value)
        text = text[end:].lstrip()
    return values


def players_of(kind: str, values: list[Any]) -> list[tuple[str, str]]:
    """Return (name, kind of player) in order of sign-up; in xbonus each is there again, breaking off in a call."""
    named = {"Hold-10": "hold-10", "Buy-Now": "buy-now", "Cheat": "cheat"}
    named |= {f"player-bad-{call}": f"bad-{call}" for call in CALLS}
    players = [(name, named[strategy]) for name, strategy in values[1]]
    if kind == "xbonus":
        call = values[3].removeprefix("rm-ill-formed-").replace("action", "play")
        players += [(f"r{name}", f"bad-{call}") for name, _ in players]
    return players


async def client(table: TrainsTable, name: str, kind: str, submitted: Any, dialect: str) -> Ended:
    """Let one of our clients take part, with a player of a kind; return how it ended."""
    role = trains(dialect, "client", {"think": "150 ms"} if kind.startswith("bad-") else {})
    strategy = OwnMap(PLAYERS[kind](name, 1), submitted)
    addresses = {"server": ("127.0.0.1", table.port)}
    return await join(role, addresses, StrategyPlayer(strategy, kind), my={"name": name})


async def hold(fixture: str, dialect: str) -> Any:
    """Hold a fixture's tournament over TCP; return its result as JSON."""
    values = values_in(f"{fixture}-in.json")
    submitted, deck = values[0], "".join(card[0] for card in values[2])
    players = players_of(fixture.partition("/")[0], values)
    # The last ends the first period, so that no clock runs out on a busy machine before all have come.
    settings: dict[str, Any] = {"most": str(len(players)), "reply": "3 s", "deck": deck, "offers": "sorted"}
    spec = dialect if len(players) >= 5 else FEW.format(dialect)
    async with tcp_table(spec, **settings) as table, anyio.create_task_group() as clients:
        for number, (name, kind) in enumerate(players):
            clients.start_soon(client, table, name, kind, submitted, dialect)
            await table.until(lambda joined=number + 1: len(table.signed_up()) >= joined)  # type: ignore[misc]
        await table.until(lambda: table.ended is not None)
        clients.cancel_scope.cancel()
    assert table.ended is not None
    assert table.ended.failed is None
    return json.loads(json.dumps(table.ended.value))


def test_there_are_22_fixtures_and_3_with_doubles() -> None:
    if not CASES.is_dir():
        pytest.skip("the recorded cases do not lie beside this checkout")
    assert (len(FIXTURES), len(DOUBLED)) == (22, 3)


@needs_shared
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("fixture", FIXTURES + DOUBLED)
async def test_a_fixture_has_its_result(fixture: str) -> None:
    [expected] = values_in(f"{fixture}-out.json")

    assert await hold(fixture, OFFICIAL) == expected


@needs_shared
@pytest.mark.matrix("dialect", "fixture", "anyio_backend", strength=1)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "fixture",
    [
        "xserver/mfelleisen-10-ServerTests-1",  # no map
        "xbonus/mfelleisen-10-BonusTests-3",  # four stuck in pick
    ],
)
async def test_a_fixture_has_its_result_in_each_dialect_and_on_each_backend(fixture: str, dialect: str) -> None:
    [expected] = values_in(f"{fixture}-out.json")

    assert await hold(fixture, dialect) == expected
