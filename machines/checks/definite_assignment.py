"""Checks that every name is there and bound where it is used (definite assignment).

    A301  an unknown name
    A302  a name that may be unset where it is used
    A306  `peer` or `reason` where no event binds it
    A310  `elapsed` where no time can have passed

For every state we compute what is bound on each way to it, and take what all of them have in common. A state adds
what its steps bind, and while it waits or calls, an event's branch sees that much, its fields, and `peer` and `reason`
if the event has them. A branch of `always` may be taken in any state where events can come, so it sees what all of
those have in common. A loop may have no item: what it binds is, afterwards, only perhaps bound.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

from machines.analysis.call_graph import CallGraph, lets
from machines.analysis.event_peers import Speakers
from machines.analysis.scopes import FUNCTIONS, bindings, frame_names, global_names, value_names
from machines.analysis.traversal import message_arguments
from machines.expressions.unparse import names
from machines.model import (
    Choice,
    DropPeers,
    Expression,
    Goto,
    Handlers,
    Let,
    Machine,
    Return,
    Secure,
    SendMessages,
    Start,
    State,
    Step,
    texts_of,
)
from machines.problems import Location, Mend, Place, Problems

Bound = frozenset[str]
EVENT_NAMES = frozenset({"peer", "reason"})

# What other languages call a value that ours has too.
_ELSEWHERE = dict.fromkeys(("none", "None", "nil", "undefined", "NULL", "Null"), "null")
_ELSEWHERE |= {"True": "true", "TRUE": "true", "yes": "true", "False": "false", "FALSE": "false", "no": "false"}


_SELVES = frozenset({"self", "this", "me", "name"})
_EVENTS_OF_OTHERS = frozenset({"message", "msg", "event", "data", "payload", "body", "sender"})


@dataclass(frozen=True, slots=True)
class Use:
    """A name is read; ``bound`` is what is surely bound there. ``at_entry``: the state has only just been entered."""

    name: str
    place: Place
    bound: Bound
    at_entry: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A state is entered. ``forgets_peer``: the event had no peer, so that ``peer`` is nobody now."""

    target: str
    bound: Bound
    forgets_peer: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events can come; they find ``bound``."""

    bound: Bound


Walk = Generator[Use | Edge | Waiting, None, Bound]


def check_assignment(flow: CallGraph, problems: Problems) -> None:
    """A301: nothing is called so here.

    A302: a name may be unset where it is used.
    A306: 'peer' or 'reason' stands where no event has bound it.
    A310: 'elapsed' stands where no time can have passed.
    """
    speakers = Speakers(flow)
    for machine in flow.machines.values():
        if machine.states:
            _Assignment(flow, machine, speakers, problems).check()


class _Assignment:
    def __init__(self, flow: CallGraph, machine: Machine, speakers: Speakers, problems: Problems) -> None:
        self.flow = flow
        self.machine = machine
        self.speakers = speakers
        self.problems = problems
        self.messages = flow.spec.messages
        self.values = frozenset(value_names(flow.spec, machine.role))
        self.seen = global_names(flow.spec, machine.role)
        live = {binding.target for binding in machine.live} | flow.live[machine.name]
        self.frame = frozenset(frame_names(machine, flow.spec)) | live
        self.bindable = {name for name, _ in bindings(machine, flow.spec)} | set(machine.parameters) | live
        self.parameters: Bound = frozenset(machine.parameters) | live
        self.first = next(iter(machine.states))
        self.told: set[tuple[str, str]] = set()
        # What each state and `always` adds on its ways out, computed once from nothing.
        self.edges: dict[str, list[Edge]] = {}
        self.waits: dict[str, Bound] = {}
        self.always_edges: list[Edge] = []
        for state in machine.states.values():
            self.edges[state.name] = []
            for seen in self._state(state, frozenset()):
                if isinstance(seen, Edge):
                    self.edges[state.name].append(seen)
                elif isinstance(seen, Waiting):
                    self.waits[state.name] = seen.bound
        if machine.always is not None:
            self.always_edges = [seen for seen in self._always(frozenset()) if isinstance(seen, Edge)]
        self.entry = self._solve()

    def check(self) -> None:
        first = [binding.value for binding in self.machine.live]
        for use in self._uses(first, frozenset(self.machine.parameters) | self.flow.live[self.machine.name]):
            self._judge(use, self.first)
        for state in self.machine.states.values():
            bound = self.entry.get(state.name)
            if bound is not None:  # an unreachable state is a problem of its own
                for seen in self._state(state, bound):
                    if isinstance(seen, Use):
                        self._judge(seen, state.name)
        if self.machine.always is not None:
            for seen in self._always(self._everywhere()):
                if isinstance(seen, Use):
                    self._judge(seen, None)

    # -- what is bound where -----------------------------------------------------------------------------------------

    def _ways_out(self, state: str) -> Iterator[tuple[Edge, Bound]]:
        """Yield every edge out of a state, with what is bound on it beyond what was bound on entry."""
        for edge in self.edges[state]:
            yield edge, edge.bound
        if state in self.waits:
            for edge in self.always_edges:
                yield edge, edge.bound | self.waits[state]

    def _solve(self) -> dict[str, Bound]:
        """Return what is surely bound on entry of every reachable state: a greatest fixpoint."""
        entry: dict[str, Bound] = {self.first: self.parameters}
        todo = [self.first]
        while todo:
            name = todo.pop()
            for edge, added in self._ways_out(name):
                if edge.target not in self.machine.states:
                    continue
                before = entry[name] - {"peer"} if edge.forgets_peer else entry[name]
                after = before | added
                known = entry.get(edge.target)
                joined = after if known is None else known & after
                if joined != known:
                    entry[edge.target] = joined
                    todo.append(edge.target)
        return entry

    def _everywhere(self) -> Bound:
        """Return what is bound in every reachable state where events can come."""
        common: Bound | None = None
        for name, added in self.waits.items():
            if name in self.entry:
                here = self.entry[name] | added
                common = here if common is None else common & here
        return self.parameters if common is None else common

    # -- one walk through a state, in the order in which things are done ---------------------------------------------

    def _uses(self, expressions: Iterable[Expression | None], bound: Bound, *, at_entry: bool = False) -> Iterator[Use]:
        for expression in expressions:
            if expression is not None:
                for name in names(expression):
                    yield Use(name.name, name.place, bound, at_entry)

    def _state(self, state: State, bound: Bound) -> Iterator[Use | Edge | Waiting]:
        each = state.each
        inside = bound
        fresh = each is None
        if each is not None:
            yield from self._uses([each.items, each.parallel], bound, at_entry=True)
            yield from self._uses([state.within], bound)
            inside = bound | {each.name}
            yield from self._uses([each.guard], inside)
        inside = yield from self._steps(state.steps, inside, at_entry=fresh)
        calls = [call for call in (state.run, state.ask) if call is not None]
        for call in calls:
            yield from self._uses(call.arguments or (), inside, at_entry=fresh)
        if each is None:
            yield from self._uses([state.within], inside)
        if state.accept is not None:
            accept = state.accept
            yield from self._uses([accept.seats, accept.linger], inside, at_entry=True)
            inside |= {accept.name}  # nobody at first, and whoever is seated from then on
        yield from self._uses([state.awaits], inside, at_entry=fresh)
        if state.accept is not None:
            accept = state.accept
            yield from self._uses(accept.machine.arguments or (), inside | {"peer"})
        side_by_side = each is not None and each.parallel is not None
        during = bound if side_by_side else inside
        if self.flow.waits_in(state):
            yield Waiting(during)
        for moment in (*state.answers.after, *state.answers.every, *state.answers.when):
            yield from self._uses([moment.wait], during, at_entry=True)
        yield from self._answers(state.answers, during, state)
        yield from self._uses([binding.value for binding in state.bindings], inside | {"result"})
        after = inside | {binding.target for binding in state.bindings}
        if each is not None:
            yield from self._uses([each.until], after)
            after = bound
        if state.then is not None:
            yield from self._choice(state.then, after, forgets=False)

    def _always(self, bound: Bound) -> Iterator[Use | Edge | Waiting]:
        always = self.machine.always
        assert always is not None, "only an always is walked here"
        yield from self._uses([always.awaits, always.within], bound)
        for moment in (*always.answers.after, *always.answers.every, *always.answers.when):
            # These start with the machine, before any of its states is entered.
            yield from self._uses([moment.wait], self.parameters & bound, at_entry=True)
        yield from self._answers(always.answers, bound, None)

    def _answers(self, answers: Handlers, bound: Bound, state: State | None) -> Iterator[Use | Edge | Waiting]:
        for event, choice in answers.choices():
            message = self.messages.get(event)
            brings = {field.name for field in message.fields} if message is not None else set()
            forgets = False
            if self.speakers.has_peer(self.machine, state, event):
                brings.add("peer")
            elif "peer" not in self.parameters:
                forgets = True
            if event in (".timeout", ".invalid", ".closed", ".failed"):
                brings.add("reason")
            elif event == ".ended":
                brings |= {"reason", "result"}
            before = bound - {"peer"} if forgets else bound
            yield from self._choice(choice, before | brings, forgets=forgets)

    def _choice(self, choice: Choice, bound: Bound, *, forgets: bool) -> Iterator[Use | Edge | Waiting]:
        for branch in choice.branches:
            yield from self._uses([branch.guard, branch.limit], bound)
            after = yield from self._steps(branch.steps, bound, at_entry=False)
            match branch.next:
                case Goto(target):
                    yield Edge(target, after, forgets)
                case Return(value, _, outcome):
                    yield from self._uses([value, outcome], after)
                case Choice():
                    yield from self._choice(branch.next, after, forgets=forgets)

    def _steps(self, steps: tuple[Step, ...], bound: Bound, *, at_entry: bool) -> Walk:
        for step in steps:
            match step:
                case Let(bound_here):
                    yield from self._uses([binding.value for binding in bound_here], bound, at_entry=at_entry)
                    bound |= set(lets((step,)))
                case Start(machine):
                    yield from self._uses(machine.arguments or (), bound, at_entry=at_entry)
                case SendMessages(receivers, calls):
                    yield from self._uses([receivers], bound, at_entry=at_entry)
                    for call in calls:
                        yield from self._uses(message_arguments(call, self.messages), bound, at_entry=at_entry)
                case Secure(peers) | DropPeers(peers):
                    yield from self._uses([peers], bound, at_entry=at_entry)
        return bound

    # -- judging a use -----------------------------------------------------------------------------------------------

    def _judge(self, use: Use, state: str | None) -> None:
        name = use.name
        if name in self.values:
            if name == "elapsed" and use.at_entry:
                text = "'elapsed' is 0 here: the state has only just been entered"
                self.problems.add(use.place, "A310", text, "read it in a branch, or under 'within'")
            return
        if name in use.bound:
            return
        if name not in self.bindable and name not in EVENT_NAMES:
            self._unknown(use, state)
            return
        key = (state or "always", name)
        if key in self.told:
            return
        self.told.add(key)
        if name in EVENT_NAMES and name not in self.bindable:
            text = f"no event has bound {name!r} here"
            hint = "name the peer itself" if name == "peer" else "timeout, invalid and closed bind it"
            self.problems.add(use.place, "A306", text, hint)
            return
        way = self._way_without(name, state)
        looped = any(other.each is not None and other.each.name == name for other in self.machine.states.values())
        text = f"{name!r} may be unset here: "
        text += f"nothing binds it on the way {' -> '.join(way)}" if len(way) > 1 else "nothing has bound it yet"
        hint = (
            "a loop may have no item" if looped else "bind it in a state that every way passes, or make it a parameter"
        )
        self.problems.add(use.place, "A302", text, hint, self._spot(name, state))

    def _unknown(self, use: Use, state: str | None) -> None:
        name = use.name
        if name == "result":
            text = "'result' is what a call returned: it is seen in the 'as' of that call only"
            self.problems.add(use.place, "A301", text, "bind it there: as: outcome")
        elif name in FUNCTIONS:
            hint = f"call it: {name}(x)"
            hint += "; for each of a list, name the list" if name == "all" else ""
            self.problems.add(use.place, "A301", f"{name!r} is a function", hint)
        elif name in self.seen:
            self.problems.add(
                use.place, "A301", f"{name!r} is {self.seen[name]}", f"call one of its rules: {name}.rule(x)"
            )
        else:
            meant = _ELSEWHERE.get(name)
            near = (
                f"did you mean {meant!r}?" if meant else self.problems.near("A301", name, (*self.frame, *self.values))
            )
            hint = (
                near
                or self._otherwise(name)
                or (
                    "bind it with 'let', 'as', 'each' or a field, or make it a parameter; "
                    f"a text is written 'so' within the quotes of YAML: \"'{name}'\""
                )
            )
            text = f"nothing is called {name!r} here"
            # Whoever put it into the quotes of YAML meant a text.
            before = use.place.right(-1)
            mends = tuple(Mend(before, f"{quote}{name}{quote}", f"('{name}')") for quote in ("'", '"') if not near)
            if meant:
                mends = (Mend(use.place, name, meant),)
            self.problems.add(use.place, "A301", text, hint, self._spot(name, state), mends)

    def _otherwise(self, name: str) -> str:
        """Return where else what a name was meant for is found; nothing if nobody can tell."""
        if name in self.messages:
            fields = ", ".join(field.name for field in self.messages[name].fields) or "it has none"
            return f"the fields of a message are names by themselves: {fields}"
        if name in _SELVES:
            return "the name that this side was started with is 'my.name'"
        for message in self.messages.values():
            for text in texts_of(message.body):
                if text.split()[:1] == [name] and len(text.split()) == 2:
                    return f"in {message.name} {text!r} is a text: a field is written ${text}"
        if name in _EVENTS_OF_OTHERS:
            return "the fields of a message are names by themselves, and 'peer' is who sent it"
        return ""

    def _spot(self, name: str, state: str | None) -> Location:
        return Location(self.machine.role, self.machine.name, state or "", (name,))

    def _way_without(self, name: str, state: str | None) -> list[str]:
        """Return a shortest chain of states from the first to ``state`` (or an event of `always`) without the name."""
        came: dict[str, str | None] = {self.first: None}
        todo = [self.first]
        for at in todo:
            if at == state or (state is None and at in self.waits and name not in self.waits[at]):
                way: list[str] = []
                here: str | None = at
                while here is not None:
                    way.append(here)
                    here = came[here]
                return way[::-1] if state is not None else [*way[::-1], "always"]
            for edge, added in self._ways_out(at):
                if edge.target in self.machine.states and edge.target not in came and name not in added:
                    came[edge.target] = at
                    todo.append(edge.target)
        return []
