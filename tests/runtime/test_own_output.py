"""Standard output belongs to the command: what players and rules write there goes to standard error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import by_default

CHATTY = """
import os, subprocess, sys
print("imported")

class Prints:
    def __init__(self, name, seed):
        print("made")

    def move(self, left):
        print("thinking")
        os.write(1, b"raw\\n")
        subprocess.run([sys.executable, "-I", "-S", "-c", "print('of a child')"], check=True)
        return "TAKE", {"count": 1}
"""


def accord(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own, for the numbers of its streams."""
    command = [sys.executable, "-m", "runtime", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_what_a_player_prints_is_not_in_the_result(tmp_path: Path, backend: str) -> None:
    (tmp_path / "chatty.py").write_text(CHATTY)
    words = ("play", "sticks", "--players", "2", "--player", "python:chatty:Prints", "--no-journal", "--json")

    ran = accord(tmp_path, *words, "--backend", backend)

    assert json.loads(ran.stdout)["spec"] == "sticks"
    for text in ("imported", "made", "thinking", "raw", "of a child"):
        assert text in ran.stderr


CLOSING = """
import os, sys
class Closes:
    def __init__(self, name, seed):
        pass

    def move(self, left):
        HOW
        return "TAKE", {"count": 1}
"""


@pytest.mark.parametrize(
    "how",
    by_default(
        [
            "sys.stdout.close()",
            "sys.stderr.close()",
            "sys.stdout.close(); sys.stderr.close(); print('on')",
            "sys.stdout.detach()",
            "os.close(2)",
            "os.close(1)",
        ],
        ["sys.stdout.close(); sys.stderr.close(); print('on')", "os.close(2)"],
    ),
)
@pytest.mark.parametrize("more", [(), ("--workers", "1")], ids=["here", "workers"])
def test_a_player_who_closes_the_streams_ends_no_run(tmp_path: Path, how: str, more: tuple[str, ...]) -> None:
    (tmp_path / "closing.py").write_text(CLOSING.replace("HOW", how))
    words = ("play", "sticks", "--player", "python:closing:Closes", "--player", "example", "--no-journal", "--json")

    ran = accord(tmp_path, *words, *more)

    assert ran.returncode == 0
    facts = json.loads(ran.stdout)
    assert facts["failed"] is None
    assert facts["result"] is not None
    # Who wrote to a stream that it had taken apart has failed; whoever only closed it plays on.
    assert {loss["kind"] for loss in facts["losses"] if loss["player"] == "player1"} <= {"crash"}


def test_help_stays_on_standard_output(tmp_path: Path) -> None:
    assert "Play a whole game" in accord(tmp_path, "play", "--help").stdout


def test_a_reader_who_has_gone_is_told_of_by_the_exit_code_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "runtime", "play", "sticks", "--players", "2", "--no-journal", "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ran:
        assert ran.stdout is not None
        assert ran.stderr is not None
        ran.stdout.close()
        said = ran.stderr.read()

    assert ran.returncode == 141
    assert "Traceback" not in said
