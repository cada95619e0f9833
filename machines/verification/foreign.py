"""Roles that only programs of others play, while all roles are explored together: such a one does whatever it can.

`with_anything` gives each of them one state, in which its player may say any of its messages, leave, or be silent.
What it says would pile up, since nothing holds it back. But what it does next never depends on what it has done or
heard. So whatever it has sent ahead, the others do just what they would had it sent that when they read it: in
`ForeignStateSpace` it sends a message only where that is read in the same step. What it is sent, it need not read.

It may also send what is no message, be cut off, and break every order. None of that is a fault of the protocol, which
has to answer all of it; and what only waits for it to speak is not asked about (see `ErrorDetector`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from machines.analysis.traversal import all_steps, machine_expressions
from machines.expressions.unparse import names
from machines.model import (
    Branch,
    Call,
    Choice,
    Constant,
    Goto,
    Handlers,
    Machine,
    Next,
    Return,
    Role,
    SendMessages,
    Spec,
    State,
    Stay,
    Step,
    Timer,
)
from machines.parser.context import joined
from machines.problems import Place
from machines.verification.abstract.process import NOT_STARTED, Successor
from machines.verification.abstract.state import NONSENSE, REASON, Outcome, Sent
from machines.verification.search.moves import GlobalState, Transition
from machines.verification.search.state_space import SECURE, StateSpace
from machines.verification.search.system import System

ANYTHING: Final = "anything"  # what its player is asked, and the state in which it stands
_REASONS: Final = ("malformed", "unknown", "limit")  # why what it sends is no message


def with_anything(spec: Spec) -> Spec:
    """Return a spec in which the roles that others play do whatever they can; the same spec if it has none."""
    if not spec.foreign:
        return spec
    made = {name: _role(spec, name, place) for name, place in spec.foreign.items()}
    return replace(spec, roles={**made, **spec.roles})


def apart(spec: Spec) -> tuple[Spec, ...]:
    """Return what is looked at, one after another: where both foreign roles and ours connect, each kind by itself."""
    listeners = spec.listeners()
    of_others = [name for name in spec.foreign if spec.connects.get(name)]
    of_ours = [name for name in spec.roles if spec.connects.get(name) and name not in (*listeners, *spec.foreign)]
    if not of_others or not of_ours:
        return (spec,)
    return _without(spec, of_ours), _without(spec, of_others)


def _without(spec: Spec, gone: list[str]) -> Spec:
    return replace(
        spec,
        roles={name: role for name, role in spec.roles.items() if name not in gone},
        connects={name: targets for name, targets in spec.connects.items() if name not in gone},
    )


def unexplored(spec: Spec) -> Iterator[str]:
    """Yield what of the roles that others play is not looked at, and which of ours only stands in for such a one."""
    for role in spec.roles.values():
        its = [message.name for message in spec.messages.values() if role.name in message.senders]
        sent = {
            call.path
            for machine in role.machines.values()
            for step in all_steps(machine)
            if isinstance(step, SendMessages)
            for call in step.messages
        }
        if its and sent.isdisjoint(its):
            text = f"{role.name} is a stub: it sends no {joined(its, 'or')}, so what comes of that is not known"
            yield f"{text} (if programs of others play it, say so instead: foreign: [{role.name}])"
    for name in spec.foreign:
        if len(spec.peers_of(name)) > 1:
            yield f"{name} is foreign, and connected to {' and '.join(spec.peers_of(name))}: only to one is explored"


def _role(spec: Spec, name: str, place: Place) -> Role:
    def choice(onward: Next, *steps: Step) -> Choice:
        return Choice((Branch(None, None, steps, onward, place),), place)

    ends, stays = choice(Return(Constant(None, place), place)), choice(Stay(False, place))
    says = {
        message.name: choice(Goto(ANYTHING, place), SendMessages(None, (Call(message.name, None, place),), place))
        for message in spec.messages.values()
        if name in message.senders
    }
    leaves = Timer(Constant(1.0, place), ends, place)
    state = State(
        ANYTHING, (), None, None, None, Call(ANYTHING, (), place), False, None, Constant(None, place), (),
        Handlers(says, invalid=stays, closed=ends, after=(leaves,)), None, None, place,
    )  # fmt: skip
    parameters = ("partner",) if any(name in targets for targets in spec.connects.values()) else ()
    machine = Machine("main", name, parameters, None, {ANYTHING: state}, None, place)
    return Role(name, {"main": machine}, None, place)


def reasons_told_apart(role: Role, spec: Spec) -> tuple[str, ...]:
    """Return reasons why something is no message: one is enough for a role that asks nowhere which it was."""
    asked = (
        name.name
        for machine in role.machines.values()
        for expression in machine_expressions(machine, spec.messages)
        for name in names(expression)
    )
    return _REASONS if "reason" in asked else _REASONS[:1]


class ForeignStateSpace(StateSpace):
    """All global states where some roles are foreign: what they say is read at once, and they need not read."""

    def __init__(self, cast: System, queue: int, most: int, *, fewer: StateSpace | None = None) -> None:
        super().__init__(cast, queue, most, fewer=fewer)
        foreign = {at for at, actor in enumerate(cast.actors) if actor.role in cast.spec.foreign}
        self.foreign = {at: cast.actors[at].peers[0] for at in foreign}  # by actor: its partner, and its seat there
        self.reasons = {
            at: reasons_told_apart(cast.spec.roles[cast.actors[self.foreign[at][0]].role], cast.spec) for at in foreign
        }
        self.unheard = {incoming for at in foreign for _, incoming in cast.actors[at].queues}
        self.said: dict[tuple[int, int], tuple[Transition, ...]] = {}  # by actor and local state
        self.together: dict[tuple[int, int, int], tuple[Transition, ...]] = {}  # by actor, and both local states

    def done(self, config: GlobalState, move: Transition) -> GlobalState:
        """Return the global state after a move: of one that is read at once, after it was read."""
        after = super().done(config, move)
        if move.next is not None:
            for one in move.others:
                after = super().done(after, one)
        return after

    def _move(self, at: int, given: Any, way: Successor) -> Transition:
        move = super()._move(at, given, way)
        move.works = tuple([work for work in move.works if work[0] != SECURE])  # what is said is read at once
        if self.unheard and any(work[1] in self.unheard for work in move.works):
            move.works = tuple(
                work for work in move.works if work[1] not in self.unheard or not isinstance(work[2], tuple)
            )
        return move

    def _own(self, at: int, local: int) -> Any:
        open_, moves, seated = super()._own(at, local)
        if at not in self.foreign:
            return open_, moves, seated
        said = [move for move in moves if move.given[0] == "answer"]
        if said:
            said += [self._nonsense(at, local, reason) for reason in self.reasons[at]]
        self.said[at, local] = tuple(said)
        return open_, tuple(move for move in moves if move.given[0] != "answer"), seated

    def _nonsense(self, at: int, local: int, reason: str) -> Transition:
        token = (NONSENSE, ((REASON, reason),))
        way = Successor(local, Outcome((Sent(0, token),), (), (), "", "misbehaves"))
        return super()._move(at, ("misbehave",), way)

    def _moves(self, config: GlobalState, only: tuple[int, ...] | None = None) -> list[Transition]:
        found = super()._moves(config, only)
        locals_, queues, _ = config
        for at, (partner, seat) in self.foreign.items():
            if (only is not None and at not in only) or locals_[at] <= NOT_STARTED or locals_[partner] < 0:
                continue
            queue = queues[self.incoming[partner][seat]]
            if queue is not None and not queue.tokens:
                key = (at, locals_[at], locals_[partner])
                if key not in self.together:
                    self.together[key] = tuple(self._read_at_once(at, locals_[at], partner, locals_[partner], seat))
                found.extend(self.together[key])
        return found

    def _read_at_once(self, at: int, local: int, partner: int, other: int, seat: int) -> Iterator[Transition]:
        """Yield each way in which something is said and read, or said and not taken now: then it is said later."""
        if seat in self.cast.actors[partner].part.rest(other).closed:
            return
        self.unasked(at, local)
        for said in self.said[at, local]:
            assert said.next is not None, "it goes on"
            for sent in said.next.outcome.out:
                for read in self.reads(partner, other, seat, sent.token) if isinstance(sent, Sent) else ():
                    yield replace(said, others=(read,), fair=True, loud=said.loud or read.loud)


__all__ = ["ForeignStateSpace", "unexplored", "with_anything"]
