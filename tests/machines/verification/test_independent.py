"""Clients who share nothing but data are looked at one at a time; whoever shares more is looked at together."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED, REFUTED
from machines.verification.verify import ONE_AT_A_TIME
from tests.machines.verification.bench import changed, text_of, verdict_of

CLOCK = (
    "        within: never\n        receive:",
    "        within: 1 h\n        timeout: {return: null}\n        receive:",
)
STORED = (
    '            - if: key in store\n              send: "BULK(store[key])"',
    "            - if: key in store\n              send: PONG",
)


def test_one_client_of_a_store_stands_for_all_and_the_verdict_says_so() -> None:
    verdict = verdict_of(text_of("keys"))

    assert verdict.state == PROVED
    assert ONE_AT_A_TIME in verdict.reduced
    assert verdict.states[1] == verdict.states[2] < 500
    assert sum(line.startswith("reduced: ") for line in verdict.summary()) == 1


def test_the_search_of_the_whole_comes_to_the_same() -> None:
    whole = verdict_of(text_of("keys"), (2,))  # without a search of one client there is none that could stand for two
    reduced = verdict_of(text_of("keys"), (1, 2))

    assert ONE_AT_A_TIME not in whole.reduced
    assert whole.states[0] > 2_000
    assert (whole.state, whole.findings, whole.notes) == (reduced.state, reduced.findings, reduced.notes)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("PING: {send: PONG, then", "PING: {send: {clients: PONG}, then"), id="told"),
        pytest.param(("QUIT: {send: OK, drop: peer,", "QUIT: {send: OK, drop: clients,"), id="dropped"),
        pytest.param(CLOCK, id="a-clock-of-the-server"),
    ],
)
def test_clients_who_see_each_other_are_looked_at_together(change: tuple[str, str]) -> None:
    verdict = verdict_of(changed("keys", change), (1, 2))

    assert ONE_AT_A_TIME not in verdict.reduced


def test_a_fault_that_only_two_clients_can_come_to_is_still_found() -> None:
    verdict = verdict_of(changed("keys", ("PING: {send: PONG, then", "PING: {send: {clients: PONG}, then")), (1, 2))

    assert verdict.state == REFUTED
    assert {finding.clients for finding in verdict.findings} == {2}


def test_a_fault_in_what_is_stored_is_found() -> None:
    verdict = verdict_of(changed("keys", STORED, ("          PONG:   deciding\n", "")), (1, 2))

    assert verdict.state == REFUTED


def test_a_branch_that_no_run_takes_is_told_with_its_place() -> None:
    verdict = verdict_of("santorini-rulecheck")

    assert verdict.state == PROVED
    assert "server game.always never takes this branch of move_request" in [one.text for one in verdict.dead]
    assert {(one.code, one.place.file.rpartition("/")[2]) for one in verdict.dead if one.place is not None} == {
        ("A510", "santorini-rulecheck.yaml")
    }
    assert verdict_of("tsuro").dead == ()
