"""The findings of a check in a browser: the run to each, step by step, over the pictures of all roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from diagrams.states.marks import Marks
from machines.model import Spec
from machines.problems import Problem
from machines.verification.verdict import TraceStep
from runtime.studio.guard import Guarded, files, svg
from runtime.studio.page import SCRIPTS, STYLES, TONES, VERSION, Rows, details, party_facts, picture_facts, pictures_of
from runtime.studio.said import Said, Tone
from runtime.studio.serving import serve_site
from runtime.studio.steps import Party, Step
from runtime.studio.traces import trace_steps


@dataclass(frozen=True, slots=True)
class ShownTrace:
    """A problem of a spec, and a run to it; ``sure`` says how many clients it takes, and whether a replay did so."""

    spec: Spec
    problem: Problem
    sure: str
    trace: tuple[TraceStep, ...]


class TraceSite:
    """The application that shows them; ``?trace=2`` is the third."""

    def __init__(self, shown: Sequence[ShownTrace], token: str, port: int, hosts: frozenset[str]) -> None:
        self._shown = shown
        self._marks = {one.spec.protocol: Marks(one.spec) for one in shown}
        self._pictures: dict[str, Mapping[str, str]] = {
            protocol: pictures_of(next(one.spec for one in shown if one.spec.protocol == protocol))
            for protocol in self._marks
        }
        routes = [
            Route("/run.json", self._facts),
            Route("/step/{number:int}", self._step),
            Route("/picture/{name}.svg", self._picture),
            *files("run.html", *SCRIPTS, *STYLES),
        ]
        self.app = Guarded(Starlette(routes=routes), token=token, port=port, hosts=hosts)

    def _asked(self, request: Request) -> int | None:
        """Return which trace is asked for, None if there is none of that number."""
        text = request.query_params.get("trace", "0")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1
        return number if 0 <= number < len(self._shown) else None

    def _steps(self, number: int) -> tuple[list[Step], tuple[Party, ...]]:
        one = self._shown[number]
        steps, parties = trace_steps(one.spec, self._marks[one.spec.protocol], one.trace)
        who = next(party.name for party in parties if party.id == steps[-1].party)
        text = one.problem.text.removeprefix(f"{who}: ")  # whose it is stands beside it
        found = Said(steps[-1].party, None, text, Tone.VIOLATION, one.problem.hint)
        return [*steps[:-1], replace(steps[-1], said=(*steps[-1].said, found))], parties

    async def _facts(self, request: Request) -> Response:
        number = self._asked(request)
        if number is None:
            return PlainTextResponse("there is no such finding\n", 404)
        one = self._shown[number]
        steps, parties = self._steps(number)
        rows = Rows()
        for step in steps:
            rows.add(step)
        return JSONResponse(
            {
                "version": VERSION,
                "protocol": one.spec.protocol,
                "pictures": picture_facts(self._marks[one.spec.protocol]),
                "tones": TONES,
                "from": 0,
                "rows": rows.rows,
                "table": rows.table,
                "parties": party_facts(parties),
                "boards": 0,
                "complete": True,
                "failed": None,
                "findings": [_title(shown) for shown in self._shown],
                "finding": number,
                "hint": one.problem.hint,
            }
        )

    async def _step(self, request: Request) -> Response:
        number, at = self._asked(request), request.path_params["number"]
        steps = self._steps(number)[0] if number is not None else []
        if at >= len(steps):
            return PlainTextResponse("the run has no such step\n", 404)
        return JSONResponse(details(steps[at]))

    async def _picture(self, request: Request) -> Response:
        number = self._asked(request)
        drawn: Mapping[str, Any] = self._pictures[self._shown[number].spec.protocol] if number is not None else {}
        return svg(drawn.get(request.path_params["name"]))


def _title(shown: ShownTrace) -> str:
    problem = shown.problem
    return f"{problem.place}: {problem.code} {problem.text} ({shown.sure})"


def serve_traces(shown: Sequence[ShownTrace], opened: Callable[[str], None]) -> None:
    """Serve them on loopback until the process is told to stop; ``opened`` is called with the link.

    Raises:
        PictureError: Graphviz is missing, or a picture is too much for it.
    """
    serve_site(lambda place: TraceSite(shown, *place[:3]).app, "127.0.0.1", 0, opened)
