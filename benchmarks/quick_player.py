"""A player of pairs.yaml that thinks about nothing: ``accord join --player python:benchmarks.quick_player:Quick``."""

from __future__ import annotations

from typing import Any

from benchmarks.trivial import GAME


class Quick:
    """Answers each turn with a right move."""

    def __init__(self, name: str, seed: int) -> None:
        pass

    def turn(self, turn: int, board: Any) -> tuple[str, dict[str, Any]]:
        """Return the move of a turn."""
        return "place", {"game": GAME, "turn": turn, "tile": 10 + turn % 4, "x": turn % 10, "y": 4}
