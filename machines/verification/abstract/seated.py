"""What a sign-up said of peers: those of their fields that conditions ask for, kept as a name of main.

It is a list of (peer, fields); UNSET, as any name at first, says that nothing is known of anybody.
"""

from __future__ import annotations

from collections.abc import Mapping

from machines.verification.abstract.domain import UNSET, Fields, Value


def with_fields(known: Value, peer: Value, fields: Mapping[str, Value]) -> Value:
    """Return what is known with fields of a peer; one that is UNSET is no longer known. They never change again."""
    of_all: dict[Value, Fields] = {} if known is UNSET else dict(known)
    of = {**dict(of_all.get(peer, Fields(())).items), **fields}
    of_all[peer] = Fields(tuple((name, of[name]) for name in sorted(of) if of[name] is not UNSET))
    return tuple((one, its) for one, its in of_all.items() if its.items)


def field_of(known: Value, seat: int, name: str) -> Value:
    """Return what is known of a field of a peer, UNSET if nothing is."""
    for peer, fields in () if known is UNSET else known:
        if peer.seat == seat:
            return fields.get(name)
    return UNSET
