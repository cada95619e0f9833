"""The journal of a program that is only listened to: what a session of the spec would have done in its place.

A session of the connecting role is sent what the listener sent, and answers what the program answered. Its inputs are
the journal's, so that ``draw``, ``replay`` and the studio read it as they read any other; each link is a session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from machines.effects import Ask, Cancel, Effect, Send
from machines.engine.compiler import Program
from machines.engine.session import Session

InputWriter = Callable[..., None]  # as `runtime.journal.writing.Journal.write`
_NAME: Final = "ann"
_NAMES_MAX: Final = 8  # texts of its first message that are tried as the program's name


class ShadowJournal:
    """Writes one link of a connecting role. It begins with what is first known of it, since then its name may be."""

    def __init__(self, program: Program, write: InputWriter, number: int) -> None:
        self._program = program
        self._write = write
        self._number = number
        self._session: Session | None = None
        self._asked: deque[Ask] = deque()

    def heard(self, chunk: bytes, now: float) -> None:
        """The listener sent bytes."""
        session = self._session or self._begin({"name": _NAME}, now)
        if session.ended is None:
            self._wrote("bytes", now, session.receive(0, chunk, now), peer=0, data=chunk)

    def said(self, message: str, fields: Mapping[str, Any], raw: bytes, now: float) -> None:
        """The program sent a message."""
        if self._session is None:
            self._begin({"name": self._name(fields, raw)}, now)
        session = self._session
        if session is not None and session.ended is None and self._asked:
            asked = self._asked.popleft()
            answer = (message, dict(fields))
            self._wrote("answer", now, session.answer(asked.number, answer, now), number=asked.number, value=answer)

    def lost(self, why: str, now: float) -> None:
        """The connection has ended."""
        if self._session is not None and self._session.ended is None:
            self._wrote("lost", now, self._session.lose(0, now), peer=0, why=why or None)

    def _name(self, fields: Mapping[str, Any], raw: bytes) -> str:
        """Return the name with which a session writes what came first."""
        texts = [value for value in fields.values() if isinstance(value, str)][:_NAMES_MAX]
        for name in texts:
            effects = Session(self._program, my={"name": name}).start(0.0)
            wrote = [effect.data for effect in effects if type(effect) is Send]
            if wrote and wrote[0].strip() == raw.strip():
                return name
        return _NAME

    def _begin(self, my: Mapping[str, Any], now: float) -> Session:
        session = self._session = Session(self._program, my=my)
        self._wrote("start", now, session.start(now), seed=0, my=my)
        return session

    def _wrote(self, kind: Any, now: float, effects: list[Effect], **what: Any) -> None:
        assert self._session is not None, "it has begun"
        self._write(kind, now, self._session.took, effects, session=self._number, **what)
        for effect in effects:
            if type(effect) is Ask:
                self._asked.append(effect)
            elif type(effect) is Cancel:
                self._asked = deque(one for one in self._asked if one.number != effect.number)
