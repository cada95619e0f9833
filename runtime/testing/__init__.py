"""Suites that hold an implementation of one of our interfaces to its contract, for the tests of whoever writes one.

    `runtime.testing.framing`      bytes to messages and back: `machines.wire.framing.Framer`
    `runtime.testing.transport`    byte streams: `runtime.network.transport.Connection`
    `runtime.testing.player`       who decides: a kind of `runtime.players.registry`, or a `Player` of one's own
    `runtime.testing.rules`        the functions that a spec calls: a module of rules

Our own are held to them by our tests. What does not conform raises `NonconformanceError`, with a sentence.
"""

from __future__ import annotations


class NonconformanceError(AssertionError):
    """What was to be shown to conform does not; the text says what it did, and what is expected."""


def expect(holds: bool, text: str) -> None:
    """Raise NonconformanceError with ``text`` unless it ``holds``; unlike ``assert`` under ``python -O`` too."""
    if not holds:
        raise NonconformanceError(text)
