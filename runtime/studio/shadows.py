"""Where the clients of a server's journal stand, though no journal of theirs is there.

A session of the client's role is sent what the server sent, and answers what the server received: a *shadow*. It says
where a client *of the spec* stands. If the real one wrote something else, the shadow is no longer sure of itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from machines.effects import Ask, Cancel, Effect, Ended, Received, Send
from machines.engine.compiler import Program
from machines.engine.routing import Stand, stands
from machines.engine.session import Session
from machines.model import Spec

_NAME: Final = "ann"
_NAMES_MAX: Final = 8  # texts of its first message that are tried as the client's name


def shadowed_role(spec: Spec, role: str) -> str | None:
    """Return the role of which a server's peers have shadows: the only one that connects, and connects to it alone."""
    callers = [name for name, targets in spec.connects.items() if role in targets]
    if len(callers) == 1 and tuple(spec.connects[callers[0]]) == (role,) and callers[0] not in _called(spec):
        return callers[0]
    return None


def _called(spec: Spec) -> frozenset[str]:
    return frozenset(target for targets in spec.connects.values() for target in targets)


class Shadow:
    """One client. It starts with the first that is known of it, since only then its name may be known."""

    def __init__(self, program: Program) -> None:
        self.took: list[tuple[str, str, str, str]] = []  # since it was last asked
        self.moved = True  # since then
        self.unsure = False  # what it wrote was not what came: the real client may stand elsewhere
        self._program = program
        self._session: Session | None = None
        self._asked: deque[Ask] = deque()

    def stands(self) -> Stand:
        """Return where it stands; nothing before it starts and once it is over."""
        return stands(self._session) if self._session is not None else ()

    def taken(self) -> list[tuple[str, str, str, str]]:
        """Return the transitions since this was last asked."""
        took, self.took, self.moved = self.took, [], False
        return took

    def sent(self, data: bytes, now: float) -> list[Received]:
        """The server sent bytes to the client; return the messages that it took."""
        session = self._session or self._begin(now, {"name": _NAME})[0]
        if session.ended is not None:
            return []
        out = session.receive(0, data, now)
        self._note(session, out)
        return [effect for effect in out if type(effect) is Received]

    def received(self, message: str, fields: Mapping[str, Any], raw: bytes, now: float) -> None:
        """The server took a message from the client, that had come in these bytes."""
        if self._session is None:
            self._first(fields, raw, now)
            return
        if self._session.ended is not None or not self._asked:
            return  # what it sends unasked it has sent already
        question = self._asked.popleft()
        wrote = self._note(self._session, self._session.answer(question.number, (message, dict(fields)), now))
        self._compare(wrote, raw)

    def spoiled(self) -> None:
        """What came from the client was no message, or none that was expected: the shadow cannot follow."""
        self.unsure = True

    def lost(self, now: float) -> None:
        """The connection is closed, by whomever."""
        if self._session is not None and self._session.ended is None:
            self._note(self._session, self._session.lose(0, now))

    def _first(self, fields: Mapping[str, Any], raw: bytes, now: float) -> None:
        """Start the client by the name with which it writes what came first."""
        texts = [value for value in fields.values() if isinstance(value, str)][:_NAMES_MAX]
        for name in (*texts, _NAME):
            out = self._begin(now, {"name": name})[1]
            wrote = [effect.data for effect in out if type(effect) is Send]
            if wrote and wrote[0].strip() == raw.strip():
                return
        if not self._asked:
            self._compare(wrote, raw)

    def _begin(self, now: float, my: Mapping[str, Any]) -> tuple[Session, list[Effect]]:
        session = self._session = Session(self._program, my=my, watch=True)
        self._asked.clear()
        self.took.clear()
        out = session.start(now)
        self._note(session, out)
        return session, out

    def _note(self, session: Session, out: list[Effect]) -> list[bytes]:
        self.took += session.took
        self.moved = True
        wrote = []
        for effect in out:
            if type(effect) is Ask:
                self._asked.append(effect)
            elif type(effect) is Cancel:
                self._asked = deque(one for one in self._asked if one.number != effect.number)
            elif type(effect) is Send:
                wrote.append(effect.data)
            elif type(effect) is Ended and effect.failed is not None:
                self.unsure = True  # the real client may go on
        return wrote

    def _compare(self, wrote: list[bytes], raw: bytes) -> None:
        if not wrote or wrote[0].strip() != raw.strip():
            self.unsure = True
