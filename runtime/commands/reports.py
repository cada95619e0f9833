"""What ``accord check`` found, as text for people, JSON, SARIF 2.1.0 and JUnit.

A finding of the exploration is told like any problem, with its trace beside it; `ReportedProblem` is both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from machines.parser.mending import mended
from machines.problems import Problem
from machines.verification.verdict import POSSIBLE, UNDETERMINED, Finding, Verdict
from machines.yaml.nodes import BYTES_MAX
from runtime.commands.verification import shown, shown_step
from runtime.manual import pages
from runtime.process.terminal_text import escape_control_characters

if TYPE_CHECKING:
    from xml.etree import ElementTree

    from runtime.simulation.reach import Reach

Format = Literal["text", "json", "sarif", "junit"]
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
POSSIBLE_MEANS = {
    "other": "it may be so or not: the real sessions, given these steps, did otherwise (accord explain possible)",
    "unfinished": "it may be so or not: the budget was spent before the real sessions, given these steps, did the same "
    "(--budget sets another; accord explain possible)",
}
LINE_MAX = 160  # characters of a source line that are shown


@dataclass(frozen=True, slots=True)
class ReportedProblem:
    """One thing to tell: a problem, the trace to it if it was explored, and the reason if the spec accepts it.

    ``run`` is a run that shows a problem of one role, or says that there is none. ``messages`` are the last ones of a
    game that was played.
    """

    problem: Problem
    finding: Finding | None = None
    reason: str | None = None
    run: Finding | None = None
    messages: tuple[str, ...] = ()

    @property
    def is_possible(self) -> bool:
        """Whether the exploration found it, and no replay did as its trace has it."""
        return self.finding is not None and self.finding.is_possible

    @property
    def trace(self) -> tuple[str, ...]:
        """The steps to it, a line each."""
        if self.messages:
            return self.messages
        shown = self.finding or self.run
        return tuple(map(str, shown.trace)) if shown is not None else ()

    @property
    def outcome(self) -> str:
        """What comes of a run that shows a problem of one role, and how sure that is; nothing if there is none."""
        if self.run is None:
            return ""
        return f"{self.run.text} ({self.run.sure})" if self.run.trace else self.run.text


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in one spec: what is wrong, what it accepts, and the verdict on its roles together.

    ``error`` says why it was not checked at all. The verdict has the findings that are not accepted. ``notes`` say why
    there is no run that shows a problem. ``games`` is how many were played, None if none was to be; ``unknown`` says
    why it is not known of all how they go, ``reached`` how far they came.
    """

    spec: str
    problems: tuple[ReportedProblem, ...] = ()
    accepted: tuple[ReportedProblem, ...] = ()
    verdict: Verdict | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()
    games: int | None = None
    unknown: tuple[str, ...] = ()
    reached: Reach | None = None

    @property
    def state(self) -> Literal["wrong", "unknown", "right"]:
        """Wrong if there is anything to mend; unknown if something is only possible, or a bound was met before."""
        if self.error is not None or any(not told.is_possible for told in self.problems):
            return "wrong"
        return "unknown" if self.unknown or self._is_undecided else "right"

    @property
    def _is_undecided(self) -> bool:
        """Whether the verdict is not certain, and not by what the spec accepts alone."""
        if self.verdict is None or self.verdict.state not in (POSSIBLE, UNDETERMINED):
            return False
        accepted = {told.problem.text for told in self.accepted}
        return self.verdict.state == POSSIBLE or not accepted.issuperset(self.verdict.beyond)


# -- text ------------------------------------------------------------------------------------------------------------


