"""What one more costs beside many: curves of CPU against peers, sessions, keys, games, length of a journal, states.

    python -m benchmarks.growth [--quick] [--json] [--svg FILE] [--only CURVE ...]

Each point is the least of a few runs, in microseconds of CPU for one of what the curve counts. A curve is *straight*
if no point costs more than STRAIGHT times one before it, and COPIED microseconds for each of what there is: the list
of who is seated, and a store, are values that never change, so who comes, goes or is put has them copied, at the speed
of memory. Without sockets, but for the journal, which is a file.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.chart import curves
from benchmarks.engine import PAIRS, RULES, move, pairs_program, seated
from machines.engine.session import Program, Session
from machines.model import Spec
from machines.parser.loader import load, load_text, rules_modules
from machines.verification.abstract.contracts import contracts_for
from machines.verification.verify import verify
from runtime.journal.replay import replay
from runtime.journal.writing import Head, open_journal

STRAIGHT: Final = 2.0
COPIED: Final = 0.025
RUNS: Final = 5
HALL: Final = Path(__file__).with_name("hall.yaml")
SET: Final = b"*3\r\n$3\r\nSET\r\n$%d\r\n%b\r\n$1\r\nx\r\n"


@dataclass(frozen=True)
class Curve:
    """``points`` are (how many of ``what`` there were, microseconds of CPU for one ``operation``)."""

    name: str
    what: str
    operation: str
    points: tuple[tuple[int, float], ...]

    @property
    def straight(self) -> bool:
        """Whether what there is besides costs nothing but being copied: no point costs much more than one before it."""
        costs = [cost for _, cost in self.points]
        return all(
            cost <= STRAIGHT * min(costs[: index + 1]) + COPIED * size for index, (size, cost) in enumerate(self.points)
        )


def least(run: Callable[[], int], runs: int = RUNS) -> float:
    """Return the microseconds of CPU that one of what ``run`` counts takes, in the best of some runs."""
    found = []
    gc.collect()
    gc.freeze()  # as a server does: what never goes need not be looked at again
    for _ in range(runs):
        before = time.process_time()
        count = run()
        found.append(1e6 * (time.process_time() - before) / count)
    gc.unfreeze()
    return round(min(found), 2)


# -- peers, keys: one session of the key-value store -----------------------------------------------------------------


def store(clients: int) -> Session:
    """Return a session of the shipped store with so many clients seated."""
    text = "protocol: large\nextends: redis\nwire: {connections_max: 100000}\nsettings: {keys_max: 100000}\n"
    session = Session(Program(load_text(text), "server", {}))
    session.start(0.0)
    for _ in range(clients):
        session.connect(0.0)
    return session


def message(peers: int) -> float:
    """Return what a message of one of so many peers costs."""
    session = store(peers)

    def run() -> int:
        for number in range(200):
            session.receive(number % peers, b"*1\r\n$4\r\nPING\r\n", 0.0)
        return 200

    return least(run)


def connection(peers: int) -> float:
    """Return what it costs beside so many peers that one connects, and leaves."""
    session = store(peers)

    def run() -> int:
        for _ in range(100):
            number, _ = session.connect(0.0)
            session.lose(number, 0.0)
        return 100

    return least(run)


def put(keys: int) -> float:
    """Return what it costs to set a key in a store of so many."""
    session = store(1)
    names = [b"key:%d" % number for number in range(keys)]
    for name in names:
        session.receive(0, SET % (len(name), name), 0.0)

    def run() -> int:
        for number in range(200):
            name = names[number * 7 % keys]
            session.receive(0, SET % (len(name), name), 0.0)
        return 200

    return least(run)


# -- sessions, games -------------------------------------------------------------------------------------------------


def event(sessions: int) -> float:
    """Return what a simple event of one of so many sessions costs."""
    program = pairs_program(1000)
    many = [seated(program, seed) for seed in range(sessions)]
    turns = [0] * sessions
    at = 0

    def run() -> int:
        nonlocal at
        for _ in range(1000):
            at = (at + 1) % sessions
            many[at].receive(turns[at] & 1, move(turns[at]), 0.0)
            turns[at] = turns[at] + 1 if turns[at] < 998 else 0
        return 1000

    return least(run)


def game(games: int) -> float:
    """Return what a move of one of so many games in one session costs."""
    text = HALL.read_text(encoding="utf-8").replace("parallel: 64", "parallel: 10000")
    assert "parallel: 10000" in text, "the hall seats as many as come"
    settings = {"seats": str(2 * games), "turns": "1000", "sign_up": "never"}
    spec = load_text(text, "hall.yaml", folder=HALL.parent, settings=settings, rules=RULES)
    session = Session(Program(spec, "server", rules_modules(spec, RULES)))
    session.start(0.0)
    for index in range(2 * games):
        number, _ = session.connect(0.0)
        session.receive(number, json.dumps(["join", f"p{index}"]).encode() + b"\n", 0.0)
    assert session.ended is None, session.ended
    turns = [0] * games
    at = 0

    def run() -> int:
        nonlocal at
        for _ in range(400):
            at = (at + 1) % games
            session.receive(2 * at + (turns[at] & 1), move(turns[at]), 0.0)
            turns[at] += 1
        return 400

    return least(run, 2)


# -- a journal: a file -----------------------------------------------------------------------------------------------


def journal(lines: int) -> float:
    """Return what a line of a journal of so many costs to be read and replayed."""
    turns = lines - 5
    program = pairs_program(turns + 1)
    spec = load(PAIRS, rules=RULES)
    with tempfile.TemporaryDirectory() as folder:
        settings = {"turns": str(turns + 1)}
        head = Head(1, "", spec.protocol, PAIRS, "", "server", 0, settings=settings, rules=list(RULES))
        kept = open_journal(Path(folder), head, limit_bytes=1 << 40)
        session = Session(program, watch=False)
        kept.write("start", 0.0, (), session.start(0.0), seed=0, my={})
        for index, name in enumerate(("ann", "bob")):
            number, out = session.connect(0.0)
            kept.write("connect", 0.0, tuple(session.took), out, peer=number)
            raw = json.dumps(["join", name]).encode() + b"\n"
            out = session.receive(index, raw, 0.0)
            kept.write("bytes", 0.0, session.transitions, out, peer=index, data=raw)
        for turn in range(turns):
            raw = move(turn)
            out = session.receive(turn & 1, raw, 0.0)
            kept.write("bytes", 0.0, session.transitions, out, peer=turn & 1, data=raw)
        kept.close()

        def run() -> int:
            done = replay(kept.path, force=True, rules=RULES)
            assert done.inputs == lines, done
            assert done.difference is None, done
            return lines

        return least(run, 1 if lines > 50_000 else 3)


# -- checks ----------------------------------------------------------------------------------------------------------


def states(count: int) -> float:
    """Return what a state of a spec costs when all its roles are explored, in a chain of questions and answers."""
    spec = chain(count // 2)

    def run() -> int:
        verify(spec, contracts_for(spec, rules_modules(spec)), clients=[1])
        return count

    return least(run, 2)


def chain(half: int) -> Spec:
    """Return a spec whose server asks so many questions one after another, each a message of its own."""
    asks = "\n".join(f"    q{i}: [q{i}, $n int]" for i in range(half))
    says = "\n".join(f"    a{i}: [a{i}, $n int]" for i in range(half))
    after = [f"s{i + 1}" if i + 1 < half else "bye" for i in range(half)]
    server = "\n".join(
        f"      s{i}: {{send: {{peer: q{i}({i})}}, await: peer, within: 5 s, "
        f"receive: {{a{i}: {{if: n == {i}, then: {after[i]}}}}}, fault: {{return: null}}}}"
        for i in range(half)
    )
    client = "\n".join(
        f"      s{i}: {{within: 1 min, "
        f"receive: {{q{i}: {{send: a{i}(n), then: {after[i]}}}}}, fault: {{return: null}}}}"
        for i in range(half)
    )
    return load_text(
        f"protocol: chain\ntitle: generated\nwire: {{framing: json}}\nconnects: {{client: server}}\n"
        f"messages:\n  server:\n{asks}\n    OVER: over\n  client:\n{says}\n"
        f"roles:\n  server:\n    main(peer):\n{server}\n      bye: {{send: {{peer: OVER}}, return: null}}\n"
        f"  client:\n    main:\n{client}\n"
        "      bye: {within: 1 min, receive: {OVER: {return: null}}, fault: {return: null}}\n"
    )


CURVES: Final[dict[str, tuple[str, str, Callable[[int], float], Sequence[int]]]] = {
    "message": ("peers", "a message of one of them", message, (10, 100, 1_000, 5_000, 20_000)),
    "connection": ("peers", "one more that comes and goes", connection, (10, 100, 1_000, 5_000, 20_000)),
    "put": ("keys", "setting one of them", put, (10, 100, 1_000, 10_000)),
    "event": ("sessions", "a simple event of one of them", event, (10, 100, 1_000, 10_000)),
    "game": ("games in a session", "a move of one of them", game, (10, 100, 1_000, 4_000)),
    "journal": ("lines of a journal", "reading and replaying one", journal, (100, 1_000, 10_000, 100_000)),
    "states": ("states of a spec", "exploring one", states, (50, 100, 200, 400)),
}


def measured(names: Sequence[str], points: int | None = None) -> list[Curve]:
    """Measure some curves, or only so many points of each, in the order of their sizes."""
    found = []
    for name in names:
        what, operation, cost, sizes = CURVES[name]
        found.append(Curve(name, what, operation, tuple([(size, cost(size)) for size in sizes[:points]])))
    return found


def main() -> int:
    """Measure and print; the exit code is 1 if a curve is not straight."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the first three points of each")
    parser.add_argument("--json", action="store_true", help="print one JSON object a curve")
    parser.add_argument("--svg", metavar="FILE", help="draw the curves, too")
    parser.add_argument("--only", nargs="+", choices=CURVES, default=list(CURVES), help="these alone")
    given = parser.parse_args()
    found = []
    for name in given.only:
        (curve,) = measured([name], 3 if given.quick else None)
        found.append(curve)
        if given.json:
            print(json.dumps({**asdict(curve), "straight": curve.straight}), flush=True)
            continue
        points = "   ".join(f"{size:,}: {cost:,.1f}" for size, cost in curve.points)
        told = "straight" if curve.straight else "NOT STRAIGHT"
        print(f"{curve.operation}, us, by {curve.what}\n    {points}   {told}", flush=True)
    if given.svg:
        rows = [(f"{curve.operation}, by {curve.what}", curve.points) for curve in found]
        Path(given.svg).write_text(curves("CPU of one more beside many", rows, "us"), encoding="utf-8")
    return int(not all(curve.straight for curve in found))


if __name__ == "__main__":
    sys.exit(main())
