"""Hostile clients over all shipped specs, in virtual time: nothing crashes, hangs, grows, or blames who is honest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.hostile import campaign, sessions_of
from machines.parser.loader import load, load_text, shipped
from runtime.simulation.hostile_game import MISDEEDS, HostileCampaign, HostileGame
from tests.parts import played

ROOT = Path(__file__).resolve().parent.parent.parent
STRANGERS = [name for name in shipped() if load(name).foreign]  # roles that others play
GAMES = 12  # of each spec; `python -m benchmarks.hostile` plays as many as one likes

# A server of two that has no answer to what is no move: whoever sends rubbish ends the game of both.
FRAIL = """
protocol: frail
wire: {framing: lines}
connects: {client: server}
messages:
  client: {NAME: [name, $name string], MOVE: [move, $x int]}
  server: {ASK: ask, OVER: over}
roles:
  server:
    main:
      door: {accept: hello(peer), as: players, seats: 2, within: 10 s, timeout: {return: null}, then: round}
      round: {each: player in players, run: turn(player), then: end}
      end: {send: {players: OVER}, return: null}
    hello(peer):
      named: {await: peer, within: 5 s, receive: {NAME: {return: {name: name}}}}
    turn(player):
      asked:
        send: ASK
        await: player
        within: 5 s
        receive: {MOVE: {return: null}}
        ANSWERS
  client:
    main:
      always: {within: 1 min, fault: {return: null}}
      hello: {ask: hello, receive: {NAME: {send: NAME, then: waiting}}}
      waiting: {receive: {ASK: moving, OVER: {return: null}}}
      moving: {ask: move, receive: {MOVE: {send: MOVE, then: waiting}}}
"""


@pytest.mark.parametrize("name", [*played(), *STRANGERS])
def test_nobody_honest_pays_for_what_others_do(name: str) -> None:
    misdeeds = sessions = 0
    for seed in range(GAMES):
        game, found = campaign(name).play(seed)
        assert not found, f"seed {seed}: {found[0].code} {found[0].text}"
        misdeeds += game.misdeeds
        sessions += sessions_of(game)
        for actor in game.actors:
            wire = actor.session.program.wire
            for seat in actor.session.seats:
                assert len(seat.inbox) <= wire.inbox_messages_max + 2, "but for a fault and a loss"

    assert sessions >= GAMES
    assert misdeeds > 0


@pytest.mark.parametrize(("answers", "fails"), [("", True), ("fault: {drop: player, return: null}", False)])
def test_a_server_that_one_client_can_end_for_all_is_found(answers: str, fails: bool) -> None:
    spec = load_text(FRAIL.replace("ANSWERS", answers), "frail.yaml")
    frail = HostileCampaign(spec, {})

    found = [trouble for seed in range(30) for trouble in frail.play(seed)[1]]

    assert bool([trouble for trouble in found if trouble.code == "A600"]) is fails


def test_strangers_say_all_that_their_role_may_say() -> None:
    games = [campaign("memcached").play(seed)[0] for seed in range(40)]
    spoken = {one.message for game in games for actor in game.actors for one in actor.spoken}

    assert spoken >= {"STORE", "COUNT", "TOUCH", "DELETE", "FLUSH", "GET", "VERSION", "QUIT", "OTHER"}


def test_games_follow_from_the_seed() -> None:
    def said(seed: int) -> list[object]:
        game, _ = campaign("sticks").play(seed)
        return [(actor.name, actor.sent) for actor in game.actors]

    assert [said(seed) for seed in range(5)] == [said(seed) for seed in range(5)]
    assert said(1) != said(2)


@pytest.mark.parametrize("misdeed", MISDEEDS, ids=lambda misdeed: misdeed.__name__)
def test_every_misdeed_is_done(misdeed: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.simulation.hostile_game.MISDEEDS", (misdeed,))
    games: list[HostileGame] = [campaign("sticks").play(seed)[0] for seed in range(5)]

    assert sum(game.misdeeds for game in games) > 0
    assert any(actor.blame == "it is hostile" for game in games for actor in game.actors)


def test_a_game_is_over_soon_after_nobody_is_hostile_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(share: float) -> list[list[list[object]]]:
        monkeypatch.setattr("runtime.simulation.hostile_game.TO_THE_END", share)
        return [[list(actor.sent) for actor in campaign("sticks").play(seed)[0].actors] for seed in range(20)]

    def messages(games: list[list[list[object]]]) -> int:
        return sum(len(sent) for game in games for sent in game)

    monkeypatch.setattr("runtime.simulation.hostile_game.AFTER_MAX", 4)
    soon, late = said(0.0), said(1.0)

    assert messages(soon) < messages(late)
    for before, after in zip(soon, late, strict=True):
        assert [sent[: len(begun)] for begun, sent in zip(before, after, strict=False)] == before, "the same till then"


def test_the_command_says_how_many_there_were_and_what_was_found_and_goes_on_from_its_file(tmp_path: Path) -> None:
    kept = tmp_path / "run.json"

    def told(sessions: int) -> str:
        words = [sys.executable, "-m", "benchmarks.hostile", "--jobs", "1", "--resume", str(kept), "sticks"]
        words += ["--sessions", str(sessions)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "50 hostile sessions in 50 games, " in (first := told(20))
    assert " misdeeds: 0 found; " in first
    assert json.loads(kept.read_text())["seeds"] == {"sticks": 50}
    assert "50 hostile sessions in 50 games, " in told(50), "there are so many"
    assert "100 hostile sessions in 100 games, " in told(51)
    assert json.loads(kept.read_text())["seeds"] == {"sticks": 100}
