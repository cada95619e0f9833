"""A session in memory, driven by hand: peers say JSON values, time passes when told to, nothing waits.

server = Run(text, "server")
ann = server.join()
server.say(ann, "ann")
assert server.heard(ann) == ["white"]
server.wait(30)
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Note, Received, Send
from machines.engine.session import Program, Session
from machines.model import Spec
from machines.parser.reader import read
from machines.problems import Problems
from machines.wire.framing import make_framer
from machines.yaml.nodes import parse_yaml


def spec_of(text: str) -> Spec:
    """Read a spec from its text; any problem is an error of the test."""
    problems = Problems()
    node = parse_yaml(text, "test.yaml", problems)
    problems.raise_if_any()
    assert node is not None
    spec = read(node, "test.yaml", problems)
    problems.raise_if_any()
    assert spec is not None
    return spec


class Run:
    """One session and everything it did so far."""

    def __init__(
        self,
        spec: Spec | str,
        role: str = "server",
        rules: Mapping[str, ModuleType] | None = None,
        *,
        seed: int = 0,
        my: Mapping[str, Any] | None = None,
        stock: bool = False,
        program: Program | None = None,
    ) -> None:
        self.spec = spec_of(spec) if isinstance(spec, str) else spec
        self.program = program or Program(self.spec, role, rules or {}, stock=stock, quick=not stock)
        self.session = Session(self.program, seed=seed, my=my, watch=True)
        self.now = 0.0
        self.effects: list[Effect] = []
        self.took: list[tuple[str, str, str, str]] = []
        self.unread: dict[int, list[Any]] = {}
        self.all_sent: list[tuple[int, str]] = []
        self.dropped: dict[int, str] = {}
        self.questions: list[Ask] = []
        self.cancelled: list[int] = []
        self._framers: dict[int, Any] = {}
        self._carry(self.session.start(self.now))

    # -- inputs --

    def join(self) -> int:
        """Open a connection; return its peer number."""
        number, effects = self.session.connect(self.now)
        self._carry(effects)
        return number

    def say(self, peer: int, *values: Any) -> None:
        """Let a peer send JSON values (texts as they are, under framing text), one write each."""
        for value in values:
            text = value if self.spec.wire.framing == "text" else json.dumps(value)
            self.write(peer, make_framer(self.spec.wire).wrap(text.encode()))

    def write(self, peer: int, data: bytes) -> None:
        """Let a peer send raw bytes."""
        self._carry(self.session.receive(peer, data, self.now))

    def lose(self, peer: int) -> None:
        """Let a peer's connection end."""
        self._carry(self.session.lose(peer, self.now))

    def wait(self, seconds: float) -> None:
        """Let time pass; clocks ring at their moment."""
        end = self.now + seconds
        while (due := self.session.deadline) is not None and due <= end:
            self.now = max(due, self.now)
            self._carry(self.session.tick(self.now))
        self.now = end

    def answer(self, value: Any) -> None:
        """Answer the oldest open question."""
        self._carry(self.session.answer(self.questions.pop(0).number, value, self.now))

    def give_up(self, why: str) -> None:
        """Leave the oldest open question unanswered."""
        self._carry(self.session.answer_failed(self.questions.pop(0).number, why, self.now))

    # -- what happened --

    def heard(self, peer: int) -> list[Any]:
        """Return what a peer was sent since the last time it was looked at."""
        values, self.unread[peer] = self.unread.get(peer, []), []
        return values

    @property
    def ended(self) -> Ended | None:
        return self.session.ended

    @property
    def notes(self) -> list[str]:
        """Return the log lines so far."""
        return [effect.text for effect in self.effects if isinstance(effect, Note)]

    @property
    def taken(self) -> list[str]:
        """Return the names of the messages taken so far."""
        return [effect.message for effect in self.effects if isinstance(effect, Received)]

    def state(self) -> str:
        """Return where the session is."""
        return self.session.where()

    def _carry(self, effects: list[Effect]) -> None:
        self.effects.extend(effects)
        self.took.extend(self.session.took)
        for effect in effects:
            match effect:
                case Send(peer, data, message):
                    framer = self._framers.setdefault(peer, make_framer(self.spec.wire))
                    framer.feed(data)
                    raw = framer.next()
                    if raw is None:
                        raw = framer.finish()
                    text = raw.decode(self.spec.wire.charset)
                    self.unread.setdefault(peer, []).append(
                        text if self.spec.wire.framing == "text" else json.loads(text)
                    )
                    self.all_sent.append((peer, message))
                case Drop(peer, why):
                    self.dropped[peer] = why
                case Ask():
                    self.questions.append(effect)
                case Cancel(number):
                    self.cancelled.append(number)
                    self.questions = [ask for ask in self.questions if ask.number != number]
                case _:
                    pass


