"""``specs/spec.schema.json``: every spec here is one, what is misspelt or misplaced is not, and it knows every key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from machines.model import Wire
from machines.parser.branches import BRANCH_KEYS, STEPS
from machines.parser.inheritance import alone
from machines.parser.insertions import AROUND, BEFORE
from machines.parser.reader import TOP_KEYS, read
from machines.parser.states import ALWAYS_KEYS, STATE_KEYS
from machines.problems import Problems
from machines.yaml.nodes import parse_yaml
from tests.specs.reference.editor import SCHEMA, VALIDATOR, EditorLoader, marked

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = (ROOT / "specs", ROOT / "tests" / "specs", ROOT / "docs" / "cookbook")
SPECS = sorted(path for folder in FOLDERS for path in folder.glob("*.yaml"))


GOOD = """
protocol: talk
wire: {framing: lines}
connects: {client: server}
settings: {reply: 5 s}
types:
  Name: {string: "[a-z]+"}
  Way: {enum: [North, South], loose: true}
messages:
  client: {HELLO: [$name Name, $way Way], BYE: bye}
  server: {HI: hi}
roles:
  server:
    main:
      door: {accept: hello(peer), as: guests, seats: 2, within: reply, timeout: {return: null}, then: listen}
      listen:
        await: guests
        within: reply
        receive: {BYE: {send: HI, then: stay}}
        invalid: {drop: peer, then: stay}
        closed: stay
        timeout: {return: null}
    hello(peer):
      a: {await: peer, within: reply, receive: {HELLO: {return: {name: name}}}}
  client:
    main:
      always: {within: never}
      a:
        send: HELLO(my.name, 'North')
        then: b
      b: {ask: more, receive: {BYE: {send: BYE, then: b}, HI: {return: null}}}
