"""A file of known fails, for who would rather be told of new ones.

- {id: client/main.playing/on-closed, fails: "it was silent", reason: "mended in the next version"}
- {id: client/wire/tolerant, skip: true, reason: "not wanted"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from machines.conforming.judging import Judgement, RequirementVerdict
from machines.problems import Problems
from machines.yaml.nodes import ListNode, MapNode, ScalarNode, parse_yaml
from runtime.commands.exit_codes import CommandError

_KEYS = ("id", "skip", "fails", "reason")


@dataclass(frozen=True, slots=True)
class KnownFail:
    """A requirement that is known to fail with this text in what is told, or that is not asked for."""

    id: str
    fails: str
    skip: bool
    reason: str


def known_fails(path: Path) -> dict[str, KnownFail]:
    """Read a file of known fails, by id.

    Raises:
        CommandError: it cannot be read, or an entry lacks its id or its reason.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    problems = Problems()
    tree = parse_yaml(text, str(path), problems)
    problems.raise_if_any()
    if not isinstance(tree, ListNode):
        raise CommandError(f"{path}: known fails are a list, of {{id: ..., fails: ..., reason: ...}}")
    found = {}
    for item in tree.items:
        values = _values(path, item)
        found[values["id"]] = KnownFail(
            values["id"], values.get("fails", ""), values.get("skip") == "true", values["reason"]
        )
    return found


def _values(path: Path, item: object) -> dict[str, str]:
    if not isinstance(item, MapNode):
        raise CommandError(f"{path}: each known fail is written {{id: ..., fails: ..., reason: ...}}")
    values = {}
    for key in _KEYS:
        node = item.get(key)
        if isinstance(node, ScalarNode):
            values[key] = node.text
    if "id" not in values or "reason" not in values:
        raise CommandError(f"{item.place}: a known fail needs its id and a reason")
    return values


def excused(found: Judgement, known: Mapping[str, KnownFail]) -> Judgement:
    """Return the verdicts with known fails marked; one that passes or fails otherwise is told."""
    found.verdicts = [_excused(one, known.get(one.requirement.id)) for one in found.verdicts]
    return found


def _excused(one: RequirementVerdict, known: KnownFail | None) -> RequirementVerdict:
    if known is None:
        return one
    if known.skip:
        return replace(one, standing="open", why="skipped", known=known.reason)
    if one.standing == "fail" and known.fails in one.why:
        return replace(one, known=known.reason)
    if one.standing == "pass":
        return replace(one, standing="fail", why="it passes, and is listed as a known fail: strike it off the list")
    return one
