"""A session given inputs at random: connections, messages of its peers at any time, losses, clocks, answers."""

from __future__ import annotations

import json
from itertools import islice
from random import Random
from typing import Any

from machines.effects import Ask, Cancel, Effect
from machines.engine.compiler import Program
from machines.messages.bodies import MessageCodec, compile_message
from machines.model import Spec
from machines.parser.loader import rules_modules
from machines.verification.abstract.process import Process
from machines.wire.framing import make_framer
from tests.support.abstract_twin import Twin, TwinnedSession

MY = {"name": "ann", "text": "x", "players": 2, "word": "w"}
SAMPLES_MAX = 6


class RandomInputs:
    """A twinned session of a role, and what happens to it; the same number does the same."""

    def __init__(self, spec: Spec, role: str, processes: dict[str, Process], number: int) -> None:
        self.spec = spec
        self.chance = Random(number)
        self.program = Program(spec, role, rules_modules(spec))
        self.process = processes[role]
        self.session = TwinnedSession(self.program, Twin(spec, role, self.process), seed=number, my=MY, watch=True)
        self.now = 0.0
        self.asked: list[Ask] = []

    def run(self, steps: int) -> int:
        """Give it so many inputs, or until it is over; return how many the twin has followed.

        Raises:
            MissedError: it did what the exploration does not know of.
        """
        self._carry(self.session.start(self.now))
        for _ in range(steps):
            if self.session.ended is not None or not self.session.twin.watching:
                break
            self._step()
        return len(self.session.twin.inputs)

    def _step(self) -> None:
        session = self.session
        drawn = self.chance.random()
        there = [seat.number for seat in session.seats if seat.number >= 0 and not (seat.lost or seat.dropped)]
        may_come = len(session.seats) < self.process.seats and self.program.callers and not self.program.per_connection
        if drawn < 0.15 and may_come:
            self._carry(session.connect(self.now)[1])
        elif drawn < 0.65 and there:
            self._say(self.chance.choice(there))
        elif drawn < 0.72 and there:
            self._carry(session.lose(self.chance.choice(there), self.now))
        elif drawn < 0.85 and session.deadline is not None:
            self.now = max(self.now, session.deadline)
            self._carry(session.tick(self.now))
        elif self.asked:
            ask = self.asked.pop(0)
            shape, value = self._drawn(self.chance.choice(ask.messages))
            fields = shape.read(value)
            assert fields is not None, f"{value!r} is a sample of {shape.name}"
            answer = (shape.name, dict(zip(shape.fields, fields, strict=True)))
            self._carry(session.answer(ask.number, answer, self.now))

    def _say(self, seat: int) -> None:
        senders = set(self.process.outline.senders(seat))
        names = [name for name, message in self.spec.messages.items() if senders & set(message.senders)]
        if names:
            value = self._drawn(self.chance.choice(names))[1]
            data = value.encode() if self.spec.wire.framing == "text" else json.dumps(value).encode()
            self._carry(self.session.receive(seat, make_framer(self.spec.wire).wrap(data), self.now))

    def _drawn(self, name: str) -> tuple[MessageCodec, Any]:
        shape = compile_message(self.spec.messages[name], self.spec.types)
        return shape, self.chance.choice([shape.example(), *islice(shape.samples(), SAMPLES_MAX)])

    def _carry(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Ask):
                self.asked.append(effect)
            elif isinstance(effect, Cancel):
                self.asked = [ask for ask in self.asked if ask.number != effect.number]
