"""Sets of texts as finite automata: what two patterns have in common, and whether one holds the other.

An automaton here is nondeterministic and without empty moves. State 0 is the start; a move is a stretch of code
points. Patterns and texts with fields are turned into automata when a spec is loaded, so that "can one text be both
messages?" is answered by a search and not by trying samples. Nothing here runs while messages are read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

Move = tuple[int, int, int]  # lowest and highest code point, both included; the state it leads to
Stretches = tuple[tuple[int, int], ...]  # of code points, both ends included

# All that UTF-8 can carry: a lone surrogate is no character.
EVERY: Stretches = ((0, 0xD7FF), (0xE000, 0x10FFFF))
# What example texts are made of, best first.
_LIKED = (("a", "z"), ("A", "Z"), ("0", "9"), (" ", "~"))
MOVES_MAX = 100_000  # A pattern of 5,000 characters stays below; (a?){1000} does not.
PAIRS_MAX = 100_000  # Pairs of states a search looks at: under a second.
STEPS_MAX = 300_000  # The same, for sets of states: `(a|b)*a(a|b){20}` has a million of them.


class TooLargeError(Exception):
    """An automaton or a search went over its bound; the text says which."""


@dataclass(slots=True)
class Work:
    """What many searches may cost together, in steps, some million a second.

    No bound of a single one would be low enough for ten thousand of them.
    """

    left: int

    def spend(self, steps: int) -> None:
        """Take off what is about to be done.

        Raises:
            TooLargeError: nothing is left.
        """
        self.left -= steps
        if self.left < 0:
            raise TooLargeError("all searches together took too long")


ENDLESS: Final = Work(1 << 62)


@dataclass(frozen=True, slots=True)
class Automaton:
    """The texts that lead from state 0 to an accepting state; ``moves`` has one entry per state."""

    moves: tuple[tuple[Move, ...], ...]
    accepting: frozenset[int]

    def accepts(self, text: str) -> bool:
        """Return whether the whole text belongs; for tests, the message path has a faster matcher."""
        states = {0}
        for character in text:
            states = _after(self, states, ord(character))
        return not self.accepting.isdisjoint(states)


class Builder:
    """Makes an automaton of pieces; a piece is its first and its last state, empty moves join them."""

    def __init__(self) -> None:
        self._moves: list[list[Move]] = []
        self._empty: list[list[int]] = []

    def state(self) -> int:
        """Return a new state."""
        self._moves.append([])
        self._empty.append([])
        return len(self._moves) - 1

    def join(self, source: int, target: int) -> None:
        """Let ``source`` pass on to ``target`` without a character."""
        self._empty[source].append(target)

    def one(self, stretches: Stretches) -> tuple[int, int]:
        """Return the piece of one character out of ``stretches``."""
        first, last = self.state(), self.state()
        self._moves[first] = [(low, high, last) for low, high in stretches]
        return first, last

    def text(self, text: str) -> tuple[int, int]:
        """Return the piece of exactly this text."""
        return self.texts((text,))

    def texts(self, texts: Iterable[str]) -> tuple[int, int]:
        """Return the piece of exactly these texts; what they begin with in common has its states once."""
        first, last = self.state(), self.state()
        after: dict[tuple[int, str], int] = {}
        for text in texts:
            here = first
            for character in text:
                there = after.get((here, character))
                if there is None:
                    there = after[here, character] = self.state()
                    self._moves[here].append((ord(character), ord(character), there))
                here = there
            self.join(here, last)
        return first, last

    def chain(self, pieces: Iterable[tuple[int, int]]) -> tuple[int, int]:
        """Return the piece of all pieces, one after the other."""
        first = last = self.state()
        for start, end in pieces:
            self.join(last, start)
            last = end
        return first, last

    def either(self, pieces: Iterable[tuple[int, int]]) -> tuple[int, int]:
        """Return the piece of any one of the pieces."""
        first, last = self.state(), self.state()
        for start, end in pieces:
            self.join(first, start)
            self.join(end, last)
        return first, last

    def again(self, piece: tuple[int, int]) -> tuple[int, int]:
        """Return the piece of any number of this one, none included."""
        first = self.state()
        self.join(first, piece[0])
        self.join(piece[1], first)
        return first, first

    def embed(self, automaton: Automaton) -> tuple[int, int]:
        """Return the piece of the texts of a finished automaton."""
        base = len(self._moves)
        for _ in automaton.moves:
            self.state()
        for state, moves in enumerate(automaton.moves):
            self._moves[base + state] = [(low, high, base + target) for low, high, target in moves]
        last = self.state()
        for state in automaton.accepting:
            self.join(base + state, last)
        return base, last

    def finish(self, piece: tuple[int, int]) -> Automaton:
        """Return the automaton of a piece.

        Raises:
            TooLargeError: it would have more than MOVES_MAX moves.
        """
        number = {piece[0]: 0}
        order = [piece[0]]
        moves: list[tuple[Move, ...]] = []
        accepting = set()
        total = 0
        for state in order:  # grows while it is walked
            reached = self._reached(state)
            if piece[1] in reached:
                accepting.add(number[state])
            found: dict[Move, None] = {}
            for passed in reached:
                for low, high, target in self._moves[passed]:
                    if target not in number:
                        number[target] = len(order)
                        order.append(target)
                    found[low, high, number[target]] = None
            total += len(found) + len(reached)
            if total > MOVES_MAX:
                raise TooLargeError(f"more than {MOVES_MAX} moves")
            moves.append(tuple(found))
        return Automaton(tuple(moves), frozenset(accepting))

    def _reached(self, state: int) -> dict[int, None]:
        reached = {state: None}
        ahead = [state]
        while ahead:
            for target in self._empty[ahead.pop()]:
                if target not in reached:
                    reached[target] = None
                    ahead.append(target)
        return reached


def exactly(texts: Iterable[str]) -> Automaton:
    """Return the automaton of these texts and no others."""
    builder = Builder()
    return builder.finish(builder.texts(texts))


def up_to(literal: str) -> Automaton:
    """Return the automaton of the texts that end with ``literal`` and have it nowhere before.

    The states count how much of the literal has just been seen (Knuth, Morris and Pratt); the last has no way on.
    """
    alphabet = sorted(set(literal))
    others = outside(tuple((ord(character), ord(character)) for character in alphabet))
    moves: list[tuple[Move, ...]] = []
    for seen in range(len(literal)):
        row = [(ord(c), ord(c), _overlap_of(literal[:seen] + c, literal)) for c in alphabet]
        row += [(low, high, 0) for low, high in others]
        moves.append(tuple(row))
    return Automaton((*moves, ()), frozenset({len(literal)}))


def _overlap_of(text: str, literal: str) -> int:
    return next(length for length in range(len(text), -1, -1) if literal.startswith(text[len(text) - length :]))


def outside(stretches: Stretches) -> Stretches:
    """Return the characters that are in none of the stretches."""
    found = []
    for low, high in EVERY:
        for taken_low, taken_high in sorted(stretches):
            if taken_low > high or taken_high < low:
                continue
            if taken_low > low:
                found.append((low, taken_low - 1))
            low = max(low, taken_high + 1)
        if low <= high:
            found.append((low, high))
    return tuple(found)


# -- searches --------------------------------------------------------------------------------------------------------


def both(a: Automaton, b: Automaton, work: Work = ENDLESS) -> Automaton:
    """Return the automaton of the texts that belong to both.

    Raises:
        TooLargeError: more than PAIRS_MAX pairs of states, or more than MOVES_MAX moves, or no ``work`` is left.
    """
    number = {(0, 0): 0}
    order = [(0, 0)]
    moves: list[tuple[Move, ...]] = []
    total = 0
    for p, q in order:  # grows while it is walked
        work.spend(2 + len(a.moves[p]) * len(b.moves[q]))
        row = []
        for low, high, target in _shared(a.moves[p], b.moves[q]):
            if target not in number:
                number[target] = len(order)
                order.append(target)
            row.append((low, high, number[target]))
        moves.append(tuple(row))
        total += len(row)
        if len(order) > PAIRS_MAX or total > MOVES_MAX:
            raise TooLargeError(f"more than {PAIRS_MAX} pairs of states")
    accepting = frozenset(index for (p, q), index in number.items() if p in a.accepting and q in b.accepting)
    return Automaton(tuple(moves), accepting)


def shortest(automaton: Automaton, least: int = 0) -> str | None:
    """Return a shortest text of at least ``least`` characters, 0 or 1; None if there is none."""
    came: dict[tuple[int, bool], tuple[tuple[int, bool], str]] = {}
    start = (0, least == 0)
    ahead = deque([start])
    seen = {start}
    while ahead:
        here = ahead.popleft()
        if here[1] and here[0] in automaton.accepting:
            characters = []
            while here in came:
                here, character = came[here]
                characters.append(character)
            return "".join(reversed(characters))
        for low, high, target in sorted(automaton.moves[here[0]], key=_rank):
            there = (target, True)
            if there not in seen:
                seen.add(there)
                came[there] = (here, _liked(low, high))
                ahead.append(there)
    return None


def several(automaton: Automaton, most: int = 4) -> list[str]:
    """Return up to so many texts, shorter ones first, that differ where the automaton leaves room."""
    found: list[str] = []
    times: dict[int, int] = {}
    ahead: deque[tuple[int, Any]] = deque([(0, None)])  # a state, and (the way before, a character) that led to it
    while ahead and len(found) < most:
        state, way = ahead.popleft()
        if times.get(state, 0) == most:
            continue
        times[state] = times.get(state, 0) + 1
        if state in automaton.accepting:
            found.append(_text_of(way))
        for low, high, target in sorted(automaton.moves[state], key=_rank):
            for character in dict.fromkeys((_liked(low, high), _liked_last(low, high))):
                ahead.append((target, (way, character)))
    return list(dict.fromkeys(found))


def _text_of(way: Any) -> str:
    characters = []
    while way is not None:
        way, character = way
        characters.append(character)
    return "".join(reversed(characters))


def shared_text(a: Automaton, b: Automaton, work: Work = ENDLESS) -> str | None:
    """Return a text that belongs to both, not the empty one if there is another; None if there is none.

    Raises:
        TooLargeError: the search looked at more than PAIRS_MAX pairs of states, or no ``work`` is left.
    """
    common = both(a, b, work)
    text = shortest(common, least=1)
    return text if text is not None else shortest(common)


def included(a: Automaton, b: Automaton, work: Work = ENDLESS) -> bool:
    """Return whether every text of ``a`` belongs to ``b``; false too if that took more than STEPS_MAX steps.

    Raises:
        TooLargeError: no ``work`` is left.
    """
    start = (0, frozenset({0}))
    ahead = [start]
    seen = {start}
    steps = 0
    while ahead:
        state, others = ahead.pop()
        if state in a.accepting and b.accepting.isdisjoint(others):
            return False
        breadth = 1 + sum(len(b.moves[other]) for other in others)
        for low, high, target in a.moves[state]:
            work.spend(breadth)
            for character in _cuts(b, others, low, high):
                work.spend(breadth)
                there = (target, frozenset(_after(b, others, character)))
                steps += 1 + len(others)
                if there not in seen:
                    seen.add(there)
                    ahead.append(there)
        if steps > STEPS_MAX:
            return False
    return True


def difference(a: Automaton, b: Automaton, work: Work = ENDLESS) -> str | None:
    """Return a shortest text of ``a`` that does not belong to ``b``, None if there is none or it took too long.

    Raises:
        TooLargeError: no ``work`` is left.
    """
    start = (0, frozenset({0}))
    came: dict[tuple[int, frozenset[int]], Any] = {start: None}
    ahead = deque([start])
    steps = 0
    while ahead and steps <= STEPS_MAX:
        here = ahead.popleft()
        state, others = here
        if state in a.accepting and b.accepting.isdisjoint(others):
            return _text_of(came[here])
        breadth = 1 + sum(len(b.moves[other]) for other in others)
        for low, high, target in sorted(a.moves[state], key=_rank):
            work.spend(breadth)
            for character in sorted(_cuts(b, others, low, high), key=lambda point: _rank((point, point, 0))):
                work.spend(breadth)
                there = (target, frozenset(_after(b, others, character)))
                steps += 1 + len(others)
                if there not in came:
                    came[there] = (came[here], chr(character))
                    ahead.append(there)
    return None


def _cuts(automaton: Automaton, states: Iterable[int], low: int, high: int) -> set[int]:
    """Return one code point for each part of the stretch within which the automaton makes no difference."""
    cuts = {low}
    for state in states:
        for from_, to, _ in automaton.moves[state]:
            cuts.update(point for point in (from_, to + 1) if low < point <= high)
    return cuts


def _after(automaton: Automaton, states: Iterable[int], point: int) -> set[int]:
    return {target for state in states for low, high, target in automaton.moves[state] if low <= point <= high}


def _shared(a: tuple[Move, ...], b: tuple[Move, ...]) -> Iterator[tuple[int, int, tuple[int, int]]]:
    for low, high, target in a:
        for other_low, other_high, other in b:
            if low <= other_high and other_low <= high:
                yield max(low, other_low), min(high, other_high), (target, other)


def _rank(move: Move) -> tuple[int, int]:
    low, high, _ = move
    kind = (index for index, (first, last) in enumerate(_LIKED) if low <= ord(last) and ord(first) <= high)
    return next(kind, len(_LIKED)), low


def _liked(low: int, high: int) -> str:
    for first, last in _LIKED:
        if low <= ord(last) and ord(first) <= high:
            return chr(max(low, ord(first)))
    return chr(low)


def _liked_last(low: int, high: int) -> str:
    for first, last in _LIKED:
        if low <= ord(last) and ord(first) <= high:
            return chr(min(high, ord(last)))
    return chr(high)
