"""Problems of one role are shown in play: the shortest run to where each does harm, done again by the real sessions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from diagrams.sequences.from_trace import scenario
from diagrams.sequences.text import scenario_chart
from machines.checks import check
from machines.manual import pages
from machines.parser.loader import load_text, rules_modules
from machines.problems import Problem
from machines.verification.abstract.contracts import contracts_for
from machines.verification.counterexamples import witness
from machines.verification.counterexamples.shrinking import needed
from machines.verification.counterexamples.witness import Witnesses, find_witnesses, replay
from machines.verification.verdict import Finding, TraceStep
from runtime.cli import main
from runtime.players.replaying import decider
from tests.test_manual import spec_text

ROOT = Path(__file__).resolve().parents[3]
LITERAL = {path.stem: path.read_text() for path in (ROOT / "tests" / "specs" / "literal").glob("*.yaml")}


def shown(text: str, *, most: int = witness.CONFIGURATIONS_MAX) -> Witnesses:
    spec = load_text(text)
    rules = rules_modules(spec)
    problems = check(spec, rules)
    found = find_witnesses(spec, contracts_for(spec, rules), problems, beside=problems, clients=(1, 2, 3), most=most)
    return replay(found, spec, rules, decider(spec), problems)


def run_to(found: Witnesses, code: str, line: int = 0) -> Finding:
    return next(run for one, run in found.runs.items() if one.code == code and line in (0, one.place.line))


BUILT = '{"type": "build", "xy1": [0.5, 0.5], "xy2": [0.5, 0.5]}'
# document, code, line, clients, confirmed, the last step, what comes of it
RUNS: list[tuple[str, str, int, int, bool | None, str, str]] = [
    (
        "000", "A302", 45, 2, True, "server: reads NAME of client 2; sends NEW_NAME to client 2, ",
        "'last' has no value here: nothing has bound it",
    ),
    (
        "000", "A301", 87, 2, False, "client 1: reads MOVE of server; sends AI_MOVE to ai of client 1; then",
        "'their_move' has no value here: nothing has bound it",
    ),
    (
        "001", "A325", 45, 2, True, "manager: reads SIGN_UP of player 2; ",
        "only player 1 can end this wait: if nothing comes, manager waits for ever",
    ),
    (
        "001", "A325", 52, 1, True, "player: starts; sends SIGN_UP to manager; then main.named",
        "only manager can end this wait: if nothing comes, player waits for ever",
    ),
    (
        "001", "A326", 45, 2, True, "manager: reads what is no message of player 1; closes player 1, player 2; ",
        "manager has no answer to that, and its session ends: for player 1 and player 2",
    ),
    (
        "001", "A334", 52, 2, True, "player 1: reads as INTERNAL_NAME: START of manager; then main.named",
        'START is "ann" on the wire, and player 1 takes it for INTERNAL_NAME',
    ),
    (
        "003", "A335", 92, 2, False, "client 1: ",
        f"its player answers {BUILT}: nothing tells whether that is CHECK_BUILD or BUILD",
    ),
    (
        "004", "A325", 61, 2, True, "client 1: reads PICK of server; then main.picking",
        "only its player or server can end this wait: if nothing comes, client 1 waits for ever, and so does server",
    ),
    (
        "004", "A334", 59, 2, True, "client 1: reads as START: WIN of server; sends MAP to server; then main.listening",
        "WIN is true on the wire, and client 1 takes it for START",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def literal() -> dict[str, Witnesses]:
    return {name: shown(text) for name, text in LITERAL.items()}


@pytest.mark.parametrize(
    ("name", "code", "line", "clients", "confirmed", "last", "text"),
    RUNS,
    ids=[" ".join(map(str, one[:3])) for one in RUNS],
)
def test_the_shortest_run_ends_where_the_problem_does_harm(
    literal: dict[str, Witnesses],
    name: str,
    code: str,
    line: int,
    clients: int,
    confirmed: bool | None,
    last: str,
    text: str,
) -> None:
    run = run_to(literal[name], code, line)

    assert (run.text, run.clients, run.confirmed) == (text, clients, confirmed)
    assert str(run.trace[-1]).startswith(last)


def test_of_every_problem_that_stands_at_a_state_a_run_is_shown_or_said_to_be_missing(
    literal: dict[str, Witnesses],
) -> None:
    for name, text in LITERAL.items():
        spec = load_text(text)
        problems = [one for one in check(spec, rules_modules(spec)) if one.code in witness.SHOWN]
        assert list(literal[name].runs) == problems
        for run in literal[name].runs.values():
            assert run.trace or run.text.startswith("no run with 1 to 3 clients shows it")


def test_a_name_that_every_run_binds_before_has_no_run(literal: dict[str, Witnesses]) -> None:
    (missing,) = [run for one, run in literal["000"].runs.items() if "'their_wid'" in one.text]

    assert missing.trace == ()
    assert missing.text == "no run with 1 to 3 clients shows it"


@pytest.mark.parametrize("code", ["A301", "A325", "A326", "A334", "A335"])
def test_the_example_of_the_manual_does_the_harm_that_its_page_tells_of(code: str) -> None:
    run = run_to(shown(spec_text(pages()[code].bad)), code)

    assert run.trace
    assert run.confirmed is True


def test_the_bound_is_met_and_told() -> None:
    run = run_to(shown(LITERAL["002"], most=60), "A325", 65)

    assert run.trace == ()
    assert re.fullmatch(r"no run with 1 to 3 clients shows it within \d+ states", run.text)


def test_beside_a_problem_that_leads_a_search_astray_nothing_is_shown() -> None:
    text = spec_text(pages()["A325"].bad)
    spec = load_text(text)
    problems = check(spec)
    other = Problem(spec.place, "A322", "machines call each other")
    found = find_witnesses(spec, {}, problems, beside=[*problems, other], clients=(1,))

    assert found == Witnesses({}, ("no runs are shown: A322 to be mended first",))


def test_a_wait_that_is_about_to_end_is_shown_as_such() -> None:
    run = run_to(shown(spec_text(pages()["A325"].bad)), "A325")

    assert run.text == "server of client is about to go on, but nothing would end this wait if client said nothing"


# A fault of a peer that nothing answers: which, the answers to the other two, the last two steps of the run.
FAULTS = [
    (
        "timeout", "invalid: end, closed: end",
        "server: waits in vain in main.play; closes client 1, client 2; then failed", "",
    ),
    (
        "closed", "invalid: end, timeout: end",
        "server: hears that the connection is lost of client 1; closes client 2; then failed",
        "client 1: loses its connection; then dead",
    ),
    (
        "invalid", "closed: end, timeout: end",
        "server: reads what is no message of client 1; closes client 1, client 2; then failed",
        "client 1: misbehaves; sends what is no message to server; then main.listening",
    ),
]  # fmt: skip
MOVES = """
protocol: moves
connects: {client: server}
messages: {client: {JOIN: {join: $name string}, MOVE: [move, $x int]}, server: {END: end}}
roles:
  server:
    main:
      door: {accept: join(peer), as: players, seats: SEATS, within: 1 min, timeout: {return: null}, then: play}
      play: {await: "players[0]", within: 5 s, receive: {MOVE: end}, ANSWERS}
      end: {send: {players: END}, return: null}
    join(peer):
      named: {await: peer, within: 5 s, receive: {JOIN: {return: {name: name}}}}
  client:
    main:
      always: {within: never}
      begin: {send: JOIN(my.name), then: listening}
      listening: {ask: move, receive: {MOVE: {send: MOVE, then: over}, END: {return: null}}}
      over: {receive: {END: {return: null}}}
