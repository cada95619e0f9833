"""Programs that misbehave, in 21 ways, among players who do not.

``python -m tests.runtime.tournament.misbehaving 200`` holds an event of Tsuro with so many such programs and half as
many honest players, prints how it went, and fails if an honest player is at fault or is placed behind or beside one of
them, or a loss has another reason than its way.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

ASKED: Final = "for line in sys.stdin:\n    if '\"ask\"' in line: break\n"
WAYS: Final[dict[str, tuple[str, str]]] = {  # what its program does, and the reason that it is to be told
    "ends": ("", r"exit: .*ended with exit code 0"),
    "fails": ("import nothing_like_it", r"crash: .*ended with exit code 1; it said: ModuleNotFoundError"),
    "raises": (f"{ASKED}1 / 0", r"crash: .*ended with exit code 1; it said: ZeroDivisionError"),
    "aborts": (f"{ASKED}os.abort()", r"crash: .*was ended by signal 6"),
    "silent": ("signal.pause()", r"late: "),
    "deaf": ("os.close(0); signal.pause()", r"late: "),
    "dumb": (f"{ASKED}os.close(1); signal.pause()", r"exit: .*closed its output"),
    "half": (f"{ASKED}os.write(1, b'[1, '); signal.pause()", r"late: "),
    "prose": (f"{ASKED}print('my move is', 7, flush=True); signal.pause()", r"malformed: .*no JSON: 'my move is 7'"),
    "binary": (f"{ASKED}os.write(1, bytes(range(256)) + b'\\n'); signal.pause()", r"malformed: .*no JSON"),
    "nested": (f"{ASKED}os.write(1, b'[' * 50000 + b']' * 50000 + b'\\n'); signal.pause()", r"malformed: .*no JSON"),
    "number": (f"{ASKED}print(10 ** 4000, flush=True); signal.pause()", r"(malformed|unknown|wrong type): "),
    "other": (f"{ASKED}print(json.dumps({{'move': 7}}), flush=True); signal.pause()", r"(unknown|wrong type): "),
    "wrong": (
        f"{ASKED}print(json.dumps(['red', 'x', 'y', 1, 2]), flush=True); signal.pause()",
        r"(unknown|wrong type)",
    ),
    "illegal": (f"{ASKED}print(illegal(line), flush=True); signal.pause()", r"illegal: "),
    "endless": ("while True: os.write(1, b'x' * 65536)", r"flood: "),
    "chatter": ("while True: os.write(1, b'[1]\\n' * 16384)", r"(flood|wrong type): "),  # a line of it may be taken
    "complains": ("while True: os.write(2, b'x' * 80 + b'\\n')", r"flood: it wrote more than 4 MiB"),
    "hoards": ("held = [os.urandom(1 << 20) for _ in range(400)]; signal.pause()", r"memory: it held \d+ MiB"),
    "forks": (
        "for _ in range(30):\n    if not os.fork(): os.setsid(); break\nsignal.pause()",
        r"processes: it had \d+ processes at a time, and may have 20",
    ),
    "absent": ("", r"cannot start: .*[Nn]o such file"),
}
PREAMBLE: Final = """import json, os, signal, sys
def illegal(line):  # a tile that it does not hold, in the middle of the board
    token = json.loads(line)["arguments"]["token"]
    return json.dumps([token, [["A", "B"], ["C", "D"], ["E", "F"], ["G", "H"]], "A", 5, 5])
"""
EVENT: Final = """
event: misbehaving
spec: tsuro
settings: {reply: REPLY s, think: THINK s}
seed: 11
format: {groups: 3..5, rounds: 1}
limits: {start: 2 s, memory: 128 MiB, processes: 20, output: 4 MiB}
players:
"""


def write_event(folder: Path, ways: Sequence[str], honest: int, reply: int) -> Path:
    """Write the event's file, with a program of each of ``ways`` in a folder of its own; return its path.

    ``reply`` is the time for an answer in seconds.
    """
    lines = [EVENT.replace("REPLY", str(reply)).replace("THINK", str(reply - 1)).strip("\n")]
    for number in range(max(len(ways), honest)):
        if number < honest:
            lines.append(f"  honest{number}: {{kind: {'second' if number % 2 else 'random'}}}")
        if number < len(ways):
            way, name = ways[number], f"{ways[number]}{number}"
            (folder / name).mkdir()
            (folder / name / "bot.py").write_text(PREAMBLE + WAYS[way][0])
            command = "./no-such-bot" if way == "absent" else f"{sys.executable} bot.py"
            lines.append(f"  {name}: {{command: {command}, folder: {name}}}")
    path = folder / "misbehaving.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def wrongs(facts: dict[str, Any]) -> list[str]:
    """Return what is wrong with the results of such an event, a line each."""
    found = [f"{match} was given up" for match in facts["void"]]
    for match in facts["matches"]:
        honest = [one for one in match["places"] if one["player"].startswith("honest")]
        for one in match["places"]:
            about = f"{match['match']}: {one['player']} at place {one['place']}: {one['fault']}"
            if one in honest:
                found += [about] if one["fault"] else []
                continue
            expected = WAYS[one["player"].rstrip("0123456789")][1]
            if not one["fault"] or not re.match(expected, one["fault"]):
                found.append(f"{about}, and not {expected}")
            found += [f"{about}, not behind {other['player']}" for other in honest if other["place"] >= one["place"]]
    return found


def main(programs: int) -> int:
    """Hold the event and tell of it; return an exit code."""
    with TemporaryDirectory() as folder:
        path = write_event(Path(folder), [*islice(cycle(WAYS), programs)], programs // 2, 10)
        began = time.monotonic()
        words = [sys.executable, "-m", "runtime", "tournament", "run", str(path), "--json", "--quiet", "--no-ratings"]
        facts = json.loads(subprocess.run(words, check=False, capture_output=True, text=True).stdout)
        took = time.monotonic() - began
    kinds = Counter(
        one["fault"].partition(":")[0] for match in facts["matches"] for one in match["places"] if one["fault"]
    )
    found = wrongs(facts)
    sys.stdout.write(
        f"{programs} programs, {programs // 2} honest players, {facts['played']} matches in {took:.0f} s\n"
    )
    sys.stdout.write(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) + "\n")
    sys.stdout.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
