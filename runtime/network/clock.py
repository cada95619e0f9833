"""Time for sessions: what time it is, when bytes came, and one lazily armed alarm for each session.

A session publishes the earliest moment at which it wants to be woken. Arming a timer for each message costs 5 to
7 us; so an alarm is armed anew only for an *earlier* moment, and whoever wakes too early sleeps again.

Times are those of the running event loop, so tests may use a virtual one.

The clock stands still while its host does. If an alarm is found to be late, because a message was dear, a rule slow or
the whole process stopped, what has come meanwhile still waits in the sockets, and nobody can tell when it came. So the
clock is set back to just before that alarm, all sockets that are ready are read, and only then does the alarm ring:
what came in time is in time, and nobody's limit runs while we do not listen.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from math import inf
from typing import Final, Protocol

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

log = logging.getLogger("accord.session")

LAG_SECONDS: Final = 0.1  # From here on a late loop is worth a warning: the shortest limits of games are seconds.
LATE_SECONDS: Final = 0.05  # From here on an alarm is late because the host stood still.
# So much before the late alarm the clock is set back to, and so long the sockets are given before it rings.
GRACE_SECONDS: Final = 0.01
WAIT_SECONDS_MIN: Final = 1e-6  # a shorter wait may end before the time is reached, by rounding, again and again


class Alarm(Protocol):
    """Rings once for each time it is set."""

    def set(self, at: float) -> None:
        """Ring at ``at``, unless it is set for an earlier moment already: then it rings then."""

    def close(self) -> None:
        """Never ring again."""


class Clock(Protocol):
    """The time, in seconds that never go back."""

    lag_max: float
    """The longest that the loop kept anything waiting that was due or had come, in seconds."""

    def now(self) -> float:
        """Return the time."""

    def stamp(self) -> float:
        """Return when the bytes that are being handled came, as near as can be told."""

    def alarm(self, ring: Callable[[], None]) -> Alarm:
        """Return an alarm that is not set."""


def make_clock(tasks: TaskGroup) -> Clock:
    """Return a clock for the running event loop; ``tasks`` is where its alarms may live."""
    try:
        return LoopClock(asyncio.get_running_loop())
    except RuntimeError:
        return TaskClock(tasks)


def warn_of_lag(clock: Clock, name: str) -> None:
    """Say so in the log if this host was too busy to be fair to its peers."""
    if clock.lag_max > LAG_SECONDS:
        log.warning("%s: this host was busy: something waited for %.0f ms", name, clock.lag_max * 1000)


def _wait(seconds: float) -> float:
    return max(seconds, WAIT_SECONDS_MIN) if seconds else 0.0


class HostClock:
    """What the clocks of all loops have in common: they stand still while their host does."""

    def __init__(self, loop_time: Callable[[], float]) -> None:
        self.lag_max = 0.0
        self.pending: dict[object, float] = {}  # when the alarms that are set will ring
        self._loop_time = loop_time
        self._stood = 0.0  # for how long it has stood still, all in all
        self._stamped = -inf  # the last stamp: the clock is never set back behind it

    def now(self) -> float:
        """Return the time."""
        return self._loop_time() - self._stood

    def note_lag(self, seconds: float) -> None:
        """Take account of something that was handled so late."""
        if seconds > self.lag_max:
            self.lag_max = seconds

    def now_before(self, at: float) -> float:
        """Return the time, set back if an alarm for ``at`` is long due as it is set: the host stood still before."""
        late = self.now() - at
        if late > LATE_SECONDS:
            self.note_lag(late)
            self._set_back(at)
        return self.now()

    def seconds_left(self, at: float, put_off: bool) -> float:
        """Return how long an alarm for ``at`` that wakes has still to wait; if 0 it rings. It is put off once."""
        late = self.now() - at
        if late < -GRACE_SECONDS / 2:  # the clock has stood still since it was set
            return -late
        self.note_lag(late)
        if put_off or late <= LATE_SECONDS:
            return 0.0
        self._set_back(at)
        return max(GRACE_SECONDS, at - self.now())

    def fresh_stamp(self) -> float:
        """Return the time, set back if an alarm should have rung long ago: bytes are now read before it does."""
        now = self.now()
        if now - self._stamped > LATE_SECONDS:
            due = min(self.pending.values(), default=inf)
            if now - due > LATE_SECONDS:
                self.note_lag(now - due)
                self._set_back(due)
                now = self.now()
        self._stamped = now
        return now

    def _set_back(self, due: float) -> None:
        self._stood += max(0.0, self.now() - max(due - GRACE_SECONDS, self._stamped))


class LoopClock(HostClock):
    """The clock of an asyncio loop.

    All bytes that one turn of the loop finds waiting came before that turn began, so they share its stamp: the last
    of 64 peers is not late because the other 63 were served first. How long such a turn took is the loop's lag.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # uvloop's own time stands still during a turn of the loop and counts milliseconds; asyncio's is this one.
        own = getattr(type(loop), "time", None)
        known = type(loop).__module__.startswith("uvloop") or own is asyncio.BaseEventLoop.time
        super().__init__(time.monotonic if known else loop.time)
        self._loop = loop
        self._stamp: float | None = None

    def stamp(self) -> float:
        """Return when the loop's present turn first handled any bytes."""
        stamp = self._stamp
        if stamp is None:
            stamp = self._stamp = self.fresh_stamp()
            # What is called soon runs first in the next turn, before anything that is read then.
            self._loop.call_soon(self._turn_over)
        return stamp

    def alarm(self, ring: Callable[[], None]) -> LoopAlarm:
        """Return an alarm that is not set."""
        return LoopAlarm(self, self._loop, ring)

    def _turn_over(self) -> None:
        assert self._stamp is not None, "a turn that read nothing has no stamp"
        self.note_lag(self.now() - self._stamp)
        self._stamp = None


