"""What no replay confirmed is only possible: told apart from a refutation in every form, with exit code 3."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from machines.verification.verdict import POSSIBLE, REFUTED, Finding, Verdict
from runtime.cli import main
from runtime.manual.verdicts import VERDICTS

# No number is half of an odd one: a search that does not know the data takes that branch, and no session ever does.
HALVES = """
protocol: halves
connects: {client: server}
messages:
  client: {MOVE: [move, $x int]}
  server: {ODD: odd, OVER: over}
roles:
  server:
    main(client):
      begin:
        within: 5 s
        receive:
          MOVE:
            - {if: x * 2 == 7, send: ODD, return: null}
            - {send: OVER, return: null}
        fault: {return: null}
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      going:
        ask: it
        receive:
          MOVE:
            - {if: x == 100, send: MOVE, then: other}
            - {send: MOVE, then: told}
      told: {receive: {OVER: {return: null}}}
      other: {receive: {ODD: {return: null}, OVER: {return: null}}}
"""


@pytest.fixture(autouse=True)
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "halves.yaml").write_text(HALVES)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["check", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_it_is_told_apart_and_is_undetermined(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "halves.yaml")

    assert code == 3
    assert (
        ": possible: A501 client: ODD is not expected in main.told (1 client; possible: a replay went another way)"
        in out
    )
    assert "accord explain possible" in out
    assert "halves.yaml: possible with 1, 2 and 3 clients" in err
    assert err.endswith("1 possible problem\n")


def test_what_a_replay_does_confirm_is_refuted_beside_it(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (specs / "real.yaml").write_text(HALVES.replace("x * 2 == 7", "x != 7"))

    code, out, err = run(capsys, "real.yaml", "halves.yaml")

    assert code == 2
    assert "real.yaml: refuted" in err
    assert err.endswith("1 problem, 1 possible problem\n")
    assert out.count("possible: A501") == 1


def test_games_are_played_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "halves.yaml", "--games", "1")

    assert code == 3
    assert "nothing wrong was seen; " in err


def test_it_can_be_accepted(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (specs / "halves.yaml").write_text(f"{HALVES}accepted:\n  A501: no number is half of 7\n")

    assert run(capsys, "halves.yaml")[0] == 0


def test_other_programs_are_told_so_too(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "halves.yaml", "--json")
    explored = json.loads(out)["specs"][0]["explored"]
    (result,) = json.loads(run(capsys, "halves.yaml", "--format", "sarif")[1])["runs"][0]["results"]
    suites = ElementTree.fromstring(run(capsys, "halves.yaml", "--format", "junit")[1])

    assert code == 3
    assert json.loads(out)["ok"] is False
    assert explored["verdict"] == POSSIBLE
    assert [one["possible"] for one in explored["findings"]] == [True]
    assert result["level"] == "warning"
    assert result["message"]["text"].startswith("possible: client: ODD")
    assert (suites.get("failures"), suites.get("errors")) == ("0", "1")


def test_two_versions_that_may_not_fit_are_undetermined(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (specs / "same.yaml").write_text(HALVES)

    assert main(["diff", "halves.yaml", "same.yaml"]) == 3
    assert "possible" in capsys.readouterr().err


@pytest.mark.parametrize("word", VERDICTS)
def test_each_word_of_a_verdict_is_explained(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", word]) == 0
    assert capsys.readouterr().out.startswith(f"{word}: ")
    assert main(["explain", word, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == word


def test_one_finding_that_is_confirmed_or_needs_no_replay_refutes() -> None:
    def verdict(*confirmed: bool | None) -> str:
        found = tuple(Finding("A501", "", 1, (), confirmed=one) for one in confirmed)
        return Verdict((1,), 2, (1,), found).state

    assert verdict(False, False) == POSSIBLE
    assert verdict(False, True) == verdict(None, False) == REFUTED


STARTS = """
protocol: starts
connects: {client: server}
messages:
  client: {PING: ping}
  server: {PONG: pong}
roles:
  server:
    main:
      open: {accept: enter(peer), as: guests, within: never, seated: {start: serve(peer)}, ended: stay}
    enter(peer):
      new: {return: null}
    serve(peer):
      ready: {await: peer, within: 5 s, receive: {PING: {send: PONG, return: null}}, fault: {return: null}}
  client:
    main:
      begin: {send: PING, within: 5 s, receive: {PONG: {return: null}}}
"""


def test_machines_that_are_started_are_explored_and_live_values_beside_others_are_not(
    specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (specs / "starts.yaml").write_text(STARTS)
    assert main(["check", "starts.yaml"]) == 0
    assert "proved" in capsys.readouterr().err

    ended = "ended: {let: {n: n + 1}, then: all}}"
    beside = "all: {each: guest in guests, if: n >= 0, parallel: 2, run: serve(guest), then: open}"
    changed = STARTS.replace("ended: stay}", f"{ended}\n      {beside}")
    changed = changed.replace("      open:", "      live: {n: 0}\n      open:")
    (specs / "starts.yaml").write_text(changed)
    assert main(["check", "starts.yaml"]) == 3
