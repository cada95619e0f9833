"""Strategies in processes of their own, so that several can think at once: each process has its own interpreter lock.

    event loop ── (number, what, pickled arguments) ──▶ process: a thread for each of its players
               ◀── (number, kind, pickled value) ─────

What a strategy sees is as in this process: the same seed, the same news before the same questions, one at a time.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import anyio

from machines.model import Spec
from runtime.network.loop_calls import loop_caller
from runtime.players.base import NEVER, Arguments, DecisionError, Player, UnknownPlayerError, silent_from
from runtime.players.registry import open_player, strategy_class
from runtime.players.strategy import FAREWELL_SECONDS_MAX, LateClock, Strategy, error_text
from runtime.players.terminal import Terminal
from runtime.process.import_path import add_working_folder
from runtime.process.lent_streams import lent

log = logging.getLogger("accord.players")

_News = list[tuple[str, dict[str, Any]]]
_Queue = SimpleQueue[Callable[[], None] | None]  # of one player; None ends its thread


class PlayerWorkers:
    """Processes for players, in turn; see `open_workers`."""

    def __init__(self, processes: list[_Process]) -> None:
        self._processes = processes
        self._players = 0

    @asynccontextmanager
    async def open_player(
        self,
        kind: str,
        *,
        spec: Spec,
        name: str,
        seed: int,
        terminal: Terminal | None = None,
        folder: Path | None = None,
    ) -> AsyncIterator[Player]:
        """Make a player of a kind, a strategy in one of the processes; see `runtime.players.registry.open_player`.

        Raises:
            UnknownPlayerError: there is no such player, or it cannot be made there.
        """
        make = strategy_class(kind, spec)
        if make is None:
            async with open_player(kind, spec=spec, name=name, seed=seed, terminal=terminal, folder=folder) as local:
                yield local
            return
        number, self._players = self._players, self._players + 1
        player = _WorkerPlayer(self._processes[number % len(self._processes)], number, kind, silent_from(make))
        await player.make(make, name, seed)
        try:
            yield player
        finally:
            await player.say_farewell()
            player.leave()


@asynccontextmanager
async def open_workers(count: int) -> AsyncIterator[PlayerWorkers]:
    """Start so many processes; they are ended with the block, whatever they are at."""
    processes: list[_Process] = []
    try:
        for _ in range(count):
            processes.append(_Process())
        yield PlayerWorkers(processes)
    finally:
        for process in processes:
            process.end()


class _WorkerPlayer:
    """A strategy in another process."""

    def __init__(self, process: _Process, number: int, kind: str, silent_from: str) -> None:
        self.silent_from = silent_from
        self._process = process
        self._number = number
        self._kind = kind
        self._news: _News = []

    async def make(self, make: Callable[[str, int], object], name: str, seed: int) -> None:
        """Make the strategy.

        Raises:
            UnknownPlayerError: it cannot be made there.
        """
        try:
            await self._process.call("make", self._number, make, self._kind, name, seed)
        except DecisionError as error:
            raise UnknownPlayerError(f"player {self._kind!r} could not be made with (name, seed): {error}") from error

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """See `Player.decide`."""
        news, self._news = self._news, []
        answer, rang = await self._process.call("ask", self._number, question, arguments, seconds, news)
        if rang:
            log.info("player %s was told to decide: of %g s for %s most were gone", self._kind, seconds, question)
        if answer is NEVER:
            log.info("player %s does not answer %s, ever", self._kind, question)
            await anyio.sleep_forever()
        return answer

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Keep the news for the next question."""
        self._news.append((message, fields))

    async def say_farewell(self) -> None:
        """Hand over the news that no question followed; not for longer than FAREWELL_SECONDS_MAX."""
        if self._news:
            with anyio.move_on_after(FAREWELL_SECONDS_MAX, shield=True), suppress(DecisionError):
                await self._process.call("tell", self._number, self._news)

    def leave(self) -> None:
        """Have the process forget it: nobody asks it any more."""
        self._process.send("forget", self._number)


