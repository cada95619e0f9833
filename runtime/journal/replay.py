"""A run again, from its journal: the same inputs at the same stamps must lead to the same transitions and effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from machines.checks.checker import check_for_run
from machines.effects import Effect, Ended
from machines.engine.compiler import Program
from machines.engine.session import Session
from machines.parser.loader import find, load, rules_modules, sources
from machines.problems import SpecError
from machines.values import plain
from runtime.journal.reading import JournalLines, Recorded
from runtime.journal.writing import Head, Line, answer_of, bytes_of, fault_text, settled, shorts


class ReplayError(Exception):
    """A journal cannot be replayed: its spec has changed, or it does not hang together. The text says why."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a replay first leaves its journal. ``line`` counts the journal's lines from 1, ``part`` is took or out."""

    line: int
    part: str
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        what = "transitions" if self.part == "took" else "effects"
        return f"line {self.line}: the {what} differ: recorded {_brief(self.recorded)}, now {_brief(self.replayed)}"


@dataclass(frozen=True, slots=True)
class Ending:
    """How one session of the run ended: what ``main`` returned, or why the arena failed."""

    session: int
    value: Any
    failed: str | None


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a replay found. ``difference`` is None if all agrees; ``complete`` says whether the journal has its end."""

    head: Head
    inputs: int
    sessions: int
    endings: tuple[Ending, ...]
    complete: bool
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """One input done again: the journal's line (its number counts from 1), and what it led to now.

    ``session`` is the one it was an input of, as it stands after it; None for a line that is no input.
    """

    number: int
    line: Line
    took: Sequence[tuple[str, str, str, str]]
    out: Sequence[Effect]
    session: Session | None = None


def spec_hash(name_or_path: str) -> str:
    """Return the SHA-256 of a spec's text, and of those it extends, in hexadecimal digits.

    Raises:
        SpecNotFound: there is no such spec, or it cannot be opened.
        SpecError: its ``extends`` leads nowhere.
    """
    digest = sha256()
    for path in sources(name_or_path):
        content = path.read_bytes()
        digest.update(b"%d\n%b" % (len(content), content))
    return digest.hexdigest()


def replay(journal: Path, spec: str | None = None, *, force: bool = False, rules: Sequence[str] = ()) -> ReplayResult:
    """Run a journal's inputs again and compare, up to the first difference.

    ``spec`` is used instead of the one the journal names; with ``force`` also if it says something else than the spec
    that ran. ``rules`` are further modules allowed, beside those the journal names.

    Raises:
        JournalError: the journal cannot be read.
        ReplayError: the spec has changed, or the journal does not hang together.
        SpecError, SpecNotFound, SettingError, RulesError: as for `machines.parser.loader.load`.
    """
    with JournalLines(journal) as recorded:
        program = program_of(recorded.head, spec, force=force, rules=rules)
        try:
            return _compared(recorded, program)
        except ReplayError as error:
            raise ReplayError(f"{journal}: {error}") from error


def _compared_effects(out: Sequence[Any]) -> list[Any]:
    """Return the effects that a replay compares: what is told of a violation may say more in a later version."""
    return [effect for effect in out if not (isinstance(effect, list) and effect[:1] == ["violation"])]


def _compared(recorded: JournalLines, program: Program) -> ReplayResult:
    endings: list[Ending] = []
    inputs = sessions = 0
    difference: Difference | None = None
    for done in again(recorded, program):
        inputs += 1
        sessions += done.line.kind == "start"
        endings += [
            Ending(done.line.session, plain(effect.value), effect.failed)
            for effect in done.out
            if type(effect) is Ended
        ]
        for part, was, now in (
            ("took", done.line.took, settled(done.took)),
            ("out", _compared_effects(done.line.out), _compared_effects(settled(shorts(done.out)))),
        ):
            if difference is None and list(was) != now:
                difference = Difference(done.number, part, was, now)
        if difference is not None:
            break
    if difference is None and recorded.counted is not None and recorded.counted != inputs:
        raise ReplayError(f"its end says that it has {recorded.counted} lines, but there are {inputs}")
    return ReplayResult(recorded.head, inputs, sessions, tuple(endings), recorded.complete, difference)


def program_of(head: Head, spec: str | None = None, *, force: bool = False, rules: Sequence[str] = ()) -> Program:
    """Return the program that a journal's run ran; errors as for `replay`."""
    allowed = tuple(rules)  # a journal may come from a stranger: it can not vouch for modules of its own
    name = spec or head.spec
    # Before it is read: another spec may not even have the settings that the run had.
    if spec_hash(name) != head.sha256 and not force:
        if spec is not None:
            raise ReplayError(
                f"{find(name)} is not the {head.protocol} that ran, but another spec or version (--force tries it)"
            )
        raise ReplayError(
            f"{find(name)} is not the spec that ran: it has changed since (name another with --spec, or use --force)"
        )
    loaded = load(name, head.settings, allowed)
    if head.role not in loaded.roles:
        raise ReplayError(f"the journal is of the role {head.role!r}, and {name} has none of that name")
    modules = rules_modules(loaded, allowed)
    problems = check_for_run(loaded, modules, head.settings)
    if problems:
        raise SpecError(problems)
    return Program(loaded, head.role, modules)


