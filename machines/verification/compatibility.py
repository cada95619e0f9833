"""Two versions of a spec: what changed in the messages, and whether a new server still serves old clients.

`compare` explores the mixed pairs: the roles that others connect to from one version, all others from the other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from machines.messages.bodies import MessageCodec, compile_message
from machines.messages.overlap import fits_within
from machines.model import Message, Spec
from machines.verification.abstract.alike import is_renamed
from machines.verification.abstract.contracts import Contract
from machines.verification.verdict import POSSIBLE, PROVED, REFUTED, UNDETERMINED, State, Verdict
from machines.verification.verify import CLIENTS, CONFIGURATIONS_MAX, QUEUE, verify


@dataclass(frozen=True, slots=True)
class Change:
    """One difference in the messages. ``breaks`` says whom it may break, empty if nobody."""

    message: str
    text: str
    breaks: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.message} {self.text}"
        return f"{text}: {' and '.join(self.breaks)} may send what the other does not read" if self.breaks else text


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of it. ``new_server`` is the verdict on a new server with old clients, ``old_server`` the other way."""

    changes: tuple[Change, ...]
    apart: str  # why the two can not be put together; empty if they can
    new_server: Verdict | None
    old_server: Verdict | None

    @property
    def state(self) -> State:
        """Refuted if one of the mixed pairs is, or they can not be put together; else possible; proved if both are."""
        verdicts = (self.new_server, self.old_server)
        if self.apart or any(verdict is None or verdict.state == REFUTED for verdict in verdicts):
            return REFUTED
        if any(one and one.state == POSSIBLE for one in verdicts):
            return POSSIBLE
        unsure = any(change.breaks for change in self.changes)  # a value that one may send, and the other not read
        return UNDETERMINED if unsure or any(one and one.state == UNDETERMINED for one in verdicts) else PROVED


def compare(
    old: Spec,
    new: Spec,
    contracts: Mapping[str, Contract] | None = None,
    *,
    clients: Iterable[int] = CLIENTS,
    queue: int = QUEUE,
    most: int = CONFIGURATIONS_MAX,
) -> Comparison:
    """Compare two versions of a spec, each of which passes the checks; the rest as for `verify`."""
    changes = tuple(_changes(old, new))
    apart = _apart(old, new)
    if apart:
        return Comparison(changes, apart, None, None)
    numbers = tuple(clients)
    verdicts = [
        verify(server, contracts, clients=numbers, queue=queue, most=most, specs=mixed(server, client))
        for server, client in ((new, old), (old, new))
    ]
    return Comparison(changes, "", *verdicts)


def mixed(server: Spec, client: Spec) -> dict[str, Spec]:
    """Return which spec each role runs: those that connect to nobody that of the server, all others the client's."""
    return {role: client if server.connects.get(role) else server for role in server.roles}


def _apart(old: Spec, new: Spec) -> str:
    if set(old.roles) != set(new.roles):
        return f"the roles are not the same: {', '.join(old.roles)} and {', '.join(new.roles)}"
    if {role: old.connects.get(role, ()) for role in old.roles} != {
        role: new.connects.get(role, ()) for role in new.roles
    }:
        return "they connect in different ways"
    for one, other in zip(_cutting(old), _cutting(new), strict=True):
        if one != other:
            return f"messages are cut in different ways: {one} and {other}"
    return ""


def _cutting(spec: Spec) -> tuple[str, str, str]:
    return spec.wire.framing, spec.wire.line_end, spec.wire.charset


def _renamed(old: Spec, new: Spec) -> dict[str, str]:
    """Return the new names of messages that are called otherwise and have stayed the same."""
    fresh = [name for name in new.messages if name not in old.messages]
    found: dict[str, str] = {}
    for name in old.messages:
        if name not in new.messages:
            same = [other for other in fresh if other not in found.values() and is_renamed(old, name, new, other)]
            if same:
                found[name] = same[0]
    return found


def _changes(old: Spec, new: Spec) -> Iterable[Change]:
    renamed = _renamed(old, new)
    for name in dict.fromkeys((*old.messages, *new.messages)):
        before, after = old.messages.get(name), new.messages.get(name)
        if before is None:
            if name not in renamed.values():
                yield Change(name, "is new")
        elif name in renamed:
            yield Change(name, f"is called {renamed[name]} now, and the same on the wire")
        elif after is None:
            yield Change(name, "is there no more")
        else:
            yield from _changed(name, before, after, old, new)


def _changed(name: str, before: Message, after: Message, old: Spec, new: Spec) -> Iterable[Change]:
    if before.senders != after.senders:
        yield Change(name, f"is sent by {' and '.join(after.senders)}, no more by {' and '.join(before.senders)}")
    if before.urgent != after.urgent:
        yield Change(name, "is urgent now" if after.urgent else "is urgent no more")
    shapes: tuple[MessageCodec, MessageCodec] = (compile_message(before, old.types), compile_message(after, new.types))
    forward, back = fits_within(*shapes), fits_within(shapes[1], shapes[0])
    if forward and back:
        return
    breaks = ((f"an old {before.senders[0]}",) if not forward else ()) + (
        (f"a new {after.senders[0]}",) if not back else ()
    )
    text = "has another body" if breaks and len(breaks) == 2 else "takes more than before" if forward else "takes less"
    yield Change(name, text, breaks)
