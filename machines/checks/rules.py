"""Checks of what expressions call: rules of the modules named, and built-in functions.

    A401  a rule that its module does not have      A403  a rule of a module that the spec does not name
    A402  a rule given too few or too many values   A404  a function that is not built in, or given too few or many

A401 and A402 need the modules; without them the other two are checked alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from machines.analysis.traversal import machine_expressions
from machines.expressions.builtins import TOTAL
from machines.expressions.unparse import calls
from machines.model import Call, Spec
from machines.parser.loader import rules_functions
from machines.problems import Problems

# Functions of other languages, and what there is here.
_OTHERWISE = {
    **dict.fromkeys(("random", "rand", "randint", "shuffle", "choice"), "chance is drawn by a rule, of 'seed'"),
    **dict.fromkeys(("now", "time", "clock"), "'elapsed' is how many seconds ago the state was entered"),
    "range": "whole numbers are a range, like 1..3, both ends included",
    **dict.fromkeys(("print", "log"), "a run is shown by its journal and 'accord play'"),
    **dict.fromkeys(("length", "size", "count"), "did you mean 'len'?"),
    **dict.fromkeys(("push", "append", "add"), "a list grows by another: list + [value]"),
    **dict.fromkeys(("remove", "delete"), "a list or mapping without a value is 'list except value'"),
}


def check_rules(spec: Spec, rules: Mapping[str, ModuleType] | None, problems: Problems) -> None:
    """A401: a module of rules has no such rule.

    A402: a rule is given too many or too few values.
    A403: a rule is called of a module that the spec does not name.
    A404: a function is called that is not built in, or with too many or too few values.
    """
    functions = {name: rules_functions(module) for name, module in (rules or {}).items()}
    named = [name for name, _ in spec.rules]
    for call in _calls(spec):
        module, dot, rule = call.path.partition(".")
        if not dot:
            _check_built_in(call, problems)
        elif module not in named:
            hint = problems.near("A403", module, named) or "name the module under 'rules'"
            problems.add(call.place, "A403", f"{call.path} is a rule of {module!r}, which 'rules' does not name", hint)
        elif module in functions:
            known = functions[module]
            if rule not in known:
                hint = problems.near("A401", rule, known) or f"its rules: {', '.join(sorted(known)[:8]) or 'none'}"
                problems.add(call.place, "A401", f"{module} has no rule {rule!r}", hint)
            else:
                _check_count(call, known[rule], "A402", problems)


def _calls(spec: Spec) -> Iterator[Call]:
    for role in spec.roles.values():
        for machine in role.machines.values():
            for expression in machine_expressions(machine, spec.messages):
                yield from calls(expression)


def _check_built_in(call: Call, problems: Problems) -> None:
    given = len(call.arguments or ())
    if call.path == "gone":
        if given != 1:
            problems.add(call.place, "A404", f"gone(peer) takes one peer, not {given} values")
    elif call.path in TOTAL:
        _check_count(call, TOTAL[call.path], "A404", problems)
    else:
        hint = _OTHERWISE.get(call.path) or problems.near("A404", call.path, (*TOTAL, "gone"))
        hint = hint or "a rule is called by its module: tsuro.deal(table)"
        problems.add(call.place, "A404", f"no function {call.path!r} is built in", hint)


def _check_count(call: Call, function: Callable[..., Any], code: str, problems: Problems) -> None:
    given = len(call.arguments or ())
    signature = inspect.signature(function)
    try:
        signature.bind(*range(given))
    except TypeError:
        plain = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
        shown = str(signature.replace(parameters=plain, return_annotation=signature.empty))
        count = f"{given} value{'' if given == 1 else 's'}"
        problems.add(
            call.place, code, f"{call.path} can not take {count}", f"it is {call.path}{shown.replace(', /', '')}"
        )
