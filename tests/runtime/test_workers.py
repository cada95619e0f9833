"""Strategies that think in processes of their own: the same game, and whatever they do there is theirs."""

from __future__ import annotations

import json
import multiprocessing
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.parser.loader import load
from runtime.cli import main
from runtime.players.base import UnknownPlayerError
from runtime.players.workers import open_workers
from tests.runtime.test_cli_processes import Start, ended, listening, start

__all__ = ["start"]  # a fixture

STRATEGIES = """
import os, sys, time

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
        until = time.monotonic() + 4  # long after its time is up: a thread that never ended would slow all later tests
        while time.monotonic() < until: pass

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
    limits = ("--set", "sticks=60", "--set", "reply=8 s", "--set", "think=1 s")
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


# -- a role that is served ---------------------------------------------------------------------------------------------

ORACLE = """
protocol: oracle
connects: {asker: oracle}
messages:
  asker: {ASK: {ask: $number int}}
  oracle: {SAY: {say: $number int}}
roles:
  oracle.main(peer):
    ready: {within: never, receive: {ASK: asked}, closed: {return: null}}
    asked: {ask: number(number), within: 20 s, say: {SAY: ready}}
  asker.main:
    asking: {send: ASK(1), then: told}
    told: {within: never, receive: {SAY: {return: number}}}
"""
SEER = """
import os, random, time

class Seer:
    def __init__(self, name, seed): self.chance = random.Random(seed)
    def number(self, number):
        open(f"by-{os.getpid()}", "w").close()
        return "SAY", {"number": number + self.chance.randrange(1000)}
"""


def answers(start: Start, folder: Path, workers: int) -> tuple[list[Any], list[Any], set[str]]:
    """What a served role says over three connections, its journal without times, and what other processes it had."""
    words = ("--player", "python:seer:Seer", "--seed", "4", "--workers", str(workers), "--journal", f"{workers}.jsonl")
    server = start("serve", "./oracle.yaml", *words, "--port", "0", "--json", "--quiet")
    host, _, port = listening(server)["listening"].rpartition(":")
    said = []
    for _ in range(3):
        with socket.create_connection((host, int(port)), timeout=20) as asker, asker.makefile("rb") as lines:
            for number in (1, 2):
                asker.sendall(json.dumps({"ask": number}).encode() + b"\n")
                said.append(json.loads(lines.readline()))
        assert listening(server)["failed"] is None  # that session has ended
    server.send_signal(signal.SIGINT)
    assert ended(server)[0] == 130
    journal = [json.loads(line) for line in (folder / f"{workers}.jsonl").read_text().splitlines()]
    inputs = [
        {key: value for key, value in line.items() if key not in ("t", "out")} for line in journal if "in" in line
    ]
    inputs.sort(key=lambda line: line.get("s", 0))  # one may end while the next begins
    thought = {path.name for path in folder.glob("by-*")}
    for name in thought:
        (folder / name).unlink()
    return said, inputs, thought - {f"by-{server.pid}"}


def test_a_role_with_a_session_for_each_connection_thinks_in_other_processes_and_says_the_same(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "oracle.yaml").write_text(ORACLE)
    (tmp_path / "seer.py").write_text(SEER)
    here, elsewhere = answers(start, tmp_path, 0), answers(start, tmp_path, 2)

    assert here[0] == elsewhere[0]
    assert len({str(line) for line in here[0]}) == 6
    assert (here[1], len(here[2])) == (elsewhere[1], 0)
    assert len(elsewhere[2]) == 2


@pytest.mark.anyio
async def test_a_process_forgets_a_player_that_nobody_asks_any_more(mine: Path) -> None:
    (mine / "counts.py").write_text(
        "import threading\nfrom worked_nim import Nim\n"
        "class Counts(Nim):\n    def move(self, left): return {'take': threading.active_count()}\n"
    )
    spec = load("./mine.yaml")
    counted = []
    with anyio.fail_after(30):
        async with open_workers(1) as workers:
            for seed in range(8):
                async with workers.open_player("python:counts:Counts", spec=spec, name="ann", seed=seed) as player:
                    counted.append((await player.decide("move", (("left", 9),), ("TAKE",), 10.0))["take"])

    assert max(counted) <= min(counted) + 1  # the thread of the one before may still be about to end
