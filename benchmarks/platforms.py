"""Whole platforms for games between programs, as their users run them, in one run: Accord, boardgame.io, Pelita.

    python -m benchmarks.platforms [--node FOLDER] [--pelita PYTHON] [--rounds N] [--quick] [--json] [--chart FILE]

The game is that of pairs.yaml, on Accord and on boardgame.io; Pelita plays its own with bots that stand still. Each
platform plays a short and a long batch, in turn with the others; what is told is the difference of the two by the
moves that the long one has more, so that starting up counts for nothing: moves a second, and the CPU a move of the
server and of all programs, kernel included. Medians of the rounds.

FOLDER is one in which ``npm install boardgame.io socket.io-client`` was run, PYTHON an interpreter that has the package
``pelita``. What is not there is skipped, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from benchmarks.chart import bars
from benchmarks.comparison import bots

FOLDER = Path(__file__).parent
SPEC = str(FOLDER / "pairs.yaml")
ACCORD = (sys.executable, "-m", "runtime")
RULES = ("--rules", "benchmarks.trivial")
QUICK = "python:benchmarks.quick_player:Quick"
SECONDS_MAX = 300.0  # of one batch
MOVES_OF_A_ROUND = 4  # of Pelita: two teams of two bots

Played = Callable[[int, int], "Batch"]  # of so many moves, by so many pairs


@dataclass(frozen=True, slots=True)
class Batch:
    """Seconds from when the server listens to when the last player has ended; CPU seconds of the server, and of all."""

    seconds: float
    server: float
    all: float


@dataclass(frozen=True, slots=True)
class Row:
    """What a move costs: medians. ``server_us`` is None where server and players cannot be told apart."""

    platform: str
    pairs: int
    moves_per_second: float
    server_us: float | None
    all_us: float


class Program:
    """A process whose CPU time is asked of the kernel when it has ended: its own, and that of its children."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] = {}) -> None:
        self.command = command
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **env}
        )

    def line(self) -> str:
        """Return the next line that it prints."""
        assert self._process.stdout is not None, "it was made with a pipe"
        return self._process.stdout.readline()

    def end(self, *, by: signal.Signals | None = None) -> float:
        """Wait for its end, after a signal if one is given; return its CPU seconds.

        Raises:
            SystemExit: it failed.
        """
        if by is not None:
            self._process.send_signal(by)
        assert self._process.stdout is not None, "it was made with a pipe"
        self._process.stdout.read()
        self._process.stdout.close()
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if by is None and self._process.returncode != 0:
            raise SystemExit(f"{' '.join(self.command)} ended with {self._process.returncode}")
        return used.ru_utime + used.ru_stime


def served(
    server: Sequence[str], players: Callable[[str], Sequence[Sequence[str]]], env: Mapping[str, str] = {}
) -> Batch:
    """Start a server, then its players; ``players`` has their commands by the server's port."""
    serving = Program(server, env)
    told = json.loads(serving.line())
    port = str(told["port"] if "port" in told else told["listening"].rpartition(":")[2])
    began = time.perf_counter()
    playing = [Program(command, env) for command in players(port)]
    others = sum(player.end() for player in playing)
    seconds = time.perf_counter() - began
    own = serving.end(by=signal.SIGTERM)  # SIGINT may be ignored where this runs in the background
    return Batch(seconds, own, own + others)


# -- the platforms -----------------------------------------------------------------------------------------------------


def accord(players: Callable[[str, int], Sequence[Sequence[str]]], journals: str, moves: int, pairs: int) -> Batch:
    """Play on ``accord serve --again``, with its journals, on asyncio."""
    server = [*ACCORD, "serve", SPEC, *RULES, "--set", f"turns={moves // pairs}", "--again", "--json", "--quiet"]
    server += ["--journal", journals, "--per-address", "1000"]
    return served(server, lambda port: players(port, pairs))


def joined(port: str, pairs: int) -> list[list[str]]:
    """Return the commands of Accord's own clients, a process each."""
    command = [*ACCORD, "join", SPEC, f"127.0.0.1:{port}", *RULES, "--player", QUICK, "--no-journal", "--log", "error"]
    return [[*command, "--name", f"player{number}"] for number in range(2 * pairs)]


def together(moves: int, pairs: int) -> Batch:
    """Play by ``accord play``: server and players in one process."""
    began = time.perf_counter()
    command = [
        *ACCORD,
        "play",
        SPEC,
        *RULES,
        "--set",
        f"turns={moves}",
        "--player",
        QUICK,
        "--player",
        QUICK,
        "--quiet",
    ]
    cpu = Program([*command, "--no-journal"]).end()
    return Batch(time.perf_counter() - began, 0.0, cpu)


