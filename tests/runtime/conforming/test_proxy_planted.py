"""Two programs that know nothing of Accord, and the proxy between them: who has a mistake is named, with the line."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.conforming.overhearing import Accusation, Overhearing
from machines.conforming.spec_lines import place_of
from machines.parser.loader import load, rules_modules
from runtime.conforming.proxying import Proxy, listen_for

HERE = Path(__file__).parent / "strangers"
SPEC = Path("specs/tsuro.yaml").read_text().splitlines()
CLIENTS = 5  # as many as the server has seats
READY_SECONDS = 60.0

# style -> what the line of the spec begins with; rules are not judged, and time is told apart
OF_CLIENTS = {
    "double-join": "joined:|ready:",
    "name-too-long": "JOIN:|joined:",
    "name-is-a-number": "JOIN:|joined:",
    "answers-started": "started:|initial:",
    "no-such-token": "INIT_PLACE:",
    "small-port": "INIT_PLACE:",
    "text-for-number": "INIT_PLACE:",
    "too-short": "INIT_PLACE:",
    "too-long": "INIT_PLACE:",
    "three-links": "INIT_PLACE:",
    "an-object": "INIT_PLACE:",
    "shape-of-the-other": "initial:",
    "double-move": "playing:|intermediate:",
    "double-second": "playing:|intermediate:",
    "initial-again": "intermediate:",
    "early-move": "ready:|started:|initial:|playing:",
}
OF_SERVERS = {
    "token-twice": "start_up:",
    "started-twice": "start_up:|asked:",
    "init-twice": "asked:",
    "no-started": "start_up:|asked:",
    "purple": "TOKEN:|start_up:",
    "token-is-a-number": "TOKEN:|start_up:",
    "token-in-a-list": "TOKEN:|start_up:",
    "start": "STARTED:|asked:",
    "hand-of-two-first": "asked:",
    "hand-of-four-first": "INIT_REQ:",
    "nine-columns": "INIT_REQ:",
    "small-ports": "INIT_REQ:",
    "an-object": "INIT_REQ:",
    "hand-of-three-later": "asked:",
    "hand-of-one-later": "INTER_REQ:|asked:",
    "off-the-board": "INTER_REQ:|asked:",
    "end-of-two": "ENDED:|asked:",
    "flat-ranks": "ENDED:|asked:",
    "speaks-first": "TOKEN:|named:",
    "thanks": "asked:",
}
SOME = ("small-port", "flat-ranks")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the proxy itself is tested with both


@contextmanager
def started(program: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program, until it is done with."""
    running = subprocess.Popen([sys.executable, HERE / program, *words], stderr=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


async def until(true: Any) -> None:
    """Wait until something is so, or for too long."""
    began = time.monotonic()
    while not true() and time.monotonic() - began < READY_SECONDS:
        await anyio.sleep(0.02)


def is_taken(port: int) -> bool:
    """Whether a program listens on a port; asked without connecting to it."""
    with suppress(OSError), socket.socket() as one:
        one.bind(("127.0.0.1", port))
        return False
    return True


async def overheard(client: str, server: str) -> list[Accusation]:
    """Let a server and its clients talk, of which the first one has a style of its own; return who is accused."""
    spec = load("tsuro", {"seats": f"{CLIENTS}..{CLIENTS}"})
    heard = Overhearing(spec, "server", rules_modules(spec, ()))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    proxy = Proxy(heard, ("127.0.0.1", port), grace=60.0, told=lambda one: None)
    taking, taken = await listen_for("127.0.0.1", 0)
    with started("tsuro_server.py", str(port), server):
        await until(lambda: is_taken(port))
        async with taking, anyio.create_task_group() as tasks:
            tasks.start_soon(proxy.run, taking)
            with started("tsuro_client.py", "127.0.0.1", str(taken), client) as first:
                await until(lambda: proxy.links == 1)
                others = [started("tsuro_client.py", "127.0.0.1", str(taken), "plain") for _ in range(CLIENTS - 1)]
                running = [first, *(one.__enter__() for one in others)]
                await until(lambda: heard.accusations or all(one.poll() is not None for one in running))
                for one in others:
                    one.__exit__(None, None, None)
            tasks.cancel_scope.cancel()
    proxy.finish()
    return heard.accusations


def line_of(found: Accusation) -> str:
    spec = load("tsuro")
    return SPEC[place_of(spec, found.role, found.deviation).line - 1].strip()


def mark(style: str) -> Any:
    return () if style in SOME else pytest.mark.release


@pytest.mark.anyio
@pytest.mark.parametrize("style", [pytest.param(one, marks=mark(one)) for one in sorted(OF_CLIENTS)])
async def test_a_client_with_a_mistake_is_named_first(style: str) -> None:
    found = await overheard(style, "plain")

    assert [(one.role, one.link) for one in found[:1]] == [("client", 0)], found[:1]
    assert re.match(OF_CLIENTS[style], line_of(found[0])), (line_of(found[0]), found[0])


@pytest.mark.anyio
@pytest.mark.parametrize("style", [pytest.param(one, marks=mark(one)) for one in sorted(OF_SERVERS)])
async def test_a_server_with_a_mistake_is_named_first(style: str) -> None:
    found = await overheard("plain", style)

    assert [one.role for one in found[:1]] == ["server"], found[:1]
    assert re.search(OF_SERVERS[style], line_of(found[0])), (line_of(found[0]), found[0])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("client", "server"),
    [
        pytest.param("plain", "plain", marks=pytest.mark.whole),
        pytest.param("trickling", "trickling", marks=pytest.mark.release),
        pytest.param("spaced", "spaced", marks=pytest.mark.release),
    ],
)
async def test_nobody_is_accused_who_is_right(client: str, server: str) -> None:
    assert await overheard(client, server) == []


@pytest.mark.anyio
@pytest.mark.release
async def test_who_is_asked_twice_is_not_accused_where_the_server_cannot_be_followed_so_far() -> None:
    """Which clock it goes by may take too long to find out; what it said its clients have read all the same."""
    assert "client" not in [one.role for one in await overheard("plain", "inter-twice")]
