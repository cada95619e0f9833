"""A session that runs is asked the properties of its spec: what is broken is logged, journalled, and ends nothing."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.engine.session import Program
from machines.parser.loader import load_text
from runtime.network.anyio_transport import TaskConnection
from runtime.network.clock import make_clock
from runtime.network.memory_transport import memory_streams
from runtime.sessions.driver import SessionDriver
from runtime.sessions.opening import open_host
from tests.runtime.fakes import MemoryJournal

pytestmark = pytest.mark.anyio

SPEC = Path(__file__).resolve().parents[1] / "specs" / "correct" / "ping-pong.yaml"
TEXT = "the property 'mute' does not hold: never sends PONG"


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    return virtual_backend


async def played(properties: str) -> tuple[SessionDriver, MemoryJournal]:
    program = Program(load_text(SPEC.read_text(encoding="utf-8") + properties), "ponger", {})
    journal = MemoryJournal()
    async with anyio.create_task_group() as tasks:
        ours, theirs = memory_streams()
        connection = TaskConnection(ours, "memory")
        tasks.start_soon(connection.run)
        host = open_host(program, tasks, make_clock(tasks), journal=journal)
        host.start([connection])
        for _ in range(2):
            await theirs.send(b'"ping"\n')
            await theirs.receive()
        await theirs.send(b'"bye"\n')
        await host.over()
        theirs.close()
        await host.release()
        tasks.cancel_scope.cancel()
    return host, journal


async def test_a_broken_property_is_an_error_in_the_log_and_a_line_of_the_journal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    host, journal = await played("\nproperties:\n  mute: {never: {sends: PONG}}")

    assert host.broken == [TEXT]
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == [f"ponger: {TEXT}"]
    kinds = [kind for kind, _, _, _ in journal.lines]
    assert kinds.count("property") == 1
    assert kinds[kinds.index("property") - 1] == "bytes"
    assert journal.lines[kinds.index("property")][3]["why"] == TEXT
    assert host.ended is not None
    assert host.ended.failed is None


async def test_what_should_have_come_is_missed_when_the_session_is_over() -> None:
    host, journal = await played("\nproperties:\n  later: {eventually: {reads: PING}, after: {reads: BYE}}")

    assert host.broken == ["the property 'later' does not hold: eventually reads PING after reads BYE"]
    assert journal.lines[-1][0] == "property"


@pytest.mark.parametrize("properties", ["", "\nproperties:\n  ends: {never: {pinger: over, ponger: main.ready}}"])
async def test_without_a_property_of_its_own_a_session_is_asked_nothing(properties: str) -> None:
    host, journal = await played(properties)

    assert host.broken == []
    assert not host.session.watch
    assert "property" not in [kind for kind, _, _, _ in journal.lines]
