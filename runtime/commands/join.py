"""``accord join``: a role that connects, with a player who decides."""

from __future__ import annotations

from functools import partial
from logging import LogRecord
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from machines.effects import Effect, Ended, Violation
from machines.loader import load
from machines.values import plain
from runtime.commands.backends import run
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.journals import JournalOptions, head_of, journal_path
from runtime.commands.match_setup import check_name, relax_time_limits
from runtime.commands.options import (
    Answers,
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
    address_of,
    addresses_of,
    chosen_role,
    loaded,
    program,
    seed_of,
    settings_of,
    shown_address,
)
from runtime.commands.output import log_shown, note, put, put_json
from runtime.commands.results import result_lines
from runtime.journal import Journal
from runtime.losses import EVIDENCE_SHOWN, Loss, Losses, last_lines
from runtime.network.tls import client_context
from runtime.players.base import Player
from runtime.players.program_start import started
from runtime.players.registry import check_kind, default_kind, open_player
from runtime.players.scripted import GivenAnswers, answers_of
from runtime.sessions.embedded_roles import is_embeddable, join_with_embedded

FAILED_SESSION: Final = "the session failed: "  # as the session notes it, in whose end the same is said

PlayerKind = Annotated[
    str | None,
    Parameter(
        help="Who decides: a kind that accord show SPEC lists, exec:COMMAND, python:MODULE:CLASS or human. The game's "
        "own choice if left out."
    ),
]


def join(
    spec: SpecName,
    address: Annotated[str, Parameter(help="HOST:PORT of the first role that this one connects to.")],
    /,
    *,
    name: Annotated[
        str, Parameter(help="The player's name, which must fit the message that it is sent in.")
    ] = "player",
    player: PlayerKind = None,
    role: Role = None,
    to: To = [],  # noqa: B006 (cyclopts makes a new list)
    tls: Annotated[bool, Parameter(help="Speak TLS with every role that has an address.", negative=())] = False,
    tls_ca: Annotated[
        Path | None, Parameter(help="With --tls: trust the certificates in this file, PEM, not the system's.")
    ] = None,
    answer: Answers = [],  # noqa: B006
    seed: Seed = None,
    settings: Settings = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
    backend: BackendOption = "asyncio",
    journal: JournalOptions = JournalOptions(),
    log: Level = "warning",
    evidence: Evidence = EVIDENCE_SHOWN,
    retry: Annotated[float, Parameter(help="Seconds for which it is tried again where nobody listens yet.")] = 3.0,
    log_json: LogJson = False,
    json: Json = False,
) -> int:
    """Connect a role to a server and play until its protocol ends.

    A further role that it connects to, and that no --to gives the address of, is started for it if it may stand alone:
    the remote AI of santorini-relay, with the same player.

    Exit code 0 if the protocol came to its end, 1 if the run failed, 4 if nobody listens there. It has failed too where
    the server ends the connection before it has said anything that was heard: no seat is left, its game is over, or too
    few have come for one.
    """
    if not (isfinite(retry) and retry >= 0):
        raise CommandError(f"--retry {retry:g} is not a number of seconds from 0 on")
    overridden = settings_of(settings)
    loaded_spec = loaded(spec, overridden, rules)
    connecting = tuple(loaded_spec.connects)
    chosen = chosen_role(loaded_spec, role, connecting, "connects to another")
    targets = loaded_spec.connects[chosen]
    addresses = {targets[0]: address_of(address)} | addresses_of(to, targets)
    own = [target for target in targets if target not in addresses and is_embeddable(loaded_spec, target)]
    for missing in (target for target in targets if target not in addresses and target not in own):
        raise CommandError(f"{chosen} connects to {missing} too: give its address with --to {missing}=HOST:PORT")
    trusted = client_context(tls_ca) if tls or tls_ca is not None else None
    check_name(name, loaded_spec, loaded_spec.roles[chosen])
    kind = player or default_kind(loaded_spec)
    check_kind(kind, loaded_spec)
    if kind == "human":
        overridden |= relax_time_limits(loaded_spec, chosen, overridden)
        loaded_spec = load(spec, overridden, rules)
    answers = answers_of(answer, loaded_spec, [chosen, *own])
    number = seed_of(seed)
    made = program(loaded_spec, chosen, rules)
    own_programs = [program(loaded_spec, target, rules) for target in own]
    my = {"name": name}
    turned_away = ""
    losses = Losses()

    def seen(effect: Effect) -> None:
        if isinstance(effect, Violation) and effect.peer is None:
            losses.note(Loss(name, chosen, effect, last_lines(players[0]) if players else ()))

    players: list[Player] = []

    def told(who: str, why: str) -> None:
        nonlocal turned_away
        where = shown_address(*addresses[who]) if who in addresses else "its own port"
        turned_away = (
            f"turned away: {who} at {where} ended the connection before anything from it was heard"
            f"{f' ({why})' if why else ''}: no seat is left, its game is over, too few have come, or it does not want "
            "this client"
        )

    def is_in_result(record: LogRecord) -> bool:
        """Tell whether a record says what the result says too, and better where this client is turned away."""
        return record.name == "accord.session" and record.getMessage().startswith(f"{chosen}: {FAILED_SESSION}")

    async def take_part(book: Journal | None) -> Ended:
        async with open_player(kind, spec=loaded_spec, name=name, seed=number) as decider:
            await started(decider)
            who = GivenAnswers(decider, answers)
            players.append(who)
            return await join_with_embedded(
                made,
                own_programs,
                addresses,
                who,
                seed=number,
                my=my,
                journal=book,
                observe=seen,
                on_turned_away=told,
                tells_waits=kind != "human",
                tls=None if trusted is None else dict.fromkeys(addresses, trusted),
                retry=retry,
                on_connected=(lambda: note("connected, waiting for the game")) if kind == "human" else None,
            )

    head = head_of(spec, loaded_spec, chosen, seed=number, settings=overridden, rules=rules, backend=backend, my=my)
    with (
        log_shown(
            log, as_json=log_json, without=is_in_result if log in ("warning", "error") else None, waits=kind != "human"
        ),
        journal.opened(head) as book,
    ):
        ended = run(partial(take_part, book), backend)
    if json:
        result: dict[str, Any] = {"spec": loaded_spec.protocol, "role": chosen, "name": name, "player": kind}
        result |= {"seed": number, "result": plain(ended.value), "failed": turned_away or ended.failed}
        result["turned_away"] = bool(turned_away)
        result |= losses.facts(evidence)
        put_json({**result, "journal": journal_path(book), "backend": backend})
    else:
        for line in [turned_away] if turned_away else result_lines(loaded_spec, ended):
            put(line)
        for line in losses.lines(evidence):
            put(line)
        if book is not None:
            note(f"journal {book.path}")
    return FAILED if turned_away or ended.failed is not None else OK
