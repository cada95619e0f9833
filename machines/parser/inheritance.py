"""``extends: tsuro``: a spec laid over others, node by node, so that every problem keeps its own file and line.

One rule: a mapping is laid over a mapping key by key, however deep; anything else takes the place of what was there.
The values of the language are such wholes: a body, a type, a setting, what a name is bound to, what is returned.

In this order, for each file that is laid over those below it:

    rename          a message has another name from here on, wherever it is named below
    remove          what is named by its keys is gone; if it is given again, it keeps its place
    before, around  what led to a state or a machine below leads to the new one
    everything else by the one rule

What is replaced keeps its place in the order (the first state is where a machine starts); what is added comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from machines.parser.branches import STEPS
from machines.parser.context import shown
from machines.parser.insertions import AROUND, BEFORE, inserted, without_places
from machines.parser.node_edits import GONE, at_most, pairs_of, value_of, without_gone
from machines.parser.rewriting import machine_name, messages_renamed
from machines.parser.settings import WRITTEN, parse_value
from machines.parser.states import EVENTS, WAITS
from machines.problems import Problems
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

REMOVALS_MAX = 200  # in one file; each looks at what is on its way
CHANGES = ("rename", "remove")  # keys of a file that is laid over others, besides those of every spec

_Merge = Callable[[Node, Node], Node]
_OWN = ("protocol", "title", "extends", "part", *CHANGES)  # each file's own; not laid over what is above


def extend(base: MapNode, child: MapNode, problems: Problems) -> MapNode:
    """Return the spec that ``child`` makes of ``base``. A part of the wrong form is left for the reader to tell.

    A change of what does not exist is a problem A140.
    """
    base = _renamed(base, child.get("rename"), problems)
    base = _removed(base, child.get("remove"), problems)
    base, child = inserted(base, child, problems)
    merged: dict[str, tuple[ScalarNode, Node]] = {key.text: (key, value) for key, value in base.pairs}
    for own in _OWN:
        merged.pop(own, None)
    merged = {**{key.text: (key, value) for key, value in child.pairs if key.text in ("protocol", "title")}, **merged}
    if "also" in merged and isinstance(merged["also"][1], MapNode):
        # Other bodies of a message go with its body: one that the child replaces takes them with it.
        key, also = merged["also"]
        given = {name.text for _, listed in pairs_of(child.get("messages")) for name, _ in pairs_of(listed)}
        merged["also"] = (key, MapNode(tuple(pair for pair in pairs_of(also) if pair[0].text not in given), also.place))
    lay = _layers(problems)
    for key, value in child.pairs:
        if key.text in ("extends", *CHANGES):
            continue
        before = merged.get(key.text)
        if before is not None and before[1] is not GONE and key.text in lay:
            value = lay[key.text](before[1], value)
        merged[key.text] = (key, value)
    left = without_gone(MapNode(tuple(merged.values()), child.place))
    return left if isinstance(left, MapNode) else MapNode((), child.place)


def alone(node: Node, problems: Problems) -> Node:
    """Return a spec that is laid over nothing. What would change another has no meaning in it: a problem A122."""
    if not isinstance(node, MapNode):
        return node
    for key, value in node.pairs:
        if key.text in CHANGES:
            problems.add(key.place, "A122", f"{key.text!r} has no meaning in a spec that extends none", _NONE)
        for _, machines in pairs_of(value) if key.text == "roles" else ():
            for _, body in pairs_of(machines):
                for word, found in ((AROUND, body), *((BEFORE, state) for _, state in pairs_of(body))):
                    at = next((place for place, _ in pairs_of(found) if place.text == word), None)
                    if at is not None and (word == BEFORE or isinstance(value_of(found, word), ScalarNode)):
                        problems.add(at.place, "A122", f"{word!r} has no meaning in a spec that extends none", _NONE)
    return without_places(MapNode(tuple(pair for pair in node.pairs if pair[0].text not in CHANGES), node.place))


_NONE = "say which one this changes: extends: NAME"


# -- laying ----------------------------------------------------------------------------------------------------------


def _layers(problems: Problems) -> Mapping[str, _Merge]:
    """Return how each key of a spec is laid over the same key below; one that is not here replaces the whole."""
    flat = _by_key(_replaced)
    settings = _by_key(partial(_setting, problems))
    return {
        "wire": flat,
        "settings": settings,
        "types": flat,
        "also": flat,
        "frames": flat,
        "docs": flat,
        "examples": flat,
        "properties": flat,
        "accepted": _by_key(flat),
        "messages": _messages,
        "rules": _both,
        "urgent": _both,
        "roles": partial(_roles, problems),
    }


def _replaced(_: Node, child: Node) -> Node:
    return child


def _unless_empty(problems: Problems, path: str, base: Node, child: Node) -> Node:
    """Return what the child has. Nothing, or null, is how people try to take something away: say how it is done."""
    if isinstance(child, ScalarNode) and child.plain and child.text in ("", "null", "~"):
        hint = f"to take it away, write remove: [{path}NAME] at the top"
        problems.add(child.place, "A140", "nothing can not be laid over something", hint)
        return base
    return child


def _setting(problems: Problems, base: Node, child: Node) -> Node:
    """Return a setting's new value. Its kind stays, as with ``--set``: a bare 5 would else be 5 seconds unnoticed."""
    child = _unless_empty(problems, "settings.", base, child)
    if isinstance(base, ScalarNode) and isinstance(child, ScalarNode):
        try:
            kind, above = (parse_value(node.text, plain=node.plain)[0] for node in (base, child))
        except ValueError:
            return child  # the reader tells
        if kind not in ("text", above) and (kind, above) not in (("range", "int"), ("number", "int")):
            text = f"the setting is {WRITTEN[kind]} in the spec below, not {shown(child.text)}"
            problems.add(child.place, "A129", text, "one that is to be of another kind is removed first, with 'remove'")
            return base
    return child


