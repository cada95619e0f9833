"""Calls on the event loop's own thread: who has answered quickly time and again is asked there, and is cut off if it
then holds the loop.

A hop to a worker thread and back costs more than most strategies take to answer. So a strategy that took less than
QUICK_SECONDS for a question QUICK_TIMES in a row answers that question on the loop. The first time it takes longer it
goes back to its thread, and has to be quick AGAIN_TIMES as often before it comes here again. If that time it does not
come back at all, a watcher raises `HeldError` in it once it is too late anyway: that ends any Python code, if not a
call of native code that waits for ever.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

QUICK_SECONDS: Final = 0.001
QUICK_TIMES: Final = 20  # in a row, of one question
AGAIN_TIMES: Final = 10
BUSY_SECONDS: Final = 0.02  # up to here it is the machine that was busy, if the thread did not compute meanwhile
HELD_SECONDS_MAX: Final = 60.0  # how long the loop is held by a question without a limit of its own
LOOKS_SECONDS: Final = 0.1  # how often the watcher looks


class HeldError(BaseException):
    """Raised in a strategy that holds the loop although its time is up."""


class QuickCalls:
    """Which questions to one strategy may be put on the loop."""

    def __init__(self) -> None:
        self._row: Counter[str] = Counter()  # quick answers in a row, by question
        self._wanted = QUICK_TIMES

    def may(self, question: str) -> bool:
        """Whether a question may be put on the loop."""
        return self._row[question] >= self._wanted

    def note(self, question: str, seconds: float) -> None:
        """Take note of how long an answer took."""
        if seconds < QUICK_SECONDS:
            self._row[question] += 1
        else:
            if self.may(question):
                self._wanted *= AGAIN_TIMES
            self._row[question] = 0

    def put(self, question: str, call: Callable[[], Any], seconds: float | None) -> Any:
        """Return what a call on the loop returns; ``seconds`` is how long the answer may take.

        Raises:
            HeldError: it took longer, and was cut off.
        """
        stopwatch = Stopwatch()
        try:
            return _watcher.watched(call, HELD_SECONDS_MAX if seconds is None else seconds)
        finally:
            self.note(question, stopwatch.seconds())


class Stopwatch:
    """Says how long a call takes in the thread that this is made in."""

    __slots__ = ("_computed", "_passed")

    def __init__(self) -> None:
        self._passed = time.perf_counter()
        self._computed = time.thread_time()

    def seconds(self) -> float:
        """Return how long the thread has computed; the time that passed, if it waited for over BUSY_SECONDS besides."""
        passed = time.perf_counter() - self._passed
        computed = time.thread_time() - self._computed
        return computed if passed < computed + BUSY_SECONDS else passed


class _Watcher:
    """A thread that looks now and then whether a call lasts too long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = False
        self._calls: dict[int, float] = {}  # until when a call may last, by the thread that it runs in

    def watched(self, call: Callable[[], Any], seconds: float) -> Any:
        """Return what a call returns.

        Raises:
            HeldError: it took longer than so many seconds.
        """
        if not self._started:
            self._started = True
            threading.Thread(target=self._watch, name="accord: calls on the loop", daemon=True).start()
        thread = threading.get_ident()
        self._calls[thread] = time.monotonic() + seconds
        try:
            return call()
        finally:
            # From here on nothing is raised any more; what was raised just before comes out behind the lock, at the
            # call: so never beyond this function.
            with self._lock:
                del self._calls[thread]
            _nothing()

    def _watch(self) -> None:
        while True:
            time.sleep(LOOKS_SECONDS)
            with self._lock:
                for thread, until in tuple(self._calls.items()):
                    if time.monotonic() > until:
                        self._calls[thread] = time.monotonic() + 10 * LOOKS_SECONDS  # it may be caught in there
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(HeldError))


def _nothing() -> None:
    """Nothing is done; but whoever is called looks whether something was raised for its thread."""


_watcher = _Watcher()
