"""Coverage: which branches runs took, and that a picture says so."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from diagrams.rendering.style import PALE
from diagrams.states.builder import flow
from diagrams.states.coverage import TIMES, Count, Coverage, branches, painted
from diagrams.states.dot import dot
from diagrams.states.looks import LOOKS
from diagrams.states.model import Kind, StateDiagram
from machines.engine.compiled_states import KEPT
from machines.engine.compiler import Program
from machines.model import Spec
from machines.parser.loader import load, rules_modules, shipped
from tests.diagrams.drawn import picture
from tests.diagrams.examples import games
from tests.diagrams.test_pictures import texts


@pytest.fixture(scope="module")
def spec() -> Spec:
    return games()


def counted(drawn: StateDiagram, coverage: Coverage) -> dict[tuple[str, str, str], str]:
    """The count at each arrow: of its labels, joined."""
    return {
        (arrow.source, arrow.target, arrow.kind.name): " ".join(
            str(coverage.of(drawn.machine.name, label)) for label in arrow.labels
        )
        for arrow in drawn.arrows
    }


def of_turn(spec: Spec, *taken: tuple[str, str, str]) -> tuple[StateDiagram, Coverage]:
    coverage = Coverage(spec, "server")
    coverage.add(("main.turn[0]", *one) for one in taken)
    return flow(spec, "server", "turn"), coverage


@pytest.mark.parametrize("name", shipped())
def test_branches_are_named_as_the_engine_names_its_transitions(name: str) -> None:
    spec = load(name)
    modules = rules_modules(spec)
    for role in spec.roles.values():
        program = Program(spec, role.name, modules)
        for machine in role.machines.values():
            rows = {
                (source, event.name, source.partition("/")[0] if row.dest in KEPT else row.dest)
                for event in program.tables[machine.name].machine.events.values()
                for source, listed in event.transitions.items()
                for row in listed
            }
            assert set(branches(machine)) == rows


def test_each_transition_counts_for_its_own_arrow(spec: Spec) -> None:
    drawn, coverage = of_turn(
        spec, ("asked", "MOVE", "asked/1"), ("asked/1", ".then", "asked"), ("asked", "MOVE", ".end"),
        ("asked", ".invalid", "gone"), ("gone", ".then", ".end"),
    )  # fmt: skip

    found = counted(drawn, coverage)
    assert found["asked", ".junction1", "MESSAGE"] == "1" + TIMES
    assert found[".junction1", "asked", "PASS"] == "1" + TIMES
    assert found[".junction1", ".end3", "PASS"] == "never"
    assert found["asked", ".end2", "MESSAGE"] == "1" + TIMES
    assert found["asked", "gone", "INVALID"] == "1" + TIMES
    assert found[".always", "gone", "FAULT"] == "never"


def test_what_always_answers_counts_there_whatever_the_state(spec: Spec) -> None:
    drawn, coverage = of_turn(spec, ("asked", "always:BYE", ".end"), ("gone", "always:.closed", "gone"))

    found = counted(drawn, coverage)
    assert found[".always", ".end1", "MESSAGE"] == "1" + TIMES
    assert found[".always", "gone", "FAULT"] == "1" + TIMES
    assert coverage.met("turn", ".always")


def test_branches_that_a_journal_cannot_tell_apart_share_their_count() -> None:
    assert str(Count(1, 1) + Count(0, 2)) == "up to 3" + TIMES
    assert str(Count()) == "never"


def test_a_transition_that_the_spec_does_not_have_is_kept_apart(spec: Spec) -> None:
    _, coverage = of_turn(spec, ("asked", "NONSENSE", "gone"), ("asked", "NONSENSE", "gone"))

    assert dict(coverage.unknown) == {("main.turn[0]", "asked", "NONSENSE", "gone"): 2}


def test_arrows_taken_more_often_are_broader_and_those_never_taken_pale_and_dashed(spec: Spec) -> None:
    drawn, coverage = of_turn(spec, *([("asked", "MOVE", ".end")] * 9), ("gone", ".then", ".end"))
    paint = painted(drawn, coverage, "one run")

    looks = {(arrow.source, arrow.target): look for arrow, look in zip(drawn.arrows, paint.looks, strict=True)}
    often, once = looks["asked", ".end2"], looks["gone", ".end1"]
    assert often.width > once.width
    assert often.width > LOOKS[Kind.MESSAGE].width
    assert (looks["asked", "gone"].colour, looks["asked", "gone"].style) == (PALE, "dashed")
    widths = [painted(*of_turn(spec, *([("asked", "MOVE", ".end")] * n)), "").looks for n in (1, 2, 8, 1000)]
    broad = [max(look.width for look in found) for found in widths]
    assert all(less <= more for less, more in pairwise(broad))
    assert broad[-1] <= 6


def test_a_picture_of_runs_names_the_counts_and_what_was_never_reached(spec: Spec) -> None:
    drawn, coverage = of_turn(spec, ("asked", "MOVE", ".end"))
    text = dot(drawn, spec.protocol, {}, painted(drawn, coverage, "2 journals"))

    shown = texts(picture(text, "svg"))
    assert "2 journals" in shown
    assert "1" + TIMES in shown
    assert "never" in shown
    assert f'COLOR="{PALE}"' in text
    assert PALE not in dot(drawn, spec.protocol, {})


def test_how_much_was_seen_is_told_in_branches(spec: Spec) -> None:
    _, coverage = of_turn(spec, ("asked", "MOVE", ".end"), ("gone", ".then", ".end"))

    found = re.fullmatch(r"(\d+) of (\d+) branches taken", coverage.lines())
    assert found is not None
    assert int(found[1]) == 2
    assert int(found[2]) > 10
