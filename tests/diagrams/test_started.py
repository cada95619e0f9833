"""Pictures of machines that start others, and are told when they end."""

from __future__ import annotations

from pathlib import Path

from diagrams.states.dot import write_machine
from machines.parser.loader import load

TABLES = str(Path(__file__).resolve().parents[1] / "specs" / "tables.yaml")


def test_a_start_and_its_end_are_drawn() -> None:
    drawn = write_machine(load(TABLES), "lobby", "main")

    assert "start table(pair + [peer])" in drawn
    assert "ended" in drawn
