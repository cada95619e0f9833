"""What is proved holds in runs: games of whole specs behind a network that delays, with seeded players and delays.

Each game is played in memory and over TCP, in time that does not wait: `python -m
tests.machines.verification.test_proved_runs --games N` plays N of each of every spec below that is proved. Where an
argument behind that is part of a spec's name, only that one is played.
"""

from __future__ import annotations

import logging
import sys
from functools import cache
from pathlib import Path

import pytest

from machines.model import Spec
from machines.parser.loader import load, load_text, rules_modules
from machines.verification.verdict import PROVED
from runtime.simulation.campaign import Campaign
from runtime.simulation.network import EndlessError
from runtime.simulation.scenarios import GameScenario
from tests.machines.verification.bench import SHIPPED, SPECS, verdict_of
from tests.support.delayed_game import DelayedGame, Witness
from tests.support.delayed_tcp import TcpGame

COOKBOOK = SHIPPED.parent / "docs" / "cookbook"
FOLDERS = (SHIPPED, COOKBOOK, SPECS, *(SPECS / name for name in ("correct", "clocks", "public", "little")))
FILES = sorted(path for folder in FOLDERS for path in folder.glob("*.yaml"))
# One to three clients are too few to begin, or three make very many states.
CLIENTS = {"four-seats": (1, 2, 3, 4), "corners": (1, 2)}
QUEUES = {"beating": 4}  # where more messages wait for one peer
GAMES = 4  # of a spec here in memory; the command plays more
TCP_GAMES = 1
CLOCKS = SPECS / "clocks"


@cache
def _house(path: Path) -> Campaign | None:
    """Return what plays the games of a spec; None if it is no whole spec, is not proved, or has foreign roles."""
    if path.read_text(encoding="utf-8").startswith("part:"):
        return None
    spec = load(str(path))
    if spec.foreign:
        return None
    verdict = verdict_of(str(path), CLIENTS.get(path.stem, (1, 2, 3)), queue=QUEUES.get(path.stem, 2))
    return Campaign(spec, rules_modules(spec)) if verdict.state == PROVED else None


def _scene(house: Campaign, number: int) -> GameScenario:
    scenes = [scene for scene in house.scenes if scene.deed is None and not scene.small]
    return scenes[number % len(scenes)]


def play(house: Campaign, number: int) -> list[str]:
    """Play one game with the delays and players of that number; return what a proof rules out and came to pass."""
    witness = Witness()
    game = DelayedGame(house.spec, house.programs[False], witness, seed=number)
    house.invite(game, _scene(house, number), number)
    try:
        game.play()
    except EndlessError as error:
        return [*witness.found, str(error)] if error.sure else witness.found
    return witness.found if game.unended else witness.found + game.stands_still()


def play_over_tcp(house: Campaign, number: int) -> list[str]:
    """Play one game over TCP; see `play`."""
    game = TcpGame(house.spec, house.programs[False], seed=number)
    house.invite(game, _scene(house, number), number)
    return game.play()


@pytest.mark.matrix
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_game_of_a_proved_spec_stands_every_delay(path: Path) -> None:
    house = _house(path)
    if house is None:
        pytest.skip("is not proved, is no whole spec, or has roles that only others play")

    assert [found for number in range(GAMES) for found in play(house, number)] == []
    assert [found for number in range(TCP_GAMES) for found in play_over_tcp(house, number)] == []


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
    assert any("unexpected" in found for number in range(40) for found in play_over_tcp(house, number))


def test_who_waits_for_ever_is_seen_in_games() -> None:
    text = (SPECS / "little" / "pipelined.yaml").read_text(encoding="utf-8")
    spec = load_text(
        text.replace("GET: {send: GOT(n), then: ready}", "GET: ready").replace("within: 1 min, ", "within: never, ")
        .replace("within: 20 s", "within: never").replace(", within: 3 s, timeout: {send: CLOSE, then: closing}", "")
    )  # fmt: skip
    house = Campaign(spec, {})

    for game in (play, play_over_tcp):
        assert any("waits for ever" in found for found in game(house, 0))


def test_sixty_specs_are_proved_and_played() -> None:
    little = [path for path in FILES if path.parent.name == "little"]
    assert len(little) >= 16
    assert [path.stem for path in little if _house(path) is None] == []
    assert len(FILES) >= 60


def main(games: int, part: str = "") -> int:
    """Play so many games of each proved spec, each way; print what went wrong, and return 1 if anything did."""
    wrong = proved = 0
    for path in FILES:
        house = _house(path) if part in path.stem else None
        if house is None:
            print(f"{path.stem}: not proved, no whole spec, or not asked for")
            continue
        proved += 1
        found = [(number, text) for number in range(games) for text in play(house, number)]
        found += [(number, f"over TCP: {text}") for number in range(games) for text in play_over_tcp(house, number)]
        wrong += bool(found)
        print(f"{path.stem}: {2 * games} games, {len(found)} faults", *found[:3], sep="\n    ", flush=True)
    print(f"{proved} proved specs were played, {wrong} with faults")
    return min(wrong, 1)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    given = sys.argv[1:]
    asked = int(given[given.index("--games") + 1]) if "--games" in given else 100
    sys.exit(main(asked, *given[2:3]))
