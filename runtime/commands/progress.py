"""A game as it goes, on standard error: on a terminal its board in place, elsewhere a line for each message taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from machines.effects import Effect, Heard, Note
from machines.model import Spec
from machines.values import plain
from runtime.arena import Seated
from runtime.commands.output import note
from runtime.players import companions

TEXT_MAX = 100


class Progress:
    """Watches the effects of a game's session. Players join in order, so peer n is the n-th player."""

    def __init__(self, spec: Spec, seats: Sequence[Seated]) -> None:
        self._seats = seats
        self._views = [view for view in companions(spec, "views") if hasattr(view, "shown")]

    def __call__(self, effect: Effect) -> None:
        """Show an effect, if there is something to see in it."""
        match effect:
            case Heard(peer, message, holes):
                note(f"{self._who(peer)}: {message} {_brief(holes)}".rstrip())
            case Note("warning" | "error", text, peer):
                note(f"{'' if peer is None else self._who(peer) + ': '}{text}")
            case _:
                pass

    def _who(self, peer: int) -> str:
        return self._seats[peer].name if peer < len(self._seats) else f"peer {peer}"


def _brief(holes: dict[str, Any]) -> str:
    text = " ".join(f"{name} {msgspec.json.encode(plain(value)).decode()}" for name, value in holes.items())
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."
