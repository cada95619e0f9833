"""How the games of a spec went, kept in a file, and what goes another way since.

The file is JSON, a line for each game, so that it may be kept beside the spec. Of each actor it has the messages that
it sent, in order: ``"10 ann TOKEN 1f3a9c0e"`` is when (seconds), to whom, which, and a hash of its bytes. What is the
same as in the plain game of that seed is only counted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from runtime.simulation import SEEDS_MAX
from runtime.simulation.campaign import End, RunLog

KIND: Final = "games of Accord"
VERSION: Final = 1
READ_BYTES_MAX: Final = 256 * 1024 * 1024  # of a file: 256 MiB, as of a journal
END_LETTERS_MAX: Final = 100  # of how a session ended; of a longer text there is a hash


# Of games whose scene only one of two has, at the time of the record or now.
MORE: Final = "{count} not in the baseline: only now can happen what is amiss there"
NO_MORE: Final = "{count} of the baseline played no more: what is amiss there can not happen now"


class BaselineError(Exception):
    """A file is no baseline, or not one of this spec; the text says why."""


class Lines(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an actor sent: ``same`` messages as in the plain game, then these. ``end`` is how it ended, None if not."""

    end: str | None
    sent: tuple[str, ...] = ()
    same: int = 0


class Game(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One game."""

    scene: str
    seed: int
    actors: dict[str, Lines]


class Games(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All games of one protocol, of so many seeds."""

    protocol: str
    seeds: int
    games: tuple[Game, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    version: int
    specs: tuple[Games, ...]


@dataclass(frozen=True, slots=True)
class GameChange:
    """One game that goes another way: who does so first, the message that it sends then, and what it sent before.

    ``was`` and ``now`` are empty for nothing. ``actor`` is empty where only an end differs, or where ``count`` games
    are new, or are played no more; then it names the first of them.
    """

    scene: str
    seed: int
    actor: str
    was: str
    now: str
    before: tuple[str, ...] = ()
    count: int = 0

    @property
    def message(self) -> str:
        """The name of the message that differs first, empty if only the end does."""
        words = (self.now or self.was).split(" ") if self.actor else []
        return words[-2] if len(words) > 2 else ""

    @property
    def told(self) -> str:
        """What happened, for people."""
        if not self.actor:
            return self.was or self.now
        was, now = (_plain(one) for one in (self.was, self.now))
        if was == now:
            (then, *_, before), (when, *_, after) = self.was.split(" "), self.now.split(" ")
            values = " with other values" if before != after else ""
            return f"{self.actor} sends {now}{values}{f' at {when} s, not at {then} s' if when != then else ''}"
        return f"{self.actor} {f'sends {now}' if now else 'sends nothing more'}, where it {_did(was)}"


def _did(was: str) -> str:
    return f"sent {was}" if was else "sent nothing more"


def _plain(line: str) -> str:
    """Return the name of a message with whom it is for."""
    words = line.split(" ")
    return f"{words[-2]} to {' '.join(words[1:-2])}" if len(words) > 3 else line


def kept(protocol: str, seeds: int, courses: Iterable[RunLog]) -> Games:
    """Return the courses of a protocol's games as they are kept."""
    return Games(protocol, seeds, tuple(_game(course) for course in courses))


def _game(course: RunLog) -> Game:
    actors = {
        name: Lines(
            _end(course.ends.get(name)), tuple(f"{when:g} {to} {message} {what}" for when, to, message, what in sent)
        )
        for name, sent in course.actors.items()
    }
    return Game(course.scene, course.seed, actors)


def _end(end: End | None) -> str | None:
    if end is None:
        return None
    kind, value = end
    text = msgspec.json.encode(value).decode() if kind == "returned" else kind
    if len(text) <= END_LETTERS_MAX:
        return text
    return f"{text[:END_LETTERS_MAX]}... {blake2b(text.encode(), digest_size=4).hexdigest()}"


# -- the file ----------------------------------------------------------------------------------------------------------


def written(specs: Iterable[Games]) -> str:
    """Return what a baseline file of these says."""
    lines = [f'{{"kind": "{KIND}", "version": {VERSION}, "specs": [']
    for at, games in enumerate(specs):
        head = msgspec.json.encode(games.protocol).decode()
        lines.append(f'{"," if at else ""}{{"protocol": {head}, "seeds": {games.seeds}, "games": [')
        packed = [msgspec.json.encode(game).decode() for game in _shared(games.games)]
        lines += [f"{line}," for line in packed[:-1]] + packed[-1:] + ["]}"]
    return "\n".join([*lines, "]}"]) + "\n"


def _shared(games: tuple[Game, ...]) -> Iterator[Game]:
    """Yield the games with only counted what is the same as in the first of their seed."""
    first: dict[int, Game] = {}
    for game in games:
        plain_one = first.setdefault(game.seed, game)
        if plain_one is game:
            yield game
            continue
        actors = {}
        for name, lines in game.actors.items():
            like = plain_one.actors[name].sent if name in plain_one.actors else ()
            same = _alike(like, lines.sent)
            actors[name] = Lines(lines.end, lines.sent[same:], same)
        yield Game(game.scene, game.seed, actors)


def _alike(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many of two lists are the same, from the first on."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))


def read(file: Path) -> dict[str, Games]:
    """Return what a baseline file has, by protocol.

    Raises:
        BaselineError: it can not be read, is damaged, or is something else.
    """
    raw = _content(file)
    try:
        found = msgspec.json.decode(raw, type=_File)
    except msgspec.ValidationError as error:
        raise BaselineError(f"{file} is no baseline of games, or is damaged: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BaselineError(f"{file} is no baseline of games, or is damaged: {error}") from None
    if found.kind != KIND:
        raise BaselineError(f"{file} is no baseline of games: it says of itself {found.kind[:40]!r}")
    if found.version != VERSION:
        raise BaselineError(f"{file} was recorded by another version of Accord: record it again")
    specs: dict[str, Games] = {}
    for games in found.specs:
        if amiss := _damage(games) or (f"it has {games.protocol} twice" if games.protocol in specs else ""):
            raise BaselineError(f"{file} is damaged: {amiss}")
        try:
            specs[games.protocol] = Games(games.protocol, games.seeds, tuple(_whole(games.games)))
        except LookupError:
            raise BaselineError(f"{file} is damaged: a game goes on where no other ends") from None
    return specs


def _content(file: Path) -> bytes:
    """Return what is in a file; nothing is read from a pipe or a device, which may have no end."""
    try:
        # Opened without waiting: to open a pipe that nobody writes to would take for ever.
        with open(file, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise BaselineError(f"{file} is no file that games could stand in")
            content = opened.read(READ_BYTES_MAX + 1)
    except OSError as error:
        raise BaselineError(f"{file} can not be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:  # a null character in the path
        raise BaselineError(f"{str(file)!r} is no path: {error}") from None
    if len(content) > READ_BYTES_MAX:
        raise BaselineError(f"{file} is longer than {READ_BYTES_MAX} bytes")
    return content


def _damage(games: Games) -> str:
    """Say what is wrong with the numbers of a protocol's games; nothing if they may be as they are."""
    if not 1 <= games.seeds <= SEEDS_MAX:
        return f"{games.protocol} has {games.seeds} seeds, which is not within 1..{SEEDS_MAX}"
    seen: set[tuple[str, int]] = set()
    for game in games.games:
        if not 0 <= game.seed < games.seeds:
            return f"{games.protocol} has a game of seed {game.seed}, but {games.seeds} seeds"
        if (game.scene, game.seed) in seen:
            return f"{games.protocol} has a game twice: when {game.scene} (seed {game.seed})"
        seen.add((game.scene, game.seed))
    return ""


def _whole(games: tuple[Game, ...]) -> Iterator[Game]:
    first: dict[int, Game] = {}
    for game in games:
        plain_one = first.setdefault(game.seed, game)
        actors = {}
        for name, lines in game.actors.items():
            like = plain_one.actors[name].sent if lines.same else ()
            if not 0 <= lines.same <= len(like) or (lines.same and plain_one is game):
                raise LookupError(name)
            actors[name] = Lines(lines.end, (*like[: lines.same], *lines.sent))
        yield Game(game.scene, game.seed, actors)


# -- what is new -------------------------------------------------------------------------------------------------------


def changes(was: Games, now: Games) -> list[GameChange]:
    """Return every game that goes another way, in the order in which they are played; then who plays more, or no more.

    Only games of seeds that both have are compared.
    """
    seeds = min(was.seeds, now.seeds)
    before = {(game.scene, game.seed): game for game in was.games if game.seed < seeds}
    found: list[GameChange] = []
    more: list[Game] = []
    for game in now.games:
        if game.seed >= seeds:
            continue
        known = before.pop((game.scene, game.seed), None)
        if known is None:
            more.append(game)
        elif known != game:
            found.append(_first(known, game))
    for games, text in ((more, MORE), (list(before.values()), NO_MORE)):
        if games:
            first = games[0]
            told = text.format(count=f"{len(games)} game{'s' if len(games) > 1 else ''}")
            found.append(GameChange(first.scene, first.seed, "", told, "", count=len(games)))
    return found


def _first(was: Game, now: Game) -> GameChange:
    """Return where a game first goes another way: the earliest message that differs, or else how somebody ended."""
    best: tuple[float, GameChange] | None = None
    for name in dict.fromkeys((*now.actors, *was.actors)):
        old, new = (game.actors.get(name, Lines(None)) for game in (was, now))
        at = _alike(old.sent, new.sent)
        one, other = (lines.sent[at] if at < len(lines.sent) else "" for lines in (old, new))
        if one or other:
            when = min(_when(line) for line in (one, other) if line)
            change = GameChange(now.scene, now.seed, name, one, other, new.sent[max(0, at - 3) : at])
        elif old.end != new.end:
            when, change = float("inf"), GameChange(now.scene, now.seed, "", "", _ends(name, old.end, new.end))
        else:
            continue
        if best is None or when < best[0]:
            best = when, change
    assert best is not None, "the games differ"
    return best[1]


def _when(line: str) -> float:
    try:
        return float(line.partition(" ")[0])
    except ValueError:
        return 0.0


def _ends(name: str, was: str | None, now: str | None) -> str:
    told = [f"with {one}" if one is not None else "never" for one in (now, was)]
    return f"{name} ends {told[0]}, where it ended {told[1]}"


def compared(baseline: Mapping[str, Games], now: Games) -> list[GameChange]:
    """Return what goes another way than in a baseline.

    Raises:
        BaselineError: it has no games of this protocol.
    """
    was = baseline.get(now.protocol)
    if was is None:
        there = ", ".join(baseline) or "none at all"
        raise BaselineError(f"the baseline has no games of {now.protocol}, only of {there}: record it")
    return changes(was, now)
