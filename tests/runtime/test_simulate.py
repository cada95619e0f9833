"""A game in memory is the game that is played over TCP with the same seed, whoever plays; however many play at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from machines.parser.loader import load, rules_modules
from runtime.cli import main
from runtime.players.base import NEVER, UnknownPlayerError
from runtime.players.registry import prompt_player
from runtime.simulation.local_games import LocalGames
from tests.parts import by_default

# What nobody is meant to run into is the spec's own limit, of seconds: over TCP a machine that stands still for so long
# makes late who has answered. Only where a limit is to run out is it short, and still long for a busy machine.
SHORT = ("reply=1.5 s", "think=1.2 s")
WINDOW = ("window=1.5 s",)  # of a sign-up that always lasts so long
SETTINGS = {"trains": WINDOW, "trains-official": WINDOW}
WAITED_FOR = {"silent", "gives-up"}
BAD = ("silent", "malformed", "gone", "illegal-later")

GAMES = [
    ("tsuro", ("second", "second", "second")),
    ("tsuro", ("random", "first", "random", "illegal", "second")),
    ("tsuro", ("example", "second", "random")),
    ("santorini-official", ("random", "diagonal", "random", "illegal-placement")),
    ("santorini-prompts", ("random", "diagonal", "random")),
    ("santorini-relay", ("random", "diagonal", "gives-up")),
    ("santorini-rulecheck", ("diagonal", "check-flood")),
    ("trains", ("buy-now", "hold-10", "cheat", "bad-pick", "bad-play", "random")),
    ("trains", ("buy-now", "silent", "gone", "malformed")),
    ("trains-official", ("buy-now", "bad-setup", "hold-10", "bad-more")),
    ("sticks", ("random", "random", "random")),
    ("sticks", ("random", "gone", "malformed", "example")),
    ("smtp", ("random",)),
    *((name, ("diagonal", bad)) for name in ("santorini-official", "santorini-relay") for bad in BAD),
    *((name, ("random", bad)) for name in ("santorini-prompts", "santorini-rulecheck") for bad in BAD),
    *(("tsuro", ("second", bad, "random")) for bad in BAD),
    ("tsuro", ("second", "infinite", "random")),
]
DEFAULT = [game for number, game in enumerate(GAMES) if number % 3 == 0]


def runs_out(name: str, kinds: Sequence[str]) -> bool:
    """Whether a limit runs out in a game: somebody never answers, or the AI of one who is gone stays silent."""
    return bool(WAITED_FOR & {*kinds}) or (name == "santorini-relay" and bool({"gone", "malformed"} & {*kinds}))


def words(name: str, kinds: Sequence[str]) -> list[str]:
    """Return the words of a command line for a game whose limits nobody runs into who is not meant to."""
    given = [word for kind in kinds for word in ("--player", kind)]
    settings = (*SETTINGS.get(name, ()), *(SHORT if runs_out(name, kinds) else ()))
    settings = (*settings, "checks=10 per 1 s") if "check-flood" in kinds else settings  # nor how many come in a second
    return [name, *given, *(word for one in settings for word in ("--set", one))]


def lines(capsys: pytest.CaptureFixture[str], *given: str) -> list[dict[str, Any]]:
    main(given)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def without_time(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a game without what a clock says, and by which way it was played."""
    told = {key: value for key, value in facts.items() if key not in ("seconds", "backend", "journal")}
    told["losses"] = [{key: value for key, value in loss.items() if key != "seconds"} for loss in facts["losses"]]
    return told


