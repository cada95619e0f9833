"""Where the ways through a machine part, meet again and go round: what loops and alternatives are drawn from.

States are the nodes; one more node, EXIT, stands for every return. Cost: about (states + ways) times the depth of the
machine; a machine of a thousand states takes some milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

EXIT: Final = ""  # no state has an empty name


class Structure:
    """Loops and meeting points of the states that can be reached from ``first``.

    ``loops`` gives the states of each loop by the state at which it is entered. ``meets`` gives the state (or EXIT)
    that every way from a state to the end passes next; a state without an entry has no way to the end.
    """

    def __init__(self, first: str, onward: Mapping[str, Sequence[str]]) -> None:
        self._onward = onward
        order, back = _walk(first, onward)
        self.reached = frozenset(order)
        self.loops = self._loops(back)
        self.meets = self._meeting(order)

    def _loops(self, back: Sequence[tuple[str, str]]) -> dict[str, frozenset[str]]:
        before: dict[str, list[str]] = {}
        for state in self.reached:
            for target in self._onward.get(state, ()):
                before.setdefault(target, []).append(state)
        loops: dict[str, set[str]] = {}
        for source, header in back:
            inside = loops.setdefault(header, {header})
            todo = [source]
            while todo:
                state = todo.pop()
                if state not in inside:
                    inside.add(state)
                    todo += before.get(state, ())
        return {header: frozenset(inside) for header, inside in loops.items()}

    def _meeting(self, order: Sequence[str]) -> dict[str, str]:
        """Immediate post-dominators, by the method of Cooper, Harvey and Kennedy on the graph turned round."""
        before: dict[str, list[str]] = {EXIT: []}
        for state in order:
            before.setdefault(state, [])
        for state in order:
            for target in self._onward.get(state, ()):
                before[target].append(state)
        turned, _ = _walk(EXIT, before)  # from the end towards the beginning
        number = {state: index for index, state in enumerate(reversed(turned))}  # the end has the greatest
        meets = {EXIT: EXIT}
        changed = True
        while changed:
            changed = False
            for state in turned[1:]:
                known = [target for target in self._onward.get(state, ()) if target in meets]
                found = known[0]
                for target in known[1:]:
                    found = _common(found, target, meets, number)
                if meets.get(state) != found:
                    meets[state] = found
                    changed = True
        del meets[EXIT]
        return meets


def _common(one: str, other: str, meets: Mapping[str, str], number: Mapping[str, int]) -> str:
    while one != other:
        while number[one] < number[other]:
            one = meets[one]
        while number[other] < number[one]:
            other = meets[other]
    return one


def _walk(first: str, onward: Mapping[str, Sequence[str]]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what is reached, in reverse postorder, and the arrows that lead back to a state on the way to them."""
    done: list[str] = []
    back: list[tuple[str, str]] = []
    met = {first}
    # An explicit stack: a machine of a thousand states in a row is deeper than Python's own allows.
    way = [(first, iter(onward.get(first, ())))]
    on_way = {first}
    while way:
        state, targets = way[-1]
        target = next(targets, None)
        if target is None:
            way.pop()
            on_way.discard(state)
            done.append(state)
        elif target in on_way:
            back.append((state, target))
        elif target not in met:
            met.add(target)
            on_way.add(target)
            way.append((target, iter(onward.get(target, ()))))
    done.reverse()
    return done, back
