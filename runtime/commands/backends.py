"""What ``play``, ``serve`` and ``join`` share: the event loop, the journal, and how a run ends."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import anyio
import msgspec

from machines.loader import find, shipped
from machines.model import Spec
from runtime.cli import program_version
from runtime.commands.exit_codes import CommandError
from runtime.commands.options import Backend
from runtime.commands.output import note
from runtime.journal import FORMAT, LIMIT_MIB, Head, Journal, JournalError, open_journal
from runtime.network.loop_calls import loop_caller
from runtime.replay import spec_hash
from runtime.stopping import at_forced_end, stopped_by_signals
from runtime.watchdog import VARIABLE, rule_seconds, watched

Result = TypeVar("Result")


def run(function: Callable[[], Awaitable[Result]], backend: Backend) -> Result:
    """Run an asynchronous function on an event loop and return what it returns.

    Ctrl-C, SIGTERM and SIGHUP cancel it, so that connections are closed in good order; a second one ends the process
    at once, and so does a loop that is held: see `runtime.stopping`.

    Raises:
        CommandError: the loop's package is not installed.
        KeyboardInterrupt: it was ended by a signal.
    """
    if backend != "asyncio" and find_spec(backend) is None:
        raise CommandError(f"--backend {backend} needs the package {backend}: pip install 'accord[{backend}]'")
    options = {"use_uvloop": True} if backend == "uvloop" else {}
    kind = "trio" if backend == "trio" else "asyncio"
    try:
        seconds = rule_seconds(os.environ.get(VARIABLE, ""))
    except ValueError as error:
        raise CommandError(str(error)) from error
    with watched(seconds):
        return anyio.run(partial(_interruptible, function), backend=kind, backend_options=options)


async def _interruptible(function: Callable[[], Awaitable[Result]]) -> Result:
    if threading.current_thread() is not threading.main_thread():  # where Python allows no signal handlers
        return await function()
    outcome: list[Result] = []
    failed: Exception | None = None
    async with anyio.create_task_group() as tasks:
        with stopped_by_signals(loop_caller(), tasks.cancel_scope.cancel):
            try:
                outcome.append(await function())
            except Exception as error:
                failed = error  # Raised again outside the task group, which would wrap it in a group of one.
        tasks.cancel_scope.cancel()
    if failed is not None:
        raise failed
    if not outcome:
        raise KeyboardInterrupt
    return outcome[0]


@dataclass(frozen=True, slots=True)
class JournalPlan:
    """How a run's journal is kept: ``where`` as for `runtime.journal.open_journal`, up to so many bytes."""

    where: Path | None
    head: Head
    limit_bytes: int

    @contextmanager
    def opened(self) -> Iterator[Journal | None]:
        """Open the journal, and close it with its last line however the block ends; None if it cannot be made.

        Raises:
            JournalError: it cannot be made, and was asked for.
        """
        try:
            made = open_journal(self.where, self.head, limit_bytes=self.limit_bytes)
        except JournalError as error:
            if self.where is not None:
                raise
            # Nobody asked for this one; a read-only home is no reason not to play.
            note(f"this run keeps no journal: {error}")
            yield None
            return
        try:
            with at_forced_end(made.flush):
                yield made
        except KeyboardInterrupt:
            made.close()
            if made.path.exists():  # a run that had not begun leaves none
                note(f"journal {made.path}")
            raise
        finally:
            made.close()
            if made.cut is not None and not logging.getLogger("accord.journal").isEnabledFor(logging.WARNING):
                note(f"the journal has no end: {made.cut}")  # the log was not to say so

    def for_group(self, seed: int) -> JournalPlan:
        """Return the plan for one of several groups: a file of its own in the folder, with the group's seed."""
        return replace(self, head=msgspec.structs.replace(self.head, seed=seed))


def journal_plan(
    where: Path | None,
    off: bool,
    limit_mib: int = LIMIT_MIB,
    *,
    name: str,
    spec: Spec,
    role: str,
    seed: int,
    settings: Mapping[str, str],
    rules: Sequence[str],
    backend: Backend,
    my: Mapping[str, Any] | None = None,
) -> JournalPlan | None:
    """Return how the journal of a run is kept; None if it is ``off``.

    ``name`` is the spec's name or path as given.

    Raises:
        CommandError: a journal is asked for, and none; or one of less than a MiB.
    """
    if off and where is not None:
        raise CommandError("--journal and --no-journal exclude one another: leave one of them out")
    if limit_mib < 1:
        raise CommandError(f"--journal-limit {limit_mib} is less than 1 MiB: --no-journal keeps none")
    if off:
        return None
    head = Head(
        journal=FORMAT,
        accord=program_version(),
        protocol=spec.protocol,
        # A path must lead to the spec from wherever the journal is replayed.
        spec=name if name in shipped() else str(find(name).resolve()),
        sha256=spec_hash(name),
        role=role,
        seed=seed,
        settings=dict(settings),
        my=dict(my or {}),
        rules=list(rules),
        backend=backend,
    )
    return JournalPlan(where, head, limit_mib << 20)


@contextmanager
def journal(where: Path | None, off: bool, limit_mib: int = LIMIT_MIB, **what: Any) -> Iterator[Journal | None]:
    """Open the journal of a run as `journal_plan` says, and close it however the run ends; None if it is ``off``.

    Raises:
        CommandError, JournalError: see `journal_plan` and `JournalPlan.opened`.
    """
    plan = journal_plan(where, off, limit_mib, **what)
    with plan.opened() if plan is not None else nullcontext() as made:
        yield made


def journal_path(made: Journal | None) -> str | None:
    """Return a journal's path for a result, or None if there is none."""
    return str(made.path) if made is not None else None
