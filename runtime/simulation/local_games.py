"""Whole games in memory, in virtual time: players who decide at once, the same results as over TCP, no sockets.

Players join as in `runtime.sessions.match`: the next comes when the sign-up of the one before is over. Thinking takes
no time of the game. What a player does instead of answering is done on its first link, as a driver does it on a
connection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Final

from machines.effects import Ask, Cancel, Effect, Ended, Received, Send, Violation
from machines.engine.session import Program, Session
from machines.model import Spec
from runtime.journal.losses import Loss, Losses, own_loss
from runtime.players.base import NEVER, DecisionError, EndlessAnswer, PromptPlayer, RawAnswer, Vanish, silent_from
from runtime.players.registry import check_prompt, prompt_player
from runtime.players.seeds import derived_seed
from runtime.sessions.game_result import GameResult, Participant, PlayerResult, explained
from runtime.sessions.match import BEHIND_UNTOLD
from runtime.sessions.topology import around, connections, signing_up
from runtime.simulation.network import Actor, EndlessError, Simulation

LONGER: Final = 100  # times as high as for a game that is judged are the bounds of a game that is played
CLIENTS_SECONDS: Final = 5.0  # how long the players may take to end once the game is over, as over TCP


@dataclass(eq=False)
class LocalActor(Actor):
    """An actor with its player. ``unanswered`` are the questions that were put, and that it may never answer.

    ``misdeed`` says what its player did instead of answering.
    """

    player: PromptPlayer | None = None
    unanswered: list[Ask] = field(default_factory=list)
    misdeed: str = ""
    silent: bool = False  # its player is stuck: it sends nothing any more

    def is_alone(self) -> bool:
        """Whether nothing that it says can reach anybody any more."""
        return not self.links and not self.session.program.accepts


@dataclass(slots=True)
class _Stream:
    """A message without an end, on its way; ``left`` chunks of it at most are still to come, the next one ``at``."""

    actor: LocalActor
    answer: EndlessAnswer
    left: int
    at: float


class LocalGames:
    """Games of one spec with the same roles, names and kinds of players, one after another; each role compiled once.

    ``answers`` has what players answer to a question instead of being asked.

    Raises:
        UnknownPlayerError: players of one of the kinds do not decide at once.
    """

    def __init__(
        self,
        spec: Spec,
        rules: Mapping[str, ModuleType],
        *,
        server: str,
        client: str,
        names: Sequence[str],
        kinds: Sequence[str],
        answers: Mapping[str, Any] = {},
    ) -> None:
        for kind in dict.fromkeys(kinds):
            check_prompt(kind)
        self.spec = spec
        self.server = server
        self.client = client
        self.answers = answers
        self.taken = max(1, connections(spec, client, server))  # how many links each player has to the server
        self.programs = {role: Program(spec, role, rules) for role in (server, *around(spec, client), client)}
        self._who = tuple(zip(names, kinds, strict=True))

    def play(self, seed: int) -> GameResult:
        """Play a game and return how it ended; its seconds are those of the game, not those it took to play it.

        Raises:
            UnknownPlayerError: a player cannot be made.
        """
        seats = [
            Participant(name, kind, derived_seed(seed, "player", index)) for index, (name, kind) in enumerate(self._who)
        ]
        players = [prompt_player(one.kind, spec=self.spec, name=one.name, seed=one.seed) for one in seats]
        game = LocalGame(self, seats, players, seed)
        try:
            game.play()
        except EndlessError as error:
            game.unended = str(error)
        for player in players:
            player.say_farewell_now()
        return game.result()


class LocalGame(Simulation[LocalActor]):
    """One game of `LocalGames`."""

    def __init__(
        self, games: LocalGames, seats: Sequence[Participant], players: Sequence[PromptPlayer], seed: int
    ) -> None:
        super().__init__(games.spec, games.programs, longer=LONGER)
        self._games = games
        self._seats = seats
        self._players = players
        self._seed = seed
        self._opened: Counter[tuple[int | None, str]] = Counter()
        self._came = 0  # players who have joined
        self._clients: list[Ended | None] = [None] * len(seats)
        self._sessions: dict[int, Ended] = {}  # of a server with one for each connection, by the player's number
        self._by_itself = games.programs[games.server].per_connection
        self._until: float | None = None  # when those who are left are stopped
        self._losses = Losses()
        self._streams: list[_Stream] = []
        self.open_standing()

    # -- who plays ---------------------------------------------------------------------------------------------------

    def make_actor(self, role: str, name: str, seat: int | None, owner: LocalActor | None) -> LocalActor:
        """See `Simulation.make_actor`; sessions have the seeds that they have over TCP."""
        program = self.programs[role]
        if seat is None:
            return LocalActor(name, role, Session(program, seed=self._seed), None)
        guest = self._seats[seat]
        seed = guest.seed if owner is None else derived_seed(guest.seed, role)
        number, self._opened[seat, role] = self._opened[seat, role], self._opened[seat, role] + 1
        seed = derived_seed(seed, number) if number else seed
        session = Session(program, seed=seed, my={"name": guest.name}, watch=True)
        return LocalActor(name, role, session, seat, player=self._players[seat])

    def arrive(self) -> bool:
        """Let the next player join, if the sign-up of the one before is over."""
        index = self._came
        if index == len(self._seats) or not self._is_seated(index):
            return False
        self._came += 1
        if self._server_ended() is not None:
            self._client_ended(index, Ended(None, "the game was over before it could join"))
        else:
            self.open(self._games.client, self._seats[index].name, index)
        return True

    def _is_seated(self, count: int) -> bool:
        """Whether the first ``count`` players are seated, refused or gone."""
        if self._by_itself or not count or self._clients[count - 1] is not None or self._server_ended() is not None:
            return True
        return not signing_up(self.standing[self._games.server].session)

    # -- the end -----------------------------------------------------------------------------------------------------

    def _server_ended(self) -> Ended | None:
        return None if self._by_itself else self.standing[self._games.server].ended

    def _client_ended(self, index: int, ended: Ended) -> None:
        self._clients[index] = ended
        if self._by_itself and None not in self._clients:
            self._until = self.now + CLIENTS_SECONDS

    def is_over(self) -> bool:
        """Whether all have ended who belong to the game, or had the time to."""
        if self._until is None:
            return False
        left = len(self._sessions) < len(self._seats) if self._by_itself else None in self._clients
        return not left or self.now >= self._until

    def next_moment(self) -> float | None:
        """See `Simulation.next_moment`."""
        moments = [stream.at for stream in self._streams]
        if self._until is not None:
            moments.append(self._until)
        return min(moments, default=None)

    def result(self) -> GameResult:
        """Return how the game ended."""
        ended = self._server_ended()
        if ended is None and not self._by_itself and (self.unended or None in self._clients):
            ended = Ended(None, self.unended or f"nothing moves any more: {self.whereabouts()}")
        outcomes = []
        for guest, own in zip(self._seats, self._clients, strict=True):
            own = own or Ended(None, "it was stopped: the game was over")
            outcomes.append(PlayerResult(guest.name, guest.kind, own.value, own.failed))
        sessions = {self._seats[index].name: one for index, one in sorted(self._sessions.items())}
        told = explained(self._losses, outcomes, by_itself=self._by_itself)
        return GameResult(ended, tuple(outcomes), self.now, sessions, Losses(told, self._losses.more))

    # -- what sessions want ------------------------------------------------------------------------------------------

    def take_in(self, actor: LocalActor, effects: list[Effect]) -> None:
        """See `Simulation.take_in`."""
        stuck_in = silent_from(actor.player)
        actor.silent |= bool(stuck_in) and any(isinstance(e, Received) and e.message == stuck_in for e in effects)
        super().take_in(actor, effects)
        for effect in effects:
            match effect:
                case Received(_, message, fields):
                    if actor.player is not None:
                        actor.player.heard(message, fields)
                case Cancel(number):
                    actor.unanswered = [ask for ask in actor.unanswered if ask.number != number]
                case Violation():
                    self._note_loss(actor, effect)
                case Ended():
                    self._note_end(actor, effect)
                case _:
                    pass

    def send(self, actor: LocalActor, effect: Send) -> None:
        """See `Simulation.send`."""
        if not actor.silent:
            super().send(actor, effect)

    def _note_end(self, actor: LocalActor, ended: Ended) -> None:
        actor.unanswered.clear()
        if actor.seat is None:
            if actor.role == self._games.server:
                self._until = self.now + CLIENTS_SECONDS
        elif actor.role == self._games.client:
            self._client_ended(actor.seat, ended)
        elif actor.role == self._games.server:
            self._sessions[actor.seat] = ended

    def _note_loss(self, actor: LocalActor, found: Violation) -> None:
        """Take note of who lost: in the game's session any peer that plays, in its own a player, and its server's."""
        seat = actor.seat
        if seat is None and actor.role == self._games.server and found.peer is not None:
            seat = actor.met[found.peer].seat
        elif found.peer is not None and actor.role != self._games.server and not self._is_behind(found):
            return
        if seat is not None:
            name, role = self._seats[seat].name, actor.role
            own = found.peer is None
            self._losses.note(own_loss(name, role, found, actor.player) if own else Loss(name, role, found))

    def _is_behind(self, found: Violation) -> bool:
        """Whether it is a fault of a role that stands behind a client, one for each, and nobody else tells of it."""
        alone = found.role not in (self._games.server, self._games.client) and self.programs[found.role].per_connection
        return alone and found.kind not in BEHIND_UNTOLD

    def cut(self, actor: LocalActor, seat: int, why: str) -> None:
        """See `Simulation.cut`; who is left alone can answer nothing any more."""
        other = actor.links[seat][0] if seat in actor.links else None
        super().cut(actor, seat, why)
        for one in (other, actor) if other is not None else ():
            while one.is_alone() and one.ended is None and (one.unanswered or one.questions):
                ask = (one.unanswered or one.questions).pop(0)
                self._fail(one, ask, self._why_alone(one))

    # -- decisions ---------------------------------------------------------------------------------------------------

    def decide(self, actor: LocalActor, ask: Ask) -> None:
        """See `Simulation.decide`."""
        if actor.is_alone():
            self._fail(actor, ask, self._why_alone(actor))
            return
        try:
            answer = self._answer(actor, ask)
        except DecisionError as error:
            self._fail(actor, ask, str(error), error.kind)
            return
        if answer is NEVER:
            actor.unanswered.append(ask)
        elif isinstance(answer, RawAnswer | EndlessAnswer | Vanish):
            actor.unanswered.append(ask)
            self._misbehave(actor, answer)
        else:
            self.take_in(actor, actor.session.answer(ask.number, answer, self.now))

    def _answer(self, actor: LocalActor, ask: Ask) -> Any:
        if ask.question in self._games.answers:
            return self._games.answers[ask.question]
        if actor.player is None:
            raise DecisionError("this role has no player")
        return actor.player.decide_now(ask.question, ask.arguments, ask.messages, ask.seconds)

    def _fail(self, actor: LocalActor, ask: Ask, why: str, kind: str = "no answer") -> None:
        self.take_in(actor, actor.session.answer_failed(ask.number, why, self.now, kind))

    def _why_alone(self, actor: LocalActor) -> str:
        return f"{actor.misdeed}the connection is closed, so no answer can be sent"

    def _misbehave(self, actor: LocalActor, answer: RawAnswer | EndlessAnswer | Vanish) -> None:
        """Do to the first peer what a bad player does; the session learns of it only by what comes back."""
        if 0 not in actor.links:
            return
        match answer:
            case RawAnswer(data):
                actor.misdeed = f"it sent {len(data)} bytes that are no message; "
                self.queue.append((actor, Send(0, data, "")))
            case EndlessAnswer(opening, chunk, pause, bytes_max):
                actor.misdeed = "it sent a message without an end; "
                self.queue.append((actor, Send(0, opening, "")))
                self._streams.append(_Stream(actor, answer, bytes_max // len(chunk), self.now + pause))
            case Vanish():
                actor.misdeed = "it hung up; "
                self.cut(actor, 0, "the player hung up")

    def rang(self, *, heard: bool) -> None:
        """Let the next chunks of messages without an end come, where somebody is still there to get them."""
        running: list[_Stream] = []
        for stream in self._streams:
            if stream.at <= self.now:
                self.queue.append((stream.actor, Send(0, stream.answer.chunk, "")))
                stream = replace(stream, left=stream.left - 1, at=self.now + stream.answer.pause)
            if stream.left and 0 in stream.actor.links and stream.actor.ended is None:
                running.append(stream)
        self._streams = running