"""


@pytest.mark.parametrize(("fault", "answers", "last", "before"), FAULTS, ids=[one[0] for one in FAULTS])
def test_the_fault_that_nothing_answers_is_the_one_that_ends_the_run(
    fault: str, answers: str, last: str, before: str
) -> None:
    run = run_to(shown(MOVES.replace("SEATS", "2").replace("ANSWERS", answers)), "A326")

    assert run.confirmed is True
    assert re.sub("client [12]", "client", str(run.trace[-1])) == re.sub("client [12]", "client", last)
    if before:
        assert re.sub("client [12]", "client", str(run.trace[-2])) == re.sub("client [12]", "client", before)
    assert run.text.startswith("server has no answer to that, and its session ends: for client")


def test_more_seats_than_clients_that_are_tried_are_said_to_be_the_reason() -> None:
    run = run_to(shown(MOVES.replace("SEATS", "5").replace("ANSWERS", "invalid: end, closed: end")), "A326")

    assert run.trace == ()
    assert run.text.endswith("; a sign-up takes more clients")


def test_an_unknown_name_where_no_run_comes_keeps_from_a_replay_only() -> None:
    text = MOVES.replace("SEATS", "2").replace("ANSWERS", "invalid: end, closed: end")
    run = run_to(shown(text.replace("      end: {", "      lost: {return: nowhere}\n      end: {")), "A326")

    assert str(run.trace[-1]).endswith("; then failed")
    assert run.confirmed is None


# -- steps that a trace needs ----------------------------------------------------------------------------------------


def step(who: str, kind: Any, peer: str = "", message: str = "", *sent: tuple[str, str], closed: str = "") -> TraceStep:
    return TraceStep(who, kind, peer, message, kind, sent, (closed,) if closed else (), "here")


ASKED = [
    [step("server", "connects", "ann")],
    [step("ann", "connects", "", "", ("server", "HI"))],
    [step("bob", "connects", "", "", ("server", "HI"))],
    [step("bob", "rings")],
    [step("server", "reads", "ann", "HI", ("ann", "GO"))],
    [step("bob", "rings", closed="server")],
    [step("ann", "reads", "server", "GO")],
]


def test_a_trace_leaves_out_what_its_end_does_not_need() -> None:
    assert [one.who for one in needed(ASKED)] == ["server", "ann", "server", "ann"]
    assert [one.kind for one in needed(ASKED, of=("bob",))] == ["connects", "rings", "rings"]
    assert len(needed(ASKED, of=("ann", "bob"))) == len(ASKED)
    assert needed(ASKED, of=("nobody",)) == ()
    assert needed([]) == ()


def test_a_loss_needs_what_caused_it() -> None:
    lost = [*ASKED, [step("server", "reads", "bob", "HI")], [step("server", "reads", "bob")]]

    assert [one.who for one in needed(lost)] == ["server", "ann", "bob", "bob", "server", "bob", "server", "server"]


# -- drawn -----------------------------------------------------------------------------------------------------------

CHART = """\
  server of client  client
          |             |
    [main.named]        |
          |         =over=
          |<--- NICK ---|
 !takes it for NAME!    |
        =over=          |
          |             |
