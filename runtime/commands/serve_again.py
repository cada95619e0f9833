"""``accord serve --again``: one group after another is seated and plays, until somebody ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

from machines.effects import Ended
from machines.values import plain
from runtime.commands.journals import JournalPlan, journal_path
from runtime.commands.results import result_lines
from runtime.commands.service import Service, connections_text, run_until_stopped
from runtime.journal.losses import Losses
from runtime.journal.writing import Journal
from runtime.process.output import note, put, put_json, put_result
from runtime.sessions.group_server import Group, serve_groups
from runtime.sessions.server import Stopped


@dataclass
class GroupService:
    """A role that is served for one group after another."""

    service: Service
    journal: JournalPlan | None
    groups_max: int
    _losses: dict[int, Losses] = field(default_factory=dict)  # by the number of a group that plays
    _journals: dict[int, Journal | None] = field(default_factory=dict)
    _stops: list[Stopped] = field(default_factory=list)

    def serve(self) -> NoReturn:
        """Serve groups until a signal ends it; then say how far it was.

        Raises:
            KeyboardInterrupt: a signal has ended it.
            NetworkError: see `runtime.sessions.group_server.serve_groups`.
        """
        run_until_stopped(self._serve, self.service.backend, self._stops, self._tell_stop)
        raise AssertionError("it serves until it is ended")

    async def _serve(self) -> None:
        async with self.service.staffed() as self.service:
            await self._serve_groups(self.service)

    async def _serve_groups(self, service: Service) -> None:
        await serve_groups(
            service.program,
            service.listen.host,
            service.listen.port,
            seed=service.seed,
            my=service.my,
            addresses=service.addresses,
            equip=self._equip,
            on_ended=self._tell_end,
            on_listening=partial(service.tell_listening, for_whom=" for groups", again=True),
            on_stopped=self._stops.append,
            groups_max=self.groups_max,
            address_max=service.listen.per_address,
            tls=service.tls,
            token=service.token,
            starttls=service.starttls,
        )

    @asynccontextmanager
    async def _equip(self, group: Group) -> AsyncIterator[None]:
        losses = self._losses[group.number] = Losses()
        async with AsyncExitStack() as held:
            plan = self.journal
            made = held.enter_context(plan.for_group(group.seed).opened() if plan is not None else nullcontext())
            self._journals[group.number] = made
            folders = self.service.folders(
                lambda: group.host.session if group.host is not None else None, made, group.number
            )
            if folders is not None:
                held.callback(folders.close)
            group.journal = folders or made
            group.observe = self.service.observer(losses)
            group.player = await held.enter_async_context(self.service.open_player(group.seed))
            yield

    # -- what is told ------------------------------------------------------------------------------------------------

    def _tell_end(self, group: Group, ended: Ended) -> None:
        service, report = self.service, self.service.report
        losses = self._losses.pop(group.number)
        path = journal_path(self._journals.pop(group.number, None))
        if report.json:
            result = {"group": group.number, "result": plain(ended.value), "failed": ended.failed}
            told = {**service.facts, **result, **losses.facts(report.evidence), "seed": group.seed}
            put_json({**told, "journal": path, "backend": service.backend})
            return
        for line in (*result_lines(service.program.spec, ended), *losses.lines(report.evidence)):
            put(f"group {group.number}: {line}")
        if path is not None and not report.quiet:
            note(f"group {group.number}: seed {group.seed}, journal {path}")

    def _tell_stop(self, stop: Stopped) -> None:
        waits = f", waiting for {stop.waited_for}" if stop.waited_for else ""
        groups = f"groups that had ended: {stop.ended}, that still played: {stop.running}{waits}"
        put_result(
            {**self.service.facts, "stopped": stop, "backend": self.service.backend},
            [f"it was stopped: {connections_text(stop)}; {groups}"],
            json=self.service.report.json,
        )
