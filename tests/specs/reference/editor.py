"""A spec as an editor sees it, and the JSON Schema by which it judges it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from machines.yaml.flow_style import masked, unmasked

SCHEMA: dict[str, Any] = json.loads((Path(__file__).resolve().parents[3] / "specs" / "spec.schema.json").read_text())
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)


class EditorLoader(yaml.SafeLoader):
    """YAML as an editor sees it: a plain scalar is null, a boolean or a number only where YAML 1.2 and JSON say so."""


# What a plain scalar must be like, and with which characters it then begins.
_RESOLVED = {
    "null": ("null|", ["n", ""]),
    "bool": ("true|false", ["t", "f"]),
    "int": ("-?(0|[1-9][0-9]*)", [*"-0123456789"]),
    "float": (r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", [*"-0123456789"]),
}
EditorLoader.yaml_implicit_resolvers = {}
for _tag, (_regex, _first) in _RESOLVED.items():
    _pattern = re.compile(f"^(?:{_regex})$")
    EditorLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, _first)


def seen(text: str, loader: Any = EditorLoader) -> Any:
    """Return the plain values of a YAML text, scalars typed as an editor does, or as another loader does.

    Expressions are read as the reader of specs has them.
    """
    return _whole(yaml.load(masked(text), loader))


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return unmasked(value) if isinstance(value, str) else value


def marked(text: str, loader: Any = EditorLoader) -> list[str]:
    """Return what an editor would mark in a spec; nothing if the schema takes it."""
    return [f"{fault.instance_path}: {fault.message}" for fault in VALIDATOR.iter_errors(seen(text, loader))]
