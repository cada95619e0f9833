"""``accord join``: a role that connects, with a player who decides."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from cyclopts import Parameter

from machines.effects import Ended
from machines.library import load
from machines.values import plain
from runtime.commands.casting import unhurried
from runtime.commands.faults import FAILED, OK, CommandError
from runtime.commands.options import (
    BackendOption,
    JournalPath,
    Json,
    Level,
    LogJson,
    NoJournal,
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
)
from runtime.commands.output import log_shown, note, put, put_json
from runtime.commands.results import result_lines
from runtime.commands.running import journal as opened_journal
from runtime.commands.running import journal_path, run
from runtime.journal import Journal
from runtime.own_roles import can_be_own, join_with
from runtime.players import check_kind, default_kind, open_player

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
    name: Annotated[str, Parameter(help="The player's name.")] = "player",
    player: PlayerKind = None,
    role: Role = None,
    to: To = [],  # noqa: B006 (cyclopts makes a new list)
    seed: Seed = None,
    settings: Settings = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
    backend: BackendOption = "asyncio",
    journal: JournalPath = None,
    no_journal: NoJournal = False,
    log: Level = "warning",
    log_json: LogJson = False,
    json: Json = False,
) -> int:
    """Connect a role to a server and play until its protocol ends.

    A further role that it connects to, and that no --to gives the address of, is started for it if it may stand alone:
    the remote AI of santorini-relay, with the same player.

    Exit code 0 if the protocol came to its end, 1 if the run failed, 4 if nobody listens there.
    """
    overridden = settings_of(settings)
    loaded_spec = loaded(spec, overridden, rules)
    connecting = tuple(loaded_spec.connects)
    chosen = chosen_role(loaded_spec, role, connecting, "connects to another")
    targets = loaded_spec.connects[chosen]
    addresses = {targets[0]: address_of(address)} | addresses_of(to, targets)
    own = [target for target in targets if target not in addresses and can_be_own(loaded_spec, target)]
    for missing in (target for target in targets if target not in addresses and target not in own):
        raise CommandError(f"{chosen} connects to {missing} too: give its address with --to {missing}=HOST:PORT")
    kind = player or default_kind(loaded_spec)
    check_kind(kind, loaded_spec)
    if kind == "human":
        overridden |= unhurried(loaded_spec, chosen, overridden)
        loaded_spec = load(spec, overridden, rules)
    number = seed_of(seed)
    made = program(loaded_spec, chosen, rules)
    own_programs = [program(loaded_spec, target, rules) for target in own]
    my = {"name": name}

    async def take_part(book: Journal | None) -> Ended:
        async with open_player(kind, spec=loaded_spec, name=name, seed=number) as decider:
            return await join_with(made, own_programs, addresses, decider, seed=number, my=my, journal=book)

    with (
        log_shown(log, as_json=log_json),
        opened_journal(
            journal,
            no_journal,
            name=spec,
            spec=loaded_spec,
            role=chosen,
            seed=number,
            settings=overridden,
            rules=rules,
            backend=backend,
            my=my,
        ) as book,
    ):
        ended = run(partial(take_part, book), backend)
    if json:
        result: dict[str, Any] = {"spec": loaded_spec.protocol, "role": chosen, "name": name, "player": kind}
        result |= {"seed": number, "result": plain(ended.value), "failed": ended.failed}
        put_json({**result, "journal": journal_path(book), "backend": backend})
    else:
        for line in result_lines(loaded_spec, ended):
            put(line)
        if book is not None:
            note(f"journal {book.path}")
    return FAILED if ended.failed is not None else OK
