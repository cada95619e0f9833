"""A crowd in one process, without sockets: sessions made, games side by side in one, their memory.

    python -m benchmarks.crowd [--games N] [--json]

A session for each connection is one of the mail server, up to its greeting. The games are those of `hall.yaml`: two
players each, all in one session, every game some moves in. Memory is what the process has grown by since all was
loaded; sockets, connections of the runtime and their tasks are not in it.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path
from typing import Final

from benchmarks.engine import RULES, move
from benchmarks.growth import HALL
from machines.effects import Send
from machines.engine.session import Program, Session
from machines.parser.loader import load, load_text, rules_modules

MOVES: Final = 4  # of each game, before its memory is measured
SESSIONS: Final = 500


def resident_bytes() -> int:
    """Return the memory that this process has."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def session_us() -> float:
    """Return the microseconds of CPU that a session takes from its making to its greeting, the least of five."""
    program = Program(load("smtp"), "server", {})
    found = []
    for _ in range(5):
        before = time.process_time()
        kept = [Session(program) for _ in range(SESSIONS)]
        for session in kept:
            session.start(0.0)
        found.append(1e6 * (time.process_time() - before) / SESSIONS)
    return min(found)


def crowd(games: int) -> dict[str, float]:
    """Return what so many games side by side in one session cost: CPU to seat all, a move, memory."""
    text = HALL.read_text(encoding="utf-8").replace("parallel: 64", f"parallel: {games}")
    settings = {"seats": str(2 * games), "turns": "1000", "sign_up": "never"}
    spec = load_text(text, "hall.yaml", folder=HALL.parent, settings=settings, rules=RULES)
    session = Session(Program(spec, "server", rules_modules(spec, RULES)))
    gc.collect()
    empty, began = resident_bytes(), time.process_time()
    session.start(0.0)
    for index in range(2 * games):
        number, _ = session.connect(0.0)
        session.receive(number, json.dumps(["join", f"p{index}"]).encode() + b"\n", 0.0)
    seated = time.process_time()
    for turn in range(MOVES):
        for game in range(games):
            said = session.receive(2 * game + (turn & 1), move(turn), 0.0)
            assert any(isinstance(effect, Send) for effect in said), "each move is answered"
    played = time.process_time()
    assert session.ended is None, session.ended
    gc.collect()
    return {
        "connections": 2 * games,
        "seated_s": round(seated - began, 2),
        "move_us": round(1e6 * (played - seated) / (MOVES * games), 1),
        "memory_mb": round((resident_bytes() - empty) / 1e6, 1),
    }


def main() -> None:
    """Measure, and tell it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=9500)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = {"session_us": round(session_us(), 1), **crowd(asked.games)}
    print(json.dumps(found) if asked.json else "\n".join(f"{name:12} {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
