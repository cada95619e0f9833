"""Two versions of a spec: which changes are told, and which of them old clients can live with."""

from __future__ import annotations

import pytest

from machines.exploring.comparing import compare
from machines.exploring.findings import PROVED, REFUTED, UNDETERMINED
from machines.exploring.promises import promises_for
from machines.library import load, rules_modules
from tests.exploring.bench import changed

PING = "    PING: ping\n"


@pytest.mark.parametrize(
    ("changes", "told", "new_server", "old_server", "state"),
    [
        pytest.param((), [], PROVED, PROVED, PROVED, id="nothing"),
        pytest.param(
            (("    PONG: pong\n", "    PONG: {pong: $n int}\n"), ("PING: {send: PONG,", 'PING: {send: "PONG(1)",')),
            ["PONG has another body: an old ponger and a new ponger may send what the other does not read"],
            REFUTED, REFUTED, REFUTED, id="another-body",
        ),
        pytest.param(
            (
                (PING, PING + "    PEEP: peep\n"),
                ("BYE:  {return: null}\n", "BYE:  {return: null}\n          PEEP: ready\n"),
            ),
            ["PEEP is new"], PROVED, PROVED, PROVED, id="server-knows-more",
        ),
        pytest.param(
            (
                (PING, PING + "    PEEP: peep\n"),
                ("BYE:  {return: null}\n", "BYE:  {return: null}\n          PEEP: ready\n"),
                ("PING: {send: PING, then: waiting}", "PING: {send: PEEP, then: deciding}"),
            ),
            ["PEEP is new"], PROVED, REFUTED, REFUTED, id="client-says-more",
        ),
        pytest.param(
            ((PING, '    PING: $n Word\n'), ("messages:\n", 'types:\n  Word: {string: "pi?ng"}\n\nmessages:\n'),
             ("send: PING, then: waiting", "send: PING, then: waiting")),
            ["PING takes more than before: a new pinger may send what the other does not read"],
            PROVED, PROVED, UNDETERMINED, id="wider",
        ),
    ],
)  # fmt: skip
def test_both_mixed_pairs_are_explored(
    changes: tuple[tuple[str, str], ...], told: list[str], new_server: str, old_server: str, state: str
) -> None:
    found = compare(changed("ping-pong"), changed("ping-pong", *changes), clients=(1,))

    assert [str(change) for change in found.changes] == told
    assert found.new_server is not None
    assert found.old_server is not None
    assert (found.new_server.state, found.old_server.state) == (new_server, old_server)
    assert found.state == state


def test_a_shipped_spec_serves_its_own_clients() -> None:
    spec = load("tsuro")
    found = compare(spec, spec, promises_for(spec, rules_modules(spec)))

    assert (found.changes, found.state) == ((), PROVED)


def test_versions_that_can_not_be_put_together_are_told() -> None:
    found = compare(changed("ping-pong"), changed("ping-pong", ("framing: lines", "framing: json")))

    assert found.apart == "messages are cut in different ways: lines and json"
    assert found.state == REFUTED
