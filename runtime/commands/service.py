"""A role that listens, as ``accord serve`` runs it, and what is told of it: once, or for one group after another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from ssl import SSLContext
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter

from machines.effects import Effect, Violation
from machines.engine.session import Program, Session
from machines.model import Spec
from runtime.commands.backends import run
from runtime.commands.exit_codes import CommandError
from runtime.commands.options import (
    Backend,
    Evidence,
    Json,
    Level,
    LogJson,
    PlayerFoldersPath,
    To,
    addresses_of,
    shown_address,
    token_in,
)
from runtime.journal.losses import EVIDENCE_SHOWN, Loss, Losses
from runtime.journal.writing import Journal
from runtime.network.tls import server_context
from runtime.players.base import Player
from runtime.players.registry import open_player
from runtime.process.output import OutputError, note, put_json
from runtime.sessions.client import Address
from runtime.sessions.player_folders import PlayerFolders, name_in
from runtime.sessions.server import ADDRESS_MAX, Stopped

Result = TypeVar("Result")


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ListenOptions:
    """Where a role listens, for whom, and where those are that it connects to itself."""

    host: Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 for all of this machine's.")] = "127.0.0.1"
    port: Annotated[int, Parameter(help="The port to listen on; 0 for any that is free.")] = 0
    per_address: Annotated[
        int, Parameter(help="Connections that one address may have open at once; more are turned away.")
    ] = ADDRESS_MAX
    to: To = field(default_factory=list)
    tls: Annotated[
        tuple[Path, Path] | None, Parameter(help="Speak TLS: the files of the certificate and of its key, PEM.")
    ] = None

    secure: Annotated[
        tuple[Path, Path] | None,
        Parameter(help="Speak TLS where a 'secure' step of the spec says so: certificate and key, PEM."),
    ] = None
    token: Annotated[
        Path | None, Parameter(help="A file with a token: only who says it first takes part (join --token FILE).")
    ] = None

    def secret(self) -> str:
        """Return the token that is wanted; nothing if none is.

        Raises:
            CommandError: its file can not be read, or has none.
        """
        return token_in(self.token) if self.token is not None else ""

    def check(self) -> None:
        """Make sure that the numbers are within their ranges.

        Raises:
            CommandError: one is not.
        """
        if not 0 <= self.port <= 65535:
            raise CommandError(f"--port {self.port} is not within 0..65535")
        if self.per_address < 1:
            raise CommandError(f"--per-address {self.per_address} is less than 1: nobody could connect")
        if self.tls is not None and self.secure is not None:
            raise CommandError("--tls speaks TLS from the start, --secure from a step on: give one of them")

    def addresses(self, spec: Spec, role: str) -> dict[str, Address]:
        """Return where the roles are that a role connects to.

        Raises:
            CommandError: an address is not well formed, or nothing connects to its role.
        """
        return addresses_of(self.to, spec.connects.get(role, ()))

    def certified(self) -> SSLContext | None:
        """Return what the port says who it is by; None where TLS is not spoken.

        Raises:
            TlsFileError: see `runtime.network.tls.server_context`.
        """
        return None if self.tls is None else server_context(*self.tls)

    def certified_later(self) -> SSLContext | None:
        """Return what the role says who it is by from its `secure` steps on; None where it has none.

        Raises:
            TlsFileError: see `runtime.network.tls.server_context`.
        """
        return None if self.secure is None else server_context(*self.secure)


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ServiceReport:
    """What is told of a service, and how."""

    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], help="Tell nothing but the result and errors.")] = False
    log: Annotated[Level | None, Parameter(help="As elsewhere; info if left out, error with --quiet.")] = None
    evidence: Evidence = EVIDENCE_SHOWN
    log_json: LogJson = False
    json: Json = False
    player_folders: PlayerFoldersPath = None

    @property
    def level(self) -> Level:
        """What is logged."""
        return self.log or ("error" if self.quiet else "info")


@dataclass(frozen=True, slots=True)
class Service:
    """A role that listens, ready to be run. Its player is of a ``kind``, and called ``name``."""

    program: Program
    kind: str
    name: str
    seed: int
    listen: ListenOptions
    addresses: Mapping[str, Address]
    tls: SSLContext | None
    backend: Backend
    report: ServiceReport
    token: str = ""
    starttls: SSLContext | None = None
    workers: int = 0
    make_player: Callable[..., AbstractAsyncContextManager[Player]] = open_player

    @property
    def my(self) -> dict[str, Any]:
        """What the spec calls ``my``."""
        return {"name": self.name} | ({"secure": True} if self.starttls is not None else {})

    @property
    def facts(self) -> dict[str, Any]:
        """What stands in every line of JSON."""
        return {"spec": self.program.spec.protocol, "role": self.program.role.name, "seed": self.seed}

    def open_player(self, seed: int) -> AbstractAsyncContextManager[Player]:
        """Make a player, as `runtime.players.registry.open_player` does."""
        return self.make_player(self.kind, spec=self.program.spec, name=self.name, seed=seed)

    @asynccontextmanager
    async def staffed(self) -> AsyncIterator[Service]:
        """Yield the service with the processes that its players think in, if it is to have any."""
        if not self.workers:
            yield self
            return
        from runtime.players.workers import open_workers

        async with open_workers(self.workers) as processes:
            yield replace(self, make_player=processes.open_player)

    def observer(self, losses: Losses) -> Callable[[Effect], None]:
        """Return what takes note of the violations in a session."""
        role = self.program.role.name
        servers = dict(enumerate(self.program.connects))

        def called(peer: int | None) -> str:
            return "" if peer is None else servers.get(peer, f"peer {peer}")

        def seen(effect: Effect) -> None:
            if isinstance(effect, Violation) and effect.kind != "closed":
                losses.note(Loss(effect.name or called(effect.peer), role, effect))

        return seen

    def folders(
        self, session: Callable[[], Session | None], book: Journal | None, group: int | None = None
    ) -> PlayerFolders | None:
        """Return what writes a folder for each player, if that is asked for; ``session`` knows their names by and by.

        Raises:
            FolderError: see `PlayerFolders`.
        """
        where = self.report.player_folders
        if where is None:
            return None
        folder = where if group is None else where / f"group{group}"
        return PlayerFolders(folder, self.program.spec, name_of=lambda peer: name_in(session(), peer), inner=book)

    def tell_listening(self, port: int, *, for_whom: str = "", **more: Any) -> None:
        """Say that the port is taken; ``more`` stands in the line of JSON."""
        where = shown_address(self.listen.host, port)
        if self.report.json:
            put_json({"listening": where, "host": self.listen.host, "port": port, **self.facts, **more})
        elif not self.report.quiet:
            spec, role = self.program.spec.protocol, self.program.role.name
            note(f"{spec}: {role} listens on {where}{for_whom}, seed {self.seed}")


def run_until_stopped(
    serve: Callable[[], Awaitable[Result]], backend: Backend, stops: Sequence[Stopped], tell: Callable[[Stopped], None]
) -> Result:
    """Run a service and return what it returns; where a signal ends it, tell first how far it was.

    Raises:
        KeyboardInterrupt: a signal has ended it.
    """
    try:
        return run(serve, backend)
    except KeyboardInterrupt:
        with suppress(BrokenPipeError, OutputError):  # who read our output may have been interrupted too
            for stop in stops:
                tell(stop)
        raise


def connections_text(stop: Stopped) -> str:
    """Return how many connections had come to a server that was stopped."""
    return f"{stop.connections} connection{'' if stop.connections == 1 else 's'} had come"
