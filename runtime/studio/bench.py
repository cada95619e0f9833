"""The workbench in a process of its own: a page is answered whatever a text leads to, or told that it takes too long.

    page ▶ Bench ──a request a line──▶ the process (`serve_bench`) ──what is known, a line each, the last empty──▶

It is started with the first request, and again after it was ended because a request took longer than SECONDS_MAX.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec

from runtime.studio.editing import Workbench

SECONDS_MAX: Final = 10.0  # of one request; the largest of the shipped specs takes 0.15 s
PATIENT: Final = 15  # of 19, where others go first
_CHILD: Final = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from runtime.studio.bench import serve_bench
serve_bench(sys.argv[2:])
"""
Told = Callable[[dict[str, Any]], Awaitable[None]]


class Request(msgspec.Struct):
    """What is to be looked at: a spec's text, and a trial of it by its lines, if there shall be one.

    If it is ``together``, all its roles together and nothing else.
    """

    text: str
    lines: list[str] | None = None
    together: bool = False


class Bench:
    """The process, as its pages see it; it is asked for one thing at a time."""

    def __init__(self, name: str, rules: Sequence[str] = (), seconds: float = SECONDS_MAX) -> None:
        self.spec = name, tuple(rules)
        self._words = [name, *rules]
        self._seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = anyio.Lock()

    async def work(self, request: Request, told: Told) -> None:
        """Hand a request over, and ``told`` what is known of it, bit by bit.

        Where that is not all, the last bit is ``{"fault": a sentence}``.
        """
        async with self._lock:
            try:
                with anyio.fail_after(self._seconds):
                    whole = await self._ask(request, told)
            except TimeoutError:
                self.close()
                await told({"fault": f"this takes longer than {self._seconds:g} s: it was given up"})
                return
            except BaseException:
                self.close()  # an answer left unread would be taken for that to the next question
                raise
        if not whole:
            self.close()
            await told(
                {"fault": "the process that looks at the spec has ended: it is started again with the next change"}
            )

    async def _ask(self, request: Request, told: Told) -> bool:
        child = self._started()
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(BrokenPipeError):
            await anyio.to_thread.run_sync(_write, child, msgspec.json.encode(request), abandon_on_cancel=True)
        while line := await anyio.to_thread.run_sync(child.stdout.readline, abandon_on_cancel=True):
            if line == b"\n":
                return True
            await told(msgspec.json.decode(line))
        return False

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            paths = msgspec.json.encode(sys.path).decode()
            words = [sys.executable, "-I", "-c", _CHILD, paths, *self._words]
            self._child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._child

    def close(self) -> None:
        """End the process, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()


def _write(child: subprocess.Popen[bytes], data: bytes) -> None:
    assert child.stdin is not None
    child.stdin.write(data + b"\n")
    child.stdin.flush()


def serve_bench(words: Sequence[str]) -> None:
    """Be that process: ``words`` are the spec's path and the modules of rules allowed. It ends with standard input."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a module of rules prints is no answer
    name, *rules = words
    bench = Workbench(name, rules)
    encode = msgspec.json.Encoder().encode
    with suppress(KeyboardInterrupt, BrokenPipeError):
        for line in sys.stdin.buffer:
            request = msgspec.json.decode(line, type=Request)
            if request.together and hasattr(os, "nice"):
                os.nice(max(0, PATIENT - os.nice(0)))  # nobody waits for it: what is told at once comes first
            try:
                told = [bench.together(request.text)] if request.together else bench.told(request.text, request.lines)
                for facts in filter(None, told):
                    answers.write(encode(facts) + b"\n")
                    answers.flush()
            except Exception as error:  # a fault of ours, or of a rule: the page is told, and goes on
                answers.write(encode({"fault": f"{type(error).__name__}: {error}"}) + b"\n")
            answers.write(b"\n")
            answers.flush()
