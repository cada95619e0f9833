"""Players: strategies run beside the loop, one call at a time; kinds are found or refused with one sentence."""

from __future__ import annotations

import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from machines.model import Spec
from machines.parser.loader import load
from runtime.players.base import DecisionError, EndlessAnswer, RawAnswer, UnknownPlayerError, Vanish
from runtime.players.registry import check_kind, default_kind, kinds, open_player
from runtime.players.seeds import derived_seed
from runtime.players.strategy import StrategyPlayer

pytestmark = pytest.mark.anyio
TSURO = load("tsuro")
CHAT = load(str(Path(__file__).resolve().parent.parent / "specs" / "chat.yaml"))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


class Steady:
    """Answers with what it was told."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.seed = seed
        self.told: list[Any] = []

    def move(self, *values: Any) -> Any:
        return "MOVE", {"values": values, "told": tuple(self.told), "thread": threading.current_thread()}

    def hopeless(self) -> None:
        raise ValueError("no way out")

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        self.told.append((message, fields))


class Slow:
    """Thinks until it is let go; notes when two calls run at once."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = threading.Event()
        self.calls = 0
        self.running = 0
        self.most_running = 0

    def move(self) -> int:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.calls += 1
        self.begun.set()
        self.go.wait(10)
        self.running -= 1
        return self.calls


async def test_a_question_is_a_method_called_with_its_values_in_order() -> None:
    player = StrategyPlayer(Steady("ann", 1), "steady")

    message, fields = await player.decide("move", (("board", (1, 2)), ("token", "red")), ("MOVE",), 5.0)

    assert (message, fields["values"]) == ("MOVE", ((1, 2), "red"))


async def test_a_strategy_does_not_run_where_the_loop_does() -> None:
    _, fields = await StrategyPlayer(Steady("ann", 1), "steady").decide("move", (), ("MOVE",), None)

    assert fields["thread"] is not threading.current_thread()


async def test_news_come_before_the_next_question_in_order() -> None:
    player = StrategyPlayer(Steady("ann", 1), "steady")
    player.heard("TOKEN", {"token": "red"})
    player.heard("STARTED", {})

    _, fields = await player.decide("move", (), ("MOVE",), None)

    assert fields["told"] == (("TOKEN", {"token": "red"}), ("STARTED", {}))


async def test_the_last_news_come_too() -> None:
    strategy = Steady("ann", 1)
    player = StrategyPlayer(strategy, "steady")
    player.heard("ENDED", {})
    await player.say_farewell()

    assert strategy.told == [("ENDED", {})]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("hopeless", "player 'steady' raised in hopeless: ValueError: no way out"),
        ("build", "player 'steady' has no method 'build'"),
        ("__init__", "player 'steady' has no method '__init__'"),
        ("name", "player 'steady' has no method 'name'"),
    ],
)
async def test_a_strategy_that_cannot_answer_says_why(question: str, text: str) -> None:
    with pytest.raises(DecisionError, match=text):
        await StrategyPlayer(Steady("ann", 1), "steady").decide(question, (), ("MOVE",), None)


async def test_a_question_that_is_cancelled_holds_nobody_up_and_the_next_waits_for_its_turn() -> None:
    strategy = Slow()
    player = StrategyPlayer(strategy, "slow")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(player.decide, "move", (), ("MOVE",), None)
        await anyio.to_thread.run_sync(strategy.begun.wait)
        tasks.cancel_scope.cancel()
    answers: list[Any] = []

    async def ask_again() -> None:
        answers.append(await player.decide("move", (), ("MOVE",), None))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask_again)
        await anyio.wait_all_tasks_blocked()
        assert strategy.calls == 1
        strategy.go.set()

    assert answers == [2]
    assert strategy.most_running == 1


@pytest.mark.parametrize(("kind", "misdeed"), [("malformed", RawAnswer), ("gone", Vanish), ("infinite", EndlessAnswer)])
async def test_a_player_that_misbehaves_does_so_at_every_question(kind: str, misdeed: type) -> None:
    async with open_player(kind, spec=TSURO, name="ann", seed=1) as player:
        assert isinstance(await player.decide("initial", (), ("INIT_PLACE",), 1.0), misdeed)


async def test_a_silent_player_never_answers() -> None:
    async with open_player("silent", spec=TSURO, name="ann", seed=1) as player:
        with anyio.move_on_after(0) as scope:
            await player.decide("initial", (), ("INIT_PLACE",), 1.0)

    assert scope.cancelled_caught


async def test_a_strategy_that_returns_dots_never_answers_that_question() -> None:
    async with open_player("bad-pick", spec=load("trains"), name="ann", seed=1) as player:
        assert (await player.decide("map", (), ("map",), 1.0))[0] == "map"
        with anyio.move_on_after(0.05) as scope:
            await player.decide("pick", (("destinations", ()),), ("returned",), 1.0)

    assert scope.cancelled_caught


async def test_an_example_takes_what_it_was_told_where_a_field_has_its_name() -> None:
    async with open_player("example", spec=TSURO, name="ann", seed=1) as player:
        message, fields = await player.decide("initial", (("token", "red"),), ("INIT_PLACE",), 1.0)

    assert message == "INIT_PLACE"
    assert fields["token"] == "red"
    assert fields.keys() == {"token", "tile", "port", "x", "y"}


@pytest.mark.parametrize("kind", ["first", "second", "random"])
async def test_a_games_own_players_are_known_by_their_kind(kind: str) -> None:
    async with open_player(kind, spec=TSURO, name="ann", seed=1) as player:
        assert isinstance(player, StrategyPlayer)


async def test_a_class_of_ones_own_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("my_bots")
    module.Steady = Steady  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "my_bots", module)
    async with open_player("python:my_bots:Steady", spec=CHAT, name="ann", seed=1) as player:
        message, _ = await player.decide("move", (), ("MOVE",), None)

    assert message == "MOVE"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("secnd", r"no player 'secnd' for tsuro \(did you mean 'second'\?\)"),
        ("zzz", r"no player 'zzz' for tsuro \(there are first, second"),
        ("python:bots", "is not of the form python:package.module:Class"),
        ("python:no_such_module:Bot", "no_such_module cannot be imported: ModuleNotFoundError"),
        ("python:json:Bot", "json has no class Bot"),
        ("exec:", "exec: needs a command"),
        ("exec:'open", "no closing quotation"),
    ],
)
def test_a_kind_that_is_not_there_is_refused_with_a_way_out(kind: str, text: str) -> None:
    with pytest.raises(UnknownPlayerError, match=text):
        check_kind(kind, TSURO)


async def test_a_strategy_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(UnknownPlayerError, match="could not be made"):
        async with open_player("python:json:loads", spec=TSURO, name="ann", seed=1):
            pass


@pytest.mark.parametrize("spec", [TSURO, CHAT], ids=lambda spec: spec.protocol)
def test_every_kind_listed_is_known_and_told_of(spec: Spec) -> None:
    for kind, told in kinds(spec).items():
        check_kind(kind, spec)
        assert told, kind
    assert default_kind(spec) in kinds(spec)


def test_a_spec_without_a_game_is_played_by_chance() -> None:
    assert default_kind(CHAT) == "random"


def test_a_games_own_choice_plays_where_it_has_one() -> None:
    assert default_kind(TSURO) == "strong"


def test_seeds_are_those_of_every_machine_and_differ_by_path() -> None:
    assert derived_seed(1, "player", 0) == 2242897363412666999
    assert len({derived_seed(seed, "player", index) for seed in range(20) for index in range(20)}) == 400
    assert all(0 <= derived_seed(seed, "x") < 1 << 63 for seed in range(1000))
