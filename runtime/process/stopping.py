"""Ctrl-C, SIGTERM and SIGHUP: the first cancels what runs, the second ends the process, whatever state it is in.

The handlers are Python's own, not those of an event loop: a loop that is held by an endless expression would never come
to run its own, and Windows has none. The process also ends if the loop does not come to it within HELD_SECONDS, or is
not through within STOP_SECONDS. What must not be lost or left behind then, a journal's last lines and the programs that
play, is registered by ``at_forced_end``.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

HELD_SECONDS: Final = 2.0  # how long the loop may be held before it hears of the signal
STOP_SECONDS: Final = 6.0  # how long closing in good order may take then; its parts have limits of their own
EXIT_CODE: Final = 130

_last_deeds: dict[object, Callable[[], None]] = {}


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that ask a process to stop, of those that this system has."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return tuple(getattr(signal, name) for name in names if hasattr(signal, name))


@contextmanager
def at_forced_end(deed: Callable[[], None]) -> Iterator[None]:
    """Have something done if the process is ended at once while the block runs; it may be called in any thread."""
    key = object()
    _last_deeds[key] = deed
    try:
        yield
    finally:
        del _last_deeds[key]


def force_end(code: int = EXIT_CODE, last_words: bytes = b"interrupted, and ended at once\n") -> None:
    """End the process now, without unwinding anything."""
    for deed in tuple(_last_deeds.values()):
        with suppress(Exception):
            deed()
    with suppress(Exception):
        os.write(sys.stderr.fileno(), last_words)
    os._exit(code)


@contextmanager
def stopped_by_signals(tell: Callable[[Callable[[], None]], None], cancel: Callable[[], None]) -> Iterator[None]:
    """Call ``cancel`` in the loop at the first signal; ``tell`` has the loop call something, from whatever thread.

    A signal that is ignored stays so: ``nohup`` has SIGHUP ignored.
    """
    timers: list[threading.Timer] = []

    def wait_for(seconds: float) -> None:
        for timer in timers:
            timer.cancel()
        timers[:] = [threading.Timer(seconds, force_end)]
        timers[0].daemon = True
        timers[0].start()

    def heard() -> None:
        wait_for(STOP_SECONDS)
        cancel()

    def handle(number: int, frame: FrameType | None) -> None:
        if timers:
            force_end()
        wait_for(HELD_SECONDS)
        tell(heard)

    before = {one: signal.getsignal(one) for one in stop_signals()}
    caught = {one: was for one, was in before.items() if was is not signal.SIG_IGN}
    for one in caught:
        signal.signal(one, handle)
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
        for one, was in caught.items():
            signal.signal(one, was if was is not None else signal.SIG_DFL)
