"""A run in which nothing happens says what it waits for and how long: once a state, and only after a while."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from machines.engine.session import Program, Session
from machines.parser.loader import load
from runtime.cli import main
from runtime.sessions import stall_report
from runtime.sessions.stall_report import QUIET_SECONDS, tell_of_waits

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    return virtual_backend


@asynccontextmanager
async def told_of(session: Session, name: str, caplog: pytest.LogCaptureFixture) -> AsyncIterator[list[str]]:
    """Start a session whose waits are told of; the list has what is said."""
    caplog.set_level(logging.INFO, "accord.waiting")
    told: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("accord.waiting")
    logger.addHandler(handler)
    try:
        async with anyio.create_task_group() as tasks:
            session.start(anyio.current_time())
            tasks.start_soon(tell_of_waits, session, name)
            yield told
            tasks.cancel_scope.cancel()
    finally:
        logger.removeHandler(handler)


def sticks(role: str) -> Session:
    spec = load("sticks", {"seats": "1..1", "reply": "1 min", "think": "40 s", "again": "9"})
    return Session(Program(spec, role, {}), my={"name": "ann"})


def say(session: Session, line: bytes) -> None:
    session.receive(0, line + b"\n", anyio.current_time())


async def test_a_wait_is_told_of_when_nothing_has_come_for_a_while(caplog: pytest.LogCaptureFixture) -> None:
    session = sticks("host")
    async with told_of(session, "host", caplog) as told:
        await anyio.sleep(3)
        session.connect(anyio.current_time())
        say(session, b"hello ann")
        await anyio.sleep(QUIET_SECONDS - 0.5)
        assert told == [], "it is not quiet for long enough"
        await anyio.sleep(1)

        assert told == ["host waits for main.turn[0] in asked, hears <peer 0 'ann'>, at most 55 s more"]


async def test_a_state_is_told_of_once_however_often_it_waits(caplog: pytest.LogCaptureFixture) -> None:
    session = sticks("host")
    async with told_of(session, "host", caplog) as told:
        session.connect(anyio.current_time())
        say(session, b"hello ann")
        for _ in range(4):  # each a turn of its own
            await anyio.sleep(2 * QUIET_SECONDS)
            say(session, b"take 1")
        await anyio.sleep(2 * QUIET_SECONDS)

        assert len(told) == 1


async def test_a_question_to_the_player_is_told_by_its_name(caplog: pytest.LogCaptureFixture) -> None:
    session = sticks("player")
    async with told_of(session, "player", caplog) as told:
        say(session, b"left 21")
        await anyio.sleep(2 * QUIET_SECONDS)

        assert told == ["player waits for an answer of its player to 'move' in main in thinking, at most 35 s more"]


async def test_who_has_ended_waits_for_nothing(caplog: pytest.LogCaptureFixture) -> None:
    session = sticks("player")
    async with told_of(session, "player", caplog) as told:
        say(session, b"winner ann")
        assert session.ended is not None
        await anyio.sleep(10 * QUIET_SECONDS)

        assert told == []


def silent_game(*words: str) -> int:
    players = ("--player", "silent", "--player", "random", "--player", "random")
    settings = ("--set", "think=900 ms", "--set", "reply=1200 ms")
    return main(["play", "tsuro", "--seed", "1", "--no-journal", *players, *settings, *words])


@pytest.mark.parametrize(("words", "lines"), [((), 1), (("--quiet",), 0)])
def test_who_watches_a_game_sees_whom_it_waits_for(
    words: tuple[str, ...], lines: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stall_report, "QUIET_SECONDS", 0.3)

    assert silent_game(*words) == 0

    told = [line for line in capsys.readouterr().err.splitlines() if " waits for " in line]
    assert len(told) == lines
    assert all("in asked, hears <peer 0 'player1'>, at most 1 s more" in line for line in told)
