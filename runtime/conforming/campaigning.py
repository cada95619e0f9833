"""All cases of a role, many at once; and each fail again, alone and with more time, before it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

import anyio

from machines.conforming.case_results import CaseResult
from machines.conforming.cases import Case
from machines.conforming.judging import Judgement, failures, is_alike, judged
from machines.conforming.requirements import Requirement
from runtime.conforming.case_setting import CaseSetting
from runtime.conforming.table import Table

AT_ONCE: Final = 16
AGAIN: Final = 2  # how often a fail is run again
SLOWER: Final = 4.0  # the grace of those runs, as many times the usual
TRIES: Final = 3  # of a case in which our side stood still


class CaseCampaign:
    """Runs cases. ``between`` is done before each, for a server that somebody else runs."""

    def __init__(
        self,
        setting: CaseSetting,
        wanted: Sequence[Requirement],
        *,
        at_once: int = AT_ONCE,
        between: Callable[[], Awaitable[None]] | None = None,
        told: Callable[[CaseResult], None] | None = None,
    ) -> None:
        self.setting = setting
        self.wanted = wanted
        self._limit = anyio.CapacityLimiter(max(1, at_once))
        self._between = between
        self._told = told

    async def run(self, cases: Sequence[Case]) -> Judgement:
        """Run all cases, confirm what failed, and judge."""
        results: dict[Case, CaseResult] = {}

        async def one(case: Case) -> None:
            async with self._limit:
                results[case] = await self._play(self.setting, case)
                if self._told is not None:
                    self._told(results[case])

        async with anyio.create_task_group() as tasks:
            for case in cases:
                tasks.start_soon(one, case)
        listed = [results[case] for case in cases]
        spec, role = self.setting.spec, self.setting.role
        confirmed: dict[str, tuple[int, int]] = {}
        for name, failed in failures(spec, role, listed).items():
            confirmed[name] = await self._again(failed[0])
        unstable = [name for name, (came_back, runs) in confirmed.items() if came_back < runs]
        found = judged(spec, role, self.wanted, listed, unstable)
        found.verdicts = [replace(one, confirmed=confirmed.get(one.requirement.id, (1, 1))) for one in found.verdicts]
        return found

    async def _again(self, failed: CaseResult) -> tuple[int, int]:
        """Run a failed case again; return in how many runs, the first included, it failed alike."""
        setting = replace(self.setting, grace=self.setting.grace * SLOWER)
        count = 1
        for _ in range(AGAIN):
            count += is_alike(failed, await self._play(setting, failed.case))
        return count, AGAIN + 1

    async def _play(self, setting: CaseSetting, case: Case) -> CaseResult:
        for _ in range(TRIES):
            if self._between is not None:
                await self._between()
            result = await Table(setting, case).play()
            if result.outcome != "again":
                return result
        return replace(result, outcome="open", why="this machine was too busy to tell")
