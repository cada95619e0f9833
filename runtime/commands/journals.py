"""The journal of a run: the options that say whether there is one, what its head says, and that it is closed."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import msgspec
from cyclopts import Parameter

from machines.model import Spec
from machines.parser.loader import find, shipped
from runtime.commands.exit_codes import CommandError
from runtime.commands.options import Backend, pages_are_there
from runtime.journal.replay import spec_hash
from runtime.journal.writing import FORMAT, LIMIT_MIB, Head, Journal, JournalError, open_journal
from runtime.process.installation import program_version
from runtime.process.output import note
from runtime.process.stopping import at_forced_end


class Shown(Protocol):
    """What shows a run beside it: a `runtime.studio.beside.Beside`."""

    def stay(self) -> None:
        """Wait until nobody looks any more."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class JournalOptions:
    """Whether a run keeps a journal, where, and how large it may become."""

    where: Annotated[
        Path | None,
        Parameter(
            name="--journal", help="The journal: a new file, or a folder to put it in; the folders above it are made."
        ),
    ] = None
    off: Annotated[bool, Parameter(name="--no-journal", help="Keep no journal.")] = False
    limit_mib: Annotated[
        int,
        Parameter(
            name="--journal-limit",
            help="MiB that the journal may have. There it stops, with a warning, and the run goes on. 256 can be "
            "replayed.",
        ),
    ] = LIMIT_MIB
    studio: Annotated[
        bool, Parameter(help="Show the run in a browser as it goes, at the link that is printed; see accord studio.")
    ] = False
    shown: Annotated[list[Shown], Parameter(parse=False)] = field(default_factory=list)  # studios beside the run

    def plan(self, head: Head) -> JournalPlan | None:
        """Return how the journal of a run is kept; None if none is to be.

        Raises:
            CommandError: a journal is asked for, and none; or one of less than a MiB.
        """
        if self.off and self.where is not None:
            raise CommandError("--journal and --no-journal exclude one another: leave one of them out")
        if self.studio:
            if self.off:
                raise CommandError("--studio shows what the journal has, and --no-journal keeps none")
            pages_are_there("accord studio JOURNAL --save FILE needs nothing")
        if self.limit_mib < 1:
            raise CommandError(f"--journal-limit {self.limit_mib} is less than 1 MiB: --no-journal keeps none")
        return None if self.off else JournalPlan(self.where, head, self.limit_mib << 20)

    @contextmanager
    def opened(self, head: Head) -> Iterator[Journal | None]:
        """Open the journal of a run, and close it however the run ends; None if none is to be kept.

        Raises:
            CommandError, JournalError: see `plan` and `JournalPlan.opened`.
        """
        plan = self.plan(head)
        with plan.opened() if plan is not None else nullcontext() as made:
            if made is not None and self.studio:
                from runtime.studio.beside import Beside

                self.shown.append(Beside.run(made.path, head.rules))
            yield made

    def end(self, code: int) -> int:
        """Return a command's exit code, once the run's result is told and nobody looks at it in the studio any more."""
        while self.shown:
            self.shown.pop().stay()
        return code


@dataclass(frozen=True, slots=True)
class JournalPlan:
    """How a run's journal is kept: ``where`` as for `runtime.journal.writing.open_journal`, up to so many bytes."""

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


def head_of(
    name: str,
    spec: Spec,
    role: str,
    *,
    seed: int,
    settings: Mapping[str, str],
    rules: Sequence[str],
    backend: Backend | Literal[""] = "",
    my: Mapping[str, Any] | None = None,
) -> Head:
    """Return the first line of the journal of a run; ``name`` is the spec's name or path as given."""
    return Head(
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


def journal_path(made: Journal | None) -> str | None:
    """Return a journal's path for a result, or None if there is none."""
    return str(made.path) if made is not None else None
