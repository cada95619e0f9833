"""What an expression is made of: `machines.model` has it too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from machines.problems import Place


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text, true, false or null."""

    value: Any
    place: Place


@dataclass(frozen=True, slots=True)
class Name:
    """A name: one the machine bound, a setting, a role it connects to, or a built-in."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Attribute:
    """``of.name``: a field of a peer, a record or a rule's value (also ``my.name``)."""

    of: Expression
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Item:
    """``of[index]``: an element of a list (from 0) or the value of a mapping's key."""

    of: Expression
    index: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """``path(arguments)``. ``arguments`` is None where a message, machine or question is named without brackets.

    In an expression ``path`` is a rule (``tsuro.place``) or a built-in (``len``, ``gone``); under ``run`` and
    ``accept`` a machine; under ``send`` a message; under ``ask`` a question.
    """

    path: str
    arguments: tuple[Expression, ...] | None
    place: Place


@dataclass(frozen=True, slots=True)
class Sequence:
    """``[a, b]``, in an expression or as a YAML list of expressions."""

    items: tuple[Expression, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Mapped:
    """``{name: name}``, in an expression or as a YAML mapping whose values are expressions."""

    items: tuple[tuple[str, Expression], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Unary:
    """``not a`` or ``-a``."""

    operator: Literal["not", "-"]
    operand: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Binary:
    """``left operator right``; operators: ``.. + - * except == != < <= > >= in and or``."""

    operator: str
    left: Expression
    right: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Conditional:
    """``if condition then yes else no``: only one of the two is worked out."""

    condition: Expression
    yes: Expression
    no: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Comprehension:
    """``[value for item in over if condition]``: a list made of another; ``item`` is seen in value and condition."""

    value: Expression
    item: str
    over: Expression
    condition: Expression | None
    place: Place


Expression = (
    Constant | Name | Attribute | Item | Call | Sequence | Mapped | Unary | Binary | Conditional | Comprehension
)
