"""What a search leaves out changes no verdict: beside it one that leaves out nothing, over specs with faults put in."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.mutation_operators import mutants
from machines.checks.checker import check
from machines.model import Spec
from machines.parser.loader import load, load_text, rules_modules
from machines.verification import verify as exploring
from machines.verification.abstract.contracts import contracts_for
from machines.verification.search.late_losses import LATER
from machines.verification.search.moves import GlobalState, Transition
from machines.verification.search.state_space import StateSpace
from machines.verification.verdict import Verdict
from machines.verification.verify import verify
from tests.machines.verification.bench import SPECS

MOST = 40_000  # states; what has more with nothing left out is not compared
MUTANTS = 40


class Whole(StateSpace):
    """A search in which everybody does everything at any time, and each client is itself."""

    def _ample_reads(self, config: GlobalState) -> list[Transition] | None:
        return None

    def _not_too_early(self, config: GlobalState, moves: list[Transition]) -> list[Transition]:
        return moves

    def _isolated_moves(self, config: GlobalState) -> list[Transition]:
        return []

    def _drop_isolated(self, config: GlobalState) -> GlobalState:
        return config

    def _is_covered_by_smaller(self, fewer: StateSpace, config: GlobalState) -> bool:
        return False

    def sorted(self, config: GlobalState) -> tuple[GlobalState, tuple[int, ...]]:
        return config, self.no_moves


def _verdict(spec: Spec, specs: dict[str, Spec] | None, clients: tuple[int, ...]) -> Verdict:
    contracts = contracts_for(spec, rules_modules(spec))
    return verify(spec, contracts, clients=clients, queue=2, most=MOST, specs=specs)


def _whole_verdict(spec: Spec, specs: dict[str, Spec] | None, clients: tuple[int, ...]) -> Verdict:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exploring, "StateSpace", Whole)
        patch.setattr(exploring, "EnvironmentAbstraction", lambda *_: None)
        return _verdict(spec, specs, clients)


def _bounds_met(verdict: Verdict) -> list[str]:
    """Return what is not known, but that a sign-up takes more clients: so it is in either search."""
    return [text for text in verdict.beyond if "no run gets past" not in text]


def _found(verdict: Verdict) -> set[tuple[str, str]]:
    """Return what was found. A502 is A501 behind a timeout: which of them is told hangs on the way that came first."""
    found = {("A501" if one.code == "A502" else one.code, one.text) for one in verdict.findings}
    return {one for one in found if one[0] != "A504"}  # which is only asked where nothing else is found


# Of the rest more than MOST states are soon found, or a session for each client leaves nothing to reduce.
@pytest.mark.parametrize(
    ("name", "clients", "least"),
    [
        ("correct/ping-pong", (1, 2), 10),
        ("correct/login", (1, 2), 15),
        ("correct/rock-paper-scissors", (1, 2), 15),
        ("correct/two-phase-commit", (1, 2), 12),
        ("correct/sliding-window", (1, 2), 15),
        pytest.param("correct/relay", (1, 2), 6, marks=pytest.mark.whole),
        ("lobby", (1, 2), 15),
        ("clocks/impatient", (1, 2), 10),
        ("clocks/greeted", (1, 2), 10),
        pytest.param("clocks/advised", (1, 2), 20, marks=pytest.mark.whole),
    ],
)
def test_a_fault_is_found_if_and_only_if_the_whole_search_finds_it(
    name: str, clients: tuple[int, ...], least: int
) -> None:
    compared, refuted = _compared(load(str(SPECS / f"{name}.yaml")), clients, MUTANTS)

    assert compared >= least
    assert 0 < refuted < compared


# With three clients most have more than MOST states with nothing left out.
@pytest.mark.parametrize(("name", "least"), [("correct/rock-paper-scissors", 4), ("clocks/in-turns", 3)])
def test_so_it_is_with_three_clients(name: str, least: int) -> None:
    compared, refuted = _compared(load(str(SPECS / f"{name}.yaml")), (1, 2, 3), 12)

    assert compared >= least
    assert 0 < refuted < compared


def _compared(spec: Spec, clients: tuple[int, ...], most: int) -> tuple[int, int]:
    """Compare both searches over a spec and so many with a fault; return how many were, and how many were refuted."""
    faulty: list[tuple[Any, dict[str, Spec] | None]] = [("as it is", None)]
    for mutant in mutants(spec, 0, most):
        if not check(mutant.spec, rules_modules(spec)):
            faulty.append((mutant, {mutant.role: mutant.spec}))
    compared = refuted = 0
    for what, specs in faulty:
        whole = _whole_verdict(spec, specs, clients)
        if _bounds_met(whole):
            continue
        verdict = _verdict(spec, specs, clients)
        assert not _bounds_met(verdict), what
        assert bool(verdict.findings) == bool(whole.findings), what
        assert _found(verdict) == _found(whole), what
        compared += 1
        refuted += bool(whole.findings)
    return compared, refuted


# In each the client's clock rings while the message that it waits for is on its way, and it goes on with another one.
@pytest.mark.parametrize(
    ("name", "heard", "fault"),
    [
        ("impatient", "          BACK: {send: GONE, return: null}\n", "kitchen: BACK is not expected in main.served"),
        ("greeted", "          KNOCK: {then: heard}\n", "guard: KNOCK is not expected in main.asking"),
    ],
)
def test_a_clock_of_who_waits_for_one_peer_only_rings_beside_what_is_on_its_way(
    name: str, heard: str, fault: str
) -> None:
    text = (SPECS / "clocks" / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.count(heard) == 1

    verdict = _verdict(load_text(text.replace(heard, "")), None, (1,))

    assert ("A502", fault) in {(one.code, one.text) for one in verdict.findings}
    assert _verdict(load_text(text), None, (1,)).state == "proved"


def test_a_loss_that_nobody_hears_yet_is_heard_when_its_turn_comes() -> None:
    text = (SPECS / "clocks" / "in-turns.yaml").read_text(encoding="utf-8")
    unexpected = text.replace("          WON: {return: null}\n", "")
    assert text != unexpected

    verdict = _verdict(load_text(unexpected), None, (1, 2))

    assert LATER in verdict.reduced
    assert ("A501", "player: WON is not expected in main.waiting") in _found(verdict)
    assert _verdict(load_text(text), None, (1, 2)).state == "proved"


def test_an_adviser_that_is_lost_unheard_is_missed_when_it_is_asked() -> None:
    text = (SPECS / "clocks" / "advised.yaml").read_text(encoding="utf-8")
    waits = "fault: {send: {table: MOVE}, then: waiting}"
    assert waits in text
    text = text.replace(
        waits, waits.replace("fault", "timeout") + "\n        invalid: {return: null}\n        closed: lost"
    )
    text = text.replace(
        "  adviser:\n    main", "      lost: {send: {table: HELLO}, then: waiting}\n  adviser:\n    main"
    )

    verdict = _verdict(load_text(text), None, (2,))

    assert {one.text for one in verdict.findings} >= {"table: HELLO is not expected in main.first"}


def test_who_heeds_a_connection_may_be_interrupted_before_it_reads() -> None:
    text = (SPECS / "clocks" / "interrupted.yaml").read_text(encoding="utf-8")
    before, interrupted = text.split("      interrupted:\n")
    heard = "        receive: {ASK: {send: {callers: BYE}, return: null}}\n"
    assert heard in interrupted

    verdict = _verdict(load_text(f"{before}      interrupted:\n{interrupted.replace(heard, '')}"), None, (1, 2))

    assert ("A501", "desk: ASK is not expected in main.interrupted") in _found(verdict)
    assert _verdict(load_text(text), None, (1, 2)).state == "proved"


def test_a_shipped_spec_is_proved_without_reductions_too() -> None:
    spec = load(str(SPECS / "correct" / "keys.yaml"))

    assert _whole_verdict(spec, None, (1, 2)).state == _verdict(spec, None, (1, 2)).state == "proved"
