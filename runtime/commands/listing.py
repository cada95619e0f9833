"""``accord list``: the shipped specs."""

from __future__ import annotations

from typing import Any

from machines.library import allowed_rules, find, load, shipped, sources
from machines.nodes import ListNode, MapNode, ScalarNode, parse_yaml
from machines.problems import Problems, SpecError
from runtime.commands.faults import OK
from runtime.commands.options import Json
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
    allowed = allowed_rules()
    missing = [rules for rules in _rules_named(name) if rules not in allowed]
    facts: dict[str, Any] = {"name": name, "title": "", "roles": [], "file": str(find(name))}
    try:
        # Nothing is imported here, so the missing ones may be vouched for: the spec is to be told of all the same.
        spec = load(name, rules=missing)
    except SpecError as error:
        return facts | {"runnable": False, "why_not": f"no: {len(error.problems)} problems (accord check {name})"}
    facts |= {"title": spec.title, "roles": list(spec.roles), "runnable": not missing}
    return facts | {"why_not": f"no: rules {', '.join(missing)} missing" if missing else None}


def _rules_named(name: str) -> list[str]:
    """Return the rules modules that a spec, or one it extends, names."""
    found: dict[str, None] = {}
    for path in sources(name):
        tree = parse_yaml(path.read_text("utf-8"), str(path), Problems())
        listed = tree.get("rules") if isinstance(tree, MapNode) else None
        if isinstance(listed, ListNode):
            found |= {item.text: None for item in listed.items if isinstance(item, ScalarNode)}
    return list(found)
