"""On Windows: no process groups, no signal handlers of a loop, other locks. Shown by taking away what it lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 60.0
BOT = f"exec:{sys.executable} {ROOT / 'docs' / 'tsuro_bot.py'}"
EVENT = "event: cup\nspec: sticks\nsettings: {reply: 2 s, again: 1000}\nseed: 7\nplayers:\n"


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.windows", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state")},
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, list[Any], str]:
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, [json.loads(line) for line in out.splitlines()], err


def test_a_game_with_a_program_is_played_and_replayed(tmp_path: Path) -> None:
    code, lines, err = ended(start(tmp_path, "play", "tsuro", "--seed", "1", "--json", "-q", "--player", BOT))

    assert (code, err) == (0, "")
    assert lines[-1]["result"]["cheaters"] == []
    assert ended(start(tmp_path, "replay", lines[-1]["journal"], "--json"))[0] == 0


def test_a_program_that_stays_is_ended_with_the_game(tmp_path: Path) -> None:
    stays = f"exec:{sys.executable} -c 'import time; time.sleep(600)'"
    words = ("play", "sticks", "--json", "-q", "--no-journal", "--player", stays, "--set", "think=100 ms")

    code, lines, err = ended(start(tmp_path, *words))

    assert (code, err) == (0, "")
    assert [(loss["player"], loss["kind"]) for loss in lines[-1]["losses"]] == [("player1", "late")]


def test_strategies_think_in_other_processes(tmp_path: Path) -> None:
    game = ("play", "sticks", "--seed", "1", "--json", "-q", "--no-journal")
    results = [ended(start(tmp_path, *game, *more)) for more in ((), ("--workers", "2"))]

    assert [(code, err) for code, _, err in results] == [(0, "")] * 2
    assert results[0][1][-1]["result"] == results[1][1][-1]["result"]


def test_a_server_and_its_clients_play(tmp_path: Path) -> None:
    server = start(tmp_path, "serve", "tsuro", "--port", "0", "--json", "--set", "seats=3..3")
    assert server.stdout is not None
    address = json.loads(server.stdout.readline())["listening"]
    clients = [
        start(tmp_path, "join", "tsuro", address, "--name", name, "--player", kind, "--json")
        for name, kind in (("ann", BOT), ("bob", "strong"), ("cyd", "random"))
    ]

    code, lines, err = ended(server)

    assert code == 0, err
    assert sorted(name for group in lines[-1]["result"]["ranking"] for name in group) == ["ann", "bob", "cyd"]
    assert [ended(client)[0] for client in clients] == [0, 0, 0]


def test_a_program_is_judged_and_ended(tmp_path: Path) -> None:
    stays = [sys.executable, "-c", "import time; time.sleep(600)"]
    case = "client/main/start"
    process = start(
        tmp_path, "conform", "tsuro", "client", "--run", subprocess.list2cmdline(stays), "--only", case, "--json"
    )
    code, _, err = ended(process)
    assert "a fault of Accord itself" not in err
    assert code in (1, 3), err


def test_an_event_is_held(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    path = tmp_path / "cup.yaml"
    path.write_text(EVENT + "".join(f"  {name}: {{kind: random}}\n" for name in ("ann", "bob", "cyd")))
    code, lines, err = ended(start(tmp_path, "tournament", "run", str(path), "--json", "-q"))
    assert (code, err) == (0, "")
    assert lines[-1]["played"] == 3
