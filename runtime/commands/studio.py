"""``accord studio``: a run in a browser, from its journal, or as one page to keep."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diagrams.rendering.render import PictureError
from runtime.commands.exit_codes import OK, CommandError
from runtime.commands.options import Json, Rules, are_modules, is_spec, pages_are_there
from runtime.commands.output import note, put, put_json
from runtime.studio.page import pictures, saved
from runtime.studio.steps import RecordedRun


def studio(
    journal: Annotated[Path, Parameter(help="The journal of a run, as play, serve and join keep them.")],
    /,
    *,
    save: Annotated[
        Path | None, Parameter(help="Write the run to this file, a page that needs no server, and show nothing.")
    ] = None,
    spec: Annotated[str | None, Parameter(help="Use this spec, not the one that the journal names.")] = None,
    force: Annotated[bool, Parameter(help="Show it though the spec has changed since.")] = False,
    host: Annotated[str, Parameter(help="The address that the page is served at.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port; any free one if left out.")] = 0,
    no_browser: Annotated[bool, Parameter(help="Print the link, and open no browser.")] = False,
    rules: Rules = [],  # noqa: B006 (cyclopts makes a new list)
    json: Json = False,
) -> int:
    """Show a run step by step: its messages as a sequence diagram, the states of all roles lit, the game's board.

    A run that still goes on is followed: the page shows what comes as its journal is written.
    A server's journal shows where its clients stand too, as clients of the spec would. The page is for this machine and
    for who has its link; --save writes one file to mail or to hand in. Without --save the extra 'web' is needed.
    Ctrl-C ends it.
    """
    are_modules(rules)
    if spec is not None:
        is_spec(spec)
    if save is None:
        pages_are_there("--save FILE needs nothing")
    run = RecordedRun(journal, spec, force=force, rules=rules)
    try:
        run.read()
        if save is not None:
            save.write_text(saved(run, pictures(run)), encoding="utf-8")
            if json:
                put_json({"saved": save, "protocol": run.head.protocol, "steps": len(run.steps)})
            else:
                put(f"{save}: {len(run.steps)} steps of {run.head.protocol}; open it in a browser")
            return OK
        from runtime.studio.site import serve

        serve(run, host, port, lambda link: _opened(link, browser=not no_browser, json=json))
    except OSError as error:
        raise CommandError(f"{save or f'{host}:{port}'}: {error.strerror or error}") from error
    except PictureError as error:
        raise CommandError(str(error)) from error
    finally:
        run.close()
    return OK


def _opened(link: str, *, browser: bool, json: bool) -> None:
    if json:
        put_json({"link": link})
    else:
        put(link)
    note("Ctrl-C ends it")
    if browser:
        webbrowser.open(link)
