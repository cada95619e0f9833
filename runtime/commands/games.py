"""``accord check --games``: whole games in memory once nothing else is found, and how they went the last time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, cast

from cyclopts import Parameter

from machines.checks.suppressions import split_suppressed, unused_suppressions
from machines.model import Spec
from machines.problems import Place, Problem
from runtime.commands.exit_codes import CommandError
from runtime.commands.reports import Report, ReportedProblem
from runtime.simulation import SEEDS_MAX

if TYPE_CHECKING:  # a check without games need not wait for all that these import
    from machines.verification.abstract.budget import Budget
    from runtime.simulation.campaign import CampaignResult
    from runtime.simulation.snapshots import GameChange, Games

CHANGES_MAX = 20  # games that go another way, of one spec, that are told; nobody reads more of what has one cause
RANDOM = (
    "who plays in them says anything that fits: players that know the rules come further: "
    "--player python:MODULE:CLASS (docs/players.md)"
)
LONGER_MAX = 1_000  # then a game may take hours


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class GameOptions:
    """Which games are played, and what they are compared with."""

    games: Annotated[
        int, Parameter(help=f"Play whole games in memory too, with so many seeds each, up to {SEEDS_MAX}.")
    ] = 0
    player: Annotated[
        list[str] | None,
        Parameter(help="Who plays in the games: strategies of the game, or python:MODULE:CLASS; may be given again."),
    ] = None
    longer: Annotated[int, Parameter(help=f"Let games go on so many times as long, up to {LONGER_MAX}.")] = 1
    baseline: Annotated[Path | None, Parameter(help="Tell each game that goes another way than this file has it.")] = (
        None
    )
    record: Annotated[Path | None, Parameter(help="Write how the games went to this file.")] = None

    def plan(self) -> Plan:
        """Return what is to be played.

        Raises:
            CommandError: there are too many seeds, the baseline can not be used, or the file to be written is another.
        """
        if not 0 <= self.games <= SEEDS_MAX:
            raise CommandError(f"--games {self.games} is not within 0..{SEEDS_MAX}")
        if not 1 <= self.longer <= LONGER_MAX:
            raise CommandError(f"--longer {self.longer} is not within 1..{LONGER_MAX}")
        if self.longer > 1 and not (self.games or self.baseline or self.record):
            raise CommandError("--longer is for games: --games, --baseline or --record")
        if self.player and not (self.games or self.baseline or self.record):
            raise CommandError("--player is for games: --games, --baseline or --record")
        known = _read(self.baseline) if self.baseline is not None else {}
        if self.record is not None and self.record.exists():
            try:
                _read(self.record)
            except CommandError as error:
                raise CommandError(f"{error}; it is not written over") from None
        return Plan(self.games, self.longer, self.baseline, self.record, known, tuple(self.player or ()))


@dataclass
class Plan:
    """What of games a check is asked for. With a baseline or a record, games are played with a seed at least.

    ``known`` has how the games of each protocol went the last time, ``played`` how they went now.
    """

    seeds: int
    longer: int
    baseline: Path | None
    record: Path | None
    known: dict[str, Games]
    players: tuple[str, ...] = ()
    played: list[Games] = field(default_factory=list)

    def seeds_for(self, spec: Spec) -> int:
        """Return how many seeds are played of a spec; 0 for no games."""
        kept_seeds = self.known[spec.protocol].seeds if spec.protocol in self.known else 0
        least = 1 if self.baseline is not None or self.record is not None else 0
        return max(self.seeds, min(kept_seeds, SEEDS_MAX), least)

    def report(
        self, report: Report, spec: Spec, rules: Mapping[str, ModuleType], budget: Callable[[float], Budget]
    ) -> Report:
        """Return a report with what the games of its spec showed; as it is if there are none, or it has problems.

        ``budget`` makes one of so many times what a check may cost: each seed has as much.

        Raises:
            CommandError: the baseline has no games of the spec, or a player is no strategy.
        """
        seeds = self.seeds_for(spec)
        if not seeds:
            return report
        if none := _no_games(report, spec):
            return replace(report, notes=(*report.notes, f"no games: {none}"))
        from runtime.simulation.campaign import run_campaign
        from runtime.simulation.snapshots import kept

        left = budget(seeds * self.longer)
        left.at = lambda: "games"
        strategies = self._own(spec)
        found = run_campaign(spec, rules, seeds, longer=self.longer, lasts=left.lasts, strategies=strategies)
        told = [ReportedProblem(trouble.problem(spec.place), messages=trouble.trace) for trouble in found.troubles]
        now = kept(spec.protocol, seeds, found.courses)
        apart = self._compared(spec, seeds, now, told)
        unaccepted, accepted = _accepted(spec, told)
        if not unaccepted:
            self.played.append(now)
        return replace(
            report,
            problems=(*report.problems, *unaccepted),
            accepted=(*report.accepted, *accepted),
            notes=(*report.notes, *_notes(found, unaccepted), *apart),
            games=found.games,
            unknown=found.unknown,
            reached=found.reached,
        )

    def _compared(self, spec: Spec, seeds: int, now: Games, told: list[ReportedProblem]) -> list[str]:
        """Add the games that go another way than the baseline has them to what is told; return what else to say.

        Raises:
            CommandError: the baseline has no games of the spec.
        """
        from runtime.simulation.snapshots import BaselineError, compared

        apart: list[str] = []
        if self.baseline is not None:
            try:
                changes = compared(self.known, now)
            except BaselineError as error:
                raise CommandError(f"{self.baseline}: {error}") from None
            told += [_changed(spec, change) for change in changes[:CHANGES_MAX]]
            if len(changes) > CHANGES_MAX:
                more = len(changes) - CHANGES_MAX
                text = f"{more} more game{_s(more)} go{'es' if more == 1 else ''} another way"
                told.append(ReportedProblem(Problem(spec.place, "A604", text, count=more)))
            if (had := self.known[spec.protocol].seeds) != seeds:
                both = min(had, seeds)
                apart.append(
                    f"games: only those of the first {both} seed{_s(both)} are compared: the baseline has {had}"
                )
        return apart

    def _own(self, spec: Spec) -> dict[str, type[Any]]:
        from runtime.players.base import UnknownPlayerError
        from runtime.players.registry import strategy_of

        try:
            return {kind: cast(type[Any], strategy_of(kind, spec)) for kind in self.players}
        except UnknownPlayerError as error:
            raise CommandError(str(error)) from None

    def write(self, *, all_right: bool) -> str:
        """Write the record, if one is asked for; return what to say of it, empty for nothing.

        Raises:
            CommandError: it can not be written.
        """
        if self.record is None:
            return ""
        if not all_right:
            return f"{self.record} is not written: there are problems"
        from runtime.simulation.snapshots import written

        try:
            self.record.write_text(written(self.played), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{self.record} can not be written: {(error.strerror or str(error)).lower()}") from None
        return f"{sum(len(one.games) for one in self.played)} games recorded: accord check --baseline {self.record}"


def _notes(found: CampaignResult, left: list[ReportedProblem]) -> Iterator[str]:
    """Yield what is said of games besides what is wrong with them: how many, how far they came, what is not known."""
    count = sum(one.problem.count for one in left)
    calm = "nothing wrong was seen" if found.unknown or found.reached.untouched else "nothing went wrong"
    yield f"games: {found.games} played, {f'{count} problem{_s(count)}' if count else calm}; {found.reached}"
    yield from (f"unknown: games: {text}" for text in found.unknown)
    if found.reached.untouched and found.random and not left:
        yield f"games: {RANDOM}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _read(file: Path) -> dict[str, Games]:
    from runtime.simulation.snapshots import BaselineError, read

    try:
        return read(file)
    except BaselineError as error:
        raise CommandError(str(error)) from None


def _accepted(spec: Spec, told: list[ReportedProblem]) -> tuple[list[ReportedProblem], list[ReportedProblem]]:
    """Return what a spec does not accept, with what it accepts in vain, and what it does."""
    left: list[ReportedProblem] = []
    accepted: list[ReportedProblem] = []
    allowed = []
    for one in told:
        _, by = split_suppressed(spec, [one.problem])
        if by:
            allowed += by
            accepted.append(replace(one, reason=by[0].by.reason))
        else:
            left.append(one)
    return [
        *left,
        *map(ReportedProblem, unused_suppressions(spec, allowed, lambda code: code.startswith("A6"))),
    ], accepted


def _no_games(report: Report, spec: Spec) -> str:
    """Return why no games are played of a spec; nothing if they are."""
    if report.state == "wrong":
        return "they are played once nothing else is wrong"
    if all(name in spec.foreign or spec.uses_part(name) for name in spec.connects):
        return f"only programs of others play {' and '.join(spec.foreign)} (foreign)"
    return ""


def _changed(spec: Spec, change: GameChange) -> ReportedProblem:
    text = f"{change.told}, {'the first ' if change.count else ''}when {change.scene} (seed {change.seed})"
    problem = Problem(_place(spec, change), "A604", text, "if that was meant: --record", count=change.count or 1)
    before = [f"{change.actor}: {line}" for line in change.before]
    lines = [
        *before,
        f"{change.actor} now: {change.now or 'nothing'}",
        f"{change.actor} before: {change.was or 'nothing'}",
    ]
    return ReportedProblem(problem, messages=tuple(lines) if change.actor else ())


def _place(spec: Spec, change: GameChange) -> Place:
    message = spec.messages.get(change.message)
    return message.place if message is not None else spec.place
