"""``accord check --watch``: what changes is told once, on each save; the test decides when the files are looked at."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.cli import main
from runtime.commands import file_watcher
from runtime.commands.new import template

GAME = template("game")


class Editor:
    """Does one edit between two looks, leaves the files at rest for another, and presses Ctrl-C behind the last."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *edits: Callable[[], object]) -> None:
        self.told: list[str] = []
        self.said: list[str] = []
        self._capsys = capsys
        self._steps: list[Callable[[], object] | None] = []
        for edit in edits:
            self._steps += [edit, None, None]

    def __call__(self) -> None:
        if len(self._steps) % 3 == 0:
            out, err = self._capsys.readouterr()
            self.told.append(out)
            self.said.append(err)
        if not self._steps:
            raise KeyboardInterrupt
        step = self._steps.pop(0)
        if step is not None:
            step()


def watched(editor: Editor, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(file_watcher, "pause", editor)
    return main(["check", "--watch", *words])


_ticks = iter(range(1, 1_000_000))


def saved(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    stamp = next(_ticks) * 1_000_000_000  # as if time had passed, however coarse the file system's clock is
    os.utime(path, ns=(stamp, stamp))


def test_only_what_changed_is_told_and_ctrl_c_ends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.yaml"
    saved(path, GAME)
    one = GAME.replace("        - over\n", "        - ovr\n")
    two = one.replace("TURN: thinking", "TURN: thinkin")
    editor = Editor(
        capsys,
        lambda: saved(path, one),
        lambda: saved(path, "# one line more\n" + two),
        lambda: saved(path, "# one line more\n" + two + "\n"),
        lambda: saved(path, GAME),
    )

    code = watched(editor, monkeypatch, str(path), "--clients", "2")

    first, second, third, fourth, fifth = editor.told
    assert code == 130
    assert first == ""
    assert "A103 unknown state 'ovr'" in second
    assert "        - ovr" in second
    assert "A103 unknown state 'thinkin'" in third
    assert "ovr" not in third, "it was told before, though it stands a line further down"
    assert fourth == ""
    assert fifth.splitlines() == ["mended: A103 unknown state 'ovr'", "mended: A103 unknown state 'thinkin'"]
    assert [said.splitlines()[-1:] for said in editor.said] == [
        [f"{path}: no problems"],
        [f"{path}: 1 problem"],
        [f"{path}: 2 problems"],
        [],
        [f"{path}: no problems"],
    ]
    assert capsys.readouterr().err == "interrupted\n"


def test_a_spec_that_it_extends_is_watched_too_and_a_missing_one_until_it_comes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    below, path = tmp_path / "below.yaml", tmp_path / "above.yaml"
    saved(path, "extends: below\nprotocol: above\nsettings: {sticks: 5}\n")
    editor = Editor(
        capsys,
        lambda: saved(below, GAME),
        lambda: saved(below, GAME.replace("run: turn(player, left)", "run: trun(player, left)")),
        path.unlink,
    )

    watched(editor, monkeypatch, str(path), "--clients", "0")

    assert "there is no spec 'below' to extend" in editor.told[0]
    assert editor.told[1].startswith("mended: A136")
    assert "below.yaml" in editor.told[2]
    assert "trun" in editor.told[2]
    assert f"there is no file {path}" in editor.told[3]


def test_a_save_is_looked_at_once_it_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.yaml"
    saved(path, GAME)
    looked: list[str] = []
    contents = iter([GAME[:300], GAME + "\n", None])

    def wait() -> None:
        try:
            content = next(contents)
        except StopIteration:
            raise KeyboardInterrupt from None
        if content is not None:
            saved(path, content)

    with pytest.raises(KeyboardInterrupt):
        file_watcher.watch([str(path)], lambda name: looked.append(path.read_text()), wait)

    assert looked == [GAME, GAME + "\n"]


def test_pictures_that_change_are_drawn_again_and_no_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, pictures = tmp_path / "game.yaml", tmp_path / "pictures"
    saved(path, GAME)
    editor = Editor(
        capsys,
        lambda: saved(path, GAME.replace("sticks: 12", "sticks: 13")),
        lambda: saved(path, GAME.replace("      named:\n", "      greeted:\n")),
        lambda: saved(path, GAME.replace("        - over\n", "        - ovr\n")),
    )

    watched(editor, monkeypatch, str(path), "--clients", "0", "--draw", "-o", str(pictures))

    first, second, third, fourth = editor.told
    assert f"drawn: {pictures / 'game-host-main.svg'}\n" in first
    assert (pictures / "game-host-main.svg").is_file()
    assert second == ""
    assert f"drawn: {pictures / 'game-host-sign_up.svg'}\n" in third
    assert "game-host-turn.svg" not in third
    assert "drawn: " not in fourth, "what cannot be read leaves the pictures as they are"


def test_json_is_a_line_whenever_the_report_is_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.yaml"
    saved(path, GAME)
    editor = Editor(capsys, lambda: saved(path, GAME + "\n"), lambda: saved(path, GAME + "x: 1\n"))

    watched(editor, monkeypatch, str(path), "--clients", "0", "--json")

    assert [[json.loads(line)["ok"] for line in told.splitlines()] for told in editor.told] == [[True], [], [False]]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--draw", "tsuro"), "--draw is for --watch"),
        (("--watch", "tsuro", "-o", "x"), "-o is the folder of --draw"),
        (("--watch", "tsuro", "--format", "sarif"), "--watch tells text or JSON, not sarif"),
        (("--watch",), "check needs a spec"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(
    words: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["check", *words])
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    assert text in err
    assert err.count("\n") == 1


def test_the_pause_between_two_looks_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("runtime.commands.file_watcher.time.sleep", slept.append)

    file_watcher.pause()

    assert slept == [file_watcher.PAUSE_SECONDS]
    assert 0.05 <= file_watcher.PAUSE_SECONDS <= 1
