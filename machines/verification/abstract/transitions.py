"""What a branch does, and what follows from it until every call rests again: states entered, calls, loops, sign-ups.

What `machines.semantics` leaves to a domain, over unknown values; `machines.engine.interpreter` has it over values.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from machines.analysis.call_graph import kind
from machines.model import Branch, Choice, Expression, Goto, Return, Stay
from machines.semantics import calls, sign_ups
from machines.verification.abstract.domain import (
    NUMBER_MAX,
    UNSET,
    AbstractError,
    Infeasible,
    PeerRef,
    Range,
    Unknown,
    Value,
)
from machines.verification.abstract.outlines import LayerOutline
from machines.verification.abstract.role_info import is_never_null
from machines.verification.abstract.state import (
    DROPPED,
    DROPPED_TOLD,
    MARKED,
    SILENT,
    SILENT_MAX,
    SILENT_SEEN,
    TOLD,
    AbstractCall,
    SilentCycle,
    Token,
    is_marked,
)
from machines.verification.abstract.steps import StepRunner

MARKED_FROM = 16  # branches of a choice: with fewer, to decide their conditions again costs less than to keep them


class StateTransitions(StepRunner):
    """A role in the middle of a step."""

    # -- branches ------------------------------------------------------------------------------------------------------

    def _fire(
        self, call: AbstractCall, layer: LayerOutline, event: str, seat: int | None, reason: str | None = None,
        *, token: Token | None = None,
    ) -> bool:  # fmt: skip
        """Take the first branch that may be taken; return False if none may. What follows is left to `_drain`."""
        saved = call.env[:]
        index = call.table.index
        self.over_limit = False
        if token is not None:
            known = dict(token[1])
            for field in self.outline.spec.messages[event].fields:
                if field.name in known:
                    call.env[index[field.name]] = known[field.name]
                else:
                    call.env[index[field.name]] = self._some(null=not is_never_null(field.type, self.outline.spec))
        parameters = call.table.machine.parameters
        if (seat is not None or reason is not None) and "peer" not in parameters:
            call.env[index["peer"]] = PeerRef(seat) if seat is not None else None
        if reason is not None and "reason" not in parameters:
            call.env[index["reason"]] = reason
        if self._choose(call, layer.choices[event], seat, layer.awaits):
            return True
        call.env[:] = saved
        return False

    def _not_lent(self, call: AbstractCall, group: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of some peers that a call may await: the others are lent to a machine that was started."""
        if not self.outline.starts:
            return group
        host = call.host
        return tuple(seat for seat in group if self.lent_to(seat) is host)

    def _choose(self, call: AbstractCall, choice: Choice, seat: int | None, awaits: Expression | None) -> bool:
        self.choices += 1
        number = self.choices
        for at in range(self._left_off(number), len(choice.branches)):
            branch = choice.branches[at]
            if branch.guard is not None:
                if len(choice.branches) > MARKED_FROM:
                    self.oracle.mark(number, partial(self._known_before, at))
                if not self.reckoner.holds(branch.guard, self._looker(call)):
                    continue
            if branch.limit is not None and not self._has_room(call, branch):
                self.wrong = "limit"
                self.over_limit = True
                continue
            self.taken.append(branch)
            if branch.steps:
                self._steps(branch.steps, call, seat, awaits, stays=isinstance(branch.next, Stay))
            onward = branch.next
            if isinstance(onward, Goto):
                self._leave(call)
                call.state = onward.state
                self.work.append(call)
            elif isinstance(onward, Return):
                call.result = self._needed(onward.value, call)
                self._leave(call)
                self._finish(call)
            elif isinstance(onward, Choice):
                if not self._choose(call, onward, seat, awaits):
                    raise AbstractError(f"no branch of the choice in line {onward.place.line} may be taken")
            else:
                self._stay(call, again=onward.again)
            return True
        return False

    def _known_before(self, branch: int) -> tuple[Any, ...]:
        """Return all that conditions may have changed, before that of a branch is asked."""
        reckoner = self.reckoner
        limits = self.wrong, self.used_up, self.over_limit, self.gone
        return branch, dict(reckoner.facts), reckoner.fresh, reckoner.guessed, self.fresh, limits

    def _left_off(self, number: int) -> int:
        """Return the branch of a choice to begin with: one that another way has come to by the same answers.

        Of many branches each is the end of a way, and the conditions before it are not decided again on every one.
        ``number`` counts the choices of a step: on ways with the same answers, it is the same choice.
        """
        known = self.oracle.back_to(number)
        if known is None:
            return 0
        branch, facts, self.reckoner.fresh, self.reckoner.guessed, self.fresh, limits = known
        self.wrong, self.used_up, self.over_limit, self.gone = limits
        self.reckoner.facts = dict(facts)
        return int(branch)

    def _has_room(self, call: AbstractCall, branch: Branch) -> bool:
        """Whether a limit is not used up; if so it is used once more."""
        name = call.table.counters.get(id(branch))
        if name is None:
            return self.oracle.choose(2) == 0
        assert branch.limit is not None, "it has a limit"
        at = call.table.index[name]
        used = call.env[at] if call.env[at] is not UNSET else 0
        if used >= self._value(branch.limit, call):
            self.used_up = True
            return False
        call.env[at] = used + 1
        return True

    def _stay(self, call: AbstractCall, *, again: bool) -> None:
        state = call.node.state
        if again:
            call.fired = tuple(one for one in call.fired if one.startswith(("always:", "when")))
        if kind(state) == "wait":
            self.register(call, afresh=False)
            if state.ask is not None:
                call.asked = True
        elif state.accept is not None and call.sign_ups is not None:
            self.hear_seated(call)
        self.hears_more = True

    def _look_round(self, *, at_once: bool = False) -> None:
        """Raise SilentCycle if the step has come back to where it was: then it would go on so without end."""
        self.silent += 1
        if self.silent > SILENT_MAX:
            raise SilentCycle
        if (at_once or self.silent > SILENT_SEEN) and self.root is not None:
            here = (
                self.freeze(),
                tuple((one.table.name, one.state) for one in self.work),
                tuple((one.table.name, one.state, *event) for one, *event in self.pending),
                frozenset(self.out),
            )
            if here in self.seen:
                raise SilentCycle
            self.seen.add(here)

    # -- entering ------------------------------------------------------------------------------------------------------

    def _enter(self, call: AbstractCall) -> None:
        state = call.node.state
        self.entered.append(f"{call.table.name}.{call.state}")
        what = kind(state)
        if call.parked is not None:
            accept = state.accept
            if what != "pass" and (accept is None or accept.name != call.parked_for):
                parked, call.parked = call.parked, None
                self._close_pending(parked)
        calls.enter(self, call)

    def begin_loop(self, call: AbstractCall) -> bool:
        """Read the list of a loop; its items are done in turn, whatever it says."""
        each = call.node.state.each
        assert each is not None, "only a loop has items"
        items = self._value(each.items, call)
        if type(items) is Range and len(items) <= NUMBER_MAX:
            items = tuple(items)
        call.loop = ("list", items, -1) if type(items) is tuple else ("some", items)
        return True

    def do_steps(self, call: AbstractCall) -> None:
        """Do the steps of a state, or of an item of it."""
        state = call.node.state
        if state.steps:
            self._steps(state.steps, call, None, state.awaits)

    def wait(self, call: AbstractCall) -> None:
        """Hear whom a state awaits, and ask what it asks."""
        call.asked = call.node.state.ask is not None
        call.told_empty = False
        self.register(call, afresh=True)
        self.hears_more = True

    def go_on(self, call: AbstractCall) -> None:
        """What a state does is done: take the first branch of ``then`` that may be taken."""
        state = call.node.state
        if state.then is None or not self._choose(call, state.then, None, None):
            raise AbstractError(f"no branch of the choice in line {state.place.line} may be taken")

    def open_sign_up(self, call: AbstractCall) -> None:
        """Take in connections; those who were still signing up for the same seats go on."""
        accept = call.node.accept
        assert accept is not None, "only an accept is open"
        index = call.table.index[accept.name]
        if type(call.env[index]) is not tuple:
            call.env[index] = ()
        call.sign_ups, call.parked = call.parked or {}, None
        sign_ups.look_again(self, call)
        self.hears_more = True

    def register(self, call: AbstractCall, *, afresh: bool) -> None:
        """Let a call hear whom its state awaits; ``afresh`` if that was entered just now."""
        state = call.node.state
        if state.awaits is not None:
            group, listed = self.reckoner.group(self._value(state.awaits, call))
        elif state.ask is None and self.outline.one_partner:
            group, listed = (0,), False
        else:
            return
        whole, group = group, self._not_lent(call, group)
        for seat in group:
            for other in self.calls():
                if other is not call and seat in other.hears:
                    other.hears = tuple(one for one in other.hears if one != seat)
        call.hears = group
        for seat in group:
            status = self.seats[seat]
            if is_marked(status):
                self.pending.append((call, ".invalid", seat, status.removeprefix(MARKED)))
            elif status in SILENT and ((not listed and afresh) or status == DROPPED):
                self._tell_closed(call, seat)
        own = len(group) == len(whole)  # nobody of it is lent
        if listed and own and not call.told_empty and all(self.seats[seat] in (TOLD, DROPPED_TOLD) for seat in group):
            call.told_empty = True
            self._tell_closed(call, None)

    def new_call(self, machine: str, arguments: tuple[Value, ...], parent: AbstractCall | None) -> AbstractCall:
        """Return a call of a machine that has not begun yet."""
        outline = self.outline.machines[machine]
        env: list[Value] = [UNSET] * len(outline.names)
        env[: len(arguments)] = arguments
        call = AbstractCall(outline, outline.first, env, parent)
        for binding in outline.machine.live:
            self._bind(call, binding.target, self._value(binding.value, call))
        return call

    def run(self, call: AbstractCall) -> None:
        """Call the machine of a state."""
        run = call.node.state.run
        assert run is not None, "a call calls"
        arguments = tuple([self._needed(argument, call) for argument in run.arguments or ()])
        call.child = self.new_call(run.path, arguments, call)
        self.work.append(call.child)

    def advance(self, call: AbstractCall) -> bool:
        """Go to the next item of a loop; False if there is none. Of some list there may be one more, or none."""
        each, loop = call.node.state.each, call.loop
        assert each is not None, "only a loop has items"
        assert loop is not None, "the loop goes on"
        self._look_round(at_once=loop[0] == "some")
        if loop[0] == "list":
            index = loop[2] + 1
            if index >= len(loop[1]):
                return False
            item = loop[1][index]
            call.loop = ("list", loop[1], index)
        elif self.oracle.choose(2) == 1:
            return False
        else:
            value = loop[1]
            self.fresh += 1
            item = Unknown(("item", self.fresh), value.peers, value.marks) if type(value) is Unknown else self._some()
        call.env[call.table.index[each.name]] = item
        return True

    def is_wanted(self, call: AbstractCall) -> bool:
        """Say whether an item is done at all, when its turn has come."""
        each, loop = call.node.state.each, call.loop
        if each is None or each.guard is None or self.reckoner.holds(each.guard, self._looker(call)):
            return True
        if loop is not None and loop[0] == "some":
            raise Infeasible  # to skip some item is no more than not to have had it
        return False

    def is_enough(self, call: AbstractCall) -> bool:
        """Say whether an item was the last: what ``until`` asks holds."""
        each = call.node.state.each
        return each is not None and each.until is not None and self.reckoner.holds(each.until, self._looker(call))

    def in_loop(self, call: AbstractCall) -> bool:
        """Say whether a state does items."""
        return call.loop is not None

    def end_loop(self, call: AbstractCall) -> None:
        """No item is left."""
        call.loop = None

    def end_main(self, call: AbstractCall) -> None:
        """``main`` has returned: all is over."""
        self._end("")

    def _finish(self, call: AbstractCall) -> None:
        call.alive = False
        if call.parked is not None:
            self._close_pending(call.parked)
        calls.returned(self, call)

    def take_result(self, call: AbstractCall, child: AbstractCall) -> None:
        """Bind what a called machine returned, and do the next item or go on."""
        call.child = None
        bindings = call.node.state.bindings
        if bindings:
            index = call.table.index
            before = call.env[index["result"]]
            call.env[index["result"]] = child.result
            values = [self._needed(binding.value, call) for binding in bindings]
            if "result" not in {binding.target for binding in bindings}:
                call.env[index["result"]] = before
            for binding, value in zip(bindings, values, strict=True):
                self._bind(call, binding.target, value)
        calls.after_result(self, call)
