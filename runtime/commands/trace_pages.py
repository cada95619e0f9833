"""``accord check --studio``: the runs to what was found, step by step in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from machines.model import Spec
from runtime.commands.exit_codes import CommandError
from runtime.commands.reports import Report
from runtime.process.output import note


def show_traces(reports: Iterable[Report], loaded: Callable[[str], Spec]) -> None:
    """Serve a page of all problems that have a run, until Ctrl-C; where none has, say so.

    Raises:
        CommandError: the pictures cannot be drawn.
    """
    from diagrams.render import PictureError
    from runtime.studio.trace_site import ShownTrace, serve_traces

    shown = []
    for report in reports:
        for told in (*report.problems, *report.accepted):
            run = told.finding or told.run
            if run is not None and run.trace:
                shown.append(ShownTrace(loaded(report.spec), told.problem, run.sure, run.trace))
    if not shown:
        note("nothing was found that has a run to it, so there is nothing to show")
        return
    try:
        serve_traces(shown, lambda link: note(f"studio: {link} (Ctrl-C ends it)"))
    except KeyboardInterrupt:
        return
    except PictureError as error:
        raise CommandError(str(error)) from error
