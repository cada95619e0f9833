"""Every key and word of the language has at least one running test that names it; see `tests.support.tiny.shows`."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from machines.analysis.scopes import BUILT_IN_VALUES, FUNCTIONS
from machines.expressions.unparse import POWERS
from machines.messages.inline_types import SCALARS
from machines.model import Early, Wire
from machines.parser.branches import BRANCH_KEYS, STAYING, STEPS
from machines.parser.reader import TOP_KEYS
from machines.parser.settings import Kind, parse_value
from machines.parser.states import ALWAYS_KEYS, STATE_KEYS
from tests.machines.test_language_file import SETTINGS
from tests.support.tiny import SHOWN

HERE = Path(__file__).parent
for path in sorted(HERE.glob("test_language_*.py")):
    if path != Path(__file__):
        importlib.import_module(f"tests.machines.{path.stem}")

# Shown elsewhere, by a test that needs more than a session: the file and the word in it.
ELSEWHERE = {
    "wire.work_max": HERE / "test_work.py",
    "wire.kept_bytes_max": HERE / "test_kept_bytes.py",
    "wire.connections_max": HERE.parent / "runtime" / "test_server.py",
    **{f"{family}.secure": HERE.parent / "runtime" / "test_secure_step.py" for family in ("state", "branch", "step")},
    "accepted": HERE / "test_accepted.py",
    "properties": HERE / "verification" / "test_exploring_properties.py",
}

REASONS = ("late", "malformed", "unknown", "unexpected", "illegal", "limit", "early", "closed", "failed")


def keys() -> Iterator[str]:
    """Yield every key of the language, as `shows` names it."""
    yield from TOP_KEYS
    yield from (f"wire.{field.name}" for field in fields(Wire))
    yield from (f"type.{scalar}" for scalar in SCALARS)
    yield from (f"type.{form}" for form in TYPE_FORMS)
    yield from (f"body.{form}" for form in BODY_FORMS)
    yield from (
        "role.doc",
        "machine.doc",
        "role.early",
        "machine.early",
        "machine.always",
        "machine.live",
        "roles.main(peer)",
    )
    yield "messages.client, ai"
    yield "roles.role.machine(peer)"
    yield "state.receive.A, B"
    yield from (f"state.{key}" for key in (*STATE_KEYS, "[branches]"))
    yield from (f"always.{key}" for key in ALWAYS_KEYS)
    yield from (f"branch.{key}" for key in BRANCH_KEYS)
    yield from (f"step.{key}" for key in STEPS)
    yield from (f"send.{form}" for form in SEND_FORMS)
    yield from (f"then.{form}" for form in ("STATE", *STAYING, "{branch}", "[branches]"))
    yield from ("as.NAME", "as.{name: value}", "names.frame")
    yield from (f"reason.{reason}" for reason in REASONS)
    yield from (f"built-in.{name}" for name in (*sorted(FUNCTIONS), *BUILT_IN_VALUES))
    yield from (
        f"operator.{sign}" for sign in (*POWERS, "not", "a.b", "a[b]", "if then else", "[a for x in b if c]", "{a: b}")
    )


TYPE_FORMS = (
    *("enum", "loose", "map", "[A, B]", "[A, ...]", "[A, ... n]", "[A, ... m..n]", "{key: A}", "key = default"),
    *("A | B", "int m..n", "string m..n"),
)
BODY_FORMS = ("$field Type", "$field Type = default", "text ${field Type}", "$$", "null true 12 text")
SEND_FORMS = ("M", "M(a)", "[A, B]", "{to: M}", "{to: [A, B]}", "{a: A, b: B}", "{players: M}", "bare")


@pytest.mark.parametrize("key", sorted(set(keys())))
def test_each_key_has_a_running_test_that_names_it(key: str) -> None:
    if key in ELSEWHERE:
        assert key.rpartition(".")[2] in ELSEWHERE[key].read_text()
        return

    assert key in SHOWN, f"no test says @shows({key!r})"
    family, _, word = key.rpartition(".")
    if family in ("", "wire", "role", "machine", "state", "always", "branch", "step") and word[0].isalpha():
        assert any(re.search(rf"{word}\b", text_of(test)) for test in SHOWN[key]), f"none says {word}"


def text_of(test: Callable[..., None]) -> str:
    """Return what a test says, without the words of `shows`."""
    return "\n".join(line for line in inspect.getsource(test).splitlines() if not line.startswith("@shows"))


def test_no_test_shows_a_key_that_there_is_not() -> None:
    assert sorted(SHOWN.keys() - set(keys())) == []


def test_each_word_for_early_and_each_kind_of_setting_is_shown() -> None:
    texts = "".join(path.read_text() for path in HERE.glob("test_language_*.py"))

    assert all(f'"{word}"' in texts for word in get_args(Early))
    kinds = {parse_value(written.strip('"'), plain='"' not in written)[0] for written, *_ in SETTINGS}
    assert kinds | {"range", "rate"} == set(get_args(Kind)), "these two have tests of their own"
