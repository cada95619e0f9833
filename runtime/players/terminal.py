"""A player that is a person at the terminal.

If the spec's game has a view (``rules.views.<module>.shown(message, fields)``) the person sees what comes as the game
shows it, and if it can list the legal answers (``rules.players.<module>.choices(question, arguments)``) they are
explained, in pages, narrowed by words, and picked by number, or in the steps and with the drawings that the view knows
(``rules.views.<module>.steps(question, arguments, choices)``). Without those the person fills in the fields of a
message one by one, each with its type explained, checked, and asked for again. What a person must know of the game
before the first question (``rules.views.<module>.EXPLANATION``) is said once, and again for ``help``.
"""

from __future__ import annotations

import codecs
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import anyio
import anyio.to_thread

from machines.messages.bodies import compile_message
from machines.messages.types import Mismatch
from machines.model import Field, Spec
from rules.views.offered import Step
from runtime.players.base import Arguments, DecisionError, UnknownPlayerError
from runtime.players.companions import companions
from runtime.players.person_answers import FieldReader, brief, legal_answers
from runtime.process.terminal_text import escape_control_characters

HELP = """\
  a number        takes the choice of that number
  Enter           shows the next page, or takes the only one that is left
  words           show the choices that have all of them; then all is the way back to all choices
  back, pages     where you are asked in steps: begin again, list the whole choices instead
  help, quit      say this again, leave the game
"""
PAGE = 20  # Choices shown at a time: with the board above, what a terminal of 24 + 20 lines holds.
NUMBER = "number"  # What is asked for where choices are called by their numbers.
DRAWINGS = 4  # Drawings beside one another, of 14 columns or so each.


class LeftError(DecisionError):
    """The person has left: said so, or ended the terminal's input."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "left")


class Terminal:
    """Where a person is asked: lines in, text out. Waiting for a line can be cancelled, and no line is lost by that.

    ``read`` blocks until there is a line and returns it, or the empty text at the end; it is called in a thread of its
    own. With ``interactive``, what was typed before a question was shown is not taken as its answer.
    """

    def __init__(self, read: Callable[[], str], write: Callable[[str], object], *, interactive: bool) -> None:
        self.lock = anyio.Lock()  # One question at a time, if several persons share the terminal.
        self.write = write
        self.told: dict[str, tuple[str, dict[str, Any]]] = {}  # By person: the text and fields of what came last.
        self._read = read
        self._interactive = interactive
        self._lines: deque[str] = deque()
        self._ended = False
        self._changed = threading.Condition()
        self._reader: threading.Thread | None = None

    def forget_typed_ahead(self) -> None:
        """Drop the lines nobody asked for; they are kept where the input is a file or a pipe."""
        if self._interactive:
            with self._changed:
                self._lines.clear()

    async def line(self) -> str:
        """Return the next line without its end.

        Raises:
            LeftError: the input has ended: Ctrl-D, or the end of a file.
        """
        if self._reader is None:
            # A daemon, because nothing can wake it from reading a terminal.
            self._reader = threading.Thread(target=self._read_on, name="terminal", daemon=True)
            self._reader.start()
        given_up = threading.Event()

        def wait() -> None:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._ended or given_up.is_set())

        try:
            await anyio.to_thread.run_sync(wait, abandon_on_cancel=True)
        finally:
            given_up.set()
            with self._changed:
                self._changed.notify_all()
        # Taken here, not in the thread, so that a line that comes as the wait is cancelled stays for the next.
        with self._changed:
            if self._lines:
                return self._lines.popleft()
        raise LeftError("the terminal's input has ended")

    def _read_on(self) -> None:
        while True:
            try:
                text = self._read()
            except (OSError, ValueError):  # ValueError: the stream was closed
                text = ""
            with self._changed:
                if text:
                    self._lines.append(text.rstrip("\r\n"))
                else:
                    self._ended = True
                self._changed.notify_all()
            if not text:
                return


_own: Terminal | None = None


def own_terminal() -> Terminal:
    """Return the terminal of this process: standard input and standard error; standard output is for results.

    Raises:
        UnknownPlayerError: one of them was closed from the beginning.
    """
    global _own
    if _own is None:
        if sys.stdin is None or sys.stderr is None:  # Python's way to say that it was closed
            raise UnknownPlayerError("a person at the terminal needs standard input and standard error: one is closed")
        _own = Terminal(_line_reader(sys.stdin), _writer(sys.stderr), interactive=sys.stdin.isatty())
    return _own


def last_told() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return what each person at this process's terminal was told last: the text, and the message's fields."""
    return tuple(_own.told.values()) if _own is not None else ()


def _line_reader(stream: TextIO) -> Callable[[], str]:
    """Return a function that reads a line from the stream's file itself.

    Python's buffered reader holds a lock while it waits; a daemon thread in it would abort the interpreter's exit.
    """
    descriptor = stream.fileno()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    waiting: deque[str] = deque()
    partial = ""

    def read() -> str:
        nonlocal partial
        while not waiting:
            chunk = os.read(descriptor, 4096)
            if not chunk:
                rest, partial = partial, ""
                return rest
            *whole, partial = (partial + decoder.decode(chunk)).split("\n")
            waiting.extend(line + "\n" for line in whole)
        return waiting.popleft()

    return read


