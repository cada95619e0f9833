"""Whatever ends the command, the programs that play end with it, and so does all that they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime.players.descendants import MARK, Warden, kill_marked, marked

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 60.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")

# A bot that starts one child in its group, one in a session of its own, and one whose parent has ended; it says so, and
# thinks for longer than any test waits.
BOT = """
import subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
subprocess.Popen(sleep)
subprocess.Popen(sleep, start_new_session=True)
nested = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
subprocess.run([sys.executable, "-c", nested, *sleep])
open(sys.argv[1], "w").write("started")
time.sleep(600)
"""


def eventually(true: object) -> bool:
    """Whether something comes true within SECONDS; it is the system that one waits for."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if true():  # type: ignore[operator]
            return True
        os.sched_yield()
    return False


def marked_of(parent: int) -> list[int]:
    """Return all processes that carry a mark of a command's programs."""
    token = None
    for pid in marked(""):
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        if int(status[1]) == parent:
            words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            token = next(word for word in words if word.startswith(MARK.encode())).decode().partition("=")[2]
    assert token is not None, "the program runs"
    return marked(token.partition("-")[0])


@pytest.mark.parametrize("signals", [[signal.SIGKILL], [signal.SIGHUP], [signal.SIGTERM], [signal.SIGINT] * 2])
def test_nothing_is_left_of_a_program_whatever_signal_ends_the_command(
    tmp_path: Path, signals: list[signal.Signals]
) -> None:
    bot, said = tmp_path / "bot.py", tmp_path / "said"
    bot.write_text(BOT, encoding="utf-8")
    words = [sys.executable, "-m", "runtime", "play", "sticks", "--players", "2", "--no-journal", "--set", "think=1h"]
    with subprocess.Popen(
        [*words, "--player", f"exec:{sys.executable} {bot} {said}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as command:
        assert eventually(said.exists)
        started = marked_of(command.pid)
        assert len(started) >= 4
        for one in signals:
            command.send_signal(one)
        command.wait(SECONDS)

        assert eventually(lambda: not any(Path(f"/proc/{pid}/environ").exists() for pid in started if alive(pid)))


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has asked for since it ended does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_program_has_a_mark_of_its_own_and_only_those_with_it_are_ended() -> None:
    warden = Warden()
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    programs = [subprocess.Popen(sleep, env=warden.environment()) for _ in range(11)]
    marks = [f"{warden.environment()[MARK].partition('-')[0]}-{number + 1}" for number in range(11)]

    kill_marked(f"{marks[0]}\0")

    assert programs[0].wait(SECONDS) == -signal.SIGKILL
    assert [program.poll() for program in programs[1:]] == [None] * 10  # that of the eleventh begins alike
    kill_marked(marks[0].partition("-")[0])
    assert {program.wait(SECONDS) for program in programs} == {-signal.SIGKILL}


def test_where_processes_do_not_show_their_environment_nobody_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("runtime.players.descendants._PROCESSES", tmp_path / "none")
    assert marked("") == []


def test_where_there_are_no_process_groups_there_is_no_warden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "killpg")
    warden = Warden()
    warden.started(1 << 30)
    warden.ended(1 << 30)
    warden.close()
    assert warden.environment()[MARK].endswith("-1")
