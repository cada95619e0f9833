"""`verify`: is a protocol proved to fit together, refuted by a trace, or is that not known?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from machines.analysis.call_graph import CallGraph, all_branches, all_steps
from machines.model import Branch, Machine, Return, Send, Spec, Start, Step
from machines.problems import Place
from machines.verification.beside import to_others
from machines.verification.contracts import Contract
from machines.verification.error_states import ErrorDetector
from machines.verification.resting_on import rests_on
from machines.verification.search.environment import EnvironmentAbstraction
from machines.verification.search.state_space import REDUCTIONS, StateSpace
from machines.verification.search.system import OTHERS, System, clients_of
from machines.verification.sign_ups import is_filled, unfilled_doors
from machines.verification.temporal import PropertyDetector, seen_roles
from machines.verification.verdict import Finding, Verdict

CLIENTS = (1, 2, 3)
QUEUE = 2
ONE_AT_A_TIME = "clients share nothing but data: one at a time, among others who change the data"
QUEUE_SEEN = 6  # where properties speak of several roles, each reads when it will, and more may wait for it
CONFIGURATIONS_MAX = 200_000


def verify(
    spec: Spec,
    contracts: Mapping[str, Contract] | None = None,
    *,
    clients: Iterable[int] = CLIENTS,
    queue: int = QUEUE,
    most: int = CONFIGURATIONS_MAX,
    specs: Mapping[str, Spec] | None = None,
) -> Verdict:
    """Return the verdict on a spec whose roles pass the checks that look at one role.

    ``contracts`` are those of its rules, by ``module.rule`` (see `machines.verification.contracts`); ``clients`` the
    numbers of clients to try; ``queue`` how many messages may wait for one peer; ``most`` how many states may
    be looked at for one number of clients. ``specs`` gives a role the version of the spec that it runs, if another.
    """
    found: dict[tuple[str, ...], Finding] = {}
    counts: list[int] = []
    beyond: dict[str, None] = {}
    assumed: dict[str, None] = {}
    promised: dict[str, None] = {}
    unread: set[tuple[str, str]] = set()
    sent: set[tuple[str, str, str]] = set()
    read: set[tuple[str, str, str]] = set()
    taken: set[int] = set()
    entered: set[tuple[str, str]] = set()
    returned: set[str] = set()
    reduced: dict[str, None] = {}
    company: EnvironmentAbstraction | None = None  # once one client has been looked at
    numbers = tuple(clients)
    graph: StateSpace | None = None
    seen = seen_roles(spec)
    if seen:
        queue = max(queue, QUEUE_SEEN)
    for text in unsupported_features(spec):
        beyond.setdefault(text)
    # Of each further role that connects there are two as well, with as few of the first as show what that changes.
    more = [(number, 2) for number in numbers if number <= OTHERS and len(clients_of(spec)) > 1]
    for number, others in [*((number, 1) for number in numbers), *more] if not beyond else ():
        cast = System(spec, number, contracts or {}, specs, others=others)
        judge: ErrorDetector
        if company is not None and company.graph is not None and others == 1 and company.stands_for(cast):
            graph, judge = company.graph, company.judge
            reduced.setdefault(ONE_AT_A_TIME)
        else:
            fewer = graph if others == 1 and graph is not None and graph.cast.clients == number - 1 else None
            fewer = fewer if fewer is not None and not fewer.beyond else None
            graph, judge = StateSpace(cast, queue, most, fewer=fewer), PropertyDetector(number, spec.properties)
            graph.seen_roles = seen
            graph.build(judge)
            judge.finish(graph)
            reduced.update(dict.fromkeys(one for one in REDUCTIONS if one in graph.used))
        for key, finding in judge.found.items():
            found.setdefault(key, finding)
        if others == 1:
            counts.append(len(graph.configs))
        else:
            counts[numbers.index(number)] += len(graph.configs)
        sent |= graph.sent
        read |= graph.read
        unread |= graph.unread
        returned |= judge.returned
        for text in sorted(graph.beyond):
            beyond.setdefault(f"{text} (with {number}{', and 2 of each further role' if others > 1 else ''})")
        asks_more = graph.beyond or graph.without_end or judge.found or spec.properties
        if number == 1 and len(numbers) > 1 and not asks_more:
            company = EnvironmentAbstraction(cast, queue, most)
        for role, part in (*cast.parts.items(), *graph.cast.parts.items()):
            taken |= part.taken
            entered |= {(role, state) for state in part.entered}
            for text in sorted(part.rounds):
                assumed.setdefault(f"{role} does not go round for ever in {text}")
            for text in sorted(part.swallowed):
                beyond.setdefault(f"{role}: {text}")
            for text in sorted(part.contracts):
                promised.setdefault(text)
    if not beyond:
        # Where something worse was found, much is not read because of that.
        for sender, message, receiver in sorted(sent - read) if not found else ():
            text = f"{receiver} never reads {message}, which {sender} sends"
            place = _place_of_send((specs or {}).get(sender, spec), sender, message)
            found.setdefault(("A504", sender, message), Finding("A504", text, max(numbers), (), place=place))
        for role in spec.roles if not found and is_filled(specs or {}, spec, max(numbers)) else ():
            main = (specs or {}).get(role, spec).roles[role].machines["main"]
            end = next((branch for branch in _branches_of(main) if isinstance(branch.next, Return)), None)
            if role not in returned and end is not None:
                text = f"no {role} ever comes to its end"
                found["A505", role] = Finding("A505", text, max(numbers), (), place=end.place)
    for text in unfilled_doors(spec, specs or {}, taken, entered, numbers) if not beyond and not found else ():
        beyond.setdefault(text)
    if promised:
        assumed.setdefault(f"the rules keep their contracts: {'; '.join(sorted(promised))}")
    silent = _never_taken(spec, specs or {}, taken, max(numbers)) if not beyond and not found else []
    notes = [
        f"{message} may come too late: {role} has ended, or closed the connection" for message, role in sorted(unread)
    ]
    notes.extend(silent)
    return Verdict(
        numbers,
        queue,
        tuple(counts),
        tuple(found.values()),
        tuple(beyond),
        tuple(assumed),
        tuple(notes),
        tuple(reduced),
        tuple(rests_on(spec, numbers, queue)),
    )


_OF_FAULTS = (".invalid", ".timeout", ".closed")  # need not happen where all keep to the protocol and the network works


def _never_taken(spec: Spec, specs: Mapping[str, Spec], taken: set[int], clients: int) -> list[str]:
    """Return a note for each branch that no run takes, if there were clients enough to tell."""
    if not is_filled(specs, spec, clients):
        return []
    found: dict[str, None] = {}
    for role in spec.roles:
        for machine in specs.get(role, spec).roles[role].machines.values():
            listed = [("always", machine.always.answers)] if machine.always is not None else []
            listed.extend((state.name, state.answers) for state in machine.states.values())
            choices = [(where, event, choice) for where, answers in listed for event, choice in answers.choices()]
            choices.extend((state.name, ".then", state.then) for state in machine.states.values() if state.then)
            for where, event, choice in choices:
                for branch in all_branches(choice) if event not in _OF_FAULTS else ():
                    if id(branch) not in taken:
                        told = event.removeprefix(".")
                        text = f"{branch.place}: {role} {machine.name}.{where} never takes this branch of {told}"
                        found.setdefault(text)
    return list(found)


def unsupported_features(spec: Spec) -> Iterator[str]:
    """Yield what of a spec the exploration does not know."""
    for role in spec.roles.values():
        yield from dict.fromkeys(to_others(role))
        around = CallGraph(spec, role).live_somewhere
        for machine in role.machines.values():
            if (machine.live or around[machine.name]) and any(
                state.each is not None and state.each.parallel is not None for state in machine.states.values()
            ):
                yield f"{role.name}: what 'live' values do to machines side by side is not explored"
            if any(isinstance(step, Start) for step in _steps_of(machine)):
                yield f"{role.name}: what machines do that 'start' begins is not explored"


def _steps_of(machine: Machine) -> Iterator[Step]:
    for state in machine.states.values():
        yield from state.steps
    for branch in _branches_of(machine):
        yield from branch.steps


def _place_of_send(spec: Spec, role: str, message: str) -> Place:
    """Return where a role sends a message first in its file."""
    sends = [
        step.place
        for machine in spec.roles[role].machines.values()
        for step in all_steps(machine)
        if isinstance(step, Send) and any(call.path == message for call in step.messages)
    ]
    return min(sends, default=spec.roles[role].place)


def _branches_of(machine: Machine) -> list[Branch]:
    found: list[Branch] = []
    if machine.always is not None:
        for _, choice in machine.always.answers.choices():
            found.extend(all_branches(choice))
    for state in machine.states.values():
        for _, choice in state.answers.choices():
            found.extend(all_branches(choice))
        if state.then is not None:
            found.extend(all_branches(state.then))
    return found
