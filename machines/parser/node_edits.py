"""Nodes of a spec's YAML made into others: what a mapping has, what is gone from it, and each of its values changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from machines.problems import Place, Problems
from machines.yaml.nodes import MapNode, Node, ScalarNode

Pairs = tuple[tuple[ScalarNode, Node], ...]

GONE = ScalarNode("", True, Place("", 0, 0))  # holds the place of what is not there, until all is laid


def value_of(node: Node, key: str) -> Node | None:
    """Return what a mapping has under a key; None if it has none, or is no mapping."""
    return node.get(key) if isinstance(node, MapNode) else None


def pairs_of(node: Node | None) -> Pairs:
    """Return the keys and values of a mapping; none if it is no mapping."""
    return node.pairs if isinstance(node, MapNode) else ()


def without_gone(node: Node) -> Node:
    """Return a node without what is gone, and without mappings that are empty because of it."""
    if node is GONE or not isinstance(node, MapNode):
        return node
    pairs = tuple((key, swept) for key, value in node.pairs if (swept := without_gone(value)) is not GONE)
    return MapNode(pairs, node.place) if pairs or not node.pairs else GONE


def at_most(items: Sequence[Node], most: int, what: str, problems: Problems) -> Sequence[Node]:
    """Return the first of several; that there are more is a problem A140."""
    if len(items) > most:
        text = f"more than {most} {what} in one file"
        problems.add(items[most].place, "A140", text, "write a spec of its own")
    return items[:most]


def each_changed(node: Node, change: Callable[[ScalarNode, Node], Node]) -> Node:
    """Return a mapping with each of its values changed; what is no mapping as it is."""
    if not isinstance(node, MapNode):
        return node
    return MapNode(tuple((key, change(key, value)) for key, value in node.pairs), node.place)
