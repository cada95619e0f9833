"""Who cannot accept, as no file descriptor is left, says so once a minute, without a traceback; connections wait."""

from __future__ import annotations

import logging
import resource
import socket
from collections.abc import Iterator

import anyio
import pytest

from runtime.network.accepting import TELL_SECONDS, Seldom
from tests.runtime.test_server import serving

ROOM = 2  # file descriptors that are left


@pytest.fixture
def few_files() -> Iterator[None]:
    """Leave so few file descriptors that no connection can be accepted."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_trouble_that_lasts_is_told_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    seldom = Seldom(lambda: now)

    for second in range(int(2 * TELL_SECONDS)):
        now = float(second)
        seldom.warn("trouble at %d", second)

    assert [record.getMessage() for record in caplog.records] == ["trouble at 0", f"trouble at {TELL_SECONDS:.0f}"]


@pytest.mark.anyio
async def test_connections_wait_while_no_file_descriptor_is_left(
    stock: bool, few_files: None, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(stock) as served:
        clients = [socket.socket() for _ in range(3)]  # they have their descriptors already
        first_free = max(client.fileno() for client in clients) + 1
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        filling = [socket.socket() for _ in range(ROOM)]
        while filling[-1].fileno() < first_free:
            filling.append(socket.socket())
        resource.setrlimit(resource.RLIMIT_NOFILE, (filling[-1].fileno() + 1, limits[1]))
        for client in clients:
            client.connect(("127.0.0.1", served.port))
        while not caplog.records:
            await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        assert not served.session.peers
        for one in filling:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)

        while len(served.session.peers) < len(clients):
            await anyio.lowlevel.checkpoint()
        for client in clients:
            client.close()
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert told == ["connections cannot be accepted, they wait: too many open files"]
    assert not any(record.exc_info for record in caplog.records)
