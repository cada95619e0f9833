"""How commands write: results to standard output, all else to standard error; ``--json`` is one object a line.

What is not the standard library's is imported where it is used: ``accord doctor`` must be able to write where a
package is missing.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from math import inf
from time import monotonic
from typing import Any, Final, TextIO

from runtime.process.lent_streams import lent
from runtime.process.terminal_text import escape_control_characters

STANDARD_OUTPUT: Final = 1  # the number of its file
LOST_TOLD_SECONDS: Final = 60.0  # how often it is told that lines of the log were lost
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


_results: TextIO | None = None  # where results go while standard output is another's


def results() -> TextIO:
    """Return the stream that results are written to."""
    return sys.stdout if _results is None else _results


def results_among_notes() -> bool:
    """Tell whether results go where standard error goes, as on a terminal: who reads the one reads the other."""
    try:
        return os.path.sameopenfile(results().fileno(), sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):  # one of them is closed, or is no file
        return False


@contextmanager
def results_apart() -> Iterator[None]:
    """Keep standard output for the command: what players and rules print meanwhile goes to standard error.

    So does what their native code and child processes write, where standard output is one of the process.
    """
    global _results
    with ExitStack() as undone:
        undone.callback(setattr, sys, "stdout", sys.stdout)
        undone.callback(globals().__setitem__, "_results", _results)
        # Nothing else is of the process: a test's capture, or the stand-in for a stream that is closed.
        ours = type(sys.stdout) is TextIOWrapper and sys.stdout.fileno() == STANDARD_OUTPUT
        _results = _moved(sys.stdout, undone) if ours else sys.stdout
        undone.callback(setattr, sys, "stderr", sys.stderr)
        sys.stdout = sys.stderr = lent(sys.stderr)
        yield


def _moved(stream: TextIO, undone: ExitStack) -> TextIO:
    """Return a stream to where standard output leads; its number leads to standard error until ``undone``."""
    stream.flush()
    kept = os.dup(STANDARD_OUTPUT)
    moved = os.fdopen(kept, "w", encoding=stream.encoding, errors=stream.errors, closefd=False)

    def back() -> None:
        with suppress(OSError):  # whoever read it has gone: told where it was written
            moved.close()
        os.dup2(kept, STANDARD_OUTPUT)
        os.close(kept)

    undone.callback(back)
    with suppress(OSError):  # there is no standard error
        os.dup2(sys.stderr.fileno(), STANDARD_OUTPUT)
    return moved


def put(text: str = "") -> None:
    """Write a line of the result; control characters are escaped."""
    try:
        print(escape_control_characters(text), file=results(), flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {(error.strerror or str(error)).lower()}") from error


class OutputError(Exception):
    """Standard output does not take the result: the disk is full. The text is one sentence."""


def put_json(value: Any) -> None:
    """Write a result as one line of JSON, at once."""
    import msgspec

    from machines.values import plain

    put(msgspec.json.encode(plain(value)).decode())


def put_result(facts: Any, lines: Iterable[str], *, json: bool) -> None:
    """Write a result: ``facts`` as one line of JSON, or ``lines`` for people."""
    if json:
        put_json(facts)
    else:
        for line in lines:
            put(line)


def note(text: str) -> None:
    """Tell the person something that is not part of the result; control characters are escaped.

    Where standard error takes nothing, it is counted as missing: no run fails for what only tells of it.
    """
    try:
        print(escape_control_characters(text), file=sys.stderr, flush=True)
    except OSError as error:
        MISSING.count(error)


class Missing:
    """What standard error did not take, as where the disk is full."""

    def __init__(self) -> None:
        self.lines = 0
        self._why = ""

    def count(self, error: OSError, lines: int = 1) -> None:
        """Count lines that could not be written."""
        self.lines += lines
        self._why = (error.strerror or str(error)).lower()

    def told(self) -> str:
        """Return a sentence for what is missing, and count from nothing again."""
        lines, self.lines = self.lines, 0
        are = "1 line of log and progress is" if lines == 1 else f"{lines} lines of log and progress are"
        return f"standard error could not be written: {self._why} ({are} missing)"


MISSING: Final = Missing()


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows as lines with their columns under one another; the last column is not padded."""
    listed = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in listed), strict=True)]
    return ["  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in listed]


class JsonLines(logging.Formatter):
    """Log records as JSON Lines: time in seconds since 1970, level, logger, text, and the fields of ``extra``."""

    _known = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        import msgspec

        from machines.values import plain

        line = {"time": record.created, "level": record.levelname.lower(), "logger": record.name}
        line["text"] = record.getMessage()
        line |= {name: plain(value) for name, value in vars(record).items() if name not in self._known}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return escape_control_characters(msgspec.json.encode(line).decode())


class LogLines(logging.Formatter):
    """Log records for people: ``level: text``, control characters escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line, and lines of its traceback if it has one."""
        return escape_control_characters(super().format(record))


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes the log; lines that cannot be written, as where the disk is full, are lost, and counted.

    How many they are is told once there is room again, once a minute; logging itself would write a traceback for each.
    """

    def __init__(self, stream: TextIO, time: Callable[[], float] = monotonic) -> None:
        super().__init__(stream)
        self._time = time
        self._lost = 0
        self._why: OSError | None = None
        self._tell_at = -inf

    def close(self) -> None:
        """Leave what is still not told of to the end of the command."""
        if self._why is not None and self._lost:
            MISSING.count(self._why, self._lost)
            self._lost = 0
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        before = self._lost
        super().emit(record)
        if 0 < self._lost == before and self._time() >= self._tell_at:
            self._tell_at = self._time() + LOST_TOLD_SECONDS
            lost, self._lost = self._lost, 0
            text = f"{lost} lines of the log could not be written and are lost"
            super().emit(logging.LogRecord("accord.log", logging.WARNING, "", 0, text, None, None))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (as logging calls it)
        """Count a line that could not be written; a fault of the program itself is told as ever."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            self._lost += 1
            self._why = error
        else:
            super().handleError(record)


@contextmanager
def log_shown(
    level: str, *, as_json: bool, without: Callable[[logging.LogRecord], bool] | None = None, waits: bool = False
) -> Iterator[None]:
    """Send the log of a level (a key of LEVELS) and above to standard error for as long as the block runs.

    What ``without`` is true of is left out: the result tells it. With ``waits`` all is shown of what a run waits for.
    """
    handler = LogHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else LogLines("%(levelname)s: %(message)s"))
    if without is not None:
        handler.addFilter(lambda record: not without(record))
    logger = logging.getLogger("accord")
    level_before, propagated_before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(LEVELS[level])
    logger.propagate = False
    waiting = logging.getLogger("accord.waiting")
    waiting.setLevel(logging.INFO if waits else logging.NOTSET)
    try:
        yield
    finally:
        waiting.setLevel(logging.NOTSET)
        logger.removeHandler(handler)
        handler.close()
        logger.setLevel(level_before)
        logger.propagate = propagated_before