"""


def test_a_trace_is_drawn_with_a_lifeline_for_each_session() -> None:
    problem, run = next(iter(shown(spec_text(pages()["A334"].bad)).runs.items()))
    _, _, *lines = scenario_chart(scenario(run, "names", run.text, problem.place)).splitlines()

    assert lines == CHART.splitlines()


# -- the command -----------------------------------------------------------------------------------------------------


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["check", *words]) == 2
    return capsys.readouterr().out


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.yaml").write_text(LITERAL["001"])
    return "names.yaml"


def test_of_each_code_the_first_is_shown_unless_all_or_none_are_asked_for(
    names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def ends(*words: str) -> list[str]:
        return re.findall(r"(?m)^        \S.* \(\d clients?; .*\)$", told(capsys, names, *words))

    assert [len(ends()), len(ends("--traces", "all")), len(ends("--traces", "none"))] == [3, 7, 0]
    assert ends("--clients", "0") == []
    assert '        START is "ann" on the wire, and player 1 takes it for INTERNAL_NAME' in "\n".join(ends())


def test_a_chart_stands_below_its_trace(names: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, names, "--charts")

    assert said.count("!takes it for INTERNAL_NAME!") == 1
    assert said.index("player 1 takes it for INTERNAL_NAME") < said.index("!takes it for INTERNAL_NAME!")
    assert main(["check", names, "--charts", "--json"]) == 2
    assert "--charts draws in the text" in capsys.readouterr().err


def test_other_programs_get_the_run_too(names: str, capsys: pytest.CaptureFixture[str]) -> None:
    problems = json.loads(told(capsys, names, "--json"))["specs"][0]["problems"]
    (mistaken,) = [one for one in problems if one["code"] == "A334"]
    results = json.loads(told(capsys, names, "--format", "sarif"))["runs"][0]["results"]
    flows = [result["codeFlows"] for result in results if "codeFlows" in result]
    unit = told(capsys, names, "--format", "junit")

    assert (mistaken["clients"], mistaken["confirmed"]) == (2, True)
    assert mistaken["trace"][-1]["who"] == "player 1"
    assert mistaken["trace"][-1] | {"message": "START", "taken": "INTERNAL_NAME"} == mistaken["trace"][-1]
    assert "takes it for INTERNAL_NAME" in mistaken["shows"]
    assert ["trace" in one for one in problems].count(True) == len(flows) == 3
    last = flows[-1][0]["threadFlows"][0]["locations"][-1]["location"]["message"]["text"]
    assert last.endswith("takes it for INTERNAL_NAME (2 clients; confirmed by a replay)")
    assert "7 player 1: reads as INTERNAL_NAME: START of manager" in unit


def test_a_spec_without_problems_costs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*given: object, **more: object) -> None:
        raise AssertionError("there is nothing to show")

    monkeypatch.setattr(witness, "find_witnesses", searched)

    assert main(["check", "smtp", "--clients", "1"]) == 0


# A line, or a part of one, left out of a protocol that ships: whatever is wrong is told, and a run to it looked for.
LEFT_OUT = [
    ("tsuro", ", let: {table: tsuro.start(players)}"),
    ("tsuro", "within: patience"),
    ("santorini-relay", "within: patience"),
    ("trains", "fault: kicked"),
    ("redis", "within: patience"),
]


@pytest.mark.parametrize(("name", "line"), LEFT_OUT)
def test_a_line_left_out_is_no_crash(name: str, line: str) -> None:
    lines = (ROOT / "specs" / f"{name}.yaml").read_text().splitlines(keepends=True)
    text = "".join(one.replace(line, "") if line.startswith(",") else one * (line not in one) for one in lines)
    assert len(text) < sum(map(len, lines))
    found = shown(text)

    assert all(run.text for run in found.runs.values())
