"""Our clients at servers that others wrote and a system may have: redis-server and mosquitto."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.effects import Ended
from machines.engine.session import Program
from machines.parser.loader import load
from runtime.sessions.client import join
from tests.runtime.fakes import ScriptedPlayer
from tests.runtime.test_mqtt import HELLO

pytestmark = pytest.mark.anyio
SBIN = "/usr/sbin:/usr/local/sbin"  # where Debian has mosquitto, and few users look


@contextmanager
def installed(program: str, ready: str, tmp_path: Path, *words: str) -> Iterator[int]:
    """Run a server at a port that was free a moment ago, until it says that it is ready; yield the port."""
    path = shutil.which(program) or shutil.which(program, path=SBIN)
    if path is None:
        pytest.skip(f"{program} is not installed")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [path, *(word.format(port=port) for word in words)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        try:
            assert running.stdout is not None
            began = any(ready in line for line in iter(running.stdout.readline, ""))
            assert began, f"{program} did not begin"
            yield port
        finally:
            running.terminate()
            running.communicate(timeout=20)


async def ended(program: Program, port: int, player: Any, stock: bool) -> Ended:
    listens = program.connects[0]
    with anyio.fail_after(20):
        return await join(program, {listens: ("127.0.0.1", port)}, player, my={"name": "ann"}, stock=stock)


COMMANDS: list[tuple[list[Any], str, Any]] = [
    (["PING"], "PONG", None),
    (["ECHO", "ÿ\r\n\0"], "BULK", "ÿ\r\n\0"),
    (["GET", "a"], "NIL", None),
    (["SET", "a", "7"], "OK", None),
    (["incr", "a"], "NUMBER", 8),
    (["INCRBY", "a", "-10"], "NUMBER", -2),
    (["SET", "a", "x\r\n" * 1000], "OK", None),
    (["GET", "a"], "BULK", "x\r\n" * 1000),
    (["INCR", "a"], "ERROR", "ERR value is not an integer or out of range"),
    (["QUIT"], "OK", None),
]


async def test_redis_server_answers_our_client(stock: bool, tmp_path: Path) -> None:
    said = iter(words for words, _, _ in COMMANDS)

    async def answer(question: str) -> Any:
        return next(said)

    player = ScriptedPlayer(answer)
    words = ("--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    with installed("redis-server", "Ready to accept connections", tmp_path, *words) as port:
        assert await ended(Program(load("redis"), "client", {}), port, player, stock) == Ended(None, None)

    assert [(message, next(iter(fields.values()), None)) for message, fields in player.news] == [
        (message, value) for _, message, value in COMMANDS
    ]


async def test_mosquitto_serves_our_client(stock: bool, tmp_path: Path) -> None:
    with installed("mosquitto", "running", tmp_path, "-v", "-p", "{port}") as port:
        assert await ended(Program(load(HELLO), "client", {}), port, None, stock) == Ended("ÿann", None)
