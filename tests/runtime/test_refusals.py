"""That no file descriptor is left is told once a minute, without a traceback."""

from __future__ import annotations

import errno
import logging

import pytest

from runtime.network.asyncio_transport import REFUSALS_SECONDS, tell_refusals_once
from tests.runtime.virtual import VirtualLoop


class Later(VirtualLoop):
    """A loop whose time is set."""

    later = 0.0

    def time(self) -> float:
        return super().time() + self.later


def test_a_thousand_refusals_are_one_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    loop = Later()
    told: list[str] = []
    loop.set_exception_handler(lambda loop, context: told.append(context["message"]))
    tell_refusals_once(loop)
    refusal = {
        "message": "socket.accept() out of system resource",
        "exception": OSError(errno.EMFILE, "Too many open files"),
    }
    with caplog.at_level(logging.WARNING, "accord.network"):
        for _ in range(1000):
            loop.call_exception_handler(refusal)
        assert [record.getMessage() for record in caplog.records] == [
            "connections cannot be accepted: too many open files"
        ]
        loop.later = REFUSALS_SECONDS
        loop.call_exception_handler(refusal)
        assert len(caplog.records) == 2
    loop.call_exception_handler({"message": "another fault"})
    loop.close()

    assert told == ["another fault"]
