"""Expressions written as Python over the slots of a frame: one function for each, however deep it is.

    row >= 0 and turn == player        ->  lambda s: ((v1 >= 0 if type(v1 := s[1]) is int else at_least(v1, 0)) and …)

What an expression means is in `machines.expressions.operations`; what is written here are short cuts for the common
kinds, each before a call of the operation that says what is meant, and only where it gives the same. Nothing of a spec
stands in the text but names of fields, which are looked at, and constants as Python writes them; all else is mentioned
by names that are made here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from keyword import iskeyword
from operator import attrgetter, itemgetter
from typing import Any

from machines.expressions.operations import DIRECT, INTEGER_MAX, INTEGER_MIN, UNMISTAKABLE, typed_equal
from machines.flat_records import FlatRecord
from machines.values import FROZEN, Peer, Range, Record, freeze
from machines.work import SHORT

Evaluator = Callable[[list[Any]], Any]
Guard = Callable[[list[Any]], bool]
DEEP = 20  # levels of brackets in one text; what is deeper is a function of its own: Python's parser reads 200


class _Unknown:
    """Marks a part whose value is not known when compiling."""


_UNKNOWN = _Unknown()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression in Python; ``constant`` is its value if that is known.

    ``read`` is set if all it does is read a slot, or several: CPython 3.11 does so in 12 ns, in a function in 26.
    """

    text: str
    depth: int = 0
    constant: Any = _UNKNOWN
    read: itemgetter[Any] | None = None
    slot: int | None = None

    @property
    def known(self) -> bool:
        """Whether the value is known when compiling."""
        return self.constant is not _UNKNOWN


class FieldOf:
    """``owner.name`` for any owner. ``known`` is the dataclass of rules that was met last, if it has such a field."""

    __slots__ = ("_general", "_name", "_read", "known")

    def __init__(self, name: str, general: Callable[..., Any]) -> None:
        self.known: type | None = None
        self._general, self._name, self._read = general, name, attrgetter(name)

    def __call__(self, owner: Any) -> Any:
        """Return the field of a value."""
        name, kind = self._name, type(owner)
        if kind is self.known:
            return self._read(owner)
        try:
            if kind is Peer:
                return owner.fields[name]
            if kind is Record or kind is FlatRecord:
                return owner[name]
        except KeyError:
            pass  # said by the general operation, which knows what there is instead
        found = self._general(owner, name)
        if name in getattr(kind, "__dataclass_fields__", ()) and kind is not Peer:
            self.known = kind
        return found


