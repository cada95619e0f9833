"""``accord serve``: a role that listens."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final

from cyclopts import Parameter

from machines.effects import Ended
from machines.engine.session import Program, Session
from machines.values import plain
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.journals import JournalOptions, head_of, journal_path
from runtime.commands.options import (
    Backend,
    BackendOption,
    Role,
    Seed,
    SpecName,
    SpecOptions,
    Workers,
    check_workers,
    chosen_role,
    loaded,
    program,
    seed_of,
    settings_of,
)
from runtime.commands.results import result_lines
from runtime.commands.secure_step import check_secures
from runtime.commands.serve_again import GroupService
from runtime.commands.service import ListenOptions, Service, ServiceReport, connections_text, run_until_stopped
from runtime.journal.losses import Losses
from runtime.journal.writing import Journal
from runtime.players.registry import PERSONS, check_kind, default_kind
from runtime.process.output import log_shown, note, put, put_json, put_result
from runtime.sessions.group_server import GROUPS_MAX
from runtime.sessions.server import Stopped
from runtime.sessions.server import serve as serve_role

STOPPED: Final = "it was stopped before its end"


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class RoleOptions:
    """Which role is served, and who decides for it."""

    role: Role = None
    player: Annotated[str | None, Parameter(help="Who decides, if this role asks; see accord show SPEC.")] = None
    name: Annotated[str, Parameter(help="What my.name is in the spec.")] = "server"
    seed: Seed = None
    workers: Workers = 0


def serve(
    spec: SpecName,
    /,
    *,
    what: RoleOptions = RoleOptions(),
    listen: ListenOptions = ListenOptions(),
    again: Annotated[
        bool, Parameter(help="Seat one group after another, several at a time, until it is ended; a result for each.")
    ] = False,
    at_once: Annotated[int, Parameter(help="With --again: how many groups may play at a time.")] = GROUPS_MAX,
    given: SpecOptions = SpecOptions(),
    backend: BackendOption = "asyncio",
    journal: JournalOptions = JournalOptions(),
    report: ServiceReport = ServiceReport(),
) -> int:
    """Run a role that listens until its protocol ends, or for ever if it has a session for each connection.

    With --json the first line is {"listening": "HOST:PORT", ...} as soon as the port is taken, the last the result. One
    that Ctrl-C has ended says how far it was: {"stopped": {"connections", "ended", "running", "waited_for"}, ...}.
    With --again each group has its own seed and journal and ends with a line; --journal names the folder of them all.
    Exit code 0 if the protocol came to its end, 1 if the run failed, 4 if the port is in use, 130 after Ctrl-C.
    """
    service = _prepared(spec, what, listen, given, backend, report)
    head = head_of(
        spec,
        service.program.spec,
        service.program.role.name,
        seed=service.seed,
        settings=settings_of(given.settings),
        rules=given.rules,
        backend=backend,
        my=service.my,
    )
    with log_shown(report.level, as_json=report.log_json):
        if again:
            _check_again(service.program, service.kind, journal, at_once)
            GroupService(service, journal.plan(head), at_once).serve()
        with journal.opened(head) as book:
            once = OneService(service, book)
            ended = once.serve()
    once.tell_end(ended)
    return journal.end(FAILED if ended.failed is not None else OK)


def _prepared(
    name: str, what: RoleOptions, listen: ListenOptions, given: SpecOptions, backend: Backend, report: ServiceReport
) -> Service:
    """Return the service that is asked for, once all is right that can be known before it listens.

    Raises:
        CommandError, SpecError, SpecNotFound, SettingError, RulesError, TlsFileError, UnknownPlayerError: something is
            not.
    """
    listen.check()
    check_workers(what.workers)
    settings, tls, starttls = settings_of(given.settings), listen.certified(), listen.certified_later()
    spec = loaded(name, settings, given.rules)
    role = chosen_role(spec, what.role, spec.listeners(), "listens")
    addresses = listen.addresses(spec, role)
    kind = what.player or default_kind(spec)
    check_kind(kind, spec)
    seed = seed_of(what.seed)
    made = program(spec, role, given.rules)
    if starttls is not None:
        check_secures(made)
    heard = listen.secret(), starttls
    return Service(made, kind, what.name, seed, listen, addresses, tls, backend, report, *heard, what.workers)


@dataclass
class OneService:
    """A role that is served once: it has one session, or one for each connection. The book is its journal."""

    service: Service
    book: Journal | None
    _losses: Losses = field(default_factory=Losses)
    _stops: list[Stopped] = field(default_factory=list)
    _session: Session | None = None

    def serve(self) -> Ended:
        """Serve until the session ends, or a signal ends it; then say how far it was.

        Raises:
            KeyboardInterrupt: a signal has ended it.
            NetworkError: see `runtime.sessions.server.serve`.
        """
        return run_until_stopped(self._serve, self.service.backend, self._stops, self._tell_stop)

    async def _serve(self) -> Ended:
        per_connection = self.service.program.per_connection
        # Several at one terminal would be asked at once; any other kind decides for one session only.
        apart = per_connection and self.service.kind not in PERSONS
        async with AsyncExitStack() as held:
            service = await held.enter_async_context(self.service.staffed())
            folders = service.folders(lambda: self._session, self.book)
            if folders is not None:
                held.callback(folders.close)
            decider = None if apart else await held.enter_async_context(service.open_player(service.seed))
            return await serve_role(
                service.program,
                service.listen.host,
                service.listen.port,
                seed=service.seed,
                my=service.my,
                addresses=service.addresses,
                player=decider,
                make_player=service.open_player if apart else None,
                journal=folders or self.book,
                make_session=self._made,
                on_listening=partial(service.tell_listening, journal=journal_path(self.book)),
                address_max=service.listen.per_address,
                tls=service.tls,
                token=service.token,
                starttls=service.starttls,
                on_ended=self._tell_session if per_connection else None,
                on_stopped=self._stops.append,
                observe=None if per_connection else service.observer(self._losses),
            )

    def _made(self, *arguments: Any, **named: Any) -> Session:
        made = Session(*arguments, **named)
        if not self.service.program.per_connection:
            self._session = made
        return made

    # -- what is told ------------------------------------------------------------------------------------------------

    def _tell_session(self, session: int, ended: Ended) -> None:
        """Tell of the end of one session of several."""
        told = {"session": session, "result": plain(ended.value), "failed": ended.failed}
        line = f"session {session} {'failed: ' + ended.failed if ended.failed else 'ended: ' + str(ended.value)}"
        put_result({**self.service.facts, **told}, [line], json=self.service.report.json)

    def _tell_stop(self, stop: Stopped) -> None:
        if self.service.report.json:
            told = {**self.service.facts, "result": None, "failed": STOPPED, "stopped": stop}
            put_json({**told, "journal": journal_path(self.book), "backend": self.service.backend})
        else:
            put(_how_far(stop, each=self.service.program.per_connection))

    def tell_end(self, ended: Ended) -> None:
        """Tell of the end of the only session."""
        service, report = self.service, self.service.report
        if report.json:
            told = {**service.facts, "result": plain(ended.value), "failed": ended.failed}
            told |= self._losses.facts(report.evidence)
            put_json({**told, "journal": journal_path(self.book), "backend": service.backend})
            return
        for line in (*result_lines(service.program.spec, ended), *self._losses.lines(report.evidence)):
            put(line)
        if self.book is not None and not report.quiet:
            note(f"journal {self.book.path}")


def _check_again(made: Program, kind: str, journal: JournalOptions, at_once: int) -> None:
    """Make sure that a role can be served group after group, and there is a folder for its journals.

    Raises:
        CommandError: it cannot, for the reason given.
    """
    if made.per_connection:
        raise CommandError(f"{made.role.name} has a session for each connection: it goes on without --again")
    if kind in PERSONS:
        raise CommandError("a person cannot decide for several groups at a time: leave out --again, or name a program")
    if at_once < 1:
        raise CommandError(f"--at-once {at_once} is less than 1: nobody could play")
    if journal.studio:
        raise CommandError("--studio shows one run, and --again makes many: open the journal of one with accord studio")
    if journal.where is not None:
        try:
            journal.where.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = "it is a file" if isinstance(error, FileExistsError) else error.strerror
            raise CommandError(
                f"--journal {journal.where}: with --again it is the folder of all journals: {why}"
            ) from error


def _how_far(stop: Stopped, *, each: bool) -> str:
    """Return in a line what a server that was ended by hand had done; with ``each`` a session for each connection."""
    came = f"{STOPPED}: {connections_text(stop)}"
    if not each:
        return f"{came}, and it waited for {stop.waited_for}"
    waits = f", waiting for {stop.waited_for}" if stop.waited_for else ""
    return f"{came}; sessions that had ended: {stop.ended}, that still ran: {stop.running}{waits}"
