"""How games went is kept in a file, and a later check tells each that goes another way; and the command's options."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from machines.parser.loader import load, load_text
from runtime.cli import main
from runtime.manual import pages
from runtime.simulation.campaign import run_campaign
from runtime.simulation.snapshots import READ_BYTES_MAX, BaselineError, Games, changes, kept, read, written

STICKS = (Path(__file__).resolve().parents[2] / "specs" / "sticks.yaml").read_text()
REFUSED = pages()["A602"]


def games_of(text: str) -> Games:
    return kept("sticks", 1, run_campaign(load_text(text), {}).courses)


@pytest.fixture(scope="module")
def sticks() -> Games:
    return games_of(STICKS)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# -- the file ----------------------------------------------------------------------------------------------------------


def test_what_is_written_is_read_again(sticks: Games, tmp_path: Path) -> None:
    file = tmp_path / "games.json"
    file.write_text(written([sticks]))

    assert read(file) == {"sticks": sticks}
    assert len(file.read_text().splitlines()) == len(sticks.games) + 4  # a line for each game, so that they compare
    assert json.loads(file.read_text())["specs"][0]["protocol"] == "sticks"


# Both roles ask a question of one name, and may say the same message.
ECHOES = """
protocol: echoes
connects: {caller: cave}
messages:
  caller: {SHOUT: {shout: $text string}}
  cave: {ECHO: {echo: $text string}}
roles:
  cave:
    main(caller):
      always: {within: never, closed: {return: null}}
      silent: {within: 1 h, receive: {SHOUT: sounding}, timeout: {drop: caller, return: null}}
      sounding:
        ask: next
        within: 10 s
        receive: {ECHO: {send: ECHO, return: null}}
        timeout: {drop: caller, return: null}
        invalid: {drop: caller, return: null}
  caller:
    main:
      always: {within: 10 min, closed: {return: null}}
      begin: {ask: next, receive: {SHOUT: {send: SHOUT, then: listening}}}
      listening: {receive: {ECHO: {return: null}}}
