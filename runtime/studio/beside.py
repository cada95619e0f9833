"""The studio beside what goes on: a process of its own, which reads a run's journal, or an event's database.

Who runs it pays nothing.

It ends with the process that started it, whatever ends that: it reads a pipe from it, and goes when the pipe is closed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from runtime.journal.reading import JournalEmptyError
from runtime.process.output import note
from runtime.studio.steps import RecordedRun

LOOK_SECONDS: Final = 0.1  # between two looks whether the journal has begun
# Its paths are those of this process: a module of the folder that it happens to be started in is not ours.
_CHILD: Final = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from importlib import import_module
import_module(sys.argv[2]).show(sys.argv[3:])
"""


class Beside:
    """A studio that shows what goes on; its link goes to standard error. ``module`` has the ``show(words)`` of it."""

    def __init__(self, module: str, *shown: str) -> None:
        paths = msgspec.json.encode(sys.path).decode()
        words = [sys.executable, "-I", "-c", _CHILD, paths, module, *shown]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    @classmethod
    def run(cls, journal: Path, rules: Sequence[str] = ()) -> Beside:
        """Open a studio that shows a run as its journal is written."""
        return cls(__name__, str(journal.resolve()), *rules)

    def stay(self, what: str = "the run") -> None:
        """Wait until it is ended, by Ctrl-C: what it shows is over, and people still look at it."""
        if self._process.poll() is None:
            note(f"{what} is over; the studio shows it until Ctrl-C")
        with suppress(KeyboardInterrupt):
            self._process.wait()
        self.close()

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None, "it was started with a pipe"
        self._process.stdin.close()
        self._process.wait()


def show(words: Sequence[str]) -> None:
    """Be that process for a run: ``words`` are the journal and the modules of rules allowed."""

    def serve_run() -> None:
        from runtime.studio.site import serve

        journal, *rules = words
        run = _begun(Path(journal), rules)
        run.read()
        serve(run, "127.0.0.1", 0, lambda link: note(f"studio: {link}"))

    with_starter(serve_run)


def with_starter(work: Callable[[], None]) -> None:
    """Do the work of that process, until who started it has ended; what goes wrong is told."""
    threading.Thread(target=_end_with_starter, daemon=True).start()
    from runtime.commands.exit_codes import sentence

    try:
        work()
    except KeyboardInterrupt:
        return
    except Exception as error:
        told = sentence(error)
        note(f"no studio: {told[0] if told is not None else f'{type(error).__name__}: {error}'}")


def _begun(journal: Path, rules: Sequence[str]) -> RecordedRun:
    while True:
        try:
            return RecordedRun(journal, rules=rules)
        except JournalEmptyError:
            time.sleep(LOOK_SECONDS)


def _end_with_starter() -> None:
    sys.stdin.buffer.read()
    os._exit(0)
