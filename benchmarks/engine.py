"""The engine alone, without sockets: microseconds of CPU an event, and KiB a session.

    python -m benchmarks.engine [--quick] [--json]

A *simple event* is one message in (90 bytes, JSON), decoded and judged, one transition, one return, the next call, and
one message out (430 bytes, encoded); every second one ends a round besides. It is a move of ``pairs.yaml``, whose
rules do next to nothing. A *move of Tsuro* is one of a game of five with its real rules, whose share is told.

Each figure is of many runs of a few milliseconds: the fastest, which is what the code costs, and the median, which has
in it what else the machine did. The yardstick is a loop of plain Python, to compare machines by.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from benchmarks.trivial import GAME
from machines.effects import Effect, Send
from machines.engine.session import Program, Session
from machines.parser.loader import load, rules_functions, rules_modules
from rules.players.tsuro import PLAYERS

PAIRS = str(Path(__file__).with_name("pairs.yaml"))
RULES = ("benchmarks.trivial",)
TURNS = 400  # of one run: 2 to 4 ms
SESSIONS = 500  # over which memory is shared out


@dataclass(frozen=True, slots=True)
class Figure:
    """Microseconds of CPU for one of something: the fastest run and the median of them."""

    least: float
    median: float


def measured(run: Callable[[], Callable[[], int]], runs: int) -> Figure:
    """Time what ``run()`` returns; that returns how many events it did. What ``run`` itself does is not timed."""
    found = []
    for _ in range(runs):
        timed = run()
        before = time.process_time()
        count = timed()
        found.append(1e6 * (time.process_time() - before) / count)
    return Figure(round(min(found), 2), round(statistics.median(found), 2))


def yardstick() -> int:
    """Do 10,000 rounds of what interpreters do: calls, attributes, items, small objects."""
    box = SimpleNamespace(count=0)
    items = [0, 1, 2, 3]

    def add(amount: int) -> int:
        box.count += items[amount & 3]
        return amount + 1

    at = 0
    for _ in range(10_000):
        at = add(at)
        pair = (at, items[:])
        del pair
    return 10_000


# -- simple events ---------------------------------------------------------------------------------------------------


def pairs_program(turns: int, *, stock: bool = False) -> Program:
    """Return the server of pairs.yaml, compiled, for games of so many turns."""
    spec = load(PAIRS, settings={"turns": str(turns)}, rules=RULES)
    return Program(spec, "server", rules_modules(spec, RULES), stock=stock)


def move(turn: int) -> bytes:
    """Return a player's message, written as Python's json does."""
    tile = {"tile": 10 + turn % 4, "x": turn % 10, "y": 4}
    return json.dumps(["place", GAME, turn, tile]).encode() + b"\n"


def seated(program: Program, seed: int = 0) -> Session:
    """Return a session whose two players are seated; the first is asked for a move."""
    session = Session(program, seed=seed)
    session.start(0.0)
    for name in ("ann", "bob"):
        number, _ = session.connect(0.0)
        session.receive(number, json.dumps(["join", name]).encode() + b"\n", 0.0)
    return session


def simple_events(program: Program) -> Callable[[], Callable[[], int]]:
    """Return what to time: the moves of one game, but the last, which ends it."""
    moves = [move(turn) for turn in range(TURNS - 1)]

    def prepared() -> Callable[[], int]:
        session = seated(program)
        receive = session.receive

        def played() -> int:
            now = 0.0
            for turn, raw in enumerate(moves):
                now += 0.0001
                receive(turn & 1, raw, now)
            return len(moves)

        return played

    return prepared


def sign_ups(program: Program) -> Callable[[], Callable[[], int]]:
    """Return what to time: making sessions and seating two players in each."""

    def timed() -> int:
        for _ in range(50):
            seated(program)
        return 50

    return lambda: timed


# -- Tsuro -----------------------------------------------------------------------------------------------------------


class Counted(ModuleType):
    """A module of rules that notes every call."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self.calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        functions = rules_functions(module)
        self.__all__ = list(functions)
        for name, function in functions.items():
            setattr(self, name, self._noting(function))

    def _noting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls.append((function, arguments))
            return function(*arguments)

        return call


Input = tuple[int, bytes]  # a peer, and what it sent


