"""``accord tournament``: whole events between programs, from one YAML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import Parameter

from machines.parser.loader import find, shipped
from machines.problems import near
from runtime.commands.exit_codes import FAILED, NETWORK, OK, PROBLEMS, CommandError
from runtime.commands.match_setup import PLAYERS_MAX, cast, check_name, seats_of
from runtime.commands.options import Json, loaded, pages_are_there, shown_address
from runtime.journal.replay import spec_hash
from runtime.players.base import UnknownPlayerError
from runtime.players.registry import check_kind
from runtime.process.installation import program_version
from runtime.process.output import note, put, put_json, results
from runtime.sessions.topology import connections

if TYPE_CHECKING:
    from machines.model import Spec
    from machines.values import Range
    from runtime.studio.beside import Beside
    from runtime.tournament.conductor import Arena
    from runtime.tournament.engines import Engine
    from runtime.tournament.event import Event
    from runtime.tournament.lobby import Lobby
    from runtime.tournament.store import Store

Action = Literal["check", "run", "show", "again", "drop", "export"]
FormatName = Literal["csv", "json", "html", "text", "folders"]
Formats = Annotated[
    list[FormatName],
    Parameter(
        help="Of export: csv, json, html, text, all four if left out; folders: each player's, to be handed out. "
        "May be given again."
    ),
]
CLEARED: Final = "\x1b[H\x1b[2J"  # a terminal's screen
NEEDS_WHY: Final = ("again", "drop")


def tournament(
    action: Annotated[Action, Parameter(help="What to do with the event.")],
    event: Annotated[Path, Parameter(help="The event's YAML file.")],
    about: Annotated[str | None, Parameter(help="Of drop: a player. Of again: a match (r2-3) or a player.")] = None,
    /,
    *,
    why: Annotated[str | None, Parameter(help="The reason of a decision: it is kept with it.")] = None,
    accept: Annotated[str | None, Parameter(help="Go on though the event's file has changed; says why.")] = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="Of export: the folder.")] = Path("export"),
    format: Formats = [],  # noqa: A002, B006 (cyclopts makes a new list)
    lobby: Annotated[
        str | None, Parameter(help="Of run: HOST:PORT where players who have a token come to; port 0 takes a free one.")
    ] = None,
    on: Annotated[
        str | None,
        Parameter(help="Of run: dask://HOST:PORT, the scheduler of a cluster whose workers play the matches."),
    ] = None,
    live: Annotated[
        bool, Parameter(help="Of show: again whenever something has changed, until the event is over.")
    ] = False,
    studio: Annotated[
        bool, Parameter(negative=(), help="Of run and show: the table in a browser as it grows, at a link.")
    ] = False,
    rounds: Annotated[bool, Parameter(help="Show each match too.")] = False,
    ratings: Annotated[bool, Parameter(help="Show ratings too.", negative="--no-ratings")] = True,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], help="Tell of no match as it ends.")] = False,
    json: Json = False,
) -> int:
    """Hold an event between programs: a schedule, matches several at a time, a database, a table.

    check says all that is wrong with the event's file, then has each program play once; run plays what is missing, from
    the beginning or on from where it was stopped; show prints the table; drop takes a player out, again has a match
    or a player's played once more; export writes all, from the database alone. Exit code 1 if matches were given up, as
    the arena failed, or if a player was at fault in the trial of check.
    """
    if find_spec("sqlalchemy") is None:
        raise CommandError("accord tournament needs the package sqlalchemy: pip install 'accord[tournament]'")
    _check_decision(action, event, about, why)
    _check_shown(action, live=live, json=json, studio=studio)
    found = read(event)
    arena = arena_of(found)
    if action == "check":
        put(f"no problems in {event}: {len(found.players)} players of {found.spec}, {found.format.kind}")
        return _tried(found, arena)
    if studio and action == "show":
        return _page(found)
    exported = (output, [*(format or ("csv", "json", "html", "text"))]) if action == "export" else None
    how = (rounds, ratings, quiet, json, live, studio)
    where = _checked_places(action, found, lobby, on)
    return _with_store(action, found, arena, about, why=why, accept=accept, how=how, exported=exported, where=where)


def _check_decision(action: Action, event: Path, about: str | None, why: str | None) -> None:
    if (action in NEEDS_WHY) != (about is not None):
        wanted = {"drop": "one PLAYER", "again": "one MATCH or PLAYER"}.get(action, "nothing more")
        raise CommandError(f"accord tournament {action} takes an event's file and {wanted}")
    if action in NEEDS_WHY and not why:
        raise CommandError(f"a decision has a reason: accord tournament {action} {event} {about} --why '...'")


def _checked_places(action: Action, event: Event, lobby: str | None, on: str | None) -> tuple[str | None, str | None]:
    """Return the lobby and the cluster, once they were found to go with the event."""
    tokens = {player.token: player.name for player in event.players if player.token}
    if action == "run" and bool(tokens) != (lobby is not None):
        first = next(iter(tokens.values()), "")
        why_not = f"{first} comes by token: give --lobby HOST:PORT" if tokens else "no player of this event has a token"
        raise CommandError(f"{event.file}: {why_not}")
    if on is not None:
        _check_cluster(action, on)
    return lobby, on


def _check_cluster(action: Action, on: str) -> None:
    host, colon, port = on.removeprefix("dask://").rpartition(":")
    if action != "run":
        raise CommandError("--on is for accord tournament run")
    if not on.startswith("dask://") or not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise CommandError(f"--on {on!r} is not of the form dask://HOST:PORT, as in dask://10.0.0.1:8786")
    if find_spec("distributed") is None:
        raise CommandError("accord tournament run --on needs the package distributed: pip install 'accord[dask]'")
    if os.name == "nt":
        raise CommandError("accord tournament run --on needs a system like Linux or macOS, here and at the workers")


def _cluster(event: Event, arena: Arena, on: str) -> Engine:
    """Return what plays matches on a cluster, once each of its workers was found to be able to.

    Raises:
        CommandError: no cluster is there, or a worker lacks something.
    """
    from runtime.tournament.dask_engine import DaskEngine
    from runtime.tournament.engines import EngineLostError

    try:
        engine = DaskEngine(on.removeprefix("dask://"), arena.preloaded, note)
        try:
            engine.check(arena.accord, arena.spec_hash, event)
        except EngineLostError:
            engine.close()
            raise
    except EngineLostError as error:
        raise CommandError(str(error), NETWORK) from None
    return engine


def _tried(event: Event, arena: Arena) -> int:
    """Have each player play once, tell how that went, and return the exit code."""
    from runtime.tournament.trial import trial

    lines, well = trial(event, arena)
    put("in a match that does not count all played by the rules" if well else "in a match that does not count:")
    for line in lines:
        put(line)
    return OK if well else FAILED


def _with_store(
    action: Action,
    event: Event,
    arena: Arena,
    about: str | None,
    *,
    why: str | None,
    accept: str | None,
    how: tuple[bool, bool, bool, bool, bool, bool],
    exported: tuple[Path, list[str]] | None,
    where: tuple[str | None, str | None],
) -> int:
    from runtime.tournament.exports import facts, write_exports
    from runtime.tournament.progress import progress_of
    from runtime.tournament.store import Store, StoreError, url_of
    from runtime.tournament.table import summary_lines

    rounds, ratings, quiet, json, live, studio = how
    try:
        store = Store(url_of(event.database, event.file.parent))
        try:
            store.begin(event.name, event.text, arena.spec_hash, accept=accept)
            if action == "run":
                with store.alone():
                    _run(event, store, arena, *where, quiet=quiet, studio=studio)
            elif about is not None:
                _decide(action, event, store, about, why or "")
            if live:
                return _shown_live(event, store, rated=ratings, rounds=rounds)
            progress, values = progress_of(event, store), store.values()
        finally:
            store.close()
    except StoreError as error:
        raise CommandError(str(error), FAILED) from None
    if exported is not None:
        try:
            for path in write_exports(progress, values, *exported, arena.files):
                put(str(path))
        except OSError as error:
            raise CommandError(f"{error.filename}: {(error.strerror or '').lower()}") from None
    elif json:
        put_json(facts(progress, values, rated=ratings))
    elif action in ("run", "show"):
        for line in summary_lines(progress, rated=ratings, rounds=rounds):
            put(line)
    return FAILED if any(map(progress.is_void, progress.matches)) else OK


def _decide(action: Action, event: Event, store: Store, about: str, why: str) -> None:
    """Keep a decision, and say what it means and what is to follow."""
    from runtime.tournament.decisions import decide

    names = [player.name for player in event.players]
    if action == "drop" and about not in names:
        hint = near(about, names)
        raise CommandError(f"there is no player {about!r} in {event.file}" + (f": {hint}" if hint else ""))
    stand = decide(event, store, action, about, why)
    if action == "drop":
        done = f"{about} is dropped: what it played stands, and it plays no more"
    elif about in names:
        done = f"all matches of {about} are to be played again"
    else:
        done = f"{about} is to be played again"
    note(f"{done}; accord tournament run {event.file} goes on")
    if stand:
        note(f"not played again: {', '.join(stand)}: somebody in it is dropped, and what was played stands")


def _shown_live(event: Event, store: Store, *, rated: bool, rounds: bool) -> int:
    """Show an event as it goes, a screen at a time where there is one, and return the exit code."""
    from runtime.tournament.watching import watch

    def show(lines: Sequence[str]) -> None:
        if results().isatty():
            results().write(CLEARED)
        for line in lines if results().isatty() else (*lines, ""):
            put(line)
        results().flush()

    progress = watch(event, store, show, rated=rated, rounds=rounds)
    return FAILED if any(map(progress.is_void, progress.matches)) else OK


def _run(
    event: Event, store: Store, arena: Arena, lobby: str | None, on: str | None, *, quiet: bool, studio: bool
) -> None:
    import signal

    from runtime.tournament.conductor import Conductor
    from runtime.tournament.engines import EngineLostError

    engine = _cluster(event, arena, on) if on is not None else None
    opened = _opened(event, lobby) if lobby is not None else None
    conductor = Conductor(event, store, arena, (lambda line: None) if quiet else note, opened, engine)
    asked: list[int] = []

    def stop(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        conductor.stop()

    beside = _beside(event) if studio else None
    before = {one: signal.signal(one, stop) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        conductor.run()
    except EngineLostError as error:
        raise CommandError(f"{error}: the event was stopped, and the same command goes on with it", NETWORK) from None
    finally:
        for one, was in before.items():
            signal.signal(one, was)
        if opened is not None:
            opened.close()
        if beside is not None and asked:
            beside.close()
    if asked:
        raise KeyboardInterrupt
    if beside is not None:
        beside.stay("the event")


def _beside(event: Event) -> Beside:
    from runtime.studio.beside import Beside

    return Beside("runtime.tournament.standings_site", str(event.file.resolve()))


def _page(event: Event) -> int:
    from runtime.tournament.standings_site import open_standings

    open_standings(event)
    return OK


def _check_shown(action: Action, *, live: bool, json: bool, studio: bool) -> None:
    if live and (action != "show" or json):
        raise CommandError("--live is for accord tournament show, without --json")
    if studio:
        if action not in ("run", "show"):
            raise CommandError("--studio is for accord tournament run and show")
        pages_are_there("accord tournament show --live needs nothing")


def _opened(event: Event, address: str) -> Lobby:
    """Open the lobby of an event and tell where it is.

    Raises:
        CommandError: the address is none, or cannot be had.
    """
    from runtime.tournament.lobby import Lobby, LobbyError

    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise CommandError(f"--lobby {address!r} is not of the form HOST:PORT, as in 0.0.0.0:8000")
    try:
        found = Lobby(
            host.strip("[]"), int(port), {player.token: player.name for player in event.players if player.token}
        )
    except LobbyError as error:
        raise CommandError(str(error), NETWORK) from None
    note(f"the lobby is at {shown_address(host.strip('[]'), found.port)}")
    return found


def read(path: Path) -> Event:
    """Return the event of a file.

    Raises:
        CommandError: it has problems; the text has them all.
    """
    from runtime.tournament.event import EventError, read_event

    try:
        return read_event(path)
    except EventError as error:
        raise CommandError(str(error), PROBLEMS) from None


def arena_of(event: Event) -> Arena:
    """Return what all matches of an event share.

    Raises:
        CommandError: the spec is no match, or does not go with the event or its players; the text has every problem.
        SpecError: the spec has problems.
    """
    from runtime.tournament.conductor import Arena
    from runtime.tournament.event import REMOTE, EventProblem

    spec = loaded(event.spec, event.settings, event.rules)
    problems: list[EventProblem] = []
    settings: dict[int, Any] = {}
    setup = cast(spec, event.settings, None, (), None)
    server, client = spec.roles[setup.server], spec.roles[setup.client]
    if not says_outcome(server):
        text = f"{spec.protocol} has no matches: no 'return' of {server.name}'s main says an 'outcome'"
        problems.append(EventProblem(event.spec_place, text, "see 'How a match went' in specs/README.md"))
    low, high = event.format.low, event.format.high
    seats = seats_of(spec, server)
    for size in range(low, min(high, PLAYERS_MAX) + 1):
        if seats is not None and size not in seats:
            hint = f"take groups of {seats.low}..{seats.high}" if seats.low > 2 else ""
            text = f"{spec.protocol} is played by {seats.low} to {seats.high}, not by {size}"
            problems.append(EventProblem(event.spec_place, text, hint))
            break
        settings[size] = cast(spec, event.settings, size, (), setup.client).settings
    settings |= _fewer(spec, event, setup.client, seats)
    for player in event.players:
        try:
            if player.kind != REMOTE:
                check_kind(player.kind, spec)
            check_name(player.name, spec, client)
        except (UnknownPlayerError, CommandError) as error:
            problems.append(EventProblem(player.place, str(error).removeprefix("--name ")))
    if connections(spec, setup.client, setup.server) != 1 or len(spec.connects[setup.client]) != 1:
        for player in event.players:
            if player.kind == REMOTE:
                text = (
                    f"{player.name} cannot come by token: a {setup.client} of {spec.protocol} has several connections"
                )
                problems.append(EventProblem(player.place, text))
    if problems:
        raise CommandError("\n".join(map(str, problems)), PROBLEMS)
    files = event.file.parent / f"{event.file.stem}-matches"
    name = event.spec if event.spec in shipped() else str(find(event.spec).resolve())
    preloaded = tuple(f"rules.{module}" for module, _ in spec.rules)
    return Arena(setup.server, setup.client, spec_hash(name), program_version(), preloaded, files.resolve(), settings)


def _fewer(spec: Spec, event: Event, client: str, seats: Range | None) -> dict[int, Any]:
    """Return the settings of tables that go on with fewer than the event seats, as somebody is out, by their number."""
    found: dict[int, Any] = {}
    for size in range(2, event.format.low):
        if seats is None or size in seats:
            with suppress(CommandError):
                found[size] = cast(spec, event.settings, size, (), client).settings
    return found


def says_outcome(role: Any) -> bool:
    """Whether any end of a role's main says how a match went."""
    from machines.analysis.traversal import all_branches, all_choices
    from machines.model import Return

    return any(
        isinstance(branch.next, Return) and branch.next.outcome is not None
        for _, choice in all_choices(role.machines["main"])
        for branch in all_branches(choice)
    )
