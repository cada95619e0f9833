"""A role of a spec, ready to be followed: what is computed once for all who follow it."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from machines.conforming.incoming_stream import MessageReader
from machines.engine.compiler import Program
from machines.verification.abstract.alike import Alike
from machines.verification.abstract.contracts import contracts_for
from machines.verification.abstract.process import Process
from machines.verification.abstract.role_info import RoleOutline


class RoleKnowledge:
    """A role of a spec, ready to be followed: what is computed once for all its followers."""

    def __init__(self, program: Program, rules: Mapping[str, ModuleType], seats: int) -> None:
        spec, role = program.spec, program.role.name
        self.program = program
        self.rules = rules
        self.role = role
        self._wider: dict[int, RoleKnowledge] = {}
        # What is seen is bytes, which do not say which question they answer.
        self.outline = RoleOutline(spec, role, contracts_for(spec, rules), counts_questions=False, decides_only=False)
        self.reader = MessageReader(program, role)
        self.alike = Alike(spec, spec)
        self.process = Process(self.outline, self.alike, max(seats, len(program.connects) + program.per_connection, 1))
        self.seconds: dict[tuple[int, Any], float | None] = {}

    def wider(self, seats: int) -> RoleKnowledge:
        """Return the same with more seats."""
        if seats not in self._wider:
            self._wider[seats] = RoleKnowledge(self.program, self.rules, seats)
        return self._wider[seats]
