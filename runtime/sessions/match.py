"""A whole game in one process: the listening roles and all players, each on its own connection over loopback TCP.

Players join one after another: the next connects when the sign-up of the one before is over, so the same seed gives
the same game on every event loop, however fast it is. A role with a session for each connection (the relay's ``ai``)
gets a listener for each player, with a player of that player's kind behind it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from machines.effects import Effect, Ended, Violation
from machines.engine.session import Program
from machines.model import Spec
from runtime.journal.losses import Loss, Losses, errors_of, lines_read_by, own_loss, tell_lost
from runtime.network.transport import NetworkError
from runtime.players.base import Arguments, Player
from runtime.players.program_start import started
from runtime.players.registry import PERSONS, open_player
from runtime.players.scripted import GivenAnswers
from runtime.players.seeds import derived_seed
from runtime.players.wrapped import WrappedPlayer
from runtime.sessions.client import Address, join, run_in_group
from runtime.sessions.game_result import GameResult, Participant, PlayerResult, explained
from runtime.sessions.notifying_session import NotifyingSession
from runtime.sessions.player_folders import PlayerFolders
from runtime.sessions.server import serve
from runtime.sessions.session_journal import JournalWriter
from runtime.sessions.stall_report import tell_of_waits
from runtime.sessions.topology import around, connections, signing_up

if TYPE_CHECKING:
    from runtime.players.terminal import Terminal

log = logging.getLogger("accord.arena")

HOST = "127.0.0.1"
BEHIND_UNTOLD = ("late", "closed")  # of a role behind a client: it says so itself, or the server does
CLIENTS_SECONDS = 5.0  # How long the players may take to end once the game is over.


class Paced(WrappedPlayer):
    """A player who waits before each decision, so that a person can follow the game."""

    def __init__(self, player: Player, seconds: float) -> None:
        super().__init__(player)
        self._seconds = seconds

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """See `Player.decide`; the wait counts against ``seconds``."""
        await anyio.sleep(self._seconds)
        return await super().decide(question, arguments, messages, seconds)


class _NumberedJournal:
    """A journal for several listeners of one process: each of their sessions gets a number of its own."""

    def __init__(self, journal: JournalWriter, numbers: dict[tuple[int, int], int], listener: int) -> None:
        self._journal = journal
        self._numbers = numbers
        self._listener = listener

    def write(self, *line: Any, session: int = 0, **what: Any) -> None:
        """See `JournalWriter.write`."""
        number = self._numbers.setdefault((self._listener, session), len(self._numbers))
        self._journal.write(*line, session=number, **what)

    def flush(self) -> None:
        """See `JournalWriter.flush`."""
        self._journal.flush()


def _as_peer(index: int, observe: Callable[[Effect], None]) -> Callable[[Effect], None]:
    """Return an onlooker for the session of one player: whoever its peer is stands as number ``index``."""

    def look(effect: Effect) -> None:
        known = getattr(effect, "peer", None) is not None
        observe(msgspec.structs.replace(effect, peer=index) if known else effect)

    return look


async def play(
    spec: Spec,
    rules: Mapping[str, ModuleType],
    seats: Sequence[Participant],
    *,
    server: str,
    client: str,
    seed: int,
    journal: JournalWriter | None = None,
    observe: Callable[[Effect], None] | None = None,
    terminal: Terminal | None = None,
    pace: float = 0.0,
    answers: Mapping[str, Any] = {},
    tells_waits: bool = False,
    make_player: Callable[..., AbstractAsyncContextManager[Player]] = open_player,
    elsewhere: Mapping[str, Callable[[Address], Awaitable[None]]] = {},
    programs: Mapping[str, Program] = {},
) -> GameResult:
    """Play a game and return how it ended.

    ``server`` is the role whose session is the game, ``client`` the players' role. ``observe`` sees the effects of
    the server's session, ``journal`` its inputs. A server with a session for each connection has one for each player:
    ``observe`` then sees the player's number in ``seats`` as the peer, and the journal numbers the sessions.
    ``terminal`` is where people are asked. Players wait ``pace`` seconds before each decision, for who watches. A
    question that ``answers`` has is answered with that message, unasked. With ``tells_waits`` the log says what is
    waited for when nothing happens for a while. ``make_player`` makes players as `open_player` does. ``elsewhere``
    has, by name, what connects a player that runs elsewhere to the server. ``programs`` are what `compiled` returns.

    Raises:
        UnknownPlayerError: a player cannot be made.
        NetworkError: loopback TCP does not work here.
    """
    game = _Game(spec, programs or compiled(spec, rules, server, client), server, client, elsewhere, tells_waits)
    game.losses.tell = journal.note_loss if isinstance(journal, PlayerFolders) else None
    began = time.monotonic()
    async with AsyncExitStack() as opened:
        opened_players: list[Player] = []
        players: dict[tuple[int, str], Player] = {}
        for index, seat in enumerate(seats):
            who: dict[str, Any] = {"name": seat.name, "seed": seat.seed, "folder": seat.folder}
            made = make_player(seat.kind, spec=spec, terminal=terminal, **who)
            opened_players.append(await opened.enter_async_context(made))
            given: Player = GivenAnswers(opened_players[index], answers)
            player = Paced(given, pace) if pace and seat.kind not in PERSONS else given
            players |= {(index, role): player for role in game.deciders()}  # it hears the news of all of them
        async with anyio.create_task_group() as starts:
            for opened_player in opened_players:
                starts.start_soon(started, opened_player)
        await run_in_group(lambda tasks: game.run(tasks, seats, players, seed, journal, observe), bare=Exception)
    return game.result(seats, opened_players, time.monotonic() - began)


def compiled(spec: Spec, rules: Mapping[str, ModuleType], server: str, client: str) -> dict[str, Program]:
    """Return the roles of a game, compiled: the server's, the players', and those that listen beside them."""
    roles = dict.fromkeys((server, *around(spec, client), client))
    return {role: Program(spec, role, rules) for role in roles}


def seat_names(spec: Spec, server: str, client: str, names: Sequence[str]) -> Callable[[int], str]:
    """Return what gives the name of a peer of the server's session, by its seat; empty if it is none of the players."""
    first, each = len(spec.connects.get(server, ())), max(1, connections(spec, client, server))

    def name_of(peer: int) -> str:
        index = (peer - first) // each
        return names[index] if 0 <= index < len(names) else ""

    return name_of


