"""How much longer everything takes because others use this machine: who starves is not late by its own fault."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SCHEDULING: Final = Path("/proc/thread-self/schedstat")  # nanoseconds that this thread ran, and waited to run
LEAST_SECONDS: Final = 0.02  # of running, below which nothing can be said


class MachineLoad:
    """Measures from when it is made. Where a system does not tell how long a thread waited, nothing is ever busy."""

    def __init__(self) -> None:
        self._began = _ran_and_waited()

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
