"""How long a search takes, how much it holds, and that it stops where it is told to."""

from __future__ import annotations

from dataclasses import replace
from time import thread_time

import pytest

from machines.model import Spec
from machines.parser.loader import load_text
from machines.verification.verdict import PROVED, UNDETERMINED
from tests.machines.verification.bench import verdict_of

STATES = 2_000


def long_dialogue(states: int) -> Spec:
    """Return two roles of so many states each, which take turns: asked, answered, asked, …

    The two are read one by one, since a file has at most 20,000 nodes.
    """
    turns = range(states // 2)
    asks = "\n".join(
        f"      s{n}: {{send: ASK, then: w{n}}}\n      w{n}: {{receive: {{TELL: s{n + 1}}}}}" for n in turns
    )
    tells = "\n".join(
        f"      c{n}: {{receive: {{ASK: d{n}}}}}\n      d{n}: {{send: TELL, then: c{n + 1}}}" for n in turns
    )
    server, client = (load_text(HEAD.replace("<asks>", one).replace("<tells>", other).replace("<n>", str(states // 2)))
                      for one, other in ((asks, ""), ("", tells)))  # fmt: skip
    return replace(server, roles={"server": server.roles["server"], "client": client.roles["client"]})


HEAD = """
protocol: long
wire: {framing: lines}
connects: {client: server}
messages:
  client: {TELL: tell}
  server: {ASK: ask}
roles:
  server:
    main(client):
      always: {within: 5 s, fault: s<n>}
<asks>
      s<n>: {return: null}
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
<tells>
      c<n>: {within: never}
"""


@pytest.mark.xdist_group("time")
def test_two_roles_of_two_thousand_states_take_about_a_second() -> None:
    spec = long_dialogue(STATES)
    began = thread_time()
    verdict = verdict_of(spec, (1,))
    seconds = thread_time() - began

    assert verdict.state == PROVED, verdict.summary()
    assert verdict.states[0] > STATES
    assert seconds < 8, f"{seconds:.1f} s of CPU"  # about 1.5 s alone on one core; others may share it


def test_a_limit_of_states_bounds_the_search() -> None:
    verdict = verdict_of(long_dialogue(400), (1,), most=300)

    assert verdict.state == UNDETERMINED
    assert verdict.states[0] <= 300 + 20
