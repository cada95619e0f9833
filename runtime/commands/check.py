"""``accord check``: all problems of specs, in file order; of those without any, whether the roles fit each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from machines.checks.checker import check_with_suppressions
from machines.checks.suppressions import Allowed, split_suppressed, unused_suppressions
from machines.model import Spec
from machines.parser.loader import RulesError, SpecNotFound, load, rules_modules
from machines.problems import SpecError
from machines.verification.verdict import Verdict
from runtime.commands.exit_codes import OK, PROBLEMS, UNDETERMINED, CommandError
from runtime.commands.fixing import fix
from runtime.commands.games import GameOptions, Plan
from runtime.commands.options import Json, SpecName, SpecOptions, are_modules, is_spec, pages_are_there, settings_of
from runtime.commands.reports import Format, Report, ReportedProblem, as_json, as_junit, as_sarif, text_lines
from runtime.commands.trace_pages import show_traces
from runtime.commands.verification import Bounds, explored, shown_runs
from runtime.commands.watch import WatchOptions, watch
from runtime.process.output import note, put, results
from runtime.process.terminal_text import escape_control_characters

NAMED_MAX = 3  # specs that the last line names; of more it says how many
_STYLES = {"problem": "bold red", "source": "dim", "caret": "bold green", "accepted": "yellow"}


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How what is found is told, and where."""

    charts: Annotated[
        bool, Parameter(negative=(), help="Draw each trace too, as a sequence diagram in plain characters.")
    ] = False
    why: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Say too, a line each, what the verdict rests on: reductions, assumptions, notes, bounds.",
        ),
    ] = False
    fix: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Write into the spec first what is known to have been meant: quotes, signs, units of time.",
        ),
    ] = False
    studio: Annotated[
        bool, Parameter(negative=(), help="Then show the runs to what was found in a browser, step by step.")
    ] = False
    json: Json = False
    format_: Annotated[
        Format | None,
        Parameter(name="--format", help="How it is told, text if left out; --json is --format json."),
    ] = None
    journals: Annotated[
        Path | None,
        Parameter(help="A folder for what confirmed each finding: journals to replay and draw, a script to try."),
    ] = None
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="A file to write instead of standard output.")
    ] = None

    @property
    def form(self) -> Format:
        """What the report is written as.

        Raises:
            CommandError: two are asked for, or charts where they have no place.
        """
        if self.json and self.format_ not in (None, "json"):
            raise CommandError(f"--json and --format {self.format_} exclude one another: leave one of them out")
        return "json" if self.json else self.format_ or "text"


def check(
    *specs: SpecName,
    given: SpecOptions = SpecOptions(),
    bounds: Bounds = Bounds(),
    games: GameOptions = GameOptions(),
    report: ReportOptions = ReportOptions(),
    watching: WatchOptions = WatchOptions(),
) -> int:
    """Report every problem of one or more specs: FILE:LINE:COLUMN: CODE what (what to do), and the line it stands in.

    A spec without problems is then explored: all its roles together, with every move that a player may make, every
    limit that may pass and every connection that may be lost. What is found has the shortest trace to it. So have
    problems of one role that a run can show, of each code the first (or each, with --traces all): a wait without end,
    an answer that is missing, a name without a value, messages taken for each other. A problem that the spec accepts,
    with a reason, is listed as such. `accord explain CODE` says what a code means.
    With --games, where nothing is found, the roles then play whole games in memory, with the rules and the players of
    the spec: all good, and one of them lying, silent, gone and so on, a game each. --record keeps how they went, and
    --baseline tells each game that goes another way since.
    With --studio, the runs to what is found are then shown in a browser, step by step, until Ctrl-C.
    With --fix, what is known to have been meant (a line 'mended:' shows it) is first written into the files given.
    With --journals, each session of a replay that confirmed a finding is kept: accord replay and accord draw --journal
    show it, accord try --script plays all of it. With --set, another value of a setting is looked at than the spec has;
    --why says what it rests on.
    Exit code 0 if nothing is found, 2 if something is, 3 if a bound was met before all was looked at, or if what is
    found is only possible: no replay with the real sessions did the same. Without games nothing is run but the specs'
    rules modules are imported.
    """
    if not specs:
        raise CommandError("check needs a spec: accord check SPEC...")
    _check_together(report, watching, games)
    are_modules(given.rules)
    for line in (told for name in specs if report.fix for told in fix(name, given.rules)):
        note(f"mended: {line}")
    plan = games.plan()
    checked = partial(
        _checked, rules=given.rules, settings=settings_of(given.settings), bounds=bounds, plan=plan,
        journals=report.journals,
    )  # fmt: skip
    if watching.watch:
        watch(specs, checked, draw=watching.folder(report.output), rules=given.rules, json=report.form == "json")
    reports = _reported(specs, checked, report)
    if report.studio:
        show_traces(reports, partial(load, settings=settings_of(given.settings), rules=given.rules))
    states = {one.state for one in reports}
    if kept := plan.write(all_right="wrong" not in states):
        note(kept)
    return PROBLEMS if "wrong" in states else UNDETERMINED if "unknown" in states else OK


