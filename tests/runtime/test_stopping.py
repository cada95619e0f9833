"""A process that is told to end ends: in good order at the first signal, at once at the second, however busy it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.players import program as programs
from runtime.process.stopping import stop_signals

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 60.0

# The event loop is held in Python code for longer than any test waits.
HELD = """
import sys
from runtime.commands.backends import run
from runtime.process.stopping import at_forced_end

async def held():
    with at_forced_end(lambda: print("flushed", flush=True)):
        print("held", flush=True)
        while True:
            pass

run(held, sys.argv[1])
"""
WAITING = """
import sys, anyio
from runtime.commands.backends import run

async def waiting():
    try:
        print("waits", flush=True)
        await anyio.sleep_forever()
    finally:
        print("in good order", flush=True)

try:
    run(waiting, sys.argv[1])
except KeyboardInterrupt:
    sys.exit(77)
"""


class Alone:
    """A process of a system without process groups."""

    pid = 1 << 30
    killed = False

    def kill(self) -> None:
        self.killed = True


def program(text: str, backend: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", text, backend],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.fixture(params=["asyncio", "uvloop", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    name: str = request.param
    return name


@pytest.mark.parametrize("signals", [[signal.SIGINT, signal.SIGTERM], [signal.SIGTERM]], ids=["twice", "once"])
def test_a_loop_that_is_held_ends_at_the_second_signal_or_a_while_after_the_first(
    backend: str, signals: list[signal.Signals]
) -> None:
    with program(HELD, backend) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        for one in signals:
            process.send_signal(one)
        out, err = process.communicate(timeout=SECONDS)

    assert (process.returncode, out) == (130, "flushed\n")
    assert err == "interrupted, and ended at once\n"


@pytest.mark.parametrize("which", stop_signals())
def test_the_first_signal_of_each_kind_stops_in_good_order(backend: str, which: signal.Signals) -> None:
    with program(WAITING, backend) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        process.send_signal(which)
        out, _ = process.communicate(timeout=SECONDS)

    assert (process.returncode, out) == (77, "in good order\n")


def test_a_system_without_hang_ups_has_the_other_signals(monkeypatch: Any) -> None:
    monkeypatch.delattr(signal, "SIGHUP")
    assert stop_signals() == (signal.SIGINT, signal.SIGTERM)


def test_a_program_is_ended_alone_where_there_are_no_process_groups(monkeypatch: Any) -> None:
    monkeypatch.delattr(os, "killpg")
    monkeypatch.delattr(signal, "SIGKILL")
    process = Alone()
    programs.end_group(process)  # type: ignore[arg-type]
    assert process.killed
