"""``accord play``: a whole game, server and players, in one process."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from logging import LogRecord
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from cyclopts import Parameter

from machines.model import Spec
from machines.parser.loader import load, rules_modules
from runtime.commands.backends import run
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.journals import JournalOptions, head_of, journal_path
from runtime.commands.match_setup import MatchSetup, cast
from runtime.commands.options import (
    Answers,
    BackendOption,
    Evidence,
    Json,
    Kinds,
    Level,
    LogJson,
    PlayerFoldersPath,
    Players,
    PlayersRole,
    Seed,
    SpecName,
    SpecOptions,
    Workers,
    check_workers,
    loaded,
    seed_of,
    settings_of,
)
from runtime.commands.progress import Progress
from runtime.commands.results import game_facts, game_lines
from runtime.journal.losses import EVIDENCE_SHOWN
from runtime.players.registry import PERSONS, open_player
from runtime.players.scripted import answers_of
from runtime.players.seeds import derived_seed
from runtime.players.workers import open_workers
from runtime.process.output import log_shown, note, put, put_json
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play as play_game
from runtime.sessions.match import seat_names
from runtime.sessions.player_folders import PlayerFolders
from runtime.sessions.session_journal import JournalWriter


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class PlayersOptions:
    """Who plays, and how they decide."""

    players: Players = None
    kinds: Kinds = field(default_factory=list)
    answer: Answers = field(default_factory=list)
    seed: Seed = None
    role: PlayersRole = None
    workers: Workers = 0
    pace: Annotated[float, Parameter(help="Seconds that players wait before each decision, to be watched.")] = 0.0


def play(
    spec: SpecName,
    /,
    *,
    who: PlayersOptions = PlayersOptions(),
    given: SpecOptions = SpecOptions(),
    backend: BackendOption = "asyncio",
    journal: JournalOptions = JournalOptions(),
    player_folders: PlayerFoldersPath = None,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], help="Show nothing of the game but its result.")] = False,
    evidence: Evidence = EVIDENCE_SHOWN,
    log: Level = "error",
    log_json: LogJson = False,
    json: Json = False,
) -> int:
    """Play a whole game over loopback TCP: a server, and players who join one after another.

    The same seed gives the same game. Exit code 0 if the game came to its end, whoever cheated or failed in it; 1 if
    the server's run failed.
    """
    game = _prepared(spec, who, given)
    setup = game.setup
    if game.has_person and not quiet:
        note(", ".join(f"{name} is {value}" for name, value in setup.settings.items()))
    # A person at the terminal sees the game by their own player's eyes.
    watched = not quiet and not game.has_person
    progress = Progress(game.spec, game.seats, then_told=not json) if watched else None
    head = head_of(
        spec, game.spec, setup.server, seed=game.seed, settings=setup.settings, rules=given.rules, backend=backend
    )
    with (
        # How sessions failed is told with the result; as errors in the log it would be there twice.
        log_shown(log, as_json=log_json, without=_is_in_result if log == "error" else None, waits=watched),
        journal.opened(head) as book,
        progress or nullcontext(),
    ):
        folders = game.folders(player_folders, book) if player_folders is not None else None
        result = run(partial(game.play, folders or book, progress), backend)
        if folders is not None:
            folders.finish(result)
    if json:
        put_json(game_facts(setup.spec, result, game.seed, evidence, journal=journal_path(book), backend=backend))
    else:
        for line in game_lines(setup, result, evidence):
            put(line)
        told = f"seed {game.seed}, {result.seconds:.2f} s"
        note(told if book is None else f"{told}, journal {book.path}")
    ends = [result.ended] if result.ended is not None else [*result.sessions.values()]
    return journal.end(FAILED if any(ended.failed is not None for ended in ends) else OK)


@dataclass(frozen=True, slots=True)
class _PreparedGame:
    """A game that is ready to be played. ``spec`` is read as the journal says it: a replay is of the very same."""

    setup: MatchSetup
    spec: Spec
    modules: Mapping[str, ModuleType]
    seats: list[Participant]
    answers: Mapping[str, Any]
    seed: int
    workers: int
    pace: float

    @property
    def has_person(self) -> bool:
        """Whether a person plays."""
        return not PERSONS.isdisjoint(self.setup.kinds)

    @property
    def apart(self) -> bool:
        """Whether each player has a session of the server of its own."""
        return bool(self.spec.roles[self.setup.server].machines["main"].parameters)

    def folders(self, where: Path, book: JournalWriter | None) -> PlayerFolders:
        """Return what writes a folder for each player; see `PlayerFolders`."""
        called = [seat.name for seat in self.seats]
        names = seat_names(self.spec, self.setup.server, self.setup.client, () if self.apart else called)
        return PlayerFolders(where, self.spec, name_of=names, apart=self.apart, inner=book)

    async def play(self, book: JournalWriter | None, progress: Progress | None) -> GameResult:
        """Play it."""
        async with open_workers(self.workers) if self.workers else nullcontext() as processes:
            return await play_game(
                self.spec,
                self.modules,
                self.seats,
                server=self.setup.server,
                client=self.setup.client,
                seed=self.seed,
                journal=book,
                observe=progress,
                pace=self.pace,
                answers=self.answers,
                tells_waits=progress is not None,
                make_player=processes.open_player if processes is not None else open_player,
            )


def _prepared(name: str, who: PlayersOptions, given: SpecOptions) -> _PreparedGame:
    """Return the game that is asked for, once all is right that can be known before it begins.

    Raises:
        CommandError, SpecError, SpecNotFound, SettingError, RulesError, AnswerError, UnknownPlayerError: something is
            not.
    """
    if not (isfinite(who.pace) and who.pace >= 0):
        raise CommandError(f"--pace {who.pace:g} is not a number of seconds from 0 on")
    check_workers(who.workers)
    settings = settings_of(given.settings)
    setup = cast(loaded(name, settings, given.rules), settings, who.players, who.kinds, who.role)
    answers = answers_of(who.answer, setup.spec, [setup.client, *setup.spec.connects[setup.client]], len(setup.names))
    seed = seed_of(who.seed)
    seats = [
        Participant(name, kind, derived_seed(seed, "player", index))
        for index, (name, kind) in enumerate(zip(setup.names, setup.kinds, strict=True))
    ]
    narrowed = load(name, setup.settings, given.rules)
    modules = rules_modules(narrowed, given.rules)
    return _PreparedGame(setup, narrowed, modules, seats, answers, seed, who.workers, who.pace)


def _is_in_result(record: LogRecord) -> bool:
    """Tell whether a record says how a session fared; that its journal failed is told nowhere else."""
    return record.name == "accord.session" and "the journal failed" not in record.getMessage()
