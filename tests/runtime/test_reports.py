"""What ``accord check`` and ``accord explain`` write: text, JSON, SARIF 2.1.0 and JUnit, all of them of the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from machines.verification.abstract.contracts import FORMS
from runtime.cli import main
from runtime.manual import pages
from runtime.manual.verdicts import VERDICTS

LATE = pages()["A502"].bad.whole
UNREAD = pages()["A504"].bad.whole
ROUNDS = pages()["A325"]
ESCAPE = 'protocol: echo\ntitel: "\\e[31m"\n'


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "late.yaml").write_text(LATE)
    (tmp_path / "right.yaml").write_text(pages()["A502"].mended.whole)
    (tmp_path / "wrong.yaml").write_text(LATE.replace("timeout: told", "timeout: tod"))
    (tmp_path / "agreed.yaml").write_text(f"{UNREAD}accepted:\n  A504: the document wants it so\n")
    (tmp_path / "vain.yaml").write_text(f"{LATE.replace('timeout: told', 'fault: told')}accepted:\n  A504: none\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# -- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("specs")
def test_a_problem_stands_over_its_line_with_a_caret_under_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "wrong.yaml")
    head, line, caret = out.splitlines()
    file, row, column, _ = head.split(":", 3)
    source = (Path(file).read_text().splitlines())[int(row) - 1]

    assert code == 2
    assert err == "1 problem\n"
    assert head.endswith("A103 unknown state 'tod' (did you mean 'told'?)")
    assert line == f"{row:>5} | {source}"
    assert line[caret.index("^") :].startswith("tod")
    assert caret.index("^") - line.index("|") - 2 == int(column) - 1
    assert "\x1b" not in out


@pytest.mark.usefixtures("specs")
def test_a_finding_has_its_trace(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "late.yaml")

    assert code == 2
    assert re.search(r"^late.yaml:\d+:\d+: A502 server: ANSWER is not expected in main.told", out)
    assert re.search(r"(?m)^ +1 server of client: starts", out)


@pytest.mark.usefixtures("specs")
def test_what_is_accepted_is_listed_and_does_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "agreed.yaml")

    assert code == 0
    assert "accepted: A504" in out
    assert out.endswith("(because: the document wants it so)\n")
    assert "no problems in agreed.yaml" in err


def test_what_is_accepted_and_was_not_found_is_a_problem(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (specs / "vain.yaml").write_text(f"{(specs / 'right.yaml').read_text()}accepted:\n  A504: none\n")

    assert run(capsys, "check", "vain.yaml")[0] == 2
    assert run(capsys, "check", "--clients", "0", "vain.yaml")[0] == 0  # it was not looked for
    code, out, _ = run(capsys, "check", "vain.yaml", "--json")
    assert (code, json.loads(out)["ok"]) == (2, False)
    assert [told["code"] for told in json.loads(out)["specs"][0]["problems"]] == ["A350"]


def test_colours_are_for_terminals(
    specs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (specs / "escape.yaml").write_text(ESCAPE)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in run(capsys, "check", "wrong.yaml")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(capsys, "check", "wrong.yaml", "escape.yaml")[1]


WHERE = {  # the line that each finding is told of
    "A500": "begin: {within: never, receive: {PONG",
    "A501": "last: {within",
    "A502": "told: {send: LATE",
    "A503": "nicked: {send: AGAIN",
    "A504": "begin: {send: [PING, BYE]",
    "A505": "begin: {send: HELLO",
    "A506": "done: {let",
    "A507": "begin: {send: PING",
    "A508": "answered: {never",
}


@pytest.mark.parametrize("code", WHERE)
def test_a_finding_is_told_of_its_line_in_every_form(
    code: str, specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = pages()[code].bad.whole
    name = f"{code}.yaml"
    (specs / name).write_text(text)

    out = run(capsys, "check", name)[1]
    shown = json.loads(run(capsys, "check", name, "--json")[1])["specs"][0]["explored"]["findings"]
    sarif = json.loads(run(capsys, "check", name, "--format", "sarif")[1])["runs"][0]["results"]

    (found,) = [one for one in shown if one["code"] == code][:1]
    line = text.splitlines()[found["line"] - 1]
    column = found["column"]
    assert line[column - 1 :].startswith(WHERE[code]) or (code == "A504" and WHERE[code] in line), (line, column)
    assert f"{name}:{found['line']}:{column}: {code} " in out
    assert f"{found['line']:>5} | {line}" in out
    regions = [one["locations"][0]["physicalLocation"]["region"] for one in sarif if one["ruleId"] == code]
    assert {"startLine": found["line"], "startColumn": column} in regions
    assert all(one["line"] is not None for one in shown)


# -- for machines ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("specs")
def test_json_has_what_the_text_has(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "wrong.yaml", "agreed.yaml", "late.yaml", "no.yaml", "--json")
    wrong, agreed, late, missing = json.loads(out)["specs"]

    assert code == 2
    assert wrong["problems"][0]["code"] == "A103"
    assert (agreed["accepted"][0]["code"], agreed["accepted"][0]["reason"]) == ("A504", "the document wants it so")
    assert agreed["explored"]["verdict"] == "proved"
    assert "A502" in [finding["code"] for finding in late["explored"]["findings"]]
    assert missing["error"].startswith("there is no file no.yaml")


# What the official schema of SARIF 2.1.0 says of the parts that are written: the keys needed, and all allowed.
SARIF: dict[str, tuple[set[str], set[str]]] = {
    "log": ({"version", "runs"}, {"$schema"}),
    "run": ({"tool"}, {"columnKind", "invocations", "results"}),
    "driver": ({"name"}, {"version", "rules"}),
    "rule": ({"id"}, {"shortDescription", "fullDescription", "help"}),
    "invocation": ({"executionSuccessful"}, {"toolExecutionNotifications"}),
    "notification": ({"message"}, {"level"}),
    "result": ({"message"}, {"ruleId", "ruleIndex", "level", "locations", "codeFlows", "suppressions"}),
    "message": ({"text"}, set()),
    "location": (set(), {"physicalLocation", "message"}),
    "physical": ({"artifactLocation"}, {"region"}),
    "region": (set(), {"startLine", "startColumn"}),
    "suppression": ({"kind"}, {"justification"}),
}


def parts(log: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "log", log
    for one in log["runs"]:
        yield "run", one
        yield "driver", one["tool"]["driver"]
        for rule in one["tool"]["driver"]["rules"]:
            yield "rule", rule
            yield from (("message", rule[key]) for key in rule.keys() - {"id"})
        for invocation in one["invocations"]:
            yield "invocation", invocation
            for notification in invocation["toolExecutionNotifications"]:
                yield "notification", notification
                yield "message", notification["message"]
        for result in one["results"]:
            yield "result", result
            yield "message", result["message"]
            for location in result["locations"]:
                yield "location", location
                yield "physical", location["physicalLocation"]
                yield "region", location["physicalLocation"]["region"]
            for flow in result.get("codeFlows", ()):
                for thread in flow["threadFlows"]:
                    for step in thread["locations"]:
                        yield "location", step["location"]
                        yield "message", step["location"]["message"]
            yield from (("suppression", one) for one in result.get("suppressions", ()))


@pytest.mark.usefixtures("specs")
def test_sarif_is_as_its_schema_wants_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "wrong.yaml", "agreed.yaml", "late.yaml", "no.yaml", "--format", "sarif")
    log = json.loads(out)
    (only,) = log["runs"]
    rules = only["tool"]["driver"]["rules"]

    assert code == 2
    assert log["version"] == "2.1.0"
    for kind, part in parts(log):
        needed, allowed = SARIF[kind]
        assert needed <= part.keys() <= needed | allowed, (kind, part)
    for result in only["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        region = result["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1
    assert {"A103", "A504", "A502"} <= {result["ruleId"] for result in only["results"]}
    (accepted,) = [result for result in only["results"] if "suppressions" in result]
    assert accepted["suppressions"] == [{"kind": "inSource", "justification": "the document wants it so"}]
    assert any("codeFlows" in result for result in only["results"])
    assert only["invocations"][0]["executionSuccessful"] is False


@pytest.mark.usefixtures("specs")
def test_junit_counts_what_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "wrong.yaml", "right.yaml", "agreed.yaml", "no.yaml", "--format", "junit")
    top = ElementTree.fromstring(out)

    assert code == 2
    assert [suite.get("name") for suite in top] == ["wrong.yaml", "right.yaml", "agreed.yaml", "no.yaml"]
    for suite in [top, *top]:
        counts = {"tests": len(list(suite.iter("testcase")))}
        counts |= {f"{kind}s": len(list(suite.iter(kind))) for kind in ("failure", "error")}
        counts["skipped"] = len(list(suite.iter("skipped")))
        assert {name: int(suite.get(name, "")) for name in counts} == counts
    assert (top.get("failures"), top.get("errors"), top.get("skipped")) == ("1", "1", "1")


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
def test_a_file_gets_what_standard_output_would(form: str, specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", "wrong.yaml", "--format", form)
    code, nothing, _ = run(capsys, "check", "wrong.yaml", "--format", form, "-o", "found")

    assert (code, nothing) == (2, "")
    assert (specs / "found").read_text() == out


@pytest.mark.usefixtures("specs")
def test_a_file_that_can_not_be_written_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "check", "right.yaml", "-o", "no/such/folder")

    assert code == 2
    assert err.splitlines()[-1] == "accord: no/such/folder can not be written: no such file or directory"


def test_a_verdict_with_dead_branches_says_that_they_are_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = tmp_path / "dead.yaml"
    dead.write_text(pages()["A510"].bad.text)

    code, _, err = run(capsys, "check", str(dead))

    assert code == 2
    assert "proved for any number of clients" in err
    assert " states; but no run takes 1 branch (A510)" in err
    (spec,) = json.loads(run(capsys, "check", str(dead), "--json")[1])["specs"]
    assert [finding["code"] for finding in spec["explored"]["dead"]] == ["A510"]


# -- explain ---------------------------------------------------------------------------------------------------------


def test_a_code_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", "a325")

    assert code == 0
    assert out.startswith(f"A325: {ROUNDS.says}\n\n{ROUNDS.why}\n")
    for example in (ROUNDS.bad, ROUNDS.mended):
        assert "".join(f"    {line}\n" for line in example.text.splitlines()) in out
    shown = json.loads(run(capsys, "explain", "A325", "--json")[1])
    assert (shown["code"], shown["bad"]["text"]) == ("A325", ROUNDS.bad.text)


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [line.split()[0] for line in run(capsys, "explain")[1].splitlines()]

    assert listed == [*pages(), *VERDICTS, "contracts"]
    assert [one["code"] for one in json.loads(run(capsys, "explain", "--json")[1])["codes"]] == list(pages())


def test_every_contract_that_a_rule_may_keep_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "explain", "contracts")

    lines = [line.strip().split("  ")[0] for line in out.splitlines()]
    assert [line for line in lines if line in {form.written for form in FORMS}] == [form.written for form in FORMS]
    assert "accord explain contracts" in " ".join(run(capsys, "explain", "possible")[1].split())
    assert json.loads(run(capsys, "explain", "contracts", "--json")[1])["topic"] == "contracts"


def test_an_unknown_code_has_a_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "explain", "A3O2") == (2, "", "accord: there is no code 'A3O2': did you mean 'A342'?\n")
    assert run(capsys, "explain", "x")[2] == "accord: there is no code 'x': accord explain lists all of them\n"
