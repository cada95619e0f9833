"""The reader's part for types and messages: who sends what, and which other bodies are read as the same message."""

from __future__ import annotations

from collections.abc import Iterator

from machines import model
from machines.model import Body, Message, Type, TypeDeclaration
from machines.nodes import ListNode, MapNode, Node, ScalarNode
from machines.problems import Place
from machines.reading import MessageOutline, Reading, inside, is_empty, joined
from machines.types import parse_body, parse_type

SCALARS = ("string", "int", "number", "bool", "null", "any")


def read_types(reading: Reading, node: Node) -> dict[str, TypeDeclaration]:
    """Return the declared types by name; each name of a type in them is declared too."""
    declared = reading.mapping(node, "'types'", "like types: {Token: {enum: [white, black]}}")
    found: dict[str, TypeDeclaration] = {}
    for key, _ in declared.pairs:
        if reading.name(key, "a type") and key.text in SCALARS:
            reading.fault(key.place, "A116", f"{key.text!r} is built in and no name for a type")
        reading.types[key.text] = None
    for key, value in declared.pairs:
        if is_empty(value):
            reading.fault(value.place, "A113", f"the type {key.text!r} has no shape")
            continue
        type_ = parse_type(value, reading.problems)
        if type_ is not None:
            _check_types(reading, type_, value)
            found[key.text] = TypeDeclaration(key.text, type_, key.place)
    _check_circles(reading, found)
    return found


def _check_circles(reading: Reading, types: dict[str, TypeDeclaration]) -> None:
    """Tell types that hold themselves: no value could be checked in one pass, and most could never end."""
    within = {name: {named for named in _named(declared.type) if named in types} for name, declared in types.items()}
    for name, declared in types.items():
        seen: set[str] = set()
        ahead = list(within[name])
        while ahead:
            current = ahead.pop()
            if current not in seen:
                seen.add(current)
                ahead.extend(within[current])
        if name in seen:
            reading.fault(declared.place, "A137", f"the type {name!r} holds itself", "a type may only use others")


def _named(type_: Type) -> Iterator[str]:
    match type_:
        case model.Named(name):
            yield name
        case model.Exactly(types) | model.Union(types):
            for inner in types:
                yield from _named(inner)
        case model.Repeated(item):
            yield from _named(item)
        case model.Keyed(fields):
            for field in fields:
                yield from _named(field.type)
        case model.MapOf(key, value):
            yield from _named(key)
            yield from _named(value)
        case _:
            pass


def _check_types(reading: Reading, type_: Type, node: Node) -> None:
    for name in _named(type_):
        if name not in reading.types:
            reading.unknown(_place_of(name, node), "A108", "type", name, (*reading.types, *SCALARS))


def _place_of(word: str, node: Node) -> Place:
    """Return where a word stands in a node, the node's own place if it is not there as it is."""
    ahead = [node]
    while ahead:
        match ahead.pop(0):
            case ScalarNode(text) as scalar:
                found = _whole_word(word, text)
                if found is not None:
                    return inside(scalar).right(found)
            case ListNode(items):
                ahead[:0] = items
            case MapNode(pairs):
                ahead[:0] = [value for _, value in pairs]
    return node.place


def _whole_word(word: str, text: str) -> int | None:
    at = text.find(word)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(word) : at + len(word) + 1]
        if not any(character.isalnum() or character in "_$" for character in around):
            return at
        at = text.find(word, at + 1)
    return None


# -- messages --------------------------------------------------------------------------------------------------------


