"""Rules that are not there: in place of each a person is asked what it says.

A spec can be tried before anybody has written its rules. Rules are pure, so the same rule of the same values says the
same again, and is asked about once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import msgspec

from machines.analysis.traversal import all_branches, all_choices, machine_expressions
from machines.expressions.unparse import calls
from machines.model import Binary, Call, Expression, Spec, Unary
from machines.parser.loader import RulesError, rules_module
from machines.values import plain

SHOWN_MAX = 200  # characters of a call that are shown

Says = Callable[[str, str, bool], Any]
"""``(rule, the call as text, whether it must be a boolean)`` to what the rule says."""


class RuleStubs:
    """The rules modules of a spec: those that can be imported, and stand-ins for the others.

    ``says`` answers for a rule that is not there. What it raises counts as raised by the rule.
    """

    def __init__(self, spec: Spec, allowed: Sequence[str], says: Says) -> None:
        self.missing: dict[str, str] = {}  # the module, and why it is not there
        self.modules: dict[str, ModuleType] = {}
        self._says = says
        self._known: dict[str, Any] = {}
        self._conditions = frozenset(_conditions(spec))
        called = sorted({call.path for call in _calls(spec)})
        for name, _ in spec.rules:
            try:
                self.modules[name] = rules_module(spec, name, allowed)
            except RulesError as error:
                self.missing[name] = str(error)
                self.modules[name] = self._stand_in(name, [path for path in called if path.startswith(f"{name}.")])

    def forget(self) -> None:
        """Forget all that was said: it will be asked again."""
        self._known.clear()

    def _stand_in(self, name: str, called: Sequence[str]) -> ModuleType:
        module = ModuleType(name)
        rules = {path.partition(".")[2]: self._rule(path) for path in called}
        vars(module).update(rules, __all__=list(rules))
        return module

    def _rule(self, path: str) -> Callable[..., Any]:
        def rule(*given: Any) -> Any:
            key = f"{path}({', '.join(_text(value) for value in given)})"
            if key not in self._known:
                shown = key if len(key) <= SHOWN_MAX else f"{key[: SHOWN_MAX - 4]}...)"
                self._known[key] = self._says(path, shown, path in self._conditions)
            return self._known[key]

        return rule


def _text(value: Any) -> str:
    return msgspec.json.encode(plain(value)).decode()


def _calls(spec: Spec) -> Iterator[Call]:
    for role in spec.roles.values():
        for machine in role.machines.values():
            for expression in machine_expressions(machine, spec.messages):
                yield from calls(expression)


def _conditions(spec: Spec) -> Iterator[str]:
    """Yield the rules that stand where only a boolean may: as a condition, or as a part of one."""
    for role in spec.roles.values():
        for machine in role.machines.values():
            for _, choice in all_choices(machine):
                for branch in all_branches(choice):
                    yield from _booleans(branch.guard)
            for state in machine.states.values():
                if state.each is not None:
                    yield from _booleans(state.each.guard)
                    yield from _booleans(state.each.until)


def _booleans(expression: Expression | None) -> Iterator[str]:
    match expression:
        case Call(path, _):
            yield path
        case Unary("not", operand):
            yield from _booleans(operand)
        case Binary("and" | "or", left, right):
            yield from _booleans(left)
            yield from _booleans(right)
        case _:
            pass
