"""``accord show SPEC --exchange PHASE``: what a phase does, and where the other end of each of its messages is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from diagrams.documents.exchange import exchange, exchange_text, phases
from machines.model import SendMessages, Spec
from machines.parser.loader import load, load_text, shipped
from runtime.cli import main
from tests.support.talk import GOOD

BIDS = (Path(__file__).resolve().parents[2] / "specs" / "README.md").read_text().split("```yaml\n")[1].split("```")[0]
TURN = """\
host: turn(guest, best)            guest

asked
  ASK(best)                   -->  main.listening: to bidding
  awaits guest, within reply (5 s)
  BID                         <--  main.bidding: on BID, its player's answer to bid
    if amount > best: return amount
    return best
  late, wrong or gone: return best
"""


@pytest.fixture
def bids() -> Spec:
    return load_text(BIDS, "bids.yaml")


def test_both_ends_of_an_exchange_stand_side_by_side(bids: Spec) -> None:
    (turn,) = phases(bids, "turn")
    text = [re.sub(r"  +", "  ", line).strip() for line in exchange_text(bids, turn)]

    assert text == [re.sub(r"  +", "  ", line).strip() for line in TURN.splitlines()]
    columns = {line.index(way) for line in exchange_text(bids, turn) for way in ("-->", "<--") if way in line}
    assert len(columns) == 1


def test_a_phase_that_several_roles_have_is_shown_of_each_unless_one_is_named(bids: Spec) -> None:
    assert [machine.role for machine in phases(bids, "main")] == ["host", "guest"]
    assert [machine.role for machine in phases(bids, "guest.main")] == ["guest"]
    assert phases(bids, "nowhere") == ()


@pytest.mark.parametrize("name", shipped())
def test_every_message_of_every_phase_of_a_shipped_spec_has_a_line_and_those_it_reaches(name: str) -> None:
    spec = load(name)
    for role in spec.roles.values():
        for machine in role.machines.values():
            rows = exchange(spec, machine)
            sent = [row.left.split("(")[0].split(" to ")[0].strip() for row in rows if row.way == "-->"]
            steps = [step for state in machine.states.values() for step in state.steps]
            said = [call.path for step in steps if isinstance(step, SendMessages) for call in step.messages]
            assert set(said) <= set(sent)
            heard = {name for state in machine.states.values() for name in state.answers.receive}
            told = {re.split("[:,]", row.left)[0].strip() for row in rows}
            assert heard <= told
            for row in rows:
                assert row.way or row.left or row.right


def test_what_nobody_at_the_other_end_hears_has_nothing_on_the_right() -> None:
    spec = load_text(GOOD, "talk.yaml")
    (main_,) = phases(spec, "server.main")
    assert any(row.left.strip() == "DONE to guests" and row.right.startswith("main.") for row in exchange(spec, main_))


def test_the_command_prints_it_as_text_and_json_and_knows_no_other_phase(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("show", "tsuro", "--exchange", "intermediate_placement")) == 0
    out = capsys.readouterr().out
    assert out.startswith("server: intermediate_placement(player, table)")
    assert "-->  main.playing: to intermediate" in out
    assert main(("show", "tsuro", "--exchange", "client.main", "--json")) == 0
    (phase,) = json.loads(capsys.readouterr().out)["phases"]
    assert (phase["role"], phase["machine"]) == ("client", "main")
    assert {"left": "  JOIN(my.name)", "way": "-->", "right": "join.named: return {name: name}"} in phase["rows"]
    assert main(("show", "tsuro", "--exchange", "intermediate")) == 2
    assert "did you mean 'intermediate_placement'?" in capsys.readouterr().err
