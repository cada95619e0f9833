"""``accord try``: a protocol tried by hand, all its roles in one terminal, without a socket."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from machines.checks.checker import check
from machines.model import Spec
from machines.parser.loader import load
from machines.problems import SpecError, near
from machines.verification.foreign import with_anything
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.journals import head_of
from runtime.commands.options import (
    Json,
    Rules,
    Settings,
    SpecName,
    are_modules,
    is_spec,
    missing_rules,
    seed_of,
    settings_of,
)
from runtime.playground.export import command_of, save
from runtime.playground.message_input import ChoiceError
from runtime.playground.repl import EndedError, Repl
from runtime.playground.status import state_lines
from runtime.playground.stubs import RuleStubs
from runtime.process.output import note, put, put_json, results
from runtime.process.terminal_text import escape_control_characters

SCRIPT_BYTES_MAX = 1 << 20
LINE_MAX = 1 << 20  # Characters of a line of standard input.
_STYLES = {
    "sent": "cyan",
    "heard": "dim",
    "asked": "yellow",
    "note": "dim",
    "warning": "red",
    "closed": "magenta",
    "ended": "bold",
    "state": "green",
    "choice": "",
    "wrong": "red",
    "input": "bold",
}


def try_(
    spec: SpecName,
    /,
    *,
    script: Annotated[Path | None, Parameter(help="Do the choices of this file, a line each, and ask nothing.")] = None,
    by_hand: Annotated[
        list[str], Parameter(help="A role of which a person sends every message; may be given again.", negative=())
    ] = [],  # noqa: B006 (cyclopts makes a new list)
    seed: Annotated[int, Parameter(help="What chance depends on.")] = 0,
    settings: Settings = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
    json: Json = False,
) -> int:
    """Play all roles of a spec by hand: connect clients, decide for their players, send messages, let time pass.

    Nothing is awaited and no port is opened; what happens is told a line each, and where everybody stands is shown.
    Rules that a spec names and that are not there are no hindrance: you are asked what they say. Type help for what
    can be chosen. Exit code 0 when you leave; with --script, 1 if a session failed, 2 if a line cannot be done.
    """
    overridden = settings_of(settings)
    seed_of(seed)
    read = with_anything(_read(spec, overridden, rules))
    by_hand = [*by_hand, *(role for role in read.foreign if role not in by_hand)]
    for role in by_hand:
        if role not in read.roles:
            known = near(role, read.roles) or ", ".join(read.roles)
            raise CommandError(f"{read.protocol} has no role {role!r}: {known}")
    screen = _Screen(quiet=json)

    def saved(path: str, role: str | None, desk: Repl) -> str:
        head = head_of(spec, read, "", seed=seed, settings=overridden, rules=rules)
        return save(path, role, desk, head, command_of(spec, overridden, by_hand, seed))

    lines, strict = _lines() if script is None else iter(_script(script)), script is not None
    try:
        desk = Repl(read, lines, screen, seed=seed, by_hand=by_hand, allowed=rules, strict=strict, save=saved)
    except EndedError:
        return OK
    except ChoiceError as error:
        raise CommandError(f"the parties that listen cannot begin: {error}") from None
    try:
        desk.run()
    except ChoiceError as error:
        raise CommandError(f"{script}:{desk.number}: {error}") from None
    facts = _facts(desk, screen)
    if json:
        put_json(facts)
    elif script is not None:
        desk.states()
    return FAILED if facts["failed"] and script is not None else OK


def _facts(desk: Repl, screen: _Screen) -> dict[str, Any]:
    """Return what was tried, for programs."""
    sessions = {party.name: party.session for party in desk.trial.parties.values() if party.session is not None}
    ends = {name: session.ended for name, session in sessions.items() if session.ended is not None}
    return {
        "spec": desk.spec.protocol,
        "seconds": desk.trial.now,
        "told": screen.told,
        "states": state_lines(desk.trial),
        "failed": [name for name, ended in ends.items() if ended.failed is not None],
        "script": desk.script(),
    }


def _read(name: str, settings: dict[str, str], rules: list[str]) -> Spec:
    """Return a spec without problems; rules that are not there are no problem here.

    Raises:
        CommandError, SpecError, SpecNotFound, SettingError: as for `runtime.commands.options.loaded`.
    """
    is_spec(name)
    are_modules(rules)
    spec = load(name, settings, [*rules, *missing_rules(name)])
    problems = tuple(check(spec, RuleStubs(spec, rules, lambda *_: None).modules))
    if problems:
        raise SpecError(problems)
    return spec


def _lines() -> Iterator[str]:
    """Yield the lines of standard input as they come.

    Raises:
        CommandError: one is too long.
    """
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    while sys.stdin is not None:
        try:
            line = sys.stdin.readline(LINE_MAX + 1)
        except (OSError, ValueError):  # it is closed, or a folder
            return
        if not line:
            return
        if len(line) > LINE_MAX:
            raise CommandError(f"standard input: a line has at most {LINE_MAX} characters")
        yield line


def _script(path: Path) -> list[str]:
    """Return the lines of a script.

    Raises:
        CommandError: it cannot be read, or is too long.
    """
    try:
        if not path.is_file():
            no_script = "this is no file that a script could stand in" if path.exists() else "there is no such file"
            raise CommandError(f"{path}: {no_script}")
        with path.open("rb") as file:
            raw = file.read(SCRIPT_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > SCRIPT_BYTES_MAX:
        raise CommandError(f"{path}: a script has at most {SCRIPT_BYTES_MAX} bytes")
    return raw.decode("utf-8", "replace").splitlines()


class _Screen:
    """Standard output, in colours where that is a terminal that has them; prompts go to standard error."""

    def __init__(self, *, quiet: bool) -> None:
        self.told: list[dict[str, str]] = []
        self._quiet = quiet
        self._console: Any = None
        if not quiet and results().isatty():
            from rich.console import Console

            self._console = Console(file=results(), highlight=False, markup=False, emoji=False)

    def show(self, kind: str, line: str) -> None:
        """Show a line; with ``quiet`` it goes to standard error, and is kept for the result."""
        if self._quiet:
            if kind not in ("state", "choice", "wrong", "input"):
                self.told.append({"kind": kind, "text": line})
            note(line)
        elif self._console is not None:
            self._console.print(escape_control_characters(line), style=_STYLES.get(kind, ""), soft_wrap=True)
        else:
            put(line)

    def ask(self, prompt: str) -> None:
        """Show a prompt."""
        sys.stderr.write(escape_control_characters(prompt))
        sys.stderr.flush()
