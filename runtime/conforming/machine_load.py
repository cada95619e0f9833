"""How much longer everything takes because others use this machine: who starves is not late by its own fault."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anyio

SCHEDULING: Final = Path("/proc/thread-self/schedstat")  # nanoseconds that this thread ran, and waited to run
LEAST_SECONDS: Final = 0.02  # of running, below which nothing can be said
LOOK_SECONDS: Final = 0.1  # how often it is looked whether we stood still
SLOWDOWN_MAX: Final = 8.0  # as many times as long we wait at most on a busy machine


class MachineLoad:
    """Measures from when it is made. Where a system does not tell how long a thread waited, nothing is ever busy."""

    def __init__(self) -> None:
        self._began = _ran_and_waited()
        self.lag = 0.0  # seconds that we stood still at most, as far as it was watched

    async def watch(self) -> None:
        """Keep account of ``lag``, until cancelled."""
        while True:
            before = anyio.current_time()
            await anyio.sleep(LOOK_SECONDS)
            self.lag = max(self.lag, anyio.current_time() - before - LOOK_SECONDS)

    def stretch(self) -> float:
        """Return how many times as long as on an idle machine we wait: `slowdown`, within SLOWDOWN_MAX."""
        return min(self.slowdown(), SLOWDOWN_MAX)

    def slowdown(self) -> float:
        """Return how many times as long as on an idle machine this thread took for what it did; 1 if unknown."""
        ran, waited = (now - before for now, before in zip(_ran_and_waited(), self._began, strict=True))
        return 1.0 if ran < LEAST_SECONDS else (ran + waited) / ran


def _ran_and_waited() -> tuple[float, float]:
    try:
        ran, waited, *_ = SCHEDULING.read_text().split()
        return int(ran) / 1e9, int(waited) / 1e9
    except (OSError, ValueError):
        return 0.0, 0.0
