"""A session that tells of every input it was given, for whoever waits until it has come so far."""

from __future__ import annotations

from collections.abc import Callable

from machines.effects import Effect
from machines.engine.session import Session


class NotifyingSession(Session):
    """A session that tells of every input it was given."""

    changed: Callable[[], None] | None = None

    def connect(self, now: float) -> tuple[int, list[Effect]]:
        """See `Session.connect`."""
        found = super().connect(now)
        self._changed_now()
        return found

    def receive(self, number: int, chunk: bytes, now: float) -> list[Effect]:
        """See `Session.receive`."""
        effects = super().receive(number, chunk, now)
        self._changed_now()
        return effects

    def lose(self, number: int, now: float) -> list[Effect]:
        """See `Session.lose`."""
        effects = super().lose(number, now)
        self._changed_now()
        return effects

    def tick(self, now: float) -> list[Effect]:
        """See `Session.tick`."""
        effects = super().tick(now)
        self._changed_now()
        return effects

    def _changed_now(self) -> None:
        if self.changed is not None:
            self.changed()
