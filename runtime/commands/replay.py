"""``accord replay``: a run again, from its journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runtime.commands.exit_codes import FAILED, OK, UNDETERMINED
from runtime.commands.options import Json, Rules, are_modules, is_spec
from runtime.journal.replay import replay as run_again
from runtime.process.output import put, put_json


def replay(
    journal: Annotated[Path, Parameter(help="The journal of a run, as play, serve and join keep them.")],
    /,
    *,
    spec: Annotated[str | None, Parameter(help="Use this spec, not the one that the journal names.")] = None,
    force: Annotated[bool, Parameter(help="Replay though the spec has changed since.")] = False,
    rules: Rules = [],  # noqa: B006 (cyclopts makes a new list)
    json: Json = False,
) -> int:
    """Feed a journal's inputs to new sessions and compare what they do with what was recorded, value for value.

    Exit code 0 if all agrees, 1 if not: then the first difference is told; 3 if all that is there agrees, but the
    journal stops before its end, because it reached its limit, or the run was killed or still runs.
    """
    are_modules(rules)
    if spec is not None:
        is_spec(spec)
    result = run_again(journal, spec, force=force, rules=rules)
    difference = result.difference
    code = FAILED if difference is not None else OK if result.complete else UNDETERMINED
    if json:
        put_json(
            {
                "journal": journal,
                "spec": result.head.spec,
                "role": result.head.role,
                "seed": result.head.seed,
                "agrees": difference is None,
                "inputs": result.inputs,
                "sessions": result.sessions,
                "complete": result.complete,
                "endings": result.endings,
                "difference": difference,
            }
        )
        return code
    if difference is not None:
        put(f"{journal}: {difference}")
        return code
    put(f"{result.head.protocol} ({result.head.role}), seed {result.head.seed}: {result.inputs} inputs, all agree")
    for ending in result.endings:
        put(f"ended: {ending.failed}" if ending.failed else f"result: {ending.value}")
    if not result.complete:
        put(
            "undetermined: the journal has no end, because it reached its limit, or the run was killed or still runs: "
            "no more of it is known"
        )
    return code
