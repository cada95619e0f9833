"""A log on a full disk loses lines, without a traceback, and says how many once there is room again."""

from __future__ import annotations

import errno
import io
import logging
import sys

import pytest

from runtime.process.output import LOST_TOLD_SECONDS, LogHandler


class Disk(io.StringIO):
    """A file on a disk that may be full."""

    full = False

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


def test_lines_that_cannot_be_written_are_counted_and_told_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    disk, errors, now = Disk(), io.StringIO(), 0.0
    monkeypatch.setattr(sys, "stderr", errors)
    handler = LogHandler(disk, lambda: now)
    log = logging.Logger("test")
    log.addHandler(handler)

    for second in range(200):
        now = float(second)
        disk.full = second % 2 == 0
        log.warning("line %d", second)

    told = [line for line in disk.getvalue().splitlines() if "lost" in line]
    assert told[:2] == [
        "1 lines of the log could not be written and are lost",
        f"{int(LOST_TOLD_SECONDS) // 2} lines of the log could not be written and are lost",
    ]
    assert len(told) == 4
    assert "line 1" in disk.getvalue()
    assert errors.getvalue() == ""


def test_a_fault_of_the_program_is_told_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    log = logging.Logger("test")
    log.addHandler(LogHandler(Disk()))

    log.warning("%d", "no number")

    assert "TypeError" in errors.getvalue()