def text_lines(report: Report, *, charts: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the lines for people, each with its style: problem, source, caret, trace or accepted.

    With ``charts`` each trace is drawn too, as a sequence diagram in plain characters.
    """
    for told in report.problems:
        yield from _heading(told)
        whole = told.finding is not None and told.finding.place is None  # it is of no line
        for line in () if whole else _excerpt(told.problem):
            yield ("caret" if line.endswith("^") else "source"), line
        meant = mended_line(told.problem)
        if meant:
            yield "source", f"       mended: {meant[:LINE_MAX]}"
        for at, step in enumerate(told.trace, start=1):
            yield "trace", f"    {at:>3} {step}"
        if told.is_possible:
            assert told.finding is not None, "else it is no finding that is possible"
            yield "trace", f"        {POSSIBLE_MEANS[told.finding.replay]}"
        if told.outcome:
            yield "trace", f"        {told.outcome}"
        shown = told.finding or told.run
        if charts and shown is not None and shown.trace:
            for line in chart(shown, told.problem):
                yield "trace", f"        {line}".rstrip()
    for told in report.accepted:
        problem = told.problem
        yield "accepted", f"{problem.place}: accepted: {problem.code} {problem.text} (because: {told.reason})"


def chart(finding: Finding, problem: Problem) -> list[str]:
    """Return the trace of a finding as a sequence diagram in plain characters, a line each, between two empty ones."""
    from diagrams.sequences.from_trace import scenario
    from diagrams.sequences.text import scenario_chart

    drawn = scenario(finding, "", finding.text, problem.place)
    return ["", *scenario_chart(drawn).splitlines()[2:], ""]  # its text has been told


def _heading(told: ReportedProblem) -> Iterator[tuple[str, str]]:
    if told.finding is None:
        yield "problem", str(told.problem)
        return
    style = "accepted" if told.is_possible else "problem"
    for at, line in enumerate(told.finding.lines()):
        if at <= bool(told.finding.hint):  # then come its steps
            yield style if at == 0 else "source", line


def _excerpt(problem: Problem) -> list[str]:
    """Return the source line of a problem and one with a caret below its column; nothing if it can not be read."""
    place = problem.place
    lines = _source(place.file)
    if not 1 <= place.line <= len(lines):
        return []
    line = escape_control_characters(lines[place.line - 1].replace("\t", " "))
    column = len(escape_control_characters(lines[place.line - 1][: place.column - 1].replace("\t", " ")))
    if not line.strip() or column > LINE_MAX:
        return []
    number = f"{place.line:>5}"
    return [f"{number} | {line[:LINE_MAX]}", f"{' ' * len(number)} | {' ' * column}^"]


def mended_line(problem: Problem) -> str:
    """Return the line of a problem as it was meant, without its indent; nothing if nobody can tell."""
    source = "\n".join(_source(problem.place.file)) if problem.mends else ""
    text, done = mended(source, [problem])
    if done and done[0].shown:
        return escape_control_characters(done[0].shown)
    return escape_control_characters(text.splitlines()[done[0].place.line - 1].strip()) if done else ""


def forget_sources() -> None:
    """Forget the files whose lines were shown: they are read again."""
    _source.cache_clear()


@lru_cache(maxsize=16)
def _source(file: str) -> tuple[str, ...]:
    try:
        with Path(file).open("rb") as source:  # no more than is read of a spec, which may be longer than memory
            return tuple(source.read(BYTES_MAX).decode("utf-8", "replace").splitlines())
    except (OSError, ValueError):
        return ()


# -- JSON ------------------------------------------------------------------------------------------------------------


def as_json(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the reports as one JSON object."""
    return {"ok": all(report.state == "right" for report in reports), "specs": [_report(one) for one in reports]}


def _report(report: Report) -> dict[str, Any]:
    about: dict[str, Any] = {
        "spec": report.spec,
        "problems": [_told(told) for told in report.problems if told.finding is None],
        "accepted": [_told(told) | {"reason": told.reason} for told in report.accepted],
    }
    if report.error is not None:
        about["error"] = report.error
    if report.games is not None:
        about["games"] = report.games
        about["unknown"] = list(report.unknown)
    if report.reached is not None:
        reached = report.reached
        about["reached"] = {"taken": reached.taken, "branches": reached.branches, "untouched": list(reached.untouched)}
    if report.verdict is not None:
        about["explored"] = shown(report.verdict)
    return about


def _told(told: ReportedProblem) -> dict[str, Any]:
    place = told.problem.place
    about: dict[str, Any] = {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "code": told.problem.code,
        "text": told.problem.text,
        "hint": told.problem.hint,
    }
    meant = mended_line(told.problem)
    if meant:
        about["mended"] = meant
    if told.run is not None:
        steps = [shown_step(step) for step in told.run.trace]
        about |= {"clients": told.run.clients, "confirmed": told.run.confirmed, "trace": steps, "shows": told.run.text}
    if told.messages:
        about["messages"] = list(told.messages)
    return about


# -- SARIF -----------------------------------------------------------------------------------------------------------


def as_sarif(reports: Sequence[Report], version: str) -> dict[str, Any]:
    """Return the reports as a SARIF 2.1.0 log with one run; what is accepted is a result that is suppressed."""
    told = [one for report in reports for one in (*report.problems, *report.accepted)]
    codes = sorted({one.problem.code for one in told})
    notes = [
        {"level": level, "message": {"text": f"{report.spec}: {text}"}}
        for report in reports
        for level, text in _notes(report)
    ]
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "accord", "version": version, "rules": [_rule(code) for code in codes]}},
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": all(report.error is None for report in reports),
                        "toolExecutionNotifications": notes,
                    }
                ],
                "results": [_result(one, codes.index(one.problem.code)) for one in told],
            }
        ],
    }


