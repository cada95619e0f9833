"""Names with values of every kind, and scopes that read them in every way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from operator import itemgetter
from typing import Any, NamedTuple

from machines.expressions.compiler import TOTAL, Evaluator, fixed
from machines.expressions.operations import INTEGER_MAX, INTEGER_MIN, LENGTH_MAX
from machines.expressions.parser import parse
from machines.model import Call, Expression, Name
from machines.problems import Place, Problems
from machines.values import Peer, Range, Rate, Record

HERE = Place("spec.yaml", 7, 11)
NEVER = float("inf")


class Token(StrEnum):
    WHITE = "white"


class Level(IntEnum):
    LOW = 1


class Side(Enum):
    LEFT = "left"


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Offer:
    rails: int
    cards: list[str]
    _hidden: int = 0

    def total(self) -> int:
        return self.rails


ann = Peer(0, Record(name="ann", token="red", number="seven"))
bob = Peer(1, Record(name="bob", token="blue"))

VALUES: dict[str, Any] = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "unit": 1.0,
    "half": 0.5,
    "yes": True,
    "no": False,
    "nothing": None,
    "never": NEVER,
    "most": INTEGER_MAX,
    "least": INTEGER_MIN,
    "red": "red",
    "empty": "",
    "ann": ann,
    "ann_again": Peer(0, Record(name="renamed")),
    "bob": bob,
    "players": (ann, bob),
    "pair": (1, 2),
    "floats": (1.0, 2.0),
    "flags": (True, False),
    "mixed": (None, 1, "red", (1, (True,))),
    "listed": [1, 2],
    "record": Record(a=1, b=Record(c=(2, None))),
    "other": Record(b=Record(c=(2.0, None)), a=1.0),
    "flagged": Record(a=True, b=Record(c=(2, None))),
    "seats": Range(3, 5),
    "rate": Rate(10, 1.0),
    "white": Token.WHITE,
    "low": Level.LOW,
    "left": Side.LEFT,
    "point": Point(3, 4),
    "offer": Offer(3, ["red", "blue"]),
    "long_text": "x" * LENGTH_MAX,
    "long_list": (0,) * LENGTH_MAX,
}
ORDER = list(VALUES)
SLOTS = list(VALUES.values())


def both(left: Any, right: Any) -> tuple[Any, Any]:
    return left, right


def listed(*items: Any) -> list[Any]:
    return list(items)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **TOTAL,
    "rules.both": both,
    "rules.list": listed,
    "rules.count": lambda *arguments: len(arguments),
}


@dataclass
class Names:
    """A scope over VALUES: names read from slots in place, by closures of their own, or known when compiling."""

    how: str

    def name(self, name: Name) -> Evaluator:
        value = VALUES[name.name]
        if self.how == "slots":
            return itemgetter(ORDER.index(name.name))
        if self.how == "closures":
            return lambda slots: value
        return fixed(value)

    def call(self, call: Call) -> tuple[Callable[..., Any], bool]:
        if call.path == "gone":
            return (lambda slots, peer, *more: slots is SLOTS and peer is bob and not more), True
        if call.path == "seed":
            return (lambda slots, *more: (len(slots), *more)), True
        return FUNCTIONS[call.path], False


WAYS = [Names("slots"), Names("closures"), Names("constants")]


def expression(text: str) -> Expression:
    problems = Problems()
    found = parse(text, HERE, problems)
    assert found is not None, list(problems)
    return found
