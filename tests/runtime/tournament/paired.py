"""A Swiss event in Sticks with players that come with it: ``python -m tests.runtime.tournament.paired 300 9``.

It plays so many players over so many rounds, prints how long that took, and fails if any pairing is wrong. A third
number says how many matches are played at a time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

EVENT = """
event: swiss
spec: sticks
settings: {sticks: 9, reply: 100 s, think: 90 s, again: 1000}
seed: 9
format: {swiss: ROUNDS}
WORKERS
players:
"""


def write_event(folder: Path, players: int, rounds: int, workers: int | None = None) -> Path:
    """Write the event's file and return its path."""
    at_once = f"at_once: {workers}" if workers else ""
    lines = [EVENT.replace("ROUNDS", str(rounds)).replace("WORKERS", at_once).strip("\n")]
    lines += [f"  player{number}: {{kind: random}}" for number in range(players)]
    path = folder / "swiss.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def wrongs(facts: dict[str, Any], players: int, rounds: int) -> list[str]:
    """Return what is wrong with the pairings of such an event, a line each.

    Each round seats everybody once but for one bye where they are odd; nobody meets twice or has two byes; those who
    meet have about the same score; nobody is first in more than two matches beyond those in which they are second.
    """
    names = {row["player"] for row in facts["standings"]}
    tables: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for match in facts["matches"]:
        tables[match["round"]].append(match)
    found = [] if len(names) == players and sorted(tables) == [*range(1, rounds + 1)] else ["players or rounds lack"]
    met: Counter[frozenset[str]] = Counter()
    byes: Counter[str] = Counter()
    first: Counter[str] = Counter()
    score = dict.fromkeys(names, 0.0)
    for number, matches in sorted(tables.items()):
        seated = Counter(name for match in matches for name in match["seats"])
        if len(seated) != players - players % 2 or max(seated.values()) > 1:
            found.append(f"round {number} seats {len(seated)} players, one of them {max(seated.values())} times")
        for match in matches:
            one, other = match["seats"]
            met[frozenset((one, other))] += 1
            first.update({one: 1, other: -1})
            if abs(score[one] - score[other]) > 1:
                found.append(f"{match['match']}: {one} has {score[one]:g} and {other} {score[other]:g}")
        for name in names - {*seated}:
            byes[name] += 1
            score[name] += 1
        for match in matches:
            for one in match["places"]:
                score[one["player"]] += one["place"] == 1
    found += [f"{' and '.join(sorted(pair))} met {count} times" for pair, count in met.items() if count > 1]
    found += [f"{name} has {count} byes" for name, count in byes.items() if count > 1]
    found += [f"{name} is first {ahead:+d} times" for name, ahead in first.items() if abs(ahead) > 2]
    table = {row["player"]: row["points"] for row in facts["standings"]}
    return found + [
        f"{name} has {table[name]:g} points and not {worth:g}" for name, worth in score.items() if table[name] != worth
    ]


def main(players: int, rounds: int, workers: int | None = None) -> int:
    """Hold the event and tell of it; return an exit code."""
    with TemporaryDirectory() as folder:
        path = write_event(Path(folder), players, rounds, workers)
        words = [sys.executable, "-m", "runtime", "tournament", "run", str(path), "--json", "--quiet", "--no-ratings"]
        began = time.monotonic()
        facts = json.loads(subprocess.run(words, check=False, stdout=subprocess.PIPE, text=True).stdout)
        took = time.monotonic() - began
    found = wrongs(facts, players, rounds)
    rate = f"{facts['played'] / took:.1f} a second"
    sys.stdout.write(f"{players} players, {rounds} rounds, {facts['played']} matches in {took:.0f} s, {rate}\n")
    sys.stdout.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
