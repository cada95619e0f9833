"""``accord studio``: a run in a browser, from its journal, or as one page to keep; a spec while it is written."""

from __future__ import annotations

import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from cyclopts import Parameter

from diagrams.rendering.render import PictureError
from machines.loader import is_path, shipped
from runtime.commands.exit_codes import NETWORK, OK, CommandError
from runtime.commands.options import PORT_MAX, Json, Rules, are_modules, is_spec, pages_are_there
from runtime.commands.output import note, put, put_json
from runtime.studio.page import pictures, saved
from runtime.studio.steps import RecordedRun

LINES_FIRST: Final = 2_000  # of a journal, before its page is opened
DELAY_MAX: Final = 3_600


def studio(
    shown: Annotated[
        str, Parameter(help="The journal of a run, as play, serve and join keep them; or a spec, to be written.")
    ],
    /,
    *,
    save: Annotated[
        Path | None, Parameter(help="Write the run to this file, a page that needs no server, and show nothing.")
    ] = None,
    spec: Annotated[str | None, Parameter(help="Use this spec, not the one that the journal names.")] = None,
    force: Annotated[bool, Parameter(help="Show it though the spec has changed since.")] = False,
    host: Annotated[str, Parameter(help="The address that the page is served at.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port; any free one if left out.")] = 0,
    share: Annotated[
        bool, Parameter(negative=(), help="Print a second link, for others: it shows the same some time later.")
    ] = False,
    delay: Annotated[
        float, Parameter(help="Of --share: how many seconds later; hands that are hidden are seen there, too.")
    ] = 30.0,
    no_browser: Annotated[bool, Parameter(help="Print the link, and open no browser.")] = False,
    rules: Rules = [],  # noqa: B006 (cyclopts makes a new list)
    json: Json = False,
) -> int:
    """Show a run step by step: its messages as a sequence diagram, the states of all roles lit, the game's board.

    A run that still goes on is followed: the page shows what comes as its journal is written.
    A server's journal shows where its clients stand too, as clients of the spec would. The page is for this machine and
    for who has its link; --save writes one file to mail or to hand in. Without --save the extra 'web' is needed.
    --share prints a link for a class, which shows a run that goes on as it was half a minute ago.
    Of a spec, the page is an editor: what is wrong is told as one types, with the pictures of all roles. Its file is
    written only when one says so there. Ctrl-C ends it.
    """
    are_modules(rules)
    if not 0 <= port <= PORT_MAX:
        raise CommandError(f"--port {port} is not within 0..{PORT_MAX}")
    opened = partial(_opened, browser=not no_browser, json=json)
    behind = _behind(delay) if share else None
    if shown in shipped() or (is_path(shown) and shown.endswith((".yaml", ".yml"))):
        if save is not None or spec is not None or force or share:
            raise CommandError("--save, --spec, --force and --share are for a journal: a spec is saved on its page")
        return _edit(shown, rules, host, port, opened)
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
            _serve(run, host, port, opened, behind)
    finally:
        run.close()
    return OK


def _behind(delay: float) -> float:
    if not 0 <= delay <= DELAY_MAX:
        raise CommandError(f"--delay {delay:g} is not within 0..{DELAY_MAX} seconds")
    return delay


def _serve(run: RecordedRun, host: str, port: int, opened: partial[None], behind: float | None) -> None:
    from runtime.studio.site import serve

    try:
        serve(run, host, port, opened, behind)
    except OSError as error:
        raise CommandError(f"cannot listen on {host}:{port}: {error.strerror or error}", NETWORK) from error
    except PictureError as error:
        raise CommandError(str(error)) from error


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


def _edit(name: str, rules: list[str], host: str, port: int, opened: partial[None]) -> int:
    is_spec(name)
    pages_are_there("accord check --watch SPEC needs nothing")
    from runtime.studio.edit_site import serve_editor
    from runtime.studio.spec_file import SpecFile, SpecFileError

    file = SpecFile(name)
    try:
        file.read()
        serve_editor(file, rules, host, port, opened)
    except SpecFileError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"cannot listen on {host}:{port}: {error.strerror or error}", NETWORK) from error
    return OK


def _opened(link: str, shared: str | None = None, *, browser: bool, json: bool) -> None:
    if json:
        put_json({"link": link} | ({} if shared is None else {"shared": shared}))
    else:
        put(link)
        if shared is not None:
            put(f"for others: {shared}")
            if urlsplit(shared).hostname in ("127.0.0.1", "localhost", "::1"):
                note("others reach it from this machine alone: --host 0.0.0.0 lets them in from elsewhere")
    note("Ctrl-C ends it")
    if browser:
        webbrowser.open(link)
