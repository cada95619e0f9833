"""Expressions as pictures say them: as in the spec, but for the largest number there is, which fills a line."""

from __future__ import annotations

import re
from typing import Final

from machines.expressions.unparse import show as in_full
from machines.model import Expression

LARGEST: Final = re.compile(rf"(?<![\w.'\"]){2**63 - 1}(?![\w.'\"])")


def show(expression: Expression) -> str:
    """Return an expression as text for people: ``number > (2^63 - 1) - amount``."""
    return LARGEST.sub("(2^63 - 1)", in_full(expression))
