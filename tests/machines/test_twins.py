"""The slow obvious twin: the stock event class of transitions, without any quick way, does what the lean one does.

Both compile every role of every shipped spec and every spec of the tests, and live through the same history: bytes
that fit and bytes that do not, losses, connections, clocks, answers. After each input both have taken the same
transitions, asked for the same effects, and wait for the same things. So do two that are both quick, one of which gets
every message in two chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace
from transitions.core import Event

from machines.effects import Ask, Effect, Violation
from machines.engine.call_stack import TransitionRecord
from machines.engine.compiled_states import LeanEvent
from machines.engine.compiler import Program
from machines.engine.routing import leaves
from machines.engine.session import Session
from machines.messages.shapes import Mismatch
from machines.model import Spec
from machines.parser.loader import load, shipped
from machines.semantics.hearing import layers
from tests.parts import THREE_SPECS, by_default
from tests.support.seeds import seed_file
from tests.support.stub_rules import STUBS
from tests.support.unruly import GARBAGE, SEEDS, play

FOLDER = Path(__file__).resolve().parents[1] / "specs"
HISTORIES = 40
STEPS = 80
RUNS = 12
CUT_HISTORIES = 10

Put = Callable[[Session], list[Effect]]


def specs() -> dict[str, Spec]:
    extra = tuple(f"stubs.{name}" for name in STUBS)
    files = {path.stem: path for path in (*map(seed_file, shipped()), *FOLDER.glob("*.yaml"))}
    return {
        name: load(str(files[name]), SEEDS[name].settings if name in SEEDS else {}, extra) for name in sorted(files)
    }


SPECS = specs()
ROLES = [(name, role) for name, spec in SPECS.items() for role in spec.roles]
SMOKE = [(name, role) for name, role in ROLES if name in THREE_SPECS]


class Twins:
    """One session of each program, given the same inputs and compared after each.

    With ``cut`` the second gets the same bytes in two chunks.
    """

    def __init__(self, lean: Program, other: Program, seed: int, *, cut: bool = False) -> None:
        self.sessions = [Session(program, seed=seed, my={"name": "ann"}, watch=True) for program in (lean, other)]
        self.cut = cut
        self.now = 0.0
        self.asked: list[Ask] = []
        self.inputs = 0
        self.taken = 0
        self.do(lambda session: session.start(self.now))

    def do(self, put: Put, *instead: Put) -> list[Effect]:
        """Give both the same input, the second in these parts if there are any; return what they asked for."""
        lean, other = self.sessions
        effects = put(lean)
        asked: list[Effect] = []
        took: list[TransitionRecord] = []
        for part in instead or (put,):
            asked += part(other)
            took += other.took
        if instead:
            assert [beside_chunks(effect) for effect in asked] == [beside_chunks(effect) for effect in effects]
        else:
            assert asked == effects
        assert took == lean.took
        assert other.where() == lean.where()
        assert other.deadline == lean.deadline
        assert other.ended == lean.ended
        self.inputs += 1
        self.taken += len(lean.took)
        self.asked += [effect for effect in effects if isinstance(effect, Ask)]
        return effects

    def say(self, number: int, data: bytes, chance: Random) -> None:
        """Let a peer say the same to both."""

        def says(part: bytes) -> Put:
            return lambda session: session.receive(number, part, self.now)

        at = chance.randrange(1, len(data)) if self.cut and len(data) > 1 else 0
        self.do(says(data), *([says(data[:at]), says(data[at:])] if at else []))

    def live(self, chance: Random) -> None:
        """Live through one more random moment."""
        session = self.sessions[0]
        program = session.program
        seats = len(session.seats)
        if program.accepts and not program.per_connection and (seats < 3 or chance.random() < 0.1):
            self.do(lambda session: session.connect(self.now)[1])
            return
        match chance.choices(("listed", "any", "garbage", "lose", "wait", "answer"), (20, 0.7, 0.4, 0.4, 1.5, 8))[0]:
            case "listed" | "any" as kind if seats:
                awaited = [seat.number for seat in session.seats if seat.holder is not None]
                number = chance.choice(awaited or range(seats))
                self.say(number, self.message(number, chance, listed=kind == "listed"), chance)
            case "garbage" if seats:
                number = chance.randrange(seats)
                data = chance.choice(GARBAGE)  # whole, as how much of it is left unread is told
                self.do(lambda session: session.receive(number, data, self.now))
            case "lose" if seats:
                number = chance.randrange(seats)
                self.do(lambda session: session.lose(number, self.now))
            case "answer" if self.asked:
                self.answer(self.asked.pop(chance.randrange(len(self.asked))), chance)
            case _:
                deadline = session.deadline
                due = deadline if deadline is not None and chance.random() < 0.5 else self.now + chance.random()
                self.now = max(self.now, due)
                self.do(lambda session: session.tick(self.now))

    def message(self, number: int, chance: Random, *, listed: bool) -> bytes:
        """Return a message that is heard now, if one is to be and there is one, with values that fit its fields."""
        session = self.sessions[0]
        seat = session.seats[number]
        shapes = list(session.program.heard[seat.role])
        if listed and session.root is not None:
            hearer = seat.holder or next(leaves(session))
            heard = [
                reader[1]
                for frame, layer in layers(hearer)
                for reader in layer.readers.get(seat.role, ())
                if seat.holder is not None or frame is not hearer or chance.random() < 0.5
            ]
            shapes = heard or shapes
        if not shapes:
            return b"null\n"
        shape = chance.choice(shapes)
        value = chance.choice(list(shape.samples())[:6])
        codec = session.program.codec
        try:
            return codec.packs.get(shape.name, codec.pack)(value)
        except Mismatch:  # a sample that this wire cannot carry
            return b"null\n"

    def answer(self, ask: Ask, chance: Random) -> None:
        """Answer a question, mostly with a message that it takes."""
        shapes = self.sessions[0].program.shapes
        value: Any = None
        if chance.random() < 0.9:
            value = chance.choice(list(shapes[chance.choice(ask.messages)].samples())[:6])
        if chance.random() < 0.05:
            self.do(lambda session: session.answer_failed(ask.number, "gave up", self.now))
        else:
            self.do(lambda session: session.answer(ask.number, value, self.now))


def beside_chunks(effect: Effect) -> Effect:
    """Return an effect without the chunk that made no sense: of bytes that cannot be cut into messages it has those."""
    if isinstance(effect, Violation) and effect.kind == "malformed":
        return replace(effect, came=b"", size=0)
    return effect


def rules_of(spec: Spec) -> Mapping[str, ModuleType]:
    return {name: STUBS[name] for name, _ in spec.rules}


@pytest.mark.parametrize(("name", "role"), by_default(ROLES, SMOKE), ids=[f"{name}-{role}" for name, role in ROLES])
def test_the_stock_event_class_and_the_lean_one_live_the_same_history(name: str, role: str) -> None:
    spec = SPECS[name]
    lean = Program(spec, role, rules_of(spec))
    stock = Program(spec, role, rules_of(spec), stock=True, quick=False)

    taken = sum(lived(Twins(lean, stock, number), f"{name} {role} {number}") for number in range(HISTORIES))

    assert taken > HISTORIES  # each history went somewhere


@pytest.mark.parametrize(("name", "role"), by_default(ROLES, SMOKE), ids=[f"{name}-{role}" for name, role in ROLES])
def test_the_same_bytes_in_two_chunks_lead_to_the_same_history(name: str, role: str) -> None:
    spec = SPECS[name]
    program = Program(spec, role, rules_of(spec))

    numbers = range(CUT_HISTORIES)
    taken = sum(lived(Twins(program, program, number, cut=True), f"{name} {role} {number}") for number in numbers)

    assert taken > 0


def lived(twins: Twins, which: str) -> int:
    """Let twins live through a random history; return how many transitions they took."""
    chance = Random(which)
    for _ in range(STEPS):
        if twins.sessions[0].ended is not None:
            break
        twins.live(chance)
    return twins.taken


@pytest.mark.parametrize("number", range(RUNS))
@pytest.mark.parametrize("name", by_default(SEEDS, set(SEEDS) & set(THREE_SPECS)))
def test_a_run_of_players_of_every_behaviour_is_the_same_on_both(name: str, number: int) -> None:
    lean, _ = play(name, number)
    stock, _ = play(name, number, stock=True)

    for run, twin in zip(lean.runs, stock.runs, strict=True):
        assert run.effects == twin.effects
        assert run.took == twin.took
        assert run.state() == twin.state()


def test_the_two_really_run_on_different_event_classes() -> None:
    spec = SPECS["tsuro"]
    kinds = []
    for stock in (False, True):
        program = Program(spec, "server", rules_of(spec), stock=stock)
        kinds.append({type(event) for table in program.tables.values() for event in table.machine.events.values()})

    assert kinds == [{LeanEvent}, {Event}]
