"""Which rules a step may still call before all rests, so that no more is remembered of it than may be asked again.

A step is paused where several ways may meet, and two ways have met only if they remember the same. What a rule answered
on one of them matters no more once nobody can call that rule with this step: forgetting it tells fewer ways apart, and
loses nothing, since every answer that is given from there on is the same with it and without.

What may still come is taken to be more than it is: in a state that is about to be entered all that stands in it, in
one that is under way all but its list; all that stands in the ``always`` of the machine; and the same of every state
that one of its branches leads to, and of the machines it calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from machines.analysis.traversal import all_branches, all_steps, answers_expressions, state_expressions
from machines.expressions.unparse import calls
from machines.model import Choice, Expression, Goto, Machine, Message, Start, State

Paths = frozenset[str]
SIGN_UP = ".sign_up"  # stands among the rules for a connection that may be taken


class Asking:
    """The rules that a role may call, from each of its states on; DOOR among them if it may take a connection."""

    def __init__(
        self, machines: Mapping[str, Machine], messages: Mapping[str, Message], idle: Set[int] = frozenset()
    ) -> None:
        """``idle`` are the ids of expressions that are not computed."""
        own: dict[tuple[str, str], Paths] = {}
        lists: dict[tuple[str, str], Paths] = {}
        leads: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
        for machine in machines.values():
            always = machine.always
            around: list[Expression] = []
            onward: set[str] = set()
            if always is not None:
                around = [one for one in (always.awaits, always.within) if one is not None]
                around.extend(answers_expressions(always.answers, messages))
                onward.update(_targets(choice for _, choice in always.answers.choices()))
            around.extend(binding.value for binding in machine.live)
            of_always = _paths(one for one in around if id(one) not in idle)
            begun = [step.machine.path for step in all_steps(machine) if isinstance(step, Start)]
            takes_any = always is not None and always.answers.connected is not None
            for state in machine.states.values():
                key = (machine.name, state.name)
                items = [state.each.items] if state.each is not None else []
                apart = {*idle, *map(id, items)}
                rest = [one for one in state_expressions(state, messages) if id(one) not in apart]
                takes = state.accept is not None or state.answers.connected is not None or takes_any
                own[key] = of_always | _paths(rest) | ({SIGN_UP} if takes else frozenset())
                lists[key] = _paths(items)
                called = [
                    (name, next(iter(machines[name].states))) for name in (*_called(state), *begun) if name in machines
                ]
                targets = onward | _targets(
                    [*(choice for _, choice in state.answers.choices()), *([state.then] if state.then else [])]
                )
                leads[key] = (*((machine.name, target) for target in targets), *called)
        # By machine and state: if it is about to be entered, and if it is there.
        self.entering: dict[tuple[str, str], Paths] = {key: own[key] | lists[key] for key in own}
        changed = True
        while changed:
            changed = False
            for key, found in self.entering.items():
                more = found.union(*(self.entering[to] for to in leads[key]))
                if more != found:
                    self.entering[key] = more
                    changed = True
        self.inside: dict[tuple[str, str], Paths] = {
            key: own[key].union(*(self.entering[to] for to in leads[key])) for key in own
        }


def _called(state: State) -> Iterable[str]:
    if state.run is not None:
        yield state.run.path
    if state.accept is not None:
        yield state.accept.machine.path


def _targets(choices: Iterable[Choice]) -> set[str]:
    return {branch.next.state for choice in choices for branch in all_branches(choice) if isinstance(branch.next, Goto)}


def _paths(expressions: Iterable[Expression]) -> Paths:
    return frozenset(call.path for expression in expressions for call in calls(expression))


__all__ = ["SIGN_UP", "Asking"]
