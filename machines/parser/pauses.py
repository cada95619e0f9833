"""``pause``: a state that hears nobody for a while, made a wait before anything is read.

{pause: 30 ms, then: next}   {await: [], within: 30 ms, closed: stay, invalid: stay, timeout: next}
"""

from __future__ import annotations

from machines.parser.context import quoted
from machines.parser.node_edits import value_of
from machines.problems import Place, Problems
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

_WITH = ("doc", "do", "let", "start", "send", "secure", "drop", "then", "return", "outcome", "before")


def with_plain_pause(state: Node, problems: Problems, *, whole: bool) -> Node:
    """Return a state whose ``pause`` has become a wait; beside what it excludes it is a problem A121.

    In a ``whole`` spec, which is no change of another, one that does not say what is next is a problem A123.
    """
    length = value_of(state, "pause")
    if length is None or not isinstance(state, MapNode):
        return state
    others = [key for key, _ in state.pairs if key.text not in (*_WITH, "pause")]
    if others:
        text = f"'pause' and {quoted(key.text for key in others)} exclude one another"
        problems.add(
            others[0].place,
            "A121",
            text,
            "a pause hears nobody: wait with 'within' and 'timeout', or in a state before",
        )
    key = next(key for key, _ in state.pairs if key.text == "pause")
    ends = tuple((name, value) for name, value in state.pairs if name.text in ("then", "return", "outcome"))
    kept = tuple((name, value) for name, value in state.pairs if name.text in _WITH and (name, value) not in ends)
    if whole and not ends:
        problems.add(state.place, "A123", "this pause leads nowhere", "add 'then: STATE' or 'return: VALUE'")
    stay = ScalarNode("stay", True, key.place)
    wait: list[tuple[ScalarNode, Node]] = [
        (_word("await", key.place), ListNode((), key.place)),
        (_word("within", key.place), length),
        (_word("closed", key.place), stay),
        (_word("invalid", key.place), stay),
    ]
    if len(ends) == 1 and ends[0][0].text == "then":
        wait.append((_word("timeout", ends[0][0].place), ends[0][1]))
    elif ends:
        wait.append((_word("timeout", ends[0][0].place), MapNode(ends, ends[0][0].place)))
    return MapNode((*kept, *wait), state.place)


def _word(text: str, place: Place) -> ScalarNode:
    return ScalarNode(text, True, place)
