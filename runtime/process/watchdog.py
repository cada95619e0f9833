"""Who holds the loop: one line in the log afterwards, and an end to a rule that never comes back.

Sessions run in the loop's own thread, so what one of them does keeps all others waiting. What a spec itself does is
bounded; its rules are Python, and may do anything. A second thread looks now and then whether the same input is still
being handled. After ``rule_seconds`` it has a `RuleHangsError` raised in the thread that does so: the rule has failed
then, like one that raises by itself, and what that means the spec says; other sessions go on.

What cannot be done in Python: a rule that is inside of a C function (``time.sleep``, a regular expression) gets the
error only when that returns, and one that catches every ``Exception`` again and again never ends. So after three times
as long the whole process is ended, the journal written and the programs that play killed. No time counts while the
process is stopped, nor under a debugger.
"""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from runtime.process.stopping import force_end

log = logging.getLogger("accord.session")

HELD_SECONDS: Final = 0.1  # whoever holds the loop for longer is named; the shortest limits of games are seconds
RULE_SECONDS: Final = 10.0  # how long one input may be handled; the slowest of the shipped rules takes 50 ms
VARIABLE: Final = "ACCORD_RULE_SECONDS"  # of the environment: another limit, in seconds; 0 for none
GIVEN_UP: Final = 3  # after so many times as long the process is ended
EXIT_CODE: Final = 1
_TICK_SECONDS: Final = 0.25  # how often the other thread looks; a process that was stopped for long lost one such time


class RuleHangsError(Exception):
    """A rule takes too long; the text says how long it may take."""

    def __str__(self) -> str:
        """Say so; the interpreter makes an exception for another thread of its class alone."""
        return f"a rule took more than {WATCHDOG.rule_seconds:g} s, its limit ({VARIABLE}), and was interrupted"


class Holder(Protocol):
    """Whoever handles inputs in the loop."""

    def held_by(self, peer: int | None) -> str:
        """Say whose input is being handled, for people."""


Turn = tuple[Holder, int | None]


class Watchdog:
    """``turn`` is what is being handled: who does it, and whose input; a new tuple each time, None between inputs.

    Whoever handles an input sets it before, and after it sets None and calls `settle` if ``fired`` is true.
    """

    __slots__ = ("_lock", "fired", "rule_seconds", "turn")

    def __init__(self) -> None:
        self.turn: Turn | None = None
        self.fired = False
        self.rule_seconds = RULE_SECONDS
        self._lock = threading.Lock()

    def settle(self) -> None:
        """Take back an error that has not come yet: the input has been handled after all."""
        with self._lock:
            self.fired = False
            _raise_in(threading.get_ident(), None)

    def look(self, thread: int, turn: Turn | None) -> None:
        """Have an error raised in a thread, if it still handles the same input."""
        with self._lock:
            self.fired = True  # before the last look: whoever ends the turn after that finds it, and settles
            if self.turn is turn and turn is not None:
                log.error("%s holds the loop for %g s: the rule is interrupted", told(turn), self.rule_seconds)
                _raise_in(thread, RuleHangsError)

    def watch(self, thread: int, ended: threading.Event) -> None:
        """Look until ``ended`` is set."""
        turn: Turn | None = None
        ticks = 0
        most = max(1, round(self.rule_seconds / _TICK_SECONDS))
        while not ended.wait(_TICK_SECONDS):
            same = self.turn is turn and turn is not None and sys.gettrace() is None
            ticks = ticks + 1 if same else 0
            turn = self.turn
            if ticks and ticks % most == 0 and turn is not None:
                if ticks >= GIVEN_UP * most:
                    log.error("%s cannot be interrupted: the whole run ends", told(turn))
                    force_end(EXIT_CODE, b"a rule never came back, and could not be interrupted\n")
                self.look(thread, turn)


def told(turn: Turn) -> str:
    """Say who holds the loop, for people."""
    holder, peer = turn
    return holder.held_by(peer)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error) if error else None)


WATCHDOG: Final = Watchdog()


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Watch this thread while the block runs; no input may be handled for longer, 0 for no limit."""
    WATCHDOG.rule_seconds = seconds
    if not seconds:
        yield
        return
    ended = threading.Event()
    threading.Thread(target=WATCHDOG.watch, args=(threading.get_ident(), ended), name="watchdog", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def rule_seconds(text: str) -> float:
    """Return the limit that the variable says, RULE_SECONDS if it says nothing.

    Raises:
        ValueError: it is no number of seconds; the text says so.
    """
    try:
        seconds = float(text) if text else RULE_SECONDS
        if 0 <= seconds <= 1e6:
            return seconds
    except ValueError:
        pass
    raise ValueError(f"{VARIABLE}={text!r} is no number of seconds: write one like 10, or 0 for no limit")
