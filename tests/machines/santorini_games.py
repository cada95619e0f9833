"""Tournaments of Santorini in memory, in any of the four protocols, with players that do as they are told.

table = Table(PROTOCOLS["relay"], games="1")
table.join("ann", Greedy("ann", 1))
table.hold()
table.result, table.plays
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Final

import rules.santorini
import rules.tournament
from machines.effects import Drop, Effect, Send
from machines.engine.session import Program
from machines.parser.loader import load
from machines.values import freeze
from rules.players.santorini import Speaker
from rules.players.santorini_position import Position, Turn
from rules.santorini_play import Play
from tests.support.session_harness import Client, Network, Run


@dataclass(frozen=True, slots=True)
class Protocol:
    """A protocol by its short name: its roles, and the client's messages that answer a server's request."""

    name: str
    server: str
    client: str
    sign_up: str
    placement: str
    turn: str
    build: str | None = None  # where it is apart from the move

    @property
    def spec(self) -> str:
        """The name of its spec."""
        return f"santorini-{self.name}"


PROTOCOLS: Final = {
    protocol.name: protocol
    for protocol in (
        Protocol("relay", "server", "client", "player_name", "wid_posn", "wid_move_build_dir"),
        Protocol("prompts", "manager", "player", "sign_up_name", "place_worker_request", "turn_request"),
        Protocol("rulecheck", "server", "client", "player_name", "place_request", "move_request", "build_request"),
        Protocol("official", "server", "client", "sign_up", "place", "turn"),
    )
}
SECONDS_MAX: Final = 3600.0  # of virtual time, for a whole tournament
PLAYS: Final[list[Play]] = []  # every game that has ended since this was emptied last
UNDER_WAY: Final[list[int]] = []  # how many games were under way, whenever one began or ended


def _watched() -> ModuleType:
    """Return the rules with a ``start`` and an ``outcome`` that also take down the games."""
    made = ModuleType("santorini")
    made.__dict__.update({name: getattr(rules.santorini, name) for name in rules.santorini.__all__})
    made.__dict__["__all__"] = rules.santorini.__all__

    def start(pair: Any) -> Play:
        UNDER_WAY.append((UNDER_WAY[-1] if UNDER_WAY else 0) + 1)
        return rules.santorini.start(pair)

    def outcome(play: Play) -> Any:
        PLAYS.append(play)
        UNDER_WAY.append(UNDER_WAY[-1] - 1)
        return rules.santorini.outcome(play)

    made.__dict__.update(start=start, outcome=outcome)
    return made


RULES: Final = {"santorini": _watched(), "tournament": rules.tournament}


@cache
def programs(spec: str, settings: tuple[tuple[str, str], ...]) -> dict[str, Program]:
    """Return where the compiled roles of a spec are kept."""
    loaded = load(spec, dict(settings))
    return {role: Program(loaded, role, RULES) for role in loaded.roles}


class Greedy(Speaker):
    """Wins if it can, else steps as high and builds as high as it can: games are short, always the same, and cheap."""

    def choose_cell(self, position: Position) -> int:
        """Return the next free cell of a row that no symmetry maps on itself."""
        taken = position.mine + position.theirs
        return next(cell for cell in (8, 15, 16, 27, 9) if cell not in taken)

    def choose_turn(self, position: Position) -> Turn | None:
        """Return the highest turn; of equal ones the first."""
        heights = position.heights

        def worth(turn: Turn) -> tuple[bool, int, int]:
            return turn.build is None, heights[turn.to], -1 if turn.build is None else heights[turn.build] % 3

        return max(position.turns(), key=worth, default=None)


class Scripted(Speaker):
    """Places on given cells and takes given turns, game after game; when there are no more it gives up or is silent."""

    def __init__(self, cells: Iterable[int], turns: Iterable[Turn | None]) -> None:
        super().__init__("", 0)
        self.cells = iter(cells)
        self.turns = iter(turns)

    def choose_cell(self, position: Position) -> int:
        """Return the next cell."""
        return next(self.cells)

    def choose_turn(self, position: Position) -> Turn | None:
        """Return the next turn."""
        return next(self.turns, None)


class Table(Network):
    """A tournament in memory: a server, clients with their players, and the games that were played."""

    def __init__(self, protocol: Protocol, *, spec: str | None = None, **settings: str) -> None:
        self.protocol = protocol
        chosen = {"side_by_side": "1", **settings}
        made = programs(spec or protocol.spec, tuple(sorted(chosen.items())))
        PLAYS.clear()
        UNDER_WAY.clear()
        self.said: list[tuple[int, str, Any]] = []  # (number of the client, S or C for who spoke, value), in order
        super().__init__(made[protocol.server].spec, protocol.server, RULES, seed=1, programs=made)
        self.plays = PLAYS

    def enter(self, name: str, player: Speaker) -> Client:
        """Let a client join."""

        def decide(question: str, given: dict[str, Any]) -> Any:
            asked = next(run for run in self.runs if run.questions)
            self.runs.remove(asked)  # who has answered is last in the line, so that games go on side by side
            self.runs.append(asked)
            try:
                return getattr(player, question)(*(freeze(value) for value in given.values()))
            except ValueError:  # it would give up, and the protocol has no word for it
                return None

        return self.join(self.protocol.client, decide, {"name": name})

    def hold(self) -> Any:
        """Go on until everybody is through; return the server's result."""
        while self.server.ended is None and self.server.now < SECONDS_MAX:
            self.wait(1.0)
        self.wait(1.0)
        ended = self.server.ended
        assert ended is not None, self.server.state()
        assert ended.failed is None, ended.failed
        return ended.value

    def route(self, run: Run, effects: list[Effect]) -> None:
        """Queue what a run wants done on the wire, and take down what is said between server and clients."""
        for effect in effects:
            if isinstance(effect, Send | Drop):
                self.pass_on(run, effect)

    def pass_on(self, run: Run, effect: Send | Drop) -> None:
        """Queue one thing that a run wants done."""
        if isinstance(effect, Send):
            if not self.runs or run is self.server:
                self.said.append((effect.peer, "S", json.loads(effect.data)))
            elif effect.peer == 0 and isinstance(run, Client) and run.program.role.name == self.protocol.client:
                number = self.clients.index(run) if run in self.clients else len(self.clients)
                self.said.append((number, "C", json.loads(effect.data)))
        self.queue.append((run, effect))


