"""How far an event is: what was planned, played and decided, what follows from it, and what comes next.

All of it is worked out from what the database has, by the numbers of matches: in which order they came to an end makes
no difference.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rules.schedules import knockout_bracket
from rules.schedules.groups import group_round
from rules.schedules.pairings import Round, gauntlet, round_robin, turned
from rules.schedules.pairings import Table as Seating
from rules.schedules.ratings import Rating, ratings
from rules.schedules.standings import Played, Row, points, table
from rules.schedules.swiss import swiss_round
from runtime.players.seeds import derived_seed
from runtime.tournament.event import Event
from runtime.tournament.lost_processes import LostProcesses
from runtime.tournament.store import Attempt, Decision, Match, Placed, Store

OUT = "out of the event"  # why somebody has a place in a match and did not play in it
UNPLAYED = f"{OUT}, and the match was not played"
WAITING = ("swiss", "knockout")  # forms whose next round depends on the results of the one before


@dataclass
class EventProgress:
    """An event so far.

    ``broken`` counts the attempts at each match that failed by the arena's fault, ``whys`` has why the last one did.
    """

    event: Event
    matches: list[Match] = field(default_factory=list)
    results: dict[int, tuple[Placed, ...]] = field(default_factory=dict)
    decisions: Sequence[Decision] = ()
    broken: dict[int, int] = field(default_factory=dict)
    whys: dict[int, str] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    lost: dict[int, LostProcesses] = field(default_factory=dict)
    _whole: bool = field(default=False, init=False)  # all rounds are planned, and none waits for a result
    _out: dict[str, int] | None = field(default=None, init=False)  # see `out`, until somebody is at fault
    _walked: tuple[int, dict[str, int]] | None = field(default=None, init=False)  # who had no match to walk over

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The players' numbers, in order of seeding."""
        return {player.name: number for number, player in enumerate(self.event.players)}

    @cached_property
    def _open(self) -> dict[int, Match]:
        """The matches that have no result, by number, in order; also those that were given up."""
        return {match.number: match for match in self.matches if match.number not in self.results}

    def add(self, matches: Sequence[Match]) -> None:
        """Take note of a round that was planned."""
        self._open.update({match.number: match for match in matches})
        self.matches.extend(matches)

    def settle(self, match: Match, places: tuple[Placed, ...]) -> None:
        """Take note of a result."""
        self.results[match.number] = places
        self._open.pop(match.number, None)
        if any(placed.at_fault for placed in places):
            self._out = None

    def unsettled(self) -> Iterator[Match]:
        """Yield the matches of which something is to be played yet, in order."""
        return (match for match in self._open.values() if not self.is_void(match))

    # -- what was ----------------------------------------------------------------------------------------------------

    def is_void(self, match: Match) -> bool:
        """Whether a match was given up: the arena failed as often as it may, and no program is to be tried alone."""
        if match.number in self.results or self.broken.get(match.number, 0) < self.event.tries:
            return False
        return not self.suspect(match)

    def suspect(self, match: Match) -> str:
        """Return whose program is to be tried alone, as the match's process was lost each time; empty if nobody's."""
        known = self.lost.get(match.number)
        return known.suspect(self._programs(match), self.event.tries) if known is not None else ""

    def culprits(self, match: Match) -> tuple[str, ...]:
        """Return those whose program ended the process of a match each time."""
        known = self.lost.get(match.number)
        return known.culprits(self._programs(match), self.event.tries) if known is not None else ()

    def ended_by_programs(self) -> Iterator[tuple[Match, tuple[str, ...]]]:
        """Yield the matches without a result whose process players' programs ended each time, and those players."""
        for number in self.lost:
            if number in self._open and (culprits := self.culprits(self._open[number])):
                yield self._open[number], culprits

    def _programs(self, match: Match) -> list[str]:
        return [name for name in match.seats if self.event.players[self.numbers[name]].kind.startswith("exec:")]

    def note_broken(self, match: int, why: str) -> None:
        """Count an attempt that was broken."""
        self.whys[match] = why
        self._walked = None
        seats = next((one.seats for one in self.matches if one.number == match), ())
        if self.lost.setdefault(match, LostProcesses()).note(why, seats):
            self.broken[match] = self.broken.get(match, 0) + 1

    def is_settled(self, match: Match) -> bool:
        """Whether nothing more is to be played of a match."""
        return match.number in self.results or self.is_void(match)

    def rounds(self) -> list[list[Match]]:
        """Return the matches that are planned, a list a round."""
        found: list[list[Match]] = []
        for match in self.matches:
            if match.round > len(found):
                found.append([])
            found[-1].append(match)
        return found

    def round_now(self) -> int:
        """Return the number of the first round in which something is to be played, else of the last; 0 without any."""
        return min((match.round for match in self.unsettled()), default=len(self.rounds()))

    def out(self) -> dict[str, int]:
        """Return who is out, and the last round that they may play in: dropped, or at fault too often."""
        if self._out is None:
            self._out = self._found_out()
        return self._out

    def dropped(self) -> set[str]:
        """Return who was dropped."""
        return {decision.about for decision in self.decisions if decision.what == "drop"}

    def _found_out(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for decision in self.decisions:
            if decision.what == "drop":
                found.setdefault(decision.about, decision.round)
        if self.event.out_after is not None:
            faults: dict[str, int] = {}
            for match in self.matches:
                for placed in self.results.get(match.number, ()):
                    faults[placed.player] = faults.get(placed.player, 0) + placed.at_fault
                    if faults[placed.player] >= self.event.out_after:
                        found[placed.player] = min(found.get(placed.player, match.round), match.round)
        return found

    def played(self, match: Match) -> Played:
        """Return the result of a match for what reckons with numbers of players."""
        placed = self.results[match.number]
        groups: dict[int, list[int]] = {}
        for one in placed:
            groups.setdefault(one.place, []).append(self.numbers[one.player])
        faults = tuple([self.numbers[one.player] for one in placed if one.at_fault])
        own = tuple([(self.numbers[one.player], one.points) for one in placed if one.points is not None])
        gone = tuple([self.numbers[one.player] for one in placed if one.fault.startswith(OUT)])
        return Played(tuple([tuple(groups[place]) for place in sorted(groups)]), faults, own, gone)

    def standings(self) -> list[Row]:
        """Return the table as it is now."""
        found = [self.played(match) for match in self.matches if match.number in self.results]
        scored = [(one, points(one, self.event.points)) for one in found]
        return table(range(len(self.event.players)), scored, self._byes(), self.event.ties)

    def ratings(self) -> list[Rating]:
        """Return the rating of each player, in order of seeding, from all matches that were played."""
        found = [self.played(match) for match in self.matches if match.number in self.results]
        return ratings(len(self.event.players), found, self.event.seed)

    def _byes(self) -> dict[int, float]:
        """Return the points for rounds without a table: a whole point each in Swiss rounds, none elsewhere."""
        found: dict[int, float] = {}
        if self.event.format.kind == "swiss":
            out, worth = self.out(), self.event.points[0] if self.event.points else 1.0
            for number, matches in enumerate(self.rounds(), 1):
                if all(map(self.is_settled, matches)):
                    playing = {name for match in matches for name in match.seats}
                    for name, player in self.numbers.items():
                        if name not in playing and out.get(name, number) >= number:
                            found[player] = found.get(player, 0.0) + worth * self.event.games
        return found

    # -- what comes --------------------------------------------------------------------------------------------------

    def next_round(self) -> list[Match] | None:
        """Return the matches of the next round that may be planned; None while one must wait, or none is to come."""
        waits = self.event.format.kind in WAITING or self.event.out_after is not None
        if self._whole or (waits and any(True for _ in self.unsettled())):
            return None
        tables = self._tables(rounds := self.rounds())
        if not tables:
            self._whole = not waits  # no result changes that
            return None
        names = [player.name for player in self.event.players]
        first, number = len(self.matches) + 1, len(rounds) + 1
        found: list[Match] = []
        for pairing, seats in enumerate(tables, 1):
            for game in range(self.event.games):
                seated = tuple([names[player] for player in turned(seats, game)])
                found.append(Match(first + len(found), f"r{number}-{len(found) + 1}", number, pairing, seated))
        return found

    def gone(self, match: Match) -> list[str]:
        """Return who of a match that has no result plays no more."""
        dropped, out = self.dropped(), self.out()  # at once, by a person; or from the next round on
        return [name for name in match.seats if name in dropped or out.get(name, match.round) < match.round]

    def walkovers(self, sizes: Container[int] = ()) -> Iterator[tuple[Match, tuple[Placed, ...], str]]:
        """Yield the matches that are not played as somebody in them is out, with what they count.

        Where as many are left as one of ``sizes``, they play.
        """
        if not self.dropped() and self.event.out_after is None:
            return
        known = len(self.matches), self.out()
        if known == self._walked:
            return
        for match in self.unsettled():
            gone = self.gone(match)
            if gone and len(match.seats) - len(gone) not in sizes:
                places = {name: Placed(name, 1) for name in match.seats if name not in gone}
                yield match, with_gone(match, places, UNPLAYED), f"{', '.join(gone)} out"
        self._walked = known

    def _tables(self, rounds: list[list[Match]]) -> Round:
        """Return who meets whom in the next round; nobody if there is none."""
        form, count = self.event.format, len(self.event.players)
        history = [self._seatings(matches) for matches in rounds]
        out = self.out()
        playing = [number for name, number in self.numbers.items() if name not in out]
        match form.kind:
            case "round-robin" | "gauntlet":
                against = [self.numbers[name] for name in form.against]
                whole = list(round_robin(count) if form.kind == "round-robin" else gauntlet(count, against))
                return whole[len(rounds)] if len(rounds) < len(whole) else ()
            case "swiss":
                if len(rounds) >= (form.rounds or 0) or len(playing) < 2:
                    return ()
                scores = {row.player: row.points for row in self.standings() if row.player in playing}
                return swiss_round(scores, history, range(count))
            case "groups":
                if len(rounds) >= (form.rounds or 0):
                    return ()
                seed = derived_seed(self.event.seed, "round", len(rounds))
                return group_round(playing, history, form.low, form.high, seed)
            case _:
                return self._knockout(rounds, out)

    def _seatings(self, matches: Sequence[Match]) -> Round:
        """Return the pairings of a round, each as its first game was seated."""
        first: dict[int, Seating] = {}
        for match in matches:
            first.setdefault(match.pairing, tuple([self.numbers[name] for name in match.seats]))
        return tuple(first.values())

    # -- knock-out ---------------------------------------------------------------------------------------------------

    def _knockout(self, rounds: list[list[Match]], out: Mapping[str, int]) -> Round:
        slots = self.slots(rounds, out)
        while knockout_bracket.left(slots) > 1:
            found = knockout_bracket.tables(slots)
            if found:
                return found
            slots = knockout_bracket.through(slots, {})  # all that would have met somebody met nobody
        return ()

    def slots(self, rounds: list[list[Match]], out: Mapping[str, int]) -> knockout_bracket.Slots:
        """Return who is left of a knock-out once these rounds are played."""
        slots = knockout_bracket.bracket(len(self.event.players))
        for number, matches in enumerate(rounds, 1):
            gone = [self.numbers[name] for name, last in out.items() if last < number]
            slots = knockout_bracket.without(slots, gone)
            while not knockout_bracket.tables(slots) and knockout_bracket.left(slots) > 1:
                slots = knockout_bracket.through(slots, {})
            winners = {}
            for pair in knockout_bracket.tables(slots):
                winners[pair] = self._winner(pair, matches)
            slots = knockout_bracket.through(slots, winners)
        return knockout_bracket.without(slots, [self.numbers[name] for name in out if out[name] <= len(rounds)])

    def _winner(self, pair: Seating, matches: Sequence[Match]) -> int:
        """Return who goes on: more points, fewer faults, else the better seed."""
        total = dict.fromkeys(pair, 0.0)
        faults = dict.fromkeys(pair, 0)
        for match in matches:
            if match.number in self.results and {self.numbers[name] for name in match.seats} == set(pair):
                found = self.played(match)
                for player, worth in points(found, None).items():
                    total[player] += worth
                    faults[player] += player in found.faults
        return min(pair, key=lambda player: (-total[player], faults[player], player))


def with_gone(match: Match, places: Mapping[str, Placed], why: str = OUT) -> tuple[Placed, ...]:
    """Return the places of a match, by seat: those who are not in ``places`` are last and at no fault."""
    last = len(places) + 1
    return tuple([places.get(name) or Placed(name, last, None, False, why) for name in match.seats])


def progress_of(event: Event, store: Store) -> EventProgress:
    """Return how far an event is, as its database has it."""
    decisions = store.decisions()  # first: who looks again sees by their number whether the rest is older than the next
    found = EventProgress(event, store.matches(), store.results(), decisions)
    for attempt in store.attempts():
        note_attempt(found, attempt)
    return found


def note_attempt(progress: EventProgress, attempt: Attempt) -> None:
    """Count an attempt."""
    progress.attempts[attempt.match] = max(progress.attempts.get(attempt.match, 0), attempt.number)
    if attempt.state == "broken":
        progress.note_broken(attempt.match, attempt.why)
