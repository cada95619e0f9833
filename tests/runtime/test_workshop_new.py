"""``accord new``: what it writes passes every check, is drawn, plays over TCP; what it refuses is one sentence."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.parser.loader import load
from runtime.cli import main
from runtime.commands.new import template
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play

KINDS = ("game", "service", "chat")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err + captured.out
    return code, captured.out, captured.err


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_new_has_no_problem_and_is_drawn(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "new", "my-own", "--kind", kind, "-o", str(tmp_path))
    path = tmp_path / "my-own.yaml"

    assert (code, out) == (0, f"{path}\n")
    assert f"accord play {path}" in err
    assert load(str(path)).protocol == "my-own"
    assert not load(str(path)).rules
    assert run(capsys, "check", str(path))[:2] == (0, "")
    code, out, _ = run(capsys, "draw", str(path), "--format", "dot", "-o", str(tmp_path / "pictures"))
    assert code == 0
    assert len(out.splitlines()) >= 6


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_new_plays_to_its_end_over_tcp(kind: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    path.write_text(template(kind), encoding="utf-8")  # type: ignore[arg-type]
    narrowed = {"game": {"seats": f"{count}..{count}"}, "chat": {"guests": f"{count}..{count}"}}
    spec = load(str(path), narrowed.get(kind, {}))
    seats = [Participant(f"p{number}", "random", number) for number in range(count)]
    (client,) = spec.connects
    (server,) = spec.listeners()
    with anyio.fail_after(30):
        game = await play(spec, {}, seats, server=server, client=client, seed=1)

    ends = [game.ended] if game.ended is not None else list(game.sessions.values())
    assert ends
    assert [end.failed for end in ends] == [None] * len(ends)
    assert [outcome.failed for outcome in game.players] == [None] * count


def test_each_kind_says_more_in_comments_than_most_specs_do() -> None:
    for kind in KINDS:
        lines = template(kind).splitlines()  # type: ignore[arg-type]
        assert sum("#" in line for line in lines) >= 15
        assert len(lines) <= 120


FAULTS: list[tuple[list[str], int, str]] = [
    (["new"], 2, "new needs a name: accord new NAME"),
    (["new", "My Game"], 2, "'My Game' is no name of a protocol: lower-case words with hyphens"),
    (["new", "../up"], 2, "'../up' is no name of a protocol"),
    (["new", "a" * 41], 2, "is no name of a protocol"),
    (["new", "\x1b[2J"], 2, "is no name of a protocol"),
    (["new", "tsuro"], 2, "'tsuro' is a protocol that comes with Accord"),
    (["new", "mine", "--kind", "gme"], 2, "gme"),
    (["new", "mine", "-o", "/dev/null"], 2, "it is not a folder"),
    (["new", "mine", "-o", "/dev/null/x"], 2, "/dev/null"),
    (["new", "mine", "-o", "a\0b"], 2, "null"),
]


@pytest.mark.parametrize(("words", "code", "text"), FAULTS, ids=lambda value: repr(value)[:30])
def test_what_cannot_be_new_is_one_sentence(
    words: list[str], code: int, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    found, out, err = run(capsys, *words)

    assert (found, out) == (code, "")
    assert err.startswith("accord: ")
    assert err.count("\n") == 1
    assert text in err
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_written_over_only_when_told_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("precious")

    code, out, err = run(capsys, "new", "mine", "-o", str(tmp_path))
    assert (code, out) == (2, "")
    assert err == f"accord: {path}: there is a file already (--force writes over it)\n"
    assert path.read_text() == "precious"

    code, out, _ = run(capsys, "new", "mine", "-o", str(tmp_path), "--force", "--json")
    assert code == 0
    assert json.loads(out) == {"written": str(path), "protocol": "mine", "kind": "game"}
    assert path.read_text().startswith("# A game with turns")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    code, _, err = run(capsys, "new", "mine", "-o", str(tmp_path))
    tmp_path.chmod(0o700)

    assert code == 2
    assert "Permission denied" in err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "begins"), [("3\n", "# A chat"), ("nine\nservice\n", "# Requests"), ("\n", "# A game")]
)
def test_on_a_terminal_what_is_not_said_is_asked(
    typed: str, begins: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(f"mine\n{typed}"))

    code, _, err = run(capsys, "new", "-o", str(tmp_path))

    assert code == 0
    assert "The protocol's name" in err
    assert "2  service: clients ask" in err
    assert (tmp_path / "mine.yaml").read_text().startswith(begins)


def test_an_end_of_input_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("mine\n"))

    code, _, err = run(capsys, "new", "-o", str(tmp_path))

    assert code == 2
    assert err.endswith("accord: nothing is written: the input has ended\n")
    assert not list(tmp_path.iterdir())