def tournament(protocol: Protocol, names: Iterable[str], **settings: str) -> tuple[Any, Table]:
    """Hold a tournament of greedy players; return its result, and the table."""
    names = list(names)
    table = Table(protocol, seats=f"{len(names)}..{len(names)}", **settings)
    for name in names:
        table.enter(name, Greedy(name, 1))
    return table.hold(), table


class Spoiled(Table):
    """A table at which one client, the ``culprit``, misbehaves instead of, or after, its n-th message of a name."""

    def __init__(self, protocol: Protocol, message: str, number: int, *, after: bool = False, **settings: str) -> None:
        self.message = message
        self.number = number
        self.after = after
        self.count = 0
        self.spoiled_at: float | None = None
        self.gone = False
        self.expecting = False
        self.culprit: Run | None = None
        super().__init__(protocol, **settings)

    def misdeed(self, right: Send) -> list[Send | Drop]:
        """Return what the culprit does to the wire instead of saying what is ``right``."""
        raise AssertionError("each test says what the misdeed is")

    def pass_on(self, run: Run, effect: Send | Drop) -> None:
        """Queue one thing that a run wants done on the wire, or the misdeed when it is time."""
        if self.expecting and isinstance(run, Client) and run.program.role.name == self.protocol.client:
            self.culprit, self.expecting = run, False
        if run is not self.culprit:
            super().pass_on(run, effect)
            return
        if self.gone:
            return
        mine = isinstance(effect, Send) and effect.message == self.message and effect.peer == 0
        self.count += mine
        if not (mine and self.count == self.number):
            super().pass_on(run, effect)
            return
        assert isinstance(effect, Send)
        self.spoiled_at = self.server.now
        if self.after:
            super().pass_on(run, effect)
        for done in self.misdeed(effect):
            self.queue.append((run, done))

    def enter_culprit(self, name: str, player: Speaker) -> Client:
        """Let the culprit join."""
        self.expecting = True
        return self.enter(name, player)
