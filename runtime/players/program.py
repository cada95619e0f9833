"""A player that is a program of any language: it reads questions from its standard input, one JSON value a line.

We write
    {"player": "Ann"}                                                    once, first
    {"heard": "TOKEN", "holes": {"token": "red"}}                        news: needs no answer
    {"ask": "initial", "number": 1, "arguments": {"board": ..., ...}, "messages": ["INIT_PLACE"], "within": 8.0}
    {"cancel": 1}                                                        too late for that one

It writes one line for each ``ask``, in the same order, either of
    {"message": "INIT_PLACE", "holes": {"token": "red", ...}}
    ["red", [["A", "E"], ...], "A", 0, 0]                                the message's body, as on the wire

A question that was cancelled is still owed its line, so that a program need not read while it thinks; that line is
thrown away. ``within`` is in seconds, null for no limit. What the program writes to standard error is passed to the
log, level info, and when it fails the last of it is part of the reason. It runs without a shell, in a process group of
its own, which is killed at the end, with all that it started. For whoever writes a program: ``docs/players.md``.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from machines.values import plain
from runtime.players.base import Arguments, DecisionError, UnknownPlayerError
from runtime.players.descendants import MARK, WARDEN, kill_group, kill_marked
from runtime.stopping import at_forced_end

log = logging.getLogger("accord.players")

LINE_BYTES_MAX = 1 << 20  # As large as a message may be by default.
LINES_WAITING_MAX = 1000  # Lines a program has not read yet; a whole game of the shipped protocols has under 200.
STDERR_BYTES_MAX = 64 << 10  # Of a program's complaints, what is passed to the log.
COMPLAINTS_SHOWN = 3  # Lines of standard error in the reason why an answer is none; of a crash, the last one.
COMPLAINTS_SEARCHED = 20  # Of a crash, the last lines in which the one with the error is looked for.
_ERROR_LINE = re.compile(r"(?:Exception in thread .*|(?:[\w.]*\.)?\w*(?:Error|Exception)\b.*)$")
COMPLAINT_CHARACTERS_MAX = 200  # Of each of them.
COMPLAINT_SECONDS_MAX = 0.1  # How long to wait for them once an answer is none.
COMPLAINT_BYTES_MAX = 8192  # Of standard error, what is kept for them.
GRACE_SECONDS = 0.5  # Between closing a program's input and killing it.


class SubprocessPlayer:
    """A running program; see the module for what is said.

    ``complaint`` is the end of its standard error so far, ``complained`` is set when there will be no more.
    """

    def __init__(self, process: Process, words: list[str], name: str, lines: MemoryObjectSendStream[bytes]) -> None:
        assert process.stdout is not None, "the program was started without pipes"
        self._stdout: ByteReceiveStream = process.stdout
        self._process = process
        self._called = os.path.basename(words[0])
        self._lines = lines
        self._buffer = bytearray()
        self._number = 0
        self._owed = 0
        self._overflowed = False
        self.complaint = b""
        self.complained = anyio.Event()
        self._tell({"player": name})

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Put the question to the program and return its answer; see `runtime.players.base.Player.decide`.

        Raises:
            DecisionError: the program has ended, its line is too long or no JSON, or it does not read its input.
        """
        self._number += 1
        asked = {
            "ask": question,
            "number": self._number,
            "arguments": {name: plain(value) for name, value in arguments},
            "messages": messages,
            "within": seconds,
        }
        if not self._tell(asked):
            raise DecisionError(f"{self._called} has {LINES_WAITING_MAX} lines waiting and does not read them", "flood")
        try:
            while self._owed:
                await self._line()
                self._owed -= 1
            line = await self._line()
        except anyio.get_cancelled_exc_class():
            self._owed += 1
            if self._buffer:
                log.warning(
                    "%s: %d bytes without a line end had come for %s", self._called, len(self._buffer), question
                )
            self._tell({"cancel": self._number})
            raise
        try:
            return _answer(line, messages, self._called)
        except DecisionError as error:
            # What it complained of comes by another pipe, perhaps a moment later.
            with anyio.move_on_after(COMPLAINT_SECONDS_MAX):
                await self.complained.wait()
            words = self._last_words(COMPLAINTS_SHOWN)
            raise DecisionError(f"{error}{words}", error.kind, self.last_lines()) from None

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Write the news; dropped with a line in the log if the program does not read."""
        self._tell({"heard": message, "holes": {name: plain(value) for name, value in fields.items()}})

    def _tell(self, value: object) -> bool:
        try:
            self._lines.send_nowait(msgspec.json.encode(value) + b"\n")
        except anyio.WouldBlock:
            if not self._overflowed:
                log.warning("%s does not read its input: lines for it are dropped", self._called)
            self._overflowed = True
            return False
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return True  # It has ended; the reading side finds out, and knows its exit code.
        return True

    async def _line(self) -> bytes:
        """Return the next line without its end; what was read of a line is kept when this is cancelled."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > LINE_BYTES_MAX:
                raise DecisionError(f"{self._called} wrote a line of more than {LINE_BYTES_MAX} bytes", "flood")
            try:
                self._buffer += await self._stdout.receive(65536)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                raise await self._why_ended() from None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    async def _why_ended(self) -> DecisionError:
        kind = "exit"
        why = f"{self._called} closed its output"
        with anyio.move_on_after(GRACE_SECONDS):
            code = await self._process.wait()
            kind = "crash" if code else "exit"
            why = (
                f"{self._called} was ended by signal {-code}"
                if code < 0
                else f"{self._called} ended with exit code {code}"
            )
            # Its output ends before the last of its complaints is read; a child may hold them open for longer.
            await self.complained.wait()
        if self._buffer:
            why += f" after {len(self._buffer)} bytes without a line end"
        return DecisionError(why + self._last_words(1), kind, self.last_lines())

    def last_lines(self) -> tuple[str, ...]:
        """Return the last lines of its standard error, COMPLAINTS_SEARCHED of those that are not empty."""
        # They go to a terminal: what a program writes may not steer that.
        said = (
            "".join(c if c.isprintable() else " " for c in text).rstrip()
            for text in self.complaint.decode(errors="replace").split("\n")
        )
        return tuple([text for text in said if text][-COMPLAINTS_SEARCHED:])

    def _last_words(self, lines: int) -> str:
        """Return the last lines of its standard error as the end of a sentence; empty if there are none."""
        last = [text for text in map(str.strip, self.last_lines()) if text]
        # Some runtimes end with a line of their own, as Node does with its version.
        errors = [text for text in last if _ERROR_LINE.match(text)] if lines == 1 else []
        last = (errors or last)[-lines:]
        return f"; it said: {' / '.join(text[:COMPLAINT_CHARACTERS_MAX] for text in last)}" if last else ""


