"""Two versions of a spec: which changes are told, and which of them old clients can live with."""

from __future__ import annotations

import pytest

from machines.parser.loader import load, load_text, rules_modules
from machines.verification.abstract.contracts import contracts_for
from machines.verification.compatibility import compare
from machines.verification.verdict import PROVED, REFUTED, UNDETERMINED
from tests.machines.verification.bench import changed, text_of

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


def test_a_message_that_only_has_another_name_is_the_same_on_the_wire() -> None:
    found = compare(changed("smtp"), load_text(text_of("smtp").replace(" VRFY", " ASKED").replace("[ASKED]", "[VRFY]")))

    assert [str(change) for change in found.changes] == ["VRFY is called ASKED now, and the same on the wire"]
    assert found.state == PROVED


def test_a_renamed_message_keeps_what_its_fields_decide() -> None:
    found = compare(changed("smtp"), load_text(text_of("smtp").replace("REPLY", "TOLD")), clients=(1,))  # 354: go on

    assert [str(change) for change in found.changes] == ["REPLY is called TOLD now, and the same on the wire"]
    assert found.state == PROVED, [verdict.lines() for verdict in (found.new_server, found.old_server) if verdict]


def test_a_word_that_is_changed_on_one_side_only_is_told_though_the_reader_takes_anything() -> None:
    found = compare(changed("smtp"), changed("smtp", ("enum: [VRFY]", "enum: [VERIFY]")), clients=(1,))

    assert [str(change) for change in found.changes] == [
        "VRFY has another body: an old client and a new client may send what the other does not read"
    ]
    assert found.new_server is not None
    assert "server: VRFY is taken for OTHER in main.fresh" in [one.text for one in found.new_server.findings]


def test_a_shipped_spec_serves_its_own_clients() -> None:
    spec = load("tsuro")
    found = compare(spec, spec, contracts_for(spec, rules_modules(spec)))

    assert (found.changes, found.state) == ((), PROVED)


def test_versions_that_can_not_be_put_together_are_told() -> None:
    found = compare(changed("ping-pong"), changed("ping-pong", ("framing: lines", "framing: json")))

    assert found.apart == "messages are cut in different ways: lines and json"
    assert found.state == REFUTED
