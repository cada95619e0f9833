"""The rules of games that ship conform, and each way not to conform is seen."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.testing import NonconformanceError
from runtime.testing.rules import check_rules

SPEC = """
protocol: dice
title: A server throws dice for its only client
wire: {framing: json}
connects: {client: server}
rules: [shaken]
messages:
  client: {THROW: {throw: $count int}}
  server: {THREW: {threw: $pips any}}
roles:
  server:
    main(client):
      throwing:
        within: 5 s
        receive:
          THROW: {let: {pips: "shaken.thrown(count, shaken.cup(seed))"}, send: THREW(pips), return: null}
        fault: {return: null}
  client:
    main:
      asking: {ask: count(), within: 5 s, receive: {THROW: {send: THROW, then: told}}, fault: {return: null}}
      told: {within: 5 s, receive: {THREW: {return: pips}}, fault: {return: null}}
"""
CUP = """
from dataclasses import dataclass

KEPT = []


@dataclass(frozen=True)
class Cup:
    seed: int


def cup(seed):
    return Cup(seed)


def thrown(count, cup):
    """


@pytest.fixture
def dice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "dice.yaml").write_text(SPEC, encoding="utf-8")
    yield tmp_path / "shaken.py"
    sys.modules.pop("shaken", None)


def test_the_rules_of_a_game_that_ships_conform() -> None:
    calls = check_rules("tsuro", seeds=range(1))

    assert calls["tsuro.place"] > 5
    assert len(calls) > 10


def test_rules_of_ones_own_conform(dice: Path) -> None:
    dice.write_text(CUP + "return tuple((cup.seed + n) % 6 + 1 for n in range(count % 5))\n", encoding="utf-8")

    assert check_rules("./dice.yaml", rules=["shaken"], seeds=range(4)) == {"shaken.cup": 8, "shaken.thrown": 8}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return count / 0", "shaken.thrown raised ZeroDivisionError"),
        ("KEPT.append(count); return len(KEPT)", "shaken.thrown is not pure: of the same arguments it made 1, then 2"),
        ("return {count}", "shaken.thrown returned what is no value"),
        ("return {1: count}", "shaken.thrown returned what is no value"),
        ("object.__setattr__(cup, 'seed', cup.seed + 1); return 6", "shaken.thrown changed what it was given"),
    ],
)
def test_what_does_not_conform_is_seen(dice: Path, body: str, text: str) -> None:
    dice.write_text(f"{CUP}{body}\n", encoding="utf-8")

    with pytest.raises(NonconformanceError, match=text):
        check_rules("./dice.yaml", rules=["shaken"], seeds=range(1))


def test_a_broken_contract_is_seen(dice: Path) -> None:
    dice.write_text(
        f"CONTRACTS = {{'thrown(count, cup)': \"'many' if and only if count is marked\"}}\n{CUP}return 'many'\n",
        encoding="utf-8",
    )

    with pytest.raises(NonconformanceError, match="broke its contract"):
        check_rules("./dice.yaml", rules=["shaken"], seeds=range(1))


def test_a_spec_that_calls_no_rule_shows_nothing() -> None:
    with pytest.raises(NonconformanceError, match="called none of its rules"):
        check_rules("sticks", seeds=range(1))
