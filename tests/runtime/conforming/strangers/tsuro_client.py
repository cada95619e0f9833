"""A client of Tsuro on a raw socket: ``tsuro_client.py HOST PORT [STYLE]``; a style is a way to be right or wrong."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

PORTS = "ABCDEFGH"
ACROSS = {"A": (0, -1, "F"), "B": (0, -1, "E"), "C": (1, 0, "H"), "D": (1, 0, "G"),
          "E": (0, 1, "B"), "F": (0, 1, "A"), "G": (-1, 0, "D"), "H": (-1, 0, "C")}  # fmt: skip
RIGHT = ("plain", "trickling", "spaced", "floats", "slow", "crlf", "looks-first")


def inside(x: int, y: int) -> bool:
    return 0 <= x < 10 and 0 <= y < 10


def walk(grid: Any, port: str, x: int, y: int) -> tuple[str, int, int]:
    while inside(x, y) and grid[x][y]:
        port = next(b if a == port else a for a, b in grid[x][y] if port in (a, b))
        dx, dy, port = ACROSS[port]
        x, y = x + dx, y + dy
    return port, x, y


def turns(tile: Any) -> Iterator[Any]:
    for quarter in range(4):
        yield [[PORTS[(PORTS.index(port) + 2 * quarter) % 8] for port in link] for link in tile]


def stays(grid: Any, tile: Any, port: str, x: int, y: int) -> bool:
    grid[x][y] = tile
    found = walk(grid, port, x, y)
    grid[x][y] = None
    return inside(*found[1:])


def first(grid: Any, hand: Any, token: Any) -> list[Any]:
    for x in range(10):
        for y in range(10):
            for port in PORTS:
                beside = [(x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
                edge = not inside(x + ACROSS[port][0], y + ACROSS[port][1])
                if edge and not any(grid[i][j] for i, j in beside if inside(i, j)):
                    for tile in hand:
                        for turned in turns(tile):
                            if stays(grid, turned, port, x, y):
                                return [token, turned, port, x, y]
    raise SystemExit("there is no place to begin")


def later(grid: Any, starts: Any, hand: Any, token: Any) -> list[Any]:
    port, x, y = next(walk(grid, *start[1:]) for start in starts if start[0] == token)
    options = [turned for tile in hand for turned in turns(tile)]
    best = [tile for tile in options if stays(grid, tile, port, x, y)] or options
    return [best[0], x, y]


class Client:
    def __init__(self, host: str, port: str, style: str) -> None:
        self.style = style
        if style == "looks-first":  # whether the server is up yet
            socket.create_connection((host, int(port))).close()
        self.socket = socket.create_connection((host, int(port)))
        self.kept = b""
        self.asked = 0

    def say(self, value: Any, end: bytes = b"\n") -> None:
        data = json.dumps(value).encode() + end
        if self.style == "spaced":
            data = data.replace(b",", b" ,  ")
        if self.style == "crlf":
            data = data.replace(b"\n", b"\r\n")
        if self.style == "trickling":
            for at in range(len(data)):
                self.socket.sendall(data[at : at + 1])
            return
        self.socket.sendall(data)

    def lines(self) -> Iterator[Any]:
        while True:
            if self.style == "no-buffer":
                chunk = self.socket.recv(65536)
                if not chunk:
                    return
                yield json.loads(chunk)
                continue
            while b"\n" not in self.kept:
                chunk = self.socket.recv(65536)
                if not chunk:
                    if self.style == "hangs-on-loss":
                        time.sleep(60)
                    return
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
        if style == "leaves-at-once":
            return
        self.say("x" * 101 if style == "name-too-long" else 5 if style == "name-is-a-number" else "stranger")
        if style == "double-join":
            self.say("stranger")
        token = None
        for said in self.lines():
            if token is None:
                token = said
                if style == "leaves-after-token":
                    return
                if style == "early-move":
                    self.say(["white", [["A", "E"], ["B", "F"], ["C", "G"], ["D", "H"]], "A", 0, 0])
            elif said == "started":
                if style == "answers-started":
                    self.say("thanks")
            elif len(said) == 3:
                if style == "after-the-end":
                    self.say([[["A", "E"], ["B", "F"], ["C", "G"], ["D", "H"]], 0, 0])
                if style == "ignores-the-end":
                    time.sleep(60)
                return
            else:
                (grid, starts), hand = said
                self.move(token, grid, starts, hand)

    def move(self, token: Any, grid: Any, starts: Any, hand: Any) -> None:
        style = self.style
        self.asked += 1
        if style == "slow":
            time.sleep(0.3)
        if len(hand) == 3:
            answer = first(grid, hand, token)
            wrong: dict[str, Any] = {
                "wrong-token": ["white" if token != "white" else "black", *answer[1:]],
                "no-such-token": ["purple", *answer[1:]],
                "small-port": [*answer[:2], answer[2].lower(), *answer[3:]],
                "text-for-number": [*answer[:3], str(answer[3]), answer[4]],
                "in-the-middle": [*answer[:3], 5, 5],
                "too-short": answer[:-1],
                "too-long": [*answer, 0],
                "an-object": {"token": token},
                "three-links": [token, answer[1][:3], *answer[2:]],
                "off-the-board": [*answer[:3], 12, answer[4]],
                "half": answer,
                "no-newline": answer,
                "shape-of-the-other": answer[1:2] + answer[3:],
            }
            answer = wrong.get(style, answer)
            if style == "never-answers":
                time.sleep(60)
            if style == "thinks-too-long":
                time.sleep(11)
            if style == "floats":
                answer[3:] = [float(one) for one in answer[3:]]
            if style == "half":
                self.socket.sendall(json.dumps(answer).encode()[:20])
                sys.exit(0)
            self.say(answer, b"" if style == "no-newline" else b"\n")
            if style == "double-move":
                self.say(answer)
            if style == "leaves-after-move":
                sys.exit(0)
        else:
            answer = later(grid, starts, hand, token)
            if style == "other-square":
                answer[1] = (answer[1] + 3) % 10
            if style == "foreign-tile":
                answer[0] = [["A", "B"], ["C", "D"], ["E", "F"], ["G", "H"]]
            if style == "initial-again":
                answer = [token, answer[0], "A", *answer[1:]]
            if style == "second-late" and self.asked == 3:
                time.sleep(60)
            self.say(answer)
            if style == "double-second":
                self.say(answer)


if __name__ == "__main__":
    Client(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "plain").play()
