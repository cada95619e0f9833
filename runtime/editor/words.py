"""What the words of the language mean, for people: the descriptions of the JSON Schema, and those of the built-ins."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any, Final

from machines.analysis.scopes import BUILT_IN_VALUES, EVENT_NAMES, FUNCTIONS
from machines.parser.branches import BRANCH_KEYS, STEPS
from machines.parser.context import NAME, RESERVED
from machines.parser.reader import TOP_KEYS
from machines.parser.states import ALWAYS_KEYS, STATE_KEYS

KEYS: Final = {
    "a spec": TOP_KEYS,
    "a state": STATE_KEYS,
    "a branch": BRANCH_KEYS,
    "a step": STEPS,
    "'always'": ALWAYS_KEYS,
    "a machine": ("always", "live", "early", "doc"),
    "a role": ("early", "doc"),
}
BUILT_IN: Final = (*sorted(FUNCTIONS), *BUILT_IN_VALUES, *EVENT_NAMES, "result")


def is_name(text: str) -> bool:
    """Whether a text may be a name of something."""
    return NAME.fullmatch(text) is not None and text not in RESERVED


@cache
def descriptions() -> dict[str, str]:
    """Return what each key of a spec and of a state is for, in a sentence or two."""
    schema = json.loads((files("specs") / "spec.schema.json").read_text("utf-8"))
    found: dict[str, str] = {}
    for part in (schema, *_parts(schema["$defs"], ("changedState", "always", "branch", "changedMachine"))):
        for key, said in part.get("properties", {}).items():
            if isinstance(said, dict) and "description" in said:
                found.setdefault(key, said["description"])
    return found


def _parts(definitions: dict[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [definitions[name] for name in names if name in definitions]


@cache
def built_in() -> dict[str, str]:
    """Return what each function and value of expressions is, as the table of the reference has it."""
    text = (files("specs") / "README.md").read_text("utf-8")
    table = text.partition("### Built in")[2].partition("\n\nFunctions change nothing")[0]
    found: dict[str, str] = {}
    for row in re.finditer(r"^\| (`[^|]*`) \| (.*) \|$", table, re.MULTILINE):
        for call in re.findall(r"`([^`]*)`", row[1]):
            found.setdefault(call.partition("(")[0], f"`{call}`: {row[2]}")
    return found
