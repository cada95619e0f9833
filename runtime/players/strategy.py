"""A player that is a strategy: a class of a spec's game, or of one's own.

A strategy is a class made with ``(name, seed)``. It has a method for each question, called with the question's values
in order, in a worker thread; it returns ``(message, {field: value})`` or the message's JSON body. If it has a method
``heard(message, fields)``, it is told every message the client received, in order, never beside a question. If it has a
method ``late()``, a clock stands in that place during each question: it says when to decide with what is known by then.
One that returns ``...`` never answers that question.
"""

from __future__ import annotations

import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread

from runtime.players.base import Arguments, DecisionError

log = logging.getLogger("accord.players")

FAREWELL_SECONDS_MAX = 1.0  # How long a strategy may take over its last news once the game is over.
LATE_SHARE = 0.7  # Of the time for an answer, when `late` begins to say yes: the rest is for a busy machine.


class _Clock:
    """What a strategy calls as ``late()``: most of the time is gone, or nobody waits for the answer any more."""

    def __init__(self, seconds: float | None) -> None:
        self._until = float("inf") if seconds is None else time.monotonic() + LATE_SHARE * seconds
        self.rang = False

    def __call__(self) -> bool:
        self.rang = self.rang or time.monotonic() >= self._until
        return self.rang

    def stop(self) -> None:
        """Say yes from now on."""
        self._until = 0.0


class StrategyPlayer:
    """Runs a strategy's methods in a worker thread, one at a time."""

    def __init__(self, strategy: object, kind: str) -> None:
        self._strategy = strategy
        self._kind = kind
        self._news: deque[tuple[str, dict[str, Any]]] = deque()
        self._wants_news = callable(getattr(strategy, "heard", None))
        self._wants_clock = callable(getattr(strategy, "late", None))
        # A call that was given up on still runs in its thread; the next one waits for it, so that a strategy never
        # has to think of threads.
        self._turn = threading.Lock()

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Return what the strategy's method for the question returns; see `Player.decide`."""
        method = None if question.startswith("_") else getattr(self._strategy, question, None)
        if not callable(method):
            raise DecisionError(f"player {self._kind!r} has no method {question!r} to answer that question with")
        news, clock = self._take_news(), _Clock(seconds)
        values = [value for _, value in arguments]
        try:
            answer = await self._in_thread(self._catch_up_and_call, news, clock, method, values)
        except Exception as error:
            cause = error.__cause__ if isinstance(error, _StrayedError) else error
            log.debug("player %s raised in %s", self._kind, question, exc_info=cause)
            kind = "exit" if isinstance(cause, SystemExit) else "crash"
            text = f"player {self._kind!r} raised in {question}: {error_text(cause or error)}"
            raise DecisionError(text, kind) from cause
        finally:
            clock.stop()
        if clock.rang:
            log.info("player %s was told to decide: of %g s for %s most were gone", self._kind, seconds, question)
        if answer is ...:
            log.info("player %s does not answer %s, ever", self._kind, question)
            await anyio.sleep_forever()
        return answer

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Keep the news for the strategy's next call."""
        if self._wants_news:
            self._news.append((message, fields))

    async def say_farewell(self) -> None:
        """Hand over the news that no question followed; not for longer than FAREWELL_SECONDS_MAX."""
        news = self._take_news()
        if not news:
            return
        with anyio.move_on_after(FAREWELL_SECONDS_MAX, shield=True):
            try:
                await self._in_thread(self._catch_up, news)
            except Exception as error:
                cause = error.__cause__ if isinstance(error, _StrayedError) else error
                log.warning("player %s raised in heard: %s", self._kind, error_text(cause or error))

    def _take_news(self) -> list[tuple[str, dict[str, Any]]]:
        news = list(self._news)
        self._news.clear()
        return news

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(_contained, function, *arguments, abandon_on_cancel=True)

    def _catch_up(self, news: list[tuple[str, dict[str, Any]]]) -> None:
        with self._turn:
            for message, fields in news:
                self._strategy.heard(message, fields)  # type: ignore[attr-defined]

    def _catch_up_and_call(
        self, news: list[tuple[str, dict[str, Any]]], clock: _Clock, method: Callable[..., Any], values: list[Any]
    ) -> Any:
        with self._turn:
            if self._wants_clock:
                self._strategy.late = clock  # type: ignore[attr-defined]
            for message, fields in news:
                self._strategy.heard(message, fields)  # type: ignore[attr-defined]
            answer = method(*values)
        if inspect.iscoroutine(answer):
            answer.close()
            raise TypeError("an async method does not answer, it needs a plain one")
        return answer


class _StrayedError(Exception):
    """A strategy raised what is not for the event loop to see: an exit, an interrupt. Its cause is that."""


def _contained(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a strategy; what would end the whole process, or confuse its event loop, is an error like any other."""
    try:
        return function(*arguments)
    except Exception as error:
        if isinstance(error, StopIteration):  # no future can hold one
            raise _StrayedError from error
        raise
    except BaseException as error:
        raise _StrayedError from error


def error_text(error: BaseException) -> str:
    """Return the kind of an error and, if it has one, its text."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
