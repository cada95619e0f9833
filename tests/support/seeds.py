"""The five protocols that the language was made for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from machines.model import Spec
from machines.parser.loader import load

ROOT = Path(__file__).resolve().parents[2]
FIVE = ("santorini-prompts", "santorini-relay", "santorini-rulecheck", "trains", "tsuro")
RULES = ("santorini", "tournament", "trains", "knockout", "tsuro")


def seed_file(name: str) -> Path:
    """Return the file of a shipped protocol."""
    return ROOT / "specs" / f"{name}.yaml"


def load_seed(name: str, settings: Mapping[str, str] = {}) -> Spec:
    """Read one of the five; whatever rules it names are allowed, and none is imported."""
    return load(str(seed_file(name)), settings, RULES)