def _by_key(inner: _Merge) -> _Merge:
    """Return a merge of mappings; ``inner`` merges what both have."""

    def merge(base: Node, child: Node) -> Node:
        return _keyed(base, child, lambda _: inner)

    return merge


def _keyed(
    base: Node, child: Node, inner: Callable[[str], _Merge], name: Callable[[str], str] = str, exclusive: bool = False
) -> Node:
    """Lay a mapping over a mapping; ``inner`` says how what both have is merged, ``name`` which keys are the same.

    ``exclusive``: keys that exclude one another replace one another, as ``then`` does ``return``.
    """
    if not isinstance(base, MapNode) or not isinstance(child, MapNode):
        return child
    merged = {name(key.text): (key, value) for key, value in base.pairs}
    for key, _ in child.pairs if exclusive else ():
        for other in _INSTEAD.get(key.text, ()):
            merged.pop(other, None)
    for key, value in child.pairs:
        before = merged.get(name(key.text))
        if before is not None and before[1] is not GONE:
            value = inner(name(key.text))(before[1], value)
            if name is machine_name and "(" not in key.text:
                key = ScalarNode(before[0].text, before[0].plain, key.place)  # the same parameters as below
        merged[name(key.text)] = (key, value)
    return MapNode(tuple(merged.values()), child.place)


_WAITS, _CALLS = ("await", "receive", "ask"), ("each", "run", "accept")
_INSTEAD = {"then": ("return",), "return": ("then",), "do": STEPS, "fold": ("as",), "as": ("fold",)}


def _roles(problems: Problems, base: Node, child: Node) -> Node:
    def machines(role: str) -> _Merge:
        def machine(name: str) -> _Merge:
            path = f"roles.{role}.{name}."

            def laid(state: str) -> _Merge:
                if state in ("early", "live"):
                    return _replaced if state == "early" else _by_key(_replaced)
                return lambda below, above: _state(below, _unless_empty(problems, path, below, above))

            return lambda below, above: _keyed(below, _unless_empty(problems, path, below, above), laid)

        return lambda below, above: _keyed(
            below, above, lambda name: _replaced if name == "early" else machine(name), machine_name
        )

    return _keyed(base, child, machines)


def _state(base: Node, child: Node) -> Node:
    """Lay a state's or a branch's keys over one another; a list of branches is replaced as a whole."""
    waits = any(value_of(child, word) is not None for word in _WAITS)
    calls = any(value_of(node, word) is not None for node in (base, child) for word in _CALLS)
    if isinstance(base, MapNode) and waits and not calls:
        # A state that waits is left by its events only: what was next there goes.
        base = _but(base, ("then", "return"))
    leads = value_of(child, "then") is not None or value_of(child, "return") is not None
    if isinstance(base, MapNode) and leads and not calls and not any(value_of(child, word) for word in WAITS):
        base = _but(base, WAITS)  # it only does its steps now: nothing is waited for any more
    return _keyed(base, child, lambda key: _STATE.get(key, _replaced), exclusive=True)


def _but(node: MapNode, keys: Sequence[str]) -> MapNode:
    return MapNode(tuple(pair for pair in node.pairs if pair[0].text not in keys), node.place)


def _choice(base: Node, child: Node) -> Node:
    if isinstance(base, ScalarNode) and isinstance(child, MapNode):
        # A bare word is a branch that only says what is next.
        base = MapNode(((ScalarNode("then", True, base.place), base),), base.place)
    return _state(base, child)