Decide = Callable[[str, dict[str, Any]], Any]


class Client(Run):
    """A client of a `Network`; ``decide(question, arguments)`` is its player. None as an answer is silence."""

    def __init__(self, network: Network, role: str, decide: Decide, my: Mapping[str, Any], seed: int) -> None:
        self.network = network
        self.decide = decide
        self.outbox: list[tuple[int, bytes]] = []
        super().__init__(network.spec, role, seed=seed, my=my, program=network.program(role))

    def _carry(self, effects: list[Effect]) -> None:
        super()._carry(effects)
        self.network.route(self, effects)


class Network:
    """A server and its clients in memory, with every role that listens; bytes cross at once, time passes on demand.

    ``programs`` are the roles compiled so far; networks of one spec may share them.
    """

    def __init__(
        self,
        spec: Spec,
        server: str,
        rules: Mapping[str, ModuleType] | None = None,
        *,
        seed: int = 0,
        stock: bool = False,
        programs: dict[str, Program] | None = None,
    ) -> None:
        self.spec = spec
        self.rules = rules or {}
        self.stock = stock
        self.programs = programs if programs is not None else {}
        self.links: dict[tuple[int, int], tuple[Run, int]] = {}
        self.queue: deque[tuple[Run, Effect]] = deque()
        self.runs: list[Run] = []
        self.clients: list[Client] = []
        self.server = Client(self, server, lambda question, arguments: None, {}, seed)
        self.runs.append(self.server)

    def program(self, role: str) -> Program:
        """Return a role compiled; each is compiled once."""
        if role not in self.programs:
            self.programs[role] = Program(self.spec, role, self.rules, stock=self.stock, quick=not self.stock)
        return self.programs[role]

    def join(self, role: str, decide: Decide, my: Mapping[str, Any] | None = None, seed: int = 0) -> Client:
        """Start a client; every role it connects to besides the server gets a run of its own, decided by the same."""
        client = Client(self, role, decide, my or {}, seed)
        self.clients.append(client)
        self.runs.append(client)
        pending = list(self.queue)
        self.queue.clear()
        for index, target in enumerate(client.program.connects):
            if target == self.server.program.role.name:
                other: Run = self.server
                number = other.join()
            else:
                other = Client(self, target, decide, {}, seed)
                self.runs.append(other)
                number = 0
            self.links[id(client), index] = (other, number)
            self.links[id(other), number] = (client, index)
        self.queue.extend(pending)
        self.pump()
        return client

    def route(self, run: Run, effects: list[Effect]) -> None:
        """Queue what a run wants done on the wire."""
        self.queue.extend((run, effect) for effect in effects if isinstance(effect, Send | Drop))

    def pump(self) -> None:
        """Carry bytes and answers until nothing moves."""
        while True:
            while self.queue:
                run, effect = self.queue.popleft()
                assert isinstance(effect, Send | Drop)
                link = self.links.get((id(run), effect.peer))
                if link is None:
                    continue
                other, number = link
                if isinstance(effect, Send):
                    other.write(number, effect.data)
                else:
                    other.lose(number)
            for run in list(self.runs):
                if isinstance(run, Client) and run.questions:
                    ask = run.questions[0]
                    value = run.decide(ask.question, dict(ask.arguments))
                    if value is None:
                        run.questions.pop(0)
                    else:
                        run.answer(value)
                    break
            else:
                return

    def cut(self, client: Client) -> None:
        """End a client's connections, as if its program had died."""
        for index in range(len(client.program.connects)):
            other, number = self.links[id(client), index]
            other.lose(number)
        self.pump()

    def wait(self, seconds: float) -> None:
        """Let time pass for everybody, clock by clock."""
        end = self.server.now + seconds
        while True:
            due = min((run.session.deadline for run in self.runs if run.session.deadline is not None), default=None)
            if due is None or due > end:
                break
            for run in self.runs:
                run.wait(max(0.0, due - run.now))
            self.pump()
        for run in self.runs:
            run.wait(max(0.0, end - run.now))
        self.pump()
