"""``accord list``: the shipped specs."""

from __future__ import annotations

from typing import Any

from machines.loader import find, shipped
from machines.problems import SpecError
from runtime.commands.exit_codes import OK
from runtime.commands.options import Json, looked_at, missing_rules
from runtime.commands.output import put, put_json, table


def listing(*, json: Json = False) -> int:
    """List the shipped specs: name, roles, whether they can be run here, and title."""
    found = [_listed(name) for name in shipped()]
    if json:
        put_json({"specs": found})
        return OK
    rows = [
        (spec["name"], " ".join(spec["roles"]), "yes" if spec["runnable"] else spec["why_not"], spec["title"])
        for spec in found
    ]
    for line in table([("SPEC", "ROLES", "RUNNABLE", "TITLE"), *rows]):
        put(line)
    return OK


def _listed(name: str) -> dict[str, Any]:
    missing = missing_rules(name)
    facts: dict[str, Any] = {"name": name, "title": "", "roles": [], "file": str(find(name))}
    try:
        spec = looked_at(name)
    except SpecError as error:
        return facts | {"runnable": False, "why_not": f"no: {len(error.problems)} problems (accord check {name})"}
    facts |= {"title": spec.title, "roles": list(spec.roles), "runnable": not missing}
    return facts | {"why_not": f"no: rules {', '.join(missing)} missing" if missing else None}
