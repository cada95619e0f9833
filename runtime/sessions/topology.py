"""Which roles a client's game has, and how many connections there are between them."""

from __future__ import annotations

from collections.abc import Iterator

from machines.engine.call_stack import CallFrame
from machines.engine.session import Session
from machines.model import Spec


def signing_up(session: Session) -> int:
    """Return how many connections are signing up at this moment."""

    def below(frame: CallFrame) -> Iterator[CallFrame]:
        yield frame
        for child in frame.children():
            yield from below(child)

    if session.root is None or session.ended is not None:
        return 0
    return sum(
        (len(frame.accepting.pending) if frame.accepting is not None else 0) + len(frame.parked or ())
        for frame in below(session.root)
    )


def around(spec: Spec, client: str) -> list[str]:
    """Return the roles that a client connects to, or those that they connect to: each after those it connects to."""
    found: dict[str, None] = {}
    under_way = [(client, iter(spec.connects.get(client, ())))]
    while under_way:
        role, targets = under_way[-1]
        target = next((one for one in targets if one not in found), None)
        if target is not None:
            under_way.append((target, iter(spec.connects.get(target, ()))))
        else:
            under_way.pop()
            found[role] = None
    return [role for role in found if role != client]


def connections(spec: Spec, client: str, server: str) -> int:
    """Return how many connections to the server a client has, with those of the sessions that are its own."""
    counted = {client: 1}
    total = 0
    for role in (client, *reversed(around(spec, client))):
        own = role == client or spec.roles[role].machines["main"].parameters
        for target in spec.connects.get(role, ()) if own else ():
            if target == server:
                total += counted[role]
            counted[target] = counted.get(target, 0) + counted[role]
    return total
