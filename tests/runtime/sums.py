"""A small protocol of its own for the tests of the runtime, and players for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteStream

from machines.engine.session import Program
from machines.parser.loader import load

SPEC = """
protocol: sums
title: A server asks its clients to add numbers
wire: {framing: json, early: fault}
connects: {client: server}

settings:
  seats: 2..2
  sign_up: 60 s
  reply: 5 s
  rounds: 3

messages:
  client:
    JOIN: {name: $name string}
    SUM:  {sum: $sum int}
  server:
    ADD:  {add: [$a int, $b int]}
    OVER: {over: $scores any}

roles:
  server:
    main:
      sign_up:
        accept: join(peer)
        as: players
        seats: seats
        within: sign_up
        timeout: {return: null}
        then: begin
      begin:
        let:
          round: 1
          good: []
        then: rounds
      rounds:
        - {if: round > rounds, then: over}
        - asking
      asking:
        each: player in players
        run: question(player, round)
        as:
          good: good + [result]
        then: next
      next: {let: {round: round + 1}, then: rounds}
      over:
        send: {players: OVER(good)}
        return: good

    join(peer):
      named:
        await: peer
        within: reply
        receive:
          JOIN: {return: {name: name}}

    question(player, round):
      asked:
        send: ADD(round, round)
        await: player
        within: reply
        receive:
          SUM:
            if: sum == round + round
            return: true
        fault:
          drop: player
          return: reason

  client:
    main:
      always: {within: never}
      join:  {send: JOIN(my.name), then: ready}
      ready: {receive: {ADD: add, OVER: over}}
      add:
        ask: add(a, b)
        within: 3 s
        receive:
          SUM: {send: SUM, then: ready}
      over:  {return: scores}
"""


def sums(folder: Path, **settings: str) -> dict[str, Program]:
    """Return the programs of both roles."""
    file = folder / "sums.yaml"
    file.write_text(SPEC)
    spec = load(str(file), settings)
    return {role: Program(spec, role, {}) for role in spec.roles}


class Adder:
    """A player who can add."""

    async def decide(
        self, question: str, arguments: tuple[tuple[str, Any], ...], messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        return "SUM", {"sum": sum(value for _, value in arguments)}

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        pass


async def next_line(stream: ByteReceiveStream, waiting: bytearray) -> bytes:
    """Return the next line, or nothing at the end; what comes behind it waits in ``waiting``."""
    while b"\n" not in waiting:
        try:
            waiting += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return b""
    line, _, left = bytes(waiting).partition(b"\n")
    waiting[:] = left
    return line


async def answer_all(stream: ByteStream, *, piece: int = 1 << 20, mistake: int = 0) -> Any:
    """Sign up and answer every question, in pieces of so many bytes; return the scores, or None if dropped.

    ``mistake`` is what is added to each answer.
    """
    waiting = bytearray()
    message: Any = {"name": "raw"}
    while True:
        data = json.dumps(message).encode()
        for at in range(0, len(data), piece):
            await stream.send(data[at : at + piece])
        line = await next_line(stream, waiting)
        if not line:
            return None
        told = json.loads(line)
        if "over" in told:
            return told["over"]
        message = {"sum": sum(told["add"]) + mistake}
