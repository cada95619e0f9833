"""What ``accord check`` and ``accord diff`` say of an exploration."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from machines.model import Spec
from machines.parser.loader import rules_modules
from machines.problems import Problem
from machines.verification import verify as exploring
from machines.verification.abstract.budget import MIB, Budget
from machines.verification.abstract.contracts import ContractError, contracts_for
from machines.verification.foreign import with_anything
from machines.verification.sign_ups import CLIENTS_MAX
from machines.verification.verdict import Finding, TraceStep, Verdict
from runtime.commands.exit_codes import CommandError
from runtime.process.output import note

if TYPE_CHECKING:  # what most checks never need is imported where it is: replays, runs that show a problem, players
    from machines.verification.counterexamples.witness import Witnesses

Traces = Literal["first", "all", "none"]
CLIENTS = max(exploring.CLIENTS)
QUEUE = exploring.QUEUE
LIMIT = 1_000_000  # the budget of time is spent before, but for small states
BUDGET = 10.0  # seconds
MEMORY = 2_048  # MiB
QUEUE_MAX = exploring.QUEUE_DEEPEST
GARBAGE = 1_000_000  # objects made before Python looks for garbage among them: some 100 MB of them

Clients = Annotated[int, Parameter(help=f"Try 1 to so many clients, up to {CLIENTS_MAX}; 0 looks at each role alone.")]
Queue = Annotated[
    int | None,
    Parameter(help=f"How many messages may wait for one peer: {QUEUE}, and up to {QUEUE_MAX} where that is too few."),
]
Limit = Annotated[int, Parameter(help="How many states to look at, for each number of clients.")]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Bounds:
    """How far to look, and which problems of one role to look for a run of."""

    clients: Clients = CLIENTS
    queue: Queue = None
    limit: Limit = LIMIT
    budget: Annotated[
        float, Parameter(help="How many seconds of computing one spec may cost, and each seed of its games.")
    ] = BUDGET
    memory: Annotated[int, Parameter(help="How many MiB of memory a search may need.")] = MEMORY
    traces: Annotated[
        Traces, Parameter(help="Which problems of one role a run shows: the first of each code, all of them, or none.")
    ] = "first"

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("clients", self.clients, 0, CLIENTS_MAX),
            ("queue", QUEUE if self.queue is None else self.queue, 1, QUEUE_MAX),
            ("limit", self.limit, 1, 10_000_000),
            ("budget", self.budget, 0.1, 86_400),
            ("memory", self.memory, 16, 1 << 20),
        ):
            if not low <= value <= high:
                raise CommandError(f"--{name} {value} is not within {low}..{high}")

    def new_budget(self, name: str, times: float = 1) -> Budget:
        """Return a budget that begins now, and tells on standard error what is being done to a spec of that name.

        It has so many ``times`` the seconds.
        """
        return Budget(
            self.budget * times,
            self.memory * MIB,
            time.process_time,
            _bytes_needed,
            lambda text: note(f"{name}: {text}"),
        )

    @property
    def queues(self) -> tuple[int, int]:
        """How many messages may wait for one peer, and how many where those are too few."""
        return (QUEUE, QUEUE_MAX) if self.queue is None else (self.queue, self.queue)


def _bytes_needed() -> int:
    """Return how many bytes of memory this process has needed at most; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Let Python look for garbage less often: an exploration makes much that stays, which it would look through anew
    each time. A third of the time went there.
    """
    before = gc.get_threshold()
    gc.set_threshold(GARBAGE)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def explored(spec: Spec, rules: list[str], bounds: Bounds, name: str = "") -> Verdict:
    """Return the verdict on a spec without problems; ``name`` is that under which it is told of.

    Raises:
        CommandError: a module of its rules promises what is no contract.
    """
    modules = rules_modules(spec, rules)
    try:
        contracts = contracts_for(spec, modules)
    except ContractError as error:
        raise CommandError(str(error)) from None
    queue, deepest = bounds.queues
    budget = bounds.new_budget(name or spec.protocol)
    with seldom_collected():
        found = exploring.verify(
            spec, contracts, clients=range(1, bounds.clients + 1), queue=queue, deepest=deepest, most=bounds.limit,
            budget=budget,
        )  # fmt: skip
    if not found.findings:
        return found
    from machines.verification.counterexamples.replay import confirmed
    from runtime.players.replaying import decider

    return confirmed(found, with_anything(spec), modules, decider(spec), budget=budget)


def shown_runs(spec: Spec, rules: list[str], problems: list[Problem], bounds: Bounds) -> Witnesses:
    """Return runs that show the problems of one role: of each, or of the first of each code.

    Raises:
        CommandError: a module of its rules promises what is no contract.
    """
    from machines.verification.counterexamples import witness
    from runtime.players.replaying import decider

    if bounds.traces == "none" or not bounds.clients:
        return witness.Witnesses({})
    first: dict[str, Problem] = {}
    for problem in problems:
        if problem.spot is not None:
            first.setdefault(problem.code, problem)
    chosen = [one for one in problems if bounds.traces == "all" or one is first.get(one.code)]
    if not any(one.spot is not None for one in chosen):
        return witness.Witnesses({})
    modules = rules_modules(spec, rules)
    try:
        contracts = contracts_for(spec, modules)
    except ContractError as error:
        raise CommandError(str(error)) from None
    most = min(bounds.limit, witness.CONFIGURATIONS_MAX)
    with seldom_collected():
        found = witness.find_witnesses(
            spec, contracts, chosen, beside=problems, clients=range(1, bounds.clients + 1), most=most,
            budget=bounds.new_budget(spec.protocol),
        )  # fmt: skip
        return witness.replay(found, spec, modules, decider(spec), problems)


def shown(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON."""
    return {
        "verdict": verdict.state,
        "clients": list(verdict.clients),
        "queue": verdict.queue,
        "states": list(verdict.states),
        "reduced": list(verdict.reduced),
        "findings": [_finding(finding) for finding in verdict.findings],
        "dead": [_finding(finding) for finding in verdict.dead],
        "unknown": list(verdict.beyond),
        "assumed": list(verdict.assumed),
        "rests_on": list(verdict.rests_on),
        "settings": list(verdict.settings),
        "any_number": verdict.any_number,
        "foreign": list(verdict.foreign),
        "notes": list(verdict.notes),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "text": finding.text,
        "hint": finding.hint,
        "file": finding.place.file if finding.place is not None else None,
        "line": finding.place.line if finding.place is not None else None,
        "column": finding.place.column if finding.place is not None else None,
        "clients": finding.clients,
        "confirmed": finding.confirmed,
        "possible": finding.is_possible,
        "replay": finding.replay,
        "trace": [shown_step(step) for step in finding.trace],
    }


def shown_step(step: TraceStep) -> dict[str, Any]:
    """Return a step of a trace as JSON."""
    return {
        "who": step.who,
        "kind": step.kind,
        "peer": step.peer,
        "message": step.message,
        "taken": step.taken,
        "does": step.does,
        "sent": [{"to": to, "message": message} for to, message in step.sent],
        "closed": list(step.closed),
        "where": step.where,
    }
