"""Properties of a spec: read, explored, and asked of a running session."""

from __future__ import annotations

import pytest

from machines.effects import Effect, Ended, Received, Send
from machines.parser.loader import load_text
from machines.problems import SpecError
from machines.verification.temporal import Monitor
from machines.verification.verdict import PROVED
from tests.machines.verification.bench import text_of, verdict_of
from tests.support.session_harness import Run


def with_properties(name: str, text: str) -> str:
    return f"{text_of(name)}\nproperties:\n{text}"


@pytest.mark.parametrize(
    ("name", "text", "holds"),
    [
        ("ping-pong", "  p: {never: {pinger: main.waiting, ponger: over}}", False),  # its limit may have passed
        ("ping-pong", "  p: {never: {sends: PONG, pinger: main.deciding}}", True),
        ("ping-pong", "  p: {never: {reads: BYE}}", False),
        ("ping-pong", "  p: {eventually: {pinger: over}}", True),
        ("ping-pong", "  p: {eventually: {sends: PONG}, after: {sends: BYE}}", False),
        ("rock-paper-scissors", "  p: {always: {referee: main}, while: {player: main.choosing}}", False),
        ("rock-paper-scissors", "  p: {always: {referee: hand}, while: {reads: HAND}}", True),
        ("rock-paper-scissors", "  p: {eventually: {reads: RESULT}, after: {player: main.choosing}}", True),
        ("rock-paper-scissors", "  p: {never: {referee: main.joining, player: main.choosing}}", True),
        ("tsuro", "  p: {eventually: {client: main.over}, after: {client: main.started}}", True),
    ],
)
def test_a_property_is_asked_of_every_run(name: str, text: str, holds: bool) -> None:
    verdict = verdict_of(with_properties(name, text))

    assert [one.code for one in verdict.findings] == ([] if holds else ["A508"]), "\n".join(verdict.lines())
    if holds:
        assert verdict.state == PROVED, "\n".join(verdict.lines())
    else:
        assert "the property 'p' does not hold" in verdict.findings[0].text
        assert verdict.findings[0].trace


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  P: {never: {pinger: main.waiting}}", "A114"),
        ("  p: {never: {pinger: main.wating}}", "A103"),
        ("  p: {never: {pinger: mian.waiting}}", "A104"),
        ("  p: {never: {pingr: main.waiting}}", "A107"),
        ("  p: {never: {sends: PNG}}", "A105"),
        ("  p: {never: {}}", "A138"),
        ("  p: {never: {reads: BYE}, always: {reads: BYE}}", "A138"),
        ("  p: {never: {reads: BYE}, while: {reads: PING}}", "A122"),
        ("  p: {sometimes: {reads: BYE}}", "A111"),
    ],
)
def test_a_property_that_is_written_wrongly_is_a_problem(text: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_text(with_properties("ping-pong", text))

    assert code in {problem.code for problem in caught.value.problems}


GUARDED = """
  no-pong-before-a-ping: {never: {ponger: over, sends: PONG}}
  always-ready: {always: {ponger: main.ready}, while: {reads: PING}}
  it-ends-with-bye: {eventually: {reads: BYE}}
"""


def test_a_running_session_is_asked_too() -> None:
    spec = load_text(with_properties("ping-pong", GUARDED))
    ponger = Run(spec, "ponger")
    monitor = Monitor(spec, "ponger")

    assert monitor.fed(ponger.session.took, ponger.effects) == []
    for said in ("ping", "bye"):
        before = len(ponger.effects)
        ponger.say(0, said)
        assert monitor.fed(ponger.session.took, ponger.effects[before:]) == []


def test_what_should_have_come_is_missed_at_the_end() -> None:
    spec = load_text(with_properties("ping-pong", GUARDED))
    ponger = Run(spec, "ponger")
    monitor = Monitor(spec, "ponger")
    monitor.fed(ponger.session.took, ponger.effects)
    before = len(ponger.effects)
    ponger.lose(0)

    broken = monitor.fed(ponger.session.took, ponger.effects[before:])

    assert broken == ["the property 'it-ends-with-bye' does not hold: eventually reads BYE"]


def test_a_monitor_tells_each_broken_property_once() -> None:
    spec = load_text(with_properties("ping-pong", "  quiet: {never: {sends: PONG}}\n  deaf: {never: {reads: PING}}"))
    monitor = Monitor(spec, "ponger")
    took = [("main", "ready", "PING", "ready")]
    effects: list[Effect] = [Received(0, "PING", {}), Send(0, b"x", "PONG")]

    assert len(monitor.fed(took, effects)) == 2
    assert monitor.fed(took, effects) == []
    assert monitor.fed([], [Ended(None, None)]) == []
