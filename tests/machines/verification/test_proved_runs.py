"""What is proved holds in runs: games of whole specs behind a network that delays, with seeded players and delays.

`python -m tests.machines.verification.test_proved_runs --games N` plays N games of every spec below that is proved.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

from machines.loader import load, load_text, rules_modules
from machines.model import Spec
from machines.verification.verdict import PROVED
from runtime.simulation.campaign import Campaign
from runtime.simulation.network import EndlessError
from tests.machines.verification.bench import SHIPPED, SPECS, verdict_of
from tests.support.delayed_game import DelayedGame, Witness

COOKBOOK = SHIPPED.parent / "docs" / "cookbook"
FOLDERS = (SHIPPED, COOKBOOK, SPECS, SPECS / "correct", SPECS / "clocks", SPECS / "public")
FILES = sorted(path for folder in FOLDERS for path in folder.glob("*.yaml"))
GAMES = 6  # of a spec here; the command plays more
CLOCKS = SPECS / "clocks"


@cache
def _house(path: Path) -> Campaign | None:
    """Return what plays the games of a spec; None if it is no whole spec, is not proved, or has foreign roles."""
    if path.read_text(encoding="utf-8").startswith("part:"):
        return None
    spec = load(str(path))
    if spec.foreign:
        return None
    return Campaign(spec, rules_modules(spec)) if verdict_of(str(path)).state == PROVED else None


def play(house: Campaign, number: int) -> list[str]:
    """Play one game with the delays and players of that number; return what a proof rules out and came to pass."""
    scenes = [scene for scene in house.scenes if scene.deed is None and not scene.small]
    witness = Witness()
    game = DelayedGame(house.spec, house.programs[False], witness, seed=number)
    house.invite(game, scenes[number % len(scenes)], number)
    try:
        game.play()
    except EndlessError as error:
        return [*witness.found, str(error)] if error.sure else witness.found
    return witness.found if game.unended else witness.found + game.stands_still()


@pytest.mark.matrix
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_game_of_a_proved_spec_stands_every_delay(path: Path) -> None:
    house = _house(path)
    if house is None:
        pytest.skip("is not proved, is no whole spec, or has roles that only others play")

    assert [found for number in range(GAMES) for found in play(house, number)] == []


def _mended(name: str, *, without: str) -> Spec:
    text = (CLOCKS / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.count(without) == 1
    return load_text(text.replace(without, ""))


# Each of them was called proved by a search that let no clock ring while a message was on its way.
@pytest.mark.parametrize(
    ("name", "heard"),
    [
        ("impatient", "          BACK: {send: GONE, return: null}\n"),
        ("greeted", "          KNOCK: {then: heard}\n"),
    ],
)
def test_a_race_of_clocks_shows_in_games(name: str, heard: str) -> None:
    house = Campaign(_mended(name, without=heard), {})

    assert any("unexpected" in found for number in range(40) for found in play(house, number))


def test_most_of_the_specs_are_proved_and_played() -> None:
    assert len(FILES) >= 45
    assert sum(_house(path) is not None for path in FILES[:12]) >= 8


def main(games: int) -> int:
    """Play so many games of each proved spec; print what went wrong, and return 1 if anything did."""
    wrong = 0
    for path in FILES:
        house = _house(path)
        if house is None:
            print(f"{path.stem}: not proved, or no whole spec")
            continue
        found = [(number, text) for number in range(games) for text in play(house, number)]
        wrong += bool(found)
        print(f"{path.stem}: {games} games, {len(found)} faults", *found[:3], sep="\n    ")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[sys.argv.index("--games") + 1]) if "--games" in sys.argv else 100))
