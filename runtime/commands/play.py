"""``accord play``: a whole game, server and players, in one process."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from logging import LogRecord
from math import isfinite
from typing import Annotated

from cyclopts import Parameter

from machines.loader import load, rules_modules
from runtime.commands.backends import run
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.journals import JournalOptions, head_of, journal_path
from runtime.commands.match_setup import cast
from runtime.commands.options import (
    Answers,
    BackendOption,
    Evidence,
    Json,
    Kinds,
    Level,
    LogJson,
    Players,
    PlayersRole,
    Rules,
    Seed,
    Settings,
    SpecName,
    loaded,
    seed_of,
    settings_of,
)
from runtime.commands.output import log_shown, note, put, put_json
from runtime.commands.progress import Progress
from runtime.commands.results import game_facts, game_lines
from runtime.journal import Journal
from runtime.losses import EVIDENCE_SHOWN
from runtime.players.registry import open_player
from runtime.players.scripted import answers_of
from runtime.players.seeds import derived_seed
from runtime.players.workers import WORKERS_MAX, open_workers
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play as play_game


def play(
    spec: SpecName,
    /,
    *,
    players: Players = None,
    player: Kinds = [],  # noqa: B006 (cyclopts makes a new list)
    answer: Answers = [],  # noqa: B006
    seed: Seed = None,
    role: PlayersRole = None,
    settings: Settings = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
    backend: BackendOption = "asyncio",
    journal: JournalOptions = JournalOptions(),
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], help="Show nothing of the game but its result.")] = False,
    workers: Annotated[
        int, Parameter(help="Processes in which strategies think, so that several cores are used; 0: in this one.")
    ] = 0,
    pace: Annotated[float, Parameter(help="Seconds that players wait before each decision, to be watched.")] = 0.0,
    evidence: Evidence = EVIDENCE_SHOWN,
    log: Level = "error",
    log_json: LogJson = False,
    json: Json = False,
) -> int:
    """Play a whole game over loopback TCP: a server, and players who join one after another.

    The same seed gives the same game. Exit code 0 if the game came to its end, whoever cheated or failed in it; 1 if
    the server's run failed.
    """
    if not (isfinite(pace) and pace >= 0):
        raise CommandError(f"--pace {pace:g} is not a number of seconds from 0 on")
    if not 0 <= workers <= WORKERS_MAX:
        raise CommandError(f"--workers {workers} is not within 0..{WORKERS_MAX}")
    overridden = settings_of(settings)
    chosen = cast(loaded(spec, overridden, rules), overridden, players, player, role)
    deciding = [chosen.client, *(name for name in chosen.spec.connects[chosen.client])]
    answers = answers_of(answer, chosen.spec, deciding, len(chosen.names))
    number = seed_of(seed)
    seats = [
        Participant(name, kind, derived_seed(number, "player", index))
        for index, (name, kind) in enumerate(zip(chosen.names, chosen.kinds, strict=True))
    ]
    # Read again as the journal says it, so that a replay is of the very same spec.
    narrowed = load(spec, chosen.settings, rules)
    if "human" in chosen.kinds and not quiet:
        note(", ".join(f"{name} is {value}" for name, value in chosen.settings.items()))
    # A person at the terminal sees the game by their own player's eyes.
    watched = not quiet and "human" not in chosen.kinds
    progress = Progress(narrowed, seats) if watched else None

    head = head_of(spec, narrowed, chosen.server, seed=number, settings=chosen.settings, rules=rules, backend=backend)

    async def game(book: Journal | None) -> GameResult:
        async with open_workers(workers) if workers else nullcontext() as processes:
            return await play_game(
                narrowed,
                rules_modules(narrowed, rules),
                seats,
                server=chosen.server,
                client=chosen.client,
                seed=number,
                journal=book,
                observe=progress,
                pace=pace,
                answers=answers,
                tells_waits=watched,
                make_player=processes.open_player if processes is not None else open_player,
            )

    with (
        # How sessions failed is told with the result; as errors in the log it would be there twice.
        log_shown(log, as_json=log_json, without=_is_in_result if log == "error" else None, waits=watched),
        journal.opened(head) as book,
        progress or nullcontext(),
    ):
        result = run(partial(game, book), backend)
    ends = [result.ended] if result.ended is not None else [*result.sessions.values()]
    if json:
        put_json(game_facts(chosen.spec, result, number, evidence, journal=journal_path(book), backend=backend))
    else:
        for line in game_lines(chosen, result, evidence):
            put(line)
        told = f"seed {number}, {result.seconds:.2f} s"
        note(told if book is None else f"{told}, journal {book.path}")
    return FAILED if any(ended.failed is not None for ended in ends) else OK


def _is_in_result(record: LogRecord) -> bool:
    """Tell whether a record says how a session fared; that its journal failed is told nowhere else."""
    return record.name == "accord.session" and "the journal failed" not in record.getMessage()
