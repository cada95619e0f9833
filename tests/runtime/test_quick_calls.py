"""Who has long been quick is asked on the loop; who then holds it is cut off once it is too late anyway."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from runtime.cli import main
from runtime.players import quick_calls
from runtime.players.base import DecisionError
from runtime.players.quick_calls import QUICK_TIMES
from runtime.players.strategy import StrategyPlayer

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


class Strategy:
    """Says in which thread it is asked; ``then`` is what it does first of all."""

    def __init__(self) -> None:
        self.cut_off = 0

    def move(self, then: str) -> int:
        getattr(self, then)()
        return threading.get_ident()

    other = move

    def nothing(self) -> None:
        pass

    def think(self) -> None:
        until = time.perf_counter() + 0.005
        while time.perf_counter() < until:
            pass

    def hang(self) -> None:
        while True:
            pass

    def hang_stubbornly(self) -> None:
        while self.cut_off < 2:
            try:
                self.hang()
            except BaseException:
                self.cut_off += 1

    def crash(self) -> None:
        raise ValueError("no idea")


async def ask(
    player: StrategyPlayer, then: str = "nothing", question: str = "move", seconds: float | None = 5.0
) -> Any:
    return await player.decide(question, (("then", then),), ("MOVE",), seconds)


async def quick_player() -> StrategyPlayer:
    """Return a player that was quick often enough."""
    player = StrategyPlayer(Strategy(), "mine")
    for _ in range(QUICK_TIMES):
        await ask(player)
    return player


async def test_the_first_answers_come_from_a_thread_and_quick_ones_then_from_the_loop() -> None:
    player, here = StrategyPlayer(Strategy(), "mine"), threading.get_ident()
    assert here not in [await ask(player) for _ in range(QUICK_TIMES)]

    player = await quick_player()
    assert await ask(player) == here
    assert await ask(player, question="other") != here  # of which nothing is known yet


async def test_one_slow_answer_sends_a_player_back_to_its_thread_for_long() -> None:
    player, here = await quick_player(), threading.get_ident()
    assert await ask(player, "think") == here
    assert here not in [await ask(player) for _ in range(3 * QUICK_TIMES)]


async def test_what_a_strategy_raises_on_the_loop_is_told_as_from_a_thread() -> None:
    player = await quick_player()
    with pytest.raises(DecisionError, match="player 'mine' raised in move: ValueError: no idea"):
        await ask(player, "crash")


@pytest.mark.parametrize("then", ["hang", "hang_stubbornly"])
async def test_who_holds_the_loop_is_cut_off_once_its_time_is_up_and_does_not_answer(
    then: str, caplog: pytest.LogCaptureFixture
) -> None:
    player, here = await quick_player(), threading.get_ident()
    answers: list[Any] = []
    with anyio.move_on_after(5):
        async with anyio.create_task_group() as tasks:

            async def late() -> None:
                answers.append(await ask(player, then, seconds=0.2))

            tasks.start_soon(late)
            await anyio.lowlevel.checkpoint()
            answers.append(await ask(player, question="other"))
            tasks.cancel_scope.cancel()

    assert len(answers) == (1 if then == "hang" else 2)
    assert ("was cut off in move" in caplog.text) is (then == "hang")
    assert await ask(player) != here


async def test_a_question_without_a_limit_is_cut_off_after_the_longest_that_the_loop_may_be_held(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(quick_calls, "HELD_SECONDS_MAX", 0.2)
    player = await quick_player()
    with anyio.move_on_after(1):
        await ask(player, "hang", seconds=None)

    assert "was cut off in move" in caplog.text


HANGS = f"""
class Nim:
    def __init__(self, name, seed): self.asked = 0
    def move(self, left): return {{"take": 1}}

class Hangs(Nim):
    def move(self, left):
        self.asked += 1
        while self.asked > {QUICK_TIMES + 15}: pass
        return {{"take": 1}}
"""


def test_a_player_that_hangs_late_in_a_game_loses_it_as_one_that_hangs_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hanging_nim.py").write_text(HANGS)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["new", "mine", "--kind", "game"]) == 0
    capsys.readouterr()
    players = ("--player", "python:hanging_nim:Nim", "--player", "python:hanging_nim:Hangs")
    limits = ("--set", "sticks=200", "--set", "reply=0.6 s", "--set", "think=0.4 s")
    assert main(["play", "./mine.yaml", *players, *limits, "--seed", "1", "--json", "-q", "--no-journal"]) == 0
    facts = json.loads(capsys.readouterr().out)

    assert facts["result"] == ""
    assert (facts["losses"][0]["player"], facts["losses"][0]["kind"]) == ("player2", "late")
