"""What was tried, kept: as a script that can be run again, or as the journal of a role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from runtime.journal.writing import Head, JournalError, open_journal
from runtime.playground.message_input import ChoiceError
from runtime.playground.repl import Repl


def save(name: str, role: str | None, desk: Repl, head: Head, command: str) -> str:
    """Write a run to a new file and return a sentence that says so.

    A name that ends in .jsonl is for the journal of a role, of the first that listens if none is named; any other for
    a script, in which ``command`` stands as a comment. ``head`` is the journal's, but for the role.

    Raises:
        ChoiceError: there is a file already, it cannot be written, or the run can have no such journal.
    """
    path = Path(name)
    if path.suffix == ".jsonl":
        return _journal(path, role, desk, head)
    if role is not None:
        raise ChoiceError("only the journal of a role is for one role: its name ends in .jsonl")
    lines = [f"# {command}", *desk.script()]
    try:
        with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise ChoiceError(f"{name}: there is a file already") from None
    except (OSError, ValueError) as error:
        raise ChoiceError(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    count = len(desk.done)
    return f"{count} choice{'' if count == 1 else 's'} saved: {command} --script {name}"


def _journal(path: Path, role: str | None, desk: Repl, head: Head) -> str:
    trial, spec = desk.trial, desk.spec
    if desk.rules.missing:
        raise ChoiceError("a journal needs the rules that the spec names, and some are not there: save a script")
    role = role or next(iter(spec.listeners()), "")
    if role not in spec.roles:
        raise ChoiceError(f"there is no role {role!r}: {', '.join(spec.roles)}")
    parties = [party for party in trial.parties.values() if party.role == role and party.inputs]
    if not parties:
        raise ChoiceError(f"no session of {role} ran: it has no journal")
    # In the order in which they were: a journal's stamps never go back.
    done = sorted(
        ((entry.order, party.number, entry) for party in parties for entry in party.inputs), key=itemgetter(0)
    )
    numbers = {number: at for at, number in enumerate(dict.fromkeys(number for _, number, _ in done))}
    head.role = role
    try:
        journal = open_journal(path, head)
    except JournalError as error:
        raise ChoiceError(str(error)) from None
    for _, number, entry in done:
        journal.write(entry.kind, entry.now, entry.took, entry.out, session=numbers[number], **entry.more)
    journal.close()
    if journal.broken is not None:
        raise ChoiceError(journal.broken)
    return f"{len(done)} inputs of {role} saved: accord replay {path}"


def command_of(spec: str, settings: Mapping[str, str], by_hand: Sequence[str], seed: int) -> str:
    """Return the command line that a script is run with, for people."""
    words = ["accord try", spec, *(f"--set '{name}={value}'" for name, value in settings.items())]
    words += [f"--by-hand {role}" for role in by_hand]
    return " ".join(words + ([f"--seed {seed}"] if seed else []))
