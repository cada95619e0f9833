"""What waits on the way between two parties of a trial, once it is held there: messages, then perhaps the closing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator


class Way:
    """What is on its way, by who sent it and to whom, the oldest first."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], deque[tuple[int, bytes | None]]] = {}

    def put(self, name: str, to: str, seat: int, data: bytes | None) -> None:
        """Add a message for a seat of its receiver, or, as None, that the connection is closed."""
        waiting = self._sent.setdefault((name, to), deque())
        if not waiting or waiting[-1][1] is not None:  # nothing comes behind the end of a connection
            waiting.append((seat, data))

    def first(self, name: str, to: str) -> tuple[int, bytes | None] | None:
        """Take what comes next from one party to another: the seat it is for, and the message; None if nothing."""
        waiting = self._sent.get((name, to))
        return waiting.popleft() if waiting else None

    def waiting(self) -> Iterator[tuple[str, str]]:
        """Yield from whom to whom something waits."""
        yield from (between for between, waiting in self._sent.items() if waiting)
