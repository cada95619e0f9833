"""Strategies that think in processes of their own: the same game, and whatever they do there is theirs."""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.loader import load
from runtime.cli import main
from runtime.players.base import UnknownPlayerError
from runtime.players.workers import open_workers

STRATEGIES = """
import os, sys

class Nim:
    def __init__(self, name, seed): self.name, self.seed, self.news = name, seed, []
    def heard(self, message, fields): self.news.append(message)
    def move(self, left): return {"take": 1 + (self.seed + len(self.news)) % 3 if left > 2 else 1}

class Prints(Nim):
    def move(self, left):
        print("I think")
        return super().move(left)

class Crashes(Nim):
    def move(self, left): raise ValueError("no idea")

class Exits(Nim):
    def move(self, left): sys.exit(3)

class Ends(Nim):
    def move(self, left): os._exit(7)

class Stubborn(Nim):
    def move(self, left): return ...

class Odd(Nim):
    def move(self, left): return lambda: 1

class Hangs(Nim):
    def move(self, left):
        while True: pass

class Late(Nim):
    def late(self): return False
    def move(self, left):
        while left > 57 and not self.late(): pass
        return {"take": 1}

class Unmade:
    def __init__(self, name, seed): raise ValueError("not today")

def local():
    class Inner(Nim): pass
    return Inner

Inner = local()
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a game of turns, ``mine.yaml``, and strategies for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["new", "mine", "--kind", "game"]) == 0
    (tmp_path / "worked_nim.py").write_text(STRATEGIES)
    yield tmp_path
    sys.modules.pop("worked_nim", None)


def played(capfd: pytest.CaptureFixture[str], kind: str, workers: int, *words: str) -> dict[str, Any]:
    capfd.readouterr()
    players = ("--player", "python:worked_nim:Nim", "--player", f"python:worked_nim:{kind}")
    limits = ("--set", "sticks=60", "--set", "reply=1.2 s", "--set", "think=1 s")
    given = ("./mine.yaml", *players, *limits, "--seed", "1", "--json", "-q", "--workers", str(workers))
    assert main(["play", *given, *words]) == 0
    facts = json.loads(capfd.readouterr().out)
    facts["losses"] = [{key: value for key, value in one.items() if key != "seconds"} for one in facts["losses"]]
    return {key: value for key, value in facts.items() if key != "seconds"}


@pytest.mark.parametrize("kind", ["Nim", "Prints", "Crashes", "Exits", "Stubborn", "Hangs", "Late"])
def test_a_game_is_the_same_in_this_process_and_in_others(
    kind: str, mine: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = played(capfd, kind, 0, "--no-journal")
    assert played(capfd, kind, 2, "--no-journal") == here
    assert (here["losses"] == []) is (kind in ("Nim", "Prints", "Late"))
    assert multiprocessing.active_children() == []


def test_the_journal_is_the_same_too(mine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    inputs = []
    for workers in (0, 2):
        path = mine / f"{workers}.jsonl"
        played(capfd, "Nim", workers, "--journal", str(path))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        inputs.append([(line["in"], line.get("peer"), line.get("raw")) for line in lines if "in" in line])

    assert inputs[0] == inputs[1]
    assert len(inputs[0]) > 20


@pytest.mark.parametrize(
    ("kind", "fault", "why"),
    [
        ("Ends", "exit", "the process that it thought in was ended"),
        ("Odd", "crash", "its answer cannot be handed over: "),
    ],
)
def test_what_only_another_process_makes_a_fault_is_its_own_and_the_game_goes_on(
    kind: str, fault: str, why: str, mine: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    facts = played(capfd, kind, 2, "--no-journal")

    assert (facts["losses"][0]["player"], facts["losses"][0]["kind"]) == ("player2", fault)
    assert why in facts["losses"][0]["why"]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("Unmade", "could not be made with (name, seed): ValueError: not today"),
        ("Inner", "could not be made with (name, seed): its values cannot be handed to another process: "),
    ],
)
@pytest.mark.anyio
async def test_a_strategy_that_cannot_be_made_there_is_told_in_one_sentence(kind: str, why: str, mine: Path) -> None:
    with anyio.fail_after(30):
        async with open_workers(1) as workers:
            with pytest.raises(UnknownPlayerError) as told:
                async with workers.open_player(
                    f"python:worked_nim:{kind}", spec=load("./mine.yaml"), name="ann", seed=1
                ):
                    raise AssertionError("it is not made")

    assert why in str(told.value)


@pytest.mark.parametrize("workers", ["-1", "257"])
def test_a_number_of_workers_out_of_range_is_an_argument_that_is_wrong(
    workers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", "sticks", "--workers", workers]) == 2
    assert f"--workers {workers} is not within 0..256" in capsys.readouterr().err