class _Game:
    def __init__(
        self,
        spec: Spec,
        programs: Mapping[str, Program],
        server: str,
        client: str,
        elsewhere: Mapping[str, Callable[[Address], Awaitable[None]]],
        tells_waits: bool,
    ) -> None:
        self.listening = around(spec, client)
        self.programs = programs
        self.taken = connections(spec, client, server)  # how many each player has to the server
        self.server = server
        self.client = client
        self.session: NotifyingSession | None = None
        self.ended: Ended | None = None
        self.clients: dict[int, Ended] = {}
        self.losses = Losses()
        self.sessions: dict[int, Ended] = {}  # of a server with one for each connection, by the player's number
        self._changed = anyio.Event()
        self._tells_waits = tells_waits
        self._elsewhere = elsewhere

    def deciders(self) -> list[str]:
        """Return the roles that have a player for each client: the client, and those with a session for each."""
        return [role for role, program in self.programs.items() if role == self.client or program.per_connection]

    async def run(
        self,
        tasks: TaskGroup,
        seats: Sequence[Participant],
        players: Mapping[tuple[int, str], Player],
        seed: int,
        journal: JournalWriter | None,
        observe: Callable[[Effect], None] | None,
    ) -> None:
        """Start what listens, let the players join in turn, and wait for the end."""
        program = self.programs[self.server]
        shared: dict[str, Address] = {}
        numbers: dict[tuple[int, int], int] = {}
        for role in self.listening:
            if not self.programs[role].per_connection:
                how: dict[str, Any] = {"seed": seed, "addresses": dict(shared)}
                if role == self.server:
                    made = partial(self._made, tasks)
                    seen = partial(self._seen, role, seats, players, observe)
                    how |= {"journal": journal, "observe": seen, "make_session": made, "game": True}
                    how["names"] = partial(self._called, seats)
                shared[role] = await self._listen(tasks, self.programs[role], **how)
        for index, seat in enumerate(seats):
            addresses = dict(shared)
            for role in self.listening:
                if self.programs[role].per_connection:
                    own: dict[str, Any] = {"seed": derived_seed(seat.seed, role), "my": {"name": seat.name}}
                    own |= {"player": players[index, role], "addresses": dict(addresses)}
                    own["names"] = partial(self._only, seat)
                    onlooker = observe if role == self.server else None
                    own["observe"] = partial(self._seen_alone, role, index, seats, players, onlooker)
                    if role == self.server:
                        own["journal"] = _NumberedJournal(journal, numbers, index) if journal is not None else None
                        own["on_ended"] = partial(self._session_ended, index)
                    addresses[role] = await self._listen(tasks, self.programs[role], **own)
            seen = partial(self._seen_alone, self.client, index, seats, players, None)
            tasks.start_soon(self._join, index, seat, addresses, players[index, self.client], seen)
            await self._until(lambda joined=index + 1: self._seated(joined))  # type: ignore[misc]
        if not program.per_connection:
            await self._until(lambda: self.ended is not None or len(self.clients) == len(seats))
            if not await self._server_ends():
                return
            with anyio.move_on_after(CLIENTS_SECONDS):
                await self._until(lambda: len(self.clients) == len(seats))
        else:
            await self._until(lambda: len(self.clients) == len(seats))
            with anyio.move_on_after(CLIENTS_SECONDS):
                await self._until(lambda: len(self.sessions) == len(seats))

    def result(self, seats: Sequence[Participant], players: Sequence[Player], seconds: float) -> GameResult:
        """Return how the game went that has run."""
        outcomes = []
        for index, seat in enumerate(seats):
            ended = self.clients.get(index, Ended(None, "it was stopped: the game was over"))
            said, told = errors_of(players[index]), lines_read_by(players[index])
            outcomes.append(PlayerResult(seat.name, seat.kind, ended.value, ended.failed, said, told))
        sessions = {seats[index].name: ended for index, ended in sorted(self.sessions.items())}
        why = explained(self.losses, outcomes, by_itself=self.programs[self.server].per_connection)
        return GameResult(self.ended, tuple(outcomes), seconds, sessions, Losses(why, self.losses.more))

    async def _server_ends(self) -> bool:
        """Wait for the server's end; return False for one that runs for ever, once all players have ended.

        That is one which waits for connections to come and for no clock.
        """
        while self.ended is None:
            with anyio.move_on_after(CLIENTS_SECONDS):
                await self._until(lambda: self.ended is not None)
            if self.ended is None and self.session is not None and self.session.deadline is None:
                log.info("all players have ended, and %s waits for no clock: it is stopped", self.server)
                return False
        return True

    async def _listen(self, tasks: TaskGroup, program: Program, *, game: bool = False, **how: Any) -> Address:
        """Start a role that listens; return its address once the port is taken."""
        listening = anyio.Event()
        port = 0

        def on_listening(taken: int) -> None:
            nonlocal port
            port = taken
            listening.set()

        async def run() -> None:
            ended = await serve(program, HOST, 0, on_listening=on_listening, **how)
            if game:
                self.ended = ended
                self._change()

        tasks.start_soon(run, name=f"listen {program.role.name}")
        await listening.wait()
        return HOST, port

    async def _join(
        self,
        index: int,
        seat: Participant,
        addresses: Mapping[str, Address],
        player: Player,
        observe: Callable[[Effect], None],
    ) -> None:
        if seat.name in self._elsewhere:
            await self._elsewhere[seat.name](addresses[self.server])
            self.clients[index] = Ended(None, None)
            self._change()
            return
        program = self.programs[self.client]
        how: dict[str, Any] = {"seed": seat.seed, "my": {"name": seat.name}, "number": index + 1}
        how["observe"] = observe
        # Where all play one game, its session says it for all.
        how["tells_waits"] = self._tells_waits and self.programs[self.server].per_connection
        try:
            ended = await join(program, addresses, player, **how)
        except NetworkError as error:
            # The port is given up once the session has ended, and that is told when its last bytes are out.
            with anyio.move_on_after(CLIENTS_SECONDS):
                await self._until(lambda: self.ended is not None)
            if self.ended is None:
                raise
            ended = Ended(None, f"the game was over before it could join: {error}")
        self.clients[index] = ended
        self._change()

    # -- who lost, and why -------------------------------------------------------------------------------------------

    def _index(self, peer: int) -> int:
        """Return the place of a player among those who joined, by its seat in the server's session."""
        return (peer - len(self.programs[self.server].connects)) // max(1, self.taken)

    def _called(self, seats: Sequence[Participant], peer: int) -> str:
        index = self._index(peer)
        return seats[index].name if 0 <= index < len(seats) else ""

    def _only(self, seat: Participant, peer: int) -> str:
        return seat.name if peer == 0 else ""

    def _seen(
        self,
        role: str,
        seats: Sequence[Participant],
        players: Mapping[tuple[int, str], Player],
        observe: Callable[[Effect], None] | None,
        effect: Effect,
    ) -> None:
        """Take note of the violations in the session of all, and hand on what is seen there."""
        if isinstance(effect, Violation) and effect.peer is not None:
            index = self._index(effect.peer)
            if 0 <= index < len(seats):
                self._lost(players[index, self.client], Loss(seats[index].name, role, effect))
        if observe is not None:
            observe(effect)

    def _lost(self, player: Player, loss: Loss) -> None:
        self.losses.note(loss)
        tell_lost(player, loss)

    def _seen_alone(
        self,
        role: str,
        index: int,
        seats: Sequence[Participant],
        players: Mapping[tuple[int, str], Player],
        observe: Callable[[Effect], None] | None,
        effect: Effect,
    ) -> None:
        """Take note of the violations in a session that one player has: its own, or where it serves, its peer's.

        A role that stands behind the player's client is the player too: what it says wrongly no server hears.
        """
        if isinstance(effect, Violation):
            if effect.peer is None:
                player = players[index, role]
                self._lost(player, own_loss(seats[index].name, role, effect, player))
            elif role == self.server or (self._is_behind(effect.role) and effect.kind not in BEHIND_UNTOLD):
                self._lost(players[index, self.client], Loss(seats[index].name, role, effect))
        if observe is not None:
            _as_peer(index, observe)(effect)

    def _is_behind(self, role: str) -> bool:
        """Whether each player has a role of its own there."""
        return role not in (self.server, self.client) and self.programs[role].per_connection

    def _session_ended(self, index: int, number: int, ended: Ended) -> None:
        self.sessions[index] = ended
        self._change()

    def _made(self, tasks: TaskGroup, *arguments: Any, **named: Any) -> NotifyingSession:
        self.session = NotifyingSession(*arguments, **named)
        self.session.changed = self._change
        if self._tells_waits:
            tasks.start_soon(tell_of_waits, self.session, self.server)
        return self.session

    def _change(self) -> None:
        self._changed.set()

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            if self._changed.is_set():
                self._changed = anyio.Event()
            await self._changed.wait()

    def _seated(self, joined: int) -> bool:
        """Whether the sign-up of the player who joined last is over: seated, refused or gone."""
        if joined - 1 in self.clients or self.ended is not None or self.session is None:
            return True
        connected = len(self.session.seats) - len(self.programs[self.server].connects)
        return connected >= joined * max(1, self.taken) and not signing_up(self.session)