class _Process:
    """A process with players, seen from the loop."""

    def __init__(self) -> None:
        context = get_context("spawn")  # as on every system; a fork would copy locks that other threads hold
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, os.getcwd()), daemon=True)
        self._process.start()
        theirs.close()
        self._calls = 0
        self._waiting: dict[int, anyio.Event] = {}
        self._replies: dict[int, tuple[str, bytes]] = {}
        self._gone = False
        self._in_loop = loop_caller()
        threading.Thread(target=self._read, name="accord: a worker's replies", daemon=True).start()

    async def call(self, what: str, *arguments: Any) -> Any:
        """Return what the process replies.

        Raises:
            DecisionError: the strategy failed, or its process is gone.
        """
        number, self._calls = self._calls, self._calls + 1
        arrived = self._waiting[number] = anyio.Event()
        try:
            try:
                self._pipe.send((number, what, pickle.dumps(arguments)))
            except (OSError, pickle.PicklingError, TypeError, AttributeError) as error:
                if not self._gone and not isinstance(error, OSError):
                    raise DecisionError(f"its values cannot be handed to another process: {error}") from error
                self._gone = True
            if not self._gone:
                await arrived.wait()
        finally:
            del self._waiting[number]
            if not arrived.is_set():
                with suppress(OSError):
                    self._pipe.send((number, "stop", b""))
        if number not in self._replies:
            raise DecisionError("the process that it thought in was ended", "exit")
        kind, value = self._replies.pop(number)
        if kind != "answer":
            raise DecisionError(pickle.loads(value), kind)
        return pickle.loads(value)

    def send(self, what: str, *arguments: Any) -> None:
        """Tell the process something that it does not reply to."""
        with suppress(OSError):
            self._pipe.send((-1, what, pickle.dumps(arguments)))

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._process.close()

    def _read(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                number, kind, value = self._pipe.recv()
                self._in_loop(partial(self._arrived, number, kind, value))
        self._in_loop(self._lost)

    def _arrived(self, number: int, kind: str, value: bytes) -> None:
        if number in self._waiting:  # else nobody waits for it any more
            self._replies[number] = (kind, value)
            self._waiting[number].set()

    def _lost(self) -> None:
        self._gone = True
        for arrived in self._waiting.values():
            arrived.set()


# -- in the process ----------------------------------------------------------------------------------------------------


class _Room:
    """What a process has: its players, each with its thread and its queue, and the clocks of what they think about."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._writing = threading.Lock()
        self._queues: dict[int, _Queue] = {}
        self._strategies: dict[int, Strategy] = {}
        self._clocks: dict[int, LateClock] = {}

    def take(self, number: int, what: str, blob: bytes) -> None:
        """Take a message from the loop."""
        if what == "stop":
            clock = self._clocks.get(number)
            if clock is not None:
                clock.stop()
            return
        try:
            player, *arguments = pickle.loads(blob)
        except Exception as error:  # a class that is only known where it was defined
            self._reply(number, "crash", f"it is not known in another process: {error_text(error)}")
            return
        if what == "forget":
            if player in self._queues:
                self._queues.pop(player).put(None)
            self._strategies.pop(player, None)
            return
        if player not in self._queues:
            queue = self._queues[player] = SimpleQueue()
            threading.Thread(target=_run, args=(queue,), daemon=True).start()
        self._queues[player].put(partial(self._do, number, what, player, *arguments))

    def _do(self, number: int, what: str, player: int, *arguments: Any) -> None:
        try:
            match what:
                case "make":
                    make, kind, name, seed = arguments
                    self._strategies[player] = Strategy(make(name, seed), kind)
                    self._reply(number, "answer", None)
                case "ask":
                    self._reply(number, "answer", self._asked(number, self._strategies[player], *arguments))
                case _:
                    for message, fields in arguments[0]:
                        self._strategies[player].heard(message, fields)
                    self._strategies[player].say_farewell_now()
                    self._reply(number, "answer", None)
        except DecisionError as error:
            self._reply(number, error.kind, str(error))
        except BaseException as error:
            self._reply(number, "crash", error_text(error))
        finally:
            self._clocks.pop(number, None)

    def _asked(
        self, number: int, strategy: Strategy, question: str, arguments: Arguments, seconds: float | None, news: _News
    ) -> tuple[Any, bool]:
        for message, fields in news:
            strategy.heard(message, fields)
        asked = strategy.question(question, arguments, seconds)
        self._clocks[number] = asked.clock
        try:
            return asked.put(), asked.clock.rang
        except BaseException as error:
            raise strategy.failure(question, error) from error

    def _reply(self, number: int, kind: str, value: Any) -> None:
        try:
            blob = pickle.dumps(value)
        except Exception as error:
            kind, blob = "crash", pickle.dumps(f"its answer cannot be handed over: {error_text(error)}")
        with self._writing:
            self._pipe.send((number, kind, blob))


def _run(queue: _Queue) -> None:
    while (call := queue.get()) is not None:
        call()


def _work(pipe: Pipe, folder: str) -> None:
    """Serve the loop until it is gone; what players print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of Ctrl-C the main process tells, and ends this one
    with suppress(OSError):  # there is no standard error
        os.dup2(sys.stderr.fileno(), 1)
    sys.stdout = sys.stderr = lent(sys.stderr)
    os.chdir(folder)
    add_working_folder()
    room = _Room(pipe)
    with suppress(EOFError, OSError):
        while True:
            room.take(*pipe.recv())
    os._exit(0)  # whatever is thought about: nobody waits for it
