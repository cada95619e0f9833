"""A player that is a program of any language: it reads questions from its standard input, one JSON value a line.

We write
    {"player": "Ann"}                                                    once, first
    {"heard": "TOKEN", "holes": {"token": "red"}}                        news: needs no answer
    {"ask": "initial", "number": 1, "arguments": {"board": ..., ...}, "messages": ["INIT_PLACE"], "within": 8.0}
    {"cancel": 1}                                                        too late for that one

It writes one line for each ``ask``, in the same order, either of
    {"message": "INIT_PLACE", "holes": {"token": "red", ...}}
    ["red", [["A", "E"], ...], "A", 0, 0]                                the message's body, as on the wire

or either of them with the question's number, which an answer to another question can't be mistaken for:
    {"number": 1, "message": "INIT_PLACE", "holes": {"token": "red", ...}}
    {"number": 1, "answer": ["red", [["A", "E"], ...], "A", 0, 0]}

A question that was cancelled is still owed its line, so that a program need not read while it thinks; that line is
thrown away. So is what was written before the question was asked. Before it is first asked, a program may say
    {"ready": false}    not yet                {"ready": true}    now
and clocks wait for it (`runtime.players.program_start`). ``within`` is in seconds, null for no limit. What the program
writes to standard error is passed to the log, level info, and when it fails the last of it is part of the reason. It
runs without a shell, in a process group of its own, which is killed at the end, with all that it started. For whoever
writes a program: ``docs/players.md``.
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
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from machines.values import plain
from runtime.players.base import Arguments, DecisionError, UnknownPlayerError
from runtime.players.descendants import MARK, WARDEN, kill_group, kill_marked
from runtime.players.program_limits import UNLIMITED, Allowance, ProgramLimits
from runtime.players.program_output import ProgramOutput
from runtime.players.program_start import unread_bytes
from runtime.process.stopping import at_forced_end

log = logging.getLogger("accord.players")

LINE_BYTES_MAX = 1 << 20  # As large as a message may be by default.
LINES_WAITING_MAX = 1000  # Lines a program has not read yet; a whole game of the shipped protocols has under 200.
STDERR_BYTES_MAX = 64 << 10  # Of a program's complaints, what is passed to the log.
THROWN_AWAY_TOLD_MAX = 20  # Lines of a program that are no answer and are told one by one in the log.
COMPLAINTS_SHOWN = 3  # Lines of standard error in the reason why an answer is none; of a crash, the last one.
COMPLAINTS_SEARCHED = 20  # Of a crash, the last lines in which the one with the error is looked for.
_ERROR_LINE = re.compile(r"(?:Exception in thread .*|(?:[\w.]*\.)?\w*(?:Error|Exception)\b.*)$")
COMPLAINT_CHARACTERS_MAX = 200  # Of each of them.
COMPLAINT_SECONDS_MAX = 0.1  # How long to wait for them once an answer is none.
COMPLAINT_BYTES_MAX = 65536  # Of standard error, what is kept of its end.
TOLD_BYTES_MAX = 1 << 20  # Of what was written to it, what is kept of the beginning.
LAST_LINES_BYTES_MAX = 8192  # and what of that is looked through for its last lines.
GRACE_SECONDS = 0.5  # Between closing a program's input and killing it.


class SubprocessPlayer:
    """A running program; see the module for what is said.

    ``told`` are the first lines that were written to it, ``complaint`` is the end of its standard error so far,
    ``complained`` is set when there will be no more; ``reads`` tells whether its input is open, ``allowance`` whether
    it took more than it may.
    """

    def __init__(
        self,
        process: Process,
        words: list[str],
        name: str,
        lines: MemoryObjectSendStream[bytes],
        allowance: Allowance,
    ) -> None:
        assert process.stdout is not None, "the program was started without pipes"
        self.allowance = allowance
        self.output = ProgramOutput(process.stdout, LINE_BYTES_MAX, allowance.wrote)
        self._process = process
        self._called = os.path.basename(words[0])
        self._lines = lines
        self._number = 0
        self._open: set[int] = set()  # the numbers of cancelled questions whose lines have not come
        self._ready: bool | None = None  # what it says of itself
        self._overflowed = False
        self._thrown_away = 0
        self.reads = True
        self.complaint = b""
        self.told = bytearray()
        self.complained = anyio.Event()
        self._tell({"player": name})

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Put the question to the program and return its answer; see `runtime.players.base.Player.decide`.

        Raises:
            DecisionError: the program has ended, its line is too long or no JSON, it does not read its input, or it
                took more than it may.
        """
        self.allowance.check()
        clogged = self._lines.statistics().current_buffer_used >= LINES_WAITING_MAX
        await self._throw_away()
        self._number += 1
        asked = {
            "ask": question,
            "number": self._number,
            "arguments": {name: plain(value) for name, value in arguments},
            "messages": messages,
            "within": seconds,
        }
        if clogged or not self._tell(asked):
            raise DecisionError(f"{self._called} has {LINES_WAITING_MAX} lines waiting and does not read them", "flood")
        owed = self._open.copy()
        try:
            value = await self._answer_to(self._number)
        except anyio.get_cancelled_exc_class():
            self._cancelled(question, owed - self._open)
            raise
        except DecisionError as error:
            if error.kind != "malformed":
                raise
            # What it complained of comes by another pipe, perhaps a moment later.
            with anyio.move_on_after(COMPLAINT_SECONDS_MAX):
                await self.complained.wait()
            words = self._last_words(COMPLAINTS_SHOWN)
            raise DecisionError(f"{error}{words}", error.kind, self.last_lines()) from None
        if isinstance(value, dict) and value.keys() == {"message", "holes"} and value["message"] in messages:
            return value["message"], value["holes"]
        return value

    def _cancelled(self, question: str, taken: set[int]) -> None:
        """Note that a question is closed; ``taken`` are those before it whose lines have come since it was asked."""
        if self.output.partial:
            log.warning(
                "%s: %d bytes without a line end had come for %s", self._called, len(self.output.partial), question
            )
        if taken:
            log.warning(
                "%s: of what it wrote after question %d the first line was taken for its answer to question %d, which "
                'was cancelled: such a question is still owed its line (answers that carry their "number" are not '
                "mistaken)",
                self._called,
                self._number,
                min(taken),
            )
        self._open.add(self._number)
        self._tell({"cancel": self._number})

    async def _throw_away(self) -> None:
        """Throw away what was written before a question is asked, but for the lines owed to others."""
        await self.output.look()
        while (line := self.output.take()) is not None:
            value = _value(line)
            if self._says_ready(value) or self._is_owed(_number_of(value)):
                continue
            self._warn_of(line, "before it was asked")
        if not self._open and (count := self.output.discard_partial()):
            log.warning("%s: %d bytes without a line end came before it was asked: no answer", self._called, count)

    def _warn_of(self, line: bytes, when: str) -> None:
        self._thrown_away += 1
        if self._thrown_away <= THROWN_AWAY_TOLD_MAX:
            log.warning("%s: a line that came %s is no answer, and thrown away: %s", self._called, when, _shown(line))
        if self._thrown_away == THROWN_AWAY_TOLD_MAX:
            log.warning("%s: further such lines are thrown away without a word", self._called)

    def _says_ready(self, value: object) -> bool:
        """Take note of what a program says of its start, before the first question and as long as it says `not yet`."""
        if self._number and self._ready is not False:
            return False
        if isinstance(value, dict) and value.keys() == {"ready"} and isinstance(value["ready"], bool):
            self._ready = value["ready"]
            return True
        return False

    def _is_owed(self, number: int | None) -> bool:
        """Whether a line is owed to a cancelled question; without a number, to the first of them."""
        if number is None and self._open:
            number = min(self._open)
        if number not in self._open:
            return False
        self._open -= {earlier for earlier in self._open if earlier <= number}
        return True

    async def _answer_to(self, number: int) -> Any:
        """Return the value of the next line that is an answer to a question.

        Raises:
            DecisionError: it is no JSON, too long, or the program has ended.
        """
        while True:
            line = await self.output.next_line()
            self.allowance.check()
            if line is None:
                if self.output.too_long:
                    raise DecisionError(f"{self._called} wrote a line of more than {LINE_BYTES_MAX} bytes", "flood")
                raise await self._why_ended()
            value = _value(line)
            said = _number_of(value)
            if said == number:
                self._open.clear()
                return value["answer"] if "answer" in value else {key: value[key] for key in ("message", "holes")}
            if self._says_ready(value) or self._is_owed(said):
                continue
            if said is not None:
                self._warn_of(line, f"for question {said} while question {number} was open")
                continue
            if value is _NO_JSON:
                raise DecisionError(f"{self._called} wrote a line that is no JSON: {_shown(line)}", "malformed")
            return value

    async def has_started(self) -> bool:
        """Whether it can be asked: it reads its input, has ended, or says that it is ready."""
        # Its first line may still be on its way to the pipe.
        reads = self._lines.statistics().current_buffer_used == 0 and not unread_bytes(self._process.stdin)
        await self.output.look()  # What it wrote before it read is seen, and no more than a moment later.
        while self._ready is not True and not self._number and (line := self.output.take()) is not None:
            if not self._says_ready(_value(line)):
                self._warn_of(line, "before it was asked")
        if self.output.ended or not self.reads or self._process.returncode is not None:
            return True
        return reads if self._ready is None else self._ready

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Write the news; dropped with a line in the log if the program does not read."""
        self._tell({"heard": message, "holes": {name: plain(value) for name, value in fields.items()}})

    def _tell(self, value: object) -> bool:
        line = msgspec.json.encode(value) + b"\n"
        try:
            self._lines.send_nowait(line)
        except anyio.WouldBlock:
            if not self._overflowed:
                log.warning("%s does not read its input: lines for it are dropped", self._called)
            self._overflowed = True
            return False
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return True  # It has ended; the reading side finds out, and knows its exit code.
        self.told += line if len(self.told) < TOLD_BYTES_MAX else b""
        return True

    async def _why_ended(self) -> DecisionError:
        kind = "exit"
        why = f"{self._called} closed its output"
        with anyio.move_on_after(GRACE_SECONDS):
            code = await self._process.wait()
            kind = "crash" if code else "exit"
            ended = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            why = f"{self._called} {ended}"
            # Its output ends before the last of its complaints is read; a child may hold them open for longer.
            await self.complained.wait()
        self.allowance.check()
        if self.output.partial:
            why += f" after {len(self.output.partial)} bytes without a line end"
        return DecisionError(why + self._last_words(1), kind, self.last_lines())

    def last_lines(self) -> tuple[str, ...]:
        """Return the last lines of its standard error, COMPLAINTS_SEARCHED of those that are not empty."""
        # They go to a terminal: what a program writes may not steer that.
        said = (
            "".join(c if c.isprintable() else " " for c in text).rstrip()
            for text in self.complaint[-LAST_LINES_BYTES_MAX:].decode(errors="replace").split("\n")
        )
        return tuple([text for text in said if text][-COMPLAINTS_SEARCHED:])

    def why_late(self) -> str:
        """See `runtime.journal.losses.why_late`."""
        if self.output.partial:
            return f"{len(self.output.partial)} bytes without a line end had come"
        if self.output.discarded:
            return f"its line was thrown away, for {self.output.discarded} bytes of it came before it was asked"
        return ""

    def _last_words(self, lines: int) -> str:
        """Return the last lines of its standard error as the end of a sentence; empty if there are none."""
        last = [text for text in map(str.strip, self.last_lines()) if text]
        # Some runtimes end with a line of their own, as Node does with its version.
        errors = [text for text in last if _ERROR_LINE.match(text)] if lines == 1 else []
        last = (errors or last)[-lines:]
        return f"; it said: {' / '.join(text[:COMPLAINT_CHARACTERS_MAX] for text in last)}" if last else ""


_NO_JSON = object()


def _value(line: bytes) -> Any:
    """Return the JSON value of a line; _NO_JSON if it is none."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NO_JSON


