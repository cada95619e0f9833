"""What rules promise about peers, so that the exploration need not take them for capable of anything.

The exploration never runs a rule. It knows by itself that a rule has no peer but those it was given. The rest is in
a table of its module, ``CONTRACTS``, or that of ``rules.contracts`` with the same name:

    CONTRACTS = {
        "eject(table, player)": "marks player",
        "playing(table, player)": "true only if player is unmarked",
    }

`FORMS` has all of them; `accord explain contracts` prints them.

A verdict says which contracts it rests on. `watched` holds a module of rules to its contracts while games are played.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from inspect import getmembers, isfunction
from itertools import combinations
from types import ModuleType
from typing import Any

from machines.model import Spec

_HEAD = re.compile(r"(\w+)\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Form:
    """A form of contract: what it is called here, how it is written, what it says of what a rule returns."""

    kind: str
    written: str
    says: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """What a contract of this form is: its last group is the argument that it is about, if it is about one."""
        return re.compile(re.sub(r"\bx\b", r"(\\w+)", self.written).replace("'text'", "'([^']+)'"))


FORMS = (
    Form(
        "marks", "marks x", "in it, and in all that is made of it, the peer x is marked: out, thrown out, an offender"
    ),
    Form("unmarked", "true only if x is unmarked", "it is true only if no peer of x is marked in any argument"),
    Form("whether", "whether x is unmarked", "it is true if no peer of x is marked in any argument, else false"),
    Form("clean", "true only if nobody is marked", "it is true only if no peer is marked in any argument"),
    Form("one", "one of x", "it is one peer of x that is not marked"),
    Form("all", "all of x", "it lists each peer of x that is not marked, once, in some order"),
    Form("marked", "marked of x", "it lists each marked peer of x, once"),
    Form("some", "some of x", "it lists some of the peers of x that are not marked, once each, in the order of x"),
    Form(
        "others",
        "others of x",
        "it lists those that `some of x`, by another rule of the module, leaves out, in that order",
    ),
    Form(
        "pairs",
        "pairs of x",
        "it lists each pair of peers of x once, the one that comes earlier in x first, in that order",
    ),
    Form(
        "groups",
        "groups of x",
        "it lists lists of two or more peers of x, unmarked, each in one at most, in the order of x",
    ),
    Form("text", "'text' if and only if x is marked", "it is that text if a peer of x is marked, and else another"),
    Form("none", "no peers", "it holds no peer at all, as a board or a name does not"),
)
DEPTH = 8  # how deep `watched` looks for peers in a value: a cup of series of games of pairs is 7 deep


class ContractError(Exception):
    """A table of contracts is written wrongly, or a rule broke one; the text says which."""


@dataclass(frozen=True, slots=True)
class Contract:
    """One contract of a rule: ``kind`` as in the table above, ``about`` the position of the argument it speaks of.

    ``text`` is how it is written, ``said`` the text that a rule returns.
    """

    rule: str
    kind: str
    about: int
    text: str
    said: str = ""


def contracts_of(module: str, table: Mapping[str, str]) -> dict[str, Contract]:
    """Read a module's table of contracts, by the names of its rules (``module.rule``).

    Raises:
        ContractError: an entry is not of a form listed above, or speaks of an argument that its rule does not name.
    """
    found: dict[str, Contract] = {}
    for head, text in table.items():
        named = _HEAD.fullmatch(head)
        if named is None:
            raise ContractError(f"{module}: {head!r} is not written like a call: rule(argument, argument)")
        arguments = [name.strip() for name in named[2].split(",") if name.strip()]
        for form in FORMS:
            match = form.pattern.fullmatch(text)
            if match is None:
                continue
            kind = form.kind
            about = match[match.lastindex] if match.lastindex is not None else None
            said = match[1] if kind == "text" else ""
            if about is not None and about not in arguments:
                raise ContractError(f"{module}: {head!r} names no argument {about!r}")
            rule = f"{module}.{named[1]}"
            found[rule] = Contract(
                rule, kind, arguments.index(about) if about is not None else -1, f"{head} {text}", said
            )
            break
        else:
            raise ContractError(
                f"{module}: {head!r} promises {text!r}, which is no contract (accord explain contracts has all of them)"
            )
    return found


def contracts_for(spec: Spec, rules: Mapping[str, ModuleType]) -> dict[str, Contract]:
    """Return what the rules of a spec promise. ``rules`` are its modules by the names it has for them.

    Raises:
        ContractError: a table is written wrongly.
    """
    found: dict[str, Contract] = {}
    for name, _ in spec.rules:
        module = rules.get(name)
        if module is not None:
            found.update(contracts_of(name, _table(module)))
    return found


def _table(module: ModuleType) -> Mapping[str, str]:
    """Return the table of a module: its own, or for those that are shipped that of the module beside it."""
    own = getattr(module, "CONTRACTS", None)
    if own is None and module.__name__.startswith("rules."):
        beside = f"rules.contracts.{module.__name__.removeprefix('rules.')}"
        if find_spec(beside) is not None:
            own = import_module(beside).CONTRACTS
    if own is None:
        return {}
    if not isinstance(own, Mapping) or not all(isinstance(text, str) for pair in own.items() for text in pair):
        raise ContractError(f"{module.__name__}: CONTRACTS is no table of texts")
    return own


# -- rules held to their contracts ------------------------------------------------------------------------------------


class Watch:
    """What was marked in values that rules returned; broken contracts raise."""

    def __init__(self) -> None:
        self._marks: dict[int, tuple[Any, frozenset[int]]] = {}
        self.kept = 0  # how often a contract was looked at, and kept
        self._some: dict[tuple[str, int], tuple[Any, frozenset[int]]] = {}

    def marks(self, values: Iterable[Any]) -> frozenset[int]:
        """Return who is marked in values, or in the lists and mappings they consist of."""
        found: frozenset[int] = frozenset()
        for value in values:
            kept = self._marks.get(id(value))
            if kept is not None:
                found |= kept[1]
            elif isinstance(value, tuple | list):
                found |= self.marks(value)
            elif isinstance(value, Mapping):
                found |= self.marks(value.values())
        return found

    def judge(self, contract: Contract | None, rule: str, arguments: tuple[Any, ...], result: Any) -> None:
        """Hold what a rule returned to its contract.

        Raises:
            ContractError: it broke it, or it returned a peer that it was not given.
        """
        marks = self.marks(arguments)
        peers = seats(result)
        strange = peers - seats(arguments)
        if strange:
            raise ContractError(f"{rule} returned a peer that it was not given: {sorted(strange)}")
        if contract is not None:
            about = arguments[contract.about] if contract.about >= 0 else None
            if contract.kind == "marks":
                marks |= seats(about)
            elif contract.kind == "text":
                if (result == contract.said) is not bool(seats(about) & marks):
                    raise ContractError(f"{contract.text}: not so, it returned {result!r}, marked {sorted(marks)}")
            elif not _keeps(contract.kind, about, arguments, result, marks, self._others(contract, about, result)):
                raise ContractError(
                    f"{contract.text}: not so, of {about!r} it returned {result!r}, marked {sorted(marks)}"
                )
            self.kept += 1
        if marks and not isinstance(result, bool | int | float | str | None):
            self._marks[id(result)] = (result, self._marks.get(id(result), (None, frozenset()))[1] | marks)

    def _others(self, contract: Contract, about: Any, result: Any) -> frozenset[int] | None:
        """Of the contracts ``some`` and ``others`` about one value: what the rule of the other contract returned."""
        if contract.kind not in ("some", "others"):
            return None
        self._some[contract.kind, id(about)] = (about, seats(result))
        other = self._some.get(("others" if contract.kind == "some" else "some", id(about)))
        return other[1] if other is not None else None


def _keeps(
    kind: str, about: Any, arguments: tuple[Any, ...], result: Any, marks: frozenset[int], other: frozenset[int] | None
) -> bool:
    unmarked = seats(about) - marks
    match kind:
        case "unmarked":
            return result is not True or not seats(about) & marks
        case "whether":
            return result is (not seats(about) & marks)
        case "clean":
            return result is not True or not marks & seats(arguments)
        case "one":
            return len(seats(result)) == 1 and seats(result) <= unmarked and seats((result,)) == set(_listed((result,)))
        case "all":
            return sorted(_listed(result)) == sorted(unmarked)
        case "marked":
            return sorted(_listed(result)) == sorted(seats(about) & marks)
        case "some" | "others":
            listed = _listed(result)
            in_order = [seat for seat in dict.fromkeys(_within(about)) if seat in listed]
            return set(listed) <= unmarked and listed == in_order and _split(listed, other, unmarked)
        case "pairs":
            return [tuple(_listed(pair)) for pair in result] == list(combinations(_listed(about), 2))
        case "groups":
            everybody = [seat for group in result for seat in _listed(group)]
            return (
                all(len(group) > 1 for group in result)
                and len(set(everybody)) == len(everybody)
                and set(everybody) <= unmarked
            )
    return kind == "none" and not seats(result)


def _split(listed: list[int], other: frozenset[int] | None, unmarked: frozenset[int]) -> bool:
    return other is None or (not other & set(listed) and other | set(listed) == unmarked)


def seats(value: Any) -> frozenset[int]:
    """Return the numbers of the peers in a value."""
    if isinstance(value, Mapping):
        return frozenset().union(*map(seats, value.values())) if value else frozenset()
    if isinstance(value, tuple | list) and any(isinstance(item, Mapping) for item in value):
        return frozenset().union(*map(seats, value))
    from machines.engine.actions import peers_in  # only games that are watched need the engine

    return frozenset(peers_in(tuple(value) if isinstance(value, list) else value, DEPTH))


def _within(value: Any) -> list[int]:
    from machines.engine.actions import peers_in

    return list(peers_in(value, DEPTH))


def _listed(value: Any) -> list[int]:
    from machines.engine.actions import peers_in

    return [seat for item in value for seat in peers_in(item, 0)]


def watched(module: ModuleType, contracts: Mapping[str, Contract], watch: Watch) -> ModuleType:
    """Return a module whose functions do what those of ``module`` do and are held to their contracts.

    ``contracts`` are by ``module.rule``, with the module's last name. What is marked is kept in ``watch``.
    """
    name = module.__name__.rpartition(".")[2]
    exported = getattr(module, "__all__", None) or [name for name, _ in getmembers(module, isfunction)]
    found = ModuleType(module.__name__, module.__doc__)
    for function in exported:
        value = getattr(module, function)
        if isfunction(value):
            setattr(found, function, _watched(value, f"{name}.{function}", contracts.get(f"{name}.{function}"), watch))
        else:
            setattr(found, function, value)
    found.__dict__["__all__"] = list(exported)
    return found


def _watched(function: Callable[..., Any], rule: str, contract: Contract | None, watch: Watch) -> Callable[..., Any]:
    def judged(*arguments: Any) -> Any:
        result = function(*arguments)
        watch.judge(contract, rule, arguments, result)
        return result

    judged.__name__ = function.__name__
    judged.__module__ = function.__module__
    judged.__doc__ = function.__doc__
    judged.__wrapped__ = function  # type: ignore[attr-defined]  # so that its arguments can be counted
    return judged
