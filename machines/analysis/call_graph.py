"""How machines hang together: the ways through a choice, what a state waits for, what calls what, every expression.

The checks read a spec through this module. Nothing here finds a problem.

    Way       one way through a choice: the branches taken, and the state, stay or return at its end
    Arc       a way that leaves or keeps a state, with the event it answers
    CallSite  a state that calls a machine, by ``run`` or by ``accept``
    RoleFlow  the machines of a role as a graph of calls
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from machines.analysis.traversal import all_steps
from machines.model import (
    Branch,
    Choice,
    Constant,
    Expression,
    Goto,
    Handlers,
    Let,
    Machine,
    Return,
    Role,
    Spec,
    Start,
    State,
    Stay,
    Step,
)
from machines.parser.at_hand import has_one_peer

# -- ways through a choice -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FlowPath:
    """One way through a choice. ``guards`` are all conditions that decide whether it is taken, also those passed over.

    ``limited`` says that a ``limit`` has a say too.
    """

    branches: tuple[Branch, ...]
    end: Goto | Stay | Return
    guards: tuple[Expression, ...]
    limited: bool


def ways(choice: Choice) -> Iterator[FlowPath]:
    """Yield every way through a choice that may be taken, in the order written; those after a sure one never are."""
    yield from _ways(choice, (), (), limited=False)


def _ways(
    choice: Choice, taken: tuple[Branch, ...], guards: tuple[Expression, ...], *, limited: bool
) -> Iterator[FlowPath]:
    for branch in choice.branches:
        if branch.guard is not None:
            guards = (*guards, branch.guard)
        limited = limited or branch.limit is not None
        if isinstance(branch.next, Choice):
            yield from _ways(branch.next, (*taken, branch), guards, limited=limited)
        else:
            yield FlowPath((*taken, branch), branch.next, guards, limited)
        if is_sure(branch):
            return


def is_sure(branch: Branch) -> bool:
    """Whether a branch is always taken once it is its turn."""
    guard = branch.guard
    open_ = guard is None or (isinstance(guard, Constant) and guard.value is True)
    return open_ and branch.limit is None


def surely_taken(choice: Choice | None) -> bool:
    """Whether there is a choice and one of its branches is taken whatever holds."""
    return choice is not None and any(is_sure(branch) for branch in choice.branches)


def bound_on(way: FlowPath) -> Iterator[tuple[str, Branch]]:
    """Yield the names that the branches of a way bind with ``let``, each with its branch."""
    for branch in way.branches:
        for name in lets(branch.steps):
            yield name, branch


def lets(steps: Iterable[Step]) -> Iterator[str]:
    """Yield the names that steps bind."""
    for step in steps:
        if isinstance(step, Let):
            for binding in step.bindings:
                if binding.field is None:
                    yield binding.target


# -- states ----------------------------------------------------------------------------------------------------------

Kind = Literal["pass", "wait", "call", "each", "accept"]

# So many machines may call one another in a row. Programs of people have 3 or 4; Python's own stack ends at some 300.
CALL_DEPTH_MAX = 64


def kind(state: State) -> Kind:
    """Return what a state does once its steps are done: ``each`` is a loop that calls nothing."""
    if state.run is not None:
        return "call"
    if state.accept is not None:
        return "accept"
    if state.each is not None:
        return "each"
    return "wait" if state.ask is not None or state.waits else "pass"


@dataclass(frozen=True, slots=True)
class Arc:
    """A way out of a state, or back into it. ``event`` is ``.then`` for what follows the state's own work."""

    source: str
    event: str
    way: FlowPath
    from_always: bool

    @property
    def target(self) -> str | None:
        """The state that is entered; None for ``stay`` and ``return``."""
        return self.way.end.state if isinstance(self.way.end, Goto) else None


# -- calls -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallSite:
    """A state that calls a machine; with ``accepts`` once for each connection.

    With ``starts`` it is started, and no state stands around it: ``state`` is one that answers nothing.
    """

    caller: Machine
    state: State
    callee: str
    accepts: bool
    starts: Start | None = None


