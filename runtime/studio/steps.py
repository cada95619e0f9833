"""A journal as steps: what came, what it led to, and where everybody stands then. Plain data, made by replaying it.

A step is an input of the journal. Parties are the role that kept the journal, ``s0`` for its first session, and its
peers, ``s0p1`` for the second peer of that one. Where a party stands is a tuple of ids of the pictures' elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from diagrams.states.marks import Marks
from machines.effects import Drop, Received, Send, Violation
from machines.engine.compiler import Program
from machines.engine.routing import Stand, stands
from machines.engine.session import Session
from machines.parser.loader import rules_modules
from machines.values import plain
from runtime.journal.reading import GrowingJournal
from runtime.journal.replay import Replayed, Rerun, program_of
from runtime.journal.writing import Head, Line, bytes_of
from runtime.studio.said import Said, Tone, line_of, place_text, rung, shown_bytes
from runtime.studio.shadows import Shadow, shadowed_role


@dataclass(frozen=True, slots=True)
class Party:
    """Who takes part. ``name`` is what it is called, as far as the run knows; a ``root`` has no number in pictures."""

    id: str
    role: str
    name: str
    root: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One input. ``stands`` and ``unsure`` are of every party that is there; ``arrows`` what the pictures light."""

    number: int
    seconds: float
    kind: str
    party: str
    said: tuple[Said, ...]
    stands: dict[str, tuple[str, ...]]
    unsure: frozenset[str]
    arrows: tuple[str, ...]
    places: tuple[str, ...]  # of the transitions: "main.asked: on INIT_PLACE, then playing"


class RecordedRun:
    """A run: its head, its steps in order so far, who took part, and the pictures by (role, machine).

    The journal may still be written: ``read`` reads on.
    """

    def __init__(
        self, journal: Path, spec: str | None = None, *, force: bool = False, rules: Sequence[str] = ()
    ) -> None:
        """Open a journal, whose first line must be there; nothing further is read yet.

        Raises:
            JournalError: it cannot be read.
            ReplayError: the spec has changed.
            SpecError, SpecNotFound, SettingError, RulesError: as for `machines.parser.loader.load`.
        """
        self._journal = GrowingJournal(journal)
        self.head = self._journal.head
        try:
            self.program = program_of(self.head, spec, force=force, rules=rules)
        except BaseException:
            self._journal.close()
            raise
        self.steps: list[Step] = []
        self._maker = StepMaker(self.head, self.program, rules)
        self.marks = self._maker.marks

    @property
    def complete(self) -> bool:
        """Whether the journal has its end, and all of it has been read."""
        return self._journal.complete

    @property
    def waiting(self) -> int:
        """How many bytes of the journal, about, have not been read yet."""
        return self._journal.waiting

    @property
    def parties(self) -> tuple[Party, ...]:
        """Who took part in the steps so far: the sessions, each with its peers."""
        return self._maker.parties()

    def read(self, lines_max: int | None = None) -> None:
        """Read on, up to where the journal is written, or so many lines.

        Raises:
            JournalError: it is damaged, or cannot be read.
            ReplayError: it does not hang together.
        """
        for line in islice(self._journal.lines(), lines_max):
            self.steps.append(self._maker.step(line))

    def close(self) -> None:
        """Read no more."""
        self._journal.close()


def run_of(journal: Path, spec: str | None = None, *, force: bool = False, rules: Sequence[str] = ()) -> RecordedRun:
    """Return the run of a journal, as far as it is written by now; errors as for `RecordedRun` and its ``read``."""
    run = RecordedRun(journal, spec, force=force, rules=rules)
    try:
        run.read()
    finally:
        run.close()
    return run


@dataclass(slots=True)
class _SessionState:
    """What is known of one session of the journal."""

    prefix: str
    shadows: dict[int, Shadow] = field(default_factory=dict)
    boxes: dict[int, tuple[str, ...]] = field(default_factory=dict)  # in which they stand
    names: dict[int, str] = field(default_factory=dict)


