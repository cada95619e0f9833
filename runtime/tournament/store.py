"""What an event keeps: one database, SQLite or PostgreSQL by the same code. Only the coordinator writes matches.

event      the file's text, the spec's hash
match      number, id r2-3, round, seats          planned a whole round at a time, in one transaction
attempt    running, played, broken or stopped     written before the match starts
result     one row a match, by its key            written with the attempt's end and the places, in one transaction
decision   what a person decided, and why

Standings are worked out anew from all this; nothing is counted twice, as there is nothing that counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    create_engine,
    delete,
    event,
    insert,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

try:
    import fcntl
except ImportError:  # Windows has a lock of its own
    fcntl = None  # type: ignore[assignment]

FORMAT: Final = 1  # of the tables
LOCK: Final = 0x_ACC0_4D  # of PostgreSQL: who plays an event has it
LOCK_MILLISECONDS: Final = 3000
WINDOWS_LOCK: Final = 2  # msvcrt.LK_NBLCK: at once or not at all; it goes when the file is closed
WORDS_MAX: Final = 2000  # characters of a reason that are kept

_META = MetaData()
_EVENT = Table(
    "accord_event",
    _META,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("format", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("spec_hash", String(64), nullable=False),
)
_MATCH = Table(
    "accord_match",
    _META,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", String(40), nullable=False, unique=True),
    Column("round", Integer, nullable=False),
    Column("pairing", Integer, nullable=False),
    Column("seats", Text, nullable=False),  # names, in order, as JSON
)
_ATTEMPT = Table(
    "accord_attempt",
    _META,
    Column("match", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("state", String(10), nullable=False),
    Column("run", String(64), nullable=False),
    Column("started", String(40), nullable=False),
    Column("seconds", Float),
    Column("why", Text, nullable=False),
)
_RESULT = Table(
    "accord_result",
    _META,
    Column("match", Integer, primary_key=True, autoincrement=False),
    Column("run", String(64), nullable=False),
    Column("value", Text, nullable=False),  # what main returned, as JSON
)
_PLACE = Table(
    "accord_place",
    _META,
    Column("match", Integer, primary_key=True, autoincrement=False),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("player", String(100), nullable=False),
    Column("place", Integer, nullable=False),
    Column("points", Float),  # the spec's own, if it gives any
    Column("at_fault", Integer, nullable=False),
    Column("fault", Text, nullable=False),
    Column("words", Text, nullable=False),
)
_DECISION = Table(
    "accord_decision",
    _META,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", String(40), nullable=False),
    Column("what", String(20), nullable=False),
    Column("about", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("round", Integer, nullable=False),  # the last that was planned then
)

# What is written for each match, put together once: that takes longer than to have it done.
_NEW_ATTEMPT: Final = insert(_ATTEMPT)
_NEW_RESULT: Final = insert(_RESULT)
_NEW_PLACE: Final = insert(_PLACE)
_END_OF_ATTEMPT: Final = (
    update(_ATTEMPT)
    .where(_ATTEMPT.c.match == bindparam("of_match"), _ATTEMPT.c.number == bindparam("of_number"))
    .values(state=bindparam("state"), seconds=bindparam("seconds"), why=bindparam("why"))
)


class StoreError(Exception):
    """A database cannot be used as an event's; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Match:
    """A match as it was planned: ``seats`` are names, in the order in which they sit."""

    number: int
    id: str
    round: int
    pairing: int
    seats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """How one seat of a match fared; ``fault`` is why it is last, ``words`` what its program said then."""

    player: str
    place: int
    points: float | None = None
    at_fault: bool = False
    fault: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a match: ``state`` is running, played, broken or stopped."""

    match: int
    number: int
    state: str
    run: str
    seconds: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided: ``what`` is drop, again or accept; ``round`` is the last that was planned then."""

    number: int
    at: str
    what: str
    about: str
    why: str
    round: int


def url_of(database: str, folder: Path) -> str:
    """Return the URL of a database: a file's name, seen from ``folder``, is one of SQLite."""
    return database if "://" in database else f"sqlite:///{(folder / database).resolve()}"