"""


def test_games_of_two_roles_that_ask_the_same_have_names_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "echoes.yaml").write_text(ECHOES)
    (base, spec) = (str(tmp_path / "echoes.base"), str(tmp_path / "echoes.yaml"))

    assert run(capsys, "check", spec, "--record", base)[0] == 0
    assert run(capsys, "check", spec, "--baseline", base)[0] == 0
    names = [game.scene for game in read(Path(base))["echoes"].games]
    assert "the player of bob never answers next, as cave" in names
    assert "the player of bob never answers next, as caller" in names


DAMAGED = {
    "empty": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "bytes": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
    "a spec": b"protocol: sticks\n",
    "another JSON": b'{"name": "pile", "version": 1}',
    "another kind": b'{"kind": "journal", "version": 1, "specs": []}',
    "another version": b'{"kind": "games of Accord", "version": 99, "specs": []}',
    "a number for a game": (
        b'{"kind": "games of Accord", "version": 1, "specs": [{"protocol": "a", "seeds": 1, "games": [7]}]}'
    ),
    "no seeds": b'{"kind": "games of Accord", "version": 1, "specs": [{"protocol": "a", "seeds": 0, "games": []}]}',
    "less than no seeds": (
        b'{"kind": "games of Accord", "version": 1, "specs": [{"protocol": "a", "seeds": -1, "games": []}]}'
    ),
    "a spec twice": (
        b'{"kind": "games of Accord", "version": 1, "specs": [{"protocol": "a", "seeds": 1, "games": []}, '
        b'{"protocol": "a", "seeds": 1, "games": []}]}'
    ),
    "a game twice": (
        b'{"kind": "games of Accord", "version": 1, "specs": [{"protocol": "a", "seeds": 1, "games": ['
        b'{"scene": "s", "seed": 0, "actors": {}}, {"scene": "s", "seed": 0, "actors": {}}]}]}'
    ),
    "a game of a seed that it does not have": (
        b'{"kind": "games of Accord", "version": 1, "specs": [{"protocol": "a", "seeds": 1, "games": ['
        b'{"scene": "s", "seed": 1, "actors": {}}]}]}'
    ),
    "shared with nothing": (
        b'{"kind": "games of Accord", "version": 1, "specs": [{"protocol": "a", "seeds": 1, "games": '
        b'[{"scene": "s", "seed": 0, "actors": {"ann": {"end": null, "same": 3}}}]}]}'
    ),
}


@pytest.mark.parametrize("raw", DAMAGED.values(), ids=DAMAGED)
def test_a_file_that_is_no_baseline_is_refused_in_a_sentence(
    raw: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "games.json"
    file.write_bytes(raw)

    with pytest.raises(BaselineError, match=r"games\.json (is|was) "):
        read(file)
    code, out, err = run(capsys, "check", "sticks", "--baseline", str(file))
    assert (code, out) == (2, "")
    assert err.startswith(f"accord: {file} ")
    assert len(err.splitlines()) == 1


def test_a_cut_file_is_refused_wherever_it_is_cut(sticks: Games, tmp_path: Path) -> None:
    raw = written([sticks]).encode()
    file = tmp_path / "games.json"
    for at in range(0, len(raw) - 3, len(raw) // 40):
        file.write_bytes(raw[:at])
        with pytest.raises(BaselineError):
            read(file)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there are no such devices here")
def test_nothing_is_read_from_or_written_to_what_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    told = "is no file that games could stand in"

    assert run(capsys, "check", "sticks", "--baseline", "/dev/zero") == (2, "", f"accord: /dev/zero {told}\n")
    code, out, err = run(capsys, "check", "sticks", "--record", "/dev/full")
    assert (code, out, err) == (2, "", f"accord: /dev/full {told}; it is not written over\n")


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "games.json"
    with file.open("wb") as opened:
        opened.truncate(READ_BYTES_MAX + 1)

    with pytest.raises(BaselineError, match="is longer than 268435456 bytes"):
        read(file)


def test_a_baseline_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "sticks", "--baseline", str(tmp_path / "none.json"))

    assert (code, out) == (2, "")
    assert err == f"accord: {tmp_path / 'none.json'} can not be read: no such file or directory\n"


# -- what is told ------------------------------------------------------------------------------------------------------


def test_a_spec_that_only_looks_otherwise_goes_the_same_way(sticks: Games) -> None:
    renamed = STICKS.replace("judged", "next_round").replace("turn(player", "go(player").replace("    turn", "    go")
    assert renamed != STICKS

    assert changes(sticks, games_of(renamed)) == []


@pytest.mark.parametrize(
    ("old", "new", "actor", "message", "told"),
    [
        ("sticks: 21", "sticks: 20", "host", "LEFT", "host sends LEFT to ann with other values"),
        ("window: 30 s", "window: 40 s", "host", "LEFT", "host sends LEFT to ann at 40 s, not at 30 s"),
        ("players: TAKEN(count, player.name)", "player: TAKEN(count, player.name)", "host", "LEFT",
         "host sends LEFT to bob, where it sent TAKEN to bob"),
    ],
)  # fmt: skip
def test_an_edit_is_told_with_the_first_message_that_differs(
    old: str, new: str, actor: str, message: str, told: str, sticks: Games
) -> None:
    assert old in STICKS
    first, *others = changes(sticks, games_of(STICKS.replace(old, new)))

    assert (first.scene, first.actor, first.message) == ("everybody is good", actor, message)
    assert first.told.startswith(told)
    assert len(others) > 10


def test_another_end_of_a_session_is_told(sticks: Games) -> None:
    """What a client returns is nothing that anybody hears."""
    (first, *_) = changes(sticks, games_of(STICKS.replace("WINNER: {return: winner}", "WINNER: {return: null}")))

    assert (first.actor, first.message) == ("", "")
    assert first.told == 'ann ends with null, where it ended with "ann"'


def test_new_games_and_those_played_no_more_are_told(sticks: Games) -> None:
    fewer = Games("sticks", 1, sticks.games[1:])

    assert [change.scene for change in changes(fewer, sticks)] == ["everybody is good"]
    assert "1 game not in the baseline" in changes(fewer, sticks)[0].told
    assert "1 game of the baseline played no more" in changes(sticks, fewer)[0].told


def test_only_games_of_seeds_that_both_have_are_compared(sticks: Games) -> None:
    spec = load_text(STICKS)
    more = kept("sticks", 2, run_campaign(spec, {}, 2).courses)

    assert len(more.games) > len(sticks.games)
    assert changes(sticks, more) == changes(more, sticks) == []


# -- the command -------------------------------------------------------------------------------------------------------


def test_games_are_recorded_compared_and_an_edit_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = tmp_path / "mine.yaml"
    spec.write_text(STICKS)

    code, out, err = run(capsys, "check", "mine.yaml", "--record", "games.json")
    assert (code, out) == (0, "")
    assert err.endswith("games recorded: accord check --baseline games.json\n")
    code, out, err = run(capsys, "check", "mine.yaml", "--baseline", "games.json")
    assert (code, out) == (0, "")
    assert "games: " in err
    assert "played, nothing went wrong" in err

    spec.write_text(STICKS.replace("sticks: 21", "sticks: 20"))
    code, out, err = run(capsys, "check", "mine.yaml", "--baseline", "games.json")
    line = STICKS.splitlines().index("    LEFT:   left ${left Left}") + 1
    head, *_ = out.splitlines()
    assert code == 2
    assert head.startswith(
        f"mine.yaml:{line}:5: A604 host sends LEFT to ann with other values, when everybody is good (seed 0) "
    )
    assert "host before: 30 ann LEFT " in out
    assert "more games go another way" in out
    (count,) = re.findall(r"^(\d+) problems$", err, re.MULTILINE)
    assert f"played, {count} problems; " in err
    shown = json.loads(run(capsys, "check", "mine.yaml", "--baseline", "games.json", "--json")[1])
    (about,) = shown["specs"]
    assert about["games"] > 50
    assert {problem["code"] for problem in about["problems"]} == {"A604"}
    assert about["problems"][0]["messages"][-1].startswith("host before: ")


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refused.yaml").write_text(REFUSED.bad.text)
    return tmp_path


@pytest.mark.usefixtures("refused")
def test_a_problem_of_a_game_is_told_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "refused.yaml", "--games", "1")
    assert code == 2
    assert "A602 client does nothing wrong" in out
    assert 'TOLD  {"told":8}' in out
    assert err.endswith("1 problem\n")

    log = json.loads(run(capsys, "check", "refused.yaml", "--games", "1", "--format", "sarif")[1])
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "A602"
    assert "codeFlows" in result
    assert log["runs"][0]["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == REFUSED.says

    suite = ElementTree.fromstring(run(capsys, "check", "refused.yaml", "--games", "1", "--format", "junit")[1])
    (failure,) = suite.iter("failure")
    assert failure.get("type") == "A602"
    assert "TOLD" in (failure.text or "")


def test_games_that_meet_a_bound_are_unknown_in_every_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "new", "mine", "--kind", "game")[0] == 0
    spec = tmp_path / "mine.yaml"
    spec.write_text(spec.read_text().replace("seats: 2..4", "seats: 300..400"))
    told = "no game was seen: none of "

    code, out, err = run(capsys, "check", "./mine.yaml", "--games", "1")
    assert (code, out) == (3, "")
    assert f"./mine.yaml: unknown: games: {told}" in err
    assert "nothing went wrong" not in err
    code, out, _ = run(capsys, "check", "./mine.yaml", "--games", "1", "--json")
    shown = json.loads(out)
    assert (code, shown["ok"]) == (3, False)
    assert shown["specs"][0]["unknown"][0].startswith(told)
    log = json.loads(run(capsys, "check", "./mine.yaml", "--games", "1", "--format", "sarif")[1])
    notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [told in note["message"]["text"] for note in notes].count(True) == 1  # another: 300 clients were not tried


def test_that_a_baseline_has_fewer_seeds_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "check", "sticks", "--record", "games.json")[0] == 0

    code, out, err = run(capsys, "check", "sticks", "--baseline", "games.json", "--games", "2")
    assert (code, out) == (0, "")
    assert err.count("the baseline has 1") == 1


@pytest.mark.usefixtures("refused")
def test_without_the_option_no_game_is_played(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "refused.yaml")

    assert (code, out) == (0, "")
    assert "games" not in err


def test_a_problem_of_games_can_be_accepted_and_is_not_in_vain(
    refused: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (refused / "agreed.yaml").write_text(f"{REFUSED.bad.text}accepted: {{A602: it is told so}}\n")
    (refused / "vain.yaml").write_text(f"{REFUSED.mended.text}accepted: {{A602: it counts wrong}}\n")

    code, out, _ = run(capsys, "check", "agreed.yaml", "--games", "1")
    assert code == 0
    assert "accepted: A602" in out
    assert run(capsys, "check", "vain.yaml")[0] == 0  # nobody looked for it
    code, out, _ = run(capsys, "check", "vain.yaml", "--games", "1")
    assert code == 2
    assert "A350 A602 is accepted, but is not there" in out


def test_what_is_wrong_is_not_recorded_and_no_other_file_is_written_over(
    refused: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "check", "refused.yaml", "--record", "games.json")
    assert code == 2
    assert err.endswith("games.json is not written: there are problems\n")
    assert not (refused / "games.json").exists()

    before = (refused / "refused.yaml").read_text()
    code, out, err = run(capsys, "check", "sticks", "--record", "refused.yaml")
    assert (code, out) == (2, "")
    assert "it is not written over" in err
    assert (refused / "refused.yaml").read_text() == before


def test_games_are_not_played_while_something_else_is_wrong(refused: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (refused / "refused.yaml").write_text(pages()["A500"].bad.text)

    code, out, err = run(capsys, "check", "refused.yaml", "--games", "1")
    assert code == 2
    assert "A500" in out
    assert "A60" not in out
    assert "no games: they are played once nothing else is wrong" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--games", "101"), "accord: --games 101 is not within 0..100\n"),
        (("--games", "-1"), "accord: --games -1 is not within 0..100\n"),
        (("--games", "1", "--longer", "0"), "accord: --longer 0 is not within 1..1000\n"),
        (("--longer", "2"), "accord: --longer is for games: --games, --baseline or --record\n"),
        (("--record", "games.json", "--watch"), "accord: --record is for a check that is not watched\n"),
    ],
)
def test_a_wrong_option_is_told(
    words: tuple[str, ...], told: str, refused: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "check", "refused.yaml", *words) == (2, "", told)


def test_a_baseline_of_other_specs_is_told(refused: Path, sticks: Games, capsys: pytest.CaptureFixture[str]) -> None:
    (refused / "games.json").write_text(written([sticks]))

    (refused / "mended.yaml").write_text(REFUSED.mended.text)
    code, _, err = run(capsys, "check", "mended.yaml", "--baseline", "games.json")
    assert code == 2
    assert err.endswith("accord: games.json: the baseline has no games of next-number, only of sticks: record it\n")


def test_a_page_of_games_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", "a601")

    assert code == 0
    assert out.startswith(f"A601: {pages()['A601'].says}\n")


def test_a_shipped_spec_is_checked_with_its_games(capsys: pytest.CaptureFixture[str]) -> None:
    spec = load("tsuro")
    code, out, err = run(capsys, "check", "tsuro", "--games", "1")

    assert (code, out) == (0, "")
    assert f"{spec.protocol}: games: " in err
