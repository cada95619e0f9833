"""Answers given beforehand: a game of Trains on a map of one's own, from a file; and what is said of a wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from runtime.cli import main
from runtime.players.scripted import BYTES_MAX, GivenAnswers

Run = Callable[..., tuple[int, str, str]]

# Six cities, all joined: 15 destinations, enough for two players, who choose two of five each.
MAP: dict[str, Any] = {
    "width": 100,
    "height": 100,
    "cities": [
        *(["Ada", [10, 10]], ["Bex", [50, 10]], ["Cor", [90, 10]]),
        *(["Dun", [10, 90]], ["Eck", [50, 90]], ["Fox", [90, 90]]),
    ],
    "connections": {
        "Ada": {"Bex": {"red": 3}, "Dun": {"blue": 4}},
        "Bex": {"Cor": {"green": 5}, "Eck": {"white": 3, "red": 4}},
        "Cor": {"Fox": {"blue": 3}},
        "Dun": {"Eck": {"green": 4}},
        "Eck": {"Fox": {"white": 5}},
    },
}  # fmt: skip
# Two players need seven destinations: four cities have six, and five of which one is not joined, too.
SMALL = {
    "width": 100,
    "height": 100,
    "cities": MAP["cities"][:4],
    "connections": {"Ada": {"Bex": {"red": 3}, "Dun": {"blue": 4}}, "Bex": {"Cor": {"green": 5}}},
}
APART = {**SMALL, "cities": MAP["cities"][:5]}
PLAY = ("play", "trains", "--seed", "1", "--player", "hold-10", "--player", "buy-now", "--set", "window=300 ms")


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "map.json").write_text(json.dumps(MAP))
    (tmp_path / "map.yaml").write_text(yaml.safe_dump(MAP))

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


def setups(journal: Path) -> list[Any]:
    """Return the maps that the server set its players up with."""
    sent = [effect for line in journal.read_text().splitlines()[1:] for effect in json.loads(line).get("out", ())]
    return [json.loads(effect[3])["Map"] for effect in sent if effect[0] == "send" and effect[2] == "setup"]


@pytest.mark.parametrize("file", ["map.json", "map.yaml"])
def test_a_game_is_played_on_the_map_in_a_file(file: str, accord: Run, tmp_path: Path) -> None:
    code, out, _ = accord(*PLAY, "--answer", f"map=@{file}", "-q", "--json", "--journal", "game.jsonl")

    facts = json.loads(out)
    assert (code, facts["failed"]) == (0, None)
    assert setups(tmp_path / "game.jsonl") == [MAP, MAP]
    assert accord("replay", "game.jsonl")[0] == 0, "the answers are in the journal"


def test_without_it_the_players_bring_their_own(accord: Run, tmp_path: Path) -> None:
    assert accord(*PLAY, "-q", "--journal", "game.jsonl")[0] == 0

    assert MAP not in setups(tmp_path / "game.jsonl")


UNSORTED = {**MAP, "connections": {"Bex": {"Ada": {"red": 3}}}}
TOO_SMALL = "it has 6 destinations (pairs of cities that are joined), and a game of 2 needs 7"
WRONG = [
    ("map", "--answer 'map' is not of the form QUESTION=JSON or QUESTION=@FILE"),
    ("mapp=@map.json", "--answer mapp: trains has no question 'mapp': did you mean 'map'?"),
    ("zzz=1", "--answer zzz: trains has no question 'zzz': there is map, pick, play"),
    ("map=@none.json", "--answer map: none.json: it cannot be read: No such file or directory"),
    ("map=@.", "--answer map: .: it cannot be read: Is a directory"),
    ("map=@cut.json", "--answer map: cut.json: line 1, column 10: it is no JSON: Expecting value"),
    ("map=@cut.yaml", "--answer map: cut.yaml: it is no YAML: "),
    ("map=@latin.json", "--answer map: latin.json: it is not UTF-8"),
    ("map=@long.json", f"--answer map: long.json: it has more than {BYTES_MAX} bytes"),
    ("map=@date.yaml", "--answer map: date.yaml: it is no map: "),
    ("map={}", '--answer map: it is no map: expected a key "width", got {}'),
    ("map={", "--answer map: this is no JSON: "),
    (f"map={json.dumps(SMALL)}", f"--answer map: {TOO_SMALL}"),
    (f"map={json.dumps(APART)}", f"--answer map: {TOO_SMALL}"),
    (f"map={json.dumps(UNSORTED)}", "--answer map: the connection of Bex and Ada belongs under the one that"),
]  # fmt: skip


@pytest.mark.parametrize("command", [("play", "trains"), ("join", "trains", "127.0.0.1:1", "--name", "ann")])
@pytest.mark.parametrize(("given", "text"), WRONG, ids=[given[:20] for given, _ in WRONG])
def test_what_is_no_answer_is_one_sentence_before_anything_runs(
    given: str, text: str, command: tuple[str, ...], accord: Run, tmp_path: Path
) -> None:
    (tmp_path / "cut.json").write_text('{"width":')
    (tmp_path / "cut.yaml").write_text("width: 3\n  height: [")
    (tmp_path / "latin.json").write_bytes(b'{"width": "\xe9"}')
    (tmp_path / "long.json").write_text(" " * (BYTES_MAX + 1))
    (tmp_path / "date.yaml").write_text("width: 2020-01-01\n")

    code, out, err = accord(*command, "--answer", given)

    assert (code, out) == (2, "")
    assert err.startswith(f"accord: {text}")
    assert err.count("\n") == 1


def test_a_map_must_do_for_as_many_as_play_where_that_is_known(accord: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(
        "runtime.commands.journals.JournalOptions.opened", lambda *_, **__: pytest.fail("it would have run")
    )

    for players in (6, 7, 8, 20):
        with suppress(pytest.fail.Exception):
            told.append(accord("play", "trains", "--players", str(players), "--answer", "map=@map.json", "-q")[2])

    text = "accord: --answer map: map.json: it has 15 destinations (pairs of cities that are joined), and a game of"
    assert told == [f"{text} 7 needs 17\n", f"{text} 8 needs 19\n", f"{text} 8 needs 19\n"], "six are few enough"


def test_who_joins_does_not_know_how_many_play(accord: Run) -> None:
    code, _, err = accord("join", "trains", "127.0.0.1:1", "--name", "ann", "--answer", "map=@map.json")

    assert code == 4
    assert "cannot connect" in err


def test_an_answer_is_given_once(accord: Run) -> None:
    code, _, err = accord("play", "trains", "--answer", "map=@map.json", "--answer", "map=@map.yaml")

    assert (code, err) == (2, "accord: the answer to 'map' is given twice\n")


def test_the_player_is_asked_all_else_and_hears_everything() -> None:
    class Asked:
        def __init__(self) -> None:
            self.questions: list[str] = []
            self.news: list[str] = []

        async def decide(self, question: str, arguments: Any, messages: Any, seconds: Any) -> Any:
            self.questions.append(question)
            return "its own"

        def heard(self, message: str, fields: dict[str, Any]) -> None:
            self.news.append(message)

    async def ask() -> list[Any]:
        player.heard("setup", {})
        return [await player.decide(question, (), (), None) for question in ("map", "pick", "map")]

    asked = Asked()
    player = GivenAnswers(asked, {"map": 7})

    assert anyio.run(ask) == [7, "its own", 7]
    assert (asked.questions, asked.news) == (["pick"], ["setup"])
