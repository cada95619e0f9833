"""The player for any protocol: what it says fits, goes by the seed, and gets round to everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.messages.bodies import compile_message
from machines.model import Spec
from machines.parser.loader import load
from runtime.players.random import RandomPlayer
from runtime.players.registry import default_kind, kinds, open_player
from runtime.players.strategy import StrategyPlayer
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play
from tests.support.session_harness import spec_of

pytestmark = pytest.mark.anyio
SPECS = Path(__file__).resolve().parent.parent / "specs"
ALL = [load("tsuro"), *(load(str(SPECS / f"{name}.yaml")) for name in ("auction", "chat", "lobby"))]
# It ends when the player says stop, which is not the first word that fits.
DICE = spec_of("""
protocol: dice
title: a game that a player who always says the same never ends
connects: {player: table}
settings: {seats: 1..1}
types:
  Word: {enum: [roll, stop]}
  Eyes: {int: 1..6}
messages:
  player:
    HELLO: {hello: $name string}
    SAY: {say: $word Word, eyes: $eyes Eyes}
roles:
  table:
    main:
      open: {accept: hello(peer), as: players, seats: seats, within: never, then: play}
      play:
        let: {count: 0}
        then: hear
      hear:
        await: players
        within: never
        receive:
          SAY:
            - {if: word == 'stop', return: count}
            - {let: {count: count + eyes}, then: hear}
        closed: {return: null}
    hello(peer):
      named: {await: peer, within: never, receive: {HELLO: {return: {name: name}}}}
  player:
    main:
      always: {closed: {return: null}}
      hello: {send: HELLO(my.name), then: on}
      on:
        ask: word
        within: never
        receive:
          SAY: {send: SAY, then: on}
""")
SHAPES = spec_of("""
protocol: shapes
title: every kind of type
connects: {a: b}
types:
  Colour: {enum: [red, green, 3]}
  Few: [Colour, ... 2..3]
  Bools: [bool, ...]
  Exact: [int, "null", number]
  Pairs: {map: [string, int]}
  Keyed: {x: {int: -3..3}, y: Colour}
  Ints: [int]
  Either: Colour | null | Ints
  Short: {string: "[a-c]{2}"}
messages:
  a:
    MUCH: {few: $few Few, many: $many Bools, exact: $exact Exact, map: $map Pairs, keyed: $keyed Keyed,
           either: $either Either, free: $free any, word: $word Short = ab}
    LINE: "say ${text string}. ${n int}"
    BYE: bye
roles:
  b: {main: {open: {return: null}}}
  a: {main: {come: {return: null}}}
""")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


async def answers(spec: Spec, seed: int, *messages: str, count: int = 40, **arguments: Any) -> list[Any]:
    player = RandomPlayer(spec, seed)
    return [await player.decide("what", tuple(arguments.items()), messages, None) for _ in range(count)]


@pytest.mark.parametrize("spec", [*ALL, DICE, SHAPES], ids=lambda spec: spec.protocol)
async def test_whatever_it_says_can_be_written_and_is_read_back(spec: Spec) -> None:
    for name, message in spec.messages.items():
        shape = compile_message(message, spec.types)
        for answered, fields in await answers(spec, 1, name):
            assert answered == name
            assert shape.read(shape.build([fields[field] for field in shape.fields])) is not None


async def test_the_same_seed_gives_the_same_answers_and_another_others() -> None:
    first = await answers(SHAPES, 1, "MUCH", "LINE", "BYE")

    assert first == await answers(SHAPES, 1, "MUCH", "LINE", "BYE")
    assert first != await answers(SHAPES, 7, "MUCH", "LINE", "BYE")


async def test_it_gets_round_to_every_message_and_every_value() -> None:
    said = await answers(DICE, 1, "HELLO", "SAY", count=200)
    words = [fields for name, fields in said if name == "SAY"]

    assert {name for name, _ in said} == {"HELLO", "SAY"}
    assert {fields["word"] for fields in words} == {"roll", "stop"}
    assert {fields["eyes"] for fields in words} == set(range(1, 7))


async def test_lists_have_every_length_they_may_have() -> None:
    said = [fields for _, fields in await answers(SHAPES, 1, "MUCH", count=200)]

    assert {len(fields["few"]) for fields in said} == {2, 3}
    assert {len(fields["many"]) for fields in said} >= {0, 1, 2}


async def test_it_says_what_it_was_told_every_other_time_if_that_fits() -> None:
    told = [fields["eyes"] for _, fields in await answers(DICE, 1, "SAY", count=200, eyes=4, word=["no word"])]

    assert 90 < told.count(4) < 150


async def test_a_game_that_a_player_by_rote_never_ends_is_ended_by_chance() -> None:
    def seats(kind: str) -> list[Participant]:
        return [Participant("ann", kind, 11)]

    async def ended(kind: str) -> Any:
        game = await play(DICE, {}, seats(kind), server="table", client="player", seed=1)
        assert game.ended is not None
        return game.ended.value

    with anyio.move_on_after(0.2) as scope:
        await ended("example")
    assert scope.cancelled_caught
    with anyio.fail_after(10):
        assert await ended(default_kind(DICE)) == await ended("random")


async def test_a_games_own_random_kind_goes_before_the_general_one() -> None:
    async with open_player("random", spec=ALL[0], name="ann", seed=1) as player:
        assert isinstance(player, StrategyPlayer)
    async with open_player("random", spec=DICE, name="ann", seed=1) as player:
        assert isinstance(player, RandomPlayer)
    assert kinds(ALL[0])["random"].startswith("Plays any legal choice")
    assert kinds(DICE)["random"].startswith("any message that may answer")
