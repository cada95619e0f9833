"""Who is right is not accused: right programs, seed after seed, while this machine is kept busy.

    python -m benchmarks.conformance --seeds 50 --load 4

For each program a line: how many cases were right, open or a fault, and what was told as a fail, which should be
nothing, of any class. ``--load`` processes reckon meanwhile without pause; with ``--stops`` programs and ``accord
conform`` itself are stopped now and then for up to a second. ``--only`` takes requirements as ``accord conform`` does.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.runtime.conforming.strangers import santorini_client, smtp_server, tsuro_client, tsuro_server
from tests.runtime.conforming.test_own_programs import judged_roles, own_program

HERE = Path(__file__).resolve().parents[1]
STRANGER_PROGRAMS = (
    ("tsuro", "client", tsuro_client, "{host} {port}"),
    ("tsuro", "server", tsuro_server, "{port}"),
    ("santorini-official", "client", santorini_client, "{host} {port}"),
    ("smtp", "server", smtp_server, "{port}"),
)
BUDGET_SECONDS = 3600
LOAD = "while True: sum(range(10_000))"


@dataclass(frozen=True, slots=True)
class RightProgram:
    """A program that keeps to its role: what it is called, the spec, the role, and the command that starts it."""

    name: str
    spec: str
    role: str
    command: str


@dataclass(frozen=True, slots=True)
class Accused:
    """What came of all cases of a program: how many ended in which way, and the requirements told as failed."""

    outcomes: Counter[str]
    fails: tuple[str, ...]
    seconds: float


def right_programs() -> Iterator[RightProgram]:
    """Yield programs that know nothing of Accord, in each of their styles; then Accord itself in every role."""
    python = shlex.quote(sys.executable)
    for spec, role, program, where in STRANGER_PROGRAMS:
        for style in program.RIGHT:
            command = f"{python} {shlex.quote(str(program.__file__))} {where} {style}"
            yield RightProgram(f"{spec} {role}, {style}", spec, role, command)
    for spec, role in judged_roles():
        yield RightProgram(f"accord, {spec} {role}", spec, role, own_program(spec, role))


def accused(program: RightProgram, seeds: int, only: Sequence[str] = ("*",), *, stops: bool = False) -> Accused:
    """Ask about a program, with games of so many seeds from each seat."""
    words = [sys.executable, "-m", "runtime", "conform", program.spec, program.role, "--run", program.command, "--json"]
    words += ["--seeds", str(seeds), "--budget", str(BUDGET_SECONDS)]
    words += [word for one in only for word in ("--only", one)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=HERE)
    over = threading.Event()
    stopper = threading.Thread(target=stop_now_and_then, args=(running.pid, over))
    if stops:
        stopper.start()
    told = json.loads(running.communicate()[0])
    over.set()
    fails = tuple(one["id"] for one in told["requirements"] if one["verdict"] == "fail")
    return Accused(Counter(one["outcome"] for one in told["cases"]), fails, told["seconds"])


def stop_now_and_then(judge: int, over: threading.Event) -> None:
    """Stop the judge, or a program that it has started, for up to a second each few seconds, until it is over."""
    chance = Random(judge)
    while not over.wait(chance.uniform(0.5, 4.0)):
        with suppress(OSError):
            started = Path(f"/proc/{judge}/task/{judge}/children").read_text().split()
            whom = int(chance.choice([str(judge), *started]))
            os.kill(whom, signal.SIGSTOP)
            over.wait(chance.uniform(0.1, 1.0))
            os.kill(whom, signal.SIGCONT)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep this machine busy with so many processes."""
    running = [subprocess.Popen([sys.executable, "-c", LOAD]) for _ in range(count)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seeds", type=int, default=50)
    asked.add_argument("--load", type=int, default=4)
    asked.add_argument("--programs", default="", help="only those whose name has this in it")
    asked.add_argument("--only", action="append", default=[], help="only requirements of this id")
    asked.add_argument("--stops", action="store_true", help="stop programs, and the judge, for up to a second")
    given = asked.parse_args()
    wrong = 0
    with busy(given.load):
        for program in right_programs():
            if given.programs in program.name:
                found = accused(program, given.seeds, given.only or ("*",), stops=given.stops)
                counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(found.outcomes.items()))
                print(f"{program.name:<40} {counts}   {found.seconds:.0f} s   {' '.join(found.fails)}", flush=True)
                wrong += len(found.fails)
    print(f"{wrong} requirements were told as failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
