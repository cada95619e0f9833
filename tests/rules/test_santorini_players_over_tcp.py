"""Santorini's players in all four protocols, over loopback TCP: who plays by the rules stays in, the others go."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from machines.parser.loader import load, rules_modules
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play

pytestmark = pytest.mark.anyio
ROLES = {
    "santorini-relay": ("server", "client"),
    "santorini-prompts": ("manager", "player"),
    "santorini-rulecheck": ("server", "client"),
    "santorini-official": ("server", "client"),
}
CHECKED = ("santorini-prompts", "santorini-rulecheck")
NAMES = ("ann", "bob", "cleo", "dan", "eva", "fay", "gil")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


async def tournament(protocol: str, *kinds: str, **settings: str) -> tuple[GameResult, dict[str, Any]]:
    """Play a tournament of one game a pair; return it, and its result with kinds in place of names."""
    spec = load(protocol, {"seats": f"{len(kinds)}..{len(kinds)}", "games": "1", **settings})
    server, client = ROLES[protocol]
    seats = [Participant(name, kind, seed) for seed, (name, kind) in enumerate(zip(NAMES, kinds, strict=False))]
    with anyio.fail_after(30):
        game = await play(spec, rules_modules(spec), seats, server=server, client=client, seed=1)
    assert game.ended is not None
    assert game.ended.failed is None
    kind_of = {seat.name: seat.kind for seat in seats}
    result = game.ended.value
    return game, {
        "expelled": {kind_of[name] for name in result["expelled"]},
        "rows": [(kind_of[winner], kind_of[loser]) for winner, loser, *_ in result["rows"]],
    }


async def test_players_by_the_rules_play_the_same_games_in_every_protocol() -> None:
    rows = []
    for protocol in ROLES:
        game, result = await tournament(protocol, "random", "diagonal", "quick", "checker")
        assert [outcome.failed for outcome in game.players] == [None] * 4
        assert result["expelled"] == set()
        rows.append(result["rows"])

    assert rows == [rows[0]] * len(ROLES)
    assert [set(row) for row in rows[0]] == [
        {"random", "diagonal"}, {"random", "quick"}, {"random", "checker"},
        {"diagonal", "quick"}, {"diagonal", "checker"}, {"quick", "checker"},
    ]  # fmt: skip
    assert {("diagonal", "random"), ("quick", "random"), ("quick", "checker")} < set(rows[0])


@pytest.mark.parametrize("protocol", ROLES)
async def test_those_that_misbehave_are_expelled_and_the_others_play_on(protocol: str) -> None:
    kinds = ("random", "checker", "check-flood", "illegal", "illegal-later", "illegal-placement")
    few = {"checks": "10 per 1 s"} if protocol in CHECKED else {}
    game, result = await tournament(protocol, *kinds, **few)

    flood = {"check-flood"} if protocol in CHECKED else set()  # Elsewhere there is nothing to check with.
    assert result["expelled"] == {"illegal", "illegal-later", "illegal-placement"} | flood
    assert [outcome.failed for outcome in game.players] == [None] * 6


@pytest.mark.parametrize("protocol", ROLES)
async def test_giving_up_loses_a_game_or_the_place_where_there_is_no_word_for_it(protocol: str) -> None:
    _, result = await tournament(protocol, "random", "gives-up", think="0.6 s", reply="1.5 s")

    assert result["rows"] == [("random", "gives-up")]
    assert result["expelled"] == (set() if protocol in ("santorini-prompts", "santorini-official") else {"gives-up"})


async def test_a_long_search_is_cut_short_in_time() -> None:
    """A second of search, a fifth of that to answer in: the clock decides, and nobody is expelled for being late."""
    game, result = await tournament("santorini-official", "strong", "illegal-later", think="200 ms")

    assert [outcome.failed for outcome in game.players] == [None, None]
    assert result["expelled"] == {"illegal-later"}