class Writer:
    """Writes the parts of an expression, from the inside outward, and makes a function of the outermost, or of lines.

    ``place`` is what tracebacks call the file. Whatever is written by one writer may stand in one function.
    """

    def __init__(self, place: object) -> None:
        self.place = place
        self._names: dict[str, Any] = {"__builtins__": {}, "type": type, "len": len, "int": int, "tuple": tuple}
        self._known: dict[int, str] = {}  # the names, by the ids of what they stand for
        self._temporaries = 0
        self._given = "s"  # what a function of a part takes: the slots, and the items of lists that it stands within

    def run(self, part: Part) -> Evaluator:
        """Return the function of a part."""
        if part.read is not None:
            return part.read
        code = compile(f"lambda {self._given}: {part.text}", f"<{self.place}>", "eval")
        made: Evaluator = eval(code, self._names)  # noqa: S307 (it was written here: see above)
        return made

    def function(self, name: str, parameters: str, lines: Iterable[str]) -> Callable[..., Any]:
        """Return the function of lines, which are indented by 4 blanks for each block that they stand in."""
        text = "\n".join((f"def {name}({parameters}):", *(f"    {line}" for line in lines)))
        made: dict[str, Any] = {}
        exec(compile(text, f"<{self.place}>", "exec"), self._names, made)  # noqa: S102 (it was written here, too)
        function: Callable[..., Any] = made[name]
        function.__doc__ = text
        return function

    def frozen(self, part: Part) -> Part:
        """Return the value of a part, made immutable: that of a rule may not be."""
        if part.known or part.slot is not None:
            return part
        value = self.temporary()
        known, freeze_ = self.called(FROZEN, "FROZEN"), self.called(freeze)
        return self._part(f"({value} if type({value} := {part.text}) in {known} else {freeze_}({value}))", [part])

    def holds(self, part: Part, truth_of: Callable[[Any], bool]) -> str:
        """Return the condition that a part is true; ``truth_of`` says so, or raises, of what is neither."""
        value = self.temporary()
        return f"({value} := {part.text}) is True or ({value} is not False and {self.called(truth_of)}({value}))"

    # -- what expressions are made of --------------------------------------------------------------------------------

    def slot(self, number: int) -> Part:
        """Return what stands in a slot."""
        return Part(f"s[{number}]", 0, _UNKNOWN, itemgetter(number), number)

    def value(self, part: Part) -> Any:
        """Return the value of a part that reads nothing."""
        return self.run(part)(*[[]] * len(self._given.split(",")))

    def read(self, read: Evaluator) -> Part:
        """Return what a function gives of the slots."""
        return Part(f"{self.called(read)}(s)")

    def constant(self, value: Any) -> Part:
        """Return the part that is always ``value``."""
        plain = value is None or type(value) in (bool, int, str)
        return Part(repr(value) if plain and value != -(1 << 63) else self.called(value), 0, value)

    def call(self, function: Callable[..., Any], given: Iterable[Part], *, slots: bool = False) -> Part:
        """Return the call of a function with the parts as arguments, with the slots before them if it wants them."""
        parts = list(given)
        arguments = (["s"] if slots else []) + [part.text for part in parts]
        return self._part(f"{self.called(function)}({', '.join(arguments)})", parts)

    def sequence(self, given: list[Part]) -> Part:
        """Return the tuple of the parts."""
        text = f"({''.join(f'{part.text}, ' for part in given)})"
        slots = [part.slot for part in given if part.slot is not None]
        if len(slots) == len(given) > 1:
            return Part(text, 1, _UNKNOWN, itemgetter(*slots))
        return self._part(text, given)

    def mapped(self, keys: list[str], given: list[Part]) -> Part:
        """Return the Record of the parts under their keys."""
        pairs = ", ".join(f"{key!r}: {part.text}" for key, part in zip(keys, given, strict=True))
        return self._part(f"{self.called(Record)}({{{pairs}}})", given)

    def field(self, owner: Part, name: str, general: Callable[..., Any]) -> Part:
        """Return ``owner.name``."""
        field = self.called(FieldOf(name, general), "field")
        if owner.known or not name.isascii() or iskeyword(name):
            return self._part(f"{field}({owner.text})", [owner])
        value, there = self._once(owner)
        return self._part(f"({value}.{name} if type({there}) is {field}.known else {field}({value}))", [owner])

    def item(self, owner: Part, index: Part, general: Callable[..., Any]) -> Part:
        """Return ``owner[index]``."""
        if type(index.constant) is not int or index.constant < 0:
            return self.call(general, [owner, index])
        value, there = self._once(owner)
        number = index.constant
        short = f"{value}[{number}] if type({there}) is tuple and {number} < len({value})"
        return self._part(f"({short} else {self.called(general)}({value}, {number}))", [owner])

    @contextmanager
    def item_of_list(self) -> Iterator[Part]:
        """Give what stands for the item of a list in what is written within."""
        item, outside = self.temporary(), self._given
        self._given = f"{outside}, {item}"
        yield Part(item)
        self._given = outside

    def made_of(self, over: Part, item: Part, value: Part, condition: Part | None, made_of: Callable[..., Any]) -> Part:
        """Return the list of the values for those items of another of which the condition holds."""
        parts = [over, value] if condition is None else [over, value, condition]
        functions = "".join(f", lambda {item.text}: {part.text}" for part in parts[1:])
        return self._part(f"{self.called(made_of)}({over.text}{functions})", parts)

    # -- operators ---------------------------------------------------------------------------------------------------

    def choice(self, condition: Part, yes: Part, no: Part) -> Part:
        """Return one value or the other; only that one is worked out."""
        return self._part(f"({yes.text} if {condition.text} else {no.text})", [condition, yes, no])

    def negation(self, guard: Part) -> Part:
        """Return ``not``."""
        return self._part(f"(not {guard.text})", [guard])

    def chain(self, sign: str, guards: list[Part]) -> Part:
        """Return ``and`` or ``or`` of two or more guards, which are asked in order until one decides."""
        return self._part(f"({f' {sign} '.join(guard.text for guard in guards)})", guards)

    def equality(self, left: Part, right: Part, wanted: bool) -> Part:
        """Return ``==`` (``wanted`` true) or ``!=``."""
        if left.known:
            left, right = right, left
        sign, no = ("==", "") if wanted else ("!=", "not ")
        equal = self.called(typed_equal)
        if left.known:
            return self._part(f"({no}{equal}({left.text}, {right.text}))", [left, right])
        if right.constant is None or type(right.constant) is bool:
            return self._part(f"({left.text} {'is' if wanted else 'is not'} {right.text})", [left])
        first, there = self._once(left)
        if type(right.constant) in (int, str):
            kind = self.called(type(right.constant))
            short = f"{first} {sign} {right.text} if type({there}) is {kind}"
            return self._part(f"({short} else {no}{equal}({first}, {right.text}))", [left])
        second, here = self._once(right)
        direct, kind = self.called(DIRECT), self.temporary()
        short = f"{first} {sign} {second} if ({kind} := type({there})) is type({here}) and {kind} in {direct}"
        return self._part(f"({short} else {no}{equal}({first}, {second}))", [left, right])

    def membership(self, left: Part, right: Part, general: Callable[[Any, Any], bool]) -> Part:
        """Return ``in``."""

        def member(a: Any, b: Any) -> bool:
            if type(b) is tuple and len(b) <= SHORT and type(a) in UNMISTAKABLE:
                return a in b
            if type(b) is Range and type(a) is int:
                return b.low <= a <= b.high
            return general(a, b)

        return self.call(member, [left, right])

    def ordering(self, sign: str, left: Part, right: Part, general: Callable[[Any, Any], bool]) -> Part:
        """Return ``<``, ``<=``, ``>`` or ``>=``."""
        first, second, ints = self._two_ints(left, right)
        return self._part(
            f"({first} {sign} {second} if {ints} else {self.called(general)}({first}, {second}))", [left, right]
        )

    def calculation(self, sign: str, left: Part, right: Part, general: Callable[[Any, Any], Any]) -> Part:
        """Return ``+``, ``-`` or ``*``, of two ints at once if the result fits."""
        first, second, ints = self._two_ints(left, right)
        result = self.temporary()
        fits = f"{INTEGER_MIN} <= ({result} := {first} {sign} {second}) <= {INTEGER_MAX}"
        return self._part(
            f"({result} if {ints} and {fits} else {self.called(general)}({first}, {second}))", [left, right]
        )

    # -- names -------------------------------------------------------------------------------------------------------

    def _part(self, text: str, parts: Iterable[Part]) -> Part:
        """Return what is written of these parts; what is deep becomes a function of its own."""
        depth = 1 + max((part.depth for part in parts), default=0)
        return Part(text, depth) if depth <= DEEP else Part(f"{self.called(self.run(Part(text)))}({self._given})")

    def called(self, value: Any, word: str = "") -> str:
        """Return a name for something that the text mentions: a word, or its own name if it has one, and a number."""
        name = self._known.get(id(value))
        if name is None:
            own = word or getattr(value, "__name__", "")
            name = f"{own if own.isidentifier() and own.isascii() else 'k'}_{len(self._names)}"
            self._known[id(value)] = name
            self._names[name] = value
        return name

    def temporary(self) -> str:
        """Return a name for a value that is worked out on the way."""
        self._temporaries += 1
        return f"v{self._temporaries}"

    def _once(self, part: Part) -> tuple[str, str]:
        """Return a name for the value of a part, and the part where it gets the name: what is simple needs none."""
        if part.slot is not None or part.known:
            return part.text, part.text
        name = self.temporary()
        return name, f"({name} := {part.text})"

    def _two_ints(self, left: Part, right: Part) -> tuple[str, str, str]:
        """Return two values and what asks whether both are ints; both are worked out, the left one first."""
        first, there = self._once(left)
        second, here = self._once(right)
        if type(right.constant) is int:
            return first, second, f"type({there}) is int"
        return first, second, f"(type({there}) is int) & (type({here}) is int)"
