"""A player that is a strategy: a class of a spec's game, or of one's own.

A strategy is a class made with ``(name, seed)``. It has a method for each question, called with the question's values
in order, in a worker thread or the loop's (`runtime.players.quick_calls`); it returns ``(message, {field: value})`` or
the message's JSON body. If it has a method ``heard(message, fields)``, it is told every message the client received, in
order, never beside a question. If it has a method ``late()``, a clock stands in that place during each question: it
says when to decide with what is known by then. One that returns ``...`` never answers that question.
"""

from __future__ import annotations

import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from runtime.players.base import NEVER, Arguments, DecisionError, silent_from
from runtime.players.quick_calls import HeldError, QuickCalls, Stopwatch

log = logging.getLogger("accord.players")

FAREWELL_SECONDS_MAX = 1.0  # How long a strategy may take over its last news once the game is over.
LATE_SHARE = 0.7  # Of the time for an answer, when `late` begins to say yes: the rest is for a busy machine.


class LateClock:
    """What a strategy calls as ``late()``: most of the time is gone, or nobody waits for the answer any more."""

    def __init__(self, seconds: float | None) -> None:
        self._until = float("inf") if seconds is None else time.monotonic() + LATE_SHARE * seconds
        self.rang = False

    def __call__(self) -> bool:
        """Say whether it is late."""
        self.rang = self.rang or time.monotonic() >= self._until
        return self.rang

    def stop(self) -> None:
        """Say yes from now on."""
        self._until = 0.0


class Strategy:
    """Asks an object's methods in the thread it is called in, one at a time; keeps the news for it until then."""

    def __init__(self, own: object, kind: str) -> None:
        self.own = own
        self.kind = kind
        self.silent_from = silent_from(own)
        self._news: deque[tuple[str, dict[str, Any]]] = deque()
        self._wants_news = callable(getattr(own, "heard", None))
        self._wants_clock = callable(getattr(own, "late", None))
        # A call that was given up on still runs in its thread; the next one waits for it, so that a strategy never
        # has to think of threads.
        self._turn = threading.Lock()

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Keep the news for the next call."""
        if self._wants_news:
            self._news.append((message, fields))

    def question(self, question: str, arguments: Arguments, seconds: float | None) -> StrategyQuestion:
        """Return a question that is ready to be put; the news so far are told before it.

        Raises:
            DecisionError: no method is called so.
        """
        method = None if question.startswith("_") else getattr(self.own, question, None)
        if not callable(method):
            raise DecisionError(f"player {self.kind!r} has no method {question!r} to answer that question with")
        return StrategyQuestion(self, method, [value for _, value in arguments], self.take_news(), LateClock(seconds))

    def decide_now(self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None) -> Any:
        """See `PromptPlayer.decide_now`. Thinking takes none of the game's time, however long it is."""
        asked = self.question(question, arguments, seconds)
        try:
            return asked.put()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self.failure(question, error) from error

    def say_farewell_now(self) -> None:
        """Hand over the news that no question followed."""
        try:
            self.tell(self.take_news())
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            log.warning("player %s raised in heard: %s", self.kind, error_text(error))

    def take_news(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the news that were not told yet; they count as told."""
        news = list(self._news)
        self._news.clear()
        return news

    def tell(self, news: list[tuple[str, dict[str, Any]]]) -> None:
        """Tell it news."""
        with self._turn:
            for message, fields in news:
                self.own.heard(message, fields)  # type: ignore[attr-defined]

    def put(self, method: Callable[..., Any], values: list[Any], clock: LateClock) -> Any:
        """Return what a method returns."""
        with self._turn:
            if self._wants_clock:
                self.own.late = clock  # type: ignore[attr-defined]
            answer = method(*values)
        if inspect.iscoroutine(answer):
            answer.close()
            raise TypeError("an async method does not answer, it needs a plain one")
        return answer

    def failure(self, question: str, error: BaseException) -> DecisionError:
        """Return what is told of an error that a method raised."""
        log.debug("player %s raised in %s", self.kind, question, exc_info=error)
        kind = "exit" if isinstance(error, SystemExit) else "crash"
        return DecisionError(f"player {self.kind!r} raised in {question}: {error_text(error)}", kind)


@dataclass(frozen=True, slots=True)
class StrategyQuestion:
    """A question that is ready to be put, in whatever thread."""

    strategy: Strategy
    method: Callable[..., Any]
    values: list[Any]
    news: list[tuple[str, dict[str, Any]]]
    clock: LateClock

    def put(self) -> Any:
        """Return the answer; whatever the strategy raises is raised."""
        if self.news:
            self.strategy.tell(self.news)
        return self.strategy.put(self.method, self.values, self.clock)

    def timed(self) -> tuple[Any, float]:
        """Return the answer, and how many seconds it took."""
        stopwatch = Stopwatch()
        answer = self.put()
        return answer, stopwatch.seconds()


class StrategyPlayer:
    """Asks a strategy in a worker thread; on the loop, where it has long been quick (`runtime.players.quick_calls`)."""

    def __init__(self, strategy: object, kind: str) -> None:
        self._strategy = Strategy(strategy, kind)
        self.silent_from = self._strategy.silent_from
        self._quick = QuickCalls()

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Return what the strategy's method for the question returns; see `Player.decide`."""
        asked, kind = self._strategy.question(question, arguments, seconds), self._strategy.kind
        try:
            if self._quick.may(question):
                answer = self._on_loop(question, asked, seconds)
            else:
                answer, took = await self._in_thread(asked.timed)
                self._quick.note(question, took)
        except Exception as error:
            cause = _cause(error)
            raise self._strategy.failure(question, cause) from cause
        finally:
            asked.clock.stop()
        if asked.clock.rang:
            log.info("player %s was told to decide: of %g s for %s most were gone", kind, seconds, question)
        if answer is NEVER:
            log.info("player %s does not answer %s, ever", kind, question)
            await anyio.sleep_forever()
        return answer

    def _on_loop(self, question: str, asked: StrategyQuestion, seconds: float | None) -> Any:
        """Return the answer; NEVER of one that held the loop until it was too late."""
        try:
            return self._quick.put(question, partial(_contained, asked.put), seconds)
        except HeldError:
            kind = self._strategy.kind
            log.warning("player %s was cut off in %s: it held the loop until its time was up", kind, question)
            return NEVER

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Keep the news for the strategy's next call."""
        self._strategy.heard(message, fields)

    async def say_farewell(self) -> None:
        """Hand over the news that no question followed; not for longer than FAREWELL_SECONDS_MAX."""
        news = self._strategy.take_news()
        if not news:
            return
        with anyio.move_on_after(FAREWELL_SECONDS_MAX, shield=True):
            try:
                await self._in_thread(self._strategy.tell, news)
            except Exception as error:
                log.warning("player %s raised in heard: %s", self._strategy.kind, error_text(_cause(error)))

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(_contained, function, *arguments, abandon_on_cancel=True)


class _StrayedError(Exception):
    """A strategy raised what is not for the event loop to see: an exit, an interrupt. Its cause is that."""


def _cause(error: Exception) -> BaseException:
    """Return what a strategy raised."""
    return error.__cause__ or error if isinstance(error, _StrayedError) else error


def _contained(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a strategy; what would end the whole process, or confuse its event loop, is an error like any other."""
    try:
        return function(*arguments)
    except Exception as error:
        if isinstance(error, StopIteration):  # no future can hold one
            raise _StrayedError from error
        raise
    except HeldError:  # ours
        raise
    except BaseException as error:
        raise _StrayedError from error


def error_text(error: BaseException) -> str:
    """Return the kind of an error and, if it has one, its text."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
