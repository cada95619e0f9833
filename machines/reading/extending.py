"""``extends: tsuro``: a spec laid over another, node by node, so that every problem keeps its own file and line.

    protocol, title           the child's
    wire, settings, types     key by key
    also                      message by message; a body that is replaced takes its other bodies with it
    messages                  message by message, whoever sent it before
    rules, urgent             both lists together
    connects                  the child's if it has one
    roles                     role by role, machine by machine, state by state; always is replaced as a whole

What the child replaces keeps its place in the order (the first state is where a machine starts); what it adds comes
last.
"""

from __future__ import annotations

from collections.abc import Callable

from machines.reading.nodes import ListNode, MapNode, Node, ScalarNode

_Pairs = dict[str, tuple[ScalarNode, Node]]


def extend(base: MapNode, child: MapNode) -> MapNode:
    """Return the spec that ``child`` makes of ``base``. A part of the wrong form is left for the reader to tell."""
    merged: _Pairs = {}
    for key, value in base.pairs:
        if key.text not in ("protocol", "title", "extends"):
            merged[key.text] = (key, value)
    if "also" in merged:
        # Other bodies of a message go with its body: one that the child replaces takes them with it.
        key, also = merged["also"]
        if isinstance(also, MapNode):
            given = {name.text for _, listed in _pairs_of(child, "messages") for name, _ in _pairs(listed)}
            merged["also"] = (key, MapNode(tuple(pair for pair in also.pairs if pair[0].text not in given), also.place))
    for key, value in child.pairs:
        before = merged.get(key.text)
        if key.text == "extends":
            continue
        lay = _LAYERS.get(key.text)
        merged[key.text] = (key, lay(before[1], value) if lay is not None and before is not None else value)
    return MapNode(tuple(merged.values()), child.place)


def _pairs(node: Node | None) -> tuple[tuple[ScalarNode, Node], ...]:
    return node.pairs if isinstance(node, MapNode) else ()


def _pairs_of(node: MapNode, key: str) -> tuple[tuple[ScalarNode, Node], ...]:
    return _pairs(node.get(key))


def _replaced(_: Node, child: Node) -> Node:
    return child


def _by_key(inner: Callable[[Node, Node], Node], name: Callable[[str], str] = str) -> Callable[[Node, Node], Node]:
    """Return a merge of mappings; ``inner`` merges what both have, ``name`` says which keys mean the same."""

    def merge(base: Node, child: Node) -> Node:
        if not isinstance(base, MapNode) or not isinstance(child, MapNode):
            return child
        merged: _Pairs = {name(key.text): (key, value) for key, value in base.pairs}
        for key, value in child.pairs:
            before = merged.get(name(key.text))
            merged[name(key.text)] = (key, inner(before[1], value) if before is not None else value)
        return MapNode(tuple(merged.values()), child.place)

    return merge


def _both(base: Node, child: Node) -> Node:
    """Return the items of both lists, each text once."""
    if not isinstance(base, ListNode) or not isinstance(child, ListNode):
        return child
    known = {item.text for item in base.items if isinstance(item, ScalarNode)}
    added = [item for item in child.items if not (isinstance(item, ScalarNode) and item.text in known)]
    return ListNode((*base.items, *added), child.place)


def _messages(base: Node, child: Node) -> Node:
    """Return the messages by sender; one that the child has under another sender leaves the old one."""
    if not isinstance(base, MapNode) or not isinstance(child, MapNode):
        return child
    moved = {
        key.text: _senders(senders.text)
        for senders, listed in child.pairs
        if isinstance(listed, MapNode)
        for key, _ in listed.pairs
    }
    kept: list[tuple[ScalarNode, Node]] = []
    for senders, listed in base.pairs:
        if isinstance(listed, MapNode):
            here = _senders(senders.text)
            staying = tuple(pair for pair in listed.pairs if moved.get(pair[0].text, here) == here)
            if not staying and listed.pairs:
                continue
            listed = MapNode(staying, listed.place)
        kept.append((senders, listed))
    return _by_key(_by_key(_replaced), _senders)(MapNode(tuple(kept), base.place), child)


def _senders(text: str) -> str:
    return ",".join(sorted(sender.strip() for sender in text.split(",")))


def _machine_name(text: str) -> str:
    return text.partition("(")[0].strip()


def _machine(base: Node, child: Node) -> Node:
    return _by_key(_replaced)(base, child) if isinstance(child, MapNode) else child


_LAYERS: dict[str, Callable[[Node, Node], Node]] = {
    "wire": _by_key(_replaced),
    "settings": _by_key(_replaced),
    "types": _by_key(_replaced),
    "also": _by_key(_replaced),
    "messages": _messages,
    "rules": _both,
    "urgent": _both,
    "roles": _by_key(_by_key(_machine, _machine_name)),
}
