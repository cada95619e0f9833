"""Players: who decides for a client. A question comes in, an answer goes out, and nothing here blocks the loop.

    second, dumb, ...         a strategy of the spec's game, from ``rules.players.<module>.PLAYERS``
    python:package.mod:Class  a strategy of one's own
    exec:COMMAND              any program, one JSON value a line (`runtime.players.program`)
    human                     a person at the terminal (`runtime.players.terminal`)
    random                    answers with any of the messages and any values that fit (`runtime.players.random`)
    example                   answers every question with an example of the message: for a first look at a spec
    silent malformed gone infinite   never answers; sends no message; hangs up; never stops: to see a server cope

A strategy is a class made with ``(name, seed)``. It has a method for each question, called with the question's values
in order, in a worker thread; it returns ``(message, {field: value})`` or the message's JSON body. If it has a method
``heard(message, fields)``, it is told every message the client received, in order, never beside a question. If it has a
method ``late()``, a clock stands in that place during each question: it says when to decide with what is known by then.
One that returns ``...`` never answers that question.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.to_thread

from machines.loader import allowed_rules, rules_module
from machines.messages.bodies import MessageCodec, compile_message
from machines.model import Spec
from machines.problems import near
from runtime.import_path import add_working_folder

if TYPE_CHECKING:
    from runtime.players.terminal import Terminal

log = logging.getLogger("accord.players")

Arguments = tuple[tuple[str, Any], ...]
FAREWELL_SECONDS_MAX = 1.0  # How long a strategy may take over its last news once the game is over.
LATE_SHARE = 0.7  # Of the time for an answer, when `late` begins to say yes: the rest is for a busy machine.


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


class Silent:
    """Never answers."""

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Wait until cancelled."""
        await anyio.sleep_forever()

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Nothing is noted."""


class FaultyPlayer:
    """Answers every question with the same misdeed."""

    def __init__(self, misdeed: EndlessAnswer | Vanish) -> None:
        self.misdeed = misdeed

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Return the misdeed."""
        return self.misdeed

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Nothing is noted."""


# -- strategies --------------------------------------------------------------------------------------------------------


class Example:
    """Answers with an example of the first message that may answer; a game's rules may well refuse it."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._shapes: dict[str, MessageCodec] = {}

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Return the example of the first of ``messages``; a field named like an argument takes that value."""
        name = messages[0]
        if name not in self._shapes:
            self._shapes[name] = compile_message(self._spec.messages[name], self._spec.types)
        shape = self._shapes[name]
        read = shape.read(shape.example())
        assert read is not None, f"the example of {name} does not fit {name}"
        given = dict(arguments)
        return name, {field: given.get(field, value) for field, value in zip(shape.fields, read, strict=True)}

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Nothing is noted."""


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
            raise DecisionError(f"player {self._kind!r} raised in {question}: {_said(cause or error)}", kind) from cause
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
                log.warning("player %s raised in heard: %s", self._kind, _said(cause or error))

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


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


# -- finding one -------------------------------------------------------------------------------------------------------

_GENERIC: Mapping[str, str] = {
    "human": "a person at the terminal",
    "random": "any message that may answer, with any values that fit its types, legal or not; goes by the seed",
    "example": "answers with an example of the first message that may answer, always the same, legal or not",
    "silent": "never answers",
    "malformed": "answers with bytes that are no message: no JSON, or where messages are text, no UTF-8",
    "gone": "hangs up at the first question",
    "infinite": "answers with a JSON list that never ends",
}
_MISDEEDS: Mapping[str, EndlessAnswer | Vanish] = {
    "gone": Vanish(),
    # 4 KiB every 10 ms reaches the usual limit of 1 MiB a message within 3 s, and does not starve the loop.
    "infinite": EndlessAnswer(b"[0", b",0" * 2048, 0.01, 64 << 20),
}


def companions(spec: Spec, folder: str) -> list[ModuleType]:
    """Return what stands beside a spec's rules modules in ``folder`` (``players`` or ``views``), in the spec's order.

    For the module ``rules.tsuro`` that is ``rules.players.tsuro``; a rules module without one is passed over, and so
    is one that is allowed for this run only (``--rules``): its players are named as ``python:MODULE:CLASS``.
    """
    found = []
    known = allowed_rules()
    for name, _ in spec.rules:
        if name not in known:
            continue
        package, _, module = rules_module(spec, name).__name__.rpartition(".")
        path = f"{package}.{folder}.{module}" if package else f"{folder}.{module}"
        try:
            there = importlib.util.find_spec(path) is not None
        except ModuleNotFoundError:  # there is no such folder
            there = False
        if there:
            found.append(importlib.import_module(path))
    return found