class Rerun:
    """The sessions of a journal's run, done again input by input.

    With ``watch`` what they led to holds the messages taken too, as `machines.effects.Received`.
    """

    def __init__(self, head: Head, program: Program, *, watch: bool = False) -> None:
        self._head = head
        self._program = program
        self._watch = watch
        self._sessions: dict[int, Session] = {}
        self._over: set[int] = set()

    def feed(self, number: int, line: Line) -> Replayed:
        """Do the input of a line again, the journal's ``number``th, and return what it led to.

        Raises:
            ReplayError: the input cannot be: its session did not start, or it names a peer that never connected.
        """
        if line.kind == "property":  # what the line before it broke, seen by who looked on: no input
            return Replayed(number, line, [], [])
        if line.session in self._over:
            raise ReplayError(f"line {number}: this session has ended before: a line was put in, or was changed")
        if line.kind == "fault":  # the runtime failed, not the session: there is nothing to be done again
            self._over.add(line.session)
            return Replayed(number, line, line.took, [Ended(None, line.why or "the runtime failed")])
        session = self._session(number, line)
        try:
            out = _fed(session, line)
        except Exception as error:
            if line.out == [["ended", None, fault_text(error)]]:  # so it was in the run: a fault of ours, and told
                self._over.add(line.session)
                return Replayed(number, line, line.took, [Ended(None, fault_text(error))])
            raise ReplayError(
                f"line {number}: this input cannot follow on those before it: a line is missing, or was changed"
            ) from error
        if session.ended is not None:
            self._over.add(line.session)
        return Replayed(number, line, session.took, out, session)

    def _session(self, number: int, line: Line) -> Session:
        if line.kind == "start":
            if line.session in self._sessions:
                raise ReplayError(f"line {number}: this session has started before")
            seed = self._head.seed if line.seed is None else line.seed
            my = line.my or self._head.my
            self._sessions[line.session] = Session(self._program, seed=seed, my=my, watch=self._watch)
        if line.session not in self._sessions:
            raise ReplayError(f"line {number}: this session has not started: a line before it is missing")
        return self._sessions[line.session]


def again(recorded: Recorded | JournalLines, program: Program, *, watch: bool = False) -> Iterator[Replayed]:
    """Feed a journal's inputs to new sessions of a program, and yield each with what it led to; see `Rerun`."""
    rerun = Rerun(recorded.head, program, watch=watch)
    for number, line in enumerate(recorded.lines, start=2):
        yield rerun.feed(number, line)


def _fed(session: Session, line: Line) -> list[Effect]:
    match line.kind:
        case "start":
            return session.start(line.t)
        case "connect":
            number, out = session.connect(line.t)
            if line.peer is not None and line.peer != number:
                raise ValueError("another peer would come now")
            return out
        case "tick":
            return session.tick(line.t)
        case "bytes":
            return session.receive(_given(line.peer), bytes_of(_given(line.raw)), line.t)
        case "lost":
            return session.lose(_given(line.peer), line.t)
        case "answer":
            return session.answer(_given(line.number), answer_of(line.value), line.t)
        case "failed":
            number, why = _given(line.number), line.why or ""
            return session.answer_failed(number, why, line.t, line.fault or "no answer")
        case "fault" | "property":
            raise AssertionError("a fault is no input")


def _given(value: Any) -> Any:
    if value is None:
        raise TypeError("a value is missing")
    return value


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + "..."
