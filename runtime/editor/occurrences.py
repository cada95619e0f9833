"""Every name that stands in one file of a spec, with its place: where it is declared, and where it is used.

The file is taken as it is written, without what it extends, so that places are those of the text.

    kind      owner                what it is
    role      -                    server
    machine   the role             turn
    state     role and machine     asked
    message   -, or who says it    MOVE; the owner is how it is used: receive, say or send, and the role
    field     the message          x
    type      -                    Name
    setting   -                    reply
    rule      the module           tsuro.place
    name      role and machine     what an expression reads: a value, a setting, a role
    named     -                    a message, a type, a setting or a role, as under docs
    key       what has the key     within, of a state
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from machines.messages.field_types import bracketed, split_default
from machines.parser.context import RESERVED, inside
from machines.problems import Place, Problems
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

Kind = Literal["role", "machine", "state", "message", "field", "type", "setting", "rule", "name", "named", "key"]
Owner = tuple[str, ...]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_FIELD = re.compile(r"(?<!\$)\$\{?([A-Za-z_]\w*)(?:\s+([^=}]*))?")
_FOR = re.compile(r"\bfor\s+$")
_STAYING = ("stay", "again")
_PLAIN = ("early", "live", "doc")  # keys of a machine that are no states
_NOTHING = frozenset({*RESERVED, "if", "then", "else", "for"})


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place, ``line`` and ``column`` from 1; ``declares`` where it is declared there."""

    kind: Kind
    owner: Owner
    name: str
    place: Place
    declares: bool = False


def occurrences(tree: Node) -> Iterator[Occurrence]:
    """Yield the names of a file in the order of its text, more or less."""
    if not isinstance(tree, MapNode):
        return
    for key, value in tree.pairs:
        yield _key(key, "a spec")
        match key.text:
            case "settings":
                yield from (Occurrence("setting", (), name.text, name.place, True) for name, _ in _pairs(value))
            case "types":
                for name, written in _pairs(value):
                    yield Occurrence("type", (), name.text, name.place, True)
                    yield from _types(written)
            case "messages":
                yield from _messages(value)
            case "also":
                for name, body in _pairs(value):
                    yield Occurrence("message", (), name.text, name.place)
                    yield from _body(body, name.text)
            case "wire":
                yield from (_key(name, "'wire'") for name, _ in _pairs(value))
            case "foreign":
                yield from (Occurrence("role", (), name.text, inside(name), True) for name in _scalars(value))
            case "rules":
                yield from (Occurrence("rule", (), name.text, inside(name)) for name in _scalars(value))
            case "urgent":
                yield from (Occurrence("message", (), name.text, inside(name)) for name in _scalars(value))
            case "docs" | "examples" | "frames":
                yield from (Occurrence("named", (), name.text, name.place) for name, _ in _pairs(value))
            case "properties":
                for _, said in _pairs(value):
                    yield from _situations(said)
            case "accepted":
                for _, reasons in _pairs(value):
                    for where, _ in _pairs(reasons):
                        yield from _path(where)
            case "rename":
                yield from (Occurrence("message", (), name.text, name.place) for name, _ in _pairs(value))
            case "connects":
                for name, targets in _pairs(value):
                    yield from (_role(one) for one in (name, *_scalars(targets)))
            case "roles":
                yield from _roles(value)
            case _:
                pass


def _pairs(node: Node | None) -> tuple[tuple[ScalarNode, Node], ...]:
    return node.pairs if isinstance(node, MapNode) else ()


def _scalars(node: Node) -> Iterator[ScalarNode]:
    match node:
        case ScalarNode():
            yield node
        case ListNode(items):
            for item in items:
                yield from _scalars(item)
        case MapNode(pairs):
            for _, value in pairs:
                yield from _scalars(value)


def _key(key: ScalarNode, owner: str) -> Occurrence:
    return Occurrence("key", (owner,), key.text, key.place)


def _role(node: ScalarNode) -> Occurrence:
    return Occurrence("role", (), node.text, inside(node))


def _parts(key: ScalarNode, by: str) -> Iterator[tuple[str, Place]]:
    """Yield the parts of a key between signs, without blanks, each with its place."""
    at = 0
    for written in key.text.split(by):
        yield written.strip(), inside(key).right(at + len(written) - len(written.lstrip()))
        at += len(written) + 1


# -- types and messages ------------------------------------------------------------------------------------------------


