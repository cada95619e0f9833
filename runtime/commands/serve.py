"""``accord serve``: a role that listens."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from machines.effects import Effect, Ended, Violation
from machines.engine.session import Program
from machines.values import plain
from runtime.commands.backends import run
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.journals import JournalOptions, head_of, journal_path
from runtime.commands.options import (
    BackendOption,
    Evidence,
    Json,
    Level,
    LogJson,
    Role,
    Rules,
    Seed,
    Settings,
    SpecName,
    To,
    addresses_of,
    chosen_role,
    loaded,
    program,
    seed_of,
    settings_of,
    shown_address,
)
from runtime.commands.output import OutputError, log_shown, note, put, put_json
from runtime.commands.results import result_lines
from runtime.commands.serve_again import GroupService
from runtime.journal import Journal
from runtime.losses import EVIDENCE_SHOWN, Loss, Losses
from runtime.network.tls import server_context
from runtime.players.registry import check_kind, default_kind, open_player
from runtime.sessions.group_server import GROUPS_MAX
from runtime.sessions.server import ADDRESS_MAX, Stopped
from runtime.sessions.server import serve as serve_role

STOPPED: Final = "it was stopped before its end"


def serve(
    spec: SpecName,
    /,
    *,
    role: Role = None,
    host: Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 for all of this machine's.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port to listen on; 0 for any that is free.")] = 0,
    per_address: Annotated[
        int, Parameter(help="Connections that one address may have open at once; more are turned away.")
    ] = ADDRESS_MAX,
    again: Annotated[
        bool, Parameter(help="Seat one group after another, several at a time, until it is ended; a result for each.")
    ] = False,
    at_once: Annotated[int, Parameter(help="With --again: how many groups may play at a time.")] = GROUPS_MAX,
    to: To = [],  # noqa: B006 (cyclopts makes a new list)
    player: Annotated[str | None, Parameter(help="Who decides, if this role asks; see accord show SPEC.")] = None,
    name: Annotated[str, Parameter(help="What my.name is in the spec.")] = "server",
    tls: Annotated[
        tuple[Path, Path] | None, Parameter(help="Speak TLS: the files of the certificate and of its key, PEM.")
    ] = None,
    seed: Seed = None,
    settings: Settings = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
    backend: BackendOption = "asyncio",
    journal: JournalOptions = JournalOptions(),
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], help="Tell nothing but the result and errors.")] = False,
    log: Annotated[Level | None, Parameter(help="As elsewhere; info if left out, error with --quiet.")] = None,
    evidence: Evidence = EVIDENCE_SHOWN,
    log_json: LogJson = False,
    json: Json = False,
) -> int:
    """Run a role that listens until its protocol ends, or for ever if it has a session for each connection.

    With --json the first line is {"listening": "HOST:PORT", ...} as soon as the port is taken, the last the result. One
    that Ctrl-C has ended says how far it was: {"stopped": {"connections", "ended", "running", "waited_for"}, ...}.
    With --again each group has its own seed and journal and ends with a line; --journal names the folder of them all.
    Exit code 0 if the protocol came to its end, 1 if the run failed, 4 if the port is in use, 130 after Ctrl-C.
    """
    if not 0 <= port <= 65535:
        raise CommandError(f"--port {port} is not within 0..65535")
    if per_address < 1:
        raise CommandError(f"--per-address {per_address} is less than 1: nobody could connect")
    overridden = settings_of(settings)
    secure = None if tls is None else server_context(*tls)
    loaded_spec = loaded(spec, overridden, rules)
    chosen = chosen_role(loaded_spec, role, loaded_spec.listeners(), "listens")
    addresses = addresses_of(to, loaded_spec.connects.get(chosen, ()))
    kind = player or default_kind(loaded_spec)
    check_kind(kind, loaded_spec)
    number = seed_of(seed)
    made = program(loaded_spec, chosen, rules)
    facts: dict[str, Any] = {"spec": loaded_spec.protocol, "role": chosen, "seed": number}
    head = head_of(
        spec, loaded_spec, chosen, seed=number, settings=overridden, rules=rules, backend=backend, my={"name": name}
    )
    if again:
        _check_again(made, kind, journal.where, at_once)
        service = GroupService(
            made, host, port, number, {"name": name}, addresses, kind, journal.plan(head), backend, at_once,
            per_address, evidence, quiet, json, facts, secure,
        )  # fmt: skip
        with log_shown(log or ("error" if quiet else "info"), as_json=log_json):
            service.serve()

    def told(session: int, ended: Ended) -> None:
        if json:
            put_json({**facts, "session": session, "result": plain(ended.value), "failed": ended.failed})
        else:
            put(f"session {session} {'failed: ' + ended.failed if ended.failed else 'ended: ' + str(ended.value)}")

    stops: list[Stopped] = []
    losses = Losses()

    def seen(effect: Effect) -> None:
        if isinstance(effect, Violation) and effect.kind != "closed":
            losses.note(Loss(effect.name or ("" if effect.peer is None else f"peer {effect.peer}"), chosen, effect))

    async def listen(book: Journal | None) -> Ended:
        def listening(taken: int) -> None:
            where = shown_address(host, taken)
            if json:
                put_json({"listening": where, "host": host, "port": taken, **facts, "journal": journal_path(book)})
            elif not quiet:
                note(f"{loaded_spec.protocol}: {chosen} listens on {where}, seed {number}")

        open_one = partial(open_player, kind, spec=loaded_spec, name=name)
        # Several at one terminal would be asked at once; any other kind decides for one session only.
        apart = made.per_connection and kind != "human"
        async with nullcontext() if apart else open_one(seed=number) as decider:
            return await serve_role(
                made,
                host,
                port,
                seed=number,
                my={"name": name},
                addresses=addresses,
                player=decider,
                make_player=(lambda seed: open_one(seed=seed)) if apart else None,
                journal=book,
                on_listening=listening,
                address_max=per_address,
                tls=secure,
                on_ended=told if made.per_connection else None,
                on_stopped=stops.append,
                observe=None if made.per_connection else seen,
            )

    with (
        log_shown(log or ("error" if quiet else "info"), as_json=log_json),
        journal.opened(head) as book,
    ):
        try:
            ended = run(partial(listen, book), backend)
        except KeyboardInterrupt:
            with suppress(BrokenPipeError, OutputError):  # who read our output may have been interrupted too
                for stop in stops:
                    if json:
                        result = {**facts, "result": None, "failed": STOPPED, "stopped": stop}
                        put_json({**result, "journal": journal_path(book), "backend": backend})
                    else:
                        put(_how_far(stop, each=made.per_connection))
            raise
    result = {**facts, "result": plain(ended.value), "failed": ended.failed}
    if json:
        put_json({**result, **losses.facts(evidence), "journal": journal_path(book), "backend": backend})
    else:
        for line in result_lines(loaded_spec, ended):
            put(line)
        for line in losses.lines(evidence):
            put(line)
        if book is not None and not quiet:
            note(f"journal {book.path}")
    return FAILED if ended.failed is not None else OK


def _check_again(made: Program, kind: str, journal: Path | None, at_once: int) -> None:
    """Make sure that a role can be served group after group, and there is a folder for its journals.

    Raises:
        CommandError: it cannot, for the reason given.
    """
    if made.per_connection:
        raise CommandError(f"{made.role.name} has a session for each connection: it goes on without --again")
    if kind == "human":
        raise CommandError("a person cannot decide for several groups at a time: leave out --again, or name a program")
    if at_once < 1:
        raise CommandError(f"--at-once {at_once} is less than 1: nobody could play")
    if journal is not None:
        try:
            journal.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = "it is a file" if isinstance(error, FileExistsError) else error.strerror
            raise CommandError(f"--journal {journal}: with --again it is the folder of all journals: {why}") from error


def _how_far(stop: Stopped, *, each: bool) -> str:
    """Return in a line what a server that was ended by hand had done; with ``each`` a session for each connection."""
    came = f"{STOPPED}: {stop.connections} connection{'' if stop.connections == 1 else 's'} had come"
    if not each:
        return f"{came}, and it waited for {stop.waited_for}"
    waits = f", waiting for {stop.waited_for}" if stop.waited_for else ""
    return f"{came}; sessions that had ended: {stop.ended}, that still ran: {stop.running}{waits}"
