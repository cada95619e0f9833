"""A small protocol around the machines of one test: the test writes the machines of its server, the rest stands here.

    run = serve('''
        main:
          door: {accept: enter(peer), as: guests, seats: 1, then: asked}
          ...
    ''')

A client may send ``NAME MOVE PING QUIT NUMBER`` (``move(3)`` and so on make the values), a server ``SAID PONG BYE``.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent
from types import ModuleType
from typing import Any

from tests.harness import Run
from tests.machines.stub_rules import module

FRAME = """\
protocol: sketch
title: The server of one test
wire: {{framing: lines{wire}}}
rules: [acts]
connects: {{client: server}}
settings: {{brief: 2 s, reply: 5 s, long: 20 s, twice: 2, pace: 2 per 10 s{settings}}}
messages:
  client:
    NAME: {{name: $name string}}
    MOVE: {{move: $move int}}
    PING: ping
    QUIT: quit
    NUMBER: $number int
  server:
    SAID: {{said: $said any}}
    PONG: pong
    BYE: bye
{top}
roles:
  server:
{early}{machines}
  client:
    main:
      always: {{within: never}}
      over: {{return: null}}
"""

# One guest who is seated as soon as it comes; what the test is about is the state ``play``.
ONE = """
    enter(peer):
      now: {{return: {{name: guest}}}}
"""

ENTER = """
enter(peer):
  named:
    await: peer
    within: brief
    receive: {NAME: {return: {name: name}}}
"""


def boom(*_: Any) -> Any:
    """Fail, as a rule with a fault in it does."""
    raise ZeroDivisionError("boom")


ACTS = module("acts", {"boom": boom, "odd": lambda number: number % 2 == 1, "pair": lambda a, b: (a, b)})


def text_of(machines: str, *, wire: str = "", settings: str = "", top: str = "", early: str = "") -> str:
    """Return the whole spec; ``wire`` and ``settings`` go on in braces, ``top`` are further lines of the file."""
    return FRAME.format(
        wire=f", {wire}" if wire else "",
        settings=f", {settings}" if settings else "",
        top=top,
        early=f"    early: {early}\n" if early else "",
        machines=indent(dedent(machines), "    "),
    )


def serve(
    machines: str,
    *,
    rules: Mapping[str, ModuleType] | None = None,
    seed: int = 0,
    wire: str = "",
    settings: str = "",
    top: str = "",
    early: str = "",
) -> Run:
    """Start the server whose machines these are."""
    text = text_of(machines, wire=wire, settings=settings, top=top, early=early)
    return Run(text, "server", rules or {"acts": ACTS}, seed=seed)


def move(number: int) -> dict[str, int]:
    """Return the value of a MOVE."""
    return {"move": number}


def name(word: str) -> dict[str, str]:
    """Return the value of a NAME."""
    return {"name": word}


def said(value: Any) -> dict[str, Any]:
    """Return the value of a SAID."""
    return {"said": value}
