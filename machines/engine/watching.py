"""Conditions under ``when``: each is asked after every event that may have changed what it reads, before the next.

A condition is *armed* when its state is entered, or its machine called for one of an ``always``, and taken as soon as
it holds; a branch that stays arms it again only once it has not held in between. What reads nothing that changes but
live values is asked only if one of these was written, so that a thousand that wait cost nothing while others play; all
are woken in one pass, in the order in which they began to wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from machines.expressions.python import Guard
from machines.expressions.unparse import calls, names
from machines.model import Expression

SWEEP_MIN = 64  # frames that wait no more and may be forgotten


class AwaitedCondition(NamedTuple):
    """A condition, compiled: the event that it is, and whether only live values change what it reads."""

    event: str
    holds: Guard
    live_only: bool


def is_live_only(condition: Expression, changing: Collection[str]) -> bool:
    """Whether nothing but live values changes what a condition reads; ``changing`` are the machine's own names."""
    return not any(name.name in changing for name in names(condition)) and all(
        call.path != "gone" for call in calls(condition)
    )


class Watched:
    """A condition that is waited for in one state of a frame, or behind all of them (``always``)."""

    __slots__ = ("always", "armed", "condition")

    def __init__(self, condition: AwaitedCondition, *, always: bool) -> None:
        self.condition = condition
        self.always = always
        self.armed = True


class _Frame(Protocol):
    """What is asked of a call of a machine."""

    slots: list[Any]

    @property
    def watches(self) -> tuple[Watched, ...]:
        """The conditions that it waits for; none once it is over."""


F = TypeVar("F", bound=_Frame)


class Watching(Generic[F]):
    """Which frames wait for a condition: those just begun, those to be asked after every event, and the others."""

    __slots__ = ("again", "begun", "queue", "quiet", "restless", "sweep_at", "written")

    def __init__(self) -> None:
        self.begun: dict[F, None] = {}
        self.restless: dict[F, None] = {}
        self.quiet: dict[F, None] = {}
        self.queue: deque[F] = deque()  # those still to be asked in this pass
        self.again = False  # whether one was woken in it, so that there is another
        self.sweep_at = SWEEP_MIN
        self.written = False  # whether a live value was bound since this pass began

    def due(self) -> tuple[F, Watched, BaseException | None] | None:
        """Return the next condition that is armed and holds, or has no value; None if a pass has woken nobody."""
        if not (self.queue or self._fill()):
            return None
        while True:
            while self.queue:
                frame = self.queue[0]
                found = _first(frame.watches, frame.slots)
                if found is not None:
                    self.again = True
                    return frame, *found
                self.queue.popleft()
            if not (self.again or self.written or self.begun) or not self._fill():
                self._sweep()
                return None

    def _fill(self) -> bool:
        """Begin a pass, if there is anything to ask; return whether there is."""
        self.queue.extend((*self.begun, *self.restless, *(self.quiet if self.written else ())))
        for frame in self.begun:
            self.restless.pop(frame, None)
            live_only = all(watch.condition.live_only for watch in frame.watches)
            (self.quiet if live_only else self.restless)[frame] = None
        self.begun.clear()
        self.again = self.written = False
        return bool(self.queue)

    def _sweep(self) -> None:
        """Forget those that wait no more, once they may be half of all."""
        if len(self.restless) + len(self.quiet) > self.sweep_at:
            self.restless = {frame: None for frame in self.restless if frame.watches}
            self.quiet = {frame: None for frame in self.quiet if frame.watches}
            self.sweep_at = max(SWEEP_MIN, 2 * (len(self.restless) + len(self.quiet)))


def _first(watches: Iterable[Watched], slots: list[Any]) -> tuple[Watched, BaseException | None] | None:
    """Ask all conditions of a frame; return the first that is armed and holds, or has no value."""
    first: tuple[Watched, BaseException | None] | None = None
    for watch in watches:
        try:
            holds = watch.condition.holds(slots)
        except BaseException as error:
            watch.armed = False
            return watch, error
        if not holds:
            watch.armed = True
        elif watch.armed and first is None:
            first = watch, None
    if first is not None:
        first[0].armed = False
    return first
