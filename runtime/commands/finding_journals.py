"""The replays that confirmed findings, as journals of their sessions and a script: ``accord check --journals DIR``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from machines.model import Spec
from machines.verification.verdict import Finding, RecordedSession, Verdict
from runtime.commands.exit_codes import CommandError
from runtime.commands.finding_scripts import script_of
from runtime.commands.journals import head_of
from runtime.journal.writing import JournalError, open_journal
from runtime.playground.export import command_of

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")


def write_journals(
    folder: Path, name: str, spec: Spec, verdict: Verdict, settings: Mapping[str, str], rules: Sequence[str]
) -> Iterator[str]:
    """Write a journal for each session of each confirmed finding, and yield a line that says so for each finding.

    They are called PROTOCOL-NUMBER-CODE-WHO.jsonl, and beside them PROTOCOL-NUMBER-CODE.txt is the whole run as a
    script, if it can be played by hand. What is there already is not written over. ``name`` is the spec's name or path
    as given.

    Raises:
        CommandError: the folder or a file cannot be written, or is there already.
    """
    for number, finding in enumerate(verdict.findings, start=1):
        if not finding.sessions:
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"{folder} cannot be made: {(error.strerror or str(error)).lower()}") from None
        paths = [folder / f"{spec.protocol}-{number}-{_file(finding, one)}.jsonl" for one in finding.sessions]
        for path, session in zip(paths, finding.sessions, strict=True):
            _write(path, name, spec, session, settings, rules)
        last = next((at for at, one in enumerate(finding.sessions) if one.who == finding.trace[-1].who), 0)
        lines = script_of(finding, spec, list(rules))
        if lines is not None:
            path = folder / f"{spec.protocol}-{number}-{finding.code}.txt"
            command = command_of(name, settings, (), finding.sessions[0].seed)
            _write_script(path, [f"# {command}: {finding.text}", *lines])
            yield f"{finding.code}: {command} --script {path} plays it"
        yield f"{finding.code}: its sessions are in {folder}; accord replay {paths[last]} shows where it goes wrong"


def _file(finding: Finding, session: RecordedSession) -> str:
    return f"{finding.code}-{_NOT_IN_NAMES.sub('-', session.who)}"


def _write(
    path: Path,
    name: str,
    spec: Spec,
    session: RecordedSession,
    settings: Mapping[str, str],
    rules: Sequence[str],
) -> None:
    head = head_of(name, spec, session.role, seed=session.seed, settings=settings, rules=rules, my=session.my)
    try:
        journal = open_journal(path, head)
    except JournalError as error:
        raise CommandError(str(error)) from None
    for kind, now, took, out, more in session.inputs:
        journal.write(kind, now, took, out, **more)  # type: ignore[arg-type]  # it is one of the journal's kinds
    journal.close()
    if journal.broken is not None:
        raise CommandError(journal.broken)


def _write_script(path: Path, lines: Sequence[str]) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise CommandError(f"{path}: there is a file already") from None
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}") from None