def read_messages(reading: Reading, node: Node, also: Node | None, urgent: Node | None) -> dict[str, Message]:
    """Return the messages by name, in file order, with the other bodies of ``also`` and whether they are urgent."""
    others = _also(reading, also) if also is not None else {}
    hasty = _urgent(reading, urgent) if urgent is not None else {}
    found: dict[str, Message] = {}
    first: dict[str, Place] = {}
    for senders_key, listed in reading.mapping(node, "'messages'", "messages by sender").pairs:
        senders = _senders(reading, senders_key)
        example = "like JOIN: $name Name"
        for key, value in reading.mapping(listed, f"what {senders_key.text} sends", example).pairs:
            name = key.text
            reading.name(key, "a message")
            if name in first:
                hint = f"it first stands in line {first[name].line}; several senders are written as 'client, ai:'"
                reading.fault(key.place, "A115", f"there is a message {name!r} already", hint)
                continue
            first[name] = key.place
            body = _body(reading, value, f"the body of {name}")
            reading.messages[name] = MessageOutline(senders, None if body is None else len(list(model.holes(body))))
            if body is not None:
                alike = tuple(other for other, _ in others.get(name, ()))
                found[name] = Message(name, senders, body, alike, name in hasty, key.place)
                for other, place in others.get(name, ()):
                    _check_also(reading, found[name], other, place)
    for place, name in ((key.place, key.text) for key, _ in getattr(also, "pairs", ())):
        if name not in first:
            reading.unknown(place, "A105", "message", name, first)
    for name, place in hasty.items():
        if name not in first:
            reading.unknown(place, "A105", "message", name, first)
    return found


def _senders(reading: Reading, key: ScalarNode) -> tuple[str, ...]:
    """Return the roles that ``client, ai`` names."""
    senders: list[str] = []
    at = 0
    for written in key.text.split(","):
        sender = written.strip()
        place = inside(key).right(at + len(written) - len(written.lstrip()))
        at += len(written) + 1
        if not sender:
            reading.fault(place, "A113", "a sender is missing", "like 'client, ai:'")
        elif reading.machines and sender not in reading.machines:
            reading.unknown(place, "A107", "role", sender, reading.machines)
        elif sender in senders:
            reading.fault(place, "A115", f"the sender {sender!r} stands twice")
        else:
            senders.append(sender)
    return tuple(senders)


def _body(reading: Reading, node: Node, what: str) -> Body | None:
    if is_empty(node):
        reading.fault(node.place, "A113", f"{what} is missing", "write null for the JSON value null")
        return None
    body = parse_body(node, reading.problems)
    if body is None:
        return None
    names: set[str] = set()
    for hole in model.holes(body):
        if hole.name in names:
            reading.fault(hole.place, "A115", f"{what} has a hole {hole.name!r} already", "each hole has its own name")
        names.add(hole.name)
        for name in _named(hole.type):
            if name not in reading.types:
                place = _place_of(name, node)
                reading.unknown(place if place != node.place else hole.place, "A108", "type", name, reading.types)
    return body


def _also(reading: Reading, node: Node) -> dict[str, list[tuple[Body, Place]]]:
    found: dict[str, list[tuple[Body, Place]]] = {}
    for key, value in reading.mapping(node, "'also'", "like also: {JOIN: [$name Name]}").pairs:
        items = reading.items(value, f"the other bodies of {key.text}", "one body is written [BODY]")
        bodies = ((_body(reading, item, f"another body of {key.text}"), item.place) for item in items)
        found[key.text] = [(body, place) for body, place in bodies if body is not None]
    return found


def _check_also(reading: Reading, message: Message, other: Body, place: Place) -> None:
    """Tell if another body lacks a hole, or has one more: what is read must be the same message."""
    own = {hole.name for hole in message.holes}
    its = {hole.name for hole in model.holes(other)}
    optional = {hole.name for hole in message.holes if hole.optional}
    missing, more = own - its - optional, its - own
    if missing or more:
        lacks = [f"lacks {joined(sorted(missing))}"] if missing else []
        has = [f"has {joined(sorted(more))} besides"] if more else []
        text = f"this body of {message.name} {joined([*lacks, *has])}"
        reading.fault(place, "A132", text, "all bodies of a message have the same holes")


def _urgent(reading: Reading, node: Node) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for item in reading.items(node, "'urgent'", "like urgent: [PING]"):
        name = reading.text(item, "an urgent message")
        if name is not None:
            found[name] = inside(item)
    return found
