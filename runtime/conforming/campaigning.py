"""All cases of a role, many at once; and each fail again, alone and with more time, before it is told."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

import anyio

from machines.conforming.case_results import CaseResult
from machines.conforming.cases import Case, namesake
from machines.conforming.judging import Judgement, failures, is_alike, judged
from machines.conforming.requirements import Requirement
from machines.wire.codec import Malformed
from runtime.conforming.case_setting import CaseSetting
from runtime.conforming.table import Table

AT_ONCE: Final = 16
AGAIN: Final = 2  # how often a fail is run again
CANDIDATES: Final = 3  # failed cases of a requirement that are run again, until one comes back each time
SLOWER: Final = 4.0  # the grace of those runs, as many times the usual
TRIES: Final = 2  # more, alone, of a case in which our side stood still
BUDGET_SECONDS: Final = 120.0
KEPT_SHARE: Final = 0.4  # of the budget, for cases that are run again
ABSENT_MAX: Final = 3  # so many cases without the program, and none with it, are enough
UNSTABLE: Final = "unstable: it failed, and did not when it ran again alone"
TOO_BUSY: Final = "this machine was too busy to tell"


class CaseCampaign:
    """Runs cases. ``between`` is done before each, for a server that somebody else runs; with ``searches`` a further
    game is played for what was missed.

    All is over within ``budget`` seconds: what was not come to is open, and so is a fail that was not confirmed.
    """

    def __init__(
        self,
        setting: CaseSetting,
        wanted: Sequence[Requirement],
        *,
        at_once: int = AT_ONCE,
        between: Callable[[], Awaitable[None]] | None = None,
        budget: float = BUDGET_SECONDS,
        searches: bool = False,
    ) -> None:
        self.setting = setting
        self.wanted = wanted
        self._limit = anyio.CapacityLimiter(max(1, at_once))
        self._starting = anyio.CapacityLimiter(max(2, os.cpu_count() or 1))  # programs that are starting at a time
        self._between = between
        self._budget = budget
        self._searches = searches
        self._until = 0.0
        self._absent: list[CaseResult] = []
        self._has_come = False

    @property
    def _used_up(self) -> str:
        return f"the {self._budget:g} s of --budget were over"

    async def run(self, cases: Sequence[Case]) -> Judgement:
        """Run all cases, confirm what failed, and judge."""
        cases = list(dict.fromkeys(cases))
        self._until = anyio.current_time() + self._budget
        results: dict[Case, CaseResult] = {}

        async def one(case: Case) -> None:
            async with self._limit:
                results[case] = await self._play(self.setting, case, kept=KEPT_SHARE * self._budget)

        async with anyio.create_task_group() as tasks:
            for case in cases:
                tasks.start_soon(one, case)
        more = missed(self.setting, self.wanted, list(results.values())) if self._searches else []
        for case in more:
            await one(case)
        cases = [*cases, *more]
        for case in cases:
            tries = TRIES
            while results[case].outcome == "again" and tries:
                tries -= 1
                results[case] = await self._play(self._slower(), case)
            if results[case].outcome == "again":
                results[case] = replace(results[case], outcome="open", why=TOO_BUSY)
        return await self._confirmed([results[case] for case in cases])

    def _slower(self) -> CaseSetting:
        """Return the setting for a case that is played alone, with a grace that allows for a busy machine."""
        grace = self.setting.grace * max(SLOWER, self.setting.load.stretch())
        return replace(self.setting, grace=grace, is_patient=True)

    async def _confirmed(self, listed: Sequence[CaseResult]) -> Judgement:
        """Judge; each fail is run again before."""
        spec, role = self.setting.spec, self.setting.role
        confirmed: dict[str, tuple[int, int]] = {}
        unstable: dict[str, str] = {}
        came_back: dict[str, CaseResult] = {}
        all_failed = failures(spec, role, listed)
        for name, failed in all_failed.items():
            for one in failed[:CANDIDATES]:
                alike, over = await self._again(one)
                confirmed[name] = 1 + alike, 1 + AGAIN
                if alike == AGAIN:
                    came_back[name] = one
                    break
                unstable[name] = f"it failed, and could not be run again: {self._used_up}" if over else UNSTABLE
            if name in came_back:
                unstable.pop(name, None)
        found = judged(spec, role, self.wanted, listed, unstable, came_back)
        for name, why in unstable.items():
            for case in all_failed[name]:
                case.outcome, case.why = "unstable", why
        found.verdicts = [replace(one, confirmed=confirmed.get(one.requirement.id, (1, 1))) for one in found.verdicts]
        return found

    async def _again(self, failed: CaseResult) -> tuple[int, bool]:
        """Run a failed case again; return in how many runs it failed alike, and whether there was no time for one."""
        again = [await self._play(self._slower(), failed.case) for _ in range(AGAIN)]
        return sum(is_alike(failed, one) for one in again), any(one.out_of_time for one in again)

    async def _play(self, setting: CaseSetting, case: Case, *, kept: float = 0.0) -> CaseResult:
        """Play a case, if there is time for it that is not ``kept`` for others, and anybody to play it."""
        start = object()
        await self._starting.acquire_on_behalf_of(start)

        def has_started() -> None:
            if start in self._starting.statistics().borrowers:
                self._starting.release_on_behalf_of(start)

        try:
            return await self._started(setting, case, self._until - kept - anyio.current_time(), has_started)
        finally:
            has_started()

    async def _started(
        self, setting: CaseSetting, case: Case, left: float, has_started: Callable[[], None]
    ) -> CaseResult:
        if len(self._absent) >= ABSENT_MAX and not self._has_come:
            return CaseResult(case, why=self._absent[0].why, absent=True)
        if left <= 0:
            return CaseResult(case, why=f"not tried: {self._used_up}", out_of_time=True)
        if self._between is not None:
            await self._between()
        result = CaseResult(case, why=f"not ended: {self._used_up}", out_of_time=True)
        with anyio.move_on_after(left):
            result = await Table(setting, case, has_started).play()
            if result.absent:
                self._absent.append(result)
            else:
                self._has_come = True
        return result


def missed(setting: CaseSetting, wanted: Sequence[Requirement], results: Sequence[CaseResult]) -> list[Case]:
    """Return a further game, where a message was never heard that some rules send only to who has another's name."""
    seen = frozenset(label for one in results for label in one.labels)
    silent = any("/hears-" in one.id and one.of == "must" and not one.labels & seen for one in wanted)
    right = next((one for one in results if one.outcome == "right" and one.case.of == "must"), None)
    if not silent or right is None or setting.role not in setting.spec.connects:
        return []
    case = namesake(right.case, name_of(setting, right))
    return [case] if case is not None and case not in [one.case for one in results] else []


def name_of(setting: CaseSetting, result: CaseResult) -> str:
    """Return what a program calls itself: the first text in the first message that it sent; empty if there is none."""
    program = setting.knowledge(result.case).program
    first = next((one for one in result.trace if one.who == "it"), None)
    if first is None or first.name not in program.shapes or first.name in program.frames:
        return ""
    try:
        fields = program.shapes[first.name].read(program.codec.decode(first.data.strip()))
    except Malformed:
        return ""
    return next((one for one in fields or () if isinstance(one, str)), "")
