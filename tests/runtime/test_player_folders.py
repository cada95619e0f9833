"""A folder for each player has all that it was sent and said, its board, its standard error, and why it lost."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machines.effects import Drop, Ended, Send, Violation
from machines.parser.loader import load
from runtime.cli import main
from runtime.journal.reading import read_journal
from runtime.sessions.player_folders import (
    BOARD,
    CONVERSATION,
    ERRORS,
    HELD_CHARACTERS_MAX,
    INPUT,
    REASONS,
    FolderError,
    PlayerFolders,
    file_name,
)
from tests.runtime.fakes import MemoryJournal


def played(folder: Path, spec: str, *players: str, more: tuple[str, ...] = ("--no-journal",)) -> dict[str, list[str]]:
    """Play a game; return the names of the files in each player's folder."""
    words = ["play", spec, "--seed", "1", "--quiet", "--player-folders", str(folder), *more]
    for player in players:
        words += ["--player", player]
    assert main(words) == 0
    return {path.name: sorted(file.name for file in path.iterdir()) for path in folder.iterdir()}


def test_each_player_has_its_own_and_only_its_own(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import sys\nprint('no map', file=sys.stderr)\nsys.stdin.readline()\nsys.exit(3)\n", encoding="utf-8"
    )
    folder = tmp_path / "new" / "folders"

    found = played(folder, "tsuro", "ann=random", "bob=illegal", f"cyd=exec:python3 {bot}")

    assert found == {
        "ann": [BOARD, CONVERSATION],
        "bob": [BOARD, CONVERSATION, REASONS],
        "cyd": [BOARD, CONVERSATION, INPUT, REASONS, ERRORS],
    }
    told = {name: (folder / name / CONVERSATION).read_text() for name in found}
    assert all(f'it said      "{name}"' in text for name, text in told.items())
    assert not any(f'it said      "{other}"' in told[name] for name in told for other in told if other != name)
    assert re.search(r"^ +\d+\.\d{3} s  AT FAULT     bob \(client\): illegal: ", told["bob"], re.MULTILINE)
    assert (folder / "bob" / REASONS).read_text().startswith("bob (client): illegal: ")
    assert (folder / "cyd" / ERRORS).read_text() == "no map\n"
    assert "crash: python3 ended with exit code 3" in (folder / "cyd" / REASONS).read_text()
    assert " 0   1   2   3 " in (folder / "ann" / BOARD).read_text()


def test_the_conversation_names_the_same_cause_as_the_reasons_and_a_program_can_be_fed_what_it_read(
    tmp_path: Path,
) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("import sys\nfor line in sys.stdin:\n  if '\"ask\"' in line: sys.exit(3)\n")

    played(tmp_path / "out", "sticks", "ann=random", f"bob=exec:{sys.executable} {bot}")

    told = (tmp_path / "out" / "bob" / CONVERSATION).read_text()
    reason = (tmp_path / "out" / "bob" / REASONS).read_text().strip()
    assert reason.startswith("bob (player): crash: ")
    assert re.findall(r"AT FAULT +(.*)", told) == [reason]
    assert "its connection ended: its client hung up, as its program was at fault" in told
    read = [json.loads(line) for line in (tmp_path / "out" / "bob" / INPUT).read_text().splitlines()]
    assert read[0] == {"player": "bob"}
    assert [line["ask"] for line in read if "ask" in line] == ["move"]
    again = subprocess.run([sys.executable, bot], input=(tmp_path / "out" / "bob" / INPUT).read_bytes(), check=False)
    assert again.returncode == 3  # as in the game


def test_all_bytes_of_the_journal_are_in_the_folders(tmp_path: Path) -> None:
    played(tmp_path / "out", "sticks", "ann=random", "bob=gone", more=("--journal", str(tmp_path / "run.jsonl")))

    texts = [(tmp_path / "out" / name / CONVERSATION).read_text() for name in ("ann", "bob")]
    for line in read_journal(tmp_path / "run.jsonl").lines:
        if line.kind == "bytes" and line.peer is not None and isinstance(line.raw, str):
            assert line.raw.strip() in texts[line.peer]
        for effect in line.out:
            if effect[0] == "send":
                assert str(effect[3]).strip() in texts[effect[1]]


def test_where_each_player_has_a_session_it_has_a_folder_too(tmp_path: Path) -> None:
    assert set(played(tmp_path / "out", "smtp", "ann=random", "bob=random")) == {"ann", "bob"}


def test_a_folder_with_something_in_it_is_not_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")

    assert main(["play", "sticks", "--no-journal", "--player-folders", str(tmp_path)]) == 2

    assert "there is something in it already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["../../etc", "a/b", "..", "", "x" * 300, "CON\0", "\N{GAME DIE}"])
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    made = file_name(name)

    assert re.fullmatch(r"[A-Za-z0-9_-]{1,100}", made)