class LoopAlarm:
    """An alarm on an asyncio timer."""

    __slots__ = ("_at", "_clock", "_handle", "_loop", "_put_off", "_ring")

    def __init__(self, clock: LoopClock, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._loop = loop
        self._ring = ring
        self._at = inf
        self._put_off = False
        self._handle: asyncio.TimerHandle | None = None

    def set(self, at: float) -> None:
        """Ring at ``at`` or before."""
        if at < self._at:
            if self._handle is not None:
                self._handle.cancel()
            self._at = at
            self._put_off = False
            now = self._clock.now_before(at)
            due = self._clock.pending[self] = max(at, now)  # one for the past is late only from now on
            self._handle = self._loop.call_later(_wait(due - now), self._fire)

    def close(self) -> None:
        """Never ring again."""
        self._at = -inf
        self._clock.pending.pop(self, None)
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        left = self._clock.seconds_left(self._clock.pending[self], self._put_off)
        if left:
            self._put_off = True
            self._handle = self._loop.call_later(left, self._fire)
            return
        self._clock.pending.pop(self, None)
        self._at = inf
        self._handle = None
        self._ring()


class TaskClock(HostClock):
    """The clock of any other loop that anyio knows; bytes get the time at which they are handled."""

    def __init__(self, tasks: TaskGroup) -> None:
        super().__init__(anyio.current_time)
        self._tasks = tasks

    def stamp(self) -> float:
        """Return the time."""
        return self.fresh_stamp()

    def alarm(self, ring: Callable[[], None]) -> TaskAlarm:
        """Return an alarm that is not set."""
        return TaskAlarm(self, self._tasks, ring)


class TaskAlarm:
    """An alarm on a task that sleeps in a cancel scope whose deadline is moved."""

    __slots__ = ("_at", "_clock", "_put_off", "_ring", "_scope", "_tasks")

    def __init__(self, clock: TaskClock, tasks: TaskGroup, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._tasks = tasks
        self._ring = ring
        self._at = inf
        self._put_off = False
        self._scope: anyio.CancelScope | None = None

    def set(self, at: float) -> None:
        """Ring at ``at`` or before."""
        if at < self._at:
            self._at = at
            self._put_off = False
            now = self._clock.now_before(at)
            due = self._clock.pending[self] = max(at, now)  # one for the past is late only from now on
            deadline = anyio.current_time() + _wait(due - now)
            if self._scope is None:
                self._scope = anyio.CancelScope(deadline=deadline)
                self._tasks.start_soon(self._sleep, self._scope, name="alarm")
            else:
                self._scope.deadline = deadline

    def close(self) -> None:
        """Never ring again."""
        self._at = -inf
        self._clock.pending.pop(self, None)
        if self._scope is not None:
            self._scope.cancel()

    async def _sleep(self, scope: anyio.CancelScope) -> None:
        while True:
            with scope:
                await anyio.sleep_forever()
            # Readers that woke in the same turn go first: bytes that came in time are then in time.
            await anyio.lowlevel.checkpoint()
            if self._at == -inf:
                return
            left = self._clock.seconds_left(self._clock.pending[self], self._put_off)
            if not left:
                break
            self._put_off = True
            self._scope = scope = anyio.CancelScope(deadline=anyio.current_time() + left)
        self._clock.pending.pop(self, None)
        self._at = inf
        self._scope = None
        self._ring()
