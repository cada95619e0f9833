"""A program that others wrote, run as a group of processes: none of them is left when it is done with."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from contextlib import suppress
from typing import Final

import anyio
from anyio.abc import Process

OUTPUT_BYTES_MAX: Final = 1 << 12  # of what it prints that is kept
TOLD_LINES: Final = 3  # of its last output, when it failed
END_SECONDS: Final = 0.3  # between asking it to end and ending it


class StrangerError(Exception):
    """The program cannot be started; the text is one sentence."""


class Stranger:
    """One run of a command, in a session of its own."""

    def __init__(self, command: str) -> None:
        self.command = command
        self._process: Process | None = None
        self._output = b""  # the end of what it printed
        self.silenced = anyio.Event()  # it prints nothing any more

    async def start(self) -> None:
        """Start it.

        Raises:
            StrangerError: there is no such program, or the command is no command.
        """
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise StrangerError(f"--run {self.command!r} is no command: {error}") from error
        if not words:
            raise StrangerError("--run is empty: it is the command that starts the program")
        try:
            with anyio.CancelScope(shield=True):  # or nobody would know of a process that is starting
                self._process = await anyio.open_process(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            said = getattr(error, "strerror", None) or str(error)
            raise StrangerError(f"{words[0]} cannot be started: {said.lower()}") from error

    @property
    def exit_code(self) -> int | None:
        """How it has ended; None if it runs."""
        return self._process.returncode if self._process is not None else None

    @property
    def how_it_ended(self) -> str:
        """Its exit code, and the last line that it printed."""
        lines = self.last_lines()
        return f"exit code {self.exit_code}" + (f": {lines[-1]}" if lines else "")

    async def read_output(self) -> None:
        """Read what it prints, as long as it runs, and keep the end of it."""
        stream = self._process.stdout if self._process is not None else None
        if stream is not None:
            with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                while True:
                    self._output = (self._output + await stream.receive())[-OUTPUT_BYTES_MAX:]
        self.silenced.set()

    def last_lines(self) -> tuple[str, ...]:
        """Return the last lines that it printed."""
        text = self._output.decode(errors="backslashreplace")
        return tuple([line.rstrip() for line in text.splitlines() if line.strip()][-TOLD_LINES:])

    async def stop(self) -> None:
        """End it with all that it started, and wait for it."""
        process = self._process
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGTERM)
                else:  # Windows knows no groups
                    process.terminate()
            with anyio.move_on_after(END_SECONDS):
                await process.wait()
            with suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            await process.wait()
            await process.aclose()
        self._process = None
