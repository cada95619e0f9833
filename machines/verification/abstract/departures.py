"""What becomes of peers and calls: what is known of who is seated, connections closed, states left, calls given up."""

from __future__ import annotations

from collections.abc import Mapping

from machines.verification.abstract.domain import UNSET, Seats, Value, seats_in
from machines.verification.abstract.queries import StateQueries
from machines.verification.abstract.role_info import PEERS
from machines.verification.abstract.seated import with_fields
from machines.verification.abstract.state import DROPPED, DROPPED_TOLD, OPEN, TOLD, AbstractCall, Closed, is_marked


class Departures(StateQueries):
    """A role that seats peers, and lets go of them and of calls."""

    def _know_of(self, peer: Value, fields: Mapping[str, Value]) -> None:
        """Remember the fields of a peer that conditions ask for, as far as they are known."""
        asked = self.outline.asked_of_peers & fields.keys()
        if asked and self.root is not None:
            at = self.root.table.index[PEERS]
            self.root.env[at] = with_fields(
                self.root.env[at], peer, {name: self.reckoner.lasting(fields[name]) for name in asked}
            )

    def _drop(self, seat: int, why: str) -> None:
        if self.seats[seat] in (DROPPED, DROPPED_TOLD):
            return
        told = self.seats[seat] == TOLD
        self.seats[seat] = DROPPED_TOLD if told else DROPPED
        self.out.append(Closed(seat, why))
        holder = self.holder_of(seat)
        if holder is not None and not told:
            self._tell_closed(holder, seat)

    def _tell_closed(self, call: AbstractCall, seat: int | None) -> None:
        """Let a call hear that a peer is gone, or all of a group, once: who drops it may go on to await it."""
        if (call, ".closed", seat, "closed") not in self.pending:
            self.pending.append((call, ".closed", seat, "closed"))

    def _leave(self, call: AbstractCall) -> None:
        call.hears = ()
        call.asked = False
        call.told_empty = False
        if call.fired:
            call.fired = tuple(one for one in call.fired if one.startswith("always:"))
        call.loop = None
        for at in call.table.counted:
            call.env[at] = UNSET
        if call.child is not None:
            child, call.child = call.child, None
            self.abandon(child)
        if call.sign_ups is not None:
            sign_ups, call.sign_ups = call.sign_ups, None
            accept = call.node.accept
            assert accept is not None, "only an accept has sign-ups"
            call.parked = {**(call.parked or {}), **sign_ups}
            call.parked_for = accept.name

    def abandon(self, call: AbstractCall) -> None:
        """End a call and all that was made and started from it; no step of theirs is done."""
        for child in list(call.children()):
            self.abandon(child)
        call.child = None
        self._close_pending({**(call.parked or {}), **(call.sign_ups or {})})
        call.sign_ups = call.parked = None
        call.alive = False
        call.hears = ()
        call.asked = False
        if call.lent is not None:
            self.give_back(call)

    def give_back(self, started: AbstractCall) -> None:
        """A started machine is over: it leaves its caller, and the peers it was lent go back to whoever awaits them.

        A loss meanwhile that it was told of is told once more.
        """
        parent = started.parent
        assert parent is not None, "what is started has been started by somebody"
        parent.started.remove(started)
        for seat in started.lent or ():
            if self.seats[seat] in (TOLD, DROPPED_TOLD) and seat not in started.told:
                self.seats[seat] = DROPPED
            to = self.lent_to(seat)
            self.rejoining += [
                call
                for call in self.calls()
                if call.host is to and call not in self.rejoining and seat in self.wanted_by(call)
            ]
        started.lent = ()

    def wanted_by(self, call: AbstractCall) -> Seats:
        """Return the seats that a call awaits in its present state, or would if they were not lent."""
        if call.sign_ups is not None and call.node.accept is not None:
            awaited = seats_in(call.look(call.node.accept.name))
        elif call.node.kind == "wait" and call.node.awaits is None and call.node.state.ask is None:
            awaited = (0,) if self.outline.one_partner else ()
        else:
            awaited = ()
        if call.node.awaits is not None and call.node.kind in ("wait", "accept"):
            awaited = (*awaited, *self.reckoner.group(self._value(call.node.awaits, call))[0])
        return awaited

    def _close_pending(self, pending: dict[int, AbstractCall]) -> None:
        for seat, child in pending.items():
            if child.alive:
                self.abandon(child)
            self._drop(seat, "door")

    def _end(self, failed: str) -> None:
        if self.over is None:
            self.over = failed
            for seat, status in enumerate(self.seats):
                if status == OPEN or is_marked(status):
                    self.seats[seat] = DROPPED_TOLD
                    self.out.append(Closed(seat, "failed" if failed else "over"))
            self.work.clear()
            self.pending.clear()
            self.starting.clear()
            self.rejoining.clear()
            self.endings.clear()