def _number_of(value: object) -> int | None:
    """Return the number of the question that an answer names; None if it names none."""
    if not isinstance(value, dict) or value.keys() not in ({"number", "answer"}, {"number", "message", "holes"}):
        return None
    number = value["number"]
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _shown(line: bytes) -> str:
    return repr(line[:60].decode(errors="replace") + ("..." if len(line) > 60 else ""))


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
async def open_program(
    command: str, name: str, folder: Path | None = None, limits: ProgramLimits = UNLIMITED
) -> AsyncIterator[SubprocessPlayer]:
    """Start a program as a player called ``name``, in ``folder``; its process group is killed when the block is left.

    So it is when the program takes more than ``limits`` let it.

    Raises:
        UnknownPlayerError: the command cannot be started.
    """
    words = program_words(command)
    environment = WARDEN.environment()
    process = await _start(command, words, environment, folder)
    WARDEN.started(process.pid)
    to_program, lines = anyio.create_memory_object_stream[bytes](LINES_WAITING_MAX)
    allowance = Allowance(limits, partial(end_group, process, environment[MARK]))
    program = SubprocessPlayer(process, words, name, to_program, allowance)
    failed: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, process, lines, program)
            tasks.start_soon(program.output.read)
            tasks.start_soon(_pass_on, process, os.path.basename(words[0]), program)
            tasks.start_soon(allowance.watch, process.pid, environment[MARK])
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


