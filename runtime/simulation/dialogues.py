"""One whole dialogue of a spec as bytes, to test a parser against: all that crosses one connection, in memory.

Where a role of ours connects, games are played, by players who know the rules; of all connections in them that one is
taken that brings the most kinds of messages with the fewest bytes. Where only programs of others connect, an example of
each message is sent wherever it is awaited, or the lines of the file ``NAME.said`` beside the spec: one message a line,
in the form of `diagrams.documents.wire_text`. The same spec and the same rules give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from diagrams.documents import wire_text
from diagrams.documents.model import Dialogue, Said
from machines.conforming.deeds import example
from machines.conforming.incoming_stream import IncomingStream, MessageReader
from machines.effects import Drop, Effect, Received, Send
from machines.engine import routing
from machines.engine.session import Program, Session
from machines.model import Spec
from runtime.players.seeds import derived_seed
from runtime.simulation.campaign import Campaign
from runtime.simulation.judged_game import JudgedActor, JudgedGame
from runtime.simulation.network import EndlessError
from runtime.simulation.oracle import Oracle
from runtime.simulation.scenarios import GameScenario, callers, seats

SEEDS: Final = 3  # games that are looked through, for each number of clients
SAID_MAX: Final = 200  # messages of a stranger in a dialogue with it
BYTES_MAX: Final = 1 << 17  # of a dialogue: a longer one is none to read


class ScriptError(ValueError):
    """A file of what a stranger says cannot be read; the text names file and line."""


Connection = tuple[JudgedActor, JudgedActor]


class RecordedGame(JudgedGame):
    """A game of which every connection is written down: ``said`` has what crossed, in order, by connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.said: dict[Connection, list[Said]] = {}
        super().__init__(*given, **named)

    def cross(self, actor: JudgedActor, seat: int, data: bytes, message: str) -> None:
        """See `Simulation.cross`."""
        if seat in actor.links:
            other = actor.links[seat][0]
            connection = (other, actor) if (other, actor) in self.said else (actor, other)
            self.said.setdefault(connection, []).append(Said(actor.role, message, data))
        super().cross(actor, seat, data, message)


def dialogues(spec: Spec, rules: Mapping[str, ModuleType]) -> tuple[Dialogue, ...]:
    """Return a dialogue of each role that connects with each that it connects to; none where nothing is said.

    Raises:
        ScriptError: a line of ``NAME.said`` cannot be read.
    """
    ours = spec.of_ours()
    found = list(_played(ours, rules)) if callers(ours) else []
    for caller in spec.foreign if not found else ():
        for listener in spec.connects.get(caller, ()):
            found.append(Dialogue(caller, listener, tuple(_with_a_stranger(spec, rules, caller, listener))))
    return tuple(one for one in found if one.said)


def _played(spec: Spec, rules: Mapping[str, ModuleType]) -> Iterator[Dialogue]:
    best: dict[tuple[str, str], tuple[tuple[int, int], tuple[Said, ...]]] = {}
    kinds = {
        (caller, target): sum(bool({caller, target} & set(one.senders)) for one in spec.messages.values())
        for caller, targets in spec.connects.items()
        for target in targets
    }
    for game in _games(spec, rules):
        if all(pair in best and best[pair][0][0] == count for pair, count in kinds.items()):
            break
        for (one, other), said in game.said.items():
            caller, listener = (one, other) if other.role in spec.connects.get(one.role, ()) else (other, one)
            size = sum(len(line.data) for line in said)
            worth = len({line.message for line in said}), -size
            pair = caller.role, listener.role
            if size <= BYTES_MAX and (pair not in best or worth > best[pair][0]):
                best[pair] = worth, tuple(said)
    yield from (Dialogue(*pair, best[pair][1]) for pair in kinds if pair in best)


def _games(spec: Spec, rules: Mapping[str, ModuleType]) -> Iterator[RecordedGame]:
    """Yield games in which all is right, of as few clients as there may be, and of a few more."""
    campaign = Campaign(spec, rules)
    room = seats(spec)
    counts = dict.fromkeys((max(1, room.low) if room is not None else 1, campaign.scenes[0].clients))
    for clients, seed, programs in product(counts, range(SEEDS), campaign.programs.values()):
        scene = GameScenario("everybody is good", clients)
        judge = Oracle(scene, seed, counted=False)
        game = RecordedGame(spec, programs, judge, seed=derived_seed(seed, "game"))
        campaign.invite(game, scene, seed)
        with suppress(EndlessError):
            game.play()
            yield game


def _with_a_stranger(spec: Spec, rules: Mapping[str, ModuleType], caller: str, listener: str) -> Iterator[Said]:
    """Yield what is said where a program that others wrote connects."""
    program = Program(spec, listener, rules)
    session = Session(program, seed=0, watch=True)
    effects = session.start(0.0)
    seat = len(program.connects)
    if not program.per_connection:
        seat, more = session.connect(0.0)
        effects += more
    yield from _answers(effects, seat, listener)
    scripted = Path(spec.file).with_suffix(".said")
    said = _script(scripted) if scripted.is_file() else _examples(spec, session, program, listener, caller)
    for name, data in said:
        if session.ended is not None:
            return
        effects = session.receive(seat, data, 0.0)
        yield Said(caller, name or _name(effects, program, caller, data), data)
        yield from _answers(effects, seat, listener)
        if any(isinstance(one, Drop) and one.peer == seat for one in effects):
            return


def _script(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what a file has a stranger say; each line's message is known once it was heard."""
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            yield "", wire_text.read(line)
        except ValueError as error:
            raise ScriptError(f"{file}:{number}: {error}") from error


def _examples(spec: Spec, session: Session, program: Program, role: str, caller: str) -> Iterator[tuple[str, bytes]]:
    """Yield each message that is awaited, with an example in it: once wherever the session stands."""
    said: set[tuple[str, str]] = set()
    for _ in range(SAID_MAX):
        fresh = [one for one in _awaited(spec, session, role, caller) if (one, session.where()) not in said]
        if not fresh:
            return
        said.add((fresh[0], session.where()))
        data = example(program, fresh[0])
        if data is not None:
            yield fresh[0], data


def _awaited(spec: Spec, session: Session, role: str, caller: str) -> Iterator[str]:
    """Yield the messages that a session awaits now: what its innermost calls list first."""
    for frame in routing.frames(session):
        machine = spec.roles[role].machines[frame.table.name]
        listed = [machine.states[frame.node.name].answers] if frame.node.name in machine.states else []
        listed += [machine.always.answers] if machine.always is not None else []
        for answers in listed:
            yield from (name for name in answers.receive if caller in spec.messages[name].senders)


def _name(effects: list[Effect], program: Program, caller: str, data: bytes) -> str:
    """Return what a message is to who has read it; where it was heard as none, what it may be."""
    heard = next((one.message for one in effects if isinstance(one, Received)), "")
    if heard:
        return heard
    stream = IncomingStream(MessageReader(program, caller))
    stream.feed(data)
    return next((token[0] for token in stream.tokens(0)), "?")


def _answers(effects: list[Effect], seat: int, role: str) -> Iterator[Said]:
    for effect in effects:
        if isinstance(effect, Send) and effect.peer == seat:
            yield Said(role, effect.message, effect.data)