_STATE: dict[str, _Merge] = {
    **dict.fromkeys((*EVENTS, "seated", "then"), _choice),
    **dict.fromkeys(("receive", "after", "every", "when"), _by_key(_choice)),
    **dict.fromkeys(("let", "send", "as"), _by_key(_replaced)),
}


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
    moved = {key.text: _senders(senders.text) for senders, listed in child.pairs for key, _ in pairs_of(listed)}
    kept: list[tuple[ScalarNode, Node]] = []
    for senders, listed in base.pairs:
        if isinstance(listed, MapNode):
            here = _senders(senders.text)
            staying = tuple(pair for pair in listed.pairs if moved.get(pair[0].text, here) == here)
            if not staying and listed.pairs:
                continue
            listed = MapNode(staying, listed.place)
        kept.append((senders, listed))
    return _keyed(MapNode(tuple(kept), base.place), child, lambda _: _by_key(_replaced), _senders)


def _senders(text: str) -> str:
    return ",".join(sorted(sender.strip() for sender in text.split(",")))


# -- rename and remove -----------------------------------------------------------------------------------------------


def _renamed(base: MapNode, node: Node | None, problems: Problems) -> MapNode:
    if node is None:
        return base
    if not isinstance(node, MapNode):
        problems.add(node.place, "A112", "'rename' is a mapping of messages", "like rename: {JOIN: HELLO}")
        return base
    known = {name.text for _, listed in pairs_of(base.get("messages")) for name, _ in pairs_of(listed)}
    names: dict[str, ScalarNode] = {}
    for key, value in node.pairs:
        if not isinstance(value, ScalarNode) or not value.text:
            problems.add(value.place, "A112", f"the new name of {shown(key.text)} is missing", "like JOIN: HELLO")
        elif key.text not in known:
            hint = problems.near("A140", key.text, known) or f"there are: {', '.join(sorted(known)) or 'none'}"
            problems.add(key.place, "A140", f"there is no message {shown(key.text)} to rename", hint)
        elif value.text in known or value.text in {new.text for new in names.values()}:
            text = f"there is a message {shown(value.text)} already"
            problems.add(value.place, "A140", text, "take another name, or rename that one in a spec below this one")
        else:
            names[key.text] = value
    return messages_renamed(base, names)


def _removed(base: MapNode, node: Node | None, problems: Problems) -> MapNode:
    if node is None:
        return base
    form = "like remove: [settings.wait, roles.server.main.started]"
    if not isinstance(node, ListNode):
        problems.add(node.place, "A112", "'remove' is a list of what is to go, each by its keys with dots", form)
        return base
    for item in at_most(node.items, REMOVALS_MAX, "removals", problems):
        if not isinstance(item, ScalarNode) or not item.text:
            problems.add(item.place, "A112", "what is to go is named by its keys, with dots between them", form)
        elif item.text.strip() in ("protocol", "roles", "messages", "connects"):
            problems.add(item.place, "A140", f"{item.text} is needed: it can not be taken away", form)
        else:
            cut = _without(base, item.text.strip(), item, "", problems)
            assert isinstance(cut, MapNode), "a mapping without a key is one"
            base = cut
    return base


def _without(node: Node, rest: str, item: ScalarNode, path: str, problems: Problems) -> Node:
    """Return a node without what ``rest`` names in it; ``path`` is the way to the node."""
    if isinstance(node, ListNode):
        left = tuple(one for one in node.items if not (isinstance(one, ScalarNode) and one.text == rest))
        if len(left) < len(node.items):
            return ListNode(left, node.place)
    for index, (key, value) in enumerate(pairs_of(node)):
        names = {key.text, machine_name(key.text)} if path.startswith("roles.") and path.count(".") == 2 else {key.text}
        for name in names:
            if rest == name and value is GONE:
                problems.add(item.place, "A140", f"{shown(path + rest)} is removed already", "name it once")
                return node
            if rest == name or (rest.startswith(f"{name}.") and value is not GONE):
                deeper = rest[len(name) + 1 :]
                cut = GONE if rest == name else _without(value, deeper, item, f"{path}{name}.", problems)
                pairs = pairs_of(node)
                assert isinstance(node, MapNode), "only a mapping has pairs"
                return MapNode((*pairs[:index], (key, cut), *pairs[index + 1 :]), node.place)
    word = rest.partition(".")[0]
    known = [machine_name(key.text) for key, value in pairs_of(node) if value is not GONE]
    known += [one.text for one in (node.items if isinstance(node, ListNode) else ()) if isinstance(one, ScalarNode)]
    where = f" in {path[:-1]}" if path else ""
    hint = problems.near("A140", word, known) or (
        f"there are: {', '.join(known[:12])}" if known else "it has no parts that can go"
    )
    problems.add(item.place, "A140", f"there is no {shown(word)}{where} to remove", hint)
    return node
