"""What a peer says without TLS where TLS is to be spoken is read by nobody, in the exploration as in a session."""

import pytest

from machines.parser.loader import load_text
from machines.verification.counterexamples.replay import confirmed
from machines.verification.verdict import PROVED
from tests.machines.verification.bench import verdict_of

SPEC = """
protocol: later
wire: {framing: text}
connects: {client: server}
messages:
  client: {START: STARTTLS, LOGIN: "LOGIN ${name string}"}
  server: {GO: go on, HELLO: "hello ${name string}"}
roles:
  server:
    main(client):
      plain: {within: never, receive: {START: {send: GO, secure: client, then: safe}}, fault: {return: null}}
      safe: {within: never, receive: {LOGIN: {send: HELLO, return: name}}, fault: {return: null}}
  client:
    main:
      always: {within: never, fault: {return: null}}
      begin: {send: START, receive: {GO: {secure: server, then: safe}}}
      safe: {send: LOGIN(my.name), receive: {HELLO: {return: name}}}
"""


def found(text: str) -> list[tuple[str, bool | None]]:
    """Return the codes that a check of the roles together finds, and whether real sessions do the same."""
    verdict = confirmed(verdict_of(text, (1, 2)), load_text(text, "later.yaml"), {}, lambda *_: None)
    assert (verdict.state == PROVED) is not bool(verdict.findings)
    return [(finding.code, finding.confirmed) for finding in verdict.findings]


def test_a_handshake_on_both_sides_is_gone_through() -> None:
    assert found(SPEC) == []


@pytest.mark.parametrize(
    ("as_it_is", "instead"),
    [
        pytest.param("send: START,", "send: [START, LOGIN(my.name)],", id="what comes too early is thrown away"),
        pytest.param("{secure: server, then: safe}", "safe", id="the other side speaks no TLS"),
    ],
)
def test_what_comes_without_tls_is_waited_for_in_vain(as_it_is: str, instead: str) -> None:
    text = SPEC.replace(as_it_is, instead)
    if "[START" in instead:
        text = text.replace("safe: {send: LOGIN(my.name), ", "safe: {")

    assert found(text) == [("A500", True)]


def test_a_clock_still_rings_where_what_comes_is_thrown_away() -> None:
    text = SPEC.replace("send: START,", "send: [START, LOGIN(my.name)],").replace(
        "safe: {send: LOGIN(my.name), receive: {HELLO: {return: name}}}",
        "safe: {within: 1 s, receive: {HELLO: {return: name}}, timeout: {return: null}}",
    )

    assert [code for code, _ in found(text)] == ["A504"]  # LOGIN is never read, and nobody stands still
