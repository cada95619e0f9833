"""Players: who decides for a client. A question comes in, an answer goes out, and nothing here blocks the loop.

Here are the interface and its errors; `runtime.players.registry` knows the kinds of player and makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import anyio

Arguments = tuple[tuple[str, Any], ...]


class UnknownPlayerError(Exception):
    """There is no such player: an unknown kind, or a class or program that cannot be had. The text says which."""


class DecisionError(Exception):
    """A player could not answer a question: it raised, ended, or has no answer for it. The text says which.

    ``kind`` is that in a word: crash, exit, malformed, flood, memory, processes, left, or no answer. ``said`` has the
    last lines of what a program wrote to standard error.
    """

    def __init__(self, text: str, kind: str = "no answer", said: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.kind = kind
        self.said = said


NEVER: Final = ...  # what is said instead of an answer by who will never answer this question


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


def silent_from(player: object) -> str:
    """Return the message from which on a player's client says nothing any more, as one that is stuck; else nothing."""
    found = getattr(player, "silent_from", "")
    return found if isinstance(found, str) else ""


class PromptPlayer(Protocol):
    """Who decides at once, without an event loop: the kinds that play in memory."""

    def decide_now(self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None) -> Any:
        """Return an answer, see `Player.decide`; NEVER for none, ever.

        Raises:
            DecisionError: there is no answer.
        """
        ...

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """See `Player.heard`."""
        ...

    def say_farewell_now(self) -> None:
        """Take note that the game is over: the last news are taken in."""
        ...


class GenericPlayer:
    """One that decides at once in an event loop as well, takes note of nothing, and leaves without a word."""

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """See `Player.decide`."""
        answer = self.decide_now(question, arguments, messages, seconds)
        if answer is NEVER:
            await anyio.sleep_forever()
        return answer

    def decide_now(self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None) -> Any:
        """See `PromptPlayer.decide_now`; never answers."""
        return NEVER

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Nothing is noted."""

    def say_farewell_now(self) -> None:
        """Nothing is noted."""


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
