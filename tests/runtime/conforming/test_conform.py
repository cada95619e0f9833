"""``accord conform``: who is right is not accused, planted mistakes are found with the right line, nothing is left."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import socket
import subprocess
import sys
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import anyio
import pytest

from machines.conforming.case_results import CaseResult
from machines.conforming.cases import Case, cases
from machines.conforming.deeds import pieces
from machines.conforming.deviations import Deviation
from machines.conforming.requirements import requirements
from machines.parser.loader import load, rules_modules
from runtime.cli import main
from runtime.commands.conform import Question, Whom
from runtime.conforming.campaigning import ABSENT_MAX, CaseCampaign
from runtime.conforming.case_setting import CaseSetting
from runtime.conforming.machine_load import MachineLoad
from tests.runtime.conforming.strangers.tsuro_client import RIGHT

HERE = Path(__file__).parent / "strangers"
SPEC = Path("specs/tsuro.yaml").read_text().splitlines()


def stranger(style: str) -> str:
    return f"{sys.executable} {HERE / 'tsuro_client.py'} {{host}} {{port}} {style}"


def conformed(capsys: pytest.CaptureFixture[str], *words: str, role: str = "client", spec: str = "tsuro") -> Any:
    code = main(["conform", spec, role, "--json", *words])
    told = json.loads(capsys.readouterr().out)
    assert told["exit"] == code
    return told


def verdicts(told: Any, which: str) -> list[str]:
    return [one["id"] for one in told["requirements"] if one["verdict"] == which]


@pytest.mark.parametrize("style", RIGHT)
def test_who_is_right_passes_every_must(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    only = [] if style == "plain" else ["--only", "client/wire/*"]
    told = conformed(capsys, "--run", stranger(style), *only)

    assert [one for one in told["requirements"] if one["verdict"] == "fail" and one["class"] == "must"] == []
    assert told["exit"] == 0
    assert told["not_covered"] == []


# style -> (the requirement, what the line of the spec begins with)
PLANTED = {
    "double-join": ("client/main.joined/sends-only", "joined:"),
    "name-too-long": ("client/type/JOIN", "JOIN:"),
    "leaves-at-once": ("client/main.joined/sends-only", "joined:"),
    "leaves-after-token": ("within", "ready:|started:|initial:"),
    "leaves-after-move": ("within", "playing:|intermediate:"),  # the next question may have come before it left
    "answers-started": ("sends-only", "started:|initial:"),
    "ignores-the-end": ("client/main.always/hears-ENDED", "playing:"),
    "wrong-token": ("client/rules/INIT_PLACE", "if: token =="),
    "no-such-token": ("client/type/INIT_PLACE", "INIT_PLACE:"),
    "small-port": ("client/type/INIT_PLACE", "INIT_PLACE:"),
    "text-for-number": ("client/type/INIT_PLACE", "INIT_PLACE:"),
    "in-the-middle": ("client/rules/INIT_PLACE", "if: token =="),
    "too-short": ("client/type/INIT_PLACE", "INIT_PLACE:"),
    "too-long": ("client/type/INIT_PLACE", "INIT_PLACE:"),
    "an-object": ("client/type/INIT_PLACE", "INIT_PLACE:"),
    "half": ("client/main.playing/sends-only", "INIT_PLACE:"),
    "shape-of-the-other": ("client/main.initial/sends-only", "initial:"),
    "double-move": ("client/main.playing/sends-only", "playing:"),
    "double-second": ("client/main.playing/sends-only", "playing:"),
    "other-square": ("client/rules/INTER_PLACE", "if: tsuro.may_place"),
    "foreign-tile": ("client/rules/INTER_PLACE", "if: tsuro.may_place"),
    "initial-again": ("client/main.intermediate/sends-only", "intermediate:"),
    "name-is-a-number": ("client/type/JOIN", "JOIN:"),
    "three-links": ("client/type/INIT_PLACE", "INIT_PLACE:"),
    "off-the-board": ("client/rules/INIT_PLACE", "if: token =="),
    "early-move": ("sends-only", "ready:|started:|initial:|playing:"),  # which the wait is that it stands in by then
    "silent-at-first": ("client/main.joined/sends-only", "joined:"),
    "never-answers": ("client/main.initial/within", "initial:"),
    "second-late": ("client/main.intermediate/within", "intermediate:"),
    "hangs-on-loss": ("client/main.joined/on-closed", "joined:"),
    "rest-lost": ("client/wire/cut", ""),
    "no-buffer": ("client/wire/cut", ""),
}
SOME = ("double-join", "double-second", "small-port", "other-square")
SLOW = ("ignores-the-end", "rest-lost")  # a minute each: the program is waited for in every case
LATE = ("silent-at-first", "never-answers", "second-late")
# style -> options, where games in which bytes are cut too are not what tells
OPTIONS = {
    **dict.fromkeys(LATE, ("--set", "think=1s", "--grace", "0.5", "--only", "client/*@of3,seat1,seed7")),
    "hangs-on-loss": ("--only", "client/main.joined/on-closed@of3,seat1,seed7,closed.main.joined"),
}


def test_there_are_thirty_mistakes() -> None:
    assert len(PLANTED) >= 30
    assert {*SOME, *OPTIONS, *SLOW} <= set(PLANTED)


def mark(style: str) -> Any:
    return () if style in SOME else pytest.mark.release if style in (*OPTIONS, *SLOW) else pytest.mark.whole


@pytest.mark.parametrize("style", [pytest.param(one, marks=mark(one)) for one in sorted(PLANTED)])
def test_a_planted_mistake_is_found_with_its_line(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    id_, begins = PLANTED[style]
    options = OPTIONS.get(style, ("--only", "client/*-only", "--only", "client/wire/*"))
    told = conformed(capsys, "--run", stranger(style), *options)

    fails = [one for one in told["requirements"] if one["verdict"] == "fail"]
    assert told["exit"] == (0 if style == "hangs-on-loss" else 1)
    assert any(id_ in one["id"] for one in fails), fails
    found = next(one for one in fails if id_ in one["id"])
    line = SPEC[int(found["place"].split(":")[1]) - 1].strip()
    assert any(line.startswith(one) for one in begins.split("|")), line
    assert found["confirmed"] == [3, 3]
    assert found["way"]


def test_a_fail_is_run_again_alone_by_the_command_that_it_is_told_with(capsys: pytest.CaptureFixture[str]) -> None:
    told = conformed(capsys, "--run", stranger("small-port"), "--only", "client/type/*")
    again = next(one["again"] for one in told["requirements"] if one["verdict"] == "fail")
    words = subprocess.run(["sh", "-c", f"printf '%s\\n' {again}"], capture_output=True, text=True).stdout.splitlines()

    alone = conformed(capsys, *words[4:])
    assert [one["id"] for one in alone["cases"]] == [words[-1].partition("@")[2]]
    assert verdicts(alone, "fail") == ["client/type/INIT_PLACE"]


def test_a_program_that_never_connects_is_told_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = ["--only", "client/type/JOIN@of3,seat0,seed7"]
    crashed = conformed(capsys, "--run", f"{sys.executable} -c 'raise SystemExit(7)'", *one)

    assert crashed["exit"] == 3
    assert "ended (exit code 7) before it connected" in crashed["cases"][0]["why"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--exec", "no-such-program-at-all"), "--exec: there is no program 'no-such-program-at-all'"),
        (("--run", "no-such-program-at-all {port}"), "--run: there is no program 'no-such-program-at-all'"),
        (("--run", ""), "--run is empty"),
        (("--exec", "'open"), "is no command: no closing quotation"),
        (("--run", "true", "--jobs", "0"), "--jobs 0 is less than 1"),
        (("--run", "true", "--seeds", "0"), "--seeds 0 is less than 1"),
        (("--run", "true", "--longest", "nan"), "--longest nan is not a number of seconds above 0"),
        (("--run", "true", "--grace", "-1"), "--grace -1 is not a number of seconds above 0"),
    ],
)
def test_what_cannot_be_run_is_told_at_once_and_not_by_each_case(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conform", "tsuro", "client", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert why in told.err


def test_what_a_program_starts_does_not_outlive_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fork = f"sh -c 'sleep 300 & echo $! > {tmp_path}/pid; exec {stranger('plain')}'"
    conformed(capsys, "--run", fork, "--only", "client/type/JOIN@of3,seat0,seed7")
    pid = (tmp_path / "pid").read_text().strip()

    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_known_fails_are_told_apart_and_one_that_passes_is_a_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "known.yaml"
    listed.write_text(
        "- {id: client/type/INIT_PLACE, fails: expected Port, reason: mended soon}\n"
        "- {id: client/type/JOIN, fails: anything, reason: was so}\n"
    )
    words = ["--run", stranger("small-port"), "--known", str(listed), "--only", "client/type/*"]
    told = {one["id"]: one for one in conformed(capsys, *words)["requirements"]}

    assert told["client/type/INIT_PLACE"]["known"] == "mended soon"
    assert "strike it off" in told["client/type/JOIN"]["why"]


def test_the_report_is_junit_csv_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ["conform", "tsuro", "client", "--run", stranger("small-port"), "--only", "client/type/*@of3,seat0,seed7"]
    assert main([*one, "--format", "junit", "-o", str(tmp_path / "r.xml"), "--html", str(tmp_path / "r.html")]) == 1
    assert main([*one, "--format", "csv", "-o", str(tmp_path / "r.csv")]) == 1

    suites = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None] == [
        "client/type/INIT_PLACE"
    ]
    assert "client/type/INIT_PLACE,must,fail" in (tmp_path / "r.csv").read_text()
    page = (tmp_path / "r.html").read_text()
    assert "<svg" in page
    assert "<script" not in page
    assert "expected Port" in page


def test_no_requirement_of_that_name_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "tsuro", "client", "--run", "true", "--only", "client/nothing"]) == 3
    assert main(["conform", "tsuro", "nobody", "--run", "true"]) == 2
    assert main(["conform", "tsuro", "client"]) == 2
    assert main(["conform", "tsuro", "client", "--at", "127.0.0.1:1"]) == 2
    assert "--exec COMMAND" in capsys.readouterr().err


def test_ids_survive_a_new_state_and_another_order_and_cases_are_named_by_themselves() -> None:
    spec = load("tsuro")
    ids = [one.id for one in requirements(spec, "client")]
    listed = cases(spec, "client", 3, 5, 7, longest=20)

    assert len(set(ids)) == len(ids)
    assert not any(any(part.isdigit() for part in id_.split("/")) for id_ in ids)
    assert len({case.id for case in listed}) == len(listed)
    assert [Case.parse(case.id) for case in listed] == list(listed)
    assert cases(spec, "client", 3, 5, 7, longest=20) == listed


def test_a_right_server_that_runs_for_each_connection_passes(capsys: pytest.CaptureFixture[str]) -> None:
    serve = f"{sys.executable} -m runtime serve smtp --port {{port}} --no-journal --quiet"
    told = conformed(capsys, "--run", serve, "--only", "server/main.*-only", spec="smtp", role="server")

    assert verdicts(told, "fail") == []
    assert "server/main.addressed/sends-only" in verdicts(told, "pass")


def test_a_server_that_runs_already_is_asked_at_its_address(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = {}
    for style in ("plain", "mail-twice"):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        running = subprocess.Popen([sys.executable, HERE / "smtp_server.py", str(port), style])
        try:
            while running.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
            only = ("--only", "server/*@of1,seat0,seed7")
            told = conformed(capsys, "--at", f"127.0.0.1:{port}", *only, spec="smtp", role="server")
            verdict[style] = told["exit"], verdicts(told, "fail")
        finally:
            running.kill()
            running.wait()

    assert verdict["plain"][1] == []
    assert verdict["mail-twice"][0] == 1
    assert verdict["mail-twice"][1]
    assert all(one.endswith("/sends-only") for one in verdict["mail-twice"][1])


def test_after_our_deed_a_program_that_may_rest_for_ever_is_not_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    join = f"{sys.executable} -m runtime join sticks {{host}}:{{port}} --name me --no-journal"
    case = "player/main.thinking/on-invalid@of2,seat1,seed7,unexpected.main.thinking"
    told = conformed(capsys, "--run", join, "--only", case, spec="sticks", role="player")

    assert [one["outcome"] for one in told["cases"]] == ["right"]
    assert told["seconds"] < 20


def test_a_program_that_never_comes_is_not_started_for_every_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = conformed(capsys, "--run", f"sh -c 'echo run >> {tmp_path}/runs; exit 7'")

    assert told["exit"] == 3
    assert len((tmp_path / "runs").read_text().split()) <= ABSENT_MAX + max(2, os.cpu_count() or 1)
    assert {"ended (exit code 7) before it connected" in one["why"] for one in told["cases"]} == {True}


# A case that is cut off in its midst leaves the socket of a stranger that was just let in to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_is_left_when_the_budget_is_over_is_open_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["conform", "tsuro", "client", "--run", stranger("slow"), "--budget", "1"]
    assert main(words) == 3
    told = capsys.readouterr().out

    assert re.search(r"left out: \d+ of 35 cases, such as of3,\S+: not \w+: the 1 s of --budget were over", told)
    assert "client/main.intermediate/sends-only" in told
    assert main([*words[:-1], "0"]) == 2
    gc.collect()


class FaultyTable:
    """Plays a case that fails; after the first there is no time left."""

    campaign: ClassVar[CaseCampaign]

    def __init__(self, _: object, case: Case, __: object) -> None:
        self.case = case

    async def play(self) -> CaseResult:
        self.campaign._until = -inf
        found = Deviation("order", 0, "it sent JOIN", ("main.joined",), (), b"", ("JOIN",), 1.0)
        return CaseResult(self.case, "fault", deviation=found)


def test_a_fail_that_there_is_no_time_to_confirm_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load("tsuro")
    wanted = [one for one in requirements(spec, "client") if one.id == "client/main.joined/sends-only"]
    asked = Question(spec, "client", {}, rules_modules(spec, ()))
    FaultyTable.campaign = CaseCampaign(asked.setting(Whom("true", None, ""), 1.0), wanted)
    monkeypatch.setattr("runtime.conforming.campaigning.Table", FaultyTable)
    found = anyio.run(FaultyTable.campaign.run, [Case(3, 0, 7)])

    assert [(one.requirement.id, one.standing) for one in found.verdicts] == [(wanted[0].id, "open")]
    assert "could not be run again: the 120 s of --budget were over" in found.verdicts[0].why
    assert [one.outcome for one in found.results] == ["unstable"]


class BusyTable:
    """Plays a case whose program is slow: with too little grace it cannot be told from one that is silent."""

    def __init__(self, setting: CaseSetting, case: Case, _: object) -> None:
        self.setting, self.case = setting, case

    async def play(self) -> CaseResult:
        return CaseResult(self.case, "right" if self.setting.grace >= 6 and self.setting.is_patient else "again")


def test_on_a_busy_machine_silence_is_waited_for_longer_before_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.conforming.machine_load.MachineLoad.slowdown", lambda _: 6.0)
    monkeypatch.setattr("runtime.conforming.campaigning.Table", BusyTable)
    asked = Question(spec := load("tsuro"), "client", {}, rules_modules(spec, ()))
    campaign = CaseCampaign(asked.setting(Whom("true", None, ""), 1.0), [])
    found = anyio.run(campaign.run, [Case(3, 0, 7)])

    assert [one.outcome for one in found.results] == ["right"]


@pytest.mark.parametrize("slowdown", [1.0, 2.0])
def test_who_never_answers_is_silent_on_a_busy_machine_too(
    slowdown: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runtime.conforming.machine_load.MachineLoad.slowdown", lambda _: slowdown)
    case = "client/main.initial/within@of3,seat0,seed7"
    told = conformed(capsys, "--run", stranger("never-answers"), "--set", "think=1s", "--grace", "0.3", "--only", case)

    assert verdicts(told, "fail") == ["client/main.initial/within"]


async def stand_still(load: MachineLoad) -> None:
    load.lag = 9.0


def test_silence_while_our_side_stood_still_is_not_held_against_a_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(MachineLoad, "watch", stand_still)
    case = "client/main.initial/within@of3,seat0,seed7"
    told = conformed(capsys, "--run", stranger("never-answers"), "--set", "think=1s", "--grace", "0.3", "--only", case)

    assert verdicts(told, "fail") == []
    assert [(one["outcome"], one["why"]) for one in told["cases"]] == [("open", "this machine was too busy to tell")]


def test_how_long_we_stood_still_is_the_longest_of_all_times(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([10.0, 10.1, 10.1, 11.7, 11.7, 11.9])
    load = MachineLoad()
    monkeypatch.setattr("runtime.conforming.machine_load.anyio.current_time", lambda: next(moments))

    async def no_time(_: float) -> None:
        return None

    monkeypatch.setattr("runtime.conforming.machine_load.anyio.sleep", no_time)
    with pytest.raises(RuntimeError):  # the moments are all gone
        asyncio.run(load.watch())

    assert load.lag == pytest.approx(1.5)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 128, 129, 4_000])
def test_bytes_that_are_cut_are_all_there_and_both_ends_come_one_by_one(size: int) -> None:
    data = bytes(at % 251 for at in range(size))
    found = pieces("bytes", data)

    assert b"".join(found) == data
    assert all(found)
    assert all(len(one) == 1 for one in (*found[:20], *found[-20:]))
    assert pieces("", data) == [data]
