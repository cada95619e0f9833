"""A problem of one role, shown in play: the shortest run of all roles to where it stands, and what comes of it there.

The checks of one role say what may go wrong without a run. Where the spec can be explored all the same, each such
problem is a goal of a search:

    A301 A302  a name is read that has no value
    A325       a machine rests in a wait that no limit ends, and nothing is on its way to it
    A326       a peer sends what is no message, says nothing or leaves, and the session of all ends
    A334       a message is taken for another: as a session does, for the first listed that it may be
    A335       the player is asked, and its answer is either

Runs in which nothing else goes wrong are looked at first; only what they do not come to is looked for in all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Final

from machines.engine.compiler import Program
from machines.model import Binding, Branch, Choice, Constant, Handlers, Let, Return, Spec
from machines.parser.context import joined
from machines.problems import Location, Problem
from machines.verification.abstract.budget import Budget
from machines.verification.abstract.contracts import Contract
from machines.verification.abstract.process import DEAD, NOT_STARTED, Input, LocalState, Successor
from machines.verification.abstract.state import LOST, NONSENSE
from machines.verification.counterexamples.confusion import FairGraph, FreeCast, PlainCast
from machines.verification.counterexamples.replay import Decide, last_read
from machines.verification.counterexamples.shrinking import needed
from machines.verification.error_states import names_of, step_of, steps
from machines.verification.foreign import with_anything
from machines.verification.search.channels import is_empty
from machines.verification.search.moves import GlobalState, Transition
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import ProcessInstance
from machines.verification.sign_ups import is_filled
from machines.verification.verdict import Finding, TraceStep
from machines.verification.verify import unsupported_features

SHOWN: Final = ("A301", "A302", "A325", "A326", "A334", "A335")
# Problems beside which the roles can still be explored: what the others say of a spec would lead a search astray.
BESIDE: Final = frozenset(
    {
        *SHOWN,
        *("A310", "A320", "A321", "A323", "A327", "A329", "A330", "A331", "A332", "A333", "A336", "A339", "A340"),
        *("A341", "A344", "A345", "A346", "A347", "A348", "A350", "A314", "A315", "A316", "A317", "A401", "A402"),
    }
)
NOT_RUN: Final = frozenset({"A401", "A402"})  # beside these no session can be made, so nothing is replayed
CONFIGURATIONS_MAX: Final = 6_000  # of all searches: some two seconds at most
MORE: Final = 300  # states after all is found, for other ways to it: a replay may go another way than the first
QUEUE: Final = 8  # messages that may wait for one peer: no run is long enough for that to cost much
WAYS_MAX: Final = 3  # of one problem
ATTEMPTS_MAX: Final = 10  # to replay one way
NEVER: Final = ".never"  # the name of a state that no run enters
READ_MAX: Final = 80  # characters of a message that are shown


@dataclass(frozen=True, slots=True)
class Witnesses:
    """What became of showing the problems of a spec.

    ``runs`` has for each problem the shortest run to it, its text saying what comes of it; one without a trace says
    that none was found. ``notes`` say why nothing was looked for.
    """

    runs: Mapping[Problem, Finding]
    notes: tuple[str, ...] = ()


def find_witnesses(
    spec: Spec,
    contracts: Mapping[str, Contract],
    problems: Iterable[Problem],
    *,
    beside: Iterable[Problem] = (),
    clients: Sequence[int],
    queue: int = QUEUE,
    most: int = CONFIGURATIONS_MAX,
    budget: Budget | None = None,
) -> Witnesses:
    """Return a run to each of those problems that one can show.

    ``beside`` are all problems of the spec, ``clients`` the numbers of clients to try, ``queue`` how many messages may
    wait for one peer, ``most`` how many states may be looked at in all, and ``budget``
    what all of it may cost.
    """
    spec = with_anything(spec)
    goals = [_Goal(one, one.spot) for one in problems if one.code in SHOWN and one.spot is not None]
    if not goals or not clients:
        return Witnesses({})
    hindering = sorted({one.code for one in beside} - BESIDE)
    reasons = [f"{joined(hindering, 'and')} to be mended first"] if hindering else list(unsupported_features(spec))
    if reasons:
        return Witnesses({}, tuple(f"no runs are shown: {reason}" for reason in reasons))
    searches = [(people, kind, number) for people, kind in _SEARCHES for number in clients]
    looked_at, short = 0, False
    beyond: dict[str, None] = {}
    for at, (people, kind, number) in enumerate(searches):
        left = [goal for goal in goals if not goal.found]
        if left and (people is PlainCast or any(goal.problem.code == "A334" for goal in goals)):
            share = (most - looked_at) // (len(searches) - at)
            graph = kind(people(spec, number, contracts, budget=budget), queue, share)
            try:
                graph.build(_Search(left, number))
            except _Enough:
                pass
            else:
                met = len(graph.configs) > share
                short = short or met
                beyond.update(dict.fromkeys(() if met else sorted(graph.beyond)))
            looked_at += len(graph.configs)
    bound = f" within {looked_at} states" if short else ""
    bound += "" if is_filled({}, spec, max(clients)) else "; a sign-up takes more clients"
    bound += f"; not all were looked at: {next(iter(beyond))}" if beyond else ""
    return Witnesses({goal.problem: goal.told(clients, bound) for goal in goals})


def replay(
    shown: Witnesses, spec: Spec, rules: Mapping[str, ModuleType], decide: Decide, beside: Iterable[Problem]
) -> Witnesses:
    """Return the runs marked: whether the real sessions do the same. Where a message is mistaken, its bytes are told.

    Nothing is replayed if the spec has problems with which no session can be made.
    """
    if not shown.runs or not NOT_RUN.isdisjoint({one.code for one in beside}):
        return shown
    spec = _compiled(with_anything(spec), beside)
    try:
        programs = {role: Program(spec, role, rules) for role in spec.roles}
    except LookupError:
        return shown  # a state that is never entered (A320) reads an unknown name, of which nothing is told
    found = dict(shown.runs)
    for problem, run in shown.runs.items():
        for way in (run, *(replace(run, trace=trace, others=()) for trace in run.others)) if run.trace else ():
            read = last_read(way, spec, programs, decide, ATTEMPTS_MAX, exact=True)
            if read is not None:
                found[problem] = replace(way, text=_with_bytes(problem, way, read), confirmed=True)
                break
        else:
            found[problem] = replace(run, confirmed=False) if run.trace else run
    return Witnesses(found, shown.notes)


def _with_bytes(problem: Problem, run: Finding, read: bytes) -> str:
    """Return what comes of a run, with the bytes that were really read instead of an example."""
    if problem.code != "A334" or problem.spot is None:
        return run.text
    text = read.decode(errors="replace").strip()
    text = text if len(text) <= READ_MAX else text[: READ_MAX - 1] + "…"
    return run.text.replace(f"may be {problem.spot.example}", f"is {text}", 1)


def _compiled(spec: Spec, problems: Iterable[Problem]) -> Spec:
    """Return the spec with the names that it does not know bound in a state that is never entered.

    They have no value then, and the rest can be run.
    """
    unknown: dict[tuple[str, str], list[str]] = {}
    for one in problems:
        if one.code == "A301" and one.spot is not None:
            unknown.setdefault((one.spot.role, one.spot.machine), []).extend(one.spot.names)
    roles = dict(spec.roles)
    for (role, name), names in unknown.items():
        machine = roles[role].machines[name]
        place = machine.place
        bound = Let(tuple(Binding(one, None, Constant(None, place), place) for one in dict.fromkeys(names)), place)
        end = Choice((Branch(None, None, (), Return(Constant(None, place), place), place),), place)
        first = next(iter(machine.states.values()))
        never = replace(
            first, name=NEVER, steps=(bound,), each=None, run=None, accept=None, ask=None, waits=False, awaits=None,
            within=None, bindings=(), answers=Handlers({}), then=end,
        )  # fmt: skip
        changed = replace(machine, states={**machine.states, NEVER: never})
        roles[role] = replace(roles[role], machines={**roles[role].machines, name: changed})
    return replace(spec, roles=roles)


# -- goals -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Goal:
    problem: Problem
    spot: Location
    found: list[Finding] = field(default_factory=list)
    passed: Finding | None = None  # a run to where it stands, on which nothing has come of it yet

    @property
    def where(self) -> str:
        return f"{self.spot.machine}.{self.spot.state}"

    def is_in(self, states: Iterable[str]) -> bool:
        """Whether one of these states is its own; an ``always`` is in all of its machine."""
        if self.spot.state:
            return self.where in states
        return any(state.startswith(self.where) for state in states)

    def told(self, clients: Sequence[int], bound: str) -> Finding:
        """Return the shortest run, with the others that were found, or one without a trace if there is none.

        ``bound`` says why not all runs were looked at, if so.
        """
        if self.found:
            first, *others = sorted(self.found, key=lambda one: len(one.trace))
            return replace(first, others=tuple(one.trace for one in others))
        if self.passed is not None:
            return self.passed
        many = f"{clients[0]} client{'' if clients[0] == 1 else 's'}"
        many = many if len(clients) == 1 else f"{clients[0]} to {clients[-1]} clients"
        return Finding("", f"no run with {many} shows it{bound}", clients[-1], (), place=self.problem.place)


class _Enough(Exception):  # noqa: N818 (the search has found what it was for)
    """All goals are met."""


# Runs in which nothing else goes wrong, all runs, and those in which a message need not be mistaken.
_SEARCHES: Final[tuple[tuple[type[PlainCast | FreeCast], type[StateSpace]], ...]] = (
    (PlainCast, FairGraph),
    (PlainCast, StateSpace),
    (FreeCast, FairGraph),
)


# -- the search ------------------------------------------------------------------------------------------------------


class _Search:
    """Watches a graph being built, and notes of each goal the first ways to it."""

    def __init__(self, goals: Sequence[_Goal], clients: int) -> None:
        self.clients = clients
        self.goals = goals
        self.enough: int | None = None
        self.here: dict[tuple[str, int], tuple[_Goal, ...]] = {}  # the goals that stand where a role rests
        self.of_hit: dict[tuple[str, str, str, str], list[_Goal]] = {}
        for goal in goals:
            role, names = goal.spot.role, goal.spot.names
            if goal.problem.code == "A334":
                for sent, taken in (names[:2], names[1::-1]):
                    self.of_hit.setdefault((role, "misread", sent, taken), []).append(goal)
            elif goal.problem.code in ("A301", "A302"):
                self.of_hit.setdefault((role, "unset", names[0], ""), []).append(goal)

    # -- shown each move and each state ----------------------------------------------------------------------

    def moved(self, graph: StateSpace, before: int, after: int, move: Transition) -> None:
        """Look at a move: does it read a message as another, or a name that has no value?"""
        for one in move.all():
            if one.next is None or not one.next.outcome.hits:
                continue
            role = graph.cast.actors[one.actor].role
            for hit in one.next.outcome.hits:
                for goal in self.of_hit.get((role, hit.kind, hit.message, hit.taken), ()):
                    if hit.kind == "unset" and not goal.is_in((hit.state,)):
                        continue
                    trace = self._trace(graph, before, move)
                    text = f"{hit.message!r} has no value here: nothing has bound it"
                    if hit.kind == "misread":
                        text = f"{hit.message} may be {goal.spot.example} on the wire, and"
                        text += f" {trace[-1].who} takes it for {hit.taken}"
                    self._note(goal, goal.problem.code, text, trace)

    def seen(self, graph: StateSpace, at: int, moves: list[Transition]) -> None:
        """Look at a state: does a role rest where a problem stands? Raises _Enough if all are met."""
        config = graph.configs[at]
        for index, local in enumerate(config[0]):
            if local >= 0:
                for goal in self._goals_of(graph.cast.actors[index], local):
                    if len(goal.found) < WAYS_MAX:
                        self._rests(graph, at, index, goal)
        if self.enough is None and all(goal.found for goal in self.goals):
            self.enough = len(graph.configs) + MORE
        if self.enough is not None and (len(graph.configs) >= self.enough or self._is_full()):
            raise _Enough

    def _is_full(self) -> bool:
        return all(len(goal.found) >= WAYS_MAX for goal in self.goals)

    def _goals_of(self, actor: ProcessInstance, local: int) -> tuple[_Goal, ...]:
        found = self.here.get((actor.role, local))
        if found is None:
            rest = actor.part.rest(local)
            leaves = rest.where.split(", ")
            found = self.here[actor.role, local] = tuple(
                goal
                for goal in self.goals
                if goal.spot.role == actor.role
                and rest.over is None
                and goal.is_in(leaves if goal.problem.code in ("A325", "A335") else rest.states)
            )
        return found

    def _rests(self, graph: StateSpace, at: int, index: int, goal: _Goal) -> None:
        match goal.problem.code:
            case "A325":
                self._waits(graph, at, index, goal)
            case "A326":
                self._fails(graph, at, index, goal)
            case "A335":
                first, second = goal.spot.names
                text = f"its player answers {goal.spot.example}: nothing tells whether that is {first} or {second}"
                self._note(goal, "", text, self._trace(graph, at, of=self._who(graph, at, index)))
            case "A334" if goal.passed is None:
                first, second = goal.spot.names
                text = f"{goal.spot.example} may come here as {first} or as {second}; no run that was looked at"
                text += " has one taken for the other"
                trace = self._trace(graph, at, of=self._who(graph, at, index))
                goal.passed = Finding("", text, self.clients, trace, place=goal.problem.place)

    def _who(self, graph: StateSpace, at: int, index: int) -> tuple[str]:
        return (names_of(graph, graph.moves_to(at)[1])[index],)

    def _note(self, goal: _Goal, code: str, text: str, trace: tuple[TraceStep, ...]) -> None:
        if len(goal.found) < WAYS_MAX and all(trace != one.trace for one in goal.found):
            goal.found.append(Finding(code, text, self.clients, trace, place=goal.problem.place))

    def _trace(
        self, graph: StateSpace, at: int, *last: Transition | TraceStep, of: Collection[str] = ()
    ) -> tuple[TraceStep, ...]:
        """Return the steps to a state and those after it, as far as the last needs them, or these actors do."""
        moves, who = graph.moves_to(at)
        units = [steps(graph, [move]) for move in moves]
        for one in last:
            units.append([one] if isinstance(one, TraceStep) else steps(graph, [(at, one, who)]))
        return needed(units, of)

    # -- a wait without end ------------------------------------------------------------------------------------------

    def _waits(self, graph: StateSpace, at: int, index: int, goal: _Goal) -> None:
        config = graph.configs[at]
        actor = graph.cast.actors[index]
        rest = actor.part.rest(config[0][index])
        if any(timer.kind in ("late", "window") for timer in rest.timers):
            return
        coming = any(config[1][actor.queues[seat][1]] for seat in rest.awaited)
        if coming and goal.passed is not None:
            return
        name_of = names_of(graph, graph.moves_to(at)[1])
        peers = sorted({name_of[actor.peers[seat][0]] for seat in rest.awaited})
        whom = [*(["one more client"] if rest.door else []), *(["its player"] if rest.questions else []), *peers]
        me = name_of[index]
        if coming:
            text = f"{me} is about to go on, but nothing would end this wait if {joined(whom, 'or')} said nothing"
            trace = self._trace(graph, at, of=(me,))
            goal.passed = Finding("", text, self.clients, trace, place=goal.problem.place)
            return
        waiting = sorted(
            name_of[other]
            for other, local in enumerate(config[0])
            if other != index and local >= 0 and self._waits_for(graph, config, other, index)
        )
        text = (
            f"only {joined(whom, 'or')} can end this wait: if nothing comes, " if whom else "nothing ends this wait: "
        )
        text += f"{me} waits for ever"
        if waiting:
            text += f", and so {'does' if len(waiting) == 1 else 'do'} {joined(waiting, 'and')}"
        self._note(goal, "", text, self._trace(graph, at, of=(me, *waiting)))

    def _waits_for(self, graph: StateSpace, config: GlobalState, at: int, awaited: int) -> bool:
        """Whether an actor can do nothing until another has sent it something."""
        actor = graph.cast.actors[at]
        rest = actor.part.rest(config[0][at])
        if rest.over is not None or rest.timers or rest.questions or rest.door or not rest.awaited:
            return False
        return all(actor.peers[seat][0] == awaited and not config[1][actor.queues[seat][1]] for seat in rest.awaited)

    # -- a fault of a peer that nothing answers ----------------------------------------------------------------------

    def _fails(self, graph: StateSpace, at: int, index: int, goal: _Goal) -> None:
        actor = graph.cast.actors[index]
        name_of = names_of(graph, graph.moves_to(at)[1])
        rest = actor.part.rest(graph.configs[at][0][index])
        for before, given, way in self._faults(graph, at, index, rest, goal.spot.events):
            if not any(hit.kind == "unanswered" and hit.state == goal.where for hit in way.outcome.hits):
                continue
            last = step_of(graph, Transition(index, given, way), name_of)
            led = [step_of_fault(graph, at, peer, index, name_of, dies=dies) for peer, dies in before]
            text = f"{name_of[index]} has no answer to that, and its session ends"
            text += f": for {joined(sorted(last.closed), 'and')}" if last.closed else ""
            self._note(goal, goal.problem.code, text, self._trace(graph, at, *led, last))
            return

    def _faults(
        self, graph: StateSpace, at: int, index: int, rest: LocalState, events: tuple[str, ...]
    ) -> Iterator[tuple[tuple[tuple[int, bool], ...], Input, Successor]]:
        """Yield what may go wrong now: who misbehaves or dies (True) first, what the actor is given, where it leads."""
        config = graph.configs[at]
        actor = graph.cast.actors[index]
        local = config[0][index]
        silent = [seat for seat in sorted(rest.awaited) if is_empty(config[1][actor.queues[seat][1]])]
        peers = {seat: actor.peers[seat][0] for seat in silent}
        there = [seat for seat in silent if config[0][peers[seat]] not in (DEAD, NOT_STARTED)]
        given: Input
        if "invalid" in events:
            for seat in there:
                given = ("read", seat, (NONSENSE, ()))
                for way in actor.part.after(local, given):
                    yield ((peers[seat], False),), given, way
        if "timeout" in events:
            for timer in rest.timers:
                if timer.kind in ("late", "window"):
                    given = ("ring", timer)
                    for way in actor.part.after(local, given):
                        yield (), given, way
        if "closed" in events:
            for seat in there:
                if graph.cast.actors[peers[seat]].group >= 0:
                    given = ("read", seat, f"{LOST}died")
                    for way in actor.part.after(local, given):
                        yield ((peers[seat], True),), given, way


def step_of_fault(graph: StateSpace, at: int, peer: int, to: int, name_of: Sequence[str], *, dies: bool) -> TraceStep:
    """Return the step in which a peer loses its connection, or sends what is no message."""
    if dies:
        return TraceStep(name_of[peer], "dies", "", "", "loses its connection", (), (), "dead")
    actor = graph.cast.actors[peer]
    where = actor.part.rest(graph.configs[at][0][peer]).where
    return TraceStep(name_of[peer], "misbehaves", "", "", "misbehaves", ((name_of[to], NONSENSE),), (), where)
