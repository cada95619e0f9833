"""The questions of a session to its player that are open, each a task of its own."""

from __future__ import annotations

import logging
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from machines.effects import Ask
from runtime.network.transport import Connection
from runtime.players.base import DecisionError, EndlessAnswer, Player, RawAnswer, Vanish

log = logging.getLogger("accord.session")

NO_ANSWER: Final = "no answer"  # what the failure of a player is called that is of no other kind


class Asker(Protocol):
    """Whose session asks: a `runtime.sessions.driver.SessionDriver`."""

    name: str

    def is_alone(self) -> bool:
        """Whether nothing that the session says can reach anybody any more."""

    def first_connection(self) -> Connection | None:
        """The connection to the first peer, as long as there is one."""

    def answer(self, number: int, value: Any) -> None:
        """Take an answer."""

    def answer_failed(self, number: int, why: str, kind: str) -> None:
        """Take note that there is none, and why."""

    def hang_up(self) -> None:
        """Close the first connection in good order, as the player wants it."""


class Questions:
    """What a player is asked. ``misdeed`` says what it did instead of answering."""

    def __init__(self, asker: Asker, player: Player | None, tasks: TaskGroup) -> None:
        self.misdeed = ""
        self._asker = asker
        self._player = player
        self._tasks = tasks
        self._open: dict[int, anyio.CancelScope] = {}

    def put(self, ask: Ask) -> None:
        """Ask the player."""
        scope = self._open[ask.number] = anyio.CancelScope()
        self._tasks.start_soon(self._decide, ask, scope, name=f"question {ask.number}")

    def cancel(self, number: int) -> None:
        """Let a question be: time is up, or a message came that overtakes it."""
        if number in self._open:
            self._open[number].cancel()

    def cancel_all(self) -> None:
        """Let all questions be: the session is over."""
        for scope in self._open.values():
            scope.cancel()

    def fail_all(self) -> None:
        """Answer for the player, where no answer can reach anybody any more."""
        for number, scope in tuple(self._open.items()):
            scope.cancel()
            self._fail(number, self._why_alone())

    async def _decide(self, ask: Ask, scope: anyio.CancelScope) -> None:
        answer: Any = None
        why: str | None = None
        kind = NO_ANSWER
        with scope:
            try:
                if self._asker.is_alone():
                    raise DecisionError(self._why_alone())
                if self._player is None:
                    raise DecisionError("this role has no player")
                answer = await self._player.decide(ask.question, ask.arguments, ask.messages, ask.seconds)
                if isinstance(answer, RawAnswer | EndlessAnswer | Vanish):
                    await self._inject_fault(answer)
            except DecisionError as error:
                why, kind = str(error), error.kind
            except Exception as error:
                why, kind = said(error), "crash"
                log.debug("%s: where the player failed", self._asker.name, exc_info=True)
        if ask.number not in self._open:
            return  # it was answered for: the connection is closed
        if why is None and isinstance(answer, RawAnswer | EndlessAnswer | Vanish):
            return  # to the session it is open; that the connection is closed, if it is, will answer it
        del self._open[ask.number]
        if scope.cancelled_caught:
            return
        if why is not None:
            self._fail(ask.number, why, kind)
        else:
            self._asker.answer(ask.number, answer)

    def _why_alone(self) -> str:
        return f"{self.misdeed}the connection is closed, so no answer can be sent"

    def _fail(self, number: int, why: str, kind: str = NO_ANSWER) -> None:
        self._open.pop(number, None)
        self._asker.answer_failed(number, why, kind)

    async def _inject_fault(self, misdeed: RawAnswer | EndlessAnswer | Vanish) -> None:
        """Do to the first peer what a bad player does; the session learns of it only by what comes back."""
        connection = self._asker.first_connection()
        if connection is None:
            return
        match misdeed:
            case RawAnswer(data):
                self.misdeed = f"it sent {len(data)} bytes that are no message; "
                connection.send(data)
            case EndlessAnswer(opening, chunk, pause, bytes_max):
                self.misdeed = "it sent a message without an end; "
                connection.send(opening)
                for _ in range(bytes_max // len(chunk)):
                    await anyio.sleep(pause)
                    if self._asker.first_connection() is not connection:
                        return
                    connection.send(chunk)
            case Vanish():
                self.misdeed = "it hung up; "
                self._asker.hang_up()


def said(error: Exception) -> str:
    """Return an error in a line, for people."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
