"""Machines that nobody waits for, over unknown values: begun, lent the peers they are given, told of when they end.

The rules are those of `machines.engine.spawning`. Of machines that are lent no peer there is no telling how many a
session may start; where more than STARTED_MAX run at once, nothing is known of what follows.
"""

from __future__ import annotations

from typing import Final

from machines.verification.abstract.budget import BoundExceeded
from machines.verification.abstract.domain import Unknown, Value, seats_in
from machines.verification.abstract.outlines import LayerOutline
from machines.verification.abstract.role_domain import RoleDomain
from machines.verification.abstract.state import DROPPED_TOLD, TOLD, AbstractCall

STARTED_MAX: Final = 6  # at once, in one session
RETURNED, FAILED, LIMIT = "returned", "failed", "limit"


class Spawning(RoleDomain):
    """A role that starts machines."""

    def carry_on(self) -> None:
        """Let whoever was awaiting a peer that came back hear it again; then begin what was started."""
        while self.rejoining or self.starting:
            if self.rejoining:
                self._rejoin(self.rejoining.pop(0))
            else:
                self._begin(*self.starting.pop(0))

    def _begin(self, call: AbstractCall, machine: str, arguments: tuple[Value, ...]) -> None:
        if not call.alive:
            return
        running = sum(one.lent is not None for one in self.calls())
        if running >= self.outline.spec.wire.started_max:
            self.endings.append((call, None, LIMIT))
            return
        if running >= STARTED_MAX:
            raise BoundExceeded(f"more than {STARTED_MAX} machines that {self.outline.name} started run at once")
        if any(type(one) is Unknown and one.peers for one in arguments):
            raise BoundExceeded(f"which peers {machine} of {self.outline.name} is started with is not known beforehand")
        child = self.new_call(machine, arguments, call)
        given = [seat for seat in seats_in(*arguments) if self.lent_to(seat) is call.host]
        for seat in given:  # who has it not cannot lend it: then the machine is given a name, no more
            holder = self.holder_of(seat)
            if holder is not None:
                holder.hears = tuple(one for one in holder.hears if one != seat)
        child.lent = tuple(given)
        child.told = tuple([seat for seat in given if self.seats[seat] in (TOLD, DROPPED_TOLD)])
        call.started.append(child)
        self.work.append(child)

    def _rejoin(self, call: AbstractCall) -> None:
        if not call.alive:
            return
        if call.node.kind == "wait":
            self.register(call, afresh=False)
        elif call.sign_ups is not None:
            self.hear_seated(call)

    def _finish(self, call: AbstractCall) -> None:
        for started in list(call.started):
            self.abandon(started)
        parent = call.parent
        if call.lent is None or parent is None:
            super()._finish(call)
            return
        call.alive = False
        if call.parked is not None:
            self._close_pending(call.parked)
        self.give_back(call)
        self.endings.append((parent, call.result, RETURNED))

    def end_started(self, started: AbstractCall, event: str, seat: int | None, why: str) -> None:
        """A started machine that answers to nothing more ends, alone."""
        parent = started.parent
        assert parent is not None, "what is started has been started by somebody"
        self.abandon(started)
        self.endings.append((parent, None, FAILED))

    def notify_parent(self) -> None:
        """Tell whoever started a machine that it has ended: its state, or behind it its ``always``."""
        call, result, reason = self.endings.pop(0)
        for layer in (call.node.layer, call.table.always) if call.alive else ():
            if layer is not None and ".ended" in layer.events and self.tell_ended(call, layer, result, reason):
                return

    def tell_ended(self, call: AbstractCall, layer: LayerOutline, result: Value, reason: str) -> bool:
        """Tell a layer that a machine has ended that was started there; return False if no branch may be taken."""
        saved = call.env[:]
        call.env[call.table.index["result"]] = result
        call.env[call.table.index["reason"]] = reason
        self._look_round()
        if self._fire(call, layer, ".ended", None):
            return True
        call.env[:] = saved
        return False
