"""Expressions over abstract values: what is known is computed, what is not becomes a term or is a choice.

`AbstractEvaluator.value` asks only which peer a rule, or an element of a list of peers, is: what else it cannot compute
is ``Unknown``. `AbstractEvaluator.holds` asks, for a condition has to be true or false; what was answered is kept, so
that the same question has the same answer until the step is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from itertools import combinations, permutations
from typing import Any

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
from machines.verification.abstract.comprehensions import made_list
from machines.verification.abstract.contracts import Contract
from machines.verification.abstract.domain import (
    FALSE,
    NOBODY,
    NUMBER_MAX,
    SOMETHING,
    TRUE,
    UNSET,
    AbstractError,
    ChoiceSequence,
    Fields,
    Flag,
    Infeasible,
    OtherThan,
    PeerRef,
    Range,
    Seats,
    Unknown,
    Value,
    bounded,
    clamped,
    flag,
    is_known,
    kind_differs,
    lifted,
    marks_in,
    seats_in,
    widened,
)

Look = Callable[[str], Value]


class AbstractEvaluator:
    """The expressions of one step of a role. ``contracts`` are those of its rules; ``gone`` tells of a peer."""

    def __init__(self, oracle: ChoiceSequence, contracts: Mapping[str, Contract], gone: Callable[[int], Value]) -> None:
        self.oracle = oracle
        self.contracts = contracts
        self.gone = gone
        self.field_of: Callable[[int, str], Value] | None = None  # what a sign-up gave a peer, UNSET if that is open
        self.facts: dict[Any, Value] = {}
        self.fresh = 0
        self.guessed = False  # whether a condition was asked of the oracle since this was last set
        self.used: set[str] = set()  # the contracts it rests on

    # -- values ------------------------------------------------------------------------------------------------------

    def lasting(self, value: Value) -> Value:
        """Return what is known of a value for longer than a step, UNSET if nothing is: a text, a small number, …"""
        value = self.known(value)
        if type(value) is Unknown:
            return OtherThan((None,)) if isinstance(value.term, tuple) and value.term[0] == SOMETHING else UNSET
        return value if value is None or isinstance(value, Flag | str | int) else UNSET

    def known(self, value: Value) -> Value:
        """Return a value with what has become known of it."""
        while type(value) is Unknown and value.term in self.facts:
            value = self.facts[value.term]
        return value

    def term(self, value: Value) -> Any:
        """Return what stands for a value within a term."""
        return _term(value)

    def value(self, expression: Expression, look: Look) -> Value:
        """Return the value of an expression. Raises Broken if it has none, whatever the data."""
        if isinstance(expression, Name):  # these two are nearly all there are
            return self.known(look(expression.name))
        if isinstance(expression, Call):
            return self._call(expression.path, tuple([self.value(each, look) for each in expression.arguments or ()]))
        match expression:
            case Constant(value):
                return lifted(value)
            case Sequence(items):
                return bounded(tuple([self.value(item, look) for item in items]))
            case Mapped(pairs):
                return bounded(Fields(tuple((key, self.value(item, look)) for key, item in pairs)))
            case Attribute(of, name):
                return self._attribute(self.value(of, look), name)
            case Item(of, index):
                return self._item(self.value(of, look), self.value(index, look))
            case Unary(operator, operand):
                return self._unary(operator, self.value(operand, look))
            case Binary(operator, left, right):
                return self._binary(operator, left, right, look)
            case Conditional(condition, yes, no):
                return self.value(yes if self.holds(condition, look) else no, look)
            case Comprehension():
                return made_list(self, expression, look)

    def _open(self, value: Value) -> Value:
        """Return a value of which only is known what it is not as some value, each time another."""
        if type(value) is not OtherThan:
            return value
        self.fresh += 1
        return Unknown(("another", self.fresh))

    def _attribute(self, of: Value, name: str) -> Value:
        of = self._open(of)
        kind = type(of)
        if kind is PeerRef:
            # Its number is its key in a mapping, so a text made of that may stand for it there.
            found = Unknown(("field", of, name), seats_in(of) if name == "number" else NOBODY)
            if self.field_of is not None and found.term not in self.facts:
                given = self.field_of(of.seat, name)
                if type(given) is OtherThan:
                    is_null = self.same(found, None)
                    if type(is_null) is Unknown:
                        self.facts[is_null.term] = FALSE
                elif given is not UNSET:
                    return given
            return self.known(found)
        if kind is Fields:
            found = of.get(name)
            if found is UNSET:
                raise AbstractError(
                    f"there is no {name!r} in a mapping of {', '.join(key for key, _ in of.items) or 'nothing'}"
                )
            return self.known(found)
        if kind is Unknown:
            return self.known(Unknown(("field", of.term, name), of.peers, of.marks))
        raise AbstractError(f"{shown(of)} has no {name!r}")

    def _item(self, of: Value, index: Value) -> Value:
        of, index = self._open(of), self._open(index)
        kind = type(of)
        if kind is tuple and type(index) is int:
            if not -1 < index < len(of):
                raise AbstractError(f"a list of {len(of)} has no element {index}")
            return self.known(of[index])
        if kind is Fields and type(index) is str:
            return self._attribute(of, index)
        if kind is tuple and of and _lists_peers(of):
            found = self.known(Unknown(("item", of, _term(index)), seats_in(of)))
            if type(found) is Unknown:  # whichever it is, it is one of them
                self.facts[found.term] = of[self.oracle.choose(len(of))]
            return self.known(found)
        if kind in (tuple, Fields, Unknown):
            return self.known(Unknown(("item", _term(of), _term(index)), seats_in(of), marks_in(of)))
        raise AbstractError(f"{shown(of)} has no elements")

    def _unary(self, operator: str, operand: Value) -> Value:
        operand = self._open(operand)
        if type(operand) is Unknown:
            return self.known(Unknown((operator, operand.term)))
        if operator == "not":
            if type(operand) is not Flag:
                raise AbstractError(f"'not' of {shown(operand)} has no value")
            return flag(not operand.value)
        return clamped(-operand) if type(operand) is int else -operand

    def _binary(self, operator: str, left_side: Expression, right_side: Expression, look: Look) -> Value:
        left = self.value(left_side, look)
        if operator in ("and", "or") and type(left) is Flag and left.value is (operator == "or"):
            return left
        right = self.value(right_side, look)
        match operator:
            case "and" | "or":
                if type(left) is Flag:
                    return right
                return self.known(Unknown((operator, _term(left), _term(right))))
            case "==" | "!=":
                same = self.same(left, right)
                return _negated(same) if operator == "!=" else same
        left, right = self._open(left), self._open(right)
        match operator:
            case "<" | "<=" | ">" | ">=":
                return self._ordered(operator, left, right)
            case "in":
                return self._within(left, right)
            case "..":
                return Range(left, right) if type(left) is type(right) is int else _made(operator, left, right)
            case "+" if type(left) is type(right) is tuple:
                return widened(left + right)
            case "except" if _lists_peers(left) and (type(right) is PeerRef or _lists_peers(right)):
                gone = right if type(right) is tuple else (right,)
                return tuple([one for one in left if one not in gone])
            case _:
                return self._reckoned(operator, left, right)

    def _reckoned(self, operator: str, left: Value, right: Value) -> Value:
        if type(left) is type(right) is int:
            return clamped(left + right if operator == "+" else left - right if operator == "-" else left * right)
        for one in (left, right) if operator in ("+", "-", "*") else ():
            if one is None or type(one) in (PeerRef, Flag, Fields):
                raise AbstractError(f"'{operator}' of {shown(left)} and {shown(right)} has no value")
        if operator == "+" and type(left) is type(right) is str:
            return Unknown(("text", left + right))
        return self.known(_made(operator, left, right))

    def same(self, left: Value, right: Value) -> Value:
        """Return whether two values are equal, as far as that is known."""
        if is_known(left) and is_known(right):
            return flag(left == right and type(left) is type(right))
        if kind_differs(left, right) or ((left is None or right is None) and SOMETHING in (_head(left), _head(right))):
            return FALSE
        if type(left) is type(right) is tuple and len(left) != len(right):
            return FALSE
        if left == right and type(left) is not OtherThan:
            return TRUE
        for one, other in ((left, right), (right, left)):
            if type(one) is OtherThan and other in one.excluded:
                return FALSE
        left, right = self._open(left), self._open(right)
        for one, other in ((left, right), (right, left)):
            if type(one) is PeerRef and type(other) is Unknown and one.seat not in other.peers:
                return FALSE
        first, second = sorted((_term(left), _term(right)), key=repr)
        return self.known(Unknown(("==", first, second)))

    def _ordered(self, operator: str, left: Value, right: Value) -> Value:
        if type(left) in (int, float) and type(right) in (int, float):
            less = left < right if operator in ("<", ">=") else right < left
            return flag(less) if operator in ("<", ">") else flag(not less)
        if type(left) in (PeerRef, Flag) or type(right) in (PeerRef, Flag) or left is None or right is None:
            raise AbstractError(f"'{operator}' of {shown(left)} and {shown(right)} has no value")
        first, second = (left, right) if operator in ("<", ">=") else (right, left)
        less_than = self.known(Unknown(("<", _term(first), _term(second))))
        return less_than if operator in ("<", ">") else _negated(less_than)

    def _within(self, item: Value, container: Value) -> Value:
        if type(container) is Range and type(item) is int:
            return flag(item in container)
        if type(container) is tuple and is_known(item) and is_known(container):
            return flag(item in container)
        if type(container) is tuple and (not container or all(self.same(item, one) is FALSE for one in container)):
            return FALSE
        if type(container) is Unknown and type(item) is PeerRef and item.seat not in container.peers:
            return FALSE
        return self.known(Unknown(("in", _term(item), _term(container))))

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, path: str, arguments: tuple[Value, ...]) -> Value:
        arguments = tuple([self._open(argument) for argument in arguments])
        if path == "gone":
            (peer,) = arguments
            return self.gone(peer.seat) if type(peer) is PeerRef else Unknown(("gone", _term(peer)))
        if path == "len":
            (of,) = arguments
            if type(of) is Range and len(of) <= NUMBER_MAX:
                return len(of)
            return len(of) if type(of) is tuple else self.known(Unknown(("len", _term(of))))
        term = ("call", path, *map(_term, arguments))
        if term in self.facts:
            return self.facts[term]
        peers = seats_in(*arguments)
        marks = marks_in(*arguments)
        contract = self.contracts.get(path)
        if contract is None:
            return Unknown(term, peers, marks)
        found = self._promised(contract, arguments, term, peers, marks)
        if type(found) is not Unknown:
            self.facts[term] = found
        return found

    def _promised(
        self, contract: Contract, arguments: tuple[Value, ...], term: Any, peers: Seats, marks: frozenset[int]
    ) -> Value:
        self.used.add(contract.text)
        about = arguments[contract.about] if contract.about >= 0 else None
        whose = seats_in(about)
        unmarked = [seat for seat in whose if seat not in marks]
        peers_left = tuple(map(PeerRef, unmarked))
        match contract.kind:
            case "marks":
                return Unknown(term, peers, marks.union(whose))
            case "unmarked":
                return Unknown(term) if marks.isdisjoint(whose) else FALSE
            case "whether":
                return flag(marks.isdisjoint(whose))
            case "text":
                if not marks.isdisjoint(whose):
                    return contract.said
                found = Unknown(term)
                self.facts[self.same(found, contract.said).term] = FALSE
                return found
            case "clean":
                return Unknown(term) if marks.isdisjoint(peers) else FALSE
            case "one":
                return PeerRef(unmarked[self.oracle.choose(len(unmarked))])
            case "all":
                return self._one_of(permutations(peers_left))
            case "marked":
                return tuple(PeerRef(seat) for seat in whose if seat in marks)
            case "some":
                every = [some for size in range(len(peers_left) + 1) for some in combinations(peers_left, size)]
                chosen: tuple[PeerRef, ...] = self._one_of(every)
                self.facts["some", _term(about)] = chosen
                return chosen
            case "others":
                every = [some for size in range(len(peers_left) + 1) for some in combinations(peers_left, size)]
                known = self.facts.get(("some", _term(about)))
                if known is None:
                    known = self.facts["some", _term(about)] = self._one_of(every)
                return tuple(peer for peer in peers_left if peer not in known)
            case "pairs":
                return tuple((PeerRef(one), PeerRef(other)) for one, other in combinations(whose, 2))
            case "groups":
                return self._one_of(parted for parted in _groups(peers_left) if all(len(group) > 1 for group in parted))
        return Unknown(term, NOBODY, marks)

    def _one_of(self, options: Any) -> Any:
        listed = list(options)
        return listed[self.oracle.choose(len(listed))]

    # -- conditions --------------------------------------------------------------------------------------------------

    def holds(self, expression: Expression, look: Look) -> bool:
        """Return whether a condition holds; asks the oracle if it may either way. Raises Broken if it is none."""
        if isinstance(expression, Binary | Unary):
            match expression:
                case Binary("and", left, right):
                    return self.holds(left, look) and self.holds(right, look)
                case Binary("or", left, right):
                    return self.holds(left, look) or self.holds(right, look)
                case Unary("not", operand):
                    return not self.holds(operand, look)
        return self.decided(self.value(expression, look))

    def decided(self, value: Value) -> bool:
        """Return whether a value is true; asks the oracle if it may be either."""
        value = self.known(value)
        if type(value) is Flag:
            return value.value
        if type(value) is not Unknown:
            raise AbstractError(f"true or false is needed, not {shown(value)}")
        term = value.term
        if isinstance(term, tuple) and term[0] == "not":
            return not self.decided(Unknown(term[1]))
        self.guessed = True
        answer = self.oracle.choose(2) == 0
        self.facts[term] = flag(answer)
        if answer and isinstance(term, tuple) and term[0] == "==":
            self._equated(term[1], term[2])
        return answer

    def _equated(self, left: Any, right: Any) -> None:
        """Two terms are equal: what one of them is known to be, so is the other."""
        for one, other in ((left, right), (right, left)):
            if isinstance(one, _Open) and not isinstance(other, _Open) and one.term not in self.facts:
                self.facts[one.term] = other
                return

    # -- peers -------------------------------------------------------------------------------------------------------

    def peer(self, value: Value) -> int:
        """Return the seat of a value that has to be a peer; some value is any of the peers within it."""
        value = self.known(value)
        if type(value) is PeerRef:
            return value.seat
        if type(value) is Unknown and value.peers:
            seats = value.peers
            found = PeerRef(seats[self.oracle.choose(len(seats))])
            self.facts[value.term] = found
            return found.seat
        what = f"{shown(value)} without a peer in it" if type(value) is Unknown else shown(value)
        raise AbstractError(f"{what} is no peer")

    def group(self, value: Value) -> tuple[tuple[int, ...], bool]:
        """Return the seats of a peer or of a list of peers, and whether it was a list."""
        value = self.known(value)
        if type(value) is tuple:
            return tuple(map(self.peer, value)), True
        return (self.peer(value),), False

    def receivers(self, value: Value) -> tuple[int, ...]:
        """Return the seats that are sent to or dropped: of some value, any of the peers within it, or some of them."""
        value = self.known(value)
        may_be_none = type(value) is Unknown and isinstance(value.term, tuple) and value.term[:2] in _LISTS
        if may_be_none and not value.peers:
            return ()
        if type(value) is Unknown and value.peers:
            seats = value.peers
            if may_be_none and self.oracle.choose(2) == 1:
                return ()
            chosen: tuple[int, ...] = self._one_of(
                [some for size in range(1, len(seats) + 1) for some in combinations(seats, size)]
            )
            self.facts[value.term] = tuple(map(PeerRef, chosen)) if len(chosen) > 1 else PeerRef(chosen[0])
            return chosen
        return self.group(value)[0]

    # -- facts ---------------------------------------------------------------------------------------------------------

    def kept(
        self, numbers: Mapping[Any, int], asked: Set[str], parting: frozenset[str], met: Mapping[int, None]
    ) -> frozenset[tuple[Any, Value]]:
        """Return the facts about values that have a number now, in terms of these; of rules only what may be asked.

        ``asked`` are the rules that may still be called before the step is over, ``parting`` those that contract some
        of a list, or the others, ``met`` the peers that somebody speaks of.
        """
        found = []
        for term, value in self.facts.items():
            if not isinstance(term, tuple):
                continue
            head = term[0]
            if head == "call":
                if term[1] not in asked:
                    continue
            elif head == "gone":
                if "gone" not in asked or (type(term[1]) is PeerRef and term[1].seat not in met):
                    continue
            elif head == "some" and parting.isdisjoint(asked):
                continue
            rewritten = _in_numbers(term, numbers)
            if rewritten is not None:
                found.append((rewritten, value))
        return frozenset(found)


# Functions that make lists: of what is not known, one may have nobody in it.
_LISTS = frozenset(("call", name) for name in ("column", "for", "get", "head", "tail", "values", "where"))


def _in_numbers(term: Any, numbers: Mapping[Any, int]) -> Any:
    """Return a term with the terms within it as numbers; None if one of them has no number."""
    if isinstance(term, _Open):
        number = numbers.get(term.term)
        return _Open((number,)) if number is not None else None
    if isinstance(term, tuple):
        parts = [_in_numbers(part, numbers) if isinstance(part, tuple) else part for part in term]
        return (
            None
            if any(part is None and given is not None for part, given in zip(parts, term, strict=True))
            else tuple(parts)
        )
    return term


class _Open(tuple[Any, ...]):
    """The term of a value that is not known, within another term."""

    __slots__ = ()

    @property
    def term(self) -> Any:
        return self[0]


def _head(value: Value) -> Any:
    return value.term[0] if type(value) is Unknown and isinstance(value.term, tuple) else None


def _term(value: Value) -> Any:
    return _Open((value.term,)) if type(value) is Unknown else value


def _lists_peers(value: Value) -> bool:
    return type(value) is tuple and all(type(one) is PeerRef for one in value)


def _made(operator: str, left: Value, right: Value) -> Unknown:
    return Unknown((operator, _term(left), _term(right)), seats_in(left, right), marks_in(left, right))


def _negated(value: Value) -> Value:
    if type(value) is Flag:
        return flag(not value.value)
    return Unknown(("not", value.term))


def shown(value: Value) -> str:
    """Return a value as people know it: what it is, or what kind of value, never how it is kept here."""
    match value:
        case PeerRef():
            return "a peer"
        case tuple():
            return f"[{', '.join(map(shown, value))}]"
        case Fields(items):
            return f"{{{', '.join(f'{key}: {shown(item)}' for key, item in items)}}}"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case None:
            return "null"
        case Flag() | int() | float():
            return str(value)
        case Range(low, high):
            return f"{low}..{high}"
        case _ if value is UNSET:
            return "no value"
    return "some value"


def _groups(peers: tuple[PeerRef, ...]) -> list[tuple[tuple[PeerRef, ...], ...]]:
    """Return every way to put peers, or some of them, into groups that keep their order."""
    if not peers:
        return [()]
    first, rest = peers[0], peers[1:]
    found = []
    for others in _groups(rest):
        found.append(others)
        found.append(((first,), *others))
        found.extend((*others[:at], (first, *others[at]), *others[at + 1 :]) for at in range(len(others)))
    return found


__all__ = ["AbstractEvaluator", "Infeasible"]