def _answer(line: bytes, messages: tuple[str, ...], called: str) -> Any:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        shown = line[:60].decode(errors="replace") + ("..." if len(line) > 60 else "")
        raise DecisionError(f"{called} wrote a line that is no JSON: {shown!r}", "malformed") from None
    if isinstance(value, dict) and value.keys() == {"message", "holes"} and value["message"] in messages:
        return value["message"], value["holes"]
    return value


def program_words(command: str) -> list[str]:
    """Return the words of a command line, cut as a POSIX shell would, without running one.

    Raises:
        UnknownPlayerError: there are none, or a quote is left open.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UnknownPlayerError(f"exec:{command}: {str(error).lower()}") from error
    if not words:
        raise UnknownPlayerError("exec: needs a command, as in exec:'./bot --fast'")
    return words


@asynccontextmanager
async def open_program(command: str, name: str, folder: Path | None = None) -> AsyncIterator[SubprocessPlayer]:
    """Start a program as a player called ``name``, in ``folder``; its process group is killed when the block is left.

    Raises:
        UnknownPlayerError: the command cannot be started.
    """
    words = program_words(command)
    environment = WARDEN.environment()
    try:
        process = await anyio.open_process(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            cwd=folder,
        )
    except OSError as error:
        raise UnknownPlayerError(f"exec:{command}: {error.strerror or error}") from error
    WARDEN.started(process.pid)
    to_program, lines = anyio.create_memory_object_stream[bytes](LINES_WAITING_MAX)
    program = SubprocessPlayer(process, words, name, to_program)
    failed: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, process, lines)
            tasks.start_soon(_pass_on, process, os.path.basename(words[0]), program)
            try:
                with at_forced_end(partial(end_group, process, environment[MARK])):
                    yield program
            except Exception as error:
                failed = error  # Raised again outside the task group, which would wrap it in a group of one.
            finally:
                # Closing lets the writer hand over what is waiting, and then close the program's input.
                to_program.close()
                await _end(process, environment[MARK])
                WARDEN.ended(process.pid)
                with anyio.move_on_after(GRACE_SECONDS, shield=True):
                    await program.complained.wait()
                tasks.cancel_scope.cancel()
    finally:
        lines.close()
        with anyio.CancelScope(shield=True):
            await process.aclose()
    if failed is not None:
        raise failed


async def _write(process: Process, lines: MemoryObjectReceiveStream[bytes]) -> None:
    """Write the lines to the program's input as fast as it reads; close it after the last."""
    assert process.stdin is not None, "the program was started without pipes"
    with lines:
        try:
            async for line in lines:
                await process.stdin.send(line)
            await process.stdin.aclose()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return  # It has ended, or closed its input: a program that needs no news may.


async def _pass_on(process: Process, called: str, program: SubprocessPlayer) -> None:
    """Pass what the program complains of to the log, a line each, up to STDERR_BYTES_MAX; read on and forget after.

    The end of it is kept for the reason why the program failed, however much there was.
    """
    assert process.stderr is not None, "the program was started without pipes"
    passed = 0
    line = b""
    try:
        async for chunk in process.stderr:
            program.complaint = (program.complaint + chunk)[-COMPLAINT_BYTES_MAX:]
            room = STDERR_BYTES_MAX - passed
            passed += len(chunk)
            *whole, line = (line + chunk[: max(room, 0)]).split(b"\n")
            for text in whole:
                log.info("%s: %s", called, text.decode(errors="replace").rstrip())
            if room >= 0 > STDERR_BYTES_MAX - passed:
                log.warning(
                    "%s wrote more than %d bytes to standard error: the rest is dropped", called, STDERR_BYTES_MAX
                )
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # The program is gone, and what it was about to complain of with it.
    if line:
        log.info("%s: %s", called, line.decode(errors="replace").rstrip())
    program.complained.set()


async def _end(process: Process, mark: str) -> None:
    """Give the program GRACE_SECONDS to end by itself, then kill all of its process group, and whoever left that."""
    with anyio.CancelScope(shield=True):
        with anyio.move_on_after(GRACE_SECONDS):
            await process.wait()
        end_group(process, mark)
        await process.wait()


def end_group(process: Process | subprocess.Popen[bytes], mark: str = "") -> None:
    """Kill a program and its children, also when it has ended itself: they may not have. Windows knows no groups.

    Those are killed too that carry its ``mark``: see `runtime.players.descendants`.
    """
    if hasattr(os, "killpg"):
        kill_group(process.pid)
    else:
        with suppress(ProcessLookupError, PermissionError):
            process.kill()
    if mark:
        kill_marked(f"{mark}\0")
