"""The event file: what is played, by whom, in which form. All of its problems are told in one pass.

event: spring cup
spec: tsuro                                # or a path
format: {groups: 3..5, rounds: 6}          # round-robin | {gauntlet: [ann]} | knockout | {swiss: 5}
players:                                   # in order of seeding
  ann: {command: python3 bot.py, folder: ./ann}
  bob: {kind: strong}

`EventReader` reads it; `EVENT_KEYS` and the like say what may stand where. ``docs/tournaments.md`` is for people.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from machines.parser.settings import parse_duration
from machines.problems import Place, Problems, near
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode, parse_yaml
from rules.schedules.standings import TIES
from runtime.players.program_limits import ProgramLimits
from runtime.players.registry import PERSONS

EVENT_KEYS: Final = (
    *("event", "spec", "settings", "rules", "seed", "format", "games", "at_once", "limits", "out_after"),
    *("points", "ties", "database", "players"),
)
FORMATS: Final = ("round-robin", "gauntlet", "knockout", "swiss", "groups")
PLAYER_KEYS: Final = ("command", "folder", "kind", "token")
LIMIT_KEYS: Final = ("match", "tries", "come", "start", "memory", "processes", "output", "folder")
EVENT_BYTES_MAX: Final = 1 << 20
PLAYERS_MAX: Final = 1000
ROUNDS_MAX: Final = 1000
GAMES_MAX: Final = 100
AT_ONCE_MAX: Final = 64
MATCH_SECONDS: Final = 300.0
TRIES: Final = 3
COME_SECONDS: Final = 60.0  # until a match does without a player who comes by token
START_SECONDS: Final = 10.0  # of a program, until its first question is asked
MEMORY_MIB: Final = 1024  # of a program and all that it starts
PROCESSES: Final = 64
OUTPUT_MIB: Final = 16  # of a program in a match
FOLDER_MIB: Final = 1  # of each file in a player's folder of a match
SIZE_MIB_MAX: Final = 1 << 20
REMOTE: Final = "remote"  # the kind of who comes by token
TOKEN_CHARACTERS: Final = range(16, 201)
_SIZE: Final = re.compile(r"([0-9]{1,9}) ?(MiB|GiB)")


@dataclass(frozen=True, slots=True)
class Format:
    """How an event goes: ``kind`` is one of FORMATS; ``rounds`` is None where the kind says how many.

    ``against`` are the players of a gauntlet, ``low`` and ``high`` how many sit at a table of groups.
    """

    kind: str
    rounds: int | None = None
    against: tuple[str, ...] = ()
    low: int = 2
    high: int = 2


@dataclass(frozen=True, slots=True)
class Entrant:
    """Somebody who plays: ``kind`` as for `runtime.players.registry.open_player`, ``folder`` where a program runs.

    Who plays from elsewhere has a ``token``, by which it is known in the lobby, and the kind REMOTE.
    """

    name: str
    kind: str
    folder: Path
    place: Place
    token: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An event as its file says it. ``points`` None stands for as many as one has left behind, "own" for the spec's."""

    file: Path
    text: str
    name: str
    spec: str
    settings: dict[str, str]
    rules: tuple[str, ...]
    seed: int
    format: Format
    games: int
    at_once: int | None
    match_seconds: float
    come_seconds: float
    programs: ProgramLimits
    folder_bytes: int
    tries: int
    out_after: int | None
    points: tuple[float, ...] | None
    ties: tuple[str, ...]
    database: str
    players: tuple[Entrant, ...]
    spec_place: Place


@dataclass(frozen=True, slots=True)
class EventProblem:
    """A fault of an event file: where, what, and what to do about it."""

    place: Place
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" + (f" ({self.hint})" if self.hint else "")


class EventError(Exception):
    """An event file cannot be used; ``problems`` has every fault found, in file order."""

    def __init__(self, problems: Sequence[EventProblem] | Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, problems)))


def read_event(path: Path) -> Event:
    """Return the event that a file says.

    Raises:
        EventError: it cannot be read, or has problems.
    """
    try:
        with path.open("rb") as file:
            data = file.read(EVENT_BYTES_MAX + 1)
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or "").lower() if isinstance(error, OSError) else "it is no UTF-8"
        raise EventError([f"{path}: this event file cannot be read: {why}"]) from None
    if len(data) > EVENT_BYTES_MAX:
        raise EventError([f"{path}: an event file has at most {EVENT_BYTES_MAX} bytes"])
    return read_event_text(text, path)


