"""All checks of one spec that need no second role: `check` runs them. What two roles do together is another matter.

    A301  an unknown name                                      A323  a state with no way to a return
    A302  a name that may be unset where it is used            A324  states that pass on to each other for ever
    A303  a name that is seen everywhere is bound              A325  a wait without a time limit
    A304  a field would overwrite a parameter                   A326  a peer's fault that would end the whole session
    A305  a field would overwrite a name of another type        A327  a branch that is never taken
    A306  `peer` or `reason` where no event binds it           A330  a message that is never sent
    A307  a layer writes what a running call will bind         A331  a message that is never received
    A308  side by side, `as` binds what `run` reads            A332  a type that is never used
    A309  side by side, a name is bound in vain                A333  a setting that is never used
    A310  `elapsed` where no time can have passed              A334  messages that can not be told apart
    A311  one name declared twice, in two kinds                A335  answers to one question likewise
    A312  a sign-up's field that every peer has already        A336  an urgent message that is like another
    A313  a live value bound otherwise, or not on all ways
    A320  a state that is never entered                        A337  a wait that does not say for whom
    A321  a machine that is never called                       A338  a send with nobody at hand
    A322  machines that call each other in a ring              A328  calls that are too deep

    A339  messages that were not compared                      A329  branches that leave a gap between them
    A340  a value of a kind that its place never takes         A341  a comparison of kinds that never compare
    A342  a field written with what it may not take            A343  an expression without a value for some data

    A344  what the other side sends is never taken         A345  what its condition lets through is refused
    A314  a value that is bound and never read             A315  a result that nobody takes
    A316  a field that overwrites what `let` counts        A317  a step done after one that it is written before
    A346  a player's own limit above that of who waits     A347  a message of our own over message_bytes_max
    A348  a `limit` that is never used up                  A318  an item of a list has another value's name

    A350  a problem that is accepted and is not there
    A141  an outcome where none is read

    A401  a rule that its module does not have                 A403  a rule of a module that the spec does not name
    A402  a rule given too few or too many values              A404  a function that is not built in, or its values

Each check is a function whose docstring names its codes (`machines.manual` has their pages); it is found in

    definite_assignment  A301 A302 A306 A310     ambiguity       A330 to A336, A339
    scoping              A303 to A313, A318      rules           A401 to A404
    fault_handling       A326                    value_kinds     A340 A341
    reachability         A320 to A325, A328      guards          A327 A329
    receivers            A337 A338               partial_values  A340 A342 A343
    agreement            A344 A345               bindings        A314 to A316
    durations            A346                    used_up         A348
    step_order           A317
    suppressions         A350                    outcomes        A141

The reader tells the rest of what keeps a spec from running: A1xx and A2xx, and with them calls with too many values
(A117, A118), branches that may run out where they may not (A127), `parallel` without `run` (A122).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from machines.analysis.call_graph import CallGraph
from machines.analysis.data_flow import Write
from machines.analysis.event_peers import Speakers
from machines.checks.agreement import check_agreement
from machines.checks.ambiguity import (
    AmbiguityTable,
    check_declarations,
    check_recognition,
    check_traffic,
    check_urgent,
)
from machines.checks.bindings import check_bound
from machines.checks.definite_assignment import check_assignment
from machines.checks.durations import check_durations
from machines.checks.fault_handling import check_faults
from machines.checks.guards import check_branches
from machines.checks.outcomes import check_outcomes
from machines.checks.partial_values import check_values
from machines.checks.reachability import (
    check_calls,
    check_ends,
    check_limits,
    check_reachable,
    check_silence,
)
from machines.checks.receivers import check_peers
from machines.checks.rules import check_rules
from machines.checks.scoping import check_bindings, check_declared, check_fields
from machines.checks.suppressions import Allowed, split_suppressed, unused_suppressions
from machines.checks.used_up import check_used_up
from machines.checks.value_kinds import check_kinds
from machines.checks.whole_frames import check_whole_frames
from machines.model import Role, Spec
from machines.problems import Problem, Problems


def check(spec: Spec, rules: Mapping[str, ModuleType] | None = None) -> list[Problem]:
    """Return every problem of a spec that the reader found nothing wrong with, in file order; none if it may run.

    ``rules`` has the modules that the spec names, by those names; without them their functions are not checked. What
    the spec accepts is none; that it accepts what is not there is one.
    """
    return check_with_suppressions(spec, rules)[0]


def check_for_run(spec: Spec, rules: Mapping[str, ModuleType], settings: Mapping[str, str]) -> list[Problem]:
    """Return the problems for which a spec may not run with these settings, which it has by now, in file order.

    Who sets one limit for a run means it, whatever the others are: A346 hinders none that has settings of its own.
    """
    return [problem for problem in check(spec, rules) if not settings or problem.code != "A346"]


def check_with_suppressions(
    spec: Spec, rules: Mapping[str, ModuleType] | None = None
) -> tuple[list[Problem], list[Allowed]]:
    """Return what `check` does, and the problems that the spec accepts."""
    left, allowed = split_suppressed(spec, every_problem(spec, rules))
    vain = unused_suppressions(spec, allowed, lambda code: not code.startswith(("A5", "A6")))
    return sorted([*left, *vain]), allowed


def every_problem(spec: Spec, rules: Mapping[str, ModuleType] | None = None) -> list[Problem]:
    """Return every problem, accepted or not, in file order."""
    problems = Problems()
    check_declared(spec, problems)
    check_traffic(spec, problems)
    check_declarations(spec, problems)
    check_rules(spec, rules, problems)
    likeness = AmbiguityTable(spec)
    check_urgent(spec, likeness, problems)
    writes: list[Write] = []
    for role in spec.roles.values():
        writes += _check_role(spec, role, likeness, problems)
    check_agreement(spec, writes, problems)
    check_durations(spec, problems)
    likeness.tell(problems)
    return list(problems)


def _check_role(spec: Spec, role: Role, likeness: AmbiguityTable, problems: Problems) -> list[Write]:
    flow = CallGraph(spec, role)
    check_calls(flow, problems)
    for machine in role.machines.values():
        check_branches(machine, problems)
        check_reachable(machine, problems)
        check_bindings(flow, machine, problems)
        check_bound(flow, machine, problems)
        check_fields(machine, role, problems)
        check_kinds(spec, machine, problems)
        check_outcomes(role, machine, problems)
        check_used_up(spec, machine, problems)
    if flow.circle:
        return []  # what follows asks what stands around a call, which has no answer in a circle of calls
    check_assignment(flow, problems)
    check_ends(flow, problems)
    check_limits(flow, problems)
    check_faults(flow, problems)
    writes = check_values(flow, problems)
    check_recognition(flow, likeness, problems)
    check_whole_frames(flow, problems)
    speakers = Speakers(flow)
    for machine in role.machines.values():
        check_silence(flow, machine, problems)
        check_peers(flow, machine, speakers, problems)
    return writes