class Told:
    """Folders of a session of sticks that is told by hand."""

    def __init__(self, folder: Path, **how: Any) -> None:
        self.folder = folder
        self.inner = MemoryJournal()
        self.folders = PlayerFolders(folder, load("sticks"), inner=self.inner, **how)
        self.now = 5.0

    def say(self, kind: Any, *out: Any, **what: Any) -> None:
        self.now += 0.25
        self.folders.write(kind, self.now, (), out, **what)

    def text(self, player: str) -> str:
        return (self.folder / player / CONVERSATION).read_text()


def named(names: dict[int, str]) -> Callable[[int], str]:
    return lambda peer: names.get(peer, "")


def test_what_is_said_before_a_name_is_known_waits_for_it(tmp_path: Path) -> None:
    names: dict[int, str] = {}
    told = Told(tmp_path, name_of=named(names))
    told.say("connect", peer=0)
    told.say("connect", peer=1)
    told.folders.flush()
    assert not any(tmp_path.iterdir())

    names[0] = "ann"
    told.say("bytes", Send(0, b"left 21\n", "LEFT"), peer=0, data=b"hello ann\n")
    told.folders.flush()
    told.say("lost", peer=1, why="reset by peer")
    told.say("tick", Drop(0, "late"), Ended(None, "a rule raised"))
    told.folders.close()

    assert told.text("ann").splitlines() == [
        "     0.000 s  it connected",
        "     0.500 s  it said      hello ann",
        "     0.500 s  it was sent  left 21",
        "     1.000 s  its connection is closed: late",
        "     1.000 s  the game failed, which is no player's fault: a rule raised",
    ]
    assert "its connection ended: reset by peer" in told.text("peer1")


def test_two_of_one_name_do_not_share_a_folder(tmp_path: Path) -> None:
    told = Told(tmp_path, name_of=named({0: "ann", 1: "ann"}))
    for peer in (0, 1):
        told.say("bytes", peer=peer, data=b"hello ann\n")
    told.folders.close()

    assert {path.name for path in tmp_path.iterdir()} == {"ann", "ann-peer1"}


def test_whoever_sends_without_end_fills_no_disk(tmp_path: Path) -> None:
    told = Told(tmp_path, name_of=named({0: "ann"}), bytes_max=1000)
    for _ in range(500):
        told.say("bytes", peer=0, data=b"x" * 50)
        told.folders.flush()
    told.folders.close()

    text = told.text("ann")
    assert len(text) < 1200
    assert text.endswith("the rest is left out: this file has its limit of 1000 bytes\n")


def test_who_never_gets_a_name_does_not_fill_the_memory(tmp_path: Path) -> None:
    told = Told(tmp_path)
    told.say("bytes", peer=0, data=b"x" * (HELD_CHARACTERS_MAX + 1))

    told.folders.flush()

    assert "it said" in told.text("peer0"), "written before it has gone"


def test_who_connects_again_and_again_makes_no_more_than_so_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("runtime.sessions.player_folders.FOLDERS_MAX", 5)
    told = Told(tmp_path)
    for peer in range(20):
        told.say("connect", peer=peer)
        told.say("lost", peer=peer)
        told.folders.flush()

    assert len(list(tmp_path.iterdir())) == 5
    assert caplog.text.count("whoever comes now gets none") == 1


def test_a_full_disk_ends_the_folders_and_neither_the_run_nor_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told(tmp_path, name_of=named({0: "ann"}))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    for _ in range(3):
        told.say("bytes", peer=0, data=b"take 1\n")
        told.folders.flush()

    assert len(told.inner.lines) == 3
    assert caplog.text.count("the players' folders end here") == 1


def test_a_violation_is_told_where_it_happened(tmp_path: Path) -> None:
    told = Told(tmp_path, name_of=named({0: "ann"}))
    found = Violation(
        0, "ann", "player", "illegal", "LEFT", ("TAKE",), b"take 9", 6, "main", "s.yaml:3", "", "no", 0.0, None
    )
    told.say("bytes", found, peer=0, data=b"take 9\n")
    told.folders.close()

    assert "AT FAULT     ann (player): illegal: no, it sent take 9" in told.text("ann")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(FolderError, match="cannot be made"):
        PlayerFolders(tmp_path / "file" / "x", load("sticks"))


def test_json_is_the_same_with_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["play", "sticks", "--seed", "3", "--no-journal", "--json", "--player", "random"]
    assert main(words) == main([*words, "--player-folders", str(tmp_path / "out")]) == 0

    one, other = map(json.loads, capsys.readouterr().out.splitlines())
    assert one["result"] == other["result"]
