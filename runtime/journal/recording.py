"""A run told as a scenario: what was really said, when, and what went wrong; made from its journal.

The journal's inputs are done again, as a replay does, since it holds bytes and not messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from diagrams.rendering.labels import shorten
from diagrams.sequences.model import Element, Message, Remark, Scenario, Tone
from diagrams.states.coverage import ALWAYS, Taken
from machines.effects import Ask, Cancel, Drop, Effect, Ended, Note, Received, SecureLink, Send
from machines.engine.compiler import Program
from machines.model import Spec
from machines.values import plain
from runtime.journal.reading import Recorded, read_journal
from runtime.journal.replay import Replayed, ReplayError, again, program_of
from runtime.journal.writing import Line, bytes_of

ELEMENTS_MAX: Final = 400  # A drawing of more is too long for any viewer.
VALUE_CHARACTERS_MAX: Final = 80
ARROW_CHARACTERS_MAX: Final = 40
WRONG: Final = ("warning", "error")  # the levels of notes that are told, as violations


@dataclass(frozen=True, slots=True)
class Run:
    """What a journal holds: what happened in one session, and in all of them which branches were taken."""

    spec: Spec
    role: str
    scenario: Scenario
    taken: tuple[Taken, ...]
    sessions: int


def recorded(
    journal: Path,
    spec: str | None = None,
    *,
    session: int = 0,
    elements_max: int = ELEMENTS_MAX,
    rules: Sequence[str] = (),
) -> Run:
    """Return what happened in a journal's run; the scenario is of one session, each line with its seconds.

    Of what comes after ``elements_max`` lines, only violations and the end are told, as many again at the most; a last
    line says how much is not. ``spec`` and ``rules`` are as for `runtime.journal.replay.replay`.

    Raises:
        ReplayError: there is no session of that number, or as for `runtime.journal.replay.replay`.
        JournalError, SpecError, SpecNotFound, SettingError, RulesError: as for `runtime.journal.replay.replay`.
    """
    try:
        read = read_journal(journal)
        program = program_of(read.head, spec, rules=rules)
        return _JournalScenarioBuilder(read, program, session, journal).tell(elements_max)
    except ReplayError as error:
        raise ReplayError(f"{journal}: {error}") from error


class _JournalScenarioBuilder:
    def __init__(self, recorded: Recorded, program: Program, session: int, journal: Path) -> None:
        self.recorded = recorded
        self.program = program
        self.session = session
        self.journal = journal
        self.role = recorded.head.role
        self.others = program.spec.peers_of(self.role)
        self.peers: dict[int, str] = {}
        self.began: float | None = None

    def tell(self, elements_max: int) -> Run:
        elements: list[Element] = []
        taken: list[Taken] = []
        sessions: set[int] = set()
        more = 0
        for done in again(self.recorded, self.program, watch=True):
            sessions.add(done.line.session)
            taken += [(path, state, event, to) for path, state, event, to in done.took]
            if done.line.session == self.session:
                for element in self._element(done):
                    if len(elements) < elements_max or (_matters(element) and len(elements) < 2 * elements_max):
                        elements.append(element)
                    else:
                        more += 1
        if more:
            said = f"… and {more} more lines; violations and the end are told all the same"
            elements.append(Remark(self.role, said, Tone.STATE))
        head = self.recorded.head
        title = f"{self.journal.name}: seed {head.seed}" + (f", {head.started}" if head.started else "")
        lifelines = (self.role, *(self.peers[number] for number in sorted(self.peers)))
        if self.session not in sessions:
            if not sessions:
                raise ReplayError("nothing has happened in it yet: it has its first line only")
            raise ReplayError(f"it has no session {self.session}, only {', '.join(map(str, sorted(sessions)))}")
        spec = self.program.spec
        scenario = Scenario(head.protocol, title, self.role, lifelines, tuple(elements), (), spec.place)
        return Run(spec, self.role, scenario, tuple(taken), len(sessions))

    def _element(self, done: Replayed) -> Iterator[Element]:
        line = done.line
        if self.began is None:
            self.began = line.t
        time = f"{line.t - self.began:.3f} s"
        yield from self._input(line, done, time)
        for place, effect in enumerate(done.out):
            element = self._effect(effect, time)
            if (
                isinstance(element, Message)
                and isinstance(effect, Received)
                and _refused(effect.peer, done.out[place + 1 :])
            ):
                element = replace(element, text=f"✗ {element.text}", tone=Tone.WRONG)
            if element is not None:
                yield element

    def _input(self, line: Line, done: Replayed, time: str) -> Iterator[Element]:
        match line.kind:
            case "connect" if line.peer is not None:
                yield Message(self._peer(line.peer), self.role, "connects", tone=Tone.LOCAL, time=time)
            case "lost" if line.peer is not None:
                yield Remark(self._peer(line.peer), "connection lost", Tone.LOST, time)
            case "bytes" if line.peer is not None and line.raw is not None:
                # What nobody took is an arrow too, if somebody minded: red, with the bytes as they came.
                minded = any(isinstance(effect, Note) and effect.level in WRONG for effect in done.out)
                if minded and not any(isinstance(effect, Received) for effect in done.out):
                    text = bytes_of(line.raw).decode(errors="backslashreplace").strip()
                    sent = f"✗ {_brief(text, ARROW_CHARACTERS_MAX)}"
                    yield Message(self._peer(line.peer), self.role, sent, detail=text, tone=Tone.WRONG, time=time)
            case "tick":
                for path, state, event, _ in done.took:
                    word = event.removeprefix(ALWAYS)
                    if word.startswith((".timeout", ".after", ".every")):
                        yield Remark(self.role, f"{word[1:].rstrip('0123456789')} in {path}: {state}", Tone.CLOCK, time)
            case "answer":
                yield Remark(self.role, f"answer: {_brief(plain(line.value))}", Tone.LOCAL, time)
            case "failed":
                yield Remark(self.role, f"no answer: {line.why}", Tone.WRONG, time)
            case _:
                pass

    def _effect(self, effect: Effect, time: str) -> Element | None:
        match effect:
            case Received(peer, message, fields):
                return Message(self._peer(peer), self.role, message, detail=_brief(plain(fields)), time=time)
            case Send(peer, data, message):
                detail = data.decode(errors="backslashreplace").strip()
                return Message(self.role, self._peer(peer), message, detail=detail, time=time)
            case SecureLink(peer):
                return Message(self.role, self._peer(peer), "TLS from here on", tone=Tone.LOCAL, time=time)
            case Drop(peer, why):
                return Message(self.role, self._peer(peer), f"closes: {why}", tone=Tone.LOST, time=time)
            case Ask(_, question):
                return Remark(self.role, f"decides: {question}", Tone.LOCAL, time)
            case Cancel():
                return Remark(self.role, "the question is moot", Tone.LOCAL, time)
            case Note(level, text, peer) if level in WRONG:
                return Remark(self.role if peer is None else self._peer(peer), text, Tone.WRONG, time)
            case Ended(value, failed):
                said = f"failed: {failed}" if failed is not None else f"returns {_brief(plain(value))}"
                return Remark(self.role, said, Tone.END if failed is None else Tone.WRONG, time)
            case _:
                return None

    def _peer(self, number: int) -> str:
        """The lifeline of a peer: its role, and its number where a role may have several."""
        if number not in self.peers:
            connects = self.program.spec.connects.get(self.role, ())
            self.peers[number] = connects[number] if number < len(connects) else f"{self.others[-1]} {number}"
        return self.peers[number]


def _matters(element: Element) -> bool:
    return isinstance(element, Message | Remark) and element.tone in (Tone.WRONG, Tone.END)


def _refused(peer: int, after: Sequence[Effect]) -> bool:
    """Whether a message that was heard of a peer is complained of: the next word about that peer says so."""
    for effect in after:
        if isinstance(effect, Received | Note) and effect.peer == peer:
            return isinstance(effect, Note) and effect.level in WRONG
    return False


def _brief(value: object, characters_max: int = VALUE_CHARACTERS_MAX) -> str:
    return shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), characters_max)
