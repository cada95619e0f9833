"""`verify`: is a protocol proved to fit together, refuted by a trace, or is that not known?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from machines.analysis.call_graph import CallGraph
from machines.analysis.traversal import all_branches, all_steps
from machines.model import Branch, Choice, Machine, Return, SendMessages, Spec
from machines.problems import Place
from machines.verification.abstract.budget import Budget
from machines.verification.abstract.contracts import Contract
from machines.verification.abstract.growth import what_grows
from machines.verification.abstract.limits import COUNTED_MAX, uncounted
from machines.verification.abstract.process import Process
from machines.verification.abstract.role_info import RoleOutline
from machines.verification.beside import beside
from machines.verification.environment import EnvironmentAbstraction
from machines.verification.error_states import ErrorDetector
from machines.verification.foreign import ForeignStateSpace, apart, unexplored, with_anything
from machines.verification.orphans import CHEAP, doubtful, orphans, sent_by
from machines.verification.resting_on import rests_on
from machines.verification.search.state_space import REDUCTIONS, StateSpace
from machines.verification.search.system import OTHERS, System, clients_of
from machines.verification.sign_ups import is_filled, unfilled_doors
from machines.verification.sums import sums_told
from machines.verification.temporal import PropertyDetector, seen_roles
from machines.verification.verdict import Finding, Verdict

CLIENTS = (1, 2, 3)
QUEUE = 2
ONE_AT_A_TIME = "clients share nothing but data: one at a time, among others who change the data"
EACH_BY_ITSELF = "each connection has a session of its own, and no two clients share anything"
DEAD_HINT = "let somebody bring it about, or take it out"
QUEUE_DEEPEST = 8  # where two messages waiting for a peer do not suffice, four are tried, then eight
QUEUE_SEEN = 6  # where properties speak of several roles, each reads when it will, and more may wait for it
CONFIGURATIONS_MAX = 200_000


def verify(
    spec: Spec,
    contracts: Mapping[str, Contract] | None = None,
    *,
    clients: Iterable[int] = CLIENTS,
    queue: int = QUEUE,
    deepest: int | None = None,
    most: int = CONFIGURATIONS_MAX,
    specs: Mapping[str, Spec] | None = None,
    budget: Budget | None = None,
) -> Verdict:
    """Return the verdict on a spec whose roles pass the checks that look at one role.

    ``contracts`` are those of its rules, by ``module.rule`` (see `abstract.contracts`); ``clients``
    the numbers of clients to try (of foreign ones, by default, 1 and 2, unless a door waits for more); ``queue``
    how many messages may wait for one peer, which is doubled up to ``deepest`` where it does not suffice; ``most``
    how many states may be looked at for one number of clients. ``specs`` gives a role the version of the spec that
    it runs, if another; ``budget`` is what all of it may cost.
    """
    numbers = tuple(clients)
    if numbers == CLIENTS and any(spec.connects.get(name) for name in spec.foreign) and is_filled({}, spec, 2):
        numbers = CLIENTS[:2]  # each of them does anything by itself: a third adds little, and costs ten times as much
    search = _Searches(spec, contracts or {}, numbers, most, specs or {}, budget or Budget())
    search.queue = max(queue, QUEUE_SEEN) if search.seen else queue
    search.deepest = max(deepest or 0, search.queue)
    search.look_at_all()
    return search.verdict()


class _Searches:
    """The searches of a spec, one for each number of clients, and what they came to together."""

    def __init__(
        self,
        spec: Spec,
        contracts: Mapping[str, Contract],
        numbers: tuple[int, ...],
        most: int,
        specs: Mapping[str, Spec],
        budget: Budget,
    ) -> None:
        self.spec = self.looked_at = with_anything(spec)
        self.space: type[StateSpace] = ForeignStateSpace if spec.foreign else StateSpace
        self.contracts = contracts
        self.numbers = numbers
        self.seen = seen_roles(spec)
        self.queue = self.deepest = QUEUE
        self.needed = 0  # so many messages might wait for a peer, at most
        self.most = most
        self.specs = specs
        self.budget = budget
        self.outlines: dict[str, RoleOutline] = {}
        self.found: dict[tuple[str, ...], Finding] = {}
        self.counts: dict[int, int] = {}
        self.beyond: dict[str, None] = dict.fromkeys((*unsupported_features(spec), *unexplored(spec)))
        self.unsure: dict[str, None] = dict.fromkeys(unlike_runs(spec))
        self.assumed: dict[str, None] = {}
        self.promised: set[str] = set()
        self.unread: set[tuple[str, str]] = set()
        self.missed: set[str] = set()
        self.sent: set[tuple[str, str, str]] = set()
        self.read: set[tuple[str, str, str]] = set()
        self.taken: set[int] = set()
        self.entered: set[tuple[str, str]] = set()
        self.returned: set[str] = set()
        self.reduced: dict[str, None] = {}
        self.company: EnvironmentAbstraction | None = None  # once one client has been looked at
        self.before: StateSpace | None = None  # the last search
        self.any_number = ""

    def look_at_all(self) -> None:
        """Search with each number of clients, then ask what only all searches together can answer."""
        for looked_at in apart(self.spec) if not self.beyond else ():
            self.looked_at, self.outlines, self.company, self.before = looked_at, {}, None, None
            # Of each further role that connects there are two too, with as few of the first as show what that changes.
            more = [(one, 2) for one in self.numbers if one <= OTHERS and len(clients_of(self.looked_at)) > 1]
            for number, others in [*((one, 1) for one in self.numbers), *more]:
                self._look_at(number, others)
        if not self.beyond and not self.unsure:
            self._look_at_ends()
        for text in self._unfilled() if not self.beyond and not self.found else ():
            self.beyond.setdefault(text)
        self.beyond.update(self.unsure)

    # -- one search --------------------------------------------------------------------------------------------------

    def _look_at(self, number: int, others: int) -> None:
        also = f"{number}{', and 2 of each further role' if others > 1 else ''}"
        cast = System(
            self.looked_at,
            number,
            self.contracts,
            self.specs,
            others=others,
            budget=self.budget,
            outlines=self.outlines,
        )
        if all(actor.group >= 0 for actor in cast.actors) and not self.spec.properties:
            self.any_number = EACH_BY_ITSELF
        company = self.company
        judge: ErrorDetector
        if company is not None and company.graph is not None and others == 1 and company.stands_for(cast):
            graph, judge = company.graph, company.judge
            self.reduced.setdefault(ONE_AT_A_TIME)
        else:
            graph, judge = self._searched(cast, number, others, also)
            self.reduced.update(dict.fromkeys(one for one in REDUCTIONS if one in graph.used))
        for key, finding in judge.found.items():
            self.found.setdefault(key, finding)
        self.counts[number] = self.counts.get(number, 0) + len(graph.configs)
        self.sent |= graph.sent
        self.read |= graph.read
        self.unread |= graph.unread
        self.missed |= graph.missed | {message for message, _ in graph.unread}
        self.returned |= judge.returned
        for text in sorted(graph.beyond):
            self.beyond.setdefault(f"{text} (with {also})")
        asks_more = graph.beyond or graph.without_end or judge.found or self.spec.properties
        if number == 1 and len(self.numbers) > 1 and not asks_more:
            self.company = EnvironmentAbstraction(cast, graph.queue, self.most, self.space)
        self._take_from({**cast.parts, **graph.cast.parts})
        if graph.cast is not cast:
            self._take_from(cast.parts)
        self.before = graph

    def _searched(self, cast: System, number: int, others: int, also: str) -> tuple[StateSpace, ErrorDetector]:
        before = self.before
        fewer = before if others == 1 and before is not None and before.cast.clients == number - 1 else None
        fewer = fewer if fewer is not None and not fewer.beyond else None
        graph = self.space(cast, self.queue, self.most, fewer=fewer)
        judge = PropertyDetector(number, self.spec.properties)
        graph.seen_roles = self.seen
        self.budget.at = lambda: (
            f"{len(graph.configs)} states with {also} client{'' if also == '1' else 's'}; {what_grows(cast.parts)}"
        )
        graph.build(judge)
        while graph.needs_deeper and not judge.found and 2 * graph.queue <= self.deepest:
            graph.deepen(judge, 2 * graph.queue)
        if graph.beyond:
            self.deepest = self.queue  # with more clients still more may wait: nothing would be known of them either
        self.needed = max(self.needed, graph.queue)
        judge.finish(graph)
        self.budget.at = lambda: ""  # it holds the roles
        return graph, judge

    def _take_from(self, parts: Mapping[str, Process]) -> None:
        for role, part in parts.items():
            self.taken |= part.taken | part.outline.asides.taken
            self.entered |= {(role, state) for state in part.entered | part.outline.asides.entered}
            for text in sorted(part.rounds):
                self.assumed.setdefault(f"{role} does not go round for ever in {text}")
            for text in sorted(part.swallowed):
                self.beyond.setdefault(f"{role}: {text}")
            self.promised |= part.contracts

    # -- all of them -------------------------------------------------------------------------------------------------

    def _look_at_ends(self) -> None:
        """Ask for messages that nobody ever reads, and for roles that never come to their end."""
        # Where something worse was found, much is not read because of that.
        for sender, message, receiver in sorted(self.sent - self.read) if not self.found else ():
            if receiver in self.spec.foreign:
                continue
            text = f"{receiver} never reads {message}, which {sender} sends"
            place = _place_of_send(self._of(sender), sender, message)
            self._tell(("A504", sender, message), text, place)
        if not self.found and not self.spec.foreign and not self.specs:
            self._look_at_orphans()
        for role in self.spec.roles if not self.found and self._is_filled() else ():
            main = self._of(role).roles[role].machines["main"]
            end = next((branch for branch in _branches_of(main) if isinstance(branch.next, Return)), None)
            alone = not any(peer in self.spec.foreign for peer in self.spec.peers_of(role))
            if role not in self.returned and end is not None and alone:
                self._tell(("A505", role), f"no {role} ever comes to its end", end.place)

    def _look_at_orphans(self) -> None:
        """Ask for messages that one of several places sends, and that are read in no run."""
        traced = doubtful(self.spec, self.missed)
        if not traced or sum(self.counts.values()) > CHEAP:
            return

        def cast_of(number: int) -> System:
            return System(self.spec, number, self.contracts, budget=self.budget)

        places = {str(call.place): call.place for role in self.spec.roles for call in sent_by(self.spec, role)}
        for sender, message, receiver, place in orphans(cast_of, self.numbers, self.needed, traced):
            text = f"{receiver} never reads {message}, which {sender} sends in line {places[place].line}"
            self._tell(("A504", sender, message, place), text, places[place])

    def _tell(self, key: tuple[str, ...], text: str, place: Place) -> None:
        self.found.setdefault(key, Finding(key[0], text, max(self.numbers), (), place=place))

    def _of(self, role: str) -> Spec:
        return self.specs.get(role, self.spec)

    def _is_filled(self) -> bool:
        return is_filled(self.specs, self.spec, max(self.numbers))

    def _unfilled(self) -> Iterator[str]:
        return unfilled_doors(self.spec, self.specs, self.taken, self.entered, self.numbers)

    def verdict(self) -> Verdict:
        """Return what the searches came to."""
        needed = max(self.needed, self.queue)
        if self.promised:
            self.assumed.setdefault(f"the rules keep their contracts: {'; '.join(sorted(self.promised))}")
        notes = [
            f"{message} may come too late: {role} has ended, or closed the connection"
            for message, role in sorted(self.unread)
        ]
        dead: list[Finding] = []
        for branch, event, text in self._never_taken() if not self.beyond and not self.found else ():
            if event == ".then":  # a decision for what need not come: nothing that is waited for in vain
                notes.append(f"{branch.place}: {text}")
            else:
                dead.append(Finding("A510", text, max(self.numbers), (), DEAD_HINT, branch.place))
        return Verdict(
            self.numbers,
            needed,
            tuple(self.counts.values()),
            tuple(self.found.values()),
            tuple(self.beyond),
            tuple(self.assumed),
            tuple(notes),
            tuple(self.reduced),
            tuple(rests_on(self.spec, self.numbers, needed, self.any_number)),
            any_number=self.any_number,
            dead=tuple(dead),
            foreign=tuple(self.spec.foreign),
        )

    def _never_taken(self) -> Iterator[tuple[Branch, str, str]]:
        """Yield each branch that no run takes, its event, and that in words, if there were clients enough to tell."""
        for role in self.spec.roles if self._is_filled() else ():
            if role in self.spec.foreign:
                continue
            for machine in self._of(role).roles[role].machines.values():
                for where, event, choice in _choices_of(machine):
                    for branch in all_branches(choice) if event not in _OF_FAULTS else ():
                        if id(branch) not in self.taken:
                            told = event.removeprefix(".")
                            yield branch, event, f"{role} {machine.name}.{where} never takes this branch of {told}"


_OF_FAULTS = (".invalid", ".timeout", ".closed")  # need not happen where all keep to the protocol and the network works


def _choices_of(machine: Machine) -> Iterator[tuple[str, str, Choice]]:
    """Yield each choice of a machine with the state that has it, and its event."""
    listed = [("always", machine.always.answers)] if machine.always is not None else []
    listed.extend((state.name, state.answers) for state in machine.states.values())
    yield from ((where, event, choice) for where, answers in listed for event, choice in answers.choices())
    yield from ((state.name, ".then", state.then) for state in machine.states.values() if state.then)


def unsupported_features(spec: Spec) -> Iterator[str]:
    """Yield what of a spec the exploration does not know."""
    for role in spec.roles.values():
        around = CallGraph(spec, role).live_somewhere
        for machine in role.machines.values():
            if (machine.live or around[machine.name]) and any(
                state.each is not None and state.each.parallel is not None for state in machine.states.values()
            ):
                yield f"{role.name}: what 'live' values do to machines side by side is not explored"


def unlike_runs(spec: Spec) -> Iterator[str]:
    """Yield what of a spec may come about in a run in ways that the exploration does not look at."""
    for role in spec.roles.values():
        yield from beside(spec, role)
        yield from sums_told(spec, role)
    if limited := sorted(set(uncounted(spec))):
        many = f"whether a limit that is a rate, or above {COUNTED_MAX}, is used up"
        yield f"{many} by who sends of itself is not counted: {', '.join(limited)}"


def _place_of_send(spec: Spec, role: str, message: str) -> Place:
    """Return where a role sends a message first in its file."""
    sends = [
        step.place
        for machine in spec.roles[role].machines.values()
        for step in all_steps(machine)
        if isinstance(step, SendMessages) and any(call.path == message for call in step.messages)
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