def call_sites(machine: Machine) -> Iterator[CallSite]:
    """Yield the calls that the states of a machine make."""
    for state in machine.states.values():
        if state.run is not None:
            yield CallSite(machine, state, state.run.path, False)
        if state.accept is not None:
            yield CallSite(machine, state, state.accept.machine.path, True)
    for step in all_steps(machine):
        if isinstance(step, Start):
            none = State(
                "start", (), None, None, None, None, False, None, None, (), Handlers(receive={}), None, None, step.place
            )
            yield CallSite(machine, none, step.machine.path, False, step)


def is_per_connection(role: Role) -> bool:
    """Whether ``main`` is run once for each connection that arrives."""
    main = role.machines.get("main")
    return main is not None and bool(main.parameters)


class CallGraph:
    """The machines of a role as a graph of calls. Calls of unknown machines are left out; the reader tells them.

    ``circle`` is a chain of machines that call one another in a circle, first and last alike, or empty; with a circle
    there is no ``bottom_up``, the machines with callees before callers. ``pauses`` says of each whether events can
    come while it runs; ``reached`` are those that ``main`` comes to.
    """

    def __init__(self, spec: Spec, role: Role) -> None:
        self.spec = spec
        self.role = role
        self.machines: Mapping[str, Machine] = role.machines
        self.one_peer = has_one_peer(spec.connects, role)
        self.sites: dict[str, tuple[CallSite, ...]] = {
            machine.name: tuple(site for site in call_sites(machine) if site.callee in role.machines)
            for machine in role.machines.values()
        }
        self.callers: dict[str, list[CallSite]] = {name: [] for name in role.machines}
        for sites in self.sites.values():
            for site in sites:
                self.callers[site.callee].append(site)
        self.reached = self._reached()
        self.circle, self.bottom_up = self._in_order()
        self.pauses: dict[str, bool] = dict.fromkeys(self.machines, True)
        if not self.circle:
            for name in self.bottom_up:
                self.pauses[name] = any(self.waits_in(state) for state in self.machines[name].states.values())
        self._arcs: dict[str, dict[str, tuple[Arc, ...]]] = {}
        self.live = live_around(self)
        self.live_somewhere = live_around(self, union=True)

    def _reached(self) -> frozenset[str]:
        found: set[str] = set()
        todo = ["main"] if "main" in self.machines else []
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo.extend(site.callee for site in self.sites[name])
        return frozenset(found)

    def _in_order(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return (the first circle of calls, or nothing; all machines, callees before callers)."""
        done: dict[str, None] = {}
        for start in self.machines:
            path: dict[str, Iterator[CallSite]] = {} if start in done else {start: iter(self.sites[start])}
            while path:
                name = next(reversed(path))
                site = next(path[name], None)
                if site is None:
                    done[name] = None
                    del path[name]
                elif site.callee in path:
                    chain = list(path)
                    return (*chain[chain.index(site.callee) :], site.callee), ()
                elif site.callee not in done:
                    path[site.callee] = iter(self.sites[site.callee])
        return (), tuple(done)

    def longest_chain(self) -> tuple[str, ...]:
        """Return the longest chain of machines of which each calls the next; nothing where calls go in a circle."""
        depth: dict[str, int] = {}
        onward: dict[str, str | None] = {}
        for name in self.bottom_up:
            callees = [site.callee for site in self.sites[name]]
            onward[name] = max(callees, key=depth.__getitem__, default=None)
            depth[name] = 1 + max((depth[callee] for callee in callees), default=0)
        chain: list[str] = []
        at = max(depth, key=depth.__getitem__, default=None)
        while at is not None:
            chain.append(at)
            at = onward[at]
        return tuple(chain)

    def waits_in(self, state: State) -> bool:
        """Whether events can come while a machine is in a state: it waits, seats, or calls what waits."""
        match kind(state):
            case "wait" | "accept":
                return True
            case "call":
                assert state.run is not None, "a call runs a machine"
                return self.pauses.get(state.run.path, False)
            case _:
                return False

    def arcs(self, machine: Machine) -> dict[str, tuple[Arc, ...]]:
        """Return, for every state of a machine, all ways out of it; those of its ``always`` where events can come."""
        found = self._arcs.get(machine.name)
        if found is None:
            found = {state.name: tuple(self._state_arcs(machine, state)) for state in machine.states.values()}
            self._arcs[machine.name] = found
        return found

    def _state_arcs(self, machine: Machine, state: State) -> Iterator[Arc]:
        for event, choice in state.answers.choices():
            for way in ways(choice):
                yield Arc(state.name, event, way, False)
        if state.then is not None:
            for way in ways(state.then):
                yield Arc(state.name, ".then", way, False)
        if machine.always is not None and self.waits_in(state):
            for event, choice in machine.always.answers.choices():
                if not answers_itself(state, event):
                    for way in ways(choice):
                        yield Arc(state.name, event, way, True)

    def open_chains(self, stops: Callable[[Machine], bool], passes: Callable[[CallSite], bool]) -> Chains:
        """Return, for each machine that ``main`` comes to through calls that pass, the caller on a shortest such chain.

        A machine that stops is not come to, nor is anything through it.
        """
        found: dict[str, str | None] = {}
        if "main" in self.machines and not stops(self.machines["main"]):
            found["main"] = None
        todo = list(found)
        for name in todo:
            for site in self.sites[name]:
                if site.callee not in found and passes(site) and not stops(self.machines[site.callee]):
                    found[site.callee] = name
                    todo.append(site.callee)
        return Chains(found)


@dataclass(frozen=True, slots=True)
class Chains:
    """Chains of calls that begin with ``main``: ``callers`` has the caller before each machine that one leads to."""

    callers: Mapping[str, str | None]

    def to(self, machine: str) -> tuple[str, ...]:
        """Return the chain to a machine, itself included; nothing if none leads there."""
        chain: list[str] = []
        at: str | None = machine if machine in self.callers else None
        while at is not None:
            chain.append(at)
            at = self.callers[at]
        return tuple(reversed(chain))


def live_around(flow: CallGraph, *, union: bool = False) -> dict[str, frozenset[str]]:
    """Return, for each machine, the live values of machines around it that it surely sees: on every chain of calls.

    With ``union``, those that it sees on some chain. Where calls go in a circle, none.
    """
    found: dict[str, frozenset[str]] = dict.fromkeys(flow.machines, frozenset[str]())
    for name in reversed(flow.bottom_up):
        sets = [
            found[site.caller.name] | {binding.target for binding in site.caller.live} for site in flow.callers[name]
        ]
        if sets:
            found[name] = frozenset.union(*sets) if union else frozenset.intersection(*sets)
    return found


def answers_itself(state: State, event: str) -> bool:
    """Whether an event never gets past a state. A message listed never does; a loss may, if its branches run out."""
    if not event.startswith("."):
        return event in state.answers.receive
    return event in (".timeout", ".invalid", ".closed", ".failed") and surely_taken(getattr(state.answers, event[1:]))


def components(graph: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Return the strongly connected parts of a graph, each in the order of its keys, those led to before leading ones.

    Targets that are no keys are left out. Tarjan's algorithm, without recursion: a machine may have any length.
    """
    order = {name: position for position, name in enumerate(graph)}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: dict[str, None] = {}
    found: list[tuple[str, ...]] = []
    for start in graph:
        if start in index:
            continue
        work: list[tuple[str, Iterator[str]]] = []

        def enter(name: str, work: list[tuple[str, Iterator[str]]] = work) -> None:
            index[name] = low[name] = len(index)
            open_[name] = None
            work.append((name, iter(graph[name])))

        enter(start)
        while work:
            name, targets = work[-1]
            for target in targets:
                if target not in order:
                    continue
                if target not in index:
                    enter(target)
                    break
                if target in open_:
                    low[name] = min(low[name], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    part: list[str] = []
                    while True:
                        member, _ = open_.popitem()
                        part.append(member)
                        if member == name:
                            break
                    found.append(tuple(sorted(part, key=order.__getitem__)))
    return found
