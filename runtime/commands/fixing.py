"""``accord check --fix``: what is known to have been meant is written into the spec's file, before it is checked."""

from __future__ import annotations

from pathlib import Path

from machines.checks.checker import check_with_suppressions
from machines.parser.loader import RulesError, SpecNotFound, find, is_path, label, load, rules_modules
from machines.parser.mending import mended
from machines.problems import Mend, Problem, SpecError
from machines.yaml.nodes import BYTES_MAX
from runtime.commands.exit_codes import CommandError

ROUNDS_MAX = 20  # What is mended may show what was hidden behind it; each round mends something.


def fix(name: str, rules: list[str]) -> list[str]:
    """Write what can be mended into the file of a spec; return a line for each place that was.

    Raises:
        CommandError: the spec is no file of one's own, or can not be written.
    """
    if not is_path(name):
        raise CommandError(f"--fix is for a file, and {name} is a spec that ships: give its path")
    try:
        path = find(name)
        text = path.read_bytes()[: BYTES_MAX + 1].decode("utf-8")
    except (SpecNotFound, OSError, UnicodeDecodeError):
        return []  # the check says why
    told: list[str] = []
    for _ in range(ROUNDS_MAX):
        own = [problem for problem in _problems(name, rules) if problem.place.file == label(path)]
        text, done = mended(text, own)
        if not done:
            break
        _write(path, text)
        told += [_said(mend) for mend in done]
    return told


def _problems(name: str, rules: list[str]) -> tuple[Problem, ...]:
    try:
        spec = load(name, {}, rules)
        return tuple(check_with_suppressions(spec, rules_modules(spec, rules))[0])
    except SpecError as error:
        return error.problems
    except (SpecNotFound, RulesError):
        return ()


def _said(mend: Mend) -> str:
    if mend.shown:
        return f"{mend.place}: {mend.shown}"
    return f"{mend.place}: {mend.old.strip()} is now {mend.new.strip()}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise CommandError(f"{path} can not be written: {(error.strerror or str(error)).lower()}") from None
