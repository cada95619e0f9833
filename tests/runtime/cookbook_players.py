"""Players for the cookbook's protocols: a plain one of the game that once does what the recipe is about."""

from __future__ import annotations

import time
from typing import Any

from rules.players.santorini import Quick
from rules.players.tsuro import Second

Answer = tuple[str, dict[str, Any]]


class Cheater(Second):
    """Lays its tiles in the corner, from the first later placement on, where no token ever is when it is asked."""

    tries = 1

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self.left = self.tries

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer with a square that is not on the board, as long as there are tries left."""
        if self.left:
            self.left -= 1
            return "INTER_PLACE", {"tile": tiles[0], "x": -1, "y": -1}
        return super().intermediate(board, tiles, token)


class TwiceCheater(Cheater):
    """Does so twice."""

    tries = 2


class Slow(Second):
    """Thinks for a while over its first later placement."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self.left = 1

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer after a time that no test's clock measures exactly."""
        if self.left:
            self.left = 0
            time.sleep(0.15)
        return super().intermediate(board, tiles, token)


class Quitter(Quick):
    """Gives up at its first move."""

    def move(self, *_: Any) -> Answer:
        """Answer with the resignation."""
        return "resignation", {}


class Offering(Second):
    """Offers a draw before each of its moves, until one is taken."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self.offered = False

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer with the offer, then with a move."""
        self.offered = not self.offered
        return ("OFFER", {}) if self.offered else super().intermediate(board, tiles, token)

    def draw(self, by: str) -> Answer:
        """Agree."""
        return "AGREE", {}


class Stubborn(Offering):
    """Offers, but never takes a draw."""

    def draw(self, by: str) -> Answer:
        """Refuse."""
        return "REFUSE", {}


class Pest(Offering):
    """Offers a draw and nothing else."""

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer with the offer."""
        return "OFFER", {}


class Talker(Second):
    """Says something before each move."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self.said = False

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer with a line, then with a move."""
        self.said = not self.said
        return ("SAY", {"line": "hm"}) if self.said else super().intermediate(board, tiles, token)


class Quits(Second):
    """Has no answer to its second later placement: its client hangs up."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self.left = 1

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer once.

        Raises:
            RuntimeError: it is asked a second time.
        """
        if not self.left:
            raise RuntimeError("a player that goes home")
        self.left -= 1
        return super().intermediate(board, tiles, token)


class Looker:
    """Decides nothing."""

    def __init__(self, name: str, seed: int) -> None:
        pass
