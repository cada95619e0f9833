"""What ``play``, ``serve`` and ``join`` share: the event loop, the journal, and how a run ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import anyio

from machines.library import find, shipped
from machines.model import Spec
from runtime.cli import program_version
from runtime.commands.faults import CommandError
from runtime.commands.options import Backend
from runtime.journal import FORMAT, Head, Journal, open_journal
from runtime.replay import spec_hash

Result = TypeVar("Result")


def run(function: Callable[[], Awaitable[Result]], backend: Backend) -> Result:
    """Run an asynchronous function on an event loop and return what it returns. SIGTERM ends it as Ctrl-C does.

    Raises:
        CommandError: the loop's package is not installed.
    """
    if backend != "asyncio" and find_spec(backend) is None:
        raise CommandError(f"--backend {backend} needs the package {backend}: pip install 'accord[{backend}]'")
    options = {"use_uvloop": True} if backend == "uvloop" else {}
    with _terminated_like_interrupted():
        return anyio.run(function, backend="trio" if backend == "trio" else "asyncio", backend_options=options)


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # where Python allows no handlers
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def journal(
    where: Path | None,
    off: bool,
    *,
    name: str,
    spec: Spec,
    role: str,
    seed: int,
    settings: Mapping[str, str],
    rules: Sequence[str],
    backend: Backend,
    my: Mapping[str, Any] | None = None,
) -> Iterator[Journal | None]:
    """Open the journal of a run, and close it with its last line however the run ends; None if it is ``off``.

    ``name`` is the spec's name or path as given, ``where`` as for `runtime.journal.open_journal`.

    Raises:
        JournalError: the journal cannot be made.
    """
    if off:
        yield None
        return
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
    made = open_journal(where, head)
    try:
        yield made
    finally:
        made.close()


def journal_path(made: Journal | None) -> str | None:
    """Return a journal's path for a result, or None if there is none."""
    return str(made.path) if made is not None else None
