"""One match in a process of its own: it plays, tells how it went in plain data, and dies with whoever started it.

It never raises: what goes wrong is told too, as the player's fault or as the arena's.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from socket import socket
from typing import Any, Final

import anyio

from machines.effects import MatchOutcome
from machines.model import Spec
from machines.values import plain
from runtime.journal.losses import Loss, violation_text
from runtime.journal.writing import FORMAT, Head, open_journal
from runtime.players.base import Player, UnknownPlayerError
from runtime.players.descendants import WARDEN
from runtime.players.faulty import SilentPlayer
from runtime.players.program_limits import ProgramLimits
from runtime.players.registry import open_player
from runtime.players.seeds import derived_seed
from runtime.process.stopping import force_end
from runtime.sessions.elsewhere import play_elsewhere
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play, seat_names
from runtime.sessions.player_folders import PlayerFolders
from runtime.sessions.session_journal import JournalWriter
from runtime.sessions.topology import connections
from runtime.tournament.event import REMOTE
from runtime.tournament.host_stalls import HostStalls
from runtime.tournament.preparation import prepared, recipe
from runtime.tournament.store import Placed

MARK: Final = "ACCORD_EVENT"  # the variable by which left-over programs of an event are known
LOG_FILE: Final = "log.txt"
JOURNAL_FILE: Final = "journal.jsonl"
PLAYERS_FOLDER: Final = "players"  # in that of a match: a folder for each who sat at it
STALL_SHARE: Final = 0.1  # of a limit: who misses it while the host stands still for longer is not to blame
WORDS_LINES: Final = 5  # of a program's standard error, kept with its fault


@dataclass(frozen=True, slots=True)
class MatchTask:
    """What a process is to play. ``seats`` are in the order in which they sit down; ``folder`` takes the journal.

    ``seconds`` is how long it may take, ``programs`` what each program in it may take, ``folder_bytes`` how large each
    file in a player's folder may be. Both by name, ``elsewhere`` has the connections of those who came through the
    lobby, ``absent`` who did not come, and why.
    """

    spec: str
    spec_hash: str
    settings: Mapping[str, str]
    rules: tuple[str, ...]
    server: str
    client: str
    seats: tuple[Participant, ...]
    seed: int
    seconds: float
    programs: ProgramLimits
    folder_bytes: int
    folder: Path
    accord: str
    mark: str
    elsewhere: Mapping[str, socket] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MatchReport:
    """How it went: ``places`` in the order of the seats and what was returned; or ``broken``, by the arena's fault.

    ``run`` names the run if it is another than that of the attempt.
    """

    places: tuple[Placed, ...] = ()
    value: Any = None
    broken: str = ""
    run: str = ""


def run(task: MatchTask, connection: Connection) -> None:
    """Play a match and send its report; the entrance of the process.

    When the other end of the connection is closed, as the coordinator is gone, the process ends, and its programs.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of a terminal: the coordinator decides
    signal.signal(signal.SIGTERM, lambda *_: force_end())
    os.environ[MARK] = task.mark
    WARDEN.begin()
    done = threading.Event()
    threading.Thread(target=_die_with, args=(connection, done), daemon=True).start()
    try:
        _write_to(task.folder / LOG_FILE)
        report = report_of(task)
    except BaseException as error:
        report = MatchReport(broken=f"{type(error).__name__}: {error}")
    done.set()
    with suppress(OSError):
        connection.send(report)
    WARDEN.close()
    os._exit(0)  # a strategy may still think in its thread


def _die_with(connection: Connection, done: threading.Event) -> None:
    with suppress(EOFError, OSError):
        connection.recv()
    if not done.is_set():
        force_end()


