"""What a spec says in words: ``doc`` of the whole, of roles, machines and states; ``docs`` and ``examples`` by name.

doc: Guests bid once, in the order of their arrival
docs: {BID: "what a guest offers, in coins", Coins: never more than it has, reply: a person may need longer}
examples: {BID: [{amount: 3}], Coins: [0, 9]}
roles:
  host:
    doc: seats all and asks each once
    turn(guest):
      doc: one guest is asked
      asked: {doc: it has one try, send: ASK, …}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from machines.messages.bodies import compile_message
from machines.messages.compiler import Compiler
from machines.messages.shapes import NO_MATCH
from machines.messages.syntax import parse_json
from machines.messages.well_formed import named_types
from machines.model import Message, Setting, TypeDeclaration
from machines.parser.context import ParseContext, inside
from machines.problems import Place
from machines.values import freeze
from machines.yaml.nodes import Node, ScalarNode

EXAMPLES_MAX = 20  # of one message or type


def is_doc(key: ScalarNode, value: Node) -> bool:
    """Whether a key of a role or machine is its ``doc``, and not a machine or state that is called so."""
    return key.text == "doc" and isinstance(value, ScalarNode)


def read_doc(reading: ParseContext, node: Node | None) -> str:
    """Return the text under the ``doc`` of a role or machine; nothing if there is none."""
    return whole_doc(reading, node) if isinstance(node, ScalarNode) else ""


def whole_doc(reading: ParseContext, node: Node | None) -> str:
    """Return the text under the ``doc`` of a spec; what is none is a problem."""
    text = reading.text(node, "the text after 'doc'") if node is not None else None
    return (text or "").strip()


def documented(
    reading: ParseContext,
    docs: Node | None,
    settings: dict[str, Setting],
    types: dict[str, TypeDeclaration],
    messages: dict[str, Message],
) -> None:
    """Put the texts under ``docs`` to the messages, types and settings that they name."""
    for key, value in reading.mapping(docs, "'docs'", "like docs: {BID: an offer}").pairs if docs is not None else ():
        text = reading.text(value, f"what 'docs' says of {key.text}")
        known = False
        for table in (messages, types, settings):
            found: Any = table.get(key.text)
            if found is not None:
                table[key.text] = replace(found, doc=(text or "").strip())
                known = True
        if not known and key.text not in (*reading.messages, *reading.types, *reading.settings):
            _unknown(reading, key, "message, type or setting", (*messages, *types, *settings))


def illustrated(
    reading: ParseContext,
    examples: Node | None,
    types: dict[str, TypeDeclaration],
    messages: dict[str, Message],
    sound: frozenset[str],
) -> None:
    """Put the values under ``examples`` to the messages and types that they name: as on the wire. A214: one is none.

    ``sound`` are the types without a problem; of others nothing is compared.
    """
    if examples is None:
        return
    compiler = Compiler({name: types[name] for name in sound})
    for key, value in reading.mapping(examples, "'examples'", "like examples: {BID: [{amount: 3}]}").pairs:
        nodes = reading.items(value, f"what 'examples' says of {key.text}", "one example is written [EXAMPLE]")
        if len(nodes) > EXAMPLES_MAX:
            text = f"{key.text} has {len(nodes)} examples; {EXAMPLES_MAX} are allowed"
            reading.fault(nodes[EXAMPLES_MAX].place, "A214", text, "a few say more")
        values = [(freeze(parse_json(node, reading.problems)), node.place) for node in nodes[:EXAMPLES_MAX]]
        plain = tuple(one for one, _ in values)
        message, declared = messages.get(key.text), types.get(key.text)
        if message is not None:
            messages[key.text] = replace(message, examples=plain)
            if all(used.name in sound for field in message.fields for used in named_types(field.type)):
                _fit_message(reading, message, {name: types[name] for name in sound}, values)
        elif declared is not None:
            types[key.text] = replace(declared, examples=plain)
            if key.text in sound:
                shape = compiler.shape(declared.type)
                for one, place in values:
                    if shape.take(one) is NO_MATCH:
                        _told(reading, key.text, str(shape.fault(one, ())), place)
        elif key.text not in (*reading.messages, *reading.types):
            _unknown(reading, key, "message or type", (*messages, *types))


def _fit_message(
    reading: ParseContext,
    message: Message,
    types: Mapping[str, TypeDeclaration],
    values: Iterable[tuple[Any, Place]],
) -> None:
    codec = compile_message(message, types)
    for value, place in values:
        if codec.read(value) is None:
            _told(reading, message.name, codec.why_not(value), place)


def _told(reading: ParseContext, name: str, why: str, place: Place) -> None:
    reading.fault(place, "A214", f"this is no example of {name}: {why}", "an example is written as on the wire")


def _unknown(reading: ParseContext, key: ScalarNode, kind: str, known: Iterable[str]) -> None:
    reading.unknown(inside(key), "A105", kind, key.text, known)
