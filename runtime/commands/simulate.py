"""``accord simulate``: whole games in memory, as fast as they go; one line a game."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Annotated, Any, Final

from cyclopts import Parameter

from machines.parser.loader import load, rules_modules
from machines.values import plain
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.match_setup import cast
from runtime.commands.options import (
    SEED_MAX,
    Answers,
    Evidence,
    Kinds,
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
from runtime.commands.results import game_facts
from runtime.journal.losses import EVIDENCE_SHOWN
from runtime.players.scripted import answers_of
from runtime.process.import_path import add_working_folder
from runtime.process.lent_streams import lent
from runtime.process.output import STANDARD_OUTPUT, note, put_json
from runtime.simulation.local_games import LocalGames

GAMES_MAX: Final = 10_000_000  # of one command
WORKERS_MAX: Final = 256  # processes
SHARES: Final = 16  # pieces of work for each worker, so that all end at about the same time
SHARE_GAMES_MAX: Final = 200  # of a piece: its lines are written when all its games are over


class WorkerEndedError(Exception):
    """A process that played games was ended before they were over. The text says so in one sentence."""


@dataclass(frozen=True, slots=True)
class GamePlan:
    """What the games of one command share, as plain data: a worker compiles the spec for itself."""

    spec: str
    settings: Mapping[str, str]
    rules: tuple[str, ...]
    server: str
    client: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    answers: Mapping[str, Any]
    evidence: int

    def games(self) -> LocalGames:
        """Return the games, ready to be played."""
        spec = load(self.spec, self.settings, self.rules)
        return LocalGames(
            spec,
            rules_modules(spec, self.rules),
            server=self.server,
            client=self.client,
            names=self.names,
            kinds=self.kinds,
            answers=self.answers,
        )

    def played(self, games: LocalGames, seed: int) -> dict[str, Any]:
        """Play a game and return its facts as plain data."""
        result = games.play(seed)
        facts = game_facts(games.spec, result, seed, self.evidence, journal=None, backend="memory")
        told: dict[str, Any] = plain(facts)
        return told


def simulate(
    spec: SpecName,
    /,
    *,
    games: Annotated[int, Parameter(help="How many games; the first has the seed, each further one the next.")] = 1,
    players: Players = None,
    player: Kinds = [],  # noqa: B006 (cyclopts makes a new list)
    answer: Answers = [],  # noqa: B006
    seed: Seed = None,
    workers: Annotated[int, Parameter(help="How many processes play; the lines are the same, in the same order.")] = 1,
    role: PlayersRole = None,
    settings: Settings = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
    evidence: Evidence = EVIDENCE_SHOWN,
    json: Annotated[bool, Parameter(name="--json", help="Change nothing: all that is written is JSON Lines.")] = False,
) -> int:
    """Play whole games in memory, without sockets and in virtual time; each is one line of JSON, as of play --json.

    A game is the same as that of accord play with its seed: only its seconds are those of its own clock, in which
    thinking takes no time, so that nobody is late who answers. People and exec: programs cannot play in memory.
    Exit code 0 if all games came to their ends, whoever cheated or failed in them; 1 if one did not.
    """
    number = seed_of(seed)
    _check_numbers(games, number, workers)
    overridden = settings_of(settings)
    chosen = cast(loaded(spec, overridden, rules), overridden, players, player, role)
    plan = GamePlan(
        spec,
        chosen.settings,
        tuple(rules),
        chosen.server,
        chosen.client,
        chosen.names,
        chosen.kinds,
        answers_of(answer, chosen.spec, [chosen.client, *chosen.spec.connects[chosen.client]], len(chosen.names)),
        evidence,
    )
    seeds = range(number, number + games)
    mine = plan.games()  # with several workers too: what cannot be played is told before any of them starts
    try:
        failed = _told(_played(plan, mine, seeds) if workers == 1 else _shared_out(plan, seeds, workers))
    except WorkerEndedError as error:
        note(f"accord: {error}")
        return FAILED
    if failed:
        note(f"{failed} of {games} games did not come to their ends")
    return FAILED if failed else OK


def _told(games: Iterable[dict[str, Any]]) -> int:
    """Write the facts of games, each as soon as it is there; return how many games did not come to their ends."""
    failed = 0
    for facts in games:
        put_json(facts)
        failed += any(end["failed"] is not None for end in (facts, *facts["sessions"].values()))
    return failed


def _check_numbers(games: int, seed: int, workers: int) -> None:
    if not 1 <= games <= GAMES_MAX:
        raise CommandError(f"--games {games} is not within 1..{GAMES_MAX}")
    if seed + games - 1 > SEED_MAX:
        raise CommandError(f"--seed {seed} leaves no seed for the last of {games} games: they end at {SEED_MAX}")
    if not 1 <= workers <= WORKERS_MAX:
        raise CommandError(f"--workers {workers} is not within 1..{WORKERS_MAX}")


def _played(plan: GamePlan, games: LocalGames, seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    return (plan.played(games, seed) for seed in seeds)


def _shared_out(plan: GamePlan, seeds: Sequence[int], workers: int) -> Iterator[dict[str, Any]]:
    """Yield the games that several processes play, in the order of their seeds.

    Raises:
        WorkerEndedError: one of the processes was ended, by a player or from outside.
    """
    size = max(1, min(SHARE_GAMES_MAX, len(seeds) // (workers * SHARES)))
    shares = [seeds[at : at + size] for at in range(0, len(seeds), size)]
    context = get_context("spawn")  # as on every system; a fork would copy the threads' locks, but not the threads
    pool = ProcessPoolExecutor(min(workers, len(shares)), context, _begin, (plan, os.getcwd()))
    try:
        for facts in pool.map(_play_share, shares):
            yield from facts
    except BrokenProcessPool:
        raise WorkerEndedError(
            "a worker process was ended in the midst of a game: by a player's own code, or from "
            "outside; --workers 1 plays in this process"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_plan: GamePlan | None = None  # of a worker process
_games: LocalGames | None = None


def _begin(plan: GamePlan, folder: str) -> None:
    """Make a worker process ready: what its players print goes to standard error, and it ends with the main process."""
    global _plan, _games
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # of Ctrl-C the main process tells
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(OSError):  # there is no standard error
        os.dup2(sys.stderr.fileno(), STANDARD_OUTPUT)
    sys.stdout = sys.stderr = lent(sys.stderr)
    os.chdir(folder)
    add_working_folder()
    _plan, _games = plan, plan.games()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(FAILED)


def _play_share(seeds: Sequence[int]) -> list[dict[str, Any]]:
    assert _plan is not None, "a worker begins before it plays"
    assert _games is not None, "and makes its games then"
    return list(_played(_plan, _games, seeds))
