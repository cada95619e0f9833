"""Every spec that ships is proved; so are correct little protocols of other kinds. No false alarm."""

from __future__ import annotations

import pytest

from machines.parser.loader import load, shipped
from machines.verification.verdict import PROVED, REFUTED, UNDETERMINED
from tests.machines.verification.bench import SPECS, verdict_of

CORRECT = sorted(path for path in (SPECS / "correct").glob("*.yaml"))


@pytest.mark.parametrize("name", shipped())
def test_every_spec_that_ships_is_proved_for_one_two_and_three_clients(name: str) -> None:
    verdict = verdict_of(name)

    assert verdict.state == PROVED, "\n".join(verdict.lines())
    assert verdict.clients == ((1, 2) if load(name).foreign else (1, 2, 3))
    assert verdict.queue == 2


@pytest.mark.parametrize("path", CORRECT, ids=lambda path: path.stem)
def test_a_correct_little_protocol_is_proved(path) -> None:  # type: ignore[no-untyped-def]
    verdict = verdict_of(str(path))

    assert verdict.state == PROVED, "\n".join(verdict.lines())


def test_a_lobby_is_proved() -> None:
    verdict = verdict_of(str(SPECS / "lobby.yaml"))

    assert verdict.state == PROVED, "\n".join(verdict.lines())


@pytest.mark.parametrize("name", ["chat", "auction"])
def test_where_players_may_speak_without_end_nothing_is_found_and_nothing_is_claimed(name: str) -> None:
    verdict = verdict_of(str(SPECS / f"{name}.yaml"), (1, 2))

    assert verdict.findings == ()
    assert verdict.state == UNDETERMINED
    assert any("messages wait" in text for text in verdict.beyond)


def test_a_verdict_says_what_it_rests_on() -> None:
    verdict = verdict_of("tsuro")

    assert any("eject(table, player) marks player" in text for text in verdict.assumed)
    assert any("does not go round for ever in main.intermediate_placements" in text for text in verdict.assumed)
    assert any("JOIN may come too late" in text for text in verdict.notes)


def test_with_too_few_clients_for_a_game_nothing_is_wrong() -> None:
    assert verdict_of("tsuro", (1,)).state != REFUTED
    assert verdict_of(str(SPECS / "lobby.yaml"), (1, 2)).state != REFUTED


def test_past_its_bound_a_search_is_undetermined_and_never_a_pass() -> None:
    verdict = verdict_of("tsuro", most=500)

    assert verdict.state == UNDETERMINED
    assert verdict.beyond == ("more than 500 states (with 3)",)
    assert sum(verdict.states) < 1_000
