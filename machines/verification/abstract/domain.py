"""Values as the exploration knows them: peers, lists and small numbers exactly, all else as *some* value.

    peers             At(seat)                     numbers up to NUMBER_MAX, texts, null     themselves
    true, false       TRUE, FALSE                  lists, mappings                           tuple, Fields
    anything else     Data(term, peers, marks): some value; asked twice, the same term answers the same

``peers`` are those that may be within: a rule has no peer but those it was given, so whatever it returns holds none but
those of its arguments. ``marks`` are those of them that a rule has marked, and
`machines.verification.abstract.contracts` says what marks are for.

A question that the exploration cannot answer is put to a `ChoiceSequence`, which answers it in every way, one after
the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from machines.values import Range, Rate

NUMBER_MAX = 12  # a counter beyond is some number: so that a count without end is no search without end
ELEMENTS_MAX = 64  # of a list with all that is within: a larger one is some list, with the peers in it
DEPTH_MAX = 4  # of lists within lists: what is put into itself again and again is soon some list, too
LIST_MAX = 2  # values without peers of which a list is told apart from a longer one: for the same reason
SOMETHING: Final = "something"  # the head of a term of a value that is not null
Seats = tuple[int, ...]  # in the order in which they came to be there: what is made of them keeps it
NOBODY: Final[Seats] = ()
UNMARKED: Final[frozenset[int]] = frozenset()


class Flag:
    """True or false, unlike 1 and 0."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value

    def __repr__(self) -> str:
        return str(self.value).lower()


TRUE: Final = Flag(True)
FALSE: Final = Flag(False)


def flag(value: bool) -> Flag:
    """Return the flag of a boolean."""
    return TRUE if value else FALSE


class _Unset:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<unset>"


UNSET: Final = _Unset()


class PeerRef:
    """A peer. There is one object for each seat, so that telling two apart costs nothing."""

    __slots__ = ("seat",)
    _known: ClassVar[dict[int, PeerRef]] = {}
    seat: int

    def __new__(cls, seat: int) -> PeerRef:
        """Return the peer of a seat."""
        found = cls._known.get(seat)
        if found is None:
            found = cls._known[seat] = super().__new__(cls)
            found.seat = seat
        return found

    def __repr__(self) -> str:
        return f"At(seat={self.seat})"


@dataclass(slots=True, unsafe_hash=True)  # nobody changes it: a frozen one takes twice as long to make
class Unknown:
    """Some value. ``term`` says how it came about, as far as that matters: a number once a step is over."""

    term: Any
    peers: Seats = NOBODY
    marks: frozenset[int] = UNMARKED


