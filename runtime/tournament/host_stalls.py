"""For how long the host stood still: a thread that wakes every few milliseconds notes when it wakes too late.

A host stands still when it is suspended, when it swaps, when others take all of its processors. What the event loop
itself does is not meant: a dear message holds the loop, and this thread goes on. So no player can make the host stand
still by what it sends.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

TICK_SECONDS: Final = 0.02  # between two looks: 0.1 % of a processor
STALL_SECONDS: Final = 0.05  # a look that comes so much too late is a stall: to be scheduled beside others takes less
STALLS_MAX: Final = 10_000  # that are kept, the last ones


class HostStalls:
    """Keeps account of stalls from `begin` to `close`. Times are those of ``now``, in seconds that never go back."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._looked = now()
        self._stalls: deque[tuple[float, float]] = deque(maxlen=STALLS_MAX)  # from and to
        self._closed = threading.Event()

    def begin(self) -> None:
        """Look from now on."""
        self._looked = self._now()
        threading.Thread(target=self._watch, name="host stalls", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    def look(self) -> None:
        """Note a stall if the last look is too long ago."""
        now = self._now()
        due = self._looked + TICK_SECONDS
        if now - due > STALL_SECONDS:
            self._stalls.append((due, now))
        self._looked = now

    def between(self, begin: float, end: float) -> float:
        """Return for how many seconds the host stood still from ``begin`` to ``end``.

        A stall that is not over yet counts to ``end``.
        """
        found = [*self._stalls, (self._looked + TICK_SECONDS + STALL_SECONDS, end)]
        return sum(max(0.0, min(to, end) - max(since, begin)) for since, to in found)

    def _watch(self) -> None:
        while not self._closed.wait(TICK_SECONDS):
            self.look()