def kinds(spec: Spec) -> dict[str, str]:
    """Return the kinds of player that a spec can have, the game's own first, each with a line on it."""
    own: dict[str, str] = {}
    for module in companions(spec, "players"):
        for kind, strategy in module.PLAYERS.items():
            own.setdefault(kind, (strategy.__doc__ or "").strip().partition("\n")[0].rstrip("."))
    return own | {kind: line for kind, line in _GENERIC.items() if kind not in own}


def default_kind(spec: Spec) -> str:
    """Return the kind that plays when nobody chose: the game's own choice, else ``random``."""
    for module in companions(spec, "players"):
        default: str | None = getattr(module, "DEFAULT", None)
        if default is not None:
            return default
    return "random"


def derived_seed(seed: int, *path: object) -> int:
    """Return a seed of 63 bits that depends on the run's seed and a path, on nothing else, on every machine."""
    text = "/".join(map(str, (seed, *path)))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") >> 1


@asynccontextmanager
async def open_player(
    kind: str, *, spec: Spec, name: str, seed: int, terminal: Terminal | None = None
) -> AsyncIterator[Player]:
    """Make a player of a kind; what it holds (a program, its last news) is seen to when the block is left.

    ``terminal`` is where a ``human`` is asked; the process's own if None.

    Raises:
        PlayerKindError: there is no such kind, class or program, or it cannot be made.
    """
    if kind.startswith("exec:"):
        from runtime.players.program import open_program

        async with open_program(kind.removeprefix("exec:"), name) as program:
            yield program
        return
    if kind == "human":
        from runtime.players.terminal import TerminalPlayer, own_terminal

        yield TerminalPlayer(spec, name, terminal or own_terminal())
        return
    make = _maker(kind, spec)
    if make is None:
        yield _generic(kind, spec, seed)
        return
    try:
        strategy = make(name, seed)
    except BaseException as error:  # an exit in there is the player's, and nothing is awaited that can be cancelled
        raise UnknownPlayerError(f"player {kind!r} could not be made with (name, seed): {_said(error)}") from error
    player = StrategyPlayer(strategy, kind)
    try:
        yield player
    finally:
        await player.say_farewell()


def _generic(kind: str, spec: Spec, seed: int) -> Player:
    match kind:
        case "silent":
            return Silent()
        case "example":
            return Example(spec)
        case "malformed":
            from runtime.players.faulty import MalformedPlayer

            return MalformedPlayer(spec)
        case "random":
            from runtime.players.random import RandomPlayer

            return RandomPlayer(spec, seed)
        case _:
            return FaultyPlayer(_MISDEEDS[kind])


def check_kind(kind: str, spec: Spec) -> None:
    """Raise PlayerKindError if ``open_player`` would not know the kind; starts and makes nothing."""
    if kind.startswith("exec:"):
        from runtime.players.program import program_words

        program_words(kind.removeprefix("exec:"))
    elif kind != "human":
        _maker(kind, spec)


def _maker(kind: str, spec: Spec) -> Callable[[str, int], object] | None:
    """Return the class of a strategy, or None if the kind is one of the generic ones."""
    if kind.startswith("python:"):
        return _imported(kind)
    for module in companions(spec, "players"):
        if kind in module.PLAYERS:
            strategy: Callable[[str, int], object] = module.PLAYERS[kind]
            return strategy
    if kind in _GENERIC:
        return None
    known = kinds(spec)
    hint = near(kind, known) or f"there are {', '.join(known)}, python:MODULE:CLASS and exec:COMMAND"
    raise UnknownPlayerError(f"no player {kind!r} for {spec.protocol} ({hint})")


def _imported(kind: str) -> Callable[[str, int], object]:
    module_name, _, class_name = kind.removeprefix("python:").partition(":")
    if not module_name or not class_name:
        raise UnknownPlayerError(f"player {kind!r} is not of the form python:package.module:Class")
    add_working_folder()
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        raise UnknownPlayerError(f"player {kind!r}: {module_name} cannot be imported: {_said(error)}") from error
    found = getattr(module, class_name, None)
    if not callable(found):
        raise UnknownPlayerError(f"player {kind!r}: {module_name} has no class {class_name}")
    strategy: Callable[[str, int], object] = found
    return strategy
