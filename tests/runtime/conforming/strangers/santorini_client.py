"""A client of official Santorini on a raw socket: ``santorini_client.py HOST PORT [STYLE]``; a style is a way to be
right or wrong.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

SIDE, TOP, CAP = 6, 3, 4
EAST_WEST = ("WEST", "PUT", "EAST")
NORTH_SOUTH = ("NORTH", "PUT", "SOUTH")
AROUND = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]
NAMES = {"namesake": "ann", "name-in-capitals": "Ann", "no-name": "", "number-in-name": "ann1"}
NAMES |= {"name-too-long": "a" * 101}
RIGHT = (
    "plain",
    "trickling",
    "spaced",
    "slow",
    "crlf",
    "bare",
    "namesake",
    "short-names",
    "builds-as-it-wins",
    "resigns",
)
WRONG_PLACE: dict[str, Callable[[Any], Any]] = {
    "off-the-board": lambda place: [SIDE, place[1]],
    "texts-for-numbers": lambda place: [str(one) for one in place],
    "halves": lambda place: [place[0] + 0.5, place[1]],
    "truths": lambda place: [True, False],
    "place-of-three": lambda place: [*place, 0],
    "place-of-one": lambda place: place[:1],
    "both-places": lambda place: [place, place],
    "an-object": lambda place: {"column": place[0], "row": place[1]},
    "json-in-a-text": json.dumps,
    "null": lambda place: None,
    "turn-for-place": lambda place: ["stranger1", "EAST", "PUT", "EAST", "PUT"],
}
WRONG_TURN: dict[str, Callable[[Any], Any]] = {
    "third-worker": lambda turn: ["stranger3", *turn[1:]],
    "worker-is-a-number": lambda turn: [1, *turn[1:]],
    "small-letters": lambda turn: [turn[0], *(one.lower() for one in turn[1:])],
    "north-first": lambda turn: [turn[0], turn[2], turn[1], *turn[3:]],
    "turn-of-four": lambda turn: turn[:4],
    "turn-in-pairs": lambda turn: [turn[0], turn[1:3], turn[3:]],
    "turn-in-a-list": lambda turn: [turn],
    "stays": lambda turn: [turn[0], "PUT", "PUT", *turn[3:]],
    "builds-below-itself": lambda turn: [*turn[:3], "PUT", "PUT"],
    "does-not-build": lambda turn: turn[:3],
    "place-for-turn": lambda turn: [0, 0],
    "gives-up-for-another": lambda turn: "somebody",
    "gives-up-in-words": lambda turn: "I give up",
}
Board = dict[tuple[int, int], tuple[int, str]]  # (row, column) to its height and who stands there


def read(rows: Any) -> Board:
    """Return the cells of a board; what is missing is of height 0, and nobody is there."""
    found = {(row, column): (0, "") for row in range(SIDE) for column in range(SIDE)}
    for row, cells in enumerate(rows):
        for column, said in enumerate(cells):
            found[row, column] = (int(str(said)[0]), str(said)[1:])
    return found


def turns(board: Board, me: str) -> Iterator[tuple[int, list[Any]]]:
    """Yield all that one may do, each with the height that it leads to."""
    for (row, column), (height, worker) in board.items():
        if worker[:-1] != me or not worker:
            continue
        for down, right in AROUND:
            there = row + down, column + right
            high, who = board.get(there, (CAP, ""))
            if who or high > min(height + 1, TOP):
                continue
            step = [worker, EAST_WEST[right + 1], NORTH_SOUTH[down + 1]]
            if high == TOP:
                yield high, step
                continue
            for south, east in AROUND:
                built, stands = board.get((there[0] + south, there[1] + east), (CAP, ""))
                if built < CAP and stands in ("", worker):
                    yield high, [*step, EAST_WEST[east + 1], NORTH_SOUTH[south + 1]]


class Client:
    def __init__(self, host: str, port: str, style: str) -> None:
        self.style = style
        self.socket = socket.create_connection((host, int(port)))
        self.kept = b""
        self.me = NAMES.get(style, "stranger")
        self.asked = 0

    def say(self, value: Any) -> None:
        data = json.dumps(value).encode() + (b"" if self.style == "bare" else b"\n")
        if self.style == "spaced":
            data = b" " + data.replace(b",", b"\t,  ").replace(b"[", b"[ ")
        if self.style == "crlf":
            data = b"\r\n" + data.replace(b"\n", b"\r\n")
        for at in range(0, len(data), 1 if self.style == "trickling" else len(data)):
            self.socket.sendall(data[at : at + 1] if self.style == "trickling" else data)

    def lines(self) -> Iterator[Any]:
        while True:
            while b"\n" not in self.kept or self.style == "no-buffer":
                chunk = self.socket.recv(65536)
                if not chunk:
                    if self.style == "hangs-on-loss":
                        time.sleep(60)
                    return
                if self.style == "no-buffer":
                    yield json.loads(chunk)
                self.kept += chunk
            line, self.kept = self.kept.split(b"\n", 1)
            if self.style == "rest-lost":
                self.kept = b""
            if line.strip():
                yield json.loads(line)

    def play(self) -> None:
        style = self.style
        if style == "silent-at-first":
            time.sleep(60)
        self.say(5 if style == "name-is-a-number" else ["stranger"] if style == "name-in-a-list" else self.me)
        if style == "two-names":
            self.say("another")
        if style == "leaves-at-once":
            return
        for said in self.lines():
            if isinstance(said, str):
                if style == "greets-opponents":
                    self.say("hello")
                if style == "leaves-opponents":
                    return
            elif said and said[0] == "playing-as":
                self.me = self.me if style == "keeps-its-name" else said[1]
            elif not said or (len(said[0]) == 3 and isinstance(said[0][1], int)):
                self.place(said)
            elif any(isinstance(cell, int) or cell[0].isdigit() for row in said for cell in row):
                self.turn(read(said))
            else:
                if style == "ignores-the-end":
                    time.sleep(60)
                return

    def place(self, workers: Any) -> None:
        style = self.style
        if style == "never-places":
            time.sleep(60)
        taken = [(column, row) for _, column, row in workers]
        free = ((column, row) for row in (2, 3) for column in (2, 3, 1, 4))
        place: Any = list(next(one for one in free if one not in taken))
        if style == "place-taken" and taken:
            place = list(taken[0])
        place = WRONG_PLACE.get(style, list)(place)
        if style == "half-a-place":
            self.socket.sendall(b"[2,")
            sys.exit(0)
        if style == "garbage":
            self.socket.sendall(b"two, three\n")
            return
        self.say(place)
        if style == "places-twice":
            self.say(place)
        if style == "leaves-once-placed" and len(workers) > 1:
            sys.exit(0)
        if style == "moves-unasked":
            self.say([f"{self.me}1", "EAST", "PUT", "EAST", "PUT"])

    def turn(self, board: Board) -> None:
        style = self.style
        self.asked += 1
        if style == "slow":
            time.sleep(0.15)
        if style == "never-moves" or (style == "second-late" and self.asked == 2):
            time.sleep(60)
        if style == "resigns" and self.asked > 2:
            self.say(self.me)
            return
        if style == "gives-up-and-moves":
            self.say(self.me)
        if style == "leaves-when-asked":
            sys.exit(0)
        self.say(self.wrong(board, max(turns(board, self.me), key=lambda one: one[0])[1]))
        if style == "moves-twice":
            self.say([f"{self.me}1", "EAST", "PUT", "EAST", "PUT"])

    def wrong(self, board: Board, turn: list[Any]) -> Any:
        """Return what is said for a turn in this style."""
        style = self.style
        if style == "short-names":
            return [turn[0][-1], *turn[1:]]
        if style == "builds-as-it-wins" and len(turn) == 3:
            return [*turn, "EAST", "PUT"]
        if style == "keeps-its-name" and self.me not in {who[:-1] for _, who in board.values()}:
            return self.me
        if style in WRONG_TURN:
            return WRONG_TURN[style](turn)
        if style == "foreign-worker":
            return [next(who for _, who in board.values() if who and who[:-1] != self.me), *turn[1:]]
        if style == "leaps":  # to where one cannot step: the two stand side by side
            row, column = next(cell for cell, (_, who) in board.items() if who == turn[0])
            down, right = next(
                (down, right) for down, right in AROUND if board.get((row + down, column + right), (0, "x"))[1]
            )
            return [turn[0], EAST_WEST[right + 1], NORTH_SOUTH[down + 1], *turn[3:]]
        return turn


if __name__ == "__main__":
    Client(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "plain").play()
