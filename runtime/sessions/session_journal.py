"""The journal as one session sees it: what is written to it, and that a session goes on where it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Protocol

from machines.effects import Effect
from runtime.journal.writing import FLUSH_SECONDS, Kind, Took


class JournalWriter(Protocol):
    """What a session needs of `runtime.journal.writing.Journal`."""

    def write(
        self,
        kind: Kind,
        now: float,
        took: Took,
        out: Sequence[Effect],
        *,
        session: int = 0,
        peer: int | None = None,
        data: bytes | None = None,
        number: int | None = None,
        value: Any = None,
        why: str | None = None,
        fault: str = "",
        seed: int | None = None,
        my: Mapping[str, Any] | None = None,
        lag: float = 0.0,
    ) -> None:
        """Note one input of a session, the transitions it took, and the effects it led to."""

    def flush(self) -> None:
        """Hand all lines so far to the operating system."""


class SessionJournal:
    """The lines of the session with this ``number``; a ``writer`` that has failed, as ``on_failed`` is told, is None.

    ``flush_at`` is when what was written is to be handed on; infinity if nothing was.
    """

    __slots__ = ("_number", "_on_failed", "flush_at", "writer")

    def __init__(self, writer: JournalWriter | None, number: int, on_failed: Callable[[Exception], None]) -> None:
        self.writer = writer
        self.flush_at = inf
        self._number = number
        self._on_failed = on_failed

    def write(self, kind: Kind, now: float, took: Took, effects: Sequence[Effect], **what: Any) -> None:
        """Write a line, if there is a journal; ``what`` is what `JournalWriter.write` takes besides."""
        if self.writer is not None:
            try:
                self.writer.write(kind, now, took, effects, session=self._number, **what)
            except Exception as error:
                self._failed(error)
            if self.flush_at == inf:
                self.flush_at = now + FLUSH_SECONDS

    def write_bytes(
        self, now: float, took: Took, effects: Sequence[Effect], peer: int, data: bytes, lag: float
    ) -> None:
        """Write what came from a peer, as `write` does, spelt out: nearly all lines are of bytes."""
        if self.writer is not None:
            try:
                self.writer.write("bytes", now, took, effects, session=self._number, peer=peer, data=data, lag=lag)
            except Exception as error:
                self._failed(error)
            if self.flush_at == inf:
                self.flush_at = now + FLUSH_SECONDS

    def _failed(self, error: Exception) -> None:
        self.writer = None
        self._on_failed(error)

    def flush(self) -> None:
        """Hand all lines so far to the operating system."""
        self.flush_at = inf
        if self.writer is not None:
            self.writer.flush()
