"""An asyncio loop whose time jumps ahead when nothing else is to be done, as trio's MockClock does.

Only for connections in memory: what a kernel holds back would seem never to come.
"""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

from trio.testing import MockClock


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.jumped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise AssertionError("everything waits for something that never comes")
            self.jumped += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop under virtual time, from 0."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.jumped


def virtual(backend: str) -> tuple[str, dict[str, Any]]:
    """Return what anyio's tests want to know to run on asyncio or trio under virtual time."""
    if backend == "asyncio":
        return "asyncio", {"loop_factory": VirtualLoop}
    return "trio", {"clock": MockClock(autojump_threshold=0)}
