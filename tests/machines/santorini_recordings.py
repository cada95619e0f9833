"""The recorded tournaments of Santorini: what each server and each client said, and to whom it was about.

Programs of many people speak here. What is the same in another spelling is made the same by `meant`: boards that are
trimmed or have texts for numbers, placements in another order or under other workers' names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from rules.santorini_board import BoardError, read_board
from tests.support.shared import SHARED

TRANSCRIPTS: Final = SHARED / "cases" / "santorini" / "transcripts"

PLACED: Final = re.compile("[a-z]*[12]")
NAME: Final = re.compile("[a-z]+")

# How each recorded server holds its tournament: what to set for ours to hold the same.
SERVERS: Final[dict[str, dict[str, str]]] = {
    "mf-native": {},
    "x-mf-server-mixed": {},
    "em-native": {"stop_when_decided": "false", "alternate": "true"},
    "em-native-bad": {"stop_when_decided": "false", "alternate": "true"},
    "wu-native": {"alternate": "true"},
    "go-native": {},
    "zw-native": {"side_by_side": "4"},
    "ian-native": {"games": "1"},  # its winner is never reset, so that later games end after the placements
    "kl-native": {"column_first": "false"},
    "x-jl-server-mixed": {"column_first": "false", "stop_when_decided": "false"},
}
# Who is the earlier one of each pair is the order of sign-up; where that is not the order of names, it is said here.
SIGN_UP_ORDER: Final[dict[str, list[int]]] = {
    "kl-native": [1, 3, 2],
    "zw-native": [4, 3, 2, 1],
    "x-jl-server-mixed": [1, 2, 3, 4, 5, 6, 7],
}


@dataclass
class Half:
    """What one connection heard and said in its series against one opponent, in order, but for the opponent's name."""

    heard: list[Any] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@dataclass
class Recording:
    """One tournament. Connections are by number, ``order`` is that of sign-up; ``names`` are those played under."""

    name: str
    order: list[int]
    asked_for: dict[int, str]
    names: dict[int, str]
    lines: dict[int, list[dict[str, Any]]]
    halves: dict[tuple[int, str], Half]
    results: list[list[str]]

    def spoken(self, conn: int) -> Iterator[dict[str, Any]]:
        """Yield the lines of a connection that hold a message."""
        return (line for line in self.lines[conn] if "msg" in line)


@cache
def recording(name: str) -> Recording:
    """Read a recording."""
    lines: dict[int, list[dict[str, Any]]] = {}
    asked_for: dict[int, str] = {}
    names: dict[int, str] = {}
    halves: dict[tuple[int, str], Half] = {}
    against: dict[int, str] = {}
    results: list[list[str]] = []
    for text in (TRANSCRIPTS / f"{name}.jsonl").read_text("utf-8").splitlines():
        line = json.loads(text)
        conn = line["conn"]
        lines.setdefault(conn, []).append(line)
        if "msg" not in line:
            continue
        message = line["msg"]
        if line["dir"] == "c2s":
            if conn not in names:
                asked_for[conn] = names[conn] = message
            else:
                halves[conn, against[conn]].said.append(line["raw"])
        elif kind(message) == "renamed":
            names[conn] = message[1]
        elif kind(message) == "opponent":
            against[conn] = message
            halves.setdefault((conn, message), Half())
        elif kind(message) == "results":
            results = message
        else:
            halves[conn, against[conn]].heard.append(message)
    return Recording(name, SIGN_UP_ORDER.get(name, list(names)), asked_for, names, lines, halves, results)


def kind(message: Any) -> str:
    """Return what a message of a server is: renamed, opponent, placement, results or board."""
    if isinstance(message, str):
        return "opponent"
    if message[:1] == ["playing-as"]:
        return "renamed"
    if all(len(row) == 3 and PLACED.fullmatch(str(row[0])) and isinstance(row[1], int) for row in message):
        return "placement"
    if all(len(row) in (2, 3) and all(NAME.fullmatch(str(cell)) for cell in row) for row in message):
        return "results"
    return "board"


def meant(message: Any) -> Any:
    """Return what a message of a server means, whatever its spelling."""
    match kind(message):
        case "placement":
            return sorted((first, second) for _, first, second in message)
        case "board":
            try:
                board = read_board(message)
            except BoardError as error:
                return str(error)
            return board.heights, sorted(board.workers)
        case _:
            return message
