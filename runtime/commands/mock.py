"""``accord mock``: a role that answers without its rules, to try the other side against."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from machines.engine.session import Program
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.options import (
    BackendOption,
    Seed,
    SpecName,
    SpecOptions,
    chosen_role,
    loaded,
    seed_of,
    settings_of,
)
from runtime.commands.serve import OneService
from runtime.commands.service import ListenOptions, Service, ServiceReport
from runtime.players.made_up_rules import made_up_rules, promises
from runtime.process.output import log_shown


def mock(
    spec: SpecName,
    role: Annotated[str, Parameter(help="The role to answer for; it listens.")],
    /,
    *,
    listen: ListenOptions = ListenOptions(),
    seed: Seed = None,
    given: SpecOptions = SpecOptions(),
    backend: BackendOption = "asyncio",
    report: ServiceReport = ServiceReport(),
) -> int:
    """Answer for a role that listens, without its rules: order, shapes and times are right, values are made up.

    What a rule would say is drawn by its types and promises: the same seed and the same call give the same answer. What
    a program is told fits its types and makes no sense beyond that: a board may be one that no game comes to. Exit code
    as for accord serve.
    """
    listen.check()
    settings, secure = settings_of(given.settings), listen.certified()
    loaded_spec = loaded(spec, settings, given.rules)
    if role in loaded_spec.roles and role not in loaded_spec.listeners():
        raise CommandError(f"{role} connects: accord join {spec} HOST:PORT --role {role} --player random")
    chosen = chosen_role(loaded_spec, role, loaded_spec.listeners(), "listens")
    drawn = seed_of(seed)
    rules = made_up_rules(loaded_spec, drawn, promises(loaded_spec, given.rules))
    program = Program(loaded_spec, chosen, rules)
    addresses = listen.addresses(loaded_spec, chosen)
    service = Service(program, "random", "mock", drawn, listen, addresses, secure, backend, report)
    once = OneService(service, None)  # no journal: a replay would ask the real rules
    with log_shown(report.level, as_json=report.log_json):
        ended = once.serve()
    once.tell_end(ended)
    return FAILED if ended.failed is not None else OK
