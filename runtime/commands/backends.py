"""The event loop that a run is on, and how it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.util import find_spec
from typing import TypeVar

import anyio

from runtime.commands.exit_codes import CommandError
from runtime.commands.options import Backend
from runtime.network.loop_calls import loop_caller
from runtime.process.stopping import stopped_by_signals
from runtime.process.watchdog import VARIABLE, rule_seconds, watched

Result = TypeVar("Result")


def run(function: Callable[[], Awaitable[Result]], backend: Backend) -> Result:
    """Run an asynchronous function on an event loop and return what it returns.

    Ctrl-C, SIGTERM and SIGHUP cancel it, so that connections are closed in good order; a second one ends the process
    at once, and so does a loop that is held: see `runtime.process.stopping`.

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
