"""Connections that take no seat: those of one address are counted, all of them are, and the sign-up's limit ends them.

So there is no further limit for them alone: it would turn away the same people, only sooner.
"""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from machines.engine.session import Program
from machines.parser.loader import load, rules_modules
from runtime.sessions.server import serve

pytestmark = pytest.mark.anyio

HELD = 3  # connections of one address


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return request.param, {}


async def said(stream: SocketStream) -> bytes:
    """Return what comes first, nothing if the stream ends, in good order or not."""
    try:
        return await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return b""


async def test_who_says_nothing_keeps_others_out_no_longer_than_a_sign_up_may_take() -> None:
    spec = load("tsuro", {"join": "700 ms"})
    ports: list[int] = []
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                program = Program(spec, "server", rules_modules(spec))
                await serve(program, "127.0.0.1", 0, on_listening=ports.append, address_max=HELD)

            tasks.start_soon(run)
            while not ports:
                await anyio.lowlevel.checkpoint()
            silent = [await anyio.connect_tcp("127.0.0.1", ports[0]) for _ in range(HELD)]
            async with await anyio.connect_tcp("127.0.0.1", ports[0]) as turned_away:
                await turned_away.send(b'"ann"\n')
                assert await said(turned_away) == b"", "no more of one address are let in"
            for stream in silent:
                assert await said(stream) == b"", "dropped without a word, once their time is over"
                await stream.aclose()
            async with await anyio.connect_tcp("127.0.0.1", ports[0]) as guest:
                await guest.send(b'"ann"\n')
                assert await said(guest) == b'"white"\n', "and the next has a seat"
            tasks.cancel_scope.cancel()
