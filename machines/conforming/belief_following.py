"""All beliefs about one program, as it says and hears things, step by step; `following.Follower` is the way in.

Order is judged without clocks. What only a clock refuses is a `Deviation` of the kind ``time``, and all goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, Final

from machines.conforming.beliefs import CONNECT, SHUT, Belief, Hurry, Patience, Steps, Trail, early, merged
from machines.conforming.deviations import Deviation, Kind
from machines.conforming.incoming_stream import IncomingStream
from machines.conforming.role_knowledge import RoleKnowledge
from machines.verification.abstract.process import BoundExceeded
from machines.verification.abstract.state import ABSENT, LOST, Token

BELIEFS_MAX: Final = 5_000  # beyond, nothing is said of the program any more
EVIDENCE_BYTES: Final = 1024
RANG: Final = ".rang "  # label of a clock that rang: this, and the state
GARBAGE: Final[Token] = (".garbage", ())  # what no role writes


class BeliefFollower:
    """Keeps the beliefs about one program. Seats are those that its session would have; see `Session.start`.

    No belief is come to in which more clocks than ``hurries_max`` rang before their time. ``work_max`` is how many
    beliefs may be looked at in all before nothing is said any more.
    """

    def __init__(self, knowledge: RoleKnowledge, *, hurries_max: float = inf, work_max: float = inf) -> None:
        self.knowledge = knowledge
        self.hurries_max = hurries_max
        self._work, self.work_max = 0, work_max
        self.process = knowledge.process
        self.steps = Steps(self.process, knowledge.seconds)
        seats = self.process.seats
        self.streams = [IncomingStream(knowledge.reader) for _ in range(seats)]
        self.deaf = self.steps.deaf  # seats whose peer is gone: what is said there nobody hears
        self.left = self.steps.left  # seats that it has closed itself
        self.beliefs: dict[Belief, Trail] = {}
        self.deviation: Deviation | None = None
        self.late: list[Deviation] = []  # what only clocks refuse
        self.lost_track = ""  # why nothing is said of it any more
        self.covered: set[Any] = set()
        self._delivered: list[list[float]] = [[] for _ in range(seats)]
        self._seen = 0.0  # when anything was last seen or given
        self._ran_early = False

    @property
    def judges(self) -> bool:
        """Whether it still has an opinion."""
        return self.deviation is None and not self.lost_track

    def make_room(self, seats: int) -> None:
        """Have at least so many seats."""
        more = seats - self.process.seats
        if more <= 0:
            return
        more = max(more, self.process.seats)
        before, knowledge = self.process, self.knowledge.wider(self.process.seats + more)
        self.knowledge, self.process = knowledge, knowledge.process
        self.steps.move_to(self.process, knowledge.seconds)
        self.streams += [IncomingStream(knowledge.reader) for _ in range(more)]
        self._delivered += [[] for _ in range(more)]
        none: tuple[Any, ...] = ((),) * more
        moved = {}
        for belief, trail in self.beliefs.items():
            root, statuses, *rest = before.locals[belief.local]
            local = self.process.number((root, (*statuses, *(ABSENT,) * more), *rest))
            moved[Belief(local, belief.unread + none, belief.unseen + none, belief.at + (0,) * more)] = trail
        self.beliefs = moved

    def trust_clocks(self) -> None:
        """Keep only beliefs in which each clock keeps its time, now and from now on, if there are any."""
        calm = {belief: trail for belief, trail in self.beliefs.items() if trail.hurry is None}
        if calm:
            self.beliefs, self.hurries_max = calm, 0

    # -- what the program is given -------------------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """The program has begun; a role for each connection begins with its connection."""
        self._seen = now
        for way in self.process.after(-1, ("start",)):
            belief = self.steps.started(way)
            since = dict.fromkeys(self.process.rest(way.local).states, now)
            self._add(self.beliefs, belief, Trail(since, None, self._labels(way)))

    def connected(self, seat: int, now: float) -> None:
        """A peer has connected; to one that is over by now nothing is owed."""
        self._put(seat, [CONNECT], now)
        if self.judges and all(self.process.rest(belief.local).over is not None for belief in self.beliefs):
            self.left.add(seat)

    def told(self, seat: int, tokens: Sequence[Token], now: float, *, perhaps: bool = False) -> None:
        """A message was sent to the program; ``tokens`` are all that it may be, with ``perhaps`` also none at all."""
        if seat not in self.left:
            before = self.beliefs if perhaps else {}
            self._put(seat, tokens, now)
            for belief, trail in before.items():
                self._add(self.beliefs, belief, trail)

    def hung_up(self, seat: int, now: float) -> None:
        """A peer has closed its connection to the program."""
        if seat not in self.deaf and seat not in self.left:
            self._put(seat, [LOST + "closed"], now)
            self.deaf.add(seat)
            self._forget_unseen()

    def broke_off(self, seat: int, now: float) -> None:
        """A peer has closed its connection within a message: some readers take that for a message, some do not."""
        if seat not in self.deaf and seat not in self.left:
            self.told(seat, [GARBAGE], now, perhaps=True)
            self.hung_up(seat, now)

    def _put(self, seat: int, tokens: Sequence[Token | str], now: float) -> None:
        self._seen = now
        self._delivered[seat].append(now)
        if not self.judges:
            return
        found: dict[Belief, Trail] = {}
        for belief, trail in self.beliefs.items():
            closed = self.process.rest(belief.local).closed
            gone = SHUT in belief.unseen[seat] or (seat in closed and CONNECT not in (*belief.unread[seat], *tokens))
            for token in tokens:
                unread = belief.unread[seat] if gone else (*belief.unread[seat], token)
                self._add(found, belief._replace(unread=_with(belief.unread, seat, unread)), trail)
        self.beliefs = found

    # -- what is seen of it --------------------------------------------------------------------------------------------

    def said(self, seat: int, chunk: bytes, now: float) -> list[tuple[Token, ...]]:
        """Bytes came from the program; return the messages that were recognised, each in all that it may be."""
        self._seen = now
        if seat in self.deaf or seat in self.left:
            return []
        self.streams[seat].feed(chunk)
        recognised = self._take_in(seat, now) if self.judges else []
        return recognised if self.judges else recognised + self._unjudged(seat)

    def _unjudged(self, seat: int) -> list[tuple[Token, ...]]:
        """Return the messages that came since nothing is judged any more; none where it takes beliefs to cut them."""
        stream = self.streams[seat]
        found = []
        while not self.knowledge.program.frames:
            piece = stream.cut(stream.begin)
            if piece is None or piece.why:
                break
            found.append(self.knowledge.reader.tokens(piece.raw) or (GARBAGE,))
        return found

    def ended(self, seat: int, now: float) -> None:
        """The program has closed a connection, or it broke."""
        self._seen = now
        if seat in self.left:
            return
        if seat not in self.deaf and self.judges:
            self.streams[seat].end()
            self._take_in(seat, now)
            if self.judges:
                self._end_observed(seat, now)
        elif self.judges and self.beliefs:
            self._end_echoed(seat, now)
        self.left.add(seat)
        self._forget_unseen()

    def _end_echoed(self, seat: int, now: float) -> None:
        """The end of a connection that is lost is no event; but it may tell what the program has come through."""
        found = self._observed(seat, partial(_shut, seat), now, ends=True)
        calm = [trail.labels for trail in found.values() if trail.hurry is None]
        if calm:
            self.covered |= frozenset.intersection(*calm)

    def _end_observed(self, seat: int, now: float) -> None:
        stream = self.streams[seat]
        if all(not stream.is_blank(belief.at[seat]) for belief in self.beliefs):
            came = stream.rest(min(belief.at[seat] for belief in self.beliefs))
            self._deviate("half", seat, "it ended the connection within a message", came, (), now)
            return
        found = self._observed(seat, partial(_shut, seat), now, ends=True)
        if found:
            self._settle(found, seat, now, b"", "it ended the connection")
        elif self.deaf and not self.knowledge.program.accepts:
            self.lost_track = "it has lost a peer, and may leave at any time"
        else:
            self._deviate("end", seat, "it ended the connection", b"", (), now)

    def _take_in(self, seat: int, now: float) -> list[tuple[Token, ...]]:
        """Let every belief read on in what has come on a seat."""
        recognised: list[tuple[Token, ...]] = []
        stream = self.streams[seat]
        while self.judges and any(not stream.is_blank(belief.at[seat]) for belief in self.beliefs):
            read: dict[tuple[int, int], dict[Token, None]] = {}
            before = self.beliefs
            found = self._observed(seat, partial(self._matched, seat, read), now)
            if not found:
                piece = stream.cut(min(belief.at[seat] for belief in self.beliefs))
                if piece is not None and not piece.why and not self.knowledge.program.frames:
                    recognised.append(self.knowledge.reader.tokens(piece.raw) or (GARBAGE,))  # its peer reads it
                self._refuse(seat, now)
                break
            recognised += [tuple(tokens) for _, tokens in sorted(read.items())]
            self._settle(found, seat, now, b"", "")
            if self.beliefs.keys() == before.keys():
                break
            stream.forget(min(belief.at[seat] for belief in self.beliefs))
        return recognised

    def _matched(
        self, seat: int, read: dict[tuple[int, int], dict[Token, None]], head: Token | str, belief: Belief
    ) -> Belief | None:
        """Return the belief with the next message taken out; itself if that is not whole yet, None if it is another."""
        stream, at = self.streams[seat], belief.at[seat]
        if isinstance(head, str):
            return None
        framed = head[0] if head[0] in self.knowledge.program.frames else ""
        piece = stream.cut(at, framed)
        if piece is None:
            return belief
        if piece.why or head not in stream.tokens(at, framed):
            return None
        read.setdefault((at, piece.end), {})[head] = None
        return belief._replace(
            unseen=_with(belief.unseen, seat, belief.unseen[seat][1:]),
            at=(*belief.at[:seat], piece.end, *belief.at[seat + 1 :]),
        )

    def _observed(
        self, seat: int, explains: Callable[[Token | str, Belief], Belief | None], now: float, *, ends: bool = False
    ) -> dict[Belief, Trail]:
        """Return the beliefs that explain what is seen on a seat; each may do things by itself before.

        A belief that has taken in all the bytes there are is kept as it is. With ``ends`` it is the end that is seen.
        """
        found: dict[Belief, Trail] = {}
        stream = self.streams[seat]
        todo = list(self.beliefs.items())
        seen: dict[Belief, Trail] = {}
        while todo:
            belief, trail = todo.pop()
            if stream.is_blank(belief.at[seat]) != ends:
                if not ends:
                    self._add(found, belief, trail)
                continue
            if ends and belief.unread[seat][:1] == (CONNECT,) and self.process.rest(belief.local).over is not None:
                self._add(found, belief, trail)  # it was over before it looked
                continue
            if belief.unseen[seat]:
                after = explains(belief.unseen[seat][0], belief)
                if after is not None:
                    self._add(found, after, trail)
                continue
            known = seen.get(belief)
            trail = merged(known, trail)
            if known == trail:
                continue
            seen[belief] = trail
            self._work += 1
            if len(seen) > BELIEFS_MAX or self._work > self.work_max:
                self.lost_track = f"there are more than {min(BELIEFS_MAX, self.work_max)} ways in which it may stand"
                return self.beliefs
            todo += self._onward(belief, trail, now)
        return found

    def _onward(self, belief: Belief, trail: Trail, now: float) -> list[tuple[Belief, Trail]]:
        """Return what a belief may become by itself, until ``now``."""
        found = []
        try:
            for seat, after, way in self.steps.reads(belief):
                when = self._delivered[seat][-len(belief.unread[seat])]
                found.append((after, self._trail(trail, after, way, when)))
            for after, way in self.steps.decisions(belief):
                found.append((after, self._trail(trail, after, way, 0.0)))
            for timer, after, way in self.steps.rings(belief):
                seconds = self.steps.seconds(belief.local, timer) or 0.0
                began = trail.since.get(timer.state, 0.0)
                hurry = None
                if now < began + seconds - early(seconds):
                    if trail.hurries >= self.hurries_max:
                        continue
                    hurry = Hurry(timer.state, timer.kind, seconds, now - began)
                when = min(now, began + seconds - early(seconds))
                found.append((after, self._trail(trail, after, way, when, hurry).ringing(RANG + timer.state)))
        except BoundExceeded as error:
            self.lost_track = str(error)
        return found

    def _trail(self, trail: Trail, after: Belief, way: Any, when: float, hurry: Hurry | None = None) -> Trail:
        oldest = min(trail.since.values(), default=0.0)
        since = {}
        for state in self.process.rest(after.local).states:
            began = trail.since.get(state, oldest)
            since[state] = max(when, oldest) if state in way.outcome.entered else began
        hurries = trail.hurries + (hurry is not None)
        return Trail(since, trail.hurry or hurry, trail.labels | self._labels(way), hurries)

    @staticmethod
    def _labels(way: Any) -> frozenset[Any]:
        return frozenset((*map(id, way.outcome.taken), *way.outcome.entered))

    def _settle(self, found: dict[Belief, Trail], seat: int, now: float, came: bytes, what: str) -> None:
        """Take over the beliefs that are left; note what all of them have come through, and if clocks refuse all."""
        hurries = [trail.hurry for trail in found.values() if trail.hurry is not None]
        if len(hurries) == len(found) and hurries:
            hurry = min(hurries, key=lambda one: one.seconds)
            if not self.late:
                limit = f"{hurry.state}, whose limit is {hurry.seconds:g} s"
                text = f"{what or 'it went on'} after {hurry.passed:.2f} s in {limit}"
                self.late.append(Deviation("time", seat, text, (hurry.state,), (), came, (), now, hurry.clock))
        common = frozenset.intersection(*(trail.labels for trail in found.values()))
        self.covered |= common
        told = len(hurries) == len(found)
        self.beliefs = {
            belief: Trail(
                trail.since, None if told else trail.hurry, trail.labels - common, 0 if told else trail.hurries
            )
            for belief, trail in found.items()
        }

    @staticmethod
    def _add(beliefs: dict[Belief, Trail], belief: Belief, trail: Trail) -> None:
        beliefs[belief] = merged(beliefs.get(belief), trail)

    def _forget_unseen(self) -> None:
        before, self.beliefs = self.beliefs, {}
        for belief, trail in before.items():
            self._add(self.beliefs, self.steps.heard(belief), trail)

    # -- what is wrong -------------------------------------------------------------------------------------------------

    def _refuse(self, seat: int, now: float) -> None:
        """Tell what came that no belief explains."""
        stream = self.streams[seat]
        at = min(belief.at[seat] for belief in self.beliefs)
        piece = stream.cut(at)
        reader = self.knowledge.reader
        came = piece.raw if piece is not None and not piece.why else stream.rest(at)
        names = [name for name, _ in reader.tokens(came)] if piece is not None and not piece.why else []
        for framed in reader.framed:
            cut = stream.cut(at, framed)
            if cut is not None and not cut.why:
                names += [name for name, _ in reader.tokens(cut.raw, framed)]
        if names:
            self._deviate("order", seat, f"it sent {' or '.join(names)}", came, tuple(names), now)
            return
        if stream.ended and stream.is_open_ended:
            self._deviate("half", seat, "it ended the connection within a message", came, (), now)
            return
        why, near = (piece.why, "") if piece is not None and piece.why else reader.why_not(came)
        text = f"what it sent is no message of {self.knowledge.role}: {why}"
        self._deviate("bytes", seat, text, came, (), now, near)

    def _deviate(
        self, kind: Kind, seat: int, text: str, came: bytes, names: tuple[str, ...], now: float, near: str = ""
    ) -> None:
        states, may = self.expectations(seat, now)
        found = Deviation(kind, seat, text, states, may, came[:EVIDENCE_BYTES], names, now, near=near)
        self.deviation = self.knowledge.reader.explained(found, came) if kind == "order" else found

    def expectations(self, seat: int, now: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the states it may be in once it has read all it was given, and what it may do next on a seat.

        A message is told by its name; ``end`` is that of the connection.
        """
        states: dict[str, None] = {}
        may: dict[str, None] = {}
        todo = list(self.beliefs.items())
        seen: set[Belief] = set()
        while todo and len(seen) < BELIEFS_MAX:
            belief, trail = todo.pop()
            if belief in seen:
                continue
            seen.add(belief)
            if belief.unseen[seat]:
                head = belief.unseen[seat][0]
                if trail.hurry is None:
                    may["end" if head == SHUT else head[0]] = None
                continue
            if not any(True for _ in self.steps.reads(belief)) and trail.hurry is None:
                states[self.process.rest(belief.local).where] = None
            todo += self._onward(belief, trail, now)
        if not states:  # it never rests but where it was before it read
            states = dict.fromkeys(self.process.rest(belief.local).where for belief in self.beliefs)
        return tuple(states), tuple(may)

    # -- silence -------------------------------------------------------------------------------------------------------

    def patient_until(self, spare: float = 0.0) -> float:
        """Return until when it may be silent; inf if some belief may rest for ever. ``spare``: see `Patience.of`."""
        if not self.judges or not self.beliefs:
            return inf
        longest = 0.0
        patience = Patience(self.steps, spare)
        try:
            for belief, trail in self.beliefs.items():
                since = {state: self._seen - when for state, when in trail.since.items()}
                longest = max(longest, patience.of(belief, since))
                if longest == inf:
                    return inf
        except BoundExceeded as error:
            self.lost_track = str(error)
            return inf
        return self._seen + longest

    def overdue(self, now: float, grace: float) -> Deviation | None:
        """Return what is wrong if nothing has been seen until now, and it may not rest so long."""
        until = self.patient_until(grace)
        if now < until + grace:
            return None
        seat = next((seat for belief in self.beliefs for seat, one in enumerate(belief.unseen) if one), 0)
        states, may = self.expectations(seat, now)
        text = f"it was silent for {now - self._seen:.2f} s"
        return Deviation("silence", seat, text, states, may, b"", (), now)

    def idle(self, now: float, grace: float) -> None:
        """Nothing has been seen until now: the program has deviated if it may not rest so long."""
        self.deviation = self.deviation or self.overdue(now, grace)

    def settled_states(self) -> frozenset[str]:
        """Return where it is once it has read all that it was given, as far as that is certain: all it may rest in.

        Each is told as `LocalState.where` does, or ``over``.
        """
        return frozenset(self.process.rest(one.local).where for one in self.steps.settled(self.beliefs, BELIEFS_MAX))

    def may_speak(self) -> bool:
        """Whether it may have something to say by itself, now or once it has read all that it was given."""
        settled = self.steps.settled(self.beliefs, BELIEFS_MAX)
        return any(any(one.unseen) or self.process.rest(one.local).questions for one in settled)


def _shut(seat: int, head: Token | str, belief: Belief) -> Belief | None:
    """Return a belief that closes a connection, once that was seen; None if it says something before."""
    if head != SHUT:
        return None
    return belief._replace(unseen=_with(belief.unseen, seat, ()), unread=_with(belief.unread, seat, ()))


def _with(all_: tuple[Any, ...], seat: int, one: Any) -> tuple[Any, ...]:
    return (*all_[:seat], one, *all_[seat + 1 :])