class StepMaker:
    """Makes steps of a journal, one after another."""

    def __init__(self, head: Head, program: Program, rules: Sequence[str] = ()) -> None:
        self.marks = Marks(program.spec)
        self._rerun = Rerun(head, program, watch=True)
        self._lines = 1  # read: the head is one
        self._program = program
        self._role = head.role
        other = shadowed_role(program.spec, self._role)
        self._shadowed = other
        self._client = Program(program.spec, other, rules_modules(program.spec, rules)) if other is not None else None
        self._states: dict[int, _SessionState] = {}
        self._peers: dict[str, tuple[int, int]] = {}
        self._began: float | None = None

    def parties(self) -> tuple[Party, ...]:
        """Return who took part in the steps made so far: the sessions, each with its peers."""
        several = len(self._states) > 1
        found = []
        for number, state in self._states.items():
            found.append(
                Party(state.prefix, self._role, f"{self._role} {number + 1}" if several else self._role, root=True)
            )
            for id_, (session, peer) in self._peers.items():
                if session == number:
                    role = self._role_of(peer)
                    found.append(Party(id_, role, state.names.get(peer, f"{role} {peer + 1}")))
        return tuple(found)

    def _role_of(self, peer: int) -> str:
        program = self._program
        if peer < len(program.connects):
            return program.connects[peer]
        return program.callers[0] if program.callers else "peer"

    def step(self, line: Line) -> Step:
        """Return the step of the journal's next line. Raises as `runtime.journal.replay.Rerun.feed`."""
        self._lines += 1
        done = self._rerun.feed(self._lines, line)
        began = self._began = line.t if self._began is None else self._began
        state = self._states.setdefault(line.session, _SessionState(f"s{line.session}"))
        said = [*self._came(state, done), *self._led_to(state, done)]
        if done.session is not None:
            self._learn_names(state, done.session)
        arrows = [id_ for taken in done.took for id_ in self.marks.arrows(self._role, taken)]
        where = {state.prefix: self._boxes(self._role, stands(done.session))} if done.session is not None else {}
        unsure = set()
        for peer, shadow in state.shadows.items():
            assert self._shadowed is not None, "only then there are shadows"
            if shadow.moved:
                arrows += [id_ for taken in shadow.taken() for id_ in self.marks.arrows(self._shadowed, taken)]
                state.boxes[peer] = self._boxes(self._shadowed, shadow.stands())
            if state.boxes[peer]:
                where[self._peer(state, line.session, peer)] = state.boxes[peer]
            if shadow.unsure:
                unsure.add(self._peer(state, line.session, peer))
        party = state.prefix if line.peer is None else self._peer(state, line.session, line.peer)
        places = tuple(place_text(taken, self.marks.places(self._role, taken)) for taken in done.took)
        return Step(
            done.number, round(line.t - began, 4), line.kind, party, tuple(said), where, frozenset(unsure),
            tuple(dict.fromkeys(arrows)), places,
        )  # fmt: skip

    def _boxes(self, role: str, stand: Stand) -> tuple[str, ...]:
        found = (self.marks.box(role, path, state) for path, state in stand)
        return tuple(dict.fromkeys(id_ for id_ in found if id_ is not None))

    def _peer(self, state: _SessionState, session: int, peer: int) -> str:
        id_ = f"{state.prefix}p{peer}"
        self._peers.setdefault(id_, (session, peer))
        return id_

    # -- what came ---------------------------------------------------------------------------------------------------

    def _came(self, state: _SessionState, done: Replayed) -> Iterator[Said]:
        line = done.line
        if line.kind == "connect" and line.peer is not None:
            if self._client is not None:
                state.shadows[line.peer] = Shadow(self._client)
            yield Said(self._peer(state, line.session, line.peer), state.prefix, "connects", Tone.MESSAGE)
        elif line.kind == "lost" and line.peer is not None:
            yield Said(self._peer(state, line.session, line.peer), None, "connection lost", Tone.CLOSED)
            if line.peer in state.shadows:
                state.shadows[line.peer].lost(line.t)
        elif line.kind == "tick":
            yield from rung(state.prefix, done.took)
        elif line.kind in ("failed", "fault"):
            yield Said(state.prefix, None, line.why or "the player failed", Tone.VIOLATION)
        elif line.kind == "property":
            yield Said(state.prefix, None, f"broken: {line.why}", Tone.VIOLATION)

    # -- what it led to ----------------------------------------------------------------------------------------------

    def _led_to(self, state: _SessionState, done: Replayed) -> Iterator[Said]:
        now, session = done.line.t, done.line.session
        raw = bytes_of(done.line.raw) if done.line.raw is not None else b""
        for effect in done.out:
            if type(effect) is Received:
                if effect.peer in state.shadows:
                    state.shadows[effect.peer].received(effect.message, effect.fields, raw, now)
                source = self._peer(state, session, effect.peer)
                yield Said(source, state.prefix, effect.message, Tone.MESSAGE, shown_bytes(raw), plain(effect.fields))
            elif type(effect) is Send:
                shadow = state.shadows.get(effect.peer)
                taken = shadow.sent(effect.data, now) if shadow is not None else []
                fields = next((plain(one.fields) for one in taken if one.message == effect.message), None)
                target = self._peer(state, session, effect.peer)
                yield Said(state.prefix, target, effect.message, Tone.MESSAGE, shown_bytes(effect.data), fields)
            else:
                if type(effect) is Drop and effect.peer in state.shadows:
                    state.shadows[effect.peer].lost(now)
                elif type(effect) is Violation and effect.peer in state.shadows and effect.size:
                    state.shadows[effect.peer].spoiled()
                line = line_of(effect, state.prefix, lambda peer: self._peer(state, session, peer))
                if line is not None:
                    yield line

    # -- names -------------------------------------------------------------------------------------------------------

    def _learn_names(self, state: _SessionState, session: Session) -> None:
        """Note what peers are called that have signed up with a name."""
        for seat in session.seats:
            name = seat.peer.fields.get("name")
            if isinstance(name, str):
                state.names[seat.number] = name
