"""Who is right is not accused: right programs, seed after seed, while this machine is kept busy.

    python -m benchmarks.conformance --seeds 50 --load 4

For each program a line: how many cases were right, open or a fault, and what was told as a fail, which should be
nothing. ``--load`` processes reckon meanwhile without pause.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.runtime.conforming.strangers import smtp_server, tsuro_client
from tests.runtime.conforming.test_own_programs import judged_roles, own_program

HERE = Path(__file__).resolve().parents[1]
STRANGERS = HERE / "tests" / "runtime" / "conforming" / "strangers"
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
    for style in tsuro_client.RIGHT:
        command = f"{python} {STRANGERS / 'tsuro_client.py'} {{host}} {{port}} {style}"
        yield RightProgram(f"tsuro client, {style}", "tsuro", "client", command)
    for style in smtp_server.RIGHT:
        yield RightProgram(
            f"smtp server, {style}", "smtp", "server", f"{python} {STRANGERS / 'smtp_server.py'} {{port}} {style}"
        )
    for spec, role in judged_roles():
        yield RightProgram(f"accord, {spec} {role}", spec, role, own_program(spec, role))


def accused(program: RightProgram, seeds: int, only: Sequence[str] = ("*",)) -> Accused:
    """Ask about a program, with games of so many seeds from each seat."""
    words = [sys.executable, "-m", "runtime", "conform", program.spec, program.role, "--run", program.command, "--json"]
    words += ["--seeds", str(seeds), "--budget", str(BUDGET_SECONDS)]
    words += [word for one in only for word in ("--only", one)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=HERE)
    told = json.loads(done.stdout)
    fails = tuple(one["id"] for one in told["requirements"] if one["verdict"] == "fail" and one["class"] == "must")
    return Accused(Counter(one["outcome"] for one in told["cases"]), fails, told["seconds"])


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
    given = asked.parse_args()
    wrong = 0
    with busy(given.load):
        for program in right_programs():
            if given.programs in program.name:
                found = accused(program, given.seeds)
                counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(found.outcomes.items()))
                print(f"{program.name:<40} {counts}   {found.seconds:.0f} s   {' '.join(found.fails)}", flush=True)
                wrong += len(found.fails)
    print(f"{wrong} musts were told as failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
