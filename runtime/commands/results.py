"""How a session's end is told to a person."""

from __future__ import annotations

import msgspec

from machines.effects import Ended
from machines.model import Spec
from machines.values import plain
from runtime.players.companions import companions


def result_lines(spec: Spec, ended: Ended) -> list[str]:
    """Return what to print of an end: as the game's own view tells it, if it has one that knows such a result."""
    if ended.failed is not None:
        return [f"failed: {ended.failed}"]
    for view in companions(spec, "views"):
        told = getattr(view, "result_lines", None)
        if told is not None and ended.value is not None:
            lines: list[str] = list(told(ended.value))
            return lines
    return [f"result: {msgspec.json.encode(plain(ended.value)).decode()}"]
