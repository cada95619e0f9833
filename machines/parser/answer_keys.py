"""Keys under ``say`` and ``receive``, made plain before anything is read: ``say`` becomes ``receive``, commas are gone.

say: {MOVE: waiting}                receive: {MOVE: {send: MOVE, then: waiting}}
say: {MOVE: {return: null}}         receive: {MOVE: {send: MOVE, return: null}}
say: {MOVE: [{if: x, then: a}, b]}  receive: {MOVE: {send: MOVE, then: [{if: x, then: a}, b]}}
receive:
  MOVE, PASS: stay                  receive: {MOVE: stay, PASS: stay}
"""

from __future__ import annotations

from collections.abc import Iterator

from machines.parser.context import inside
from machines.parser.node_edits import Pairs, value_of
from machines.problems import Problems
from machines.yaml.nodes import MapNode, Node, ScalarNode

_KEYS = ("say", "receive")
_ENDS = ({"then"}, {"return"}, {"return", "outcome"})


def with_plain_answers(state: Node, problems: Problems) -> Node:
    """Return a state without ``say``, in which each message under ``receive`` has its own key.

    ``say`` that is no mapping is a problem A112, a message that stands twice A102.
    """
    heard = value_of(state, "receive")
    several = any("," in key.text for key, _ in heard.pairs) if isinstance(heard, MapNode) else False
    return _received(state, problems) if several or value_of(state, "say") is not None else state


def _received(state: Node, problems: Problems) -> Node:
    """Return a state whose ``say`` has become part of its ``receive``, which stands where the first of them did."""
    assert isinstance(state, MapNode), "it has a key"
    said = value_of(state, "say")
    if said is not None and not isinstance(said, MapNode):
        text = "'say' is a mapping: the messages that the player may answer, and what is next"
        problems.add(said.place, "A112", text, "like say: {MOVE: waiting}")
    found: dict[str, tuple[ScalarNode, Node]] = {}
    written = [(key, value) for key, value in state.pairs if key.text in _KEYS]
    for word, answers in written:
        for key, value in _pairs(answers):
            if key.text in found:
                text = f"{key.text} stands twice among what is heard: under 'receive', or 'say', which is part of it"
                first = found[key.text][0].place.line
                problems.add(key.place, "A102", text, f"it first stands in line {first}")
            else:
                found[key.text] = (key, _sent(key, value) if word.text == "say" else value)
    whole = MapNode(tuple(found.values()), written[0][1].place)
    pairs: list[tuple[ScalarNode, Node]] = []
    for key, value in state.pairs:
        if key is written[0][0]:
            pairs.append((ScalarNode("receive", True, key.place), whole))
        elif key.text not in _KEYS:
            pairs.append((key, value))
    return MapNode(tuple(pairs), state.place)


def _pairs(answers: Node | None) -> Pairs:
    """Return messages and what is done about them, each under its own key."""
    if not isinstance(answers, MapNode):
        return ()
    return tuple((name, value) for key, value in answers.pairs for name in names_of(key))


def names_of(key: ScalarNode) -> Iterator[ScalarNode]:
    """Yield the names of a key, with commas between them."""
    if "," not in key.text:
        yield key
        return
    at = 0
    for written in key.text.split(","):
        place = inside(key).right(at + len(written) - len(written.lstrip()))
        yield ScalarNode(written.strip(), True, place)
        at += len(written) + 1


def _sent(message: ScalarNode, then: Node) -> Node:
    """Return the branch that sends a message and goes on as is said."""
    send = (ScalarNode("send", True, message.place), ScalarNode(message.text, True, message.place))
    if isinstance(then, MapNode) and {key.text for key, _ in then.pairs} in _ENDS:
        return MapNode((send, *then.pairs), then.place)
    return MapNode((send, (ScalarNode("then", True, then.place), then)), then.place)