def _notes(report: Report) -> Iterator[tuple[str, str]]:
    if report.error is not None:
        yield "error", report.error
    if report.verdict is not None:
        for text in report.verdict.beyond:
            yield "warning", f"unknown: {text}"
    for text in report.unknown:
        yield "warning", f"unknown: games: {text}"


def _rule(code: str) -> dict[str, Any]:
    page = pages().get(code)
    rule: dict[str, Any] = {"id": code}
    if page is not None:
        why = " ".join(page.why.split())
        rule |= {"shortDescription": {"text": page.says}, "fullDescription": {"text": why}}
        rule["help"] = {"text": f"{why}\n\nBad:\n\n{page.bad.text}\nMended:\n\n{page.mended.text}"}
    return rule


def _result(told: ReportedProblem, index: int) -> dict[str, Any]:
    problem = told.problem
    place = problem.place
    path = Path(place.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": index,
        "level": "warning" if told.is_possible else "error",
        "message": {
            "text": ("possible: " if told.is_possible else "")
            + problem.text
            + (f" ({problem.hint})" if problem.hint else "")
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri},
                    "region": {"startLine": place.line, "startColumn": place.column},
                }
            }
        ],
    }
    if told.trace:
        lines = [*told.trace, *([told.outcome] if told.outcome else [])]
        steps = [{"location": {"message": {"text": line}}} for line in lines]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if told.reason is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": told.reason}]
    return result


# -- JUnit -----------------------------------------------------------------------------------------------------------


def as_junit(reports: Iterable[Report]) -> str:
    """Return the reports as a JUnit file: a suite for each spec, a case for each problem, and one if there is none."""
    from xml.etree import ElementTree

    top = ElementTree.Element("testsuites", name="accord check")
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for report in reports:
        suite = ElementTree.SubElement(top, "testsuite", name=escape_control_characters(report.spec))
        counts = dict.fromkeys(totals, 0)
        for told in report.problems:
            problem = told.problem
            case = _case(suite, report, f"{problem.code} {problem.place}", counts)
            kind = "error" if told.is_possible else "failure"  # an error says that it could not be decided
            counts[f"{kind}s"] += 1
            text = f"{'possible: ' if told.is_possible else ''}{problem.text}"
            failure = ElementTree.SubElement(case, kind, type=problem.code, message=escape_control_characters(text))
            steps = [f"{at} {step}" for at, step in enumerate(told.trace, start=1)]
            steps += [told.outcome] if told.outcome else []
            failure.text = "\n".join(map(escape_control_characters, [str(problem), *steps]))
        for told in report.accepted:
            case = _case(suite, report, f"{told.problem.code} {told.problem.place}", counts)
            counts["skipped"] += 1
            ElementTree.SubElement(case, "skipped", message=escape_control_characters(f"accepted: {told.reason}"))
        for level, text in _notes(report):
            case = _case(suite, report, "not checked" if level == "error" else "undetermined", counts)
            counts["errors"] += 1
            ElementTree.SubElement(case, "error", type=level, message=escape_control_characters(text))
        if report.state == "right":
            _case(suite, report, "no problems", counts)
        for name, count in counts.items():
            suite.set(name, str(count))
            totals[name] += count
    for name, count in totals.items():
        top.set(name, str(count))
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="unicode", xml_declaration=False)


def _case(suite: ElementTree.Element, report: Report, name: str, counts: dict[str, int]) -> ElementTree.Element:
    from xml.etree import ElementTree

    counts["tests"] += 1
    return ElementTree.SubElement(
        suite, "testcase", classname=escape_control_characters(report.spec), name=escape_control_characters(name)
    )