async def _start(command: str, words: list[str], environment: dict[str, str], folder: Path | None) -> Process:
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    try:
        return await anyio.open_process(words, **pipes, env=environment, start_new_session=True, cwd=folder)
    except OSError as error:
        raise UnknownPlayerError(f"exec:{command}: {error.strerror or error}") from error


async def _write(process: Process, lines: MemoryObjectReceiveStream[bytes], program: SubprocessPlayer) -> None:
    """Write the lines to the program's input as fast as it reads, all that wait in one; close it after the last."""
    assert process.stdin is not None, "the program was started without pipes"
    with lines:
        try:
            async for line in lines:
                waiting = [line]
                with suppress(anyio.WouldBlock, anyio.EndOfStream):
                    while True:
                        waiting.append(lines.receive_nowait())
                await process.stdin.send(b"".join(waiting))
            await process.stdin.aclose()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            program.reads = False  # It has ended, or closed its input: a program that needs no news may.


async def _pass_on(process: Process, called: str, program: SubprocessPlayer) -> None:
    """Pass what the program complains of to the log, a line each, up to STDERR_BYTES_MAX; read on and forget after.

    The end of it is kept for the reason why the program failed, however much there was.
    """
    assert process.stderr is not None, "the program was started without pipes"
    passed = 0
    line = b""
    try:
        async for chunk in process.stderr:
            program.allowance.wrote(len(chunk))
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
