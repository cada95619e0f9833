"""The board of a game at each step of a run, where the game has a view that draws one (``rules.views.<module>``).

A view's ``pictured(state, who, message, fields)`` is told every message in order. It returns what it is to be told with
the next one, and how to draw what the message shows, as the text of an SVG file; None if it shows nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from machines.model import Spec
from runtime.players.companions import companions
from runtime.studio.steps import Party, Step


class Boards:
    """The boards of a run, as far as its steps were shown.

    ``at`` has, for each step, the index of the board that is seen then; -1 for none.
    """

    def __init__(self, spec: Spec) -> None:
        self.at: list[int] = []
        self._draw: list[Callable[[], str]] = []
        self._views = [view.pictured for view in companions(spec, "views") if hasattr(view, "pictured")]
        self._states: list[Any] = [None] * len(self._views)

    def show(self, steps: Sequence[Step], parties: Sequence[Party]) -> None:
        """Tell the views the next steps."""
        names = {party.id: party.name for party in parties}
        for step in steps:
            for said in step.said:
                if said.fields is None:
                    continue
                client = said.source if "p" in said.source else said.target or said.source
                for at, view in enumerate(self._views):
                    self._tell(at, view, names.get(client, client), said.text, said.fields)
            self.at.append(len(self._draw) - 1)

    def _tell(self, at: int, view: Any, who: str, message: str, fields: Any) -> None:
        try:
            self._states[at], draw = view(self._states[at], who, message, fields)
        except Exception:  # what a peer wrote need not make sense to a view: then there is nothing new to see
            return
        if draw is not None:
            self._draw.append(draw)

    def __len__(self) -> int:
        return len(self._draw)

    def svg(self, index: int) -> str | None:
        """Return a board as the text of an SVG file, None if what a peer wrote cannot be drawn."""
        try:
            return self._draw[index]()
        except Exception:  # as above
            return None
