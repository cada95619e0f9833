"""Players: who decides for a client. A question comes in, an answer goes out, and nothing here blocks the loop.

Here are the interface and its errors; `runtime.players.registry` knows the kinds of player and makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

Arguments = tuple[tuple[str, Any], ...]


class UnknownPlayerError(Exception):
    """There is no such player: an unknown kind, or a class or program that cannot be had. The text says which."""


class DecisionError(Exception):
    """A player could not answer a question: it raised, ended, or has no answer for it. The text says which.

    ``kind`` is that in a word: crash, exit, malformed, flood, left, or no answer. ``said`` has the last lines of what a
    program wrote to standard error.
    """

    def __init__(self, text: str, kind: str = "no answer", said: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.kind = kind
        self.said = said


class Player(Protocol):
    """Who decides for a client."""

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Return an answer: ``(message, {field: value})``, a JSON body, or one of the misdeeds below.

        ``arguments`` are the question's (name, value) pairs, ``messages`` the names that may answer it, ``seconds``
        how long it may take (None: no limit). Cancelled when the time is up or a message overtakes the question.

        Raises:
            DecisionError: there is no answer.
        """
        ...

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Take note of a message the client received; ``fields`` by name. Returns at once."""
        ...


# -- misdeeds: answers that the host carries out on the connection instead of handing them to the session -------------


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """Write ``data`` as it is to the client's first peer."""

    data: bytes


@dataclass(frozen=True, slots=True)
class EndlessAnswer:
    """Write ``opening``, then ``chunk`` every ``pause`` seconds, up to ``bytes_max`` or until the peer is lost."""

    opening: bytes
    chunk: bytes
    pause: float
    bytes_max: int


@dataclass(frozen=True, slots=True)
class Vanish:
    """Close the connection to the client's first peer without a word."""