def _types(node: Node) -> Iterator[Occurrence]:
    """Yield the types that a type is made of; `enum` and `string` hold words of their own."""
    match node:
        case ScalarNode(text):
            yield from (Occurrence("type", (), word, place) for word, place in _words(text, inside(node)))
        case ListNode(items):
            for item in items:
                yield from _types(item)
        case MapNode(pairs):
            for key, value in pairs:
                if not (len(pairs) <= 2 and key.text in ("enum", "string", "loose")):
                    yield from _types(value)


def _messages(node: Node) -> Iterator[Occurrence]:
    for senders, bodies in _pairs(node):
        yield from (Occurrence("role", (), name, place) for name, place in _parts(senders, ","))
        for name, body in _pairs(bodies):
            yield Occurrence("message", (), name.text, name.place, True)
            yield from _body(body, name.text)


def _body(node: Node, message: str) -> Iterator[Occurrence]:
    for scalar in _scalars(node):
        for field in _FIELD.finditer(scalar.text):
            yield Occurrence("field", (message,), field[1], inside(scalar).right(field.start(1)), True)
            if field[2] is not None and field[2][:1] in ("[", "{"):
                begin = inside(scalar).right(field.start(2))
                inner = bracketed(split_default(scalar.text[field.start(2) :])[0], begin, Problems())
                yield from _types(inner) if inner is not None else ()
            elif field[2] is not None:
                found = _words(field[2], inside(scalar).right(field.start(2)))
                yield from (Occurrence("type", (), word, place) for word, place in found)


def _situations(node: Node) -> Iterator[Occurrence]:
    """Yield what a property speaks of: roles with their machines and states, messages."""
    for key, value in _pairs(node):
        if isinstance(value, MapNode):
            yield from _situations(value)
        elif key.text in ("sends", "reads"):
            yield from (Occurrence("message", (), name.text, inside(name)) for name in _scalars(value))
        elif isinstance(value, ScalarNode):
            yield _role(key)
            if value.text != "over":
                yield from _below(value, (key.text,))


def _path(where: ScalarNode) -> Iterator[Occurrence]:
    """Yield what is named by a message, a type, a setting, or by a role and what is in it, with dots between."""
    first, dot, rest = where.text.partition(".")
    if not dot:
        yield Occurrence("named", (), first, inside(where))
        return
    yield Occurrence("role", (), first, inside(where))
    yield from _below(ScalarNode(rest, where.plain, where.place.right(len(first) + 1)), (first,))


def _below(where: ScalarNode, role: Owner) -> Iterator[Occurrence]:
    machine, dot, state = where.text.partition(".")
    yield Occurrence("machine", role, machine, inside(where))
    if dot:
        yield Occurrence("state", (*role, machine), state, inside(where).right(len(machine) + 1))


def _words(text: str, place: Place) -> Iterator[tuple[str, Place]]:
    return ((match[0], place.right(match.start())) for match in _WORD.finditer(text))


# -- roles -------------------------------------------------------------------------------------------------------------


def _roles(node: Node) -> Iterator[Occurrence]:
    for key, value in _pairs(node):
        first, *path = re.split(r"\.(?![^(]*\))", key.text)
        names = list(_parts(ScalarNode(first, key.plain, key.place), ","))
        yield from (Occurrence("role", (), name, place, True) for name, place in names)
        owner = (",".join(name for name, _ in names),)
        if not path:
            for machine, body in _pairs(value):
                yield from _machine(machine, body, owner)
            continue
        wrapped = value
        at = len(key.text) - len(".".join(path))
        segments: list[ScalarNode] = []
        for written in path:
            segments.append(ScalarNode(written, True, inside(key).right(at)))
            at += len(written) + 1
        for segment in reversed(segments[1:]):
            wrapped = MapNode(((segment, wrapped),), segment.place)
        yield from _machine(segments[0], wrapped, owner)


def _machine(key: ScalarNode, body: Node, role: Owner) -> Iterator[Occurrence]:
    if key.text in ("early", "doc") and not isinstance(body, MapNode):
        yield _key(key, "a role")
        return
    name, _, rest = key.text.partition("(")
    yield Occurrence("machine", role, name.strip(), key.place, True)
    owner = (*role, name.strip())
    at = inside(key).right(len(name) + 1)
    yield from (Occurrence("name", owner, word, place, True) for word, place in _words(rest, at))
    for state, keys in _pairs(body):
        if state.text == "live":
            yield from (Occurrence("name", owner, live.text, live.place, True) for live, _ in _pairs(keys))
        elif state.text == "around" and isinstance(keys, ScalarNode):
            yield Occurrence("machine", role, keys.text, inside(keys))
        elif state.text == "always":
            yield _key(state, "a machine")
            yield from _handlers(keys, owner, "'always'")
        elif state.text in _PLAIN and not isinstance(keys, MapNode):
            yield _key(state, "a machine")
        else:
            yield Occurrence("state", owner, state.text, state.place, True)
            yield from _branch(keys, owner) if isinstance(keys, ListNode) else _handlers(keys, owner, "a state")


