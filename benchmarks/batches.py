"""What a server under test tells of itself: a line of JSON for each batch of games that it has served."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Batch:
    """Games served side by side: moves of all, seconds from the first that began to the last that ended, CPU seconds.

    The CPU time is the server's own, what the kernel did for it included.
    """

    moves: int
    seconds: float
    cpu: float


class Batches:
    """Counts the games of a batch and tells of it when the last has ended."""

    def __init__(self, games: int) -> None:
        self.games = games
        self._begun = 0
        self._ended = 0
        self._moves = 0
        self._at = (0.0, 0.0)

    def begin(self, games: int = 1) -> None:
        """Count games that begin."""
        if self._begun == 0:
            self._at = time.perf_counter(), time.process_time()
        self._begun += games

    def end(self, moves: int, games: int = 1) -> None:
        """Count games that have ended, and their moves."""
        self._ended += games
        self._moves += moves
        if self._ended == self.games:
            seconds, cpu = time.perf_counter() - self._at[0], time.process_time() - self._at[1]
            print(json.dumps({"moves": self._moves, "seconds": seconds, "cpu": cpu}), flush=True)
            self._begun = self._ended = self._moves = 0