"""


@pytest.mark.parametrize("path", SPECS, ids=[path.name for path in SPECS])
@pytest.mark.parametrize("loader", [EditorLoader, yaml.BaseLoader], ids=["typed", "all texts"])
def test_every_spec_here_is_one(path: Path, loader: Any) -> None:
    assert not marked(path.read_text(), loader)


MISTAKES = [
    ("wire:", "wires:"),
    ("framing:", "frame:"),
    ("framing: lines", "framing: line"),
    ("framing: lines", "framing: lines, depth_max: 65"),
    ("connects: {client: server}", "connects: {client: []}"),
    ("settings: {reply: 5 s}", "settings: {reply: [5, s]}"),
    ("loose: true", "loose: sometimes"),
    ("{string:", "{string: [x], int:"),
    ("enum: [North, South]", "enum: []"),
    ("client: {HELLO", "client: {9HELLO: x, HELLO"),
    ("accept: hello(peer)", "acept: hello(peer)"),
    ("accept: hello(peer)", "accept: [hello]"),
    ("as: guests, ", ""),
    ("seats: 2, ", ""),  # then it never comes to its 'then'
    ("seats: 2", "seats: 2, lingers: 3 s"),
    ("then: listen}", "then: listen, return: 1}"),
    ("        await: guests", "        awaits: guests"),
    ("        await: guests", "        await: guests\n        linger: 3 s"),
    ("        await: guests", "        await: guests\n        then: door"),
    ("        await: guests", "        await: guests\n        parallel: 3"),
    ("receive: {BYE: {send: HI, then: stay}}", "recieve: {BYE: {send: HI, then: stay}}"),
    ("receive: {BYE: {send: HI, then: stay}}", "receive: [BYE]"),
    ("{send: HI, then: stay}", "{send: HI}"),
    ("{send: HI, then: stay}", "{send: HI, goto: listen}"),
    ("{send: HI, then: stay}", "{send: HI, within: 3 s, then: stay}"),
    ("{drop: peer, then: stay}", "{do: [{drop: peer}], let: {x: 1}, then: stay}"),
    ("{drop: peer, then: stay}", "{do: [{drop: peer, send: HI}], then: stay}"),
    ("closed: stay", "closed: {drop: peer}"),
    ("always: {within: never}", "always: {then: b}"),
    ("    hello(peer):", "    hello(peer:"),
    ("ask: more, ", "ask: more, run: more, "),
    ("ask: more, receive: {BYE: {send: BYE, then: b}, HI: {return: null}}", "ask: more, within: 3 s"),
    ("{ask: more,", "{each: x, ask: more,"),
    ("roles:\n  server:", "role:\n  server:"),
    ("  server:\n    main:", "  server:\n    early: always\n    main:"),
]


@pytest.mark.parametrize(("right", "wrong"), MISTAKES, ids=[wrong for _, wrong in MISTAKES])
def test_what_is_misspelt_or_misplaced_is_not_one_and_the_reader_says_so_too(right: str, wrong: str) -> None:
    assert GOOD.count(right) == 1, "the mistake is made in one place"
    text = GOOD.replace(right, wrong)

    assert marked(text)
    assert told(text)


def test_the_spec_that_the_mistakes_are_made_in_has_none() -> None:
    assert not marked(GOOD)
    assert not told(GOOD)


def told(text: str) -> list[str]:
    """Return the codes of the problems that the reader has with a spec."""
    problems = Problems()
    node = parse_yaml(text, "spec.yaml", problems)
    if node is not None:
        read(alone(node, problems), "spec.yaml", problems)
    return [problem.code for problem in problems]


def test_a_spec_that_extends_another_may_leave_out_what_that_one_has() -> None:
    assert VALIDATOR.is_valid({"extends": "tsuro", "protocol": "tsuro-fast", "settings": {"reply": "1 s"}})
    assert VALIDATOR.is_valid({"extends": ["tsuro", "beat"], "protocol": "tsuro-fast", "remove": ["settings.wait"]})
    assert VALIDATOR.is_valid({"part": "beat", "roles": {"server": {"beat": {"a": {"before": "b"}}}}})
    assert not VALIDATOR.is_valid({"protocol": "tsuro-fast", "settings": {"reply": "1 s"}})
    assert not VALIDATOR.is_valid({"extends": "tsuro", "settings": {"reply": "1 s"}})
    assert not VALIDATOR.is_valid(
        {"extends": "tsuro", "protocol": "a", "roles": {"server": {"main": {"a": {"bfore": "b"}}}}}
    )
    assert told(GOOD.replace("protocol: talk", "protocol: talk\nremove: [settings.reply]"))
    assert marked(GOOD.replace("protocol: talk", "protocol: talk\nremove: [settings.reply]"))


# -- the schema itself -----------------------------------------------------------------------------------------------

CHANGED = SCHEMA["$defs"]["changedMachine"]["properties"]
KEYS = [
    ("a spec", SCHEMA["properties"], TOP_KEYS),
    ("wire", SCHEMA["properties"]["wire"]["properties"], [field.name for field in fields(Wire)]),
    ("a state", SCHEMA["$defs"]["state"]["anyOf"][0]["properties"], STATE_KEYS),
    ("a branch", SCHEMA["$defs"]["branchKeys"]["properties"], BRANCH_KEYS),
    ("a changed state", SCHEMA["$defs"]["changedState"]["properties"], (*STATE_KEYS, BEFORE)),
    ("a changed always", dict.fromkeys(CHANGED["always"]["propertyNames"]["enum"]), ALWAYS_KEYS),
    ("a changed machine", CHANGED, ("always", "doc", "early", "live", AROUND)),
    ("an always", SCHEMA["$defs"]["always"]["properties"], ALWAYS_KEYS),
    ("a step", SCHEMA["$defs"]["branchKeys"]["properties"]["do"]["items"]["properties"], STEPS),
]


@pytest.mark.parametrize(("what", "properties", "known"), KEYS, ids=[what for what, *_ in KEYS])
def test_schema_and_reader_know_the_same_keys(what: str, properties: dict[str, Any], known: Any) -> None:
    assert set(properties) == set(known), what


def test_the_schema_is_one_of_json_schema_2020_12_and_refers_to_what_it_has() -> None:
    jsonschema_rs.meta.validate(SCHEMA)

    used = {text.removeprefix("#/$defs/") for text in _values_of(SCHEMA, "$ref")}
    assert used == set(SCHEMA["$defs"])


def test_every_key_has_a_description_that_an_editor_can_show() -> None:
    for properties in _values_of(SCHEMA, "properties"):
        for name, schema in properties.items():
            assert schema is False or schema.get("description") or schema == {"$ref": "#/$defs/choice"}, name


def _values_of(schema: Any, key: str, *, named: bool = False) -> Iterator[Any]:
    """Yield what stands under a keyword, wherever the schema has it; ``named``: these are names of a spec's keys."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == key and not named and (key != "properties" or isinstance(value, dict)):
                yield value
            yield from _values_of(value, key, named=name == "properties" and not named)
    elif isinstance(schema, list):
        for item in schema:
            yield from _values_of(item, key)