def _branch(node: Node, owner: Owner) -> Iterator[Occurrence]:
    """Yield what a branch names: a word is a state."""
    match node:
        case ScalarNode(text):
            if text not in _STAYING:
                yield Occurrence("state", owner, text, inside(node))
        case ListNode(items):
            for item in items:
                yield from _branch(item, owner)
        case MapNode():
            yield from _handlers(node, owner, "a branch")


def _handlers(node: Node, owner: Owner, what: str) -> Iterator[Occurrence]:
    """Yield what the keys of a state, an ``always`` or a branch name."""
    for key, value in _pairs(node):
        yield _key(key, what)
        match key.text:
            case "receive" | "say":
                of = (key.text, owner[0])
                for messages, branch in _pairs(value):
                    yield from (Occurrence("message", of, name, place) for name, place in _parts(messages, ","))
                    yield from _branch(branch, owner)
            case "after" | "every" | "when":
                for moment, branch in _pairs(value):
                    yield from _expression(moment, owner)
                    yield from _branch(branch, owner)
            case "then" | "timeout" | "invalid" | "closed" | "fault" | "failed" | "connected" | "ended" | "seated":
                yield from _branch(value, owner)
            case "run" | "accept" | "start":
                for call in _scalars(value):
                    yield from _call(call, owner, "machine", owner[:1])
            case "send":
                yield from _sends(value, owner)
            case "before":
                yield from _branch(value, owner)
            case "do" if isinstance(value, ListNode):
                for step in value.items:
                    yield from _handlers(step, owner, "a step")
            case "each" if isinstance(value, ScalarNode):
                item, _, _ = value.text.partition(" ")
                yield Occurrence("name", owner, item, inside(value), True)
                yield from _expression(value, owner, skipped=(item, "in"))
            case "let":
                for name, bound in _pairs(value):
                    yield Occurrence("name", owner, name.text, name.place, True)
                    yield from _values(bound, owner)
            case "as" | "fold" if isinstance(value, ScalarNode):
                yield Occurrence("name", owner, value.text, inside(value), key.text == "as")
            case "ask" if isinstance(value, ScalarNode):
                yield from _expression(value, owner, skipped=(value.text.partition("(")[0].strip(),))
            case "doc" | "early":
                pass
            case _:
                yield from _values(value, owner)


def _sends(node: Node, owner: Owner) -> Iterator[Occurrence]:
    for value in node.items if isinstance(node, ListNode) else (node,):
        if isinstance(value, MapNode):
            for receiver, sent in value.pairs:
                yield from _expression(receiver, owner)
                yield from _sends(sent, owner)
        elif isinstance(value, ScalarNode):
            yield from _call(value, owner, "message", ("send", owner[0]))


def _call(node: ScalarNode, owner: Owner, kind: Kind, of: Owner) -> Iterator[Occurrence]:
    name = node.text.partition("(")[0]
    yield Occurrence(kind, of, name.strip(), inside(node).right(len(name) - len(name.lstrip())))
    rest = ScalarNode(node.text[len(name) :], node.plain, node.place.right(len(name)))
    yield from _expression(rest, owner)


def _values(node: Node, owner: Owner) -> Iterator[Occurrence]:
    for scalar in _scalars(node):
        yield from _expression(scalar, owner)


def _expression(node: ScalarNode, owner: Owner, skipped: tuple[str, ...] = ()) -> Iterator[Occurrence]:
    """Yield the names and rules of an expression. A name behind a dot is a field, one before a colon a key."""
    text = _TEXT.sub(lambda found: " " * len(found[0]), node.text)
    for match in _WORD.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        if match[0] in skipped or match[0] in _NOTHING or (before and (before[-1].isdigit() or before.endswith("$"))):
            continue
        if after.lstrip().startswith(":"):
            continue
        place = inside(node).right(match.start())
        if before.endswith("."):
            module = re.search(r"(\w+)\.$", before)
            if module and (after.startswith("(") or not after):
                yield Occurrence("rule", (module[1],), match[0], place)
        else:
            yield Occurrence("name", owner, match[0], place, _FOR.search(before) is not None)