def tsuro_game(program: Program, players: int, seed: int) -> tuple[list[Input], list[Input]]:
    """Play a game of Tsuro in memory; return the inputs of the sign-ups and those of the moves."""
    session = Session(program, seed=seed)
    minds = [PLAYERS["second"](f"player{index}", seed) for index in range(players)]
    inputs: list[list[Input]] = [[], []]
    tokens: dict[int, str] = {}
    waiting: list[Effect] = list(session.start(0.0))

    def say(peer: int, value: Any, moves: bool) -> None:
        raw = json.dumps(value).encode() + b"\n"
        inputs[moves].append((peer, raw))
        waiting.extend(session.receive(peer, raw, 0.0))

    for peer in range(players):
        waiting.extend(session.connect(0.0)[1])
        say(peer, f"player{peer}", False)
    while waiting:
        effect = waiting.pop(0)
        if not isinstance(effect, Send):
            continue
        value = _tuples(json.loads(effect.data))
        if effect.message == "TOKEN":
            tokens[effect.peer] = value
        elif effect.message in ("INIT_REQ", "INTER_REQ"):
            question = minds[effect.peer].initial if effect.message == "INIT_REQ" else minds[effect.peer].intermediate
            name, fields = question(*value, tokens[effect.peer])
            shape = program.shapes[name]
            say(effect.peer, shape.build([fields[field] for field in shape.fields]), True)
    assert session.ended is not None, "a game of players that keep to the rules ends"
    return inputs[0], inputs[1]


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def tsuro_moves(program: Program, game: tuple[list[Input], list[Input]]) -> Callable[[], Callable[[], int]]:
    """Return what to time: all moves of a game but the last, whose result is told to all."""
    joins, moves = game

    def prepared() -> Callable[[], int]:
        session = Session(program)
        session.start(0.0)
        for peer, raw in joins:
            session.connect(0.0)
            session.receive(peer, raw, 0.0)

        def played() -> int:
            for peer, raw in moves[:-1]:
                session.receive(peer, raw, 0.0)
            return len(moves) - 1

        return played

    return prepared


def rules_alone(spec: Any, game: tuple[list[Input], list[Input]]) -> Callable[[], Callable[[], int]]:
    """Return what to time: the calls of rules that the moves of a game lead to."""
    counted = Counted(rules_modules(spec)["tsuro"])
    prepared = tsuro_moves(Program(spec, "server", {"tsuro": counted}), game)()
    counted.calls.clear()
    count = prepared()
    calls = tuple(counted.calls)

    def timed() -> int:
        for function, arguments in calls:
            function(*arguments)
        return count

    return lambda: timed


# -- memory ----------------------------------------------------------------------------------------------------------


def memory_kib(program: Program) -> float:
    """Return the KiB that one session of two players holds in its fourth turn, as Python's allocators count them.

    In it: the session, two seats with their framers and fields, the frames of main and of the turn with their names,
    the table of the game, the transitions of the last input. Not in it: connections, sockets, tasks, and what all
    sessions share.
    """

    def playing(seed: int) -> Session:
        session = seated(program, seed)
        for turn in range(3):
            session.receive(turn & 1, move(turn), 0.0)
        return session

    kept = [playing(seed) for seed in range(10)]
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [playing(seed) for seed in range(SESSIONS)]
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return round((after - before - sys.getsizeof(kept)) / len(kept) / 1024, 2)


# -- the command -----------------------------------------------------------------------------------------------------


def figures(runs: int) -> Iterator[tuple[str, str, Figure | float]]:
    """Yield (name, what it is, figure), each as soon as it is measured."""
    yield "yardstick", "a round of the yardstick, us", measured(lambda: yardstick, runs)
    lean, stock = pairs_program(TURNS), pairs_program(TURNS, stock=True)
    yield "kib", f"a session of two players, KiB (over {SESSIONS} of them)", memory_kib(lean)
    spec = load("tsuro", settings={"seats": "5..5"})
    tsuro = Program(spec, "server", rules_modules(spec))
    game = tsuro_game(tsuro, 5, seed=1)
    gc.collect()
    gc.freeze()  # as a server does once all is loaded: what never goes need not be looked at again
    yield "simple", "a simple event, us", measured(simple_events(lean), runs)
    yield "stock", "the same on the stock event class of transitions, us", measured(simple_events(stock), runs // 4)
    yield "session", "a session made and two players seated, us", measured(sign_ups(lean), runs // 4)
    yield "tsuro", "a move of Tsuro among five, us", measured(tsuro_moves(tsuro, game), runs // 2)
    yield "tsuro_rules", "of it the rules, us", measured(rules_alone(spec, game), runs // 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the runs")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    found: dict[str, Any] = {}
    for name, what, figure in figures(40 if given.quick else 200):
        found[name] = asdict(figure) if isinstance(figure, Figure) else figure
        if not given.json:
            least = (
                f"{figure.least:8.2f}  median {figure.median:8.2f}" if isinstance(figure, Figure) else f"{figure:8.2f}"
            )
            print(f"{least:28}  {what}", flush=True)
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
