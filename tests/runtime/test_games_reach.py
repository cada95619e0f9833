"""How far games come, and that the clocks ring in them that ring while a player thinks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.cli import main

# A riddle: only who knows the answer comes to the second machine. Meanwhile the host says how much time has gone.
RIDDLE = """
protocol: riddle
rules: [riddle_rules]
connects: {guest: host}
messages:
  guest: {SAY: {say: $word string}, THANKS: {thanks: $n int}}
  host: {NOW: {now: $seconds int}, PRIZE: prize}
roles:
  host:
    main(guest):
      begin: {run: asked(guest), as: right, then: judged}
      judged: [{if: right, then: given}, {return: false}]
      given: {run: given(guest), return: true}
    asked(guest):
      word:
        within: 20 s
        every: {1 s: {send: NOW(riddle_rules.shown(elapsed))}}
        receive: {SAY: {return: riddle_rules.is_right(word)}}
        fault: {return: false}
    given(guest):
      prize: {send: PRIZE, within: 20 s, receive: {THANKS: {return: null}}, fault: {return: null}}
  guest:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {ask: word, within: 10 s, receive: {NOW: stay}, say: {SAY: waiting}}
      waiting: {receive: {NOW: stay, PRIZE: {send: THANKS(1), return: null}}}
"""
RULES = """
def shown(seconds): return SHOWN
def is_right(word): return word == "a shadow of many words"
"""
PLAYER = """
class Sage:
    def __init__(self, name, seed): pass
    def word(self): return "SAY", {"word": "a shadow of many words"}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "riddle.yaml").write_text(RIDDLE)
    (tmp_path / "riddle_rules.py").write_text(RULES.replace("SHOWN", "int(seconds)"))
    (tmp_path / "riddle_players.py").write_text(PLAYER)
    yield tmp_path
    for name in ("riddle_rules", "riddle_players"):
        sys.modules.pop(name, None)


def games(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["check", "riddle.yaml", "--rules", "riddle_rules", "--games", "1", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_what_no_game_came_to_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = games(capsys)

    assert code == 0
    assert "played, nothing wrong was seen; " in err
    assert "branches taken; none of host main.given, host given" in err
    assert "--player python:MODULE:CLASS (docs/players.md)" in err


def test_what_no_game_came_to_is_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = games(capsys, "--format", "json")

    reached = json.loads(out)["specs"][0]["reached"]
    assert reached["untouched"] == ["host main.given", "host given"]
    assert 0 < reached["taken"] < reached["branches"]


def test_players_of_ones_own_come_further(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = games(capsys, "--player", "python:riddle_players:Sage")

    assert code == 0
    assert "played, nothing went wrong; " in err
    assert "none of" not in err


@pytest.mark.parametrize("kind", ["exec:./bot", "random", "python:riddle_players:Nobody"])
def test_only_strategies_play_in_games(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = games(capsys, "--player", kind)

    assert code == 2
    assert f"player {kind!r}" in err


def test_clocks_ring_while_players_think(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a rule makes of the seconds is no whole number: only a game in which a player thinks comes upon it."""
    (folder / "riddle_rules.py").write_text(RULES.replace("SHOWN", "seconds / 2"))

    code, out, _ = games(capsys)

    assert code == 2
    assert "A600 host fails: " in out
    assert "when everybody thinks long (seed 0)" in out
