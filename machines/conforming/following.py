"""A follower: what one program says and hears, step by step, and the first thing that no program of its role would do.

    connected, told, hung_up      what the program is given: it lies unread before it until it cares to look
    said, ended                   what is seen of it: every belief that does not explain it is let go of
    idle                          nothing was seen for so long: is there a belief that may rest?

When no belief is left, the program has deviated from its role; all after that is consequence and is not judged. Order
is judged without clocks: but few programs let a clock ring before its time, and to believe it of all clocks of all
peers multiplies the beliefs. So once there are many, only those are kept in which clocks keep time; and when none of
these is left, all that was seen is gone through again with one that rings early, then with any number, before anything
is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final

from machines.conforming.belief_following import GARBAGE, RANG, BeliefFollower
from machines.conforming.beliefs import Belief, Trail
from machines.conforming.deviations import Deviation
from machines.conforming.incoming_stream import IncomingStream
from machines.conforming.role_knowledge import RoleKnowledge
from machines.verification.abstract.state import Token

MANY: Final = 8  # beliefs, beyond which clocks are trusted
BEARABLE: Final = 32  # with which it goes on, clocks or no clocks, once it cannot go through all again
NOTED_MAX: Final = 4_000  # inputs that are kept to be gone through again
NOTED_BYTES_MAX: Final = 1 << 20  # of what it said among them
AGAIN_MAX: Final = 20_000  # beliefs that are looked at while all is gone through again: 2 s
UNSURE: Final = "which clock of its own it goes by would take too long to find out"


class Follower:
    """Follows one program. Seats are those that its session would have; see `machines.engine.session.Session.start`.

    With ``knows_limits`` the limits of the spec are known to be those that the program runs with: who would be right
    with other limits only has deviated, even where it would take too long to say with which.
    """

    def __init__(self, knowledge: RoleKnowledge, *, knows_limits: bool = False) -> None:
        self._followed = BeliefFollower(knowledge)
        self._knows_limits = knows_limits
        self._inputs: list[Callable[[BeliefFollower], Any]] = []
        self._bytes = 0
        self._keeps = True  # whether all inputs are kept

    # -- inputs --------------------------------------------------------------------------------------------------------

    def make_room(self, seats: int) -> None:
        """Have at least so many seats."""
        self._take(lambda one: one.make_room(seats))

    def start(self, now: float) -> None:
        """See `BeliefFollower.start`."""
        self._take(lambda one: one.start(now))

    def connected(self, seat: int, now: float) -> None:
        """See `BeliefFollower.connected`."""
        self._take(lambda one: one.connected(seat, now))

    def told(self, seat: int, tokens: Sequence[Token], now: float, *, perhaps: bool = False) -> None:
        """See `BeliefFollower.told`."""
        self._take(lambda one: one.told(seat, tokens, now, perhaps=perhaps))

    def hung_up(self, seat: int, now: float) -> None:
        """See `BeliefFollower.hung_up`."""
        self._take(lambda one: one.hung_up(seat, now))

    def broke_off(self, seat: int, now: float) -> None:
        """See `BeliefFollower.broke_off`."""
        self._take(lambda one: one.broke_off(seat, now))

    def said(self, seat: int, chunk: bytes, now: float) -> list[tuple[Token, ...]]:
        """See `BeliefFollower.said`."""
        self._bytes += len(chunk)
        found: list[tuple[Token, ...]] = self._take(lambda one: one.said(seat, chunk, now))
        return found

    def ended(self, seat: int, now: float) -> None:
        """See `BeliefFollower.ended`."""
        self._take(lambda one: one.ended(seat, now))

    def idle(self, now: float, grace: float) -> None:
        """See `BeliefFollower.idle`."""
        self._followed.idle(now, grace)

    def _take(self, given: Callable[[BeliefFollower], Any]) -> Any:
        followed = self._followed
        judged = followed.judges
        if self._keeps and judged:
            self._inputs.append(given)
        found = given(followed)
        if followed.hurries_max < inf and judged and followed.deviation is not None and not self._is_sure():
            found = self._without_clocks(found)
        elif self._keeps and followed.judges:
            if followed.hurries_max == inf and len(followed.beliefs) > MANY:
                followed.trust_clocks()
            if len(self._inputs) > NOTED_MAX or self._bytes > NOTED_BYTES_MAX:
                self._keep_no_more()
        return found

    def _is_sure(self) -> bool:
        """Whether what it did is wrong whatever clock it goes by: no message of its role, where all cut bytes alike."""
        found = self._followed.deviation
        return found is not None and found.kind == "bytes" and not self.knowledge.program.frames

    def _without_clocks(self, found: Any) -> Any:
        """No belief is left in which clocks keep time: take over those in which some do not, if there are any."""
        sure = False
        for hurries_max in (1, inf) if self._keeps else ():
            again, last = self._again(hurries_max)
            sure = again.deviation is not None and hurries_max == inf
            if again.judges:
                self._followed, found = again, last
                self._keep_no_more()
                return found
        if not sure and not self._knows_limits:
            self._followed.deviation, self._followed.lost_track = None, UNSURE
        return found

    def _again(self, hurries_max: float) -> tuple[BeliefFollower, Any]:
        """Go through all that was given, with so many clocks that ring early."""
        again, last = BeliefFollower(self.knowledge, hurries_max=hurries_max, work_max=AGAIN_MAX), None
        for given in self._inputs:
            last = given(again)
        again.work_max = inf
        return again, last

    def _keep_no_more(self) -> None:
        """Forget what was given. Go on without clocks where that is not much to believe."""
        if self._followed.hurries_max == 0:
            again, _ = self._again(inf)
            if again.judges and len(again.beliefs) <= BEARABLE:
                self._followed = again
        self._inputs.clear()
        self._keeps = False

    # -- what is known -------------------------------------------------------------------------------------------------

    @property
    def knowledge(self) -> RoleKnowledge:
        """The role that is followed."""
        return self._followed.knowledge

    @property
    def beliefs(self) -> dict[Belief, Trail]:
        """All ways in which it may stand."""
        return self._followed.beliefs

    @property
    def streams(self) -> list[IncomingStream]:
        """Its bytes, a stream for each seat."""
        return self._followed.streams

    @property
    def deaf(self) -> set[int]:
        """The seats whose peer is gone."""
        return self._followed.deaf

    @property
    def covered(self) -> set[Any]:
        """The branches, by their id, and the states that it has come through for certain."""
        return self._followed.covered

    @property
    def deviation(self) -> Deviation | None:
        """The first thing that no program of the role would do."""
        return self._followed.deviation

    @property
    def late(self) -> list[Deviation]:
        """What only clocks refuse."""
        return self._followed.late

    @property
    def lost_track(self) -> str:
        """Why nothing is said of it any more; empty if it is followed. May be set."""
        return self._followed.lost_track

    @lost_track.setter
    def lost_track(self, why: str) -> None:
        self._followed.lost_track = why

    @property
    def judges(self) -> bool:
        """Whether it still has an opinion."""
        return self._followed.judges

    def patient_until(self, spare: float = 0.0) -> float:
        """See `BeliefFollower.patient_until`."""
        return self._followed.patient_until(spare)

    def overdue(self, now: float, grace: float) -> Deviation | None:
        """See `BeliefFollower.overdue`."""
        return self._followed.overdue(now, grace)

    def may_speak(self) -> bool:
        """See `BeliefFollower.may_speak`."""
        return self._followed.may_speak()

    def settled_states(self) -> frozenset[str]:
        """See `BeliefFollower.settled_states`."""
        return self._followed.settled_states()


__all__ = ["GARBAGE", "RANG", "Follower"]
