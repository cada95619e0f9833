"""``accord check --watch``: a spec checked, and drawn, again on every save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from machines.parser.loader import SpecNotFound
from machines.problems import SpecError
from runtime.commands import file_watcher
from runtime.commands.exit_codes import CommandError
from runtime.commands.options import looked_at
from runtime.commands.reports import Report, as_json, forget_sources, text_lines
from runtime.process.output import note, put, put_json

FOLDER = Path("pictures")


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Whether a check goes on, and draws too."""

    watch: Annotated[
        bool,
        Parameter(help="Check again on every save, and tell what has changed; Ctrl-C ends it, with exit code 130."),
    ] = False
    draw: Annotated[
        bool, Parameter(help="With --watch: draw again too, into the folder -o (pictures if left out).")
    ] = False

    def folder(self, output: Path | None) -> Path | None:
        """Return the folder for pictures, None if nothing is to be drawn.

        Raises:
            CommandError: a file for the report is named: what is watched is told as it comes.
        """
        if output is not None and not self.draw:
            raise CommandError("--watch tells on the terminal what it finds: -o is the folder of --draw")
        return (output or FOLDER) if self.draw else None


def watch(
    specs: Sequence[str],
    checked: Callable[[str], Report],
    *,
    draw: Path | None,
    rules: Sequence[str],
    json: bool,
) -> None:
    """Check specs now and whenever they are saved, until Ctrl-C.

    What is new is told on standard output, what is mended with ``mended:`` in front; with ``json`` the whole report is
    a line whenever it is another. ``draw`` is the folder for pictures; those that change are named.

    Raises:
        KeyboardInterrupt: the person ended it.
        CommandError: the pictures cannot be drawn or written.
    """
    changes = file_watcher.Changes()
    drawn: dict[str, str] = {}
    before: dict[str, object] = {}

    def look(name: str) -> None:
        forget_sources()
        report = checked(name)
        new, gone = changes.since(name, _blocks(report))
        if json:
            told = as_json([report])
            if before.get(name) != told:
                put_json(told)
            before[name] = told
        else:
            for line in new:
                put(line)
            for key in gone:
                put(f"mended: {key}")
            if new or gone or name not in before:
                note(f"{name}: {_state(report)}")
            before[name] = True
        if draw is not None:
            for path in _redrawn(name, draw, drawn, rules):
                (note if json else put)(f"drawn: {path}")

    note(f"watching {', '.join(specs)}; Ctrl-C ends it")
    file_watcher.watch(specs, look, lambda: file_watcher.pause())


def _blocks(report: Report) -> list[tuple[str, list[str]]]:
    """Return what is told of a report, in blocks: a problem keeps its key when lines are put in above it."""
    if report.error is not None:
        return [(report.error, [report.error])]
    blocks: list[tuple[str, list[str]]] = []
    for told in report.problems:
        lines = [line for _, line in text_lines(Report(report.spec, (told,)))]
        blocks.append((f"{told.problem.code} {told.problem.text}", lines))
    if report.verdict is not None:
        blocks += [(line, [f"{report.spec}: {line}"]) for line in report.verdict.beyond]
    blocks += [(line, [f"{report.spec}: games: {line}"]) for line in report.unknown]
    return blocks


def _state(report: Report) -> str:
    count = sum(told.problem.count for told in report.problems if not told.is_possible)
    if report.error is not None:
        return "not checked"
    if count:
        return f"{count} problem{'' if count == 1 else 's'}"
    return "no problems, but not all could be looked at" if report.state == "unknown" else "no problems"


def _redrawn(name: str, folder: Path, drawn: dict[str, str], rules: Sequence[str]) -> list[Path]:
    """Draw what has changed of a spec; nothing while it cannot be read. Return the pictures written."""
    from diagrams.catalogue import album
    from runtime.commands.draw import written

    try:
        drawings = [one for one in album(looked_at(name, rules)) if drawn.get(f"{name}/{one.stem}") != one.dot]
    except (SpecError, SpecNotFound):
        return []  # what is wrong has been told
    paths = written(drawings, folder, ("svg", "dot"))
    drawn.update({f"{name}/{one.stem}": one.dot for one in drawings})
    return [path for path in paths if path.suffix == ".svg"]
