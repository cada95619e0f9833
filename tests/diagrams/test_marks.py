"""Where a run stands in the pictures: every branch and state of every spec has an element in its state diagram."""

from __future__ import annotations

import re

import pytest

from diagrams.states.dot import write_spec
from diagrams.states.marks import Marks, machine_of
from machines.parser.loader import load, shipped


def ids(dot: str) -> set[str]:
    return set(re.findall(r'\bid="?([A-Za-z0-9_-]+)', dot))


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_branch_and_every_state_of_a_spec_has_its_element(name: str) -> None:
    spec = load(name)
    marks = Marks(spec)
    drawn = {picture: ids(dot) for picture, dot in write_spec(spec).items()}

    branches = 0
    for (role, machine, key), found in marks.keys().items():
        branches += 1
        assert found, f"{role} {machine} {key} is drawn nowhere"
        assert set(found) <= drawn[marks.pictures[role, machine]]
    for role, machine in marks.pictures:
        for state in spec.roles[role].machines[machine].states:
            box = marks.box(role, machine, state)
            assert box is not None
            assert box in drawn[marks.pictures[role, machine]]
    assert branches > len(spec.roles)


def test_a_call_is_one_of_its_machine() -> None:
    assert [machine_of(path) for path in ("main", "main.turn[12]", "main.turn[0].ask[1]")] == ["main", "turn", "ask"]


def test_what_the_spec_does_not_have_has_no_element() -> None:
    marks = Marks(load("sticks"))

    assert marks.box("host", "main", "nowhere") is None
    assert marks.arrows("host", ("main", "door", ".never", "turns")) == ()
