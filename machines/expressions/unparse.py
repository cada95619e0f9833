"""Expressions as text for people, how tightly their operators bind, and walks over their trees.

or                    lowest; a or b or c
and
not
== != < <= > >= in    one at a time: a < b < c is refused
..                    1..n - 1 is 1..(n - 1)
+ - except
*
- (of one value)
a.b  a[b]  f(a)       highest
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isinf
from typing import Any

from machines.expressions.lexer import quoted
from machines.model import (
    Attribute,
    Binary,
    Call,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Item,
    Mapped,
    Name,
    Sequence,
    Unary,
)

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})

NOT = 3
COMPARED = 4
RANGED = 5
MINUS = 8
POSTFIX = 9
POWERS = {"or": 1, "and": 2, **dict.fromkeys(COMPARISONS, COMPARED), "..": RANGED, "+": 6, "-": 6, "except": 6, "*": 7}
UNCHAINED = (COMPARED, RANGED)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# -- tree to text ----------------------------------------------------------------------------------------------------


def show(expression: Expression) -> str:
    """Return the expression as canonical text: ``parse(show(e))`` is ``e`` up to places.

    What has no text of its own is shown for people only: infinity as ``never``, values that are no literals as Python
    has them.
    """
    return _shown(expression, 0)


def _shown(expression: Expression, above: int) -> str:
    """Return the text, in brackets if it binds no more tightly than ``above``."""
    match expression:
        case Constant(value):
            return _literal(value)
        case Name(name):
            return name
        case Attribute(of, name):
            return f"{_shown(of, POSTFIX - 1)}.{name}"
        case Item(of, index):
            return f"{_shown(of, POSTFIX - 1)}[{show(index)}]"
        case Call(path, None):
            return path
        case Call(path, arguments):
            return f"{path}({', '.join(map(show, arguments or ()))})"
        case Sequence(items):
            return f"[{', '.join(map(show, items))}]"
        case Mapped(pairs):
            return "{" + ", ".join(f"{_key(key)}: {show(value)}" for key, value in pairs) + "}"
        case Unary("not", operand):
            return _bracketed(f"not {_shown(operand, NOT - 1)}", NOT, above)
        case Unary(_, operand):
            # Without brackets a minus and a number would be read as one literal.
            inner = f"({show(operand)})" if isinstance(operand, Constant) else _shown(operand, MINUS - 1)
            return _bracketed(f"-{inner}", MINUS, above)
        case Conditional(condition, yes, no):
            asked = show(condition)
            if asked[:1] in ("-", "["):  # else it is a value called `if`, less something, or an element of it
                asked = f"({asked})"
            text = f"if {asked} then {show(yes)} else {show(no)}"
            return f"({text})" if above else text
        case Comprehension(value, item, over, condition):
            asked = f" if {show(condition)}" if condition is not None else ""
            return f"[{_before_word(value)} for {item} in {_before_word(over)}{asked}]"
        case Binary(operator, left, right):
            power = POWERS[operator]
            shown_left = _shown(left, power if power in UNCHAINED else power - 1)
            sign = ".." if operator == ".." else f" {operator} "
            return _bracketed(f"{shown_left}{sign}{_shown(right, power)}", power, above)


def _key(key: str) -> str:
    return key if _NAME.fullmatch(key) else quoted(key)


def _before_word(expression: Expression) -> str:
    """Return the text of what a word stands behind: a value called `if` would begin a choice with it."""
    called_if = any(isinstance(part, Name) and part.name == "if" for part in walk(expression))
    return f"({show(expression)})" if called_if else _shown(expression, 1)


def _bracketed(text: str, power: int, above: int) -> str:
    return text if power > above else f"({text})"


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return "never" if isinf(value) else repr(value)
    return str(value)


# -- walks -----------------------------------------------------------------------------------------------------------


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and all parts of it, each before its own parts, in the order written."""
    yield expression
    for part in parts(expression):
        yield from walk(part)


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions that an expression is directly made of, in the order written."""
    match expression:
        case Constant() | Name():
            return ()
        case Attribute(of, _):
            return (of,)
        case Item(of, index):
            return (of, index)
        case Call(_, arguments):
            return arguments or ()
        case Sequence(items):
            return items
        case Mapped(pairs):
            return tuple(value for _, value in pairs)
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Conditional(condition, yes, no):
            return (condition, yes, no)
        case Comprehension(value, _, over, condition):
            return (value, over) if condition is None else (value, over, condition)


def names(expression: Expression) -> Iterator[Name]:
    """Yield every name that an expression reads, in the order written; what it binds itself is none, nor a path."""
    if isinstance(expression, Name):
        yield expression
    elif isinstance(expression, Comprehension):
        asked = names(expression.condition) if expression.condition is not None else ()
        yield from (name for name in names(expression.value) if name.name != expression.item)
        yield from names(expression.over)
        yield from (name for name in asked if name.name != expression.item)
    else:
        for part in parts(expression):
            yield from names(part)


def calls(expression: Expression) -> Iterator[Call]:
    """Yield every call in an expression, an outer one before those among its arguments."""
    return (part for part in walk(expression) if isinstance(part, Call))


def is_boolean(expression: Expression) -> bool | None:
    """Return True if the value is surely a boolean, False if surely not, None if only running it can tell."""
    match expression:
        case Constant(value):
            return isinstance(value, bool)
        case Binary(operator, _, _):
            return operator in COMPARISONS or operator in ("and", "or")
        case Unary(operator, _):
            return operator == "not"
        case Sequence() | Mapped() | Comprehension():
            return False
        case Conditional(_, yes, no):
            both = {is_boolean(yes), is_boolean(no)}
            return both.pop() if len(both) == 1 else None
        case Name() | Attribute() | Item() | Call():
            return None
