"""A trace that a replay confirms has no step that does not lead to its end, and the sessions do what is left of it."""

from __future__ import annotations

from benchmarks.mutation_operators import mutants
from machines.checks import check
from machines.engine.compiler import Program
from machines.verification.counterexamples.replay import confirmed, replayed
from machines.verification.verdict import TraceStep
from machines.verification.verify import verify
from tests.machines.verification.bench import changed

MUTANTS = 25


def test_what_has_nothing_to_do_with_a_fault_is_left_out() -> None:
    spec = changed("rock-paper-scissors")
    shorter = 0
    for mutant in mutants(spec, 0, MUTANTS):
        specs = {mutant.role: mutant.spec}
        verdict = verify(spec, {}, clients=(1, 2), most=5_000, specs=specs) if not check(mutant.spec, {}) else None
        if verdict is None or not verdict.findings:
            continue
        programs = {role: Program(specs.get(role, spec), role, {}) for role in spec.roles}
        told = confirmed(verdict, spec, {}, lambda *_: None, specs)
        for before, after in zip(verdict.findings, told.findings, strict=True):
            if not after.confirmed:
                continue
            assert any(_is_part(after.trace, whole) for whole in (before.trace, *before.others))
            assert replayed(after, spec, programs, lambda *_: None)
            shorter += len(after.trace) < len(before.trace)
    assert shorter


def _is_part(some: tuple[TraceStep, ...], whole: tuple[TraceStep, ...]) -> bool:
    """Whether steps are among others, in their order."""
    left = iter(whole)
    return all(any(step == other for other in left) for step in some)
