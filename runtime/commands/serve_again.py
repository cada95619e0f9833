"""``accord serve --again``: one group after another is seated and plays, until somebody ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any, NoReturn

from machines.effects import Effect, Ended, Violation
from machines.engine.session import Program
from machines.values import plain
from runtime.commands.backends import run
from runtime.commands.journals import JournalPlan, journal_path
from runtime.commands.options import Backend, shown_address
from runtime.commands.output import OutputError, note, put, put_json
from runtime.commands.results import result_lines
from runtime.journal import Journal
from runtime.losses import Loss, Losses
from runtime.players.registry import open_player
from runtime.sessions.client import Address
from runtime.sessions.group_server import Group, serve_groups
from runtime.sessions.server import Stopped


@dataclass
class GroupService:
    """What a server of groups is told, and tells. ``facts`` stand in every line of JSON that it writes."""

    program: Program
    host: str
    port: int
    seed: int
    my: Mapping[str, Any]
    addresses: Mapping[str, Address]
    kind: str
    journal: JournalPlan | None
    backend: Backend
    groups_max: int
    address_max: int
    evidence: int
    quiet: bool
    json: bool
    facts: Mapping[str, Any]
    tls: SSLContext | None = None
    _losses: dict[int, Losses] = field(default_factory=dict)  # by the number of a group that plays
    _journals: dict[int, Journal | None] = field(default_factory=dict)
    _stops: list[Stopped] = field(default_factory=list)

    def serve(self) -> NoReturn:
        """Serve groups until a signal ends it; then say how far it was.

        Raises:
            KeyboardInterrupt: a signal has ended it.
            NetworkError: see `runtime.sessions.group_server.serve_groups`.
        """
        try:
            run(self._serve, self.backend)
        except KeyboardInterrupt:
            with suppress(BrokenPipeError, OutputError):  # who read our output may have been interrupted too
                for stop in self._stops:
                    self._tell_stop(stop)
            raise
        raise AssertionError("it serves until it is ended")

    async def _serve(self) -> None:
        await serve_groups(
            self.program,
            self.host,
            self.port,
            seed=self.seed,
            my=self.my,
            addresses=self.addresses,
            equip=self._equip,
            on_ended=self._tell_end,
            on_listening=self._tell_listening,
            on_stopped=self._stops.append,
            groups_max=self.groups_max,
            address_max=self.address_max,
            tls=self.tls,
        )

    @asynccontextmanager
    async def _equip(self, group: Group) -> AsyncIterator[None]:
        losses = self._losses[group.number] = Losses()
        role = self.program.role.name

        def seen(effect: Effect) -> None:
            if isinstance(effect, Violation) and effect.kind != "closed":
                losses.note(Loss(effect.name or ("" if effect.peer is None else f"peer {effect.peer}"), role, effect))

        spec, name = self.program.spec, str(self.my.get("name", ""))
        async with AsyncExitStack() as held:
            plan = self.journal
            made = held.enter_context(plan.for_group(group.seed).opened() if plan is not None else nullcontext())
            group.journal = self._journals[group.number] = made
            group.observe = seen
            group.player = await held.enter_async_context(open_player(self.kind, spec=spec, name=name, seed=group.seed))
            yield

    # -- what is told ------------------------------------------------------------------------------------------------

    def _tell_listening(self, port: int) -> None:
        where, role = shown_address(self.host, port), self.program.role.name
        if self.json:
            put_json({"listening": where, "host": self.host, "port": port, **self.facts, "again": True})
        elif not self.quiet:
            note(f"{self.program.spec.protocol}: {role} listens on {where} for groups, seed {self.seed}")

    def _tell_end(self, group: Group, ended: Ended) -> None:
        losses = self._losses.pop(group.number)
        path = journal_path(self._journals.pop(group.number, None))
        if self.json:
            result = {"group": group.number, "result": plain(ended.value), "failed": ended.failed}
            told = {**self.facts, **result, **losses.facts(self.evidence), "seed": group.seed}
            put_json({**told, "journal": path, "backend": self.backend})
            return
        for line in (*result_lines(self.program.spec, ended), *losses.lines(self.evidence)):
            put(f"group {group.number}: {line}")
        if path is not None and not self.quiet:
            note(f"group {group.number}: seed {group.seed}, journal {path}")

    def _tell_stop(self, stop: Stopped) -> None:
        if self.json:
            put_json({**self.facts, "stopped": stop, "backend": self.backend})
        else:
            came = f"{stop.connections} connection{'' if stop.connections == 1 else 's'} had come"
            waits = f", waiting for {stop.waited_for}" if stop.waited_for else ""
            put(
                f"it was stopped: {came}; groups that had ended: {stop.ended}, that still played: {stop.running}{waits}"
            )
