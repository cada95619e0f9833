"""Clocks of a state: its limit, and the ``after`` and ``every`` beside it; what each does when it rings.

When that is: `session.Session._ring`. What starts clocks raises what an expression raises; whoever called takes the
transition back (`machines.engine.interpreter`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from machines.effects import Note
from machines.engine.actions import duration
from machines.engine.call_stack import CallFrame, FailedError, RunningTimer
from machines.engine.compiled_states import WAIT, CompiledState, HandlerScope
from machines.engine.watching import AwaitedCondition, Watched, Watching
from machines.semantics import reception, sign_ups

if TYPE_CHECKING:
    from machines.engine.interpreter import Interpreter

EVERY_SECONDS_MIN = 0.001  # a shorter clock would keep the session busy and no message would be read


def start_clocks(tree: Interpreter, frame: CallFrame, node: CompiledState) -> None:
    """Let the limit, and the ``after`` and ``every``, of the state that is entered begin."""
    tree.serial += 1
    frame.serial = tree.serial
    deadline = inf
    if node.seconds is not None:
        deadline = tree.now + node.seconds
    elif node.within is not None:
        deadline = tree.now + node.within(frame.slots)
    elif node.kind == WAIT:
        deadline = tree.now + frame.default_seconds()
    frame.deadline = deadline
    if deadline < tree.earliest:
        tree.earliest = deadline
    if node.moments:
        frame.moments = start_timers(tree, node.moments, frame.slots)
    if node.whens:
        _watch(tree, frame, node.whens, always=False)


def start_standing(tree: Interpreter, frame: CallFrame) -> None:
    """Let the clocks of a machine's ``always`` begin, and its conditions be waited for."""
    table = frame.table
    frame.extras().standing = start_timers(tree, table.standing, frame.slots)
    if table.whens:
        _watch(tree, frame, table.whens, always=True)


def _watch(tree: Interpreter, frame: CallFrame, conditions: tuple[AwaitedCondition, ...], *, always: bool) -> None:
    """Wait for conditions from here on; in a state that is kept they are waited for already."""
    extra = frame.extras()
    if any(watch.always is always for watch in extra.watches):
        return
    extra.watches = (*extra.watches, *(Watched(condition, always=always) for condition in conditions))
    shared = tree.extras()
    if shared.watching is None:
        shared.watching = Watching()
    shared.watching.begun[frame] = None


def start_timers(
    tree: Interpreter, compiled: tuple[tuple[str, bool, Callable[[list[Any]], Any]], ...], slots: list[Any]
) -> list[RunningTimer]:
    """Let the clocks beside the limit begin."""
    started = []
    for event, repeats, wait in compiled:
        seconds = duration(wait(slots))
        if repeats and seconds < EVERY_SECONDS_MIN:
            raise FailedError(f"every {seconds:g} s: it may be {EVERY_SECONDS_MIN:g} s at the least")
        tree.serial += 1
        started.append(RunningTimer(tree.now + seconds, seconds if repeats else None, event, tree.serial))
        tree.earliest = min(tree.earliest, tree.now + seconds)
    return started


# -- ringing ---------------------------------------------------------------------------------------------------------


def clocks(tree: Interpreter) -> Iterator[tuple[float, int, Callable[[], None]]]:
    """Yield every clock of a session that runs: when it is due, how old it is, and what it does."""
    for frame in tree.calls():
        if frame.deadline != inf:
            yield frame.deadline, frame.serial, partial(reception.time_is_up, tree, frame)
        if frame.accepting is not None and frame.accepting.linger != inf:
            yield frame.accepting.linger, frame.accepting.linger_serial, partial(sign_ups.close, tree, frame)
        for layer, timers in ((frame.node.layer, frame.moments), (frame.table.always, frame.standing)):
            for timer in timers or ():
                assert layer is not None and timers is not None, "a clock belongs to a layer"  # noqa: PT018
                yield timer.due, timer.serial, partial(_ring, tree, frame, layer, timers, timer)


def _ring(
    tree: Interpreter, frame: CallFrame, layer: HandlerScope, timers: list[RunningTimer], timer: RunningTimer
) -> None:
    """Take the branch of an ``after``, which is over then, or of an ``every``, which goes on."""
    if timer.interval is None:
        timers.remove(timer)
    else:
        missed = int((tree.now - timer.due) / timer.interval)
        if missed:
            tree.effects.append(Note("warning", f"{frame.path}: every {timer.interval:g} s was missed {missed} times"))
        timer.due += timer.interval * (missed + 1)
    if not tree.fire(frame, layer, layer.prefix + timer.event, None):
        tree.effects.append(Note("debug", f"{frame.path}: no branch of {timer.event[1:]} may be taken"))
