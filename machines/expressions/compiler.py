"""Expressions as functions over the slots of a frame: resolved once, run for every event.

    row >= 0 and turn == player        compile ->  f(slots) -> True

What an expression means is in ``operations``; ``python`` writes it, with short cuts. What depends on nothing is
computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any, Protocol

from machines.expressions.builtins import TOTAL, excepting, made_of
from machines.expressions.operations import (
    ARITHMETIC,
    ORDERINGS,
    OperandError,
    attribute,
    contains,
    element,
    kind_of,
    negate,
    typed_equal,
)
from machines.expressions.python import Evaluator, Guard, Part, Writer
from machines.expressions.unparse import is_boolean, show, walk
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
from machines.work import WorkError

__all__ = ["TOTAL", "EvaluationError", "Evaluator", "Scope", "compile", "compile_guard", "fixed", "typed_equal"]

_BUILT_IN = tuple(TOTAL.values())


class EvaluationError(Exception):
    """An expression has no value for what its names hold now; the spec is at fault, not a peer.

    ``what`` says why, ``text`` is the part of the expression at fault, ``place`` where that part begins.
    """

    def __init__(self, what: str, expression: Expression) -> None:
        self.what = what
        self.text = show(expression)
        self.place = expression.place
        super().__init__(f"{self.place}: {what}, in `{self.text}`")


class Scope(Protocol):
    """How the names of an expression are read, and what its calls call."""

    def name(self, name: Name, /) -> Evaluator:
        """Return how to read a name: an ``itemgetter`` for a slot, ``fixed`` for a constant, else any closure."""

    def call(self, call: Call, /) -> tuple[Callable[..., Any], bool]:
        """Return the function of a call, and whether it takes the slots before the arguments."""


class Fixed:
    """An evaluator whose value is known when compiling."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, slots: list[Any]) -> Any:
        """Return the value, whatever the slots."""
        return self.value


def fixed(value: Any) -> Evaluator:
    """Return an evaluator for a value that never changes, such as a setting: what is made of it is computed once."""
    return Fixed(value)


def compile(expression: Expression, scope: Scope) -> Evaluator:  # noqa: A001 (as in re.compile)
    """Return a closure that takes the slots and returns the expression's value. It changes nothing.

    A list gives a tuple, so the arguments of any call can be compiled as ``Sequence(arguments, place)``; a YAML
    mapping gives a Record. What the called functions raise comes through as it is.

    The closure raises:
        EvaluationError: an operator or built-in has no meaning for its values, or a result is out of bounds.
    """
    writer = Writer(expression.place)
    return writer.run(part_of(expression, scope, writer))


def compile_guard(expression: Expression, scope: Scope) -> Guard:
    """Return a closure like that of ``compile`` whose value is True or False.

    The closure raises:
        EvaluationError: also if the value is not a boolean.
    """
    run = compile(expression, scope)
    if is_boolean(expression):
        return run
    truth_of = _truth_of(expression)
    return lambda slots: truth_of(run(slots))


def part_of(expression: Expression, scope: Scope, writer: Writer) -> Part:
    """Return an expression as a part of what a writer writes; what it does is what the closure of `compile` does."""
    return _Compiler(scope, writer).part(expression)


def condition_of(expression: Expression, scope: Scope, writer: Writer) -> str:
    """Return an expression as the condition of an ``if`` in what a writer writes: see `compile_guard`."""
    part = part_of(expression, scope, writer)
    return part.text if is_boolean(expression) else writer.holds(part, _truth_of(expression))


# -- parts -----------------------------------------------------------------------------------------------------------


