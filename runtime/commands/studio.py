"""``accord studio``: a run in a browser, from its journal, or as one page to keep; a spec while it is written."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from diagrams.render import PictureError
from machines.parser.loader import is_path, shipped
from runtime.commands.exit_codes import OK, CommandError
from runtime.commands.options import Json, Rules, are_modules, is_spec, pages_are_there
from runtime.commands.page_options import PageOptions
from runtime.process.output import put, put_json
from runtime.studio.page import pictures, saved
from runtime.studio.steps import RecordedRun

LINES_FIRST: Final = 2_000  # of a journal, before its page is opened


def studio(
    shown: Annotated[
        str,
        Parameter(
            help="The journal of a run, as play, serve and join keep them; a folder of them; or a spec, to be written."
        ),
    ],
    /,
    *,
    save: Annotated[
        Path | None, Parameter(help="Write the run to this file, a page that needs no server, and show nothing.")
    ] = None,
    spec: Annotated[str | None, Parameter(help="Use this spec, not the one that the journal names.")] = None,
    force: Annotated[bool, Parameter(help="Show it though the spec has changed since.")] = False,
    at: PageOptions = PageOptions(),
    rules: Rules = [],  # noqa: B006 (cyclopts makes a new list)
    json: Json = False,
) -> int:
    """Show a run step by step: its messages as a sequence diagram, the states of all roles lit, the game's board.

    A run that still goes on is followed: the page shows what comes as its journal is written.
    A server's journal shows where its clients stand too, as clients of the spec would. The page is for this machine and
    for who has its link; --save writes one file to mail or to hand in. Without --save the extra 'web' is needed.
    --share prints a link for a class, which shows a run that goes on as it was half a minute ago.
    Of a folder, the page lists its runs, those that go on among them, its events with their standings, and its specs.
    Of a spec, the page is an editor: what is wrong is told as one types, with the pictures of all roles. Its file is
    written only when one says so there. Ctrl-C ends it.
    """
    are_modules(rules)
    at.check()
    is_a_spec = shown in shipped() or (is_path(shown) and shown.endswith((".yaml", ".yml")))
    if is_a_spec or Path(shown).is_dir():
        if save is not None or spec is not None or force:
            raise CommandError("--save, --spec and --force are for a journal: a spec is saved on its page")
        return (_edit if is_a_spec else _folder)(shown, rules, at, json=json)
    if spec is not None:
        is_spec(spec)
    if save is None:
        pages_are_there("--save FILE needs nothing")
    run = RecordedRun(Path(shown), spec, force=force, rules=rules)
    try:
        if save is not None:
            run.read()
            _save(run, save, json=json)
        else:
            run.read(LINES_FIRST)  # what is wrong there is told at once; the site reads on
            _serve(run, at, json=json)
    finally:
        run.close()
    return OK


def _serve(run: RecordedRun, at: PageOptions, *, json: bool) -> None:
    from runtime.studio.site import serve

    with at.served():
        serve(run, at.host, at.port, partial(at.opened, json=json), at.behind)


def _folder(name: str, rules: list[str], at: PageOptions, *, json: bool) -> int:
    pages_are_there("accord studio JOURNAL --save FILE needs nothing")
    from runtime.studio.folder_site import serve_folder

    # Standings are of tournaments, which build on all the commands, and need packages of their own.
    events = import_module("runtime.tournament.standings_site").open_event if find_spec("sqlalchemy") else None
    with at.served():
        serve_folder(
            Path(name),
            at.host,
            at.port,
            partial(at.opened, json=json),
            rules=rules,
            behind=at.behind,
            opens_event=events,
        )
    return OK


def _save(run: RecordedRun, path: Path, *, json: bool) -> None:
    try:
        path.write_text(saved(run, pictures(run)), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error
    except PictureError as error:
        raise CommandError(str(error)) from error
    if json:
        put_json({"saved": path, "protocol": run.head.protocol, "steps": len(run.steps)})
    else:
        put(f"{path}: {len(run.steps)} steps of {run.head.protocol}; open it in a browser")


def _edit(name: str, rules: list[str], at: PageOptions, *, json: bool) -> int:
    is_spec(name)
    if at.share:
        raise CommandError("--share is for runs: the page of a spec is for who writes it")
    pages_are_there("accord check --watch SPEC needs nothing")
    from runtime.studio.edit_site import serve_editor
    from runtime.studio.spec_file import SpecFile, SpecFileError

    file = SpecFile(name)
    try:
        file.read()
    except SpecFileError as error:
        raise CommandError(str(error)) from error
    with at.served():
        serve_editor(file, rules, at.host, at.port, partial(at.opened, json=json))
    return OK