def _check_together(report: ReportOptions, watching: WatchOptions, games: GameOptions) -> None:
    """Make sure that options go together.

    Raises:
        CommandError: two do not.
    """
    if report.charts and (watching.watch or report.form != "text"):
        raise CommandError("--charts draws in the text of a check that is not watched")
    if watching.watch and report.form not in ("text", "json"):
        raise CommandError(f"--watch tells text or JSON, not {report.form}")
    if watching.watch and games.record is not None:
        raise CommandError("--record is for a check that is not watched")
    if report.studio:
        if watching.watch:
            raise CommandError("--studio shows what one check found, and --watch makes many")
        pages_are_there("--charts draws the runs as text")
    if watching.watch and report.journals is not None:
        raise CommandError("--journals is for a check that is not watched")
    if watching.draw and not watching.watch:
        raise CommandError("--draw is for --watch: otherwise it is accord draw")


def _reported(specs: Sequence[str], checked: Callable[[str], Report], how: ReportOptions) -> list[Report]:
    """Check specs one after another, and tell of them: text to the terminal at once, all else at the end."""
    reports: list[Report] = []
    lines: list[str] = []  # that are written at the end
    for name in specs:
        reports.append(checked(name))
        lines += _told(reports[-1], how)
    if how.form != "text":
        lines.append(_written(how.form, reports))
    if how.output is not None:
        _save(how.output, lines)
    else:
        for line in lines:
            put(line)
    if how.form == "text":
        note(_summary(specs, reports))
    return reports


def _told(report: Report, how: ReportOptions) -> list[str]:
    """Tell of a spec at once, where text goes to the terminal; return the lines that go to a file."""
    if report.error is not None:
        note(f"accord: {report.error}")
    if how.form != "text":
        return []
    lines: list[str] = []
    if how.output is None:
        _print(text_lines(report, charts=how.charts))
    else:
        lines = [escape_control_characters(line) for _, line in text_lines(report, charts=how.charts)]
    for line in (*_about(report.verdict, why=how.why), *report.notes):
        note(f"{report.spec}: {line}")
    return lines


