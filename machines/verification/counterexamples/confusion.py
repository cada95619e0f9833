"""Roles for a search after the problems of one role: they mistake messages, and read names that have no value.

The exploration of sound specs need not do either: there no two messages that are expected together are alike, and every
name is bound. A session takes a message for the first listed that it may be; so does a `PlainCast`.
"""

from __future__ import annotations

from typing import Any

from machines.analysis.scopes import BUILT_IN_VALUES
from machines.expressions.unparse import names
from machines.model import Call
from machines.verification.abstract.domain import UNSET
from machines.verification.abstract.inputs import AbstractInterpreter
from machines.verification.abstract.outlines import LayerOutline
from machines.verification.abstract.process import Process
from machines.verification.abstract.state import AbstractCall, Observation, Token
from machines.verification.search.moves import GlobalState, Transition
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import System


class FirstMatchInterpreter(AbstractInterpreter):
    """One step of a role that takes a message for the first listed that it may be, and tells of names without value."""

    def _listed(self, layer: LayerOutline, seat: int, token: Token) -> str | None:
        messages = self.outline.spec.messages
        for name in layer.answers.receive:
            if not any(sender in messages[name].senders for sender in self.outline.senders(seat)):
                continue
            if name == token[0] or self._is_taken(token, name):
                return name
        return None

    def _is_taken(self, token: Token, name: str) -> bool:
        if self.alike.must_be(token[0], name):
            return True
        return self.alike.may_be(token[0], name) and self.oracle.choose(2) == 0

    def _look(self, call: AbstractCall, name: str) -> Any:
        at = call.table.index.get(name)
        seen = name in call.table.around or self._is_seen_everywhere(name)
        if (at is None and not seen) or (at is not None and call.env[at] is UNSET):
            here = f"{call.table.name}.{call.state}"
            self.hits.append(Observation("unset", f"{name} has no value in {here}", name, here))
        return super()._look(call, name)

    def _is_seen_everywhere(self, name: str) -> bool:
        return name in self.outline.settings or name in self.outline.connects or name in BUILT_IN_VALUES

    def _token(self, message: Call, call: AbstractCall) -> Token:
        if message.arguments is None:  # its fields are names of the machine
            for field in self.outline.spec.messages[message.path].fields:
                self._look(call, field.name)
        for argument in message.arguments or ():
            for name in names(argument) if id(argument) in self.outline.idle else ():
                self._look(call, name.name)
        return super()._token(message, call)


class AnyMatchInterpreter(FirstMatchInterpreter):
    """One that may take a message for what it is all the same: what comes after a mistake is seen besides it."""

    def _is_taken(self, token: Token, name: str) -> bool:
        return self.alike.may_be(token[0], name) and self.oracle.choose(2) == 0


class PlainPart(Process):
    """A role whose sessions mistake messages."""

    walk = FirstMatchInterpreter


class FreePart(Process):
    """A role whose sessions may mistake messages."""

    walk = AnyMatchInterpreter


class PlainCast(System):
    """All roles, each mistaking what it can not tell apart."""

    part = PlainPart
    decides_only = False


class FreeCast(System):
    """All roles, each perhaps mistaking what it can not tell apart."""

    part = FreePart


class FairGraph(StateSpace):
    """The runs in which nothing goes wrong but what the protocol itself does wrong."""

    def _moves(self, config: GlobalState, only: tuple[int, ...] | None = None) -> list[Transition]:
        return [move for move in super()._moves(config, only) if move.fair]