def read_event_text(text: str, path: Path) -> Event:
    """Return the event that a text says, as the file ``path`` would have it; folders are seen from there.

    Raises:
        EventError: it has problems.
    """
    found = Problems()
    node = parse_yaml(text, str(path), found)
    if list(found):
        raise EventError([str(problem) for problem in found])
    reader = _EventReader(path, text)
    event = reader.event(node)
    if reader.problems:
        raise EventError(sorted(reader.problems, key=lambda problem: (problem.place.line, problem.place.column)))
    assert event is not None, "without a problem there is an event"
    return event


@dataclass
class _EventReader:
    path: Path
    text: str
    problems: list[EventProblem] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)

    def fault(self, place: Place, text: str, hint: str = "") -> None:
        self.problems.append(EventProblem(place, text, hint))

    def event(self, node: Node | None) -> Event | None:
        top = Place(str(self.path), 1, 1)
        if not isinstance(node, MapNode):
            self.fault(node.place if node is not None else top, "an event file is a mapping", "like event: spring cup")
            return None
        self.keys(node, EVENT_KEYS, "an event")
        for key in ("spec", "players"):
            if node.get(key) is None:
                self.fault(
                    top, f"{key!r} is missing", "like spec: tsuro" if key == "spec" else "like ann: {kind: strong}"
                )
        players = self.players(node.get("players"))
        format_ = self.format(node.get("format"), [player.name for player in players])
        spec = self.words(node.get("spec"), "spec") or ""
        beside = self.path.parent / spec
        limits = self.mapping(node.get("limits"), "limits")
        self.keys(limits, LIMIT_KEYS, "'limits'")
        if len(players) < format_.low and node.get("players") is not None:
            self.fault(node.place, f"an event needs {format_.low} players or more, not {len(players)}")
        return Event(
            file=self.path,
            text=self.text,
            name=self.words(node.get("event"), "event") or self.path.stem,
            spec=str(beside) if spec.endswith((".yaml", ".yml")) and beside.exists() else spec,
            settings=self.settings(node.get("settings")),
            rules=tuple(self.texts(node.get("rules"), "rules")),
            seed=self.number(node.get("seed"), "seed", 0, (1 << 63) - 1) or 0,
            format=format_,
            games=self.number(node.get("games"), "games", 1, GAMES_MAX) or 1,
            at_once=self.number(node.get("at_once"), "at_once", 1, AT_ONCE_MAX),
            match_seconds=self.duration(limits.get("match"), "match", MATCH_SECONDS, "5 min"),
            come_seconds=self.duration(limits.get("come"), "come", COME_SECONDS, "60 s"),
            programs=self.programs(limits),
            folder_bytes=self.mebibytes(limits.get("folder"), "folder", FOLDER_MIB) << 20,
            tries=self.number(limits.get("tries"), "tries", 1, 100) or TRIES,
            out_after=self.number(node.get("out_after"), "out_after", 1, 1_000_000),
            points=self.points(node.get("points")),
            ties=self.ties(node.get("ties"), format_),
            database=self.words(node.get("database"), "database") or f"{self.path.stem}.db",
            players=players,
            spec_place=place_of(node.get("spec"), top),
        )

    # -- parts -------------------------------------------------------------------------------------------------------

    def players(self, node: Node | None) -> tuple[Entrant, ...]:
        found: dict[str, Entrant] = {}
        pairs = self.mapping(node, "players").pairs
        for key, value in pairs[:PLAYERS_MAX]:
            if not key.text.strip() or not key.text.isprintable() or len(key.text) > 100:
                self.fault(key.place, f"{key.text!r} is no name", "one to a hundred characters that can be printed")
            body = self.mapping(value, f"the player {key.text!r}", "like {kind: strong}")
            if isinstance(value, MapNode):
                self.keys(body, PLAYER_KEYS, f"the player {key.text!r}")
                found[key.text] = self.player(key, body)
        if len(pairs) > PLAYERS_MAX:
            self.fault(pairs[PLAYERS_MAX][0].place, f"an event has at most {PLAYERS_MAX} players")
        return tuple(found.values())

    def player(self, key: ScalarNode, body: MapNode) -> Entrant:
        command, kind = self.words(body.get("command"), "command"), self.words(body.get("kind"), "kind")
        folder = self.path.parent / (self.words(body.get("folder"), "folder") or ".")
        secret = self.words(body.get("token"), "token")
        if sum(one is not None for one in (command, kind, secret)) != 1:
            text = f"the player {key.text!r} has one of 'command', 'kind' and 'token'"
            self.fault(key.place, text, "like {command: python3 bot.py, folder: ./ann}, or {kind: strong}")
        if secret is not None:
            place = place_of(body.get("token"), key.place)
            return Entrant(key.text, REMOTE, folder.resolve(), key.place, self.token(secret, place))
        if kind is not None and (kind in PERSONS or kind.startswith("exec:")):
            hint = "programs have 'command'" if kind not in PERSONS else "a person may play with accord play"
            self.fault(place_of(body.get("kind"), key.place), f"{kind!r} is no kind for an event", hint)
        if not folder.is_dir():
            self.fault(place_of(body.get("folder"), key.place), f"there is no folder {folder}", "see 'folder'")
        return Entrant(key.text, f"exec:{command}" if command is not None else kind or "", folder.resolve(), key.place)

    def token(self, file: str, place: Place) -> str:
        """Return what a file has as a player's token."""
        path, hint = self.path.parent / file, "a line of 16 to 200 letters and digits, which nobody can guess"
        try:
            with path.open() as opened:
                token = opened.read(1000).strip()
        except (OSError, UnicodeDecodeError):
            self.fault(place, f"the token's file {path} cannot be read", hint)
            return ""
        if not (token.isascii() and token.isalnum() and len(token) in TOKEN_CHARACTERS):
            self.fault(place, f"the file {path} has no token", hint)
        elif token in self.tokens:
            self.fault(place, f"the token in {path} is another player's too", "each has one of its own")
        self.tokens.add(token)
        return token

    def format(self, node: Node | None, names: Sequence[str]) -> Format:
        if node is None:
            return Format("round-robin")
        if isinstance(node, ScalarNode):
            kind, value = node.text, None
            if kind in ("gauntlet", "swiss", "groups"):
                example = {"gauntlet": "[ann]", "swiss": "5", "groups": "3..5"}[kind]
                self.fault(node.place, f"{kind} says more than its name", f"like format: {{{kind}: {example}}}")
        else:
            body = self.mapping(node, "format", "like {swiss: 5}")
            self.keys(body, (*FORMATS, "rounds"), "'format'")
            named = [(key, value) for key, value in body.pairs if key.text in FORMATS]
            if len(named) != 1:
                self.fault(node.place, "'format' names one form", f"one of {', '.join(FORMATS)}")
                return Format("round-robin")
            kind, value = named[0][0].text, named[0][1]
        if kind not in FORMATS:
            self.fault(node.place, f"there is no format {kind!r}", near(kind, FORMATS) or ", ".join(FORMATS))
        rounds = node.get("rounds") if isinstance(node, MapNode) else None
        if rounds is not None and kind != "groups":
            self.fault(rounds.place, f"{kind} says itself how many rounds it has", "leave 'rounds' out")
        match kind:
            case "gauntlet" if value is not None:
                return Format(kind, against=self.known(value, names))
            case "swiss" if value is not None:
                most = len(names) - 1 if len(names) % 2 == 0 else len(names)
                number = self.number(value, "swiss", 1, ROUNDS_MAX) or 1
                if names and number > most:
                    text = f"{len(names)} players have met one another after {most} rounds"
                    self.fault(value.place, text, "take fewer, or round-robin")
                return Format(kind, number)
            case "groups" if value is not None:
                low, high = self.span(value)
                return Format(kind, self.number(rounds, "rounds", 1, ROUNDS_MAX) or 1, low=low, high=high)
        return Format(kind)

    def known(self, node: Node, names: Sequence[str]) -> tuple[str, ...]:
        found = self.texts(node, "gauntlet")
        for text, item in zip(found, node.items if isinstance(node, ListNode) else (node,), strict=False):
            if text not in names:
                self.fault(item.place, f"there is no player {text!r}", near(text, names) or ", ".join(names[:10]))
        return tuple(found)

    def span(self, node: Node) -> tuple[int, int]:
        text = self.words(node, "groups") or ""
        low, dots, high = text.partition("..")
        if low.isdecimal() and (high.isdecimal() if dots else not high) and 2 <= int(low) <= int(high or low) <= 100:
            return int(low), int(high or low)
        self.fault(node.place, f"{text!r} is no size of a group", "from 2 to 100, like 4 or 3..5")
        return 2, 2

    def points(self, node: Node | None) -> tuple[float, ...] | None:
        if node is None:
            return None
        found = []
        for item in node.items if isinstance(node, ListNode) else ():
            number = self.words(item, "points") or ""
            try:
                found.append(float(number))
            except ValueError:
                self.fault(item.place, f"{number!r} is no number of points")
        if not found or any(not -1e6 < one < 1e6 for one in found) or sorted(found, reverse=True) != found:
            self.fault(node.place, "'points' lists numbers, those of the first place first", "like [3, 2, 1]")
        return tuple(found)

    def ties(self, node: Node | None, format_: Format) -> tuple[str, ...]:
        if node is None:
            swiss = format_.kind == "swiss"
            return ("buchholz", "sonneborn-berger") if swiss else ("head-to-head", "sonneborn-berger")
        found = self.texts(node, "ties")
        for text in found:
            if text not in TIES:
                self.fault(node.place, f"there is no tie-break {text!r}", near(text, TIES) or ", ".join(TIES))
        return tuple(found)

    def settings(self, node: Node | None) -> dict[str, str]:
        return {key.text: self.words(value, key.text) or "" for key, value in self.mapping(node, "settings").pairs}

    # -- values ------------------------------------------------------------------------------------------------------

    def keys(self, node: MapNode, known: Sequence[str], what: str) -> None:
        for key, _ in node.pairs:
            if key.text not in known:
                hint = near(key.text, known) or f"it has: {', '.join(known)}"
                self.fault(key.place, f"{what} has no key {key.text!r}", hint)

    def mapping(self, node: Node | None, what: str, hint: str = "") -> MapNode:
        if isinstance(node, MapNode):
            return node
        if node is not None:
            self.fault(node.place, f"{what} is a mapping", hint)
        return MapNode((), node.place if node is not None else Place(str(self.path), 1, 1))

    def words(self, node: Node | None, what: str) -> str | None:
        if node is None:
            return None
        if isinstance(node, ScalarNode) and node.text.strip():
            return node.text.strip()
        self.fault(node.place, f"{what!r} is a text")
        return None

    def texts(self, node: Node | None, what: str) -> list[str]:
        if isinstance(node, ListNode):
            return [text for item in node.items if (text := self.words(item, what)) is not None]
        return [text] if (text := self.words(node, what)) is not None else []

    def number(self, node: Node | None, what: str, least: int, most: int) -> int | None:
        text = self.words(node, what)
        if text is None:
            return None
        if text.isascii() and text.isdecimal() and least <= int(text[:30]) <= most:
            return int(text)
        assert node is not None, "nothing has no text"
        self.fault(node.place, f"{what!r} is a whole number of {least} to {most}, not {text!r}")
        return None

    def programs(self, limits: MapNode) -> ProgramLimits:
        return ProgramLimits(
            start_seconds=self.duration(limits.get("start"), "start", START_SECONDS, "10 s"),
            memory_bytes=self.mebibytes(limits.get("memory"), "memory", MEMORY_MIB) << 20,
            processes=self.number(limits.get("processes"), "processes", 1, 1_000_000) or PROCESSES,
            output_bytes=self.mebibytes(limits.get("output"), "output", OUTPUT_MIB) << 20,
        )

    def mebibytes(self, node: Node | None, what: str, otherwise: int) -> int:
        text = self.words(node, what)
        if node is None or text is None:
            return otherwise
        size = _SIZE.fullmatch(text)
        count = int(size[1]) * (1024 if size[2] == "GiB" else 1) if size is not None else 0
        if 1 <= count <= SIZE_MIB_MAX:
            return count
        self.fault(node.place, f"{text!r} is no {what} of a program", f"like {otherwise} MiB, 2 GiB")
        return otherwise

    def duration(self, node: Node | None, what: str, otherwise: float, example: str) -> float:
        text = self.words(node, what)
        if node is None or text is None:
            return otherwise
        seconds = parse_duration(text)
        if seconds is None or not 0 < seconds <= 86400 * 7:
            self.fault(node.place, f"{text!r} is no time for {what!r}", f"like {example}")
            return otherwise
        return seconds


def place_of(node: Node | None, otherwise: Place) -> Place:
    """Return where a node stands, or a place for one that is not there."""
    return node.place if node is not None else otherwise