def _writer(stream: TextIO) -> Callable[[str], object]:
    def write(text: str) -> None:
        stream.write(escape_control_characters(text))
        stream.flush()

    return write


class TerminalPlayer:
    """A person called ``name`` who plays a client of the spec at a terminal."""

    def __init__(self, spec: Spec, name: str, terminal: Terminal) -> None:
        self._spec = spec
        self._name = name
        self._terminal = terminal
        self._views = [module.shown for module in companions(spec, "views") if hasattr(module, "shown")]
        views = companions(spec, "views")
        self._steps = [module.steps for module in views if hasattr(module, "steps")]
        self._explained = "".join(
            f"{module.EXPLANATION.rstrip()}\n" for module in views if hasattr(module, "EXPLANATION")
        )
        self._explain = bool(self._explained)
        self._overtaken = ""
        self._left = ""

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """Ask the person; see `runtime.players.base.Player.decide`.

        Raises:
            LeftError: the person has left the game; from then on at once.
        """
        async with self._terminal.lock:
            if self._left:
                raise LeftError(self._left)
            self._tell_overtaken()
            self._terminal.forget_typed_ahead()
            if self._explain:
                self._say(f"\n{self._explained}")
                self._explain = False
            limit = f" ({seconds:g} s)" if seconds is not None else ""
            self._say(f"\n{self._name}, {question}{limit}\n")
            try:
                listed = legal_answers(self._spec, question, dict(arguments))
                if listed:
                    return await self._choose(question, dict(arguments), listed)
                return await self._fill_in(arguments, messages)
            except LeftError as left:
                self._say("\n")  # What says that the person left begins a line of its own.
                self._left = f"{self._name} left the game ({left})"
                raise LeftError(self._left) from None
            except anyio.get_cancelled_exc_class():
                # Told when the game goes on: if it does not, as after Ctrl-C, there is nothing to be late for.
                self._say("\n")
                self._overtaken = question
                raise

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Show what came; the board where the game has a view of it."""
        self._tell_overtaken()
        text = self._shown(message, fields)
        if not text:
            told = ", ".join(f"{name} {brief(value)}" for name, value in fields.items())
            text = f"{self._name} is told {message}{': ' + told if told else ''}"
        self._say(text.rstrip("\n") + "\n")
        self._terminal.told[self._name] = text, fields

    def _tell_overtaken(self) -> None:
        if self._overtaken:
            self._say(f"(too late: the question {self._overtaken} is closed)\n")
            self._overtaken = ""

    def _say(self, text: str) -> None:
        self._terminal.write(text)

    def _shown(self, message: str, fields: dict[str, Any]) -> str:
        """Return a message as the game shows it; empty if it does not."""
        return next((text for shown in self._views if (text := shown(message, fields))), "")

    async def _choose(self, question: str, arguments: dict[str, Any], listed: Sequence[tuple[str, Any]]) -> Any:
        """Return the answer picked: in steps where the game knows them, out of the list elsewhere."""
        paths = next((found for steps in self._steps if (found := steps(question, arguments, listed))), ())
        decided: tuple[Step, ...] = ()
        while paths:
            at = len(decided)
            left = [number for number, path in enumerate(paths) if path[:at] == decided]
            if len(paths[left[0]]) == at:
                return listed[left[0]][1]
            options = list(dict.fromkeys(paths[number][at] for number in left))
            if all(option.label.isdecimal() for option in options):
                options.sort(key=lambda option: int(option.label))
            if len(options) == 1 and at + 1 < len(paths[left[0]]):  # as the turns of a tile that looks the same in each
                decided = (*decided, options[0])
                continue
            words = (("back", "pages") if decided else ("pages",)) if len(paths[0]) > 1 else ()
            picked = await self._pick_step(options, words)
            if picked == "pages":
                break
            decided = (*decided, picked) if isinstance(picked, Step) else ()
        return await self._pick(listed)

    async def _pick(self, choices: Sequence[tuple[str, Any]]) -> Any:
        """Return the answer of the choice picked out of a numbered list."""
        picked = await self._pick_step([Step(NUMBER, str(number), told) for number, (told, _) in enumerate(choices, 1)])
        assert isinstance(picked, Step), "there is no other word"
        return choices[int(picked.label) - 1][1]

    async def _pick_step(self, options: Sequence[Step], words: tuple[str, ...] = ()) -> Step | str:
        """Show the options a page at a time and return the one picked, or one of the ``words`` if that was typed.

        More than a page of them is shown on request only, where they are called otherwise than by numbers.
        """
        listed, page = options, 0
        shows = options[0].what == NUMBER or len(options) <= PAGE
        following = 1 if shows else 0
        while True:
            pages = -(-len(listed) // PAGE)
            if shows:
                self._say(_listing(listed[page * PAGE : (page + 1) * PAGE]))
                following = page + 1
            only = listed is not options and len(listed) == 1
            more = words if listed is options else (*words, "all")
            self._say(_prompt(options[0], only=only, page=following % pages + 1, pages=pages, words=more))
            text = (await self._terminal.line()).strip()
            shows = False
            if text and (named := _named(text, options)) is not None:
                return named
            if text.isdecimal() and all(option.label.isdecimal() for option in options):
                self._say(f"there is no {text}: there are {_labels(options)}\n")
            elif not text and only:
                return listed[0]
            elif not text:
                page, shows = following % pages, True
            elif self._obeyed(text, [option.told for option in options]):
                pass
            elif text.lower() in words:
                return text.lower()
            elif text.lower() == "all":
                listed, page, shows = options, 0, True
            elif found := _found(text, options):
                listed, page, shows = found, 0, True
            else:
                self._say(f"none has {text!r}\n")

    def _obeyed(self, text: str, meant: Sequence[str] = ()) -> bool:
        """Do what ``help`` and ``quit`` ask for and return True, unless the word is one of those ``meant``.

        Raises:
            LeftError: it was ``quit``.
        """
        word = text.strip().lower()
        if word in map(str.lower, meant):
            return False
        if word == "quit":
            raise LeftError("quit")
        if word == "help":
            self._say(self._explained + HELP)
        return word == "help"

    async def _fill_in(self, arguments: Arguments, messages: tuple[str, ...]) -> Any:
        """Have a message chosen and its fields filled in."""
        for name, value in arguments:
            self._say(f"  {name}: {brief(value)}\n")
        name = messages[0]
        if len(messages) > 1:
            name = await self._pick([(message, message) for message in messages])
        message = self._spec.messages[name]
        shape = compile_message(message, self._spec.types)
        given = dict(arguments)
        while True:
            fields = {field.name: await self._fill(field, given) for field in message.fields}
            try:
                shape.build([fields[field] for field in shape.fields])
            except Mismatch as mismatch:  # each fits its field, but a text may hold what ends it in the message
                self._say(f"{name} cannot be written so: {mismatch}\n")
            else:
                return name, fields

    async def _fill(self, field: Field, given: dict[str, Any]) -> Any:
        reader = FieldReader(self._spec, field)
        offered = [given[field.name]] if field.name in given else [field.default] if field.optional else []
        enter = f" [Enter: {brief(offered[0])}]" if offered else ""
        while True:
            self._say(f"{field.name}, {reader.describe()}{enter}: ")
            text = await self._terminal.line()
            if offered and not text.strip():
                return offered[0]
            try:
                return reader.read(text)
            except Mismatch as mismatch:
                wrong = mismatch
            # Only now: where any text will do, these are texts too.
            if not self._obeyed(text):
                self._say(f"that is not it: {wrong}\n")


def _prompt(first: Step, *, only: bool, page: int, pages: int, words: Sequence[str]) -> str:
    """Return what stands before the cursor; ``page`` is the one that Enter shows."""
    wanted = NUMBER if first.what == NUMBER else f"{first.what}, such as {first.label}"
    enter = ["Enter for this one"] if only else [f"Enter for page {page} of {pages}"] if pages > 1 else []
    return f"{', '.join([wanted, *enter, 'words to look for', *words, 'help'])}: "


def _listing(options: Sequence[Step]) -> str:
    """Return the lines of a page: the drawings beside one another, under what each is called, then the options."""
    lines = []
    drawn = [option for option in options if option.drawing]
    for begin in range(0, len(drawn), DRAWINGS):
        row = drawn[begin : begin + DRAWINGS]
        columns = [(option.label.center(len(option.drawing[0])), *option.drawing) for option in row]
        lines += [f"       {'   '.join(line)}".rstrip() for line in zip(*columns, strict=True)]
    return "".join(f"{line}\n" for line in [*lines, *(f"{option.label:>5}  {option.told}" for option in options)])


def _named(text: str, options: Sequence[Step]) -> Step | None:
    """Return the option that is called so: spaces and capitals do not matter, nor do zeros before a number."""
    called = str(int(text)) if text.isdecimal() else _compact(text)
    return next((option for option in options if _compact(option.label) == called), None)


def _found(text: str, options: Sequence[Step]) -> list[Step]:
    """Return the options whose name begins so, or else those that have all the words."""
    if options[0].what == NUMBER:
        return [one for one in options if all(word in one.told.lower() for word in text.lower().split())]
    begun = [one for one in options if _compact(one.label).startswith(_compact(text))]
    words = text.lower().split()
    return begun or [one for one in options if all(word in f"{one.label} {one.told}".lower() for word in words)]


def _compact(text: str) -> str:
    return "".join(text.lower().split())


def _labels(options: Sequence[Step]) -> str:
    labels = [option.label for option in options]
    return f"1 to {len(labels)}" if labels == [str(n + 1) for n in range(len(labels))] else ", ".join(labels)
