"""The reader's part for ``accepted``: problems that a spec has on purpose, by code, each with a written reason.

accepted:
  A331: nobody reads it; the document wants it sent           wherever it is told
  A325:
    client.main.waiting: the document knows no limit          in one place
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from machines.model import Role, Suppression
from machines.parser.context import ParseContext, inside, is_empty, shown
from machines.problems import Place, near
from machines.yaml.nodes import MapNode, Node, ScalarNode

# A spec with one of these runs: it may wait for ever, say what nobody reads, or do what nobody meant, but not break.
ACCEPTABLE: Final = (
    *("A309", "A320", "A321", "A323", "A325", "A326", "A327", "A329"),
    *("A330", "A331", "A332", "A333", "A334", "A335", "A339", "A341", "A342", "A343", "A347", "A348"),
    *("A500", "A501", "A502", "A503", "A504", "A505", "A507", "A508", "A509", "A510"),
    *("A601", "A602", "A603"),
)


def read_accepted(
    reading: ParseContext, node: Node | None, declared: Iterable[str], roles: Mapping[str, Role]
) -> tuple[Suppression, ...]:
    """Return the problems that are accepted, in the order written. ``declared`` are messages, settings and types."""
    if node is None:
        return ()
    known = (*declared, *_places(roles))
    found: list[Suppression] = []
    for key, value in reading.mapping(node, "'accepted'", "like accepted: {A331: the reason}").pairs:
        if key.text not in ACCEPTABLE:
            hint = near(key.text, ACCEPTABLE) or f"these can be: {', '.join(ACCEPTABLE)}"
            reading.fault(key.place, "A139", f"{shown(key.text)} is no problem that can be accepted", hint)
        if not isinstance(value, MapNode):
            found += _accepted(reading, key.text, None, key.place, value)
            continue
        if not value.pairs:
            reading.fault(value.place, "A139", f"{key.text} is accepted nowhere", "write the reason behind it")
        for where, reason in value.pairs:
            if where.text not in known:
                hint = near(where.text, known) or "a message, a setting, a type, or role.machine.state"
                reading.fault(inside(where), "A139", f"nothing is called {shown(where.text)}", hint)
            found += _accepted(reading, key.text, where.text, where.place, reason)
    return tuple(found)


def _places(roles: Mapping[str, Role]) -> Iterable[str]:
    for role in roles.values():
        yield role.name
        for machine in role.machines.values():
            yield f"{role.name}.{machine.name}"
            yield from (f"{role.name}.{machine.name}.{state}" for state in machine.states)


def _accepted(reading: ParseContext, code: str, where: str | None, place: Place, reason: Node) -> Iterable[Suppression]:
    if is_empty(reason) or not isinstance(reason, ScalarNode) or not reason.text.strip():
        reading.fault(reason.place, "A139", f"{code} is accepted without a reason", "say why, in a sentence")
    else:
        yield Suppression(code, where, reason.text, place)
