"""Rules made up for a role whose own are not there: each answers by what it promises, and by what its answer is for.

A rule that marks a player gives back who is marked; one that promises a list of the players gives that list; where an
answer goes into a field of a message it is drawn from the field's type; a condition is drawn too, a move mostly legal.
What only other rules look at is a `MadeUpState`: a number that every rule changes, and who is marked in it. The same
seed and the same call give the same answer, whenever it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from hashlib import sha256
from itertools import combinations
from random import Random
from types import ModuleType
from typing import Any, Final, NamedTuple

from machines import model
from machines.model import (
    Accept,
    Attribute,
    Binary,
    Binding,
    Branch,
    Call,
    Each,
    Expression,
    Handlers,
    Mapped,
    Name,
    Return,
    SendMessages,
    Spec,
    Type,
)
from machines.parser.loader import RulesError, rules_module
from machines.values import Peer, Record
from machines.verification.abstract.contracts import Contract, contracts_for
from runtime.players.random import RandomPlayer

LEGAL: Final = 0.9  # how often what a player says is within the rules
TRUE: Final = 0.25  # how often any other condition holds: a game comes to its end
NUMBER_MAX: Final = 3  # of what is reckoned with
CALLS_DEEP: Final = 4  # machines that hand on a name, one to another
TEXTS: Final = 50  # samples among which another text is looked for
GROUP: Final = 2  # players of a group


class MadeUpState(NamedTuple):
    """What stands for a state of a game: changed by every rule, with the players in it and those who are marked."""

    number: str
    peers: tuple[Peer, ...] = ()
    marked: tuple[Peer, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleUse:
    """What answers of a rule are for.

    ``kind``: legal or condition (a boolean), number, list, peer, peers, ranking and faults (of an outcome), field (of a
    ``type``), record (of ``fields``), or state.
    """

    kind: str
    type: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()


def promises(spec: Spec, allowed: Sequence[str]) -> dict[str, Contract]:
    """Return what those rules promise whose modules are shipped, or ``allowed`` and there."""
    modules = {}
    for name, _ in spec.rules:
        with suppress(RulesError):
            modules[name] = rules_module(spec, name, allowed)
    return contracts_for(spec, modules)


def made_up_rules(spec: Spec, seed: int, contracts: Mapping[str, Contract]) -> dict[str, ModuleType]:
    """Return a module for each that a spec names, with all rules that it calls."""
    uses = rule_uses(spec)
    found = {}
    for name, _ in spec.rules:
        module = ModuleType(name)
        rules = {
            path.partition(".")[2]: _rule(spec, seed, path, use, contracts.get(path))
            for path, use in uses.items()
            if path.startswith(f"{name}.")
        }
        vars(module).update(rules, __all__=list(rules))
        found[name] = module
    return found


def _rule(spec: Spec, seed: int, path: str, use: RuleUse, contract: Contract | None) -> Callable[..., Any]:
    def rule(*given: Any) -> Any:
        key = sha256(f"{seed} {path} {given!r}".encode()).hexdigest()
        chance = Random(key)
        peers = tuple(dict.fromkeys(_peers(given)))
        marked = tuple(dict.fromkeys(_marked(given)))
        about = given[contract.about] if contract is not None and 0 <= contract.about < len(given) else given
        if contract is not None and contract.kind != "none":
            return _promised(contract, about, MadeUpState(key[:12], peers, marked), chance, _other(spec, use, contract))
        return _used(spec, use, peers, marked, chance, key)

    return rule


def _used(spec: Spec, use: RuleUse, peers: tuple[Peer, ...], marked: tuple[Peer, ...], chance: Random, key: str) -> Any:
    """Return an answer of a rule that promises nothing."""
    match use.kind:
        case "legal":
            return chance.random() < LEGAL
        case "condition":  # where nobody is left to play with, nothing would ever change
            return (bool(peers) and len(set(peers) - set(marked)) < GROUP) or chance.random() < TRUE
        case "number":
            return chance.randint(1, NUMBER_MAX)
        case "peers":
            return tuple(peer for peer in peers if peer not in marked)
        case "peer":
            return chance.choice(tuple(peer for peer in peers if peer not in marked) or peers)
        case "list" | "points":
            return ()
        case "ranking":
            return tuple((peer,) for peer in peers if peer not in marked)
        case "faults":
            return marked
        case "record":
            player = RandomPlayer(spec, chance.getrandbits(32))
            return Record({name: player.value(wanted) for name, wanted in use.fields})
        case "field":
            assert use.type is not None, "a field has a type"
            return RandomPlayer(spec, chance.getrandbits(32)).value(use.type)
        case _:
            return MadeUpState(key[:12], peers, marked)


def _promised(contract: Contract, about: Any, before: MadeUpState, chance: Random, other: str) -> Any:
    """Return an answer of a rule that keeps its promise.

    ``before`` has the players that it was given, ``other`` is what one says that promises a text where it does not.
    """
    marked = before.marked
    named = tuple(dict.fromkeys(_peers((about,))))
    free = tuple(peer for peer in named if peer not in marked)
    match contract.kind:
        case "marks":
            return before._replace(marked=tuple(dict.fromkeys((*marked, *named))))
        case "unmarked" | "whether":
            return free == named
        case "clean":
            return not marked and chance.random() < LEGAL
        case "one":
            return chance.choice(free or named)
        case "all":
            return free
        case "marked":
            return tuple(peer for peer in named if peer in marked)
        case "some" | "others":
            wanted = contract.kind == "some"  # of one thing, the two rules say the same of each player
            return tuple(one for one in free if (Random(f"{about!r} {one.number}").random() < 0.5) is wanted)
        case "pairs":
            return tuple(combinations(named, 2))
        case "groups":
            cut = [free[at : at + GROUP] for at in range(0, len(free), GROUP)]
            return tuple(group for group in cut if len(group) == GROUP)
        case _:
            return contract.said if any(peer in marked for peer in named) else other


def _other(spec: Spec, use: RuleUse, contract: Contract) -> str:
    """Return a text that a rule may say and that is not the one it promises something about."""
    player = RandomPlayer(spec, 0)
    drawn = [player.value(use.type) for _ in range(TEXTS)] if use.type is not None else []
    return next((text for text in drawn if isinstance(text, str) and text != contract.said), f"not {contract.said}")


def _peers(value: Any) -> Iterator[Peer]:
    if isinstance(value, Peer):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _peers(item)
    elif isinstance(value, Mapping | Record):
        for item in value.values():
            yield from _peers(item)


def _marked(value: Any) -> Iterator[Peer]:
    if isinstance(value, MadeUpState):
        yield from value.marked
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _marked(item)
    elif isinstance(value, Mapping | Record):
        for item in value.values():
            yield from _marked(item)


# -- what answers are for ----------------------------------------------------------------------------------------------


def rule_uses(spec: Spec) -> dict[str, RuleUse]:
    """Return what the answers of each rule that a spec calls are for, as far as its text tells."""
    found: dict[str, RuleUse] = {}
    names: dict[str, RuleUse] = {}  # what a name goes into, by its last part
    for node in _nodes(spec.roles):
        match node:
            case SendMessages(receivers, messages, _):
                _note(found, names, receivers, RuleUse("peers"))
                for call in messages:
                    for field, value in zip(spec.messages[call.path].fields, _arguments(spec, call), strict=False):
                        _note(found, names, value, RuleUse("field", field.type))
            case Handlers(receive=receive):
                for choice in receive.values():
                    for branch in choice.branches:
                        _conditions(found, names, branch.guard, "legal")
            case Each(_, items, guard, until, _, _):
                _note(found, names, items, RuleUse("peers"))
                _conditions(found, names, guard, "condition")
                _conditions(found, names, until, "condition")
            case Accept(seats=seats):
                _note(found, names, seats, RuleUse("number"))
            case Binary("+", left, right) if isinstance(left, model.Sequence) or isinstance(right, model.Sequence):
                for side in (left, right):
                    _note(found, names, side, RuleUse("list"))
            case Return(outcome=Mapped(items)):
                for key, value in items:
                    _note(found, names, value, RuleUse(key))
            case Attribute(Call(), _):
                _note(found, names, node.of, RuleUse("peer"))
            case Binary(operator, left, right) if operator not in ("and", "or", "==", "!="):
                for side in (left, right):
                    _note(found, names, side, RuleUse("number"))
            case _:
                pass
    for node in _nodes(spec.roles):
        if isinstance(node, Branch):
            _conditions(found, names, node.guard, "condition")
    for _ in range(CALLS_DEEP):
        _name_arguments(spec, names)
    records = _records(spec, names)
    for node in _nodes(spec.roles):
        if isinstance(node, Binding):
            use = names.get(node.field or node.target) or records.get(node.target)
            if use is not None:
                _note(found, {}, node.value, use)
    for node in _nodes(spec.roles):
        if isinstance(node, Call) and "." in node.path:
            found.setdefault(node.path, RuleUse("state"))
    return found


def _arguments(spec: Spec, call: Call) -> Sequence[Expression]:
    """Return what a message is sent with: the names of its fields, where only the message is named."""
    if call.arguments is not None:
        return call.arguments
    return [Name(field.name, call.place) for field in spec.messages[call.path].fields]


def _name_arguments(spec: Spec, names: dict[str, RuleUse]) -> None:
    """Note of names that are given to a machine what its parameters are for."""
    for role in spec.roles.values():
        for node in _nodes(role.machines):
            if isinstance(node, Call) and node.path in role.machines:
                for name, value in zip(role.machines[node.path].parameters, node.arguments or (), strict=False):
                    if isinstance(value, Name) and name in names:
                        names.setdefault(value.name, names[name])


def _records(spec: Spec, names: Mapping[str, RuleUse]) -> dict[str, RuleUse]:
    """Return the names whose fields go into messages, with the types of those."""
    fields: dict[str, dict[str, Type]] = {}
    for node in _nodes(spec.roles):
        if isinstance(node, Attribute) and isinstance(node.of, Name):
            use = names.get(node.name)
            if use is not None and use.type is not None:
                fields.setdefault(node.of.name, {})[node.name] = use.type
    return {name: RuleUse("record", None, tuple(found.items())) for name, found in fields.items()}


def _note(found: dict[str, RuleUse], names: dict[str, RuleUse], expression: Any, use: RuleUse) -> None:
    match expression:
        case Call(path, _) if "." in path:
            found.setdefault(path, use)
        case Attribute(_, name):
            names.setdefault(name, use)
        case Name(name):
            names.setdefault(name, use)
        case _:
            pass


def _conditions(found: dict[str, RuleUse], names: dict[str, RuleUse], expression: Any, kind: str) -> None:
    match expression:
        case Binary("and" | "or", left, right):
            _conditions(found, names, left, kind)
            _conditions(found, names, right, kind)
        case Binary():
            pass
        case None:
            pass
        case _ if is_dataclass(expression) and hasattr(expression, "operand"):
            _conditions(found, names, expression.operand, kind)
        case _:
            _note(found, {}, expression, RuleUse(kind))


def _nodes(value: Any) -> Iterator[Any]:
    """Yield all that stands in a part of a spec, the outer before the inner."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _nodes(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _nodes(item)
    elif is_dataclass(value) and not isinstance(value, type):
        yield value
        for field in fields(value):
            yield from _nodes(getattr(value, field.name))


__all__ = ["MadeUpState", "RuleUse", "made_up_rules", "promises", "rule_uses"]
