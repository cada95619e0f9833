"""A session that does what its peers tell it to, one line at a time, and keeps what it was given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Note, Pause, Received, Resume, Send
from machines.engine.session import Program
from machines.model import Wire
from machines.values import Peer


class LineSession:
    """Has the inputs and outputs of `machines.engine.session.Session`.

    ``echo X`` sends X back, ``all X`` sends X to everyone, ``flood N`` sends N bytes, ``bye`` drops the peer,
    ``end X`` ends with X, ``boom`` raises, ``in S`` sets the clock to ring in S seconds and ``never`` stops it,
    ``ask Q`` and ``cancel N`` are about the player, ``pause`` stops reading from the peer until the next ``resume``.
    """

    def __init__(
        self, program: Any, *, seed: int = 0, my: Mapping[str, Any] | None = None, watch: bool = False
    ) -> None:
        self.program = program
        self.seed = seed
        self.my = my
        self.watch = watch
        self.seats: defaultdict[int, Any] = defaultdict(lambda: SimpleNamespace(silent=False, peer=Peer(0)))
        self.ended: Ended | None = None
        self.deadline: float | None = None
        self.took: list[tuple[str, str, str, str]] = []
        self.transitions: list[Any] = []
        self.inputs: list[tuple[Any, ...]] = []
        self.peers: list[int] = []
        self.lines: dict[int, bytes] = {}
        self.asked = 0

    def start(self, now: float) -> list[Effect]:
        self.inputs.append(("start",))
        for _ in (*self.program.connects, *[""] * self.program.per_connection):
            self._seat()
        return [Note("info", "started")]

    def connect(self, now: float) -> tuple[int, list[Effect]]:
        number = self._seat()
        self.inputs.append(("connect", number))
        return number, [Send(number, b"hello\n", "HELLO")]

    def receive(self, number: int, chunk: bytes, now: float) -> list[Effect]:
        self.inputs.append(("bytes", number, chunk[:40]))
        *lines, self.lines[number] = (self.lines[number] + chunk).split(b"\n")
        self.lines[number] = self.lines[number][-1000:]
        effects: list[Effect] = []
        for line in lines:
            command, _, rest = line.decode("ascii", "replace").partition(" ")
            action: Callable[..., list[Effect]] = getattr(self, f"do_{command}", self._unknown)
            effects += action(number, rest, now)
        return effects

    def lose(self, number: int, now: float) -> list[Effect]:
        self.inputs.append(("lost", number, self.lines[number]))
        self.peers.remove(number)
        return []

    def tick(self, now: float) -> list[Effect]:
        self.inputs.append(("tick", now))
        self.deadline = None
        return [Send(peer, b"late\n", "LATE") for peer in self.peers]

    def answer(self, number: int, value: Any, now: float) -> list[Effect]:
        self.inputs.append(("answer", number, value))
        return [Send(peer, f"answer {value}\n".encode(), "ANSWER") for peer in self.peers]

    def answer_failed(self, number: int, why: str, now: float, kind: str = "") -> list[Effect]:
        self.inputs.append(("failed", number, why))
        return [Send(peer, f"no answer: {why}\n".encode(), "NO_ANSWER") for peer in self.peers]

    def may_close_now(self, number: int) -> bool:
        return False

    def where(self) -> str:
        return "lines"

    def _seat(self) -> int:
        number = len(self.lines)
        self.lines[number] = b""
        self.peers.append(number)
        return number

    def _unknown(self, peer: int, rest: str, now: float) -> list[Effect]:
        return [Note("debug", "what?", peer)]

    def do_echo(self, peer: int, rest: str, now: float) -> list[Effect]:
        return [Received(peer, "ECHO", {"text": rest}), Send(peer, rest.encode() + b"\n", "ECHO")]

    def do_all(self, peer: int, rest: str, now: float) -> list[Effect]:
        return [Send(other, rest.encode() + b"\n", "ALL") for other in self.peers]

    def do_flood(self, peer: int, rest: str, now: float) -> list[Effect]:
        return [Send(peer, b"x" * int(rest), "FLOOD")]

    def do_bye(self, peer: int, rest: str, now: float) -> list[Effect]:
        self.peers.remove(peer)
        return [Send(peer, b"bye\n", "BYE"), Drop(peer, "it said bye")]

    def do_end(self, peer: int, rest: str, now: float) -> list[Effect]:
        self.ended = Ended(rest, None)
        return [*(Send(other, b"over\n", "OVER") for other in self.peers), self.ended]

    def do_boom(self, peer: int, rest: str, now: float) -> list[Effect]:
        raise ValueError("boom")

    def do_in(self, peer: int, rest: str, now: float) -> list[Effect]:
        self.deadline = now + float(rest)
        return []

    def do_never(self, peer: int, rest: str, now: float) -> list[Effect]:
        self.deadline = None
        return []

    def do_ask(self, peer: int, rest: str, now: float) -> list[Effect]:
        self.asked += 1
        return [Ask(self.asked, rest, (), ("ANSWER",), None)]

    def do_cancel(self, peer: int, rest: str, now: float) -> list[Effect]:
        return [Cancel(int(rest))]

    def do_pause(self, peer: int, rest: str, now: float) -> list[Effect]:
        return [Pause(peer)]

    def do_resume(self, peer: int, rest: str, now: float) -> list[Effect]:
        return [Resume(other) for other in self.peers]


def line_program(connects: tuple[str, ...] = (), per_connection: bool = False, connections_max: int = 256) -> Program:
    """Return what `serve` and `join` want to know of a program."""
    program = SimpleNamespace(
        role=SimpleNamespace(name="lines"),
        spec=SimpleNamespace(properties=()),
        wire=Wire(framing="lines", connections_max=connections_max),
        connects=connects,
        per_connection=per_connection,
        accepts=not connects,
    )
    return cast(Program, program)


@dataclass
class LineSessions:
    """Makes `LineSession`s and keeps them."""

    made: list[LineSession] = field(default_factory=list)

    def __call__(self, program: Any, **what: Any) -> Any:
        self.made.append(LineSession(program, **what))
        return self.made[-1]


class MemoryJournal:
    """Keeps what a journal would write: (kind, stamp, effects, what else was given)."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, float, tuple[Effect, ...], dict[str, Any]]] = []
        self.flushed: list[int] = []

    def write(self, kind: str, now: float, took: Any, out: Any, **what: Any) -> None:
        self.lines.append((kind, now, tuple(out), what))

    def flush(self) -> None:
        self.flushed.append(len(self.lines))


class ScriptedPlayer:
    """Answers as told: ``decide`` awaits what ``answer`` returns."""

    def __init__(self, answer: Callable[[str], Any]) -> None:
        self.answer = answer
        self.news: list[tuple[str, dict[str, Any]]] = []

    async def decide(self, question: str, arguments: Any, messages: tuple[str, ...], seconds: float | None) -> Any:
        return await self.answer(question)

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        self.news.append((message, fields))
