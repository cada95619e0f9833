"""All roles of a spec together, for the page on which it is written: what ``accord check`` finds beyond one role."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Final

from machines.checks.suppressions import split_suppressed
from machines.model import Spec
from machines.verification import verify as exploring
from machines.verification.abstract.budget import Budget
from machines.verification.abstract.contracts import contracts_for
from machines.verification.counterexamples.replay import confirmed
from machines.verification.foreign import with_anything
from machines.verification.verdict import Finding, Verdict
from runtime.players.replaying import decider

BUDGET_SECONDS: Final = 8.0  # of computing; the largest of the shipped specs takes 1.5
STATES_MAX: Final = 300_000  # for each number of clients; about 1 KB each


def together(spec: Spec, modules: Mapping[str, ModuleType]) -> Verdict:
    """Return the verdict on a spec without problems; what it accepts is not among the findings.

    Raises:
        ContractError: a module of its rules promises what is no contract.
    """
    budget = Budget(BUDGET_SECONDS, clock=time.process_time)
    verdict = exploring.verify(
        spec, contracts_for(spec, modules), queue=exploring.QUEUE, deepest=exploring.QUEUE_DEEPEST, most=STATES_MAX,
        budget=budget,
    )  # fmt: skip
    if verdict.findings:
        verdict = confirmed(verdict, with_anything(spec), modules, decider(spec), budget=budget)
    return replace(verdict, findings=_told(spec, verdict.findings), dead=_told(spec, verdict.dead))


def _told(spec: Spec, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(one for one in findings if not split_suppressed(spec, [one.problem(spec.place)])[1])
