"""Where a person tries a protocol: lines in, what happened out. Each line is one choice; all of it is data.

connect player ann              start a client of the spec
hand player bob                 connect a client that is played by hand
answer ann TAKE count=2         answer what the player of ann is asked; fields left out have an example
fail ann                        let the player of ann fail to answer
say bob TAKE count=2            put a message on bob's connection; with several: say host to bob OVER …
raw bob {"take": 99}            put a text on bob's connection as it stands
lose ann                        cut ann's connections
wait, wait 5, wait 1 min        until the next clock rings, or so long
hold                            from now on, what is sent waits on the way
deliver host to ann             let the first thing on that way through
ring ann                        let time pass for ann alone, until a clock of hers rings
rule tsuro.over = true          what a rule says that is not there, behind the line that needs it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from machines.engine.session import Program
from machines.model import Spec
from machines.parser.settings import parse_duration
from machines.problems import near
from runtime.playground.message_input import ChoiceError, read_named, value_of, written
from runtime.playground.scenario_runner import ManualRun
from runtime.playground.status import choices, state_lines
from runtime.playground.stubs import RuleStubs
from runtime.process.terminal_text import escape_control_characters

LINE_MAX: Final = 65_536  # characters of one line
LINES_MAX: Final = 10_000  # choices of one run: to go back all but the last are done again
DOING: Final = ("connect", "hand", "answer", "fail", "say", "raw", "lose", "wait", "hold", "deliver", "ring")
MORE: Final = ("undo", "states", "save", "help", "quit")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,19}")
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")
_RULE = re.compile(r"rule\s+(?:([A-Za-z_.0-9]+)\s*=\s*)?(.*)", re.DOTALL)

HELP: Final = """\
a number            does that choice; its values are asked for, or stand behind it: 1 count=2
connect ROLE NAME   starts a client of the spec
hand ROLE NAME      connects a client that you play by hand
answer NAME MESSAGE name=value ...     answers what the player of NAME is asked
fail NAME           lets the player of NAME fail to answer
say NAME [to NAME] MESSAGE name=value ...     puts a message on a connection, whatever the spec says
raw NAME [to NAME] TEXT     puts a text there as it stands
lose NAME           cuts the connections of NAME
wait, wait 5, wait 1 min    lets time pass: until the next clock rings, or so long
hold                keeps what is sent from now on on the way, with the closing of connections
deliver NAME to NAME        lets the first thing on that way through
ring NAME           lets time pass for NAME alone, until its next clock rings
undo                takes the last choice back
states              shows where everybody stands
save FILE           saves the run as a script; FILE.jsonl [ROLE]: as the journal of a role
quit                ends it, as the end of input does"""


@dataclass(frozen=True, slots=True)
class AskedRule:
    """A rule that is not there, about which a person is asked: its name, the call, whether it must be a boolean."""

    name: str
    call: str
    boolean: bool


class EndedError(Exception):
    """There is no more input. ``rule`` is what is asked about, if that is so."""

    def __init__(self, rule: AskedRule | None = None) -> None:
        self.rule = rule
        super().__init__()


class Screen(Protocol):
    """Where a prompt writes. ``kind``: `runtime.playground.scenario_runner.Tell`, or input, state, choice or wrong."""

    def show(self, kind: str, line: str) -> None:
        """Show a line."""

    def ask(self, prompt: str) -> None:
        """Show a prompt; what is typed comes behind it."""


class _Back(Exception):  # noqa: N818 - no fault: the person took a choice back while it was done
    pass


@dataclass
class Command:
    """One choice done: its line, and what was said in place of rules that are not there."""

    line: str
    said: list[tuple[str, Any]] = field(default_factory=list)


class Repl:
    """A run of a spec under a person's hands.

    ``lines`` gives what is typed, without line ends. ``strict`` is for scripts: the first line that cannot be done
    raises. ``allowed`` are further modules of rules.
    """

    def __init__(
        self,
        spec: Spec,
        lines: Iterable[str],
        screen: Screen,
        *,
        seed: int = 0,
        by_hand: Sequence[str] = (),
        allowed: Sequence[str] = (),
        strict: bool = False,
        save: Callable[[str, str | None, Repl], str] | None = None,
    ) -> None:
        self.spec = spec
        self.done: list[Command] = []
        self.number = 0  # of the line that was read last, from 1
        self.asked: AskedRule | None = None  # what was not answered when the lines ended
        self._lines = iter(lines)
        self._screen = screen
        self._how: dict[str, Any] = {"seed": seed, "by_hand": by_hand}
        self._programs: dict[str, Program] = {}
        self._strict = strict
        self._save = save
        self._begun = Command("")  # what was said for rules while the parties that listen began
        self._now = self._begun  # the choice that is being done
        self._again: list[tuple[str, Any]] = []  # what was said when it was done before
        self._silent = False
        self._moved = True  # since it was shown where everybody stands
        self._broken: Exception | None = None
        self.rules = RuleStubs(spec, allowed, self._says)
        self.trial = self._start()

    # -- the loop ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Take lines until they end or one says ``quit``.

        Raises:
            ChoiceError: with ``strict``, a line cannot be done.
        """
        try:
            if self.rules.missing and not self._strict:
                names = ", ".join(self.rules.missing)
                self._screen.show("note", f"rules that are not there: {names}; you are asked what they say")
            while True:
                if self._moved and not self._strict:
                    self._look()
                self._moved = False
                try:
                    line = self._line("> ")
                    if line.split()[:1] == ["quit"]:
                        return
                    self._take(line)
                except _Back:
                    self._screen.show("note", "taken back")
                except ChoiceError as error:
                    if self._strict:
                        raise
                    self._screen.show("wrong", str(error))
        except EndedError as ended:
            self.asked = ended.rule
            if not self._strict:
                self._screen.ask("\n")  # so that what comes next in the terminal begins a line of its own

    def _look(self) -> None:
        self._screen.show("state", "")
        self.states()
        for number, line in enumerate(choices(self.trial), start=1):
            self._screen.show("choice", f"{number:>3}  {line}")

    def states(self) -> None:
        """Show where everybody stands."""
        self._screen.show("state", f"at {self.trial.now:.10g} s")
        for line in state_lines(self.trial):
            self._screen.show("state", f"  {line}")

    def _line(self, prompt: str) -> str:
        if not self._strict:
            self._screen.ask(prompt)
        for line in self._lines:
            self.number += 1
            if len(line) > LINE_MAX:
                raise ChoiceError(f"a line has at most {LINE_MAX} characters")
            return line.strip()
        raise EndedError

    # -- one line ----------------------------------------------------------------------------------------------------

    def _take(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if not word or word.startswith("#"):
            return
        if word.isdecimal() and not self._strict:
            line = self._picked(word, rest)
        elif word == "undo":
            self._undo()
            return
        elif word == "states":
            self.states()
            return
        elif word == "help":
            for text in HELP.splitlines():
                self._screen.show("note", text)
            return
        elif word == "save":
            self._saved(rest.split())
            return
        if self._strict:
            self._screen.show("input", f"> {line}")
        if len(self.done) >= LINES_MAX:
            raise ChoiceError(f"a run has at most {LINES_MAX} choices")
        self._do(Command(line))

    def _picked(self, number: str, rest: str) -> str:
        """Return the line of a choice by its number, with values given behind it or asked for."""
        listed = choices(self.trial)
        if not 1 <= int(number[:6]) <= len(listed) or len(number) > 6:
            there = f"there are 1 to {len(listed)}" if listed else "nothing is left to be chosen"
            raise ChoiceError(f"there is no {number[:6]}: {there}")
        line = listed[int(number) - 1]
        words = line.split(" ")
        if words[0] not in ("answer", "say"):
            return line
        at = next(index for index, word in enumerate(words[2:], start=2) if word in self.spec.messages)
        fields = read_named(" ".join(words[at + 1 :]))
        if rest.strip():
            fields |= read_named(rest)
        else:
            for name in fields:
                fields[name] = self._edited(words[at], name, fields[name])
        return " ".join([*words[: at + 1], *(f"{name}={written(value)}" for name, value in fields.items())])

    def _edited(self, message: str, field: str, example: Any) -> Any:
        filler = self.trial.filler
        while True:
            text = self._line(f"  {field}, {filler.explained(message, field)} [Enter: {written(example)}]: ")
            if not text:
                return example
            try:
                return filler.fit(message, field, value_of(text))
            except ChoiceError as error:
                if text == "undo":
                    raise _Back from None
                if text == "quit":
                    raise EndedError from None
                self._screen.show("wrong", str(error))

    def _do(self, choice: Command) -> None:
        """Do a choice, for good or, if it cannot be done, not at all."""
        self._now, self._broken = choice, None
        try:
            act(self.trial, choice.line)
            if self._broken is not None:
                raise self._broken
        except (ChoiceError, EndedError, _Back) as error:
            cause, self._broken = self._broken or error, None
            self._rebuild()
            raise cause from None
        self.done.append(choice)
        self._moved = True

    def _undo(self) -> None:
        if not self.done:
            raise ChoiceError("there is nothing to take back")
        self._screen.show("note", f"taken back: {self.done.pop().line}")
        self._rebuild()
        self._moved = True

    def _rebuild(self) -> None:
        """Do all choices again, telling nothing."""
        self._silent = True
        self.rules.forget()
        try:
            self.trial = self._start()
            for choice in self.done:
                self._now, self._again = choice, list(choice.said)
                act(self.trial, choice.line)
        finally:
            self._silent, self._again = False, []

    def _start(self) -> ManualRun:
        self._now, self._again = self._begun, list(self._begun.said)
        trial = ManualRun(self.spec, self.rules, self._tell, programs=self._programs, **self._how)
        if self._broken is not None:
            raise self._broken
        return trial

    def _tell(self, kind: str, line: str) -> None:
        if not self._silent:
            self._screen.show(kind, line)

    # -- rules that are not there ------------------------------------------------------------------------------------

    def _says(self, rule: str, call: str, boolean: bool) -> Any:
        """Ask what a rule says. A person who goes back, or ends, is seen to once the session is through."""
        if self._broken is not None:
            raise self._broken
        if self._again:
            _, value = self._again.pop(0)
            return value
        try:
            while True:
                try:
                    value = self._asked(rule, call, boolean)
                    break
                except ChoiceError as error:
                    if self._strict:
                        raise
                    self._screen.show("wrong", str(error))
        except (ChoiceError, EndedError, _Back) as error:
            self._broken = error
            raise
        self._now.said.append((rule, value))
        return value

    def _asked(self, rule: str, call: str, boolean: bool) -> Any:
        self._screen.show("asked", f"what does {call} say?")
        try:
            text = self._line(f"  {'true or false' if boolean else 'a value'}: ")
            while self._strict and (not text or text.startswith("#")):
                text = self._line("")
        except EndedError:
            raise EndedError(AskedRule(rule, call, boolean)) from None
        if text == "undo":
            raise _Back
        if text == "quit":
            raise EndedError
        given = _RULE.fullmatch(text)
        if given is not None and given[1] not in (None, rule):
            raise ChoiceError(f"{rule} is asked now, not {given[1]}")
        if given is None and self._strict:
            raise ChoiceError(f"{rule} is not there, so a line must say what it says: rule {rule} = true")
        value = value_of(given[2] if given is not None else text)
        if boolean and not isinstance(value, bool):
            raise ChoiceError(f"{rule} is a condition: it says true or false")
        if self._strict:
            self._screen.show("input", f"> rule {rule} = {written(value)}")
        return value

    # -- saving ------------------------------------------------------------------------------------------------------

    def script(self) -> list[str]:
        """Return the run as lines that can be run again."""
        lines = [f"rule {rule} = {written(value)}" for rule, value in self._begun.said]
        for choice in self.done:
            lines.append(choice.line)
            lines += [f"rule {rule} = {written(value)}" for rule, value in choice.said]
        return lines

    def _saved(self, words: Sequence[str]) -> None:
        if self._save is None or not 1 <= len(words) <= 2:
            raise ChoiceError("save takes a file: save game.txt, or save game.jsonl for a journal")
        self._screen.show("note", self._save(words[0], words[1] if len(words) == 2 else None, self))


# -- lines to choices ------------------------------------------------------------------------------------------------


def act(trial: ManualRun, line: str) -> None:
    """Do what a line says.

    Raises:
        ChoiceError: it says nothing that is known, or it cannot be done.
    """
    word, _, rest = line.strip().partition(" ")
    words = rest.split()
    match word:
        case "connect" | "hand":
            role, name = _role_and_name(trial, words)
            trial.connect(role, name, by_hand=word == "hand")
        case "answer":
            who, message, more = _split(rest, 2, "answer NAME MESSAGE name=value")
            trial.answer(who, message, read_named(more))
        case "say":
            who, to, more = _addressed(rest, "say NAME MESSAGE name=value")
            message, _, fields = more.partition(" ")
            trial.say(who, to, message, read_named(fields))
        case "raw":
            trial.raw(*_addressed(rest, "raw NAME TEXT"))
        case "fail" | "lose" | "ring":
            if len(words) != 1:
                raise ChoiceError(f"{word} takes a name: {word} {next(iter(trial.parties), 'ann')}")
            {"fail": trial.fail, "lose": trial.lose, "ring": trial.ring}[word](words[0])
        case "hold":
            trial.hold()
        case "deliver":
            if len(words) != 3 or words[1] != "to":
                raise ChoiceError("deliver takes two names: deliver ann to bob")
            trial.deliver(words[0], words[2])
        case "wait":
            trial.wait(_seconds(rest.strip()) if words else None)
        case "rule":
            raise ChoiceError("no rule is asked about now")
        case _:
            known = near(word, (*DOING, *MORE)) or "help tells what there is"
            raise ChoiceError(f"nothing is known to be done with {escape_control_characters(word)[:40]!r}: {known}")


def _role_and_name(trial: ManualRun, words: Sequence[str]) -> tuple[str, str]:
    callers: Iterator[str] = iter(trial.callers())
    if len(words) == 1:
        words = [next(callers, ""), *words]
    if len(words) != 2:
        raise ChoiceError("connect takes a role and a name: connect client ann")
    if not _NAME.fullmatch(words[1]):
        raise ChoiceError(f"{words[1][:40]!r} is no name: letters, digits, - and _, at most 20, a letter first")
    return words[0], words[1]


def _split(text: str, count: int, form: str) -> list[str]:
    parts = text.split(None, count)
    if len(parts) < count:
        raise ChoiceError(f"that is not of the form: {form}")
    return [*parts, ""][: count + 1]


def _addressed(text: str, form: str) -> tuple[str, str | None, str]:
    """Return who, to whom if that is said, and the rest."""
    who, rest = _split(text, 1, form)
    if rest.startswith("to "):
        _, to, rest = _split(rest, 2, form)
        return who, to, rest
    if not rest:
        raise ChoiceError(f"that is not of the form: {form}")
    return who, None, rest


def _seconds(text: str) -> float:
    seconds = float(text) if _NUMBER.fullmatch(text) else parse_duration(text)
    if seconds is None:
        raise ChoiceError(f"{text[:40]!r} is no time: 5, 2.5, 300 ms, 1 min")
    return seconds
