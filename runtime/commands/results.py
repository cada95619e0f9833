"""How the end of a session, and of a game, is told to people and to programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from machines.effects import Ended
from machines.model import Spec
from machines.values import plain
from runtime.journal.losses import Losses
from runtime.players.companions import companions
from runtime.players.terminal import last_told
from runtime.process.output import results_among_notes
from runtime.sessions.game_result import GameResult, PlayerResult

if TYPE_CHECKING:
    from runtime.commands.match_setup import MatchSetup


Told = Sequence[tuple[str, Mapping[str, Any]]]  # What persons were told last: the text, and the message's fields.


def told_here() -> Told:
    """Return what persons at the terminal have just read, if they read the result there too."""
    return last_told() if results_among_notes() else ()


def news_lines(spec: Spec, ended: Ended, told: Told) -> list[str]:
    """Return what to print of an end for who was ``told`` its last message: what that did not say."""
    lines = result_lines(spec, ended)
    if ended.failed is not None:
        return lines
    said = {line.strip() for text, _ in told for line in text.split("\n")}
    for _, fields in told:
        said.update(map(_result_in_json, [dict(fields), *(fields.values() if len(fields) == 1 else ())]))
    return [line for line in lines if line.strip() not in said]


def result_lines(spec: Spec, ended: Ended) -> list[str]:
    """Return what to print of an end: as the game's own view tells it, if it has one that knows such a result."""
    if ended.failed is not None:
        return [f"failed: {ended.failed}"]
    for view in companions(spec, "views"):
        told = getattr(view, "result_lines", None)
        if told is not None and ended.value is not None:
            lines: list[str] = list(told(ended.value))
            return lines
    return [_result_in_json(ended.value)]


def _result_in_json(value: Any) -> str:
    return f"result: {msgspec.json.encode(plain(value)).decode()}"


def game_facts(
    spec: Spec, result: GameResult, seed: int, evidence: int, *, journal: str | None, backend: str
) -> dict[str, Any]:
    """Return a game for a program to read; ``evidence`` is how many bytes are shown of what was a fault."""
    ended = result.ended
    return {
        "spec": spec.protocol,
        "result": plain(ended.value) if ended is not None else None,
        "failed": ended.failed if ended is not None else None,
        "sessions": {
            name: {"result": plain(ended.value), "failed": ended.failed} for name, ended in result.sessions.items()
        },
        "seed": seed,
        "journal": journal,
        "backend": backend,
        "seconds": round(result.seconds, 3),
        "players": [_player(outcome, result.losses) for outcome in result.players],
        **result.losses.facts(evidence),
    }


def _player(outcome: PlayerResult, losses: Losses) -> dict[str, Any]:
    """Return a player for a program to read: one that ended instead of answering failed, even if its client did not."""
    ended = (loss.violation for loss in losses if loss.own and loss.name == outcome.name)
    failed = outcome.failed or next((found.why for found in ended if found.kind in ("crash", "exit")), None)
    return {"name": outcome.name, "kind": outcome.kind, "result": plain(outcome.value), "failed": failed}


def game_lines(chosen: MatchSetup, result: GameResult, evidence: int) -> list[str]:
    """Return a game for people; what was told to those at the terminal is left out where they read this too."""
    told = told_here()
    kinds = ", ".join(f"{outcome.name} ({outcome.kind})" for outcome in result.players)
    lines = [f"{chosen.spec.protocol}: {kinds}"]
    if result.ended is not None:
        lines += [*news_lines(chosen.spec, result.ended, told), *_points(chosen.spec, result)]
    elif not result.sessions:
        lines.append(f"{chosen.server} goes on for ever: it was stopped once all players had ended")
    for name, ended in result.sessions.items():
        lines += [f"{name}: {line}" for line in news_lines(chosen.spec, ended, told)]
    lines += [_failure(outcome.name, _why(outcome.failed)) for outcome in result.players if outcome.failed]
    return [*lines, *result.losses.lines(evidence)]


def _points(spec: Spec, result: GameResult) -> Iterator[str]:
    """Yield the points of an outcome, most first, where the game's own view says what they are and tells none."""
    outcome = result.ended.outcome if result.ended is not None else None
    called = [found for view in companions(spec, "views") if (found := getattr(view, "POINTS", ""))]
    if outcome is not None and outcome.points and called:
        seats = dict(enumerate(result.players))  # players join one after another, so these are their peers' numbers
        told = sorted(((seats[peer].name, points) for peer, points in outcome.points), key=lambda one: -one[1])
        yield f"{called[0]}: {', '.join(f'{name} {points:g}' for name, points in told)}"


def _failure(name: str, why: str) -> str:
    """Return how a player's session failed; a person who left the game has not failed in it."""
    return why if why.startswith(f"{name} left the game") else f"{name} failed: {why}"


def _why(failed: str) -> str:
    """Return why a player's own session failed, as short as a line of a result should be; ``--json`` has it whole."""
    _, _, answerless = failed.partition(" has no answer to ")
    reason = answerless.partition(": ")[2] or failed
    return reason.removeprefix("the player failed: ").partition("; the connection is closed, so")[0]