def _checked(
    name: str, *, rules: list[str], settings: dict[str, str], bounds: Bounds, plan: Plan, journals: Path | None
) -> Report:
    try:
        is_spec(name)
        spec = load(name, settings, rules)
        modules = rules_modules(spec, rules)
        problems, allowed = check_with_suppressions(spec, modules)
    except (SpecNotFound, RulesError) as error:
        return Report(name, error=str(error))
    except SpecError as error:
        return Report(name, tuple(map(ReportedProblem, error.problems)))
    accepted = tuple(ReportedProblem(one.problem, reason=one.by.reason) for one in allowed)
    if problems:
        runs = shown_runs(spec, rules, problems, bounds)
        told = tuple(ReportedProblem(problem, run=runs.runs.get(problem)) for problem in problems)
        return Report(name, told, accepted, notes=runs.notes)
    report = Report(name, accepted=accepted)
    if bounds.clients:
        verdict = replace(
            explored(spec, rules, bounds, name), settings=tuple(f"{name}={value}" for name, value in settings.items())
        )
        report = _with_verdict(name, spec, allowed, accepted, verdict)
        if journals is not None:
            from runtime.commands.finding_journals import write_journals

            written = tuple(write_journals(journals, name, spec, verdict, settings, rules))
            report = replace(report, notes=(*report.notes, *written))
    return plan.report(report, spec, modules, lambda times: bounds.new_budget(name, times))


def _with_verdict(
    name: str, spec: Spec, allowed: list[Allowed], accepted: tuple[ReportedProblem, ...], verdict: Verdict
) -> Report:
    """Return the report of an exploration: what the spec accepts of its findings is listed apart."""
    told: list[ReportedProblem] = []
    left = []
    for finding in (*verdict.findings, *verdict.dead):
        problem = finding.problem(spec.place)
        _, by = split_suppressed(spec, [problem])
        if by:
            allowed = [*allowed, *by]
            accepted = (*accepted, ReportedProblem(problem, finding, by[0].by.reason))
        else:
            told.append(ReportedProblem(problem, finding))
            left.append(finding)
    if not verdict.beyond:  # else it may be there, only further on
        told += map(ReportedProblem, unused_suppressions(spec, allowed, lambda code: code.startswith("A5")))
    findings = tuple(one for one in left if one not in verdict.dead)
    dead = tuple(one for one in left if one in verdict.dead)
    return Report(name, tuple(told), accepted, replace(verdict, findings=findings, dead=dead))


def _about(verdict: Verdict | None, *, why: bool) -> Iterator[str]:
    """Yield what is told of a verdict besides its findings: a line, and one for each thing that is not known."""
    if verdict is None:
        return
    yield from verdict.summary() if why else verdict.short()
    for line in verdict.rests_on if why else ():
        yield f"rests on: {line}"


def _print(lines: Iterable[tuple[str, str]]) -> None:
    """Write lines for people, in colours if a person sees them on a terminal that has some."""
    if not results().isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        for _, line in lines:
            put(line)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=results(), highlight=False, soft_wrap=True)
    for style, line in lines:
        console.print(Text(escape_control_characters(line), style=_STYLES.get(style, "")))


def _written(form: Format, reports: list[Report]) -> str:
    import msgspec

    from machines.values import plain

    if form == "junit":
        return as_junit(reports)
    if form == "json":
        return msgspec.json.encode(plain(as_json(reports))).decode()
    from runtime.process.installation import program_version

    return msgspec.json.encode(as_sarif(reports, program_version())).decode()


def _save(file: Path, lines: list[str]) -> None:
    try:
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file} can not be written: {(error.strerror or str(error)).lower()}") from None


def _summary(specs: Sequence[str], reports: list[Report]) -> str:
    every = [told for report in reports for told in report.problems]
    count = sum(told.problem.count for told in every if not told.is_possible)
    possible = sum(told.problem.count for told in every if told.is_possible)
    missing = sum(report.error is not None for report in reports)
    told = [f"{count} problem{'' if count == 1 else 's'}"] if count else []
    if possible:
        told.append(f"{possible} possible problem{'' if possible == 1 else 's'}")
    if missing:
        told.append(f"{missing} spec{'' if missing == 1 else 's'} not checked")
    if told:
        return ", ".join(told)
    return f"no problems in {', '.join(specs) if len(specs) <= NAMED_MAX else f'{len(specs)} specs'}"
