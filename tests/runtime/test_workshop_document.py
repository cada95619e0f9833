"""docs/workshop.md: every command in it is run, in order, and prints what stands there.

``--rewrite`` writes into the document what they print now, to be read in the diff.
"""

from __future__ import annotations

import difflib
import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from runtime.cli import main

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "workshop.md"
_BLOCK = re.compile(
    r"(?:^<!-- (file|typed): (.*?) -->\n)?^```(console|text|yaml)\n(.*?)^```\n", re.MULTILINE | re.DOTALL
)
# How long it took; how it was looked at; how it was played.
_VARIES = re.compile(r"\b\d+\.\d\d s\b|\b\d+ states\b|\b\d+ (?=games recorded|played)")


class Keyboard(io.StringIO):
    """Standard input of a person, whose terminal shows what they type."""

    def __init__(self, typed: list[str], screen: io.StringIO) -> None:
        super().__init__("".join(f"{line}\n" for line in typed))
        self._screen = screen

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        line = super().readline(size)
        self._screen.write(line)
        return line


def ran(command: str, typed: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a command as in a terminal; return what it shows."""
    screen = io.StringIO()
    monkeypatch.setattr("sys.stdin", Keyboard(typed, screen))
    words = shlex.split(command)
    assert words.pop(0) == "accord"
    with redirect_stdout(screen), redirect_stderr(screen):
        main(words)
    return "".join(f"{line.rstrip()}\n" for line in screen.getvalue().splitlines())


def told_again(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the document with the output that its commands have now."""
    monkeypatch.chdir(folder)

    def block(found: re.Match[str]) -> str:
        what, value, language, content = found.groups()
        if language != "console":
            assert what == "file", content
            (folder / value).write_text(content, encoding="utf-8")
            return found[0]
        typed = value.split(" | ") if what == "typed" else []
        commands = [line[2:] for line in content.splitlines() if line.startswith("$ ")]
        shown = "".join(f"$ {command}\n{ran(command, typed, monkeypatch)}" for command in commands)
        before = f"<!-- typed: {value} -->\n" if what == "typed" else ""
        return f"{before}```console\n{shown}```\n"

    return _BLOCK.sub(block, text)


def written_anew(text: str, now: str) -> str:
    """Return the document with the lines that its commands print now, where more differs than what always varies."""
    old, new = text.splitlines(keepends=True), now.splitlines(keepends=True)
    alike, anew = ([_VARIES.sub("…", line) for line in lines] for lines in (old, new))
    return "".join(
        "".join(old[start:end] if kind == "equal" else new[begin:stop])
        for kind, start, end, begin, stop in difflib.SequenceMatcher(None, alike, anew).get_opcodes()
    )


def test_the_document_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")

    now = told_again(text, tmp_path, monkeypatch)

    if pytestconfig.option.rewrite:
        DOCUMENT.write_text(written_anew(text, now), encoding="utf-8")
    else:
        assert _VARIES.sub("…", now) == _VARIES.sub("…", text), "if it is meant to be so: --rewrite, and read the diff"
    assert text.count("\n$ accord ") == 11