def _write_to(path: Path) -> None:
    """Have all that this process writes, as a strategy may, go to a file and not to the coordinator's terminal."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab", buffering=0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


def report_of(task: MatchTask) -> MatchReport:
    """Play a match here and return how it went.

    Raises:
        Exception: the arena failed.
    """
    task.folder.mkdir(parents=True, exist_ok=True)
    _log_to(task.folder / LOG_FILE)
    made = prepared(recipe(task.spec, task.settings, task.rules, task.server, task.client))
    spec = made.spec
    head = _head(task, spec)
    absent = dict(task.absent)
    make_player = partial(_open_seat, limits=task.programs)
    elsewhere = {name: partial(play_elsewhere, connection) for name, connection in task.elsewhere.items()}

    async def game() -> GameResult | None:
        seats = _with_places_kept(task.seats, absent)
        for attempt in range(2):
            try:
                with (
                    anyio.move_on_after(task.seconds),
                    closing(_new_journal(task.folder, head)) as journal,
                    closing(_players_folders(spec, task, journal)) as folders,
                ):
                    roles: dict[str, Any] = {"server": task.server, "client": task.client, "programs": made.programs}
                    how: dict[str, Any] = {"make_player": make_player, "elsewhere": elsewhere, "seed": task.seed}
                    result = await play(spec, made.rules, seats, journal=folders, **roles, **how)
                    folders.finish(result)
                    return result
                return None
            except UnknownPlayerError:
                absent.update([found async for found in _cannot_start(spec, seats)])
                if attempt or not absent:
                    raise
                seats = _with_places_kept(seats, absent)
        raise AssertionError("the second attempt returns or raises")

    def _new_journal(folder: Path, head: Head) -> Any:
        path = folder / JOURNAL_FILE
        path.unlink(missing_ok=True)
        return open_journal(path, head)

    stalls = HostStalls()
    with closing(stalls):
        stalls.begin()
        result = anyio.run(game)
    if result is None:
        return MatchReport(broken=f"it took longer than a match may: {task.seconds:g} s")
    return judged(spec, task, result, absent, stalls)


def _head(task: MatchTask, spec: Spec) -> Head:
    """Return the head of a match's journal."""
    return Head(
        journal=FORMAT,
        accord=task.accord,
        protocol=spec.protocol,
        spec=task.spec,
        sha256=task.spec_hash,
        role=task.server,
        seed=task.seed,
        settings=dict(task.settings),
        rules=list(task.rules),
    )


def _players_folders(spec: Spec, task: MatchTask, journal: JournalWriter) -> PlayerFolders:
    """Return what writes a folder for each who sits at a match, and keeps its journal."""
    names = seat_names(spec, task.server, task.client, [seat.name for seat in task.seats])
    where = task.folder / PLAYERS_FOLDER
    return PlayerFolders(where, spec, name_of=names, inner=journal, bytes_max=task.folder_bytes)


def _with_places_kept(seats: Sequence[Participant], absent: Mapping[str, str]) -> tuple[Participant, ...]:
    """Return the seats with a place for each who is absent that hangs up as soon as it is asked: the others play."""
    return tuple([replace(seat, kind="gone") if seat.name in absent else seat for seat in seats])


def _open_seat(kind: str, **how: Any) -> AbstractAsyncContextManager[Player]:
    """Make a player as `open_player` does; who plays from elsewhere is asked nothing here."""
    return nullcontext(SilentPlayer()) if kind == REMOTE else open_player(kind, **how)


async def _cannot_start(spec: Spec, seats: Sequence[Participant]) -> Any:
    """Yield the name of each player that cannot be made, and why."""
    for seat in seats:
        try:
            async with _open_seat(seat.kind, spec=spec, name=seat.name, seed=seat.seed, folder=seat.folder):
                pass
        except UnknownPlayerError as error:
            yield seat.name, f"cannot start: {error}"


def judged(
    spec: Spec, task: MatchTask, result: GameResult, absent: Mapping[str, str], stalls: HostStalls
) -> MatchReport:
    """Return the report on a game that came to an end, or to none."""
    ended = result.ended
    if ended is None or ended.failed is not None:
        return MatchReport(broken=ended.failed or "" if ended is not None else "the server goes on for ever")
    names = [seat.name for seat in task.seats]
    losses = {name: _reason(name, list(result.losses), absent) for name in names}
    seated = _by_seat(ended.outcome, spec, task) if ended.outcome is not None else None
    if seated is None:
        failed = [outcome.name for outcome in result.players if outcome.failed is not None]
        faulty = [seat for seat, name in enumerate(names) if losses[name] is not None or name in failed]
        if not faulty:
            return MatchReport(broken=f"no match was played: {task.server} returned {plain(ended.value)!r}")
        seated = MatchOutcome((), tuple(faulty))
    for seat in seated.faults:
        if (why := _kept_by_the_host(losses[names[seat]], stalls)) is not None:
            return MatchReport(broken=why)
    away = [seat for seat, name in enumerate(names) if name in absent]  # also if no question ever came to them
    seated = MatchOutcome(seated.ranking, tuple(dict.fromkeys((*seated.faults, *away))), seated.points)
    return MatchReport(tuple(_places(names, seated, losses)), plain(ended.value))


