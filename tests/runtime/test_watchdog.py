"""Who holds the loop is named, and a rule that hangs ends as a failure of the arena: other sessions go on."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

import anyio
import pytest

from machines.engine.session import Program
from machines.parser.loader import load_text
from runtime.network.clock import make_clock
from runtime.process.watchdog import HELD_SECONDS, VARIABLE, WATCHDOG, RuleHangsError, rule_seconds, watched
from runtime.sessions.opening import open_host

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 60.0
SPEC = """
protocol: slow
wire: {framing: lines}
connects: {client: server}
rules: [slowness]
messages:
  client: {GO: [go, $how string]}
  server: {DONE: done}
roles:
  server:
    main(client):
      asked:
        within: 1 min
        receive: {GO: {let: {x: slowness.think(how)}, send: DONE, return: x}}
        fault: {return: 0}
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {ask: word, receive: {GO: {send: GO, then: waiting}}}
      waiting: {receive: {DONE: {return: 1}}}
"""
RULES = """
import time

def think(how: str) -> int:
    end = time.monotonic() + 0.15
    while how != "soon" and (how != "late" or time.monotonic() < end):
        try:
            for _ in range(1000):
                pass
        except Exception:
            if how != "deaf":
                raise
    return 1
"""


class Module:
    """The rules, as a module of a test: they burn time here and now."""

    @staticmethod
    def think(how: str) -> int:
        end = monotonic() + 2 * HELD_SECONDS
        while monotonic() < end:
            pass
        return 1


@pytest.mark.anyio
async def test_who_holds_the_loop_is_named_with_session_state_and_peer(
    stock: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SPEC.replace("rules: [slowness]\n", "").replace("slowness.think(how)", "1")
    spec = load_text(text, "s.yaml")
    async with anyio.create_task_group() as tasks:
        host = open_host(Program(spec, "server", {}), tasks, make_clock(tasks))
        receive = host.session.receive
        host.start([])

        def slowly(seat: int, chunk: bytes, now: float) -> object:
            Module.think("late")
            return receive(seat, chunk, now)

        monkeypatch.setattr(type(host.session), "receive", lambda self, *given: slowly(*given))
        with caplog.at_level(logging.WARNING, "accord.session"):
            host._receive(0, b'["go", "late"]\n')
        tasks.cancel_scope.cancel()

    (told,) = [record.getMessage() for record in caplog.records if "held the loop" in record.getMessage()]
    assert told.startswith("server: peer 0 held the loop for ")
    assert told.endswith("in main in asked")


def served(folder: Path, how: str) -> subprocess.CompletedProcess[str]:
    """Play with a client that has the rule think so."""
    (folder / "slow.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "slowness.py").write_text(RULES, encoding="utf-8")
    words = ["play", "./slow.yaml", "--rules", "slowness", "--no-journal", "--answer", f'word=["go", "{how}"]']
    return subprocess.run(
        [sys.executable, "-m", "runtime", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: "0.5"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_a_rule_that_never_comes_back_fails_and_is_told_as_the_arenas_failure(tmp_path: Path) -> None:
    played = served(tmp_path, "never")

    assert played.returncode == 1, played.stderr
    assert f"a rule took more than 0.5 s, its limit ({VARIABLE}), and was interrupted" in played.stdout + played.stderr
    assert "(slow.yaml:12, GO in asked)" in played.stdout + played.stderr
    assert "Traceback" not in played.stderr


def test_a_rule_that_cannot_be_interrupted_ends_the_run(tmp_path: Path) -> None:
    played = served(tmp_path, "deaf")

    assert played.returncode == 1
    assert played.stderr.endswith("a rule never came back, and could not be interrupted\n")


def test_a_rule_that_is_only_slow_is_left_alone(tmp_path: Path) -> None:
    played = served(tmp_path, "late")

    assert played.returncode == 0, played.stderr


class Held:
    """Somebody who handles an input."""

    def held_by(self, peer: int | None) -> str:
        return f"a test: peer {peer}"


def test_an_error_that_comes_when_the_input_is_done_is_taken_back() -> None:
    for _ in range(1000):
        turn = WATCHDOG.turn = Held(), 0
        try:
            looking = threading.Thread(target=WATCHDOG.look, args=(threading.get_ident(), turn))
            looking.start()
            WATCHDOG.turn = None
            looking.join()
            if WATCHDOG.fired:
                WATCHDOG.settle()
        except RuleHangsError:
            WATCHDOG.turn = None
            looking.join()
            WATCHDOG.settle()
    for _ in range(1000):
        pass  # where one that was left over would come
    assert not WATCHDOG.fired


def test_without_a_limit_nobody_looks() -> None:
    before = threading.active_count()
    with watched(0):
        assert threading.active_count() == before
    with watched(1):
        assert threading.active_count() == before + 1


@pytest.mark.parametrize(("text", "seconds"), [("", 10.0), ("0", 0.0), ("2.5", 2.5)])
def test_the_limit_is_what_the_environment_says(text: str, seconds: float) -> None:
    assert rule_seconds(text) == seconds


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf", "1e9"])
def test_what_is_no_number_of_seconds_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"ACCORD_RULE_SECONDS=.* is no number of seconds: write one like 10, or 0"):
        rule_seconds(text)
