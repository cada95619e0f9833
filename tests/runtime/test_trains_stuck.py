"""Players of Trains that are stuck in a call, over TCP and in memory: kicked as the course's own harness has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rules.harnesses.trains import CALLS, HARNESSES
from rules.players.trains_maps import made_map
from runtime.cli import main
from tests.parts import by_default

CARDS = ["red", "blue", "green", "white"] * 62 + ["red", "blue"]
KINDS = {"ann": "buy-now", "bob": "", "cyd": "hold-10"}
LATE = ("--set", "reply=2 s", "--set", "think=1500 ms")


def harness(call: str) -> Any:
    """Return who won and who was kicked, as `accord rules trains xmanager` says it."""
    named = {"buy-now": "Buy-Now", "": f"player-bad-{call}", "hold-10": "Hold-10"}
    players = [[name, named[kind]] for name, kind in KINDS.items()]
    [answer] = HARNESSES["xmanager"]([made_map(1), players, CARDS])
    return answer


def words(command: str, spec: str, call: str, tmp_path: Path, limits: tuple[str, ...] = LATE) -> tuple[str, ...]:
    chart = tmp_path / "map.json"
    chart.write_text(json.dumps(made_map(1)))
    given = [word for name, kind in KINDS.items() for word in ("--player", f"{name}={kind or f'bad-{call}'}")]
    deck = "".join(card[0] for card in CARDS)
    course = ("--set", f"deck={deck}", "--set", "offers=sorted")
    answered = ("--answer", f"map=@{chart}") if call != "start" else ()  # which is answered with a map
    return (command, spec, *given, *course, *answered, *limits, "--seed", "1")


def run(capsys: pytest.CaptureFixture[str], *given: str) -> dict[str, Any]:
    main([*given])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    facts: dict[str, Any] = json.loads(out)
    return facts


@pytest.mark.parametrize("call", by_default(CALLS, ["setup", "win"]))  # each waits for its limit
def test_who_is_stuck_in_a_call_is_kicked_as_the_harness_has_it(
    call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = run(capsys, *words("play", "trains-official", call, tmp_path), "--no-journal", "--json", "-q")

    assert facts["result"][1] == ["bob"]
    assert facts["result"] == harness(call) or call == "start"  # on a map of their own
    assert [loss["player"] for loss in facts["losses"]] == ["bob"]


@pytest.mark.whole
def test_in_another_process_it_is_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    patient = ("--set", "reply=5 s", "--set", "think=4 s")  # until the process has begun
    given = words("play", "trains-official", "setup", tmp_path, patient)
    facts = run(capsys, *given, "--no-journal", "--json", "-q", "--workers", "1")

    assert facts["result"] == harness("setup")


@pytest.mark.parametrize("call", CALLS)
def test_in_memory_it_is_the_same(call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = run(capsys, *words("simulate", "trains-official", call, tmp_path), "--games", "1")

    assert facts["result"][1] == ["bob"]
    assert facts["result"] == harness(call) or call == "start"  # on a map of their own


@pytest.mark.parametrize("call", ["win", "end"])
def test_where_the_protocol_wants_no_answer_nobody_can_tell(
    call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = run(capsys, *words("play", "trains", call, tmp_path), "--no-journal", "--json", "-q")

    assert facts["result"][1] == []


def test_a_result_says_how_many_points_each_has(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("play", "trains", "--player", "ann=cheat", "--player", "bob=hold-10", "--player", "cyd=buy-now")
    assert main([*words, "--seed", "3", "-q", "--no-journal"]) == 0

    [line] = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith("points in each one's last game")
    ]

    first, second = line.partition(": ")[2].split(", ")
    assert {first.split()[0], second.split()[0]} == {"bob", "cyd"}  # ann was kicked
    assert int(first.split()[1]) >= int(second.split()[1])
