"""How many values the parts of a frame say."""

from __future__ import annotations

from machines.frame_parts import values_of_plain
from machines.model import FrameLine, FramePart, FrameRepeat, FrameSize


def values_of(part: FramePart) -> int:
    """Return how many values a part says; a line with a pattern, a number and bits say what counts nothing."""
    match part:
        case FrameLine(pattern):
            return len(part.values) if pattern is not None else 1
        case FrameSize(_, parts):
            return sum(map(values_of, parts))
        case FrameRepeat():
            return 1
        case _:
            return values_of_plain(part)
