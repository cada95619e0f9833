"""``accord conform --exec``: a bot behind a client of ours; what it does wrong is told in words for its author."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from runtime.cli import main

RULES = '''"""Which numbers are fair."""


def fair(number):
    """Tell whether a number may be said."""
    return number < 10
'''
SPEC = """
protocol: pair
title: Two say a number each
wire: {framing: lines}
rules: [pair_rules]
connects: {client: server}
settings: {think: 1 s, reply: 2 s}
messages:
  client: {HELLO: {hello: $name string}, SAY: {say: $number int}}
  server: {ASK: ask, OVER: over}
roles:
  server:
    main:
      door: {accept: hello(peer), as: players, seats: 2, within: 20 s, timeout: {return: null}, then: round}
      round: {each: player in players, run: turn(player), then: over}
      over: {send: {players: OVER}, return: null}
    hello(peer):
      named: {await: peer, within: reply, receive: {HELLO: {return: {name: name}}}}
    turn(player):
      asked:
        send: {player: ASK}
        await: player
        within: reply
        receive: {SAY: {if: pair_rules.fair(number), return: null}}
        fault: {drop: player, return: null}
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {send: HELLO(my.name), then: listening}
      listening: {receive: {ASK: thinking, OVER: {return: null}}}
      thinking: {ask: number(), within: think, receive: {SAY: {send: SAY, then: listening}}}
"""
BOT = """
import json, sys
for line in sys.stdin:
    if "ask" in json.loads(line):
        {answer}
"""


@pytest.fixture
def conform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Returns what runs `accord conform` with a bot that answers so, in a folder with a spec and rules of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.delitem(sys.modules, "pair_rules", raising=False)
    Path("pair.yaml").write_text(SPEC)
    Path("pair_rules.py").write_text(RULES)

    def run(answer: str, *words: str) -> tuple[int, str]:
        Path("bot.py").write_text(BOT.format(answer=answer))
        bot = shlex.join([sys.executable, "bot.py"])
        code = main(["conform", "./pair.yaml", "client", "--exec", bot, "--rules", "pair_rules", *words])
        return code, capsys.readouterr().out

    return run


def test_a_game_with_a_number_of_seats_is_played_by_so_many_with_rules_of_its_own(conform) -> None:  # type: ignore[no-untyped-def]
    code, told = conform("print('{\"say\": 3}', flush=True)", "--only", "client/main.*/sends-only@of2,seat0,seed7")

    assert "covered: 3 of 3 states" in told
    assert " 0 fail" in told
    assert code == 0


def test_a_bot_that_does_not_flush_has_not_answered_and_fails(conform) -> None:  # type: ignore[no-untyped-def]
    code, told = conform("print('{\"say\": 3}')", "--only", "client/main.thinking/within@of2,seat0,seed7")

    assert "FAIL   client/main.thinking/within" in told
    assert "is each line flushed?" in told
    assert code == 1


def test_a_crash_is_told_with_its_reason_and_the_command_has_all_options(conform) -> None:  # type: ignore[no-untyped-def]
    case = "client/main.thinking/within@of2,seat0,seed7"
    code, told = conform("raise ValueError('no plan')", "--only", case, "--set", "think=900ms")

    printed = [line for line in told.splitlines() if "it printed: bot (client): crash" in line]
    assert len(printed) == 1
    assert "ValueError: no plan" in printed[0]
    again = next(line for line in told.splitlines() if "again: accord conform" in line)
    assert "--set think=900ms --rules pair_rules" in again
    assert code == 1
