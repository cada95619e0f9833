"""Where an error of a rule was raised, for whoever wrote the rule."""

from __future__ import annotations

import sys
from traceback import walk_tb
from typing import Final

NOT_RULES: Final = sys.stdlib_module_names | {__name__.partition(".")[0], "transitions"}


def raised_in(error: BaseException) -> str:
    """Return the rule that raised an error and the line, as ``my_rules.first, line 38``; empty if no rule did.

    The line is the last one in the rule's own module: what it called elsewhere failed because of it.
    """
    rule, line = "", 0
    module = None
    for frame, number in walk_tb(error.__traceback__):
        name = str(frame.f_globals.get("__name__", ""))
        if module is None and name and name.partition(".")[0] not in NOT_RULES:
            module, rule = name, frame.f_code.co_name
        if name == module:
            line = number
    return f"{module}.{rule}, line {line}" if module else ""
