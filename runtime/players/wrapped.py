"""A player around another: it hears and tells what the other does, and only decides otherwise."""

from __future__ import annotations

from typing import Any

from runtime.journal.losses import Loss, last_lines, tell_lost, why_late
from runtime.players.base import Arguments, Player, silent_from


class WrappedPlayer:
    """Does all that the ``player`` in it does."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.silent_from = silent_from(player)

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """See `Player.decide`."""
        return await self._player.decide(question, arguments, messages, seconds)

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """See `Player.heard`."""
        self._player.heard(message, fields)

    def last_lines(self) -> tuple[str, ...]:
        """See `runtime.journal.losses.last_lines`."""
        return last_lines(self._player)

    def lost(self, loss: Loss) -> None:
        """See `runtime.journal.losses.tell_lost`."""
        tell_lost(self._player, loss)

    def why_late(self) -> str:
        """See `runtime.journal.losses.why_late`."""
        return why_late(self._player)
