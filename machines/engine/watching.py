"""Conditions under ``when``: each is asked after every event that may have changed what it reads, before the next.

A condition is *armed* when its state is entered, or its machine called for one of an ``always``, and taken as soon as
it holds; a branch that stays arms it again only once it has not held in between. What reads nothing that changes but
live values is asked only if one of these was written, so that a thousand that wait cost nothing while others play; all
are woken in one pass, in the order in which they began to wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from machines.engine.call_stack import SILENT_STEPS_MAX, TOO_SILENT, CallFrame, FailedError
from machines.expressions.python import Guard
from machines.expressions.unparse import calls, names
from machines.model import Expression

if TYPE_CHECKING:
    from machines.engine.compiler import HandlerScope
    from machines.engine.interpreter import Interpreter
    from machines.engine.transaction import RareState


SWEEP_MIN = 64  # frames that wait no more and may be forgotten


class Condition(NamedTuple):
    """A condition, compiled: the event that it is, and whether only live values change what it reads."""

    event: str
    holds: Guard
    live_only: bool


class Watch:
    """A condition that is waited for in one state of a frame, or behind all of them."""

    __slots__ = ("armed", "condition", "layer")

    def __init__(self, layer: HandlerScope, condition: Condition) -> None:
        self.layer = layer
        self.condition = condition
        self.armed = True


class Watching:
    """Which frames wait for a condition: those just begun, those to be asked after every event, and the others."""

    __slots__ = ("again", "begun", "queue", "quiet", "restless", "sweep_at", "written")

    def __init__(self) -> None:
        self.begun: dict[CallFrame, None] = {}
        self.restless: dict[CallFrame, None] = {}
        self.quiet: dict[CallFrame, None] = {}
        self.queue: deque[CallFrame] = deque()  # those still to be asked in this pass
        self.again = False  # whether one was woken in it, so that there is another
        self.sweep_at = SWEEP_MIN
        self.written = False  # whether a live value was bound since this pass began

    def fill(self) -> bool:
        """Begin a pass, if there is anything to ask; return whether there is."""
        self.queue.extend((*self.begun, *self.restless, *(self.quiet if self.written else ())))
        for frame in self.begun:
            self.restless.pop(frame, None)
            live_only = all(watch.condition.live_only for watch in _watches(frame))
            (self.quiet if live_only else self.restless)[frame] = None
        self.begun.clear()
        self.again = self.written = False
        return bool(self.queue)

    def sweep(self) -> None:
        """Forget those that wait no more, once they may be half of all."""
        if len(self.restless) + len(self.quiet) > self.sweep_at:
            self.restless = {frame: None for frame in self.restless if _watches(frame)}
            self.quiet = {frame: None for frame in self.quiet if _watches(frame)}
            self.sweep_at = max(SWEEP_MIN, 2 * (len(self.restless) + len(self.quiet)))


def is_live_only(condition: Expression, changing: Collection[str]) -> bool:
    """Whether nothing but live values changes what a condition reads; ``changing`` are the machine's own names."""
    return not any(name.name in changing for name in names(condition)) and all(
        call.path != "gone" for call in calls(condition)
    )


def begin(tree: Interpreter, frame: CallFrame, layer: HandlerScope, conditions: tuple[Condition, ...]) -> None:
    """Wait for conditions from here on; of a state that is kept they are waited for already."""
    extra = frame.extras()
    if any(watch.layer is layer for watch in extra.watches):
        return
    extra.watches = (*extra.watches, *(Watch(layer, condition) for condition in conditions))
    shared = tree.extras()
    if shared.watching is None:
        shared.watching = Watching()
    shared.watching.begun[frame] = None


def due(extra: RareState) -> tuple[CallFrame, Watch, BaseException | None] | None:
    """Return the next condition that is armed and holds, or has no value; None if a pass has woken nobody."""
    watching = extra.watching
    if watching is None or not (watching.queue or watching.fill()):
        return None
    while True:
        while watching.queue:
            frame = watching.queue[0]
            found = _first(frame)
            if found is not None:
                watching.again = True
                return frame, *found
            watching.queue.popleft()
        if not (watching.again or watching.written or watching.begun) or not watching.fill():
            watching.sweep()
            return None


def _first(frame: CallFrame) -> tuple[Watch, BaseException | None] | None:
    """Ask all conditions of a frame; return the first that is armed and holds, or has no value."""
    first: tuple[Watch, BaseException | None] | None = None
    for watch in _watches(frame):
        try:
            holds = watch.condition.holds(frame.slots)
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


def _watches(frame: CallFrame) -> tuple[Watch, ...]:
    return frame.extra.watches if frame.alive and frame.extra is not None else ()


def take(tree: Interpreter, frame: CallFrame, watch: Watch, error: BaseException | None) -> None:
    """Take the branch of a condition that holds; one that has no value fails its machine."""
    event = watch.condition.event
    tree.steps += 1
    if tree.steps > SILENT_STEPS_MAX + tree.granted:
        error = FailedError(TOO_SILENT)
    if error is not None:
        tree.failed(frame, error, f"{event} in {frame.node.name}")
    else:
        tree.fire(frame, watch.layer, watch.layer.prefix + event, None)