def boardgame(players: Callable[[str, int], Sequence[Sequence[str]]], folder: Path, moves: int, pairs: int) -> Batch:
    """Play on boardgame.io's server, which keeps its matches in memory."""
    env = {"NODE_PATH": str(folder.resolve() / "node_modules"), "NODE_ENV": "production"}
    return served(node("server", str(moves // pairs)), lambda port: players(port, pairs), env)


def node(*words: str) -> list[str]:
    """Return a command of ``boardgame.cjs``."""
    return ["node", str(FOLDER / "boardgame.cjs"), *words]


def pelita(python: Path, moves: int, pairs: int) -> Batch:
    """Play a game of Pelita, whose referee starts its players."""
    rounds, team = moves // MOVES_OF_A_ROUND, str(FOLDER / "pelita_team.py")
    began = time.perf_counter()
    cpu = Program([str(python.parent / "pelita"), "--null", "--rounds", str(rounds), "--seed", "1", team, team]).end()
    return Batch(time.perf_counter() - began, 0.0, cpu)


@contextmanager
def platforms(folder: Path | None, python: Path) -> Iterator[dict[str, tuple[Played, int, bool]]]:
    """Yield what can be run here, by name: how, how many moves last about a second, whether for 64 pairs too."""
    with bots() as program, tempfile.TemporaryDirectory() as journals:
        found: dict[str, tuple[Played, int, bool]] = {}
        quick = partial(accord, lambda port, pairs: [[*program, port, str(2 * pairs)]], journals)
        found["Accord, players in C"] = quick, 24_000, True
        found["Accord, its own clients"] = partial(accord, joined, journals), 6_000, False
        found["Accord, accord play"] = together, 6_000, False
        missing = _missing_of_node(folder)
        if missing or folder is None:
            print(f"boardgame.io is skipped: {missing}", file=sys.stderr)
        else:
            bare = partial(boardgame, lambda port, pairs: [node("bare", port, str(pairs))], folder)
            found["boardgame.io, bare sockets"] = bare, 4_000, True
            own = partial(
                boardgame, lambda port, pairs: [node("player", seat, port, str(pairs)) for seat in "01"], folder
            )
            found["boardgame.io, its own clients"] = own, 4_000, True
        if (python.parent / "pelita").exists():
            found["Pelita"] = partial(pelita, python), 2_000, False
        else:
            print(f"Pelita is skipped: {python} does not have the package pelita; --pelita PYTHON", file=sys.stderr)
        yield found


def _missing_of_node(folder: Path | None) -> str:
    """Return why boardgame.io cannot be run; empty if it can."""
    if shutil.which("node") is None:
        return "there is no node"
    if folder is None:
        return "no --node FOLDER in which npm install boardgame.io socket.io-client was run"
    there = [(folder / "node_modules" / name).is_dir() for name in ("boardgame.io", "socket.io-client")]
    return "" if all(there) else f"{folder} lacks it: npm install boardgame.io socket.io-client"


# -- measuring ---------------------------------------------------------------------------------------------------------


def measured(found: Mapping[str, tuple[Played, int, bool]], pairs: int, rounds: int, part: float) -> list[Row]:
    """Have all play in turn: ``part`` of the moves that last a second is the short batch, four times that the long."""
    costs: dict[str, list[Batch]] = {name: [] for name, (_, _, many) in found.items() if many or pairs == 1}
    for number in range(rounds):
        for name in list(costs) if number % 2 == 0 else list(costs)[::-1]:
            play, moves, _ = found[name]
            short = round(part * moves / pairs) * pairs
            one, other = play(short, pairs), play(4 * short, pairs)
            more = [(long - brief) / (3 * short) for brief, long in zip(_figures(one), _figures(other), strict=True)]
            costs[name].append(Batch(*more))
    rows = []
    for name, batches in costs.items():
        seconds, server, everybody = (statistics.median(each) for each in zip(*map(_figures, batches), strict=True))
        rows.append(Row(name, pairs, 1 / seconds, 1e6 * server if server else None, 1e6 * everybody))
    return rows


def _figures(batch: Batch) -> tuple[float, float, float]:
    return batch.seconds, batch.server, batch.all


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--node", type=Path, help="a folder with node_modules/boardgame.io and socket.io-client")
    parser.add_argument(
        "--pelita", type=Path, default=Path(sys.executable), help="a Python that has the package pelita"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one short round of each, for a first look")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--chart", type=Path, help="write CPU of all programs a move, one pair, to this SVG file")
    given = parser.parse_args()
    with platforms(given.node, given.pelita) as found:
        rows = []
        for pairs in (1, 64):
            rows += measured(found, pairs, 1 if given.quick else given.rounds, 0.1 if given.quick else 1.0)
    if given.chart is not None:
        shown = sorted((row.all_us, row.platform) for row in rows if row.pairs == 1)
        named = [(name.replace("Accord", "ours", 1), cost) for cost, name in shown]
        given.chart.write_text(bars("CPU of server and players a move, one pair", named, "us"), encoding="utf-8")
    if given.json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}))
        return
    for row in rows:
        server = f"server {row.server_us:8.1f} us" if row.server_us is not None else " " * 18
        rate = f"{row.moves_per_second:9,.0f} moves/s"
        print(f"{row.pairs:3} {row.platform:32}{rate}  {server}  all {row.all_us:8.1f} us")


if __name__ == "__main__":
    main()
