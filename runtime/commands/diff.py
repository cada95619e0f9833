"""``accord diff``: what changed between two versions of a spec, and whether each still serves the other's clients."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

from cyclopts import Parameter

from machines.checks.checker import check as problems_of
from machines.loader import load, rules_modules
from machines.model import Spec
from machines.problems import SpecError
from machines.verification.abstract.alike import is_renamed
from machines.verification.compatibility import compare, mixed
from machines.verification.contracts import ContractError, contracts_for
from machines.verification.counterexamples.replay import confirmed
from machines.verification.verdict import PROVED, REFUTED, Verdict
from runtime.commands.exit_codes import OK, PROBLEMS, UNDETERMINED, CommandError
from runtime.commands.options import Json, Rules, are_modules, is_spec
from runtime.commands.output import note, put, put_json
from runtime.commands.verification import (
    CLIENTS,
    LIMIT,
    Bounds,
    Clients,
    Limit,
    Queue,
    decider,
    seldom_collected,
    shown,
)

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
    try:
        of_each = (contracts_for(spec, rules_modules(spec, rules)) for spec in specs)
        contracts = {name: one for found in of_each for name, one in found.items()}
    except ContractError as error:
        raise CommandError(str(error)) from None
    with seldom_collected():
        found = compare(
            specs[0],
            specs[1],
            contracts,
            clients=range(1, bounds.clients + 1),
            queue=bounds.queues[0],
            most=bounds.limit,
        )
    found = replace(
        found,
        new_server=_replayed(found.new_server, specs[1], specs[0], rules),
        old_server=_replayed(found.old_server, specs[0], specs[1], rules),
    )
    pairs: tuple[tuple[str, Verdict | None], ...] = (
        (PAIRS[0], found.new_server),
        (PAIRS[1], found.old_server),
    )
    if json:
        told: dict[str, Any] = {
            "verdict": found.state,
            "changes": [
                {"message": one.message, "text": str(one), "breaks": list(one.breaks)} for one in found.changes
            ],
            "apart": found.apart,
        }
        put_json(told | {name: shown(verdict) if verdict is not None else None for name, verdict in pairs})
    else:
        for change in found.changes:
            put(str(change))
        if found.apart:
            put(found.apart)
        for name, verdict in pairs:
            for finding in verdict.findings if verdict is not None else ():
                for line in finding.lines():
                    put(f"{name}: {line}" if not line.startswith(" ") else line)
            for line in verdict.summary() if verdict is not None else ():
                note(f"{name}: {line}")
    if found.state == REFUTED:
        return PROBLEMS
    return OK if found.state == PROVED else UNDETERMINED


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
    if json:
        put_json({"verdict": REFUTED, "changes": [], "apart": text} | dict.fromkeys(PAIRS))
    else:
        put(text)
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
