"""Who decides in a game: the game's own strategies, and where it has none somebody who tries everything.

The kinds that a game names as FAIR, and its DEFAULT, are vouched for: they play by the rules. All decide at once,
whatever time they would have, so that a game is the same on every machine.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any, Final

from machines.analysis.traversal import all_branches
from machines.effects import Ask
from machines.messages.bodies import MessageCodec
from machines.messages.types import NO_MATCH, compile_type
from machines.model import (
    Choice,
    Constant,
    Field,
    Goto,
    Interval,
    Machine,
    Named,
    Pattern,
    Return,
    Scalar,
    Spec,
    Stay,
    Type,
)
from runtime.players.companions import companions
from runtime.players.random import RandomPlayer
from runtime.players.registry import default_kind

LONG: Final = 200  # questions that who tries everything answers before it says what ends its part
SHORT: Final = 15  # in games that are about something else
MORE: Final = 2  # times as many before it falls silent, if nothing ends its part
WORDS_MAX: Final = 24  # of a spec that are said
WORD_LETTERS_MAX: Final = 12  # a longer text is for people, no word of the protocol
WORDS_SHARE: Final = 0.8  # how often a word is said where anything may be
SAID_MAX: Final = 4  # of the values heard that are remembered
PLAIN: Final = ("a", "b", "1")  # words in any case: what two peers may both say

Strategy = type[Any]


class Words:
    """What a spec says itself, which chance would not come upon: texts and numbers of its guards, and their like.

    Values that were said before are words too, the last SAID_MAX of each kind.
    """

    def __init__(self, spec: Spec) -> None:
        found = list(dict.fromkeys(_constants((spec.roles, spec.types))))
        texts = [one for one in found if isinstance(one, str) and 0 < len(one) <= WORD_LETTERS_MAX]
        numbers = [one for one in found if isinstance(one, int) and not isinstance(one, bool)]
        self.texts = [*texts[:WORDS_MAX], *PLAIN]
        self.numbers = list(dict.fromkeys(near for one in numbers for near in (one, one - 1, one + 1, -one)))
        self._said: deque[Any] = deque(maxlen=SAID_MAX)
        self._counted: deque[int] = deque(maxlen=SAID_MAX)

    def again(self) -> Words:
        """Return the same words, for another game: nothing was said yet."""
        words = copy(self)
        words._said, words._counted = deque(maxlen=SAID_MAX), deque(maxlen=SAID_MAX)
        return words

    def note(self, value: Any) -> None:
        """Remember a value that was said."""
        if isinstance(value, str) and len(value) <= WORD_LETTERS_MAX:
            self._said.append(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            self._counted.append(value)

    def known_texts(self) -> Sequence[str]:
        """Return the texts that may be said."""
        return [*self.texts, *self._said]

    def known_numbers(self) -> Sequence[int]:
        """Return the numbers that may be said."""
        return [*self.numbers, *self._counted, *[one + 1 for one in self._counted]]


class FuzzingPlayer(RandomPlayer):
    """Tries everything: says what it has said least often after what it said last, with the spec's own words too.

    What ends its part it says late; see `farewells`. The same questions give the same answers.
    """

    def __init__(
        self,
        spec: Spec,
        seed: int,
        last: frozenset[str],
        words: Words,
        questions: int,
        shapes: dict[str, MessageCodec],
        longer: int = 1,
    ) -> None:
        super().__init__(spec, seed)
        self._most = MORE * questions * longer
        self._shapes = shapes  # shared: making one costs more than a game of a few messages
        self._last = last
        self._words = words
        self._before = ""
        self._said: Counter[tuple[str, str]] = Counter()
        self._answered = 0
        self._questions = questions

    def answer(self, ask: Ask) -> Any:
        """Return an answer; None once there were too many questions."""
        self._answered += 1
        if self.tired:
            return None
        leaving = [name for name in ask.messages if name in self._last]
        staying = [name for name in ask.messages if name not in self._last]
        may = (leaving if self._answered > self._questions else staying) or list(ask.messages)
        least = min(self._said[self._before, name] for name in may)
        name = self._chance.choice([name for name in may if self._said[self._before, name] == least])
        self._said[self._before, name] += 1
        self._before = name
        answer = self.drawn(name, dict(ask.arguments))
        if isinstance(answer, tuple):
            self.heard(*answer)
        return answer

    @property
    def tired(self) -> bool:
        """Whether there were too many questions."""
        return self._answered > self._most

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Remember what was said, as far as it was free to be anything."""
        for field in self._spec.messages[message].fields:
            if isinstance(self._plain(field.type), Scalar | Interval | Pattern):
                self._words.note(fields.get(field.name))

    def _plain(self, wanted: Type) -> Type:
        return self._plain(self._spec.types[wanted.name].type) if isinstance(wanted, Named) else wanted

    def value(self, wanted: Type) -> Any:
        """Return a value of a type, mostly a word."""
        known: Sequence[Any] = ()
        match wanted:
            case Scalar("string"):
                known = self._words.known_texts()
            case Scalar("int" | "number"):
                known = self._words.known_numbers()
            case Interval(low, high):
                known = [low, high, *[one for one in self._words.known_numbers() if low <= one <= high]]
        return self._chance.choice(known) if known and self._chance.random() < WORDS_SHARE else super().value(wanted)

    def _field(self, field: Field, given: Mapping[str, Any]) -> Any:
        """Return a field's value: what the question says of it, a word or anything."""
        if field.name in given and self._heads():
            told = compile_type(field.type, self._spec.types).take(given[field.name])
            if told is not NO_MATCH:
                return told
        return super()._field(field, {})


