"""Our server against a hand-written one of the same protocol, side by side in one run, over loopback TCP.

    python -m benchmarks.comparison [--quick] [--backend asyncio,uvloop,trio] [--json]

For 1 and for 64 pairs of players and each event loop, every server plays batches of games in turn, so that what else
the machine does meets them alike. The bots are one process, in C where there is a compiler. Told are the moves a
second, the server's CPU a move (its own process, kernel included), both as medians, and the median of the ratios of
CPU to the hand-written server's in the same round: first to the one that does all that ours does, clock and journal,
then to the one that has only its clock.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.batches import Batch
from benchmarks.chart import bars

FOLDER = Path(__file__).parent
WORDS = {
    "ours": "ours, a session a pair, journal on",
    "hall": "ours, all pairs in one session, journal on",
    "ours-stock": "ours on anyio's own streams, journal on",
    "tasks": "hand-written, a task a game, our transport",
    "journaled": "the same, with a journal of its messages",
    "stock": "hand-written, a task a game, anyio's own streams",
    "callbacks": "hand-written, no tasks, our transport",
    "callbacks-journaled": "the same, with a journal of its messages",
    "streams": "as most would write it: streams, wait_for, json",
    "threads": "as most would write it: threads, json",
}
NAMES = {  # in the chart
    **WORDS,
    "tasks": "by hand, a task a game",
    "journaled": "by hand, a task a game, journal",
    "stock": "by hand, anyio's own streams",
    "callbacks": "by hand, no tasks",
    "callbacks-journaled": "by hand, no tasks, journal",
    "streams": "as most would write it: asyncio streams, json",
    "threads": "as most would write it: threads, json",
}
RIVALS = ("journaled", "tasks")  # the plain and good ones that the ratios are to
BATCH_SECONDS_MAX = 60.0


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one server: medians; ``ratios`` are of its CPU a move to that of RIVALS, round by round."""

    backend: str
    pairs: int
    server: str
    moves_per_second: float
    cpu_us: float
    cpu_us_least: float
    ratios: tuple[float, ...]
    rounds: int


@contextmanager
def bots() -> Iterator[list[str]]:
    """Make the bots; yield the command that runs them, but for port and number."""
    compiler = shutil.which("cc")
    with tempfile.TemporaryDirectory() as folder:
        if compiler is not None:
            program = str(Path(folder) / "bots")
            built = subprocess.run([compiler, "-O2", "-o", program, str(FOLDER / "bots.c")], check=False)
            if built.returncode == 0:
                yield [program]
                return
        yield [sys.executable, "-m", "benchmarks.bots"]


class Server:
    """A process of `benchmarks.serving`."""

    def __init__(self, kind: str, backend: str, pairs: int, turns: int) -> None:
        self.kind, self.pairs, self.turns = kind, pairs, turns
        command = [sys.executable, "-m", "benchmarks.serving", kind, "--backend", backend]
        command += ["--pairs", str(pairs), "--turns", str(turns)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = 0

    def ready(self) -> None:
        """Wait until it listens."""
        self.port = self._line()["port"]

    def batch(self, bots: Sequence[str]) -> Batch:
        """Have the bots play one batch."""
        command = [*bots, str(self.port), str(2 * self.pairs)]
        played = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=BATCH_SECONDS_MAX)
        batch = Batch(**self._line())
        assert batch.moves == int(played.stdout) == self.pairs * self.turns, f"{self.kind}: a game was cut short"
        return batch

    def close(self) -> None:
        """Kill it."""
        self._process.terminate()
        self._process.wait()
        assert self._process.stdout is not None, "it was made with a pipe"
        self._process.stdout.close()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None, "it was made with a pipe"
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the server {self.kind} ended; what it said is above")
        found: dict[str, Any] = json.loads(line)
        return found


def compared(kinds: Sequence[str], backend: str, pairs: int, turns: int, seconds: float, bots: list[str]) -> list[Row]:
    """Run servers against one another for about so many seconds, each at least once."""
    rounds: list[dict[str, Batch]] = []
    with ExitStack() as stack:
        servers = [Server(kind, backend, pairs, turns) for kind in kinds]
        for server in servers:
            stack.callback(server.close)
        for server in servers:
            server.ready()
        if seconds:
            for server in servers:
                server.batch(bots)  # warms it: the interpreter specialises what runs often
        until = time.monotonic() + seconds
        while not rounds or time.monotonic() < until:
            order = servers if len(rounds) % 2 == 0 else servers[::-1]
            rounds.append({server.kind: server.batch(bots) for server in order})
    rows = []
    for kind in kinds:
        found = [played[kind] for played in rounds]
        cpu = [1e6 * batch.cpu / batch.moves for batch in found]
        ratios = tuple(statistics.median(played[kind].cpu / played[rival].cpu for played in rounds) for rival in RIVALS)
        rate = statistics.median(batch.moves / batch.seconds for batch in found)
        rows.append(Row(backend, pairs, kind, rate, statistics.median(cpu), min(cpu), ratios, len(rounds)))
    return rows


def kinds_for(backend: str, pairs: int, quick: bool) -> list[str]:
    """Return which servers are compared."""
    if quick or pairs == 1:
        return ["ours", "tasks", "journaled", "stock"] if backend == "trio" else [*WORDS]
    if backend == "trio":  # has no transport but anyio's streams, and no callbacks
        return ["ours", "hall", "tasks", "journaled", "stock"]
    return [*WORDS]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one short round of each, for a first look")
    parser.add_argument("--backend", default="asyncio,uvloop,trio")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--chart", type=Path, help="write CPU a move with 64 pairs on the first loop to this SVG file")
    given = parser.parse_args()
    backends = [name for name in given.backend.split(",") if find_spec(name) is not None]
    rows: list[Row] = []
    with bots() as program:
        by = "a C program" if len(program) == 1 else "a Python program (there is no C compiler)"
        where = f"{os.cpu_count()} cores, CPython {platform.python_version()}, {platform.system()}; bots: {by}"
        if not given.json:
            print(where)
        for backend in backends:
            for pairs in (1, 64):
                turns = {1: 1000 if given.quick else 4000, 64: 100 if given.quick else 200}[pairs]
                kinds = kinds_for(backend, pairs, given.quick)
                seconds = 0.0 if given.quick else {1: 10.0, 64: 30.0}[pairs]
                found = compared(kinds, backend, pairs, turns, seconds, program)
                rows += found
                if not given.json:
                    _tell(found)
    if given.chart is not None:
        shown = [row for row in rows if (row.pairs, row.backend) == (64, backends[0])]
        title = f"CPU of the server a move, 64 pairs, {backends[0]}, median"
        named = [(NAMES[row.server], row.cpu_us) for row in sorted(shown, key=lambda row: row.cpu_us)]
        given.chart.write_text(bars(title, named, "us"), encoding="utf-8")
    if given.json:
        told = [{name: getattr(row, name) for name in Row.__slots__} for row in rows]
        print(json.dumps({"where": where, "rows": told}))


def _tell(rows: Sequence[Row]) -> None:
    first = rows[0]
    print(f"\n{first.backend}, {first.pairs} pair{'s' if first.pairs > 1 else ''}, {first.rounds} rounds")
    for row in rows:
        figures = f"{row.moves_per_second:8,.0f} moves/s {row.cpu_us:7.1f} us (least {row.cpu_us_least:6.1f})"
        ratios = "  ".join(f"x{ratio:.2f}" for ratio in row.ratios)
        print(f"  {WORDS[row.server]:50}{figures}  {ratios}", flush=True)


if __name__ == "__main__":
    main()