class _Compiler:
    """Turns an expression into parts of Python, each as its operator has it."""

    def __init__(self, scope: Scope, writer: Writer) -> None:
        self._scope = scope
        self._items: dict[str, Part] = {}  # of the lists that a part stands within
        self.write = writer

    def part(self, expression: Expression) -> Part:
        """Return an expression as a part."""
        write = self.write
        match expression:
            case Constant(value):
                return write.constant(value)
            case Name(name) if name in self._items:
                return self._items[name]
            case Name():
                read = self._scope.name(expression)
                if isinstance(read, Fixed):
                    return write.constant(read.value)
                slot = _slot_of(read)
                return write.read(read) if slot is None else write.slot(slot)
            case Call(_, arguments):
                function, wants_slots = self._scope.call(expression)
                given = [self.part(argument) for argument in arguments or ()]
                if function in _BUILT_IN:
                    return self._folded(write.call(_located(function, expression), given), given)
                return write.call(function, given, slots=wants_slots)
            case Attribute(of, name):
                owner = self.part(of)
                return self._folded(write.field(owner, name, _located(attribute, expression)), [owner])
            case Item(of, index):
                owner, which = self.part(of), self.part(index)
                return self._folded(write.item(owner, which, _located(element, expression)), [owner, which])
            case Sequence(items):
                given = [self.part(item) for item in items]
                return self._folded(write.sequence(given), given)
            case Mapped(pairs):
                given = [self.part(value) for _, value in pairs]
                return self._folded(write.mapped([key for key, _ in pairs], given), given)
            case Unary("not", operand):
                negated = self._guard(operand)
                return self._folded(write.negation(negated), [negated])
            case Unary(_, operand):
                given = [self.part(operand)]
                return self._folded(write.call(_located(negate, expression), given), given)
            case Binary("and" | "or" as sign, _, _):
                given = [self._guard(term) for term in _chain(expression, sign)]
                return self._folded(write.chain(sign, given), given)
            case Conditional(condition, yes, no):
                given = [self._guard(condition), self.part(yes), self.part(no)]
                return self._folded(write.choice(*given), given)
            case Comprehension():
                return self._made(expression)
            case Binary(_, left, right):
                first, second = self.part(left), self.part(right)
                return self._folded(self._binary(expression, first, second), [first, second])

    def _made(self, expression: Comprehension) -> Part:
        over = self.part(expression.over)
        asked = expression.condition
        outside = self._items
        with self.write.item_of_list() as item:
            self._items = {**outside, expression.item: item}
            value = self.part(expression.value)
            condition = self._guard(asked) if asked is not None else None
        self._items = outside
        work = sum(map(_work, walk(expression.value))) + (sum(map(_work, walk(asked))) if asked is not None else 0)
        make = partial(_located(made_of, expression), work)
        return self.write.made_of(over, item, value, condition, make)

    def _guard(self, expression: Expression) -> Part:
        part = self.part(expression)
        if is_boolean(expression):
            return part
        return self._folded(self.write.call(_truth_of(expression), [part]), [part])

    def _binary(self, expression: Binary, left: Part, right: Part) -> Part:
        sign = expression.operator
        if sign in ("==", "!="):
            return self.write.equality(left, right, sign == "==")
        if sign in ORDERINGS:
            return self.write.ordering(sign, left, right, _located(ORDERINGS[sign], expression))
        if sign == "in":
            return self.write.membership(left, right, _located(contains, expression))
        general = _located(excepting if sign == "except" else ARITHMETIC[sign], expression)
        if sign in ("+", "-", "*"):
            return self.write.calculation(sign, left, right, general)
        return self.write.call(general, [left, right])

    def _folded(self, part: Part, of: list[Part]) -> Part:
        """Compute now what depends on nothing; what cannot be computed is left to fail when it is run."""
        if all(one.known for one in of):
            try:
                return self.write.constant(self.write.value(part))
            except (EvaluationError, WorkError):
                return part
        return part


def _work(part: Expression) -> int:
    """Return how many elements a part goes for that is worked out for each item of a list.

    What an operation goes through where there are few is not counted, and here they are many.
    """
    return 16 if isinstance(part, Call | Binary | Comprehension) else 1


def _slot_of(read: Evaluator) -> int | None:
    """Return which slot a plain ``itemgetter`` reads; its pickled form says so."""
    if type(read) is not itemgetter:
        return None
    items = read.__reduce__()[1]
    return items[0] if len(items) == 1 and type(items[0]) is int else None


def _truth_of(expression: Expression) -> Callable[[Any], bool]:
    """Return what lets nothing through but true and false."""

    def truth_of(value: Any) -> bool:
        if value is True or value is False:
            return value
        raise EvaluationError(f"true or false is needed, not {kind_of(value)}", expression)

    return truth_of


def _located(operation: Callable[..., Any], expression: Expression) -> Callable[..., Any]:
    """Return an operation whose OperandError is told with the expression and its place."""

    def located(*operands: Any) -> Any:
        try:
            return operation(*operands)
        except OperandError as error:
            raise EvaluationError(str(error), expression) from None

    return located


def _chain(expression: Expression, sign: str) -> Iterator[Expression]:
    """Yield the terms of a chain of ``and`` or of ``or``, which is one however long it is."""
    if isinstance(expression, Binary) and expression.operator == sign:
        yield from _chain(expression.left, sign)
        yield from _chain(expression.right, sign)
    else:
        yield expression