def _constants(value: Any) -> Iterator[Any]:
    """Yield the constants of all expressions, and of the words of types, in the order of the file."""
    if isinstance(value, Constant):
        yield value.value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _constants(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _constants(inner)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _constants(getattr(value, field.name))


def farewells(spec: Spec, role: str) -> frozenset[str]:
    """Return the answers after which a role's player is never asked again: whoever says one has ended its part."""
    found: set[str] = set()
    others: set[str] = set()
    for machine in spec.roles[role].machines.values():
        for state in machine.states.values():
            if state.ask is not None:
                for name, choice in state.answers.receive.items():
                    back = machine.name != "main" or _comes_back(machine, state.name, choice)
                    (others if back else found).add(name)
    return frozenset(found - others)


def hears_an_end(spec: Spec, role: str) -> bool:
    """Whether a message ends what a role does: then its player may count on an end that does not come from itself."""
    machine = spec.roles[role].machines["main"]
    states = machine.states.values()
    standing = (machine.always.answers,) if machine.always is not None else ()
    told = [
        choice
        for answers in (*standing, *(one.answers for one in states if one.ask is None))
        for choice in answers.receive.values()
    ]
    todo = [branch.next for choice in told for branch in all_branches(choice)]
    seen: set[str] = set()
    while todo:
        there = todo.pop()
        if isinstance(there, Return):
            return True
        if isinstance(there, Goto) and there.state not in seen:
            seen.add(there.state)
            then = machine.states[there.state].then
            todo += [branch.next for branch in all_branches(then)] if then is not None else []
    return False


def _comes_back(machine: Machine, state: str, choice: Choice) -> bool:
    """Whether a branch leads to a state of ``main`` that asks or calls, at once or later."""
    todo = list(_next(choice, state))
    seen: set[str] = set()
    standing = machine.always.answers if machine.always is not None else None
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        there = machine.states[name]
        if there.ask is not None or there.run is not None:
            return True
        choices = [choice for answers in (there.answers, standing) if answers for _, choice in answers.choices()]
        for one in (*choices, *([there.then] if there.then is not None else [])):
            todo.extend(_next(one, name))
    return False


def _next(choice: Choice, state: str) -> Iterator[str]:
    for branch in all_branches(choice):
        if isinstance(branch.next, Goto):
            yield branch.next.state
        elif isinstance(branch.next, Stay):
            yield state


class StrategySet:
    """The strategies of a spec's game by their names: ``fair`` are those that play if nothing is amiss, in turn."""

    def __init__(self, spec: Spec, own: Mapping[str, Strategy] = {}) -> None:
        """With strategies of one's ``own`` these play, and nobody vouches for them."""
        self.kinds: dict[str, Strategy] = {}
        default = default_kind(spec)
        fair: list[str] = []
        for module in companions(spec, "players"):
            for name, kind in module.PLAYERS.items():
                self.kinds.setdefault(name, kind)
            fair.extend(getattr(module, "FAIR", ()))
        self.fair = tuple(fair) or ((default,) if default in self.kinds else ())
        self.vouched = frozenset((*self.fair, default))
        if own:
            self.kinds, self.fair = dict(own), tuple(own)
            self.vouched = frozenset()

    @property
    def others(self) -> tuple[str, ...]:
        """The kinds that do not play by themselves."""
        return tuple(name for name in self.kinds if name not in self.fair)

    def for_seat(self, at: int, first: str = "") -> tuple[str, ...]:
        """Return the kinds that decide for a client, in the order in which they are asked."""
        turned = at % max(1, len(self.fair))
        fair = (*self.fair[turned:], *self.fair[:turned])
        return tuple(dict.fromkeys([*([first] if first else []), *fair, *self.kinds]))


class ClientPlayer:
    """Decides for a client, and for the roles that it has one of its own of.

    The strategies of ``kinds`` are asked in turn until one answers; some of them are
    vouched for. With none of them, or if none answers, it is somebody curious. ``ends`` says whether it may count on an
    end that does not come from itself.
    """

    def __init__(
        self,
        name: str,
        seed: int,
        cast: StrategySet,
        kinds: Sequence[str],
        curious: FuzzingPlayer,
        *,
        ends: bool = True,
    ) -> None:
        self._ends = ends
        self._vouched = [kind in cast.vouched for kind in kinds]
        self._strategies = [_made(cast.kinds[kind], name, seed) for kind in kinds]
        self._curious = curious

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Tell all who may be asked."""
        self._curious.heard(message, fields)
        for strategy in self._strategies:
            told = getattr(strategy, "heard", None)
            if callable(told):
                _or_none(lambda told=told: told(message, fields))

    @property
    def tired(self) -> bool:
        """Whether it is silent only because there were too many questions, before an end that should have come."""
        return self._ends and self._curious.tired

    def decide(self, ask: Ask) -> tuple[Any, bool] | None:
        """Return an answer, and whether it is vouched for; None for silence."""
        for strategy, vouched in zip(self._strategies, self._vouched, strict=True):
            method = getattr(strategy, ask.question, None)
            if callable(method):
                answer = _or_none(lambda method=method: method(*[value for _, value in ask.arguments]))
                if answer is ...:
                    return None
                if answer is not None:
                    return answer, vouched
        answer = self._curious.answer(ask)
        return (answer, False) if answer is not None else None


def _made(kind: Strategy, name: str, seed: int) -> Any:
    strategy = _or_none(lambda: kind(name, seed))
    if callable(getattr(strategy, "late", None)):
        strategy.late = _at_once
    return strategy


def _at_once() -> bool:
    """What a strategy asks to know whether it must decide: it must."""
    return True


def _or_none(call: Any) -> Any:
    """Return what a strategy's method does; None if it raises: it may be for another dialect, or at its wits' end."""
    try:
        return call()
    except Exception:
        return None
