"""Checks of kinds: what a setting, a literal, a field or a name surely is, and whether its place can take that.

    A340  a value of a kind that its place never takes
    A341  a comparison of two kinds that never compare

Settings have their kind, names that only fields bind those of the declared types. Parameters, what ``let`` and ``as``
bind, items of lists, fields and what rules return are unknown, and what is unknown, or only perhaps wrong, is no
problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from machines.analysis.newcomers import seated_alone
from machines.analysis.scopes import bindings
from machines.analysis.traversal import all_branches, all_choices, all_steps, machine_expressions
from machines.expressions.signatures import ARGUMENTS
from machines.expressions.signatures import said as said_kinds
from machines.expressions.unparse import show
from machines.model import (
    Attribute,
    Binary,
    Call,
    Comprehension,
    Conditional,
    Constant,
    DropPeers,
    Enumeration,
    Expression,
    Handlers,
    Interval,
    Item,
    ListType,
    Machine,
    MapOf,
    Mapped,
    Name,
    Named,
    ObjectType,
    Pattern,
    Scalar,
    Secure,
    SendMessages,
    Sequence,
    Spec,
    TupleType,
    Type,
    TypeDeclaration,
    Unary,
    Union,
)
from machines.parser.context import joined
from machines.parser.settings import parse_duration
from machines.problems import Place, Problems, near
from machines.values import Range, Rate

Kinds = frozenset[str]

_SAID = {
    "int": "a whole number",
    "fraction": "a number",
    "duration": "a duration",
    "text": "a text",
    "bool": "true or false",
    "null": "null",
    "list": "a list",
    "mapping": "a mapping",
    "range": "a range",
    "rate": "a rate",
    "peer": "a peer",
}
_LENGTHS = frozenset({"length", "len", "size", "count"})
_INT = frozenset({"int"})
_NUMBER = frozenset({"int", "fraction"})
_NUMERIC = frozenset({"int", "fraction", "duration"})
_TEXT = frozenset({"text"})
_BOOL = frozenset({"bool"})
_LIST = frozenset({"list"})
_ITEMS = frozenset({"list", "range", "mapping"})
_HOLDING = frozenset({"list", "range", "mapping", "text"})
_PEERS = frozenset({"peer", "list", "null"})
_SPAN = frozenset({"int", "range"})
_OF_SETTING = {"number": "fraction"}
_OF_SCALAR = {"string": _TEXT, "int": _INT, "number": _NUMBER, "bool": _BOOL, "null": frozenset({"null"}), "any": None}
_OF_FUNCTION: dict[str, Kinds] = {
    **dict.fromkeys(("gone", "any", "all"), _BOOL),
    **dict.fromkeys(("keys", "values", "sorted", "column", "where", "split"), _LIST),
    **dict.fromkeys(("str", "join", "lower", "upper"), _TEXT),
    **dict.fromkeys(("base64", "unbase64"), _TEXT | {"null"}),
    "len": _INT,
    "round": _INT,
    "int": frozenset({"int", "null"}),
    "sum": frozenset({"int", "fraction", "duration"}),
}
REASONS = ("late", "malformed", "unknown", "unexpected", "illegal", "limit", "early", "closed", "failed", "returned")
_COMPARED = ("==", "!=")
_ORDERED = ("<", "<=", ">", ">=")

_TRUTH = "there is no truthiness: compare it with something"
_SECONDS = "a duration like 5 s, a setting that is one, or an expression that gives seconds"
_SEATS = "a range like 2..5, a whole number, or a setting that is one of them"


def check_kinds(spec: Spec, machine: Machine, problems: Problems) -> None:
    """A340: a value is of a kind that its place never takes.

    A341: two values are compared that are of kinds that never compare.
    """
    _Kinds(spec, machine, problems).check()


def kinds_of_type(type_: Type, types: Mapping[str, TypeDeclaration]) -> Kinds | None:
    """Return the kinds that values of a type have, None if they may have any."""
    match type_:
        case Scalar(kind):
            return _OF_SCALAR[kind]
        case Named(name):
            return kinds_of_type(types[name].type, types) if name in types else None
        case Union(members):
            return _either(kinds_of_type(member, types) for member in members)
        case Enumeration(values):
            return _either(_of_value(value) for value in values)
        case Interval():
            return _INT
        case Pattern():
            return _TEXT
        case TupleType() | ListType():
            return _LIST
        case ObjectType() | MapOf():
            return frozenset({"mapping"})


def _either(found: Iterable[Kinds | None]) -> Kinds | None:
    every: set[str] = set()
    for kinds in found:
        if kinds is None:
            return None
        every |= kinds
    return frozenset(every)


def _of_value(value: object) -> Kinds | None:
    match value:
        case bool():
            return _BOOL
        case int():
            return _INT
        case float():
            return frozenset({"fraction"})
        case str():
            return _TEXT
        case None:
            return frozenset({"null"})
        case Rate():
            return frozenset({"rate"})
        case Range():
            return frozenset({"range"})
        case _:
            return None


class _Kinds:
    def __init__(self, spec: Spec, machine: Machine, problems: Problems) -> None:
        self.spec = spec
        self.machine = machine
        self.problems = problems
        self.names: dict[str, Kinds | None] = {"seed": _INT, "elapsed": frozenset({"duration"}), "reason": _TEXT}
        self.names.update(dict.fromkeys(spec.connects.get(machine.role, ()), frozenset({"peer"})))
        for setting in spec.settings.values():
            self.names[setting.name] = frozenset({_OF_SETTING.get(setting.kind, setting.kind)})
        self._fields()

    # -- what names are ----------------------------------------------------------------------------------------------

    def _fields(self) -> None:
        """Give each name that only fields bind the kinds of their types; one that anything else binds is unknown."""
        events = {place: event for event, place in self._received()}
        fields: dict[str, list[Kinds | None]] = {}
        for received in events.values():
            for field in self.spec.messages[received].fields:
                fields.setdefault(field.name, []).append(kinds_of_type(field.type, self.spec.types))
        self.names.update((name, _either(found)) for name, found in fields.items())
        brought = {event: {field.name for field in self.spec.messages[event].fields} for event in set(events.values())}
        for name, place in bindings(self.machine, self.spec):
            if name not in brought.get(events.get(place, ""), ()):
                self.names[name] = None
        for name in (*self.machine.parameters, "peer", "result"):
            self.names[name] = None
        for name in seated_alone(self.machine, self.spec) - set(self.machine.parameters):
            self.names[name] = _LIST

    def _received(self) -> Iterator[tuple[str, Place]]:
        for event, choice in all_choices(self.machine):
            if event in self.spec.messages:
                yield event, choice.place

    def kinds(self, expression: Expression) -> Kinds | None:
        """Return the kinds that a value of an expression may have, None if nothing is known of it."""
        match expression:
            case Constant(value):
                return _of_value(value)
            case Name(name):
                return self.names.get(name)
            case Conditional(_, yes, no):
                one, other = self.kinds(yes), self.kinds(no)
                return None if one is None or other is None else one | other
            case Call("head" | "tail", (whole, *_)):
                return self._cut(self.kinds(whole))
            case Call(path) if path in _OF_FUNCTION:
                return _OF_FUNCTION[path]
            case Sequence() | Comprehension():
                return _LIST
            case Mapped():
                return frozenset({"mapping"})
            case Unary("not"):
                return _BOOL
            case Unary(_, operand):
                return _INT if self.kinds(operand) == _INT else _NUMBER
            case Binary(".."):
                return frozenset({"range"})
            case Binary("+", left, right):
                return self._sum(self.kinds(left), self.kinds(right))
            case Binary("except"):
                return None
            case Binary("-" | "*", left, right):
                both = self.kinds(left), self.kinds(right)
                return _INT if all(kinds is not None and kinds <= _INT for kinds in both) else _NUMBER
            case Binary():
                return _BOOL
            case _:
                return None

    def _cut(self, whole: Kinds | None) -> Kinds | None:
        """Return what a part of a list or text may be."""
        if whole is None:
            return None
        return (_TEXT if "text" in whole else frozenset()) | (_LIST if whole & {"list", "range"} else frozenset())

    def _sum(self, left: Kinds | None, right: Kinds | None) -> Kinds | None:
        if left is None or right is None:
            return None
        found: set[str] = set()
        if left & _NUMERIC and right & _NUMERIC:
            found |= _INT if (left | right) & _NUMERIC == _INT else _NUMBER
        return frozenset(found | (left & right & {"text", "list"}))

    # -- what their places take --------------------------------------------------------------------------------------

    def check(self) -> None:
        machine = self.machine
        for expression in machine_expressions(machine, self.spec.messages):
            self._inside(expression)
        if machine.always is not None:
            self._waits(machine.always.awaits, machine.always.within, machine.always.answers)
        for state in machine.states.values():
            self._waits(state.awaits, state.within, state.answers)
            if state.each is not None:
                each = state.each
                self._takes(each.items, _ITEMS, "'each' goes through a list or a range", "like each: n in 1..3")
                self._truth(each.guard, "'if'")
                self._truth(each.until, "'until'")
                self._takes(each.parallel, _INT, "'parallel' takes a whole number", "how many items run at once")
            if state.accept is not None:
                self._takes(state.accept.seats, _SPAN, "'seats' takes a range or a whole number", _SEATS)
                self._no_span(state.accept.seats)
                self._seconds(state.accept.linger, "'linger'")
        for _, choice in all_choices(machine):
            for branch in all_branches(choice):
                self._truth(branch.guard, "'if'")
        for step in all_steps(machine):
            if isinstance(step, Secure | DropPeers):
                word = "secure" if isinstance(step, Secure) else "drop"
                self._takes(step.peers, _PEERS, f"{word!r} takes a peer or a list of peers", "name the peer")
            elif isinstance(step, SendMessages):
                self._takes(step.receivers, _PEERS, "a message is sent to a peer or a list of peers", "name the peer")
                for call in step.messages:
                    self._sent(call)

    def _no_span(self, seats: Expression | None) -> None:
        """Tell `2-8`, which is a number below nothing."""
        match seats:
            case Binary("-", Constant(low), Constant(high)):
                text = f"'seats' takes a range or a whole number, and {low} - {high} is {low - high}"
                self.problems.add(seats.place, "A340", text, f"a range is written {low}..{high}")

    def _waits(self, awaits: Expression | None, within: Expression | None, answers: Handlers) -> None:
        self._takes(awaits, _PEERS, "'await' takes a peer or a list of peers", "name the peer")
        self._seconds(within, "'within'")
        for word, moments in (("'after'", answers.after), ("'every'", answers.every)):
            for moment in moments:
                self._seconds(moment.wait, word)
        for condition in answers.when:
            self._truth(condition.wait, "'when'")

    def _sent(self, call: Call) -> None:
        """Compare what a message is made of with the types of its fields."""
        message = self.spec.messages.get(call.path)
        given = call.arguments
        for index, field in enumerate(message.fields if message is not None else ()):
            value: Expression = Name(field.name, call.place)
            if given is not None:
                if index >= len(given):
                    return  # told by the reader
                value = given[index]
            takes = kinds_of_type(field.type, self.spec.types)
            kinds = self.kinds(value)
            if takes is None or kinds is None or not kinds <= _NUMERIC | _TEXT | _BOOL | {"null", "range", "rate"}:
                continue
            wider = takes | _NUMERIC if takes & _NUMERIC else takes
            text = f"the field {field.name!r} of {call.path} takes {said(takes)}"
            self._takes(value, wider, text, "give it what its type says, or change the type")

    def _seconds(self, expression: Expression | None, word: str) -> None:
        # What is null is told by the reader, or may be something else by the time it is used.
        hint = _SECONDS
        setting = self.spec.settings.get(expression.name) if isinstance(expression, Name) else None
        if setting is not None and setting.kind == "text" and parse_duration(str(setting.value)) is not None:
            hint = f"the quotes make the setting {setting.name!r} a text: write {setting.name}: {setting.value}"
        self._takes(expression, _NUMERIC | {"null"}, f"{word} takes a duration", hint)

    def _truth(self, expression: Expression | None, word: str) -> None:
        self._takes(expression, _BOOL, f"{word} takes true or false", _TRUTH)

    def _takes(self, expression: Expression | None, allowed: Kinds, text: str, hint: str) -> None:
        kinds = self.kinds(expression) if expression is not None else None
        if expression is not None and kinds and not kinds & allowed:
            self.problems.add(expression.place, "A340", f"{text}, and {_shown(expression, kinds)}", hint)

    def _inside(self, expression: Expression) -> None:
        """Look at what the operators of an expression are given, from the inside out."""
        match expression:
            case Attribute(of, field):
                self._inside(of)
                self._field(expression, show(of), self.kinds(of), field)
            case Item(of, index):
                self._inside(of)
                self._inside(index)
            case Call(path, arguments):
                for argument in arguments or ():
                    self._inside(argument)
                self._given(path, arguments or ())
            case Sequence(items):
                for item in items:
                    self._inside(item)
            case Mapped(pairs):
                for _, item in pairs:
                    self._inside(item)
            case Unary(operator, operand):
                self._inside(operand)
                if operator == "not":
                    self._truth(operand, "'not'")
                else:
                    self._takes(operand, _NUMERIC, "'-' takes a number", "nothing is converted")
            case Conditional(condition, yes, no):
                self._inside(condition)
                self._truth(condition, "'if'")
                self._inside(yes)
                self._inside(no)
            case Comprehension(value, _, over, asked):
                for part in (over, value, *([asked] if asked is not None else ())):
                    self._inside(part)
                self._takes(over, _LIST | {"range"}, "'for' goes through a list or a range", "like for n in 1..3")
                self._truth(asked, "'if'")
            case Binary(operator, left, right):
                self._inside(left)
                self._inside(right)
                self._operands(operator, left, right)

    def _field(self, read: Attribute, of: str, kinds: Kinds | None, field: str) -> None:
        """Tell a field of what surely has none: a list, a text, a number."""
        if not kinds or kinds & {"peer", "mapping", "null"}:
            return
        hint = f"a text or number is read by its name alone: {of}"
        if field.lower() in _LENGTHS:
            hint = f"how long it is: len({of})"
        elif kinds == _LIST:
            hint = f"column({of}, '{field}') has that of each, {of}[0].{field} that of the first"
        what = said(kinds)
        self.problems.add(read.place, "A340", f"{of} is {what}, and {what} has no field {field!r}", hint)

    def _given(self, path: str, arguments: tuple[Expression, ...]) -> None:
        """Compare what a function is given with what it takes."""
        for argument, taken in zip(arguments, ARGUMENTS.get(path, ()), strict=False):
            if taken:
                kinds = taken - {"number"} | (_NUMERIC if "number" in taken else frozenset())
                self._takes(argument, kinds, f"'{path}' takes {said_kinds(taken)}", "nothing is converted")

    def _operands(self, operator: str, left: Expression, right: Expression) -> None:
        if operator in ("and", "or"):
            self._truth(left, f"'{operator}'")
            self._truth(right, f"'{operator}'")
        elif operator in ("-", "*", ".."):
            for operand in (left, right):
                self._takes(operand, _NUMERIC, f"'{operator}' takes two numbers", "nothing is converted")
        elif operator == "in":
            text = "'in' asks a list, a range, a mapping or a text"
            self._takes(right, _HOLDING, text, "for one value, write ==")
        elif operator in (*_COMPARED, *_ORDERED, "+"):
            self._reason(left, right)
            self._reason(right, left)
            self._pair(operator, left, right)

    def _reason(self, left: Expression, right: Expression) -> None:
        word = right.value if isinstance(right, Constant) else None
        if isinstance(left, Name) and left.name == "reason" and isinstance(word, str) and word not in REASONS:
            hint = near(word, REASONS) or f"it is one of: {', '.join(REASONS)}"
            self.problems.add(right.place, "A341", f"'reason' is never {word!r}", hint)

    def _pair(self, operator: str, left: Expression, right: Expression) -> None:
        a, b = self.kinds(left), self.kinds(right)
        if not a or not b or (isinstance(left, Constant) and isinstance(right, Constant)):
            return  # two literals say what they are
        if operator in _COMPARED:
            null = frozenset({"null"})
            fits = bool(_grouped(a) & _grouped(b)) or null in (a, b)
            said_ = f"this is {'never' if operator == '==' else 'always'} true"
        elif operator == "+":
            fits = bool(_grouped(a) & _grouped(b) & {"int", "text", "list"})
            said_ = "'+' takes two numbers, two texts or two lists"
        else:
            fits = bool(_grouped(a) & _grouped(b) & {"int", "text"})
            said_ = f"'{operator}' takes two numbers or two texts"
        if not fits:
            text = f"{said_}: {_shown(left, a)}, {_shown(right, b)}"
            self.problems.add(left.place, "A341", text, "nothing is converted: write both as one kind")


def _grouped(kinds: Kinds) -> Kinds:
    """Return kinds with all kinds of numbers as one."""
    return kinds - _NUMERIC | _INT if kinds & _NUMERIC else kinds


def _shown(expression: Expression, kinds: Kinds) -> str:
    return f"{show(expression)} is {said(kinds)}"


def said(kinds: Kinds) -> str:
    """Return kinds as a sentence says them."""
    shown = kinds - {"int"} if "fraction" in kinds else kinds
    return joined((text for kind, text in _SAID.items() if kind in shown), "or")
