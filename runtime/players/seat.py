"""A player that is a person at a page in a browser: what the page shows, and the answers that come from it.

The game's loop asks and tells; the site that serves the page (`runtime.studio.seat_site`) runs in a thread of its own
and looks what is new. Nothing of the game but what its client was told gets here, so no hidden hand can be seen.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import anyio
import anyio.to_thread

from machines.messages.bodies import compile_message
from machines.messages.types import Mismatch
from machines.model import Spec
from rules.views.offered import Offered
from runtime.journal.losses import Loss, own_words
from runtime.players.base import Arguments
from runtime.players.companions import companions
from runtime.players.person_answers import FieldReader, brief, legal_answers
from runtime.players.terminal import LeftError

NEWS_MAX: Final = 500  # lines of what was told; the oldest go
SHORT_CHARACTERS: Final = 60  # of a value that is told in the news of a game that has a board
FIELD_CHARACTERS_MAX: Final = 10_000  # of what a person may write into a field

_OPEN: Final = object()  # in place of an answer that has not come: null may be one


@dataclass(frozen=True, slots=True)
class SeatQuestion:
    """What a person is asked: legal answers to choose from, or messages to fill in; ``ends`` on the monotonic clock.

    ``offered`` are the same answers with a picture to click them on, where the game has one.
    """

    number: int
    name: str
    arguments: tuple[tuple[str, str], ...]
    choices: Sequence[tuple[str, Any]]
    messages: tuple[str, ...]
    given: Mapping[str, Any]
    ends: float | None
    offered: Offered | None = None


class Seat:
    """A person's place in a game; everything here may be called in any thread."""

    def __init__(self, spec: Spec, name: str) -> None:
        self.spec = spec
        self.name = name
        self.news: list[str] = []
        self.gone = 0  # so many of the oldest news are kept no more
        self.boards: list[Callable[[], str]] = []
        self.question: SeatQuestion | None = None
        self.over = False
        self.out = ""  # why the person has lost its place; nothing as long as it has it
        self.ending = ""  # how it ended for the person, as the last message said that told it
        self.changes = 0  # grows with every change, for who looks whether there is one
        self.explained = "".join(
            module.EXPLANATION for module in companions(spec, "views") if hasattr(module, "EXPLANATION")
        )
        self._views = [module for module in companions(spec, "views") if hasattr(module, "shown")]
        self._pictured = [module for module in companions(spec, "views") if hasattr(module, "pictured")]
        self._states: list[Any] = [None] * len(self._pictured)
        self._answer: Any = _OPEN
        self._left = False
        self._asked = 0
        self._changed = threading.Condition()

    # -- the game's side ---------------------------------------------------------------------------------------------

    def ask(self, name: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None) -> SeatQuestion:
        """Put a question to the person, and return it."""
        given = dict(arguments)
        choices = legal_answers(self.spec, name, given)
        with self._changed:
            self._asked += 1
            offered = self._offered(name, given, choices, messages)
            self._answer = _OPEN
            self.question = SeatQuestion(
                self._asked,
                name,
                tuple((key, brief(value)) for key, value in arguments),
                choices if offered is None else offered.choices,
                messages,
                given,
                None if seconds is None else time.monotonic() + seconds,
                offered,
            )
            self._change()
            return self.question

    def _offered(
        self, name: str, given: dict[str, Any], choices: Sequence[tuple[str, Any]], messages: tuple[str, ...]
    ) -> Offered | None:
        """Return how the question is answered by clicks, if the game's view knows the question as it is asked."""
        for module, state in zip(self._pictured, self._states, strict=True):
            try:
                offered: Offered | None = module.offered(state, name, given, choices)
            except Exception:  # what a peer wrote need not make sense to a view
                continue
            if offered is not None and offered.choices and all(answer[0] in messages for _, answer in offered.choices):
                return offered
        return None

    async def answer(self) -> Any:
        """Wait for the answer to the question that is open, and close it.

        Raises:
            LeftError: the person has left.
        """
        given_up = threading.Event()

        def wait() -> None:
            with self._changed:
                self._changed.wait_for(lambda: self._answer is not _OPEN or self._left or given_up.is_set())

        try:
            await anyio.to_thread.run_sync(wait, abandon_on_cancel=True)
        finally:
            given_up.set()
            with self._changed:
                self.question = None
                self._change()
        if self._left:
            raise LeftError(f"{self.name} left the game")
        return self._answer

    def tell(self, message: str, fields: dict[str, Any]) -> None:
        """Show what came: as the game shows it, else as the message with its fields."""
        text = next((shown for view in self._views if (shown := view.shown(message, fields))), None)
        if text is None or self._pictured:  # a board is drawn, and need not be written too
            told = [f"{name} {text}" for name, value in fields.items() if len(text := brief(value)) <= SHORT_CHARACTERS]
            text = ", ".join([message, *told])
        with self._changed:
            self.news.append(text.rstrip("\n"))
            while len(self.news) > NEWS_MAX:
                del self.news[0]
                self.gone += 1
            for at, paint in enumerate(self._pictured):
                self._paint(at, paint.pictured, message, fields)
            self.ending = self._verdict(message, fields) or self.ending
            self._change()

    def _verdict(self, message: str, fields: dict[str, Any]) -> str | None:
        for view in self._views:
            try:
                told: str | None = view.verdict(self.name, message, fields) if hasattr(view, "verdict") else None
            except Exception:  # as of a picture
                continue
            if told is not None:
                return told
        return None

    def _paint(self, at: int, paint: Any, message: str, fields: dict[str, Any]) -> None:
        try:
            self._states[at], draw = paint(self._states[at], self.name, message, fields)
        except Exception:  # what a peer wrote need not make sense to a view: then there is nothing new to see
            return
        if draw is not None:
            self.boards[:] = [draw]

    def lose(self, why: str) -> None:
        """Say that the person is out, and why; what follows from it is not told."""
        with self._changed:
            if not self.out and not self.over:
                self.out = why
                self.news.append(f"you are out: {why}")
                self._change()

    def end(self) -> None:
        """Say that the game is over."""
        with self._changed:
            self.over = True
            self._change()

    def _change(self) -> None:
        self.changes += 1
        self._changed.notify_all()

    # -- the page's side ---------------------------------------------------------------------------------------------

    def choose(self, number: int, choice: int) -> str:
        """Answer a question with one of its choices; return what is wrong with that, or nothing."""
        with self._changed:
            question = self.question
            if question is None or question.number != number or self._answer is not _OPEN:
                return "this question is closed"
            if not 0 <= choice < len(question.choices):
                return "there is no such choice"
            self._answer = question.choices[choice][1]
            self._change()
        return ""

    def fill_in(self, number: int, message: str, texts: Mapping[str, str]) -> dict[str, str]:
        """Answer a question with a message; return what is wrong, by field, and by the empty name as a whole."""
        with self._changed:
            question = self.question
            if question is None or question.number != number or self._answer is not _OPEN:
                return {"": "this question is closed"}
            if message not in question.messages or question.choices:
                return {"": "this message is no answer to the question"}
            wrong: dict[str, str] = {}
            fields: dict[str, Any] = {}
            for field in self.spec.messages[message].fields:
                text = texts.get(field.name, "")[: FIELD_CHARACTERS_MAX + 1]
                if not text.strip() and (field.name in question.given or field.optional):
                    fields[field.name] = question.given.get(field.name, field.default)
                    continue
                try:
                    fields[field.name] = FieldReader(self.spec, field).read(text)
                except Mismatch as mismatch:
                    wrong[field.name] = str(mismatch)
            if not wrong:
                shape = compile_message(self.spec.messages[message], self.spec.types)
                try:
                    shape.build([fields[field] for field in shape.fields])
                except Mismatch as mismatch:  # each fits, but a text may hold what ends it in the message
                    wrong[""] = str(mismatch)
            if not wrong:
                self._answer = (message, fields)
                self._change()
            return wrong

    def leave(self) -> None:
        """Leave the game: this question and all to come have no answer."""
        with self._changed:
            self._left = True
            self.out = self.out or "you have left the game"
            self._change()


class SeatPlayer:
    """Asks the person in a seat."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Ask the person; see `runtime.players.base.Player.decide`.

        Raises:
            LeftError: the person has left the game; from then on at once.
        """
        self._seat.ask(question, arguments, messages, seconds)
        return await self._seat.answer()

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Show what came."""
        self._seat.tell(message, fields)

    def lost(self, loss: Loss) -> None:
        """Show that the person is out; see `runtime.journal.losses.tell_lost`."""
        self._seat.lose(own_words(loss.violation))


@asynccontextmanager
async def open_seat(spec: Spec, name: str) -> AsyncIterator[SeatPlayer]:
    """Serve a seat's page while the block runs; its link goes to standard error."""
    from runtime.studio.seat_site import SeatService

    seat = Seat(spec, name)
    service = SeatService(seat)
    service.start()
    try:
        yield SeatPlayer(seat)
    finally:
        seat.end()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(service.stop)
