"""What a search leaves out changes no verdict: beside it one that leaves out nothing, over specs with faults put in."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.mutation_operators import mutants
from machines.checks.checker import check
from machines.loader import load, rules_modules
from machines.model import Spec
from machines.verification import verify as exploring
from machines.verification.contracts import promises_for
from machines.verification.search.state_space import GlobalState, StateSpace, Transition
from machines.verification.verdict import Verdict
from machines.verification.verify import verify
from tests.machines.verification.bench import SHIPPED, SPECS

MOST = 12_000  # configurations; what has more with nothing left out is not compared
MUTANTS = 40


class Whole(StateSpace):
    """A search in which everybody does everything at any time, and each client is itself."""

    def _ample_reads(self, config: GlobalState) -> list[Transition] | None:
        return None

    def _isolated_moves(self, config: GlobalState) -> list[Transition]:
        return []

    def _drop_isolated(self, config: GlobalState) -> GlobalState:
        return config

    def _is_covered_by_smaller(self, fewer: StateSpace, config: GlobalState) -> bool:
        return False

    def sorted(self, config: GlobalState) -> tuple[GlobalState, tuple[int, ...]]:
        return config, self.no_moves


def _verdict(spec: Spec, specs: dict[str, Spec] | None, clients: tuple[int, ...]) -> Verdict:
    promises = promises_for(spec, rules_modules(spec))
    return verify(spec, promises, clients=clients, queue=2, most=MOST, specs=specs)


def _whole_verdict(spec: Spec, specs: dict[str, Spec] | None, clients: tuple[int, ...]) -> Verdict:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exploring, "StateSpace", Whole)
        patch.setattr(exploring, "EnvironmentAbstraction", lambda *_: None)
        return _verdict(spec, specs, clients)


def _found(verdict: Verdict) -> set[tuple[str, str]]:
    """Return what was found. A502 is A501 behind a timeout: which of them is told hangs on the way that came first."""
    found = {("A501" if one.code == "A502" else one.code, one.text) for one in verdict.findings}
    return {one for one in found if one[0] != "A504"}  # which is only asked where nothing else is found


# Of the rest more than MOST configurations are soon found, or a session for each client leaves nothing to reduce.
@pytest.mark.parametrize(
    ("name", "clients", "least"),
    [
        ("correct/ping-pong", (1, 2), 10),
        ("correct/login", (1, 2), 15),
        ("correct/rock-paper-scissors", (1, 2), 15),
        ("correct/two-phase-commit", (1, 2), 12),
        ("correct/sliding-window", (1, 2), 15),
        ("correct/relay", (1, 2), 6),
        ("lobby", (1, 2), 15),
    ],
)
def test_a_fault_is_found_if_and_only_if_the_whole_search_finds_it(
    name: str, clients: tuple[int, ...], least: int
) -> None:
    spec = load(str(SPECS / f"{name}.yaml"))
    faulty: list[tuple[Any, dict[str, Spec] | None]] = [("as it is", None)]
    for mutant in mutants(spec, 0, MUTANTS):
        if not check(mutant.spec, rules_modules(spec)):
            faulty.append((mutant, {mutant.role: mutant.spec}))
    compared = refuted = 0
    for what, specs in faulty:
        whole = _whole_verdict(spec, specs, clients)
        if whole.beyond:
            continue
        verdict = _verdict(spec, specs, clients)
        assert not verdict.beyond, what
        assert bool(verdict.findings) == bool(whole.findings), what
        assert _found(verdict) == _found(whole), what
        compared += 1
        refuted += bool(whole.findings)
    assert compared >= least
    assert 0 < refuted < compared


def test_a_shipped_spec_is_proved_without_reductions_too() -> None:
    spec = load(str(SHIPPED / "redis.yaml"))

    assert _whole_verdict(spec, None, (1, 2)).state == _verdict(spec, None, (1, 2)).state == "proved"