class Store:
    """An open database. ``observe`` is called after each transaction with its name, for tests."""

    def __init__(self, url: str, observe: Callable[[str], None] = lambda name: None) -> None:
        self._observe = observe
        try:
            self.url = make_url(url)
            local = self.url.get_backend_name() == "sqlite"
            how: dict[str, Any] = {"poolclass": StaticPool} if local else {}
            self._engine = create_engine(self.url, **how)
            if local:
                event.listen(self._engine, "connect", _set_up)
            _META.create_all(self._engine)
        except (SQLAlchemyError, ArgumentError, ImportError) as error:
            raise StoreError(f"{url}: this database cannot be opened: {_reason(error)}") from error

    @property
    def mark(self) -> str:
        """By what processes that belong to the event are known."""
        return sha256(self.url.render_as_string(hide_password=False).encode()).hexdigest()[:16]

    def close(self) -> None:
        """Close it."""
        self._engine.dispose()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only one that plays the event while the block runs; the lock goes with the process.

        Raises:
            StoreError: another does.
        """
        busy = StoreError(f"{self.url.render_as_string()}: this event is being played already, by another process")
        if self.url.get_backend_name() != "sqlite":
            with self._engine.connect() as connection:
                try:  # a server needs a moment to notice that whoever had it was killed
                    connection.execute(text(f"SET lock_timeout = {LOCK_MILLISECONDS}"))
                    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": LOCK})
                except SQLAlchemyError:
                    raise busy from None
                yield
                connection.invalidate()  # the lock goes with it
            return
        if not self.url.database or self.url.database == ":memory:":
            yield
            return
        with open(f"{self.url.database}.lock", "w") as file:
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                else:
                    import_module("msvcrt").locking(file.fileno(), WINDOWS_LOCK, 1)
            except OSError:
                raise busy from None
            yield

    @contextmanager
    def _transaction(self, name: str) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            raise StoreError(f"{self.url.render_as_string()}: {_reason(error)}") from error
        self._observe(name)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise StoreError(f"{self.url.render_as_string()}: {_reason(error)}") from error

    # -- the event ---------------------------------------------------------------------------------------------------

    def begin(self, name: str, written: str, spec_hash: str, *, accept: str | None = None) -> None:
        """Keep the event, or make sure that it is the one that is kept; ``accept`` says why another text is taken.

        Raises:
            StoreError: the file or the spec has changed since, and that is not accepted.
        """
        with self._reading() as connection:
            row = connection.execute(select(_EVENT)).first()
        if row is None:
            with self._transaction("begin") as connection:
                connection.execute(
                    insert(_EVENT).values(id=1, format=FORMAT, name=name, text=written, spec_hash=spec_hash)
                )
            return
        if row.format != FORMAT:
            raise StoreError(f"this database is of format {row.format}, and this Accord reads {FORMAT}")
        changed = [
            what for what, same in (("file", row.text == written), ("spec", row.spec_hash == spec_hash)) if not same
        ]
        if changed and accept is None:
            raise StoreError(
                f"the event's {' and '.join(changed)} changed since it began: put the old back, take another "
                "'database', or give --accept WHY"
            )
        if changed and accept is not None:
            with self._transaction("accept") as connection:
                connection.execute(update(_EVENT).values(name=name, text=written, spec_hash=spec_hash))
                _decide(connection, "accept", " and ".join(changed), accept)

    def decide(self, what: str, about: str, why: str, stand: Container[int] = ()) -> None:
        """Keep a decision: to ``drop`` a player, or to play ``again`` a match, or a player's but those in ``stand``.

        Raises:
            StoreError: there is nothing to play again.
        """
        known = [one for one in self.matches() if one.number not in stand] if what == "again" else []
        again = [one for one in known if about == one.id] or [one for one in known if about in one.seats]
        if what == "again" and not again:
            raise StoreError(f"there is no match {about!r}, and no player with any: show --rounds lists them")
        with self._transaction(what) as connection:
            were = [f"of {match.id} {was}" for match in again if (was := _undo(connection, match.number)) is not None]
            _decide(connection, what, about, f"{why} (results were: {'; '.join(were)})" if were else why)

    def decisions(self) -> list[Decision]:
        """Return the decisions, in order."""
        with self._reading() as connection:
            return [Decision(**row._mapping) for row in connection.execute(select(_DECISION).order_by("number"))]

    # -- matches -----------------------------------------------------------------------------------------------------

    def plan(self, matches: Sequence[Match]) -> None:
        """Keep the matches of a round, all of them or none."""
        with self._transaction("plan") as connection:
            connection.execute(
                insert(_MATCH),
                [
                    {
                        "number": m.number,
                        "id": m.id,
                        "round": m.round,
                        "pairing": m.pairing,
                        "seats": json.dumps(m.seats),
                    }
                    for m in matches
                ],
            )

    def matches(self) -> list[Match]:
        """Return all matches that are planned, in order."""
        with self._reading() as connection:
            rows = connection.execute(select(_MATCH).order_by("number"))
            return [Match(row.number, row.id, row.round, row.pairing, tuple(json.loads(row.seats))) for row in rows]

    def attempts(self) -> list[Attempt]:
        """Return all attempts, by match and number."""
        wanted = [_ATTEMPT.c[name] for name in ("match", "number", "state", "run", "seconds", "why")]
        with self._reading() as connection:
            rows = connection.execute(select(*wanted).order_by("match", "number"))
            return [Attempt(**row._mapping) for row in rows]

    def stop_running(self) -> int:
        """Note that nothing runs, as the coordinator is only starting; return how many attempts were cut off."""
        with self._transaction("stop") as connection:
            stopped = connection.execute(
                update(_ATTEMPT)
                .where(_ATTEMPT.c.state == "running")
                .values(state="stopped", why="the event was stopped")
            )
            return stopped.rowcount

    def start(self, match: int, number: int, run: str) -> None:
        """Note that an attempt begins."""
        values = {"match": match, "number": number, "state": "running", "run": run, "started": _now(), "why": ""}
        with self._transaction("start") as connection:
            connection.execute(_NEW_ATTEMPT, values)

    def end(self, match: int, number: int, state: str, seconds: float, why: str) -> None:
        """Note how an attempt ended that was not played: broken or stopped."""
        with self._transaction(state) as connection:
            _end(connection, match, number, state, seconds, why)

    def played(
        self, match: int, number: int, run: str, seconds: float, value: Any, places: Sequence[Placed], why: str = ""
    ) -> bool:
        """Keep a result with the end of its attempt; return False, with nothing changed, if there is one already."""
        try:
            with self._transaction("played") as connection:
                connection.execute(_NEW_RESULT, {"match": match, "run": run, "value": json.dumps(value)})
                connection.execute(_NEW_PLACE, [_place(match, seat, one) for seat, one in enumerate(places)])
                _end(connection, match, number, "played", seconds, why)
        except IntegrityError:
            return False
        return True

    def settle(self, match: int, why: str, places: Sequence[Placed]) -> None:
        """Keep a result of a match that was not played, as somebody in it is out."""
        with self._transaction("settle") as connection:
            connection.execute(_NEW_RESULT, {"match": match, "run": "", "value": json.dumps(why)})
            connection.execute(_NEW_PLACE, [_place(match, seat, one) for seat, one in enumerate(places)])

    def results(self) -> dict[int, tuple[Placed, ...]]:
        """Return the places of all matches that have a result, by the match's number, in the order of the seats."""
        found: dict[int, list[Placed]] = {}
        with self._reading() as connection:
            for row in connection.execute(select(_PLACE).order_by("match", "seat")):
                one = Placed(row.player, row.place, row.points, bool(row.at_fault), row.fault, row.words)
                found.setdefault(row.match, []).append(one)
        return {number: tuple(places) for number, places in found.items()}

    def values(self) -> dict[int, tuple[str, Any]]:
        """Return of each match that has a result its run and what was returned."""
        with self._reading() as connection:
            return {row.match: (row.run, json.loads(row.value)) for row in connection.execute(select(_RESULT))}


