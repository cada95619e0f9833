"""``accord list``: the shipped specs."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from machines.parser.loader import allowed_rules, find, resolved, shipped
from machines.problems import SpecError
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode
from runtime.commands.exit_codes import OK
from runtime.process.output import put, put_json, table

Json = Annotated[bool, Parameter(name="--json", help="Write one JSON object to standard output.")]


def listing(*, json: Json = False) -> int:
    """List the shipped specs: name, roles, whether the rules they name are here, and title."""
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
    """Return what the tree of a spec says by itself: to read all of each would take longer than all else here."""
    facts: dict[str, Any] = {"name": name, "title": "", "roles": [], "file": str(find(name))}
    try:
        tree = resolved(name)
    except SpecError as error:
        return facts | {"runnable": False, "why_not": f"no: {len(error.problems)} problems (accord check {name})"}
    allowed = allowed_rules()
    missing = [rules for rules in _words(tree, "rules") if rules not in allowed]
    title = next(iter([*_words(tree, "title"), *_words(tree, "protocol")]), name)
    facts |= {"title": title, "roles": _words(tree, "roles"), "runnable": not missing}
    return facts | {"why_not": f"no: rules {', '.join(missing)} missing" if missing else None}


def _words(tree: Node, key: str) -> list[str]:
    """Return the words under a key of a spec: its text, the items of its list, or the keys of its mapping."""
    match tree.get(key) if isinstance(tree, MapNode) else None:
        case ScalarNode(text=text):
            return [text]
        case ListNode(items=items):
            return [item.text for item in items if isinstance(item, ScalarNode)]
        case MapNode(pairs=pairs):
            return [name.text for name, _ in pairs]
    return []
