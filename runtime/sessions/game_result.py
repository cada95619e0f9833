"""Who took part in a game, how it ended for each, and why those lost who did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machines.effects import Ended
from runtime.journal.losses import Loss, Losses


@dataclass(frozen=True, slots=True)
class Participant:
    """A player in a game: ``kind`` as for `runtime.players.registry.open_player`, ``seed`` derived from the game's."""

    name: str
    kind: str
    seed: int
    folder: Path | None = None  # where a program runs; None for here


@dataclass(frozen=True, slots=True)
class PlayerResult:
    """What became of a player: what its ``main`` returned, or why it failed (None if it did not)."""

    name: str
    kind: str
    value: Any
    failed: str | None
    errors: str = ""  # what its program wrote to standard error, the end of it
    told: str = ""  # the lines that were written to its program, the first of them


@dataclass(frozen=True, slots=True)
class GameResult:
    """How a game ended; ``seconds`` is how long it took.

    ``ended`` is None where no one session is the game; then ``sessions`` has how each player's ended, by name.
    ``losses`` are the violations of players, in the order in which they were decided.
    """

    ended: Ended | None
    players: tuple[PlayerResult, ...]
    seconds: float
    sessions: Mapping[str, Ended] = field(default_factory=dict)
    losses: Losses = field(default_factory=Losses)


def explained(losses: Iterable[Loss], outcomes: Sequence[PlayerResult], *, by_itself: bool) -> Iterator[Loss]:
    """Leave out what is no loss, or what a loss only led to: a connection that ended after its client had.

    ``by_itself`` says that each player has a session of its own, which it may well end in between.
    """
    failed = {outcome.name for outcome in outcomes if outcome.failed is not None}
    told = {loss.name for loss in losses if loss.violation.kind != "closed"}
    for loss in losses:
        owed = loss.name in failed or bool(loss.violation.asked and loss.violation.awaited and not by_itself)
        if loss.violation.kind != "closed" or (owed and loss.name not in told):
            yield loss