@dataclass(frozen=True, slots=True)
class OtherThan:
    """Some value that is none of these: what a message carries where a condition asks for one of them."""

    excluded: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping of values."""

    items: tuple[tuple[str, Any], ...]

    def get(self, name: str) -> Any:
        """Return the value of a key, UNSET if there is none."""
        return next((value for key, value in self.items if key == name), UNSET)


Value = Any  # At | Data | Another | Fields | Flag | tuple | Range | None | int | float | str


class Infeasible(Exception):  # noqa: N818 (nothing is wrong: no run goes on like this)
    """What was assumed on this way contradicts itself: no run does this."""


class AbstractError(Exception):
    """The machine fails here, whatever the data; the text says why."""


class Mark(NamedTuple):
    """A place on a way: what was answered until there, how many answers each question had, and what is kept of it."""

    answers: tuple[int, ...]
    counts: tuple[int, ...]
    kept: Any


class ChoiceSequence:
    """Answers questions with numbers: those given first, then always 0; it remembers what else it might have said.

    ``marks`` are places where ways before this one stood, by a name that the place has on every way there: what is
    worked out by the same answers to the same questions is the same, so a way may go on from there.
    """

    __slots__ = ("_marked", "answers", "counts", "given", "marks")

    def __init__(self, given: tuple[int, ...] = (), marks: dict[int, Mark] | None = None) -> None:
        self.given = given
        self.answers: list[int] = []
        self.counts: list[int] = []
        self.marks = marks if marks is not None else {}
        self._marked = -1

    def choose(self, count: int) -> int:
        """Return a number below ``count``. Raises Impossible if that is 0."""
        if count <= 1:
            if count < 1:
                raise Infeasible
            return 0
        at = len(self.answers)
        answer = self.given[at] if at < len(self.given) else 0
        self.answers.append(answer)
        self.counts.append(count)
        return answer

    def mark(self, name: int, kept: Callable[[], Any]) -> None:
        """Keep what is known here, if this is where the next way may leave this one: all that was given is answered."""
        if self._marked != name and len(self.answers) >= len(self.given):
            self._marked = name
            self.marks[name] = Mark(tuple(self.answers), tuple(self.counts), kept())

    def back_to(self, name: int) -> Any:
        """Go on from a place that a way before this one has come to by the same answers: return what was kept there.

        None if there is none, or this way goes another way to it.
        """
        mark = self.marks.get(name)
        if mark is None or self.given[: len(mark.answers)] != mark.answers:
            return None
        self.answers, self.counts = list(mark.answers), list(mark.counts)
        return mark.kept

    def others(self) -> Iterator[tuple[int, ...]]:
        """Yield the beginnings of all other ways that branch off beyond what was given."""
        for at in range(len(self.given), len(self.answers)):
            for answer in range(1, self.counts[at]):
                yield (*self.answers[:at], answer)


def every_way(run: Callable[[ChoiceSequence], None], most: int) -> bool:
    """Run a function once for each way in which its oracle can answer; return False if ``most`` were not enough."""
    todo: list[tuple[int, ...]] = [()]
    marks: dict[int, Mark] = {}
    done = 0
    while todo:
        done += 1
        if done > most:
            return False
        oracle = ChoiceSequence(todo.pop(), marks)
        run(oracle)
        todo.extend(oracle.others())
    return True


def clamped(value: int) -> Value:
    """Return a number that is tracked, or some number: it need not be the one that another was too large for."""
    return value if -NUMBER_MAX <= value <= NUMBER_MAX else Unknown(("number", value))


def widened(value: tuple[Value, ...]) -> Value:
    """Return a list that is tracked, or some list: only one of the same elements is known to be equal to it."""
    peers = seats_in(value)
    if len(value) <= LIST_MAX + 2 * len(peers):  # lists of peers hold each once; one that goes on growing is widened
        return bounded(value)
    return Unknown(("list", value), peers, marks_in(value))


def bounded(value: Value) -> Value:
    """Return a list or mapping that is tracked, or some value with its peers where it is too large, with all within."""
    if _left(value, ELEMENTS_MAX, DEPTH_MAX) >= 0:
        return value
    return Unknown(("list", value), seats_in(value), marks_in(value))


def _left(value: Value, most: int, depth: int) -> int:
    """Return how many more elements there may be than a value has, below 0 for none; also if it is too deep."""
    items: Iterable[Value] = ()
    if type(value) is tuple:
        items = value
    elif type(value) is Fields:
        items = (item for _, item in value.items)
    for item in items:
        most = _left(item, most - 1, depth - 1) if depth else -1
        if most < 0:
            return most
    return most


def lifted(value: Any) -> Value:
    """Return a literal's or a setting's value."""
    if isinstance(value, bool):
        return flag(value)
    if isinstance(value, tuple | list):
        return tuple(lifted(item) for item in value)
    if isinstance(value, dict):
        return Fields(tuple((str(key), lifted(item)) for key, item in value.items()))
    return value


def seats_in(*values: Value) -> Seats:
    """Return the peers that may be within values, each once."""
    found: dict[int, None] = {}
    note_seats(values, found)
    return tuple(found)


def note_seats(values: Iterable[Value], found: dict[int, None]) -> None:
    """Note the peers that may be within values, in the order in which they come."""
    for value in values:
        kind = type(value)
        if kind is PeerRef:
            found[value.seat] = None
        elif kind is Unknown:
            for seat in value.peers:
                found[seat] = None
        elif kind is tuple:
            if value:
                note_seats(value, found)
        elif kind is Fields:
            note_seats([item for _, item in value.items], found)


def marks_in(*values: Value) -> frozenset[int]:
    """Return the peers that are marked in values."""
    found = UNMARKED
    for value in values:
        kind = type(value)
        if kind is Unknown:
            found |= value.marks
        elif kind is tuple:
            found |= marks_in(*value)
        elif kind is Fields:
            found |= marks_in(*(item for _, item in value.items))
    return found


def is_known(value: Value) -> bool:
    """Whether nothing of a value is left open."""
    kind = type(value)
    if kind is Unknown or kind is OtherThan:
        return False
    if kind is tuple:
        return all(map(is_known, value))
    return kind is not Fields or all(is_known(item) for _, item in value.items)


def kind_differs(left: Value, right: Value) -> bool:
    """Whether two values can surely not be equal because one is a peer or null and the other none."""
    return (
        (type(left) is PeerRef) != (type(right) is PeerRef) and type(left) is not Unknown and type(right) is not Unknown
    )


def moved(value: Value, seat_of: Callable[[int], int]) -> Value:
    """Return a value with its peers renamed."""
    kind = type(value)
    if value is UNSET or kind is str or kind is int:  # most are
        return value
    if kind is PeerRef:
        return PeerRef(seat_of(value.seat))
    if kind is Unknown:
        if not value.peers:
            return value
        return Unknown(value.term, tuple(map(seat_of, value.peers)), frozenset(map(seat_of, value.marks)))
    if isinstance(value, tuple):  # a list, or a term
        return kind(tuple([moved(item, seat_of) for item in value]))
    if kind is Fields:
        return Fields(tuple((key, moved(item, seat_of)) for key, item in value.items))
    return value


__all__ = ["Range", "Rate"]
