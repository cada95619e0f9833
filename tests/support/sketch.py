"""A small protocol around the machines of one test: the test writes what it is about, the rest stands here.

    run, ann = seated('''
        play:
          await: ann
          within: reply
          receive: {MOVE: {send: SAID(move), then: stay}}
          fault: {return: reason}
    ''')
    run.say(ann, move(3))

A client may send ``NAME MOVE PING QUIT NUMBER`` (`name` and `move` make the first two), a server ``SAID PONG BYE``.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent
from types import ModuleType
from typing import Any

from tests.support.session_harness import Run
from tests.support.stub_rules import module

FRAME = """\
protocol: sketch
title: What one test is about
wire: {{framing: lines{wire}}}
rules: [acts]
connects: {{client: server}}
settings: {{brief: 2 s, reply: 5 s, long: 20 s, two: 2, pace: 2 per 10 s}}
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
{server}
  client:
{client}
"""
IDLE = "main: {over: {return: null}}"
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


ACTS = {
    "boom": boom,
    "odd": lambda number: number % 2 == 1,
    "pairs": lambda peers: tuple((a, b) for i, a in enumerate(peers) for b in peers[i + 1 :]),
    "list": lambda value: [value],
    "mutable": lambda: {1, 2},
}


def text_of(server: str = IDLE, client: str = IDLE, *, wire: str = "", top: str = "") -> str:
    """Return a whole spec; ``wire`` goes on in braces, ``top`` are further lines of the file."""
    return FRAME.format(
        wire=f", {wire}" if wire else "",
        top=dedent(top),
        server=indent(dedent(server), "    "),
        client=indent(dedent(client), "    "),
    )


def serve(machines: str, *, seed: int = 0, wire: str = "", top: str = "", **rules: Any) -> Run:
    """Start the server whose machines these are; ``rules`` stand in for those of ACTS, by name.

    A machine ``enter(peer)`` that is called and not written is ENTER.
    """
    machines = dedent(machines)
    if "enter(peer)" in machines and "enter(peer):" not in machines:
        machines += ENTER
    return Run(text_of(machines, wire=wire, top=top), "server", _rules(rules), seed=seed)


def client(machines: str, *, wire: str = "", top: str = "", **rules: Any) -> Run:
    """Start the client whose machines these are; its server is peer 0 and it is called ann."""
    return Run(text_of(client=machines, wire=wire, top=top), "client", _rules(rules), my={"name": "ann"})


def seated(
    states: str, *, guests: int = 1, machines: str = "", always: str = "", seed: int = 0, wire: str = "",
    top: str = "", **rules: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Start a server whose ``main`` seats guests and then enters the first of these states; return it and the peers.

    The states know the guests as ``guests``, and as ``ann bob cal dan``. ``always`` is what stands behind them.
    """
    names = ("ann", "bob", "cal", "dan")[:guests]
    bound = "\n".join(f"      {name}: guests[{index}]" for index, name in enumerate(names))
    first = dedent(states).strip().partition(":")[0]
    head = f"""\
  door: {{accept: enter(peer), as: guests, seats: {guests}, within: long, timeout: {{return: null}}, then: begin}}
  begin:
    let:
{bound}
    then: {first}
"""
    behind = "  always:\n" + indent(dedent(always), "    ") if always else ""
    main = "main:\n" + behind + "\n" + head + indent(dedent(states), "  ")
    run = serve(main + "\n" + dedent(machines), seed=seed, wire=wire, top=top, **rules)
    peers = [run.join() for _ in names]
    for peer, word in zip(peers, names, strict=True):
        run.say(peer, name(word))
    return (run, *peers)


def _rules(others: Mapping[str, Any]) -> dict[str, ModuleType]:
    return {"acts": module("acts", {**ACTS, **others})}


def move(number: int) -> dict[str, int]:
    """Return the value of a MOVE."""
    return {"move": number}


def name(word: str) -> dict[str, str]:
    """Return the value of a NAME."""
    return {"name": word}


def said(value: Any) -> dict[str, Any]:
    """Return the value of a SAID."""
    return {"said": value}


def value(run: Run) -> Any:
    """Return what a session returned; it must have returned."""
    assert run.ended is not None, run.state()
    assert run.ended.failed is None, run.ended.failed
    return run.ended.value


def failure(run: Run) -> str:
    """Return why a session failed; it must have failed."""
    assert run.ended is not None, run.state()
    assert run.ended.failed is not None, run.ended.value
    return run.ended.failed
