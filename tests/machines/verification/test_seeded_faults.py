"""Faults that were put into protocols that are right: each is found, with a shortest way to it, and is replayed."""

from __future__ import annotations

import pytest

from machines.checks import check
from machines.parser.loader import rules_modules
from machines.verification.counterexamples.replay import confirmed
from machines.verification.verdict import PROVED, REFUTED, Finding
from runtime.players.replaying import decider
from tests.machines.verification.bench import changed, verdict_of

Change = tuple[str, str]

LAY = (
    (
        "    INTER_PLACE: [$tile Tile, $x int, $y int]\n",
        "    INTER_PLACE: [$tile Tile, $x int, $y int]\n    LAY: [lay]\n",
    ),
    ("say: {INTER_PLACE: playing}", "receive: {INTER_PLACE: {send: LAY, then: playing}}"),
)
TELL_ONE: tuple[Change, ...] = (("send: {players: ENDED}", 'send: {"players[0]": ENDED}'),)
SKIP_STARTED: tuple[Change, ...] = (("started: {send: {players: STARTED}, let:", "started: {let:"),)
ASK_ON: tuple[Change, ...] = (("      if: tsuro.playing(table, player) ", "      # "),)
NO_READER: tuple[Change, ...] = (("SHOW: choosing, AGAIN: waiting", "SHOW: choosing"),)
NO_SHOW: tuple[Change, ...] = (
    ("        send: {players: SHOW}\n", ""),
    ("{receive: {SHOW: choosing,", "{receive: {SHOW: choosing,"),
)
SAME_SHAPE: tuple[Change, ...] = (
    (
        "    WELCOME: welcome\n    WRONG:   wrong, again\n",
        "    WELCOME: ${text string}!\n    WRONG:   ${text string}!\n",
    ),
    ("send: WELCOME, return: true", "send: WELCOME('in'), return: true"),
    ("send: WRONG, then: trying", "send: WRONG('no'), then: trying"),
    ("          WELCOME: {return: true}\n          WRONG:   thinking\n", "          WELCOME: {return: true}\n"),
)


@pytest.mark.parametrize(
    ("name", "changes", "code", "says", "steps", "real"),
    [
        pytest.param(
            "tsuro", LAY, "A501", "LAY is not expected in intermediate_placement.asked", 28, True, id="renamed"
        ),
        pytest.param("tsuro", TELL_ONE, "A505", "left without an end that another comes to", 28, True, id="end"),
        pytest.param("tsuro", ASK_ON, "A502", "before intermediate_placement.asked asked for it", 23, True, id="race"),
        pytest.param(
            "rock-paper-scissors", NO_READER, "A501", "AGAIN is not expected in main.waiting", 13, True, id="reader"
        ),
        pytest.param("rock-paper-scissors", NO_SHOW, "A500", "nothing can happen any more", 8, True, id="standstill"),
        pytest.param("login", SAME_SHAPE, "A503", "WRONG is taken for WELCOME in main.judged", 6, True, id="misread"),
    ],
)
def test_a_seeded_fault_is_found(
    name: str, changes: tuple[Change, ...], code: str, says: str, steps: int, real: bool
) -> None:
    spec = changed(name, *changes)
    modules = rules_modules(spec)
    assert {problem.code for problem in check(spec, modules)} <= {"A330", "A331", "A334"}

    verdict = confirmed(verdict_of(spec), spec, modules, decider(spec))

    assert verdict.state == REFUTED
    found = next((one for one in verdict.findings if one.code == code and says in one.text), None)
    assert found is not None, "\n".join(verdict.lines())
    assert len(found.trace) <= steps
    assert found.confirmed is real


def test_a_message_that_nobody_waits_for_leaves_the_other_in_vain() -> None:
    spec = changed("tsuro", *SKIP_STARTED)

    found = {(one.code, one.text) for one in verdict_of(spec).findings}

    assert ("A501", "client: INIT_REQ is not expected in main.ready") in found


def test_a_removed_timeout_leaves_the_session_without_an_answer() -> None:
    spec = changed(
        "lobby", ("        fault: {return: best}", "        invalid: {return: best}\n        closed: {return: best}")
    )

    codes = {one.code: one for one in verdict_of(spec).findings}

    assert "has no answer to timeout" in codes["A506"].text


def test_the_first_way_to_a_fault_is_a_shortest_one() -> None:
    found = verdict_of(
        changed(
            "ping-pong", ("PING: {send: PONG, then: ready}", "PING: [{if: 1 == 2, send: PONG, then: ready}, ready]")
        )
    ).findings

    assert [(one.code, len(one.trace)) for one in found] == [("A500", 4)]
    assert [step.who for step in found[0].trace] == ["ponger of pinger", "pinger", "pinger", "ponger of pinger"]


def test_a_trace_tells_who_sends_what_to_whom() -> None:
    (found,) = verdict_of(changed("rock-paper-scissors", *NO_READER)).findings[:1]

    assert found.trace[-1].kind == "reads"
    assert (found.trace[-1].peer, found.trace[-1].message) == ("referee", "AGAIN")
    assert any(to.startswith("player") and message == "AGAIN" for step in found.trace for to, message in step.sent)
    assert all(isinstance(line, str) for line in found.lines())


def test_what_a_replay_can_not_do_stays_possible() -> None:
    # The abstract rules may end the game at once; the real ones do not, so that way to the fault is no real one.
    spec = changed("tsuro", *LAY)
    verdict = verdict_of(spec)
    stripped: list[Finding] = [one for one in verdict.findings if one.code == "A501"]

    assert any(step.kind == "dies" for step in stripped[0].trace)
    assert confirmed(verdict, spec, rules_modules(spec), lambda role, ask, attempt: None).findings[0].confirmed is False


def test_without_a_seed_there_is_nothing_to_find() -> None:
    assert verdict_of("tsuro").state == PROVED
