"""What a check rests on: the values of settings, which --set changes, and the rest, which --why lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.cli import main

Run = Callable[..., tuple[int, str, str]]
MOODY = """
protocol: moody
title: A server that says two things in an order that a setting decides
connects: {client: server}
settings: {thanks_first: true, patience: 1 min}
messages:
  client: {ASK: ask}
  server: {THANKS: thanks, SORRY: sorry}
roles:
  server:
    main(client):
      ready: {within: patience, receive: {ASK: said}, fault: {return: null}}
      said:
        - {if: thanks_first, send: [THANKS, SORRY], return: null}
        - {send: [SORRY, THANKS], return: null}
  client:
    main:
      asking: {send: ASK, within: patience, receive: {THANKS: told}, fault: {return: null}}
      told: {within: patience, receive: {SORRY: {return: null}}, fault: {return: null}}
"""


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moody.yaml").write_text(MOODY, encoding="utf-8")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(("check", "./moody.yaml", *words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_values_of_settings_are_named_and_another_one_is_looked_at(check: Run) -> None:
    code, out, _ = check("--json")
    [report] = json.loads(out)["specs"]
    assert code == 0
    assert "settings as they are: thanks_first=true, patience=60 s" in report["explored"]["rests_on"]
    assert report["explored"]["settings"] == []

    code, out, err = check("--set", "thanks_first=false")
    assert code == 2
    assert "A501 client: SORRY is not expected in main.asking (1 client; confirmed by a replay)" in out
    assert "with thanks_first=false: " in err


def test_a_setting_that_is_none_is_told(check: Run) -> None:
    code, out, err = check("--set", "mood=good")

    assert (code, out) == (2, "")
    assert err.startswith("accord: moody has no setting 'mood'")


def test_what_a_verdict_rests_on_is_listed_when_asked_for(check: Run) -> None:
    assert "rests on" not in check()[2]

    _, _, err = check("--why")
    assert "rests on: any number of clients: each connection has a session of its own" in err
    assert "rests on: waiting messages: at most 2 for each peer\n" in err
