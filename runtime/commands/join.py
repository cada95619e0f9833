"""``accord join``: a role that connects, with a player who decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from logging import LogRecord
from math import isfinite
from pathlib import Path
from ssl import SSLContext
from typing import Annotated, Any, Final

from cyclopts import Parameter

from machines.effects import Effect, Ended, Received, Send, Violation
from machines.engine.session import Program
from machines.model import Spec
from machines.parser.loader import load
from machines.values import plain
from runtime.commands.backends import run
from runtime.commands.exit_codes import FAILED, NETWORK, OK, CommandError
from runtime.commands.journals import JournalOptions, head_of, journal_path
from runtime.commands.match_setup import check_name, relax_time_limits
from runtime.commands.options import (
    Answers,
    Backend,
    BackendOption,
    Evidence,
    Json,
    Level,
    LogJson,
    Role,
    Seed,
    SpecName,
    SpecOptions,
    To,
    address_of,
    addresses_of,
    chosen_role,
    loaded,
    program,
    seed_of,
    settings_of,
    shown_address,
    token_in,
)
from runtime.commands.results import news_lines, told_here
from runtime.commands.secure_step import check_secures
from runtime.journal.losses import EVIDENCE_SHOWN, Loss, Losses, own_loss, parting_words, tell_lost
from runtime.journal.writing import Head, Journal
from runtime.network.tls import client_context
from runtime.players.base import Player
from runtime.players.program_start import started
from runtime.players.registry import PERSONS, check_kind, default_kind, open_player
from runtime.players.scripted import GivenAnswers, answers_of
from runtime.process.output import log_shown, note, put, put_json
from runtime.sessions.client import Address
from runtime.sessions.embedded_roles import is_embeddable, join_with_embedded
from runtime.sessions.lobby_guest import LobbyGoneError, LobbyRefusedError, match_of_lobby

FAILED_SESSION: Final = "the session failed: "  # as the session notes it, in whose end the same is said


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class PlayerOptions:
    """Who decides for a role that joins."""

    name: Annotated[str, Parameter(help="The player's name, which must fit the message that it is sent in.")] = "player"
    kind: Annotated[
        str | None,
        Parameter(
            name="--player",
            help="Who decides: a kind that accord show SPEC lists, exec:COMMAND, python:MODULE:CLASS or human. The "
            "game's own choice if left out.",
        ),
    ] = None
    answer: Answers = field(default_factory=list)
    seed: Seed = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """How a role reaches those that it connects to."""

    to: To = field(default_factory=list)
    tls: Annotated[bool, Parameter(help="Speak TLS with every role that has an address.", negative=())] = False
    tls_ca: Annotated[
        Path | None, Parameter(help="With TLS: trust the certificates in this file, PEM, not the system's.")
    ] = None
    secure: Annotated[
        bool, Parameter(help="Speak TLS where a 'secure' step of the spec says so, not from the start.", negative=())
    ] = False
    retry: Annotated[float, Parameter(help="Seconds for which it is tried again where nobody listens yet.")] = 3.0
    lobby: Annotated[
        str | None,
        Parameter(
            help="HOST:PORT of an event's lobby: each match of it is played, and no journal kept. Needs --token."
        ),
    ] = None
    token: Annotated[
        Path | None, Parameter(help="The file with the token that the event gave you, or that the server wants.")
    ] = None

    def first(self, address: str | None) -> str:
        """Return where to connect to: the ``address`` that was given, or the lobby's.

        Raises:
            CommandError: it is not one of the two.
        """
        if self.lobby is None and address is None:
            raise CommandError("accord join takes a spec and HOST:PORT; or --lobby HOST:PORT and --token FILE")
        if self.lobby is not None and (address is not None or self.to or self.tls):
            raise CommandError("--lobby is where the event is: give no other address, and no TLS")
        if self.secure and (self.tls or self.token is not None):
            raise CommandError("--secure speaks TLS from a step on: give neither --tls nor --token beside it")
        return self.lobby or address or ""

    def addresses(self, spec: Spec, role: str, first: str) -> dict[str, Address]:
        """Return where the roles are that a role connects to, those left out that it starts for itself.

        Raises:
            CommandError: one has no address and cannot be started here, or an address is not well formed.
        """
        if not (isfinite(self.retry) and self.retry >= 0):
            raise CommandError(f"--retry {self.retry:g} is not a number of seconds from 0 on")
        targets = spec.connects[role]
        found = {targets[0]: address_of(first)} | addresses_of(self.to, targets)
        for target in targets:
            if target not in found and not is_embeddable(spec, target):
                raise CommandError(f"{role} connects to {target} too: give its address with --to {target}=HOST:PORT")
        return found

    def trusted(self) -> SSLContext | None:
        """Return which certificates are trusted; None where TLS is not spoken."""
        return client_context(self.tls_ca) if self.tls or (self.tls_ca is not None and not self.secure) else None

    def trusted_later(self) -> SSLContext | None:
        """Return which certificates are trusted from a `secure` step on; None where it has none."""
        return client_context(self.tls_ca) if self.secure else None


def join(
    spec: SpecName,
    address: Annotated[
        str | None, Parameter(help="HOST:PORT of the first role that this one connects to; left out with --lobby.")
    ] = None,
    /,
    *,
    player: PlayerOptions = PlayerOptions(),
    role: Role = None,
    connect: ConnectOptions = ConnectOptions(),
    given: SpecOptions = SpecOptions(),
    backend: BackendOption = "asyncio",
    journal: JournalOptions = JournalOptions(),
    log: Level = "warning",
    evidence: Evidence = EVIDENCE_SHOWN,
    log_json: LogJson = False,
    json: Json = False,
) -> int:
    """Connect a role to a server and play until its protocol ends.

    A further role that it connects to, and that no --to gives the address of, is started for it if it may stand alone:
    the remote AI of santorini-relay, with the same player.

    Exit code 0 if the protocol came to its end, 1 if the run failed, 4 if nobody listens there. It has failed too where
    the server ends the connection before it has said anything that was heard: no seat is left, its game is over, or too
    few have come for one.

    With --lobby it waits in the lobby of an event, plays each match that it is called for, and ends with the event.
    """
    client = _prepared(spec, connect.first(address), role, player, connect, given)
    if connect.lobby is not None:
        with log_shown(log, as_json=log_json, waits=False):
            return run(partial(_played_in_lobby, client, _token(connect.token), evidence, json), backend)
    token = token_in(connect.token) if connect.token is not None else ""
    in_result = client.is_in_result if log in ("warning", "error") else None
    with (
        log_shown(log, as_json=log_json, without=in_result, waits=client.kind not in PERSONS),
        journal.opened(client.head(spec, given, backend)) as book,
    ):
        ended = run(partial(_played_once, client, book, token), backend)
    if json:
        put_json({**client.facts(ended, evidence), "journal": journal_path(book), "backend": backend})
    else:
        for line in client.lines(ended, evidence):
            put(line)
        if book is not None:
            note(f"journal {book.path}")
    return journal.end(FAILED if client.turned_away or ended.failed is not None else OK)


async def _played_once(client: _Client, book: Journal | None, token: str) -> Ended:
    """Connect and play; where the server wants a token, once it has taken it.

    Raises:
        CommandError: it does not take the token, or nobody listens there.
    """
    where = shown_address(*next(iter(client.addresses.values())))
    try:
        return await client.play(book, token)
    except LobbyRefusedError as error:
        raise CommandError(f"{where} does not take this player: {error}", FAILED) from None
    except LobbyGoneError:
        raise CommandError(f"nobody listens at {where}, or the connection ended before it began", NETWORK) from None


async def _played_in_lobby(client: _Client, token: str, evidence: int, json: bool) -> int:
    """Play each match of an event for which its lobby calls this player, tell how it went, and return the exit code."""
    played = 0
    while True:
        client.losses, client.turned_away = Losses(), ""
        try:
            ended = await client.play(None, token)
        except LobbyRefusedError as error:
            raise CommandError(f"the lobby does not take this player: {error}", FAILED) from None
        except LobbyGoneError as error:
            if not played and not error.welcomed:
                raise CommandError(str(error), NETWORK) from None
            note(f"the event is over, or was stopped; matches played: {played}")
            return OK
        played += 1
        if json:
            put_json(client.facts(ended, evidence))
        for line in () if json else client.lines(ended, evidence):
            put(line)


def _token(file: Path | None) -> str:
    if file is None:
        raise CommandError("--lobby needs --token FILE: the event's organiser gave it to you")
    return token_in(file)


def _prepared(
    name: str, address: str, role: str | None, player: PlayerOptions, connect: ConnectOptions, given: SpecOptions
) -> _Client:
    """Return the client that is asked for, once all is right that can be known before it connects.

    Raises:
        CommandError, SpecError, SpecNotFound, SettingError, RulesError, TlsFileError, AnswerError, UnknownPlayerError:
            something is not.
    """
    settings = settings_of(given.settings)
    spec = loaded(name, settings, given.rules)
    chosen = chosen_role(spec, role, tuple(spec.connects), "connects to another")
    addresses, trusted = connect.addresses(spec, chosen, address), connect.trusted()
    check_name(player.name, spec, spec.roles[chosen])
    kind = player.kind or default_kind(spec)
    check_kind(kind, spec)
    if kind in PERSONS:
        settings |= relax_time_limits(spec, chosen, settings)
        spec = load(name, settings, given.rules)
    own = [target for target in spec.connects[chosen] if target not in addresses]
    answers = answers_of(player.answer, spec, [chosen, *own])
    seed = seed_of(player.seed)
    made = program(spec, chosen, given.rules)
    if connect.secure:
        check_secures(made)
    return _Client(
        program=made,
        own=[program(spec, target, given.rules) for target in own],
        settings=settings,
        addresses=addresses,
        trusted=trusted,
        starttls=connect.trusted_later(),
        retry=connect.retry,
        kind=kind,
        name=player.name,
        answers=answers,
        seed=seed,
    )


@dataclass
class _Client:
    """A role that joins: what it runs, where the others are and who decides; then how it fared."""

    program: Program
    own: list[Program]  # of the roles that it starts for itself
    settings: Mapping[str, str]
    addresses: Mapping[str, Address]
    trusted: SSLContext | None
    starttls: SSLContext | None
    retry: float
    kind: str
    name: str
    answers: Mapping[str, Any]
    seed: int
    losses: Losses = field(default_factory=Losses)
    turned_away: str = ""  # by whom and why, in a sentence
    _parting: Violation | None = None  # what the other side did last, where nothing was said since
    _player: Player | None = None

    @property
    def my(self) -> dict[str, Any]:
        """What the spec calls ``my``."""
        return {"name": self.name} | ({"secure": True} if self.starttls is not None else {})

    def head(self, name: str, given: SpecOptions, backend: Backend) -> Head:
        """Return the head of its journal; ``name`` is the spec's as it was given."""
        who: dict[str, Any] = {"seed": self.seed, "settings": self.settings, "rules": given.rules, "my": self.my}
        return head_of(name, self.program.spec, self.program.role.name, backend=backend, **who)

    async def play(self, book: Journal | None, token: str = "") -> Ended:
        """Connect, and return how the session ended. With a ``token`` it is a match of a lobby, once that begins."""
        async with AsyncExitStack() as opened:
            made = open_player(self.kind, spec=self.program.spec, name=self.name, seed=self.seed)
            decider = await opened.enter_async_context(made)
            await started(decider)
            self._player = GivenAnswers(decider, self.answers)
            reached, trusted = self.addresses, dict.fromkeys(self.addresses, self.trusted)
            if token:
                role, lobby = next(iter(self.addresses.items()))
                secure = trusted.pop(role)
                begun = match_of_lobby(lobby, token, self.retry, secure)
                reached = {**self.addresses, role: await opened.enter_async_context(begun)}
            return await join_with_embedded(
                self.program,
                self.own,
                reached,
                self._player,
                seed=self.seed,
                my=self.my,
                journal=book,
                observe=self._note_loss,
                on_turned_away=self._note_turned_away,
                tells_waits=self.kind not in PERSONS,
                tls={role: one for role, one in trusted.items() if one is not None} or None,
                retry=self.retry,
                starttls=self.starttls,
                on_connected=(lambda: note("connected, waiting for the game")) if self.kind in PERSONS else None,
            )

    def _note_loss(self, effect: Effect) -> None:
        if isinstance(effect, Received | Send):
            self._parting = None
        elif isinstance(effect, Violation) and effect.peer is not None:
            if effect.role == next(iter(self.addresses)):
                self._parting = effect
            else:  # a role behind this client is the player's own: what it says wrongly no server hears
                self.losses.note(Loss(self.name, self.program.role.name, effect))
        elif isinstance(effect, Violation):
            loss = own_loss(self.name, self.program.role.name, effect, self._player)
            self.losses.note(loss)
            tell_lost(self._player, loss)

    def _note_turned_away(self, who: str, why: str) -> None:
        where = shown_address(*self.addresses[who]) if who in self.addresses else "its own port"
        self.turned_away = (
            f"turned away: {who} at {where} ended the connection before anything from it was heard"
            f"{f' ({why})' if why else ''}: no seat is left, its game is over, too few have come, or it does not want "
            "this client"
        )

    def _failed(self, ended: Ended) -> str | None:
        """Return why it failed, in a sentence; None if it did not."""
        if ended.failed is None or self._parting is None:
            return self.turned_away or ended.failed
        return self.turned_away or parting_words(self._parting, self.program.spec.protocol) or ended.failed

    def is_in_result(self, record: LogRecord) -> bool:
        """Tell whether a record says what the result says too, and better where this client is turned away."""
        failed = f"{self.program.role.name}: {FAILED_SESSION}"
        return record.name == "accord.session" and record.getMessage().startswith(failed)

    def facts(self, ended: Ended, evidence: int) -> dict[str, Any]:
        """Return how it fared, for programs."""
        return {
            "spec": self.program.spec.protocol,
            "role": self.program.role.name,
            "name": self.name,
            "player": self.kind,
            "seed": self.seed,
            "result": plain(ended.value),
            "failed": self._failed(ended),
            "turned_away": bool(self.turned_away),
            **self.losses.facts(evidence),
        }

    def lines(self, ended: Ended, evidence: int) -> Iterator[str]:
        """Yield how it fared, for people."""
        failed = self._failed(ended)
        news = news_lines(self.program.spec, ended, told_here())
        yield from news if failed == ended.failed else [failed or ""]
        yield from self.losses.lines(evidence)
