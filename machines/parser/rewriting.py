"""Ways of a spec led elsewhere: to a state that comes before another, to a machine around another, to a new name.

All three look at nodes, before anything is read, so every word keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from machines.parser.states import EVENTS
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

_LISTED = ("receive", "after", "every", "when")  # events that have their branches one level further in
_HEAD = re.compile(r"\s*[A-Za-z][A-Za-z0-9_]*")


def machine_name(text: str) -> str:
    """Return the name of a machine that is written as it is called."""
    return text.partition("(")[0].strip()


def ways_to_state(machine: MapNode, old: str, new: str) -> MapNode:
    """Return a machine in which each branch that led to the state ``old`` leads to ``new``."""

    def branch(node: Node) -> Node:
        match node:
            case ScalarNode(text, plain, place):
                return ScalarNode(new, plain, place) if text.strip() == old else node
            case ListNode(items, place):
                return ListNode(tuple(branch(item) for item in items), place)
            case MapNode():
                return _at(node, ("then",), branch)

    def state(node: Node) -> Node:
        if isinstance(node, ListNode):
            return branch(node)
        whole = _at(node, ("then", "seated", *(event for event in EVENTS if event not in _LISTED)), branch)
        return _at(whole, _LISTED, lambda listed: _values(listed, branch))

    pairs = tuple((key, value if key.text in ("early", "live") else state(value)) for key, value in machine.pairs)
    return MapNode(pairs, machine.place)


def ways_to_machine(machine: MapNode, old: str, new: str) -> MapNode:
    """Return a machine in which each call of ``old`` calls ``new``."""
    return _values(machine, lambda node: _calls(node, ("run", "accept", "start"), {old: new}))


def messages_renamed(spec: MapNode, names: Mapping[str, ScalarNode]) -> MapNode:
    """Return a spec whose messages have other names, wherever they are named; the new names keep their own place."""
    if not names:
        return spec
    new = {old: name.text for old, name in names.items()}

    def keys(node: Node) -> Node:
        if not isinstance(node, MapNode):
            return node
        return MapNode(tuple((names.get(key.text, key), value) for key, value in node.pairs), node.place)

    def words(node: Node) -> Node:
        if isinstance(node, ListNode):
            return ListNode(tuple(words(item) for item in node.items), node.place)
        if isinstance(node, ScalarNode) and node.text in new:
            return ScalarNode(new[node.text], node.plain, node.place)
        return node

    def receive(node: Node) -> Node:
        """Rename what is listed under each ``receive``, however deep."""
        if isinstance(node, ListNode):
            return ListNode(tuple(receive(item) for item in node.items), node.place)
        if not isinstance(node, MapNode):
            return node
        return MapNode(
            tuple((key, receive(keys(value) if key.text == "receive" else value)) for key, value in node.pairs),
            node.place,
        )

    changes: dict[str, Callable[[Node], Node]] = {
        "messages": lambda node: _values(node, keys),
        "also": keys,
        "frames": keys,
        "docs": keys,
        "examples": keys,
        "urgent": words,
        "accepted": lambda node: _values(node, keys),
        "properties": lambda node: _acts(node, words),
        "roles": lambda node: _calls(receive(node), ("send",), new),
    }
    return MapNode(tuple((key, changes.get(key.text, _same)(value)) for key, value in spec.pairs), spec.place)


def _acts(node: Node, change: Callable[[Node], Node]) -> Node:
    """Change what is said under ``sends`` and ``reads`` of a property, however deep."""
    if not isinstance(node, MapNode):
        return node
    pairs = (
        (key, change(value) if key.text in ("sends", "reads") else _acts(value, change)) for key, value in node.pairs
    )
    return MapNode(tuple(pairs), node.place)


def _same(node: Node) -> Node:
    return node


def _calls(node: Node, keys: tuple[str, ...], names: Mapping[str, str]) -> Node:
    """Return a node in which the calls under ``keys``, however deep, have other names."""
    if isinstance(node, ListNode):
        return ListNode(tuple(_calls(item, keys, names) for item in node.items), node.place)
    if not isinstance(node, MapNode):
        return node
    return MapNode(
        tuple(
            (key, _heads(value, names) if key.text in keys else _calls(value, keys, names)) for key, value in node.pairs
        ),
        node.place,
    )


def _heads(node: Node, names: Mapping[str, str]) -> Node:
    """Return calls, a list or a mapping of them, with the name before the bracket replaced."""
    match node:
        case ScalarNode(text, plain, place):
            head = _HEAD.match(text)
            name = head[0].strip() if head else ""
            return ScalarNode(names[name] + text[head.end() :], plain, place) if head and name in names else node
        case ListNode(items, place):
            return ListNode(tuple(_heads(item, names) for item in items), place)
        case MapNode():
            return _values(node, lambda value: _heads(value, names))


def _values(node: Node, change: Callable[[Node], Node]) -> MapNode:
    if not isinstance(node, MapNode):
        return node  # type: ignore[return-value]  # of the wrong form: the reader tells
    return MapNode(tuple((key, change(value)) for key, value in node.pairs), node.place)


def _at(node: Node, keys: tuple[str, ...], change: Callable[[Node], Node]) -> Node:
    if not isinstance(node, MapNode):
        return node
    return MapNode(tuple((key, change(value) if key.text in keys else value) for key, value in node.pairs), node.place)
