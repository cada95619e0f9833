"""What one event may cost: a count of the elements that its expressions and messages go through.

Steps are counted elsewhere; one of them may still sort a list of a million, or send a list of twice the same list,
forty levels deep. So whatever takes time in proportion to a value's length spends that length here; what is short is
paid for by its step. `machines.engine.session` sets what is left at the beginning of each event; outside of a session
nothing is refused. Sessions run in one thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, Final

WORK_MAX: Final = 4_000_000  # elements: a quarter of a second of CPU, half of one at worst
SILENT_STEPS_MAX: Final = 10_000  # a spec that passes on so often without waiting will never wait; they take about 5 ms
SHORT: Final = 64  # what has no more elements is not counted
CHARACTERS: Final = 16  # of a text go for one element: they are copied or compared by the machine's own loops
SORTING: Final = 8  # an element that is sorted goes for so many
HOLDING: Final = 8  # so does a list or mapping within another, whatever it holds


class WorkError(Exception):
    """An event takes more work than it may; the text names the limit."""


class Meter:
    """``left`` is what may still be spent."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left: float = inf


METER: Final = Meter()


def spend(elements: int) -> None:
    """Take so many elements from what is left.

    Raises:
        WorkError: there are not so many; what is left then is nothing, but for what is not counted.
    """
    METER.left -= elements
    if METER.left < 0:
        METER.left = 0
        raise WorkError("it goes through more elements of lists and texts than work_max allows for one event")


def spend_through(value: Any) -> None:
    """Take what a value holds at every depth, as often as it stands there: what has to be written out is so large.

    Raises:
        WorkError: see `spend`.
    """
    rest = [value]
    while rest:
        holder = rest.pop()
        items = holder.values() if isinstance(holder, Mapping) else holder
        spend(len(items) + HOLDING)
        rest.extend([item for item in items if isinstance(item, tuple | list | Mapping)])
