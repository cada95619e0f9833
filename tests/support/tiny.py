"""Specs of a few lines for the tests of the language: what a test is about stands in it, the rest is put around it.

    client = start('''
        messages:
          server: {PING: ping}
          client: {PONG: pong}
        roles:
          client:
            main:
              listening: {within: 5 s, receive: {PING: {send: PONG, then: listening}}}
    ''', "client")
    client.say(0, "ping")

What a text leaves out of ``protocol``, ``wire`` and ``connects`` is put before it: a client that connects to a server,
a JSON value a line. A role of the connections that it leaves out does nothing. Each spec must read and check without
a problem, but for messages that the role left out would send or receive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any, TypeVar

from machines.checks import check
from machines.model import Spec
from machines.parser.loader import load_text
from tests.specs.reference.editor import marked
from tests.support.quiz import UNREAD
from tests.support.session_harness import Run

# A key of the language, like ``state.within``, and the tests that show what it does.
SHOWN: dict[str, list[Callable[..., None]]] = {}

_HEAD = {"protocol": "tiny", "wire": "{framing: lines}", "connects": "{client: server}"}
# Never sent or received, by a role that only stands at the other end; not read, or in an order that is tried itself.
_ONE_SIDED = {"A330", "A331", "A317", *UNREAD}
_Test = TypeVar("_Test", bound=Callable[..., None])


def shows(*keys: str) -> Callable[[_Test], _Test]:
    """Note that a test shows what these keys of the language do; `test_language_keys` sees to it that all are shown."""

    def note(test: _Test) -> _Test:
        for key in keys:
            SHOWN.setdefault(key, []).append(test)
        return test

    return note


def tiny(text: str, *, folder: Path | None = None, settings: Mapping[str, str] = {}) -> Spec:
    """Return the spec that a text says, once what it leaves out is put around it; ``extends`` looks in ``folder``."""
    lines = dedent(text).strip("\n").splitlines()
    keys = {line.partition(":")[0] for line in lines if line[:1].isalpha()}
    if "extends" not in keys:
        lines = [f"{key}: {value}" for key, value in _HEAD.items() if key not in keys] + lines
        connects = next(line for line in lines if line.startswith("connects:"))
        roles = lines[lines.index("roles:") + 1 :] if "roles:" in lines else []
        written = {line.strip().partition(":")[0] for line in roles if line.startswith("  ") and line[2:3] != " "}
        missing = [role for role in ("server", "client") if role in connects and role not in written]
        lines += [
            *([] if roles else ["roles:"]),
            *(f"  {role}: {{main: {{idle: {{within: never}}}}}}" for role in missing),
        ]
    whole = "\n".join(lines) + "\n"
    spec = load_text(whole, "tiny.yaml", folder=folder, settings=settings)
    assert not marked(whole), "the schema takes what the reader takes"
    problems = [problem for problem in check(spec) if problem.code not in _ONE_SIDED]
    assert not problems, "\n".join(map(str, problems))
    return spec


def start(
    text: str,
    role: str = "server",
    rules: Mapping[str, ModuleType] | None = None,
    *,
    seed: int = 0,
    my: Mapping[str, Any] | None = None,
    settings: Mapping[str, str] = {},
) -> Run:
    """Start a role of a tiny spec; see `tiny`."""
    return Run(tiny(text, settings=settings), role, rules, seed=seed, my=my)


def returned(run: Run) -> Any:
    """Return the value with which a session ended; that it failed, or goes on, is an error of the test."""
    assert run.ended is not None, f"it goes on: {run.state()}"
    assert run.ended.failed is None, run.ended.failed
    return run.ended.value