@pytest.mark.parametrize(("name", "kinds"), by_default(GAMES, DEFAULT), ids=lambda part: str(part))
def test_a_game_in_memory_is_that_over_tcp_with_the_same_seed(
    name: str, kinds: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = words(name, kinds)
    [over_tcp] = lines(capsys, "play", *given, "--seed", "5", "--json", "--quiet", "--no-journal")
    in_memory, another = lines(capsys, "simulate", *given, "--seed", "5", "--games", "2")

    assert without_time(in_memory) == without_time(over_tcp)
    assert (another["seed"], another["journal"], another["backend"]) == (6, None, "memory")


def test_the_lines_of_two_workers_are_those_of_one_in_the_order_of_their_seeds(
    capfd: pytest.CaptureFixture[str],
) -> None:
    given = ("simulate", *words("tsuro", ["random"] * 4), "--seed", "3", "--games", "70")
    assert main(given) == 0
    alone = capfd.readouterr().out
    assert main([*given, "--workers", "2"]) == 0

    assert capfd.readouterr().out == alone
    assert [json.loads(line)["seed"] for line in alone.splitlines()] == list(range(3, 73))
    assert len({line.partition('"seed"')[0] for line in alone.splitlines()}) > 60


# -- players of all sorts ----------------------------------------------------------------------------------------------

STRATEGIES = """
import os, sys

class Nim:
    def __init__(self, name, seed): pass
    def move(self, left): return {"take": 1}

class Prints(Nim):
    def move(self, left):
        print("I think")
        return {"take": 1}

class Crashes(Nim):
    def move(self, left): raise ValueError("no idea")

class Exits(Nim):
    def move(self, left): sys.exit(3)

class Ends(Nim):
    def move(self, left): os._exit(7)

class Stubborn(Nim):
    def move(self, left): return ...

class Waits(Nim):
    async def move(self, left): return {"take": 1}

class Deaf(Nim):
    def heard(self, message, fields): raise ValueError("no ears")

class Mute(Nim):
    move = None
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a game of turns, ``mine.yaml``, and strategies for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["new", "mine", "--kind", "game"]) == 0
    (tmp_path / "nim.py").write_text(STRATEGIES)
    yield tmp_path
    sys.modules.pop("nim", None)


@pytest.mark.parametrize("kind", ["Prints", "Crashes", "Exits", "Stubborn", "Waits", "Deaf", "Mute"])
def test_what_a_strategy_does_instead_of_answering_has_the_same_end_as_over_tcp(
    kind: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    players = ("--player", "python:nim:Nim", "--player", f"python:nim:{kind}")
    given = ("./mine.yaml", *players, "--set", "reply=1.5 s", "--set", "think=1.2 s", "--seed", "1")
    capsys.readouterr()
    [over_tcp] = lines(capsys, "play", *given, "--json", "--quiet", "--no-journal")
    [in_memory] = lines(capsys, "simulate", *given)

    assert without_time(in_memory) == without_time(over_tcp)
    assert in_memory["result"] == ("player2" if kind == "Prints" else "")


def test_what_a_strategy_prints_in_a_worker_is_no_result(mine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert main(["simulate", "./mine.yaml", "--player", "python:nim:Prints", "--games", "4", "--workers", "2"]) == 0
    out, err = capfd.readouterr()

    assert [json.loads(line)["spec"] for line in out.splitlines()] == ["mine"] * 4
    assert "I think" in err


def test_a_strategy_that_ends_its_process_is_told_in_one_sentence(
    mine: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert main(["simulate", "./mine.yaml", "--player", "python:nim:Ends", "--games", "4", "--workers", "2"]) == 1
    out, err = capfd.readouterr()

    assert out == ""
    assert "a worker process was ended in the midst of a game" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("kind", "said"), [("human", "a person"), ("exec:cat", "the program of 'exec:cat'")])
def test_who_cannot_decide_at_once_is_refused_in_one_sentence(
    kind: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "sticks", "--player", kind]) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert err == f"accord: {said} cannot play in memory, where all is decided at once: accord play has them over TCP\n"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("--games", "0"), "--games 0 is not within 1..10000000"),
        (("--workers", "0"), "--workers 0 is not within 1..256"),
        (("--seed", str((1 << 63) - 1), "--games", "2"), "leaves no seed for the last of 2 games"),
    ],
)
def test_a_number_out_of_range_is_an_argument_that_is_wrong(
    given: Sequence[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "sticks", *given]) == 2
    assert why in capsys.readouterr().err


# -- ends that do not come ---------------------------------------------------------------------------------------------

STANDSTILL = """
protocol: standstill
connects: {player: host}
messages:
  player: {HELLO: {hello: $name string}}
  host: {STOP: stop}
roles:
  host:
    main:
      door: {accept: greet(peer), as: players, seats: 1..1, within: 5 s, then: told, timeout: {return: null}}
      told: {await: players, within: never, receive: {HELLO: ended}, fault: {return: null}}
      ended: {send: {players: STOP}, return: null}
    greet(peer):
      first: {await: peer, within: 5 s, receive: {HELLO: {return: {name: name}}}}
  player:
    main:
      begin: {send: HELLO(my.name), then: waiting}
      waiting: {within: never, receive: {STOP: {return: null}}, closed: {return: null}}
"""


def test_a_game_in_which_nothing_moves_any_more_is_told_with_where_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "standstill.yaml"
    path.write_text(STANDSTILL)
    assert main(["simulate", str(path), "--seed", "1"]) == 1
    out, err = capsys.readouterr()

    assert json.loads(out)["failed"] == "nothing moves any more: host is in main.told"
    assert "1 of 1 games did not come to their ends" in err


# -- without the command -----------------------------------------------------------------------------------------------


def test_games_are_played_one_after_another_from_the_same_compiled_roles() -> None:
    spec = load("tsuro", {"seats": "3..3"})
    names = ("ann", "bob", "cyd")
    games = LocalGames(spec, rules_modules(spec), server="server", client="client", names=names, kinds=["random"] * 3)
    first, second, again = games.play(1), games.play(2), games.play(1)

    assert None not in (first.ended, second.ended)
    assert first.ended == again.ended != second.ended
    assert [one.name for one in first.players] == list(names)


def test_a_prompt_player_that_never_answers_says_so() -> None:
    silent = prompt_player("silent", spec=load("sticks"), name="ann", seed=1)
    assert silent.decide_now("take", (), ("TAKE",), 1.0) is NEVER
    with pytest.raises(UnknownPlayerError, match="no player 'nobody' for sticks"):
        prompt_player("nobody", spec=load("sticks"), name="ann", seed=1)
