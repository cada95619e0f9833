"""A server of Tsuro on raw sockets: ``tsuro_server.py PORT [STYLE]``; a style is a way to be right or wrong.

It plays a few rounds, whoever is still on the board, and judges moves by their form alone.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from random import Random
from typing import Any

RIGHT = ("plain", "trickling", "spaced")
TOKENS = ("white", "black", "red", "green", "blue")
ROUNDS = 2
REPLY_SECONDS = 10.0
TILES = (("AE", "BF", "CH", "DG"), ("AC", "BF", "DH", "EG"), ("AF", "BH", "CE", "DG"), ("AB", "CD", "EF", "GH"))
# style -> what is done to a message of that name: written twice, left out, or changed
TWICE = {"token-twice": "TOKEN", "started-twice": "STARTED", "init-twice": "INIT_REQ", "inter-twice": "INTER_REQ"}
TWICE |= {"ended-twice": "ENDED"}
LEFT_OUT = {"no-token": "TOKEN", "no-started": "STARTED", "no-init": "INIT_REQ", "no-inter": "INTER_REQ"}
LEFT_OUT |= {"no-end": "ENDED"}
WRONG: dict[str, tuple[str, Any]] = {
    "purple": ("TOKEN", lambda _: "purple"),
    "token-is-a-number": ("TOKEN", lambda _: 5),
    "token-in-a-list": ("TOKEN", lambda token: [token]),
    "start": ("STARTED", lambda _: "start"),
    "hand-of-two-first": ("INIT_REQ", lambda said: [said[0], said[1][:2]]),
    "hand-of-four-first": ("INIT_REQ", lambda said: [said[0], [*said[1], said[1][0]]]),
    "no-hand-first": ("INIT_REQ", lambda said: said[:1]),
    "nine-columns": ("INIT_REQ", lambda said: [[said[0][0][:9], said[0][1]], said[1]]),
    "nine-rows": ("INIT_REQ", lambda said: [[[one[:9] for one in said[0][0]], said[0][1]], said[1]]),
    "no-starts": ("INIT_REQ", lambda said: [said[0][:1], said[1]]),
    "small-ports": ("INIT_REQ", lambda said: [said[0], json.loads(json.dumps(said[1]).lower())]),
    "an-object": ("INIT_REQ", lambda said: {"board": said[0], "hand": said[1]}),
    "hand-of-three-later": ("INTER_REQ", lambda said: [said[0], [*said[1], said[1][0]]]),
    "hand-of-one-later": ("INTER_REQ", lambda said: [said[0], said[1][:1]]),
    "texts-for-numbers": (
        "INTER_REQ", lambda said: [[said[0][0], [[*s[:2], str(s[2]), s[3]] for s in said[0][1]]], said[1]]
    ),
    "off-the-board": ("INTER_REQ", lambda said: [[said[0][0], [[*s[:2], 10, s[3]] for s in said[0][1]]], said[1]]),
    "end-of-two": ("ENDED", lambda said: said[:2]),
    "flat-ranks": ("ENDED", lambda said: [[name for rank in said[0] for name in rank], *said[1:]]),
    "losers-as-text": ("ENDED", lambda said: [said[0], "nobody", said[2]]),
    "other-message-first": ("INIT_REQ", lambda said: [said[0], said[1][:2]]),
}  # fmt: skip


class Seat:
    def __init__(self, link: socket.socket) -> None:
        self.link, self.kept = link, b""
        self.name = self.token = ""
        self.plays = True

    def value(self, seconds: float) -> Any:
        """Return what it says, None if that is nothing or no JSON."""
        until = time.monotonic() + seconds
        while b"\n" not in self.kept:
            self.link.settimeout(max(0.001, until - time.monotonic()))
            try:
                chunk = self.link.recv(65536)
            except OSError:
                return None
            if not chunk:
                return None
            self.kept += chunk
        line, self.kept = self.kept.split(b"\n", 1)
        try:
            return json.loads(line) if line.strip() else self.value(until - time.monotonic())
        except ValueError:
            return None


class Server:
    def __init__(self, style: str) -> None:
        self.style = style
        self.chance = Random(style)
        self.seats: list[Seat] = []
        self.grid: list[list[Any]] = [[None] * 10 for _ in range(10)]
        self.starts: list[Any] = []

    def say(self, seat: Seat, name: str, said: Any) -> None:
        style = self.style
        if LEFT_OUT.get(style) == name:
            return
        if style in WRONG and WRONG[style][0] == name:
            said = WRONG[style][1](said)
        data = json.dumps(said).encode() + b"\n"
        if style == "half-a-request" and name == "INIT_REQ":
            data = data[:40]
        if style == "spaced":
            data = data.replace(b",", b" ,  ")
        try:
            for piece in [data[at : at + 7] for at in range(0, len(data), 7)] if style == "trickling" else [data]:
                seat.link.sendall(piece)
            if TWICE.get(style) == name:
                seat.link.sendall(data)
        except OSError:
            return
        if style == "half-a-request" and name == "INIT_REQ":
            sys.exit(0)

    def tiles(self, count: int) -> list[Any]:
        return [[[*link] for link in self.chance.choice(TILES)] for _ in range(count)]

    def board(self) -> list[Any]:
        return [self.grid, self.starts]

    def take(self, door: socket.socket) -> None:
        while len(self.seats) < len(TOKENS):
            seat = Seat(door.accept()[0])
            if self.style == "speaks-first":
                seat.link.sendall(b'"welcome"\n')
            name = seat.value(REPLY_SECONDS)
            if not isinstance(name, str):
                seat.link.close()
                continue
            seat.name, seat.token = name, TOKENS[len(self.seats)]
            if self.style == "turns-all-away":
                seat.link.close()
            self.seats.append(seat)
            self.say(seat, "TOKEN", seat.token)
            if self.style == "starts-with-one":
                self.say(seat, "STARTED", "started")

    def ask(self, seat: Seat, name: str, count: int, length: int) -> Any:
        self.say(seat, name, [self.board(), self.tiles(count)])
        if self.style == "impatient" and name == "INIT_REQ":
            self.say(self.seats[-1], "INTER_REQ", [self.board(), self.tiles(2)])
        if self.style == "drops-who-it-asked" and name == "INIT_REQ":
            seat.link.close()
        said = seat.value(REPLY_SECONDS)
        if self.style == "thanks" and said is not None:
            seat.link.sendall(b'"thanks"\n')
        if isinstance(said, list) and len(said) == length and all(one in range(10) for one in said[-2:]):
            return said
        seat.plays = False
        return None

    def play(self) -> None:
        style = self.style
        for seat in self.seats:
            self.say(seat, "STARTED", "started")
        if style == "stops":
            time.sleep(60)
        if style == "leaves":
            return
        if style == "asks-all-at-once":
            for seat in self.seats:
                self.say(seat, "INIT_REQ", [self.board(), self.tiles(3)])
        for seat in reversed(self.seats) if style == "last-first" else self.seats:
            said = self.ask(seat, "INIT_REQ", 3, 5)
            if said:
                _, tile, port, x, y = said
                self.grid[x][y] = tile
                self.starts.append([seat.token, port, x, y])
            if style == "ends-too-soon":
                break
        for _ in range(ROUNDS):
            for seat in self.seats:
                if seat.plays and style != "ends-too-soon":
                    said = self.ask(seat, "INTER_REQ", 2, 3)
                    if said:
                        self.grid[said[1]][said[2]] = said[0]
                if style == "ends-within-a-round" and seat is self.seats[1]:
                    self.end()
                    return
        self.end()

    def end(self) -> None:
        ranks = [[seat.name for seat in self.seats if seat.plays]]
        losers = [seat.name for seat in self.seats if not seat.plays]
        for seat in self.seats[: 1 if self.style == "ends-for-one" else None]:
            self.say(seat, "ENDED", [ranks, losers, self.board()])
        if self.style == "goes-on":
            self.say(self.seats[0], "INTER_REQ", [self.board(), self.tiles(2)])
        if self.style == "stays":
            time.sleep(60)


def main(port: int, style: str) -> None:
    with socket.create_server(("127.0.0.1", port)) as door:
        server = Server(style)
        server.take(door)
        server.play()
        for seat in server.seats:
            seat.link.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "plain")
