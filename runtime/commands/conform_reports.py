"""What ``accord conform`` tells, as text, JSON, JUnit or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from machines.conforming.case_results import CaseResult, Crossing
from machines.conforming.judging import Judgement, RequirementVerdict, covered, line_of
from runtime.commands.exit_codes import FAILED, OK, UNDETERMINED, CommandError
from runtime.process.output import note, put
from runtime.process.terminal_text import escape_control_characters

LINES_SHOWN: Final = 6  # of the way to a fail
BYTES_SHOWN: Final = 110
PRINTED_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """Verdicts about a program. ``shown`` are the options that say which, ``seconds`` how long it took."""

    spec: str
    shown: str
    found: Judgement
    seed: int
    seconds: float

    def again(self, verdict: RequirementVerdict) -> str:
        """Return the command that runs a failed case again, alone."""
        case = f"@{verdict.failed[0].case.id}" if verdict.failed else ""
        return f"accord conform {self.spec} {self.found.role} {self.shown} --only '{verdict.requirement.id}{case}'"


def exit_code(found: Judgement) -> int:
    """Return 1 if a must fails, 3 if one is open or no case ran, else 0; what is known counts for nothing."""
    if any(not one.known for one in found.of("fail", "must")):
        return FAILED
    if not found.results or any(not one.known for one in found.of("open", "must")):
        return UNDETERMINED
    return OK


def written(report: ConformanceReport, form: str, out: Path | None, html: Path | None) -> None:
    """Write a report to standard output or a file, and a page if one is asked for.

    Raises:
        CommandError: a file cannot be written.
    """
    text = FORMATS[form](report)
    try:
        if out is not None:
            out.write_text(text + "\n", encoding="utf-8")
            note(f"{out}: {_counts(report.found)}")
        else:
            put(text)
        if html is not None:
            from diagrams.documents.conformance import page

            html.write_text(page(report.found, report.spec, report.shown, report.again), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{error.filename or out}: {error.strerror or error}") from error


def _counts(found: Judgement) -> str:
    counts = Counter(one.standing for one in found.verdicts)
    known = sum(bool(one.known) for one in found.verdicts)
    told = ", ".join(f"{counts[which]} {which}" for which in ("pass", "fail", "open"))
    return f"{len(found.verdicts)} requirements: {told}" + (f", {known} known" if known else "")


def as_text(report: ConformanceReport) -> str:
    """Return a report for people."""
    found = report.found
    head = f"{report.spec} {found.role}: {report.shown}   {_counts(found)}"
    lines = [f"{head}   ({len(found.results)} cases, {report.seconds:.1f} s, seed {report.seed})"]
    for one in found.verdicts:
        if one.standing == "fail":
            lines += _fail_lines(report, one)
    for one in found.verdicts:
        if one.standing == "open":
            named = f" ({one.known})" if one.known else ""
            lines.append(f"OPEN   {one.requirement.id:<44} {one.requirement.of}: {one.why}{named}")
    there, missing = covered(found.spec, found.role, found.results)
    lines.append(f"covered: {len(there)} of {len(there) + len(missing)} states" + _list(missing))
    left = [one for one in found.results if one.out_of_time]
    if left:
        lines.append(f"left out: {len(left)} of {len(found.results)} cases, such as {left[0].case.id}: {left[0].why}")
    return "\n".join(lines)


def _list(missing: tuple[str, ...]) -> str:
    return f"; not {', '.join(missing)}" if missing else ""


def _fail_lines(report: ConformanceReport, one: RequirementVerdict) -> list[str]:
    found = report.found
    word = "KNOWN" if one.known else "FAIL"
    times = f"in {len(one.failed)} of {len(found.results)} cases, confirmed {one.confirmed[0]} of {one.confirmed[1]}"
    of = "" if one.requirement.of == "must" else f"   [{one.requirement.of}]"
    lines = [f"{word:<6} {one.requirement.id}   {line_of(found.spec, found.role, one)}   {times}{of}"]
    lines.append(f"       {escape_control_characters(one.why)}")
    if one.known:
        lines.append(f"       known: {one.known}")
    if one.failed:
        lines += [f"       {line}" for line in (*way(one.failed[0]), *last_words(one.failed[0]))]
        lines.append(f"       again: {report.again(one)}")
    return lines


def way(result: CaseResult, lines: int = LINES_SHOWN) -> list[str]:
    """Return the last of what was said in a case, a line each."""
    left_out = len(result.trace) - lines
    shown = [crossing_line(one) for one in result.trace[-lines:]]
    return [f"… {left_out} before", *shown] if left_out > 0 else shown


def last_words(result: CaseResult) -> list[str]:
    """Return what a program printed last in a case, a line each, cut to `PRINTED_SHOWN` characters."""
    return [f"it printed: {escape_control_characters(line[:PRINTED_SHOWN])}" for line in result.printed]


def crossing_line(one: Crossing) -> str:
    """Return a line of what was said, for people."""
    text = escape_control_characters(one.data[:BYTES_SHOWN].decode(errors="backslashreplace").strip())
    more = f"… ({len(one.data)} bytes)" if len(one.data) > BYTES_SHOWN else ""
    return f"{one.when:7.3f} s  {one.who:<2}  {one.name}  {text}{more}".rstrip()


def facts(report: ConformanceReport) -> dict[str, Any]:
    """Return a report for programs."""
    found = report.found
    there, missing = covered(found.spec, found.role, found.results)
    return {
        "spec": report.spec,
        "role": found.role,
        "seed": report.seed,
        "seconds": round(report.seconds, 2),
        "exit": exit_code(found),
        "cases": [
            {"id": one.case.id, "class": one.case.of, "outcome": one.outcome, "why": one.why} for one in found.results
        ],
        "requirements": [_verdict(report, one) for one in found.verdicts],
        "covered": list(there),
        "not_covered": list(missing),
    }


def _verdict(report: ConformanceReport, one: RequirementVerdict) -> dict[str, Any]:
    where = line_of(report.found.spec, report.found.role, one)
    told: dict[str, Any] = {
        "id": one.requirement.id,
        "class": one.requirement.of,
        "text": one.requirement.text,
        "verdict": one.standing,
        "place": str(where),
        "cases": one.came,
    }
    if one.why:
        told["why"] = one.why
    if one.known:
        told["known"] = one.known
    if one.failed:
        told |= {
            "failed": [result.case.id for result in one.failed],
            "confirmed": list(one.confirmed),
            "again": report.again(one),
            "way": [
                {"t": round(line.when, 3), "who": line.who, "message": line.name, "bytes": _bytes(line.data)}
                for line in one.failed[0].trace
            ],
            "printed": list(one.failed[0].printed),
        }
    return told


def _bytes(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


def as_json(report: ConformanceReport) -> str:
    """Return a report as one JSON object."""
    return json.dumps(facts(report), ensure_ascii=False)


def as_junit(report: ConformanceReport) -> str:
    """Return a report as a JUnit file: a suite a class, a case a requirement."""
    top = ElementTree.Element("testsuites", name=f"accord conform {report.spec} {report.found.role}")
    for of in ("must", "broken peer", "tolerant", "strict"):
        listed = [one for one in report.found.verdicts if one.requirement.of == of]
        fails = [one for one in listed if one.standing == "fail" and not one.known]
        suite = ElementTree.SubElement(
            top, "testsuite", name=of, tests=str(len(listed)), failures=str(len(fails)),
            skipped=str(sum(one.standing == "open" or bool(one.known) for one in listed)),
        )  # fmt: skip
        for one in listed:
            named = {"name": one.requirement.id, "classname": f"{report.spec}.{report.found.role}"}
            case = ElementTree.SubElement(suite, "testcase", named)
            if one in fails:
                text = escape_control_characters(one.why)
                failure = ElementTree.SubElement(case, "failure", type=of, message=text)
                failure.text = "\n".join(map(escape_control_characters, _fail_lines(report, one)))
            elif one.standing != "pass":
                ElementTree.SubElement(case, "skipped", message=escape_control_characters(one.known or one.why))
    return ElementTree.tostring(top, encoding="unicode", xml_declaration=True)


def as_csv(report: ConformanceReport) -> str:
    """Return a report as a table: a row a requirement."""
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(("requirement", "class", "verdict", "place", "why"))
    for one in report.found.verdicts:
        where = line_of(report.found.spec, report.found.role, one)
        rows.writerow((one.requirement.id, one.requirement.of, one.standing, where, escape_control_characters(one.why)))
    return table.getvalue().rstrip("\n")


FORMATS: Final[Mapping[str, Callable[[ConformanceReport], str]]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "csv": as_csv,
}
