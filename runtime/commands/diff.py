"""``accord diff``: what changed between two versions of a spec, and whether each still serves the other's clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from cyclopts import Parameter

from machines.checks.checker import check as problems_of
from machines.model import Spec
from machines.parser.loader import load, rules_modules
from machines.problems import SpecError
from machines.verification.abstract.alike import is_renamed
from machines.verification.abstract.contracts import ContractError, contracts_for
from machines.verification.compatibility import Comparison, compare, mixed
from machines.verification.counterexamples.replay import confirmed
from machines.verification.verdict import PROVED, REFUTED, Verdict
from runtime.commands.exit_codes import OK, PROBLEMS, UNDETERMINED, CommandError
from runtime.commands.options import Json, Rules, are_modules, is_spec
from runtime.commands.verification import (
    CLIENTS,
    LIMIT,
    Bounds,
    Clients,
    Limit,
    Queue,
    seldom_collected,
    shown,
)
from runtime.players.replaying import decider
from runtime.process.output import note, put_result

Old = Annotated[str, Parameter(help="The version before: the name of a shipped spec, or a path.")]
PAIRS: Final = ("a new server with old clients", "an old server with new clients")
New = Annotated[str, Parameter(help="The version after.")]


def diff(
    old: Old,
    new: New,
    /,
    *,
    rules: Rules = [],  # noqa: B006 (cyclopts makes a new list)
    clients: Clients = CLIENTS,
    queue: Queue = None,
    limit: Limit = LIMIT,
    json: Json = False,
) -> int:
    """Say what changed in the messages, and explore a new server with old clients, and an old one with new clients.

    Exit code 0 if both fit, 2 if one does not (with the shortest trace to where it does not) or they have no message in
    common, 3 if a bound was met before all was looked at.
    """
    are_modules(rules)
    bounds = Bounds(max(clients, 1), queue, limit)
    specs = [_sound(name, rules) for name in (old, new)]
    if are_strangers(*specs):
        return _told_strangers(*specs, json=json)
    found = _compared(specs[0], specs[1], bounds, rules)
    pairs = dict(zip(PAIRS, (found.new_server, found.old_server), strict=True))
    put_result(_facts(found, pairs), _lines(found, pairs), json=json)
    if not json:
        for name, verdict in pairs.items():
            for line in verdict.summary() if verdict is not None else ():
                note(f"{name}: {line}")
    if found.state == REFUTED:
        return PROBLEMS
    return OK if found.state == PROVED else UNDETERMINED


def _compared(old: Spec, new: Spec, bounds: Bounds, rules: list[str]) -> Comparison:
    """Return what an exploration of both mixed pairs finds; what it finds is replayed by real sessions.

    Raises:
        CommandError: a module of rules promises what is no contract.
    """
    try:
        of_each = (contracts_for(spec, rules_modules(spec, rules)) for spec in (old, new))
        contracts = {name: one for found in of_each for name, one in found.items()}
    except ContractError as error:
        raise CommandError(str(error)) from None
    with seldom_collected():
        clients = range(1, bounds.clients + 1)
        found = compare(old, new, contracts, clients=clients, queue=bounds.queues[0], most=bounds.limit)
    return replace(
        found,
        new_server=_replayed(found.new_server, new, old, rules),
        old_server=_replayed(found.old_server, old, new, rules),
    )


def _facts(found: Comparison, pairs: Mapping[str, Verdict | None]) -> dict[str, Any]:
    """Return what was found, for programs; the verdict on each pair under its name."""
    changes = [{"message": one.message, "text": str(one), "breaks": list(one.breaks)} for one in found.changes]
    told: dict[str, Any] = {"verdict": found.state, "changes": changes, "apart": found.apart}
    return told | {name: shown(verdict) if verdict is not None else None for name, verdict in pairs.items()}


def _lines(found: Comparison, pairs: Mapping[str, Verdict | None]) -> Iterator[str]:
    """Yield what was found, for people."""
    yield from map(str, found.changes)
    if found.apart:
        yield found.apart
    for name, verdict in pairs.items():
        for finding in verdict.findings if verdict is not None else ():
            for line in finding.lines():
                yield f"{name}: {line}" if not line.startswith(" ") else line


def are_strangers(old: Spec, new: Spec) -> bool:
    """Tell whether two specs have no message in common: neither a name, nor one that is the same on the wire.

    Then they are no versions of one another, however well each would do with the other's clients: it would not
    understand a word, and send them away in good order.
    """
    if not old.messages or not new.messages or not old.messages.keys().isdisjoint(new.messages):
        return False
    return not any(is_renamed(old, name, new, other) for name in old.messages for other in new.messages)


def _told_strangers(old: Spec, new: Spec, *, json: bool) -> int:
    """Say that two specs have nothing to compare; return the exit code."""
    text = f"{old.protocol} and {new.protocol} have no message in common: neither serves the other's clients"
    put_result({"verdict": REFUTED, "changes": [], "apart": text} | dict.fromkeys(PAIRS), [text], json=json)
    return PROBLEMS


def _replayed(verdict: Verdict | None, server: Spec, client: Spec, rules: list[str]) -> Verdict | None:
    """Return the verdict on a mixed pair with its findings marked: whether the real sessions do as the trace says."""
    if verdict is None or not verdict.findings:
        return verdict
    return confirmed(verdict, server, rules_modules(server, rules), decider(client), mixed(server, client))


def _sound(name: str, rules: list[str]) -> Spec:
    is_spec(name)
    spec = load(name, rules=rules)
    problems = tuple(problems_of(spec, rules_modules(spec, rules)))
    if problems:
        raise SpecError(problems)
    return spec