def _kept_by_the_host(loss: Loss | str | None, stalls: HostStalls) -> str | None:
    """Return why a player that was late could not help it: the host stood still; None if it could."""
    if not isinstance(loss, Loss) or loss.violation.kind != "late" or loss.violation.limit is None:
        return None
    limit = loss.violation.limit
    stood = stalls.between(loss.moment - loss.violation.seconds, loss.moment)
    if stood <= STALL_SHARE * limit:
        return None
    return f"this host stood still for {stood:.2f} of the {limit:g} s that {loss.name} had"


def _by_seat(outcome: MatchOutcome, spec: Spec, task: MatchTask) -> MatchOutcome:
    """Return an outcome with the places of players in ``task.seats`` for the numbers of their connections."""
    each = max(1, connections(spec, task.client, task.server))
    first = len(spec.connects.get(task.server, ()))

    def seats(peers: Sequence[int]) -> tuple[int, ...]:
        return tuple(dict.fromkeys((peer - first) // each for peer in peers))

    points: dict[int, float] = {}
    for peer, number in outcome.points:
        seat = (peer - first) // each
        points[seat] = points.get(seat, 0) + number
    return MatchOutcome(tuple(map(seats, outcome.ranking)), seats(outcome.faults), tuple(points.items()))


def _places(names: Sequence[str], outcome: MatchOutcome, losses: Mapping[str, Loss | str | None]) -> Iterator[Placed]:
    ranked = [seat for group in outcome.ranking for seat in group if seat not in outcome.faults]
    others = [seat for seat in range(len(names)) if seat not in ranked and seat not in outcome.faults]
    groups = [[seat for seat in group if seat not in outcome.faults] for group in outcome.ranking]
    place: dict[int, int] = {}
    for group in (*groups, others, list(outcome.faults)):
        place |= dict.fromkeys(group, len(place) + 1)
    points = dict(outcome.points)
    for seat, name in enumerate(names):
        at_fault = seat in outcome.faults
        fault, words = _told(losses[name]) if at_fault else ("", "")
        yield Placed(name, place[seat], points.get(seat), at_fault, fault, words)


def _reason(name: str, losses: Sequence[Loss], absent: Mapping[str, str]) -> Loss | str | None:
    """Return why a player was at fault: what it said itself of its program, else the first that the server noted."""
    if name in absent:
        return absent[name]
    own = [loss for loss in losses if loss.name == name]
    # A limit that the server set, and a rule it asked, say more than that the connection ended thereafter.
    return next((loss for loss in own if loss.violation.kind != "closed"), own[0] if own else None)


def _told(loss: Loss | str | None) -> tuple[str, str]:
    if loss is None:
        return "the spec says so", ""
    if isinstance(loss, str):
        return loss, ""
    text = violation_text(loss.violation, loss.name).removeprefix(f"{loss.name} ({loss.violation.role}): ")
    return text, "\n".join(loss.said[-WORDS_LINES:])


def seats_of_match(names: Sequence[str], kinds: Mapping[str, tuple[str, Path]], seed: int) -> tuple[Participant, ...]:
    """Return those who sit at a match, each with its kind, its folder and a seed of its own."""
    return tuple([Participant(name, kinds[name][0], derived_seed(seed, name), kinds[name][1]) for name in names])


def _log_to(path: Path) -> None:
    """Have the log of this process, and so what programs write to standard error, go to a file."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    handler = logging.FileHandler(path, encoding="utf-8", errors="replace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root.addHandler(handler)
    logging.getLogger("accord").setLevel(logging.INFO)