def _place(match: int, seat: int, placed: Placed) -> Mapping[str, Any]:
    return {
        "match": match,
        "seat": seat,
        "player": placed.player,
        "place": placed.place,
        "points": placed.points,
        "at_fault": int(placed.at_fault),
        "fault": _kept(placed.fault),
        "words": _kept(placed.words),
    }


def _kept(text: str) -> str:
    """Return a text as a database may keep it: cut, and without what PostgreSQL refuses."""
    return text[:WORDS_MAX].replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _end(connection: Connection, match: int, number: int, state: str, seconds: float, why: str) -> None:
    values = {"state": state, "seconds": seconds, "why": _kept(why)}
    connection.execute(_END_OF_ATTEMPT, {"of_match": match, "of_number": number, **values})


def _undo(connection: Connection, number: int) -> str | None:
    """Take the result of a match back, and return it as JSON; None if there is none."""
    was: str | None = connection.execute(select(_RESULT.c.value).where(_RESULT.c.match == number)).scalar()
    connection.execute(delete(_RESULT).where(_RESULT.c.match == number))
    connection.execute(delete(_PLACE).where(_PLACE.c.match == number))
    tries = _ATTEMPT.c.match == number, _ATTEMPT.c.state.in_(("broken", "played"))
    connection.execute(update(_ATTEMPT).where(*tries).values(state="stopped"))
    return was


def _decide(connection: Connection, what: str, about: str, why: str) -> None:
    last = connection.execute(select(_DECISION.c.number).order_by(_DECISION.c.number.desc())).scalar() or 0
    planned = connection.execute(select(_MATCH.c.round).order_by(_MATCH.c.round.desc())).scalar() or 0
    values = {"number": last + 1, "at": _now(), "what": what, "about": about, "why": _kept(why), "round": planned}
    connection.execute(insert(_DECISION).values(**values))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _set_up(connection: Any, record: object) -> None:
    """Have SQLite keep what was committed when a process dies, and readers read while one writes."""
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "orig", None) or error).split())
