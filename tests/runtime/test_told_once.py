"""What a run says on a terminal it says once, though the last message of a game says it too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runtime.cli import main

GAMES = {"tsuro": "1. ", "santorini-prompts": " beat "}


def told(capsys: pytest.CaptureFixture[str], game: str, *more: str) -> tuple[str, str]:
    """Return what a game's result says, and what is said while it goes on."""
    kinds = ["--player", "random"] * (3 if game == "tsuro" else 2)
    assert main(["play", game, *kinds, "--seed", "1", "--no-journal", *more]) == 0
    out, err = capsys.readouterr()
    return out, err


@pytest.mark.parametrize("game", GAMES)
def test_the_ranking_is_told_with_the_result_and_not_beside_the_board(
    game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = told(capsys, game)
    ranked = [line.strip() for line in out.splitlines() if GAMES[game] in line]

    assert ranked
    assert not set(ranked) & {line.strip() for line in err.splitlines()}


def test_where_the_result_is_data_people_have_the_ranking_with_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    ranked = [line for line in told(capsys, "tsuro")[0].splitlines() if line.startswith("1. ")]
    assert [line.strip() for line in told(capsys, "tsuro", "--json")[1].splitlines() if "1. " in line] == ranked


def test_the_last_map_of_trains_has_its_owners(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the terminal, and in the folder of each player as that one was told."""
    game = ["play", "trains", "--players", "2", "--player", "hold-10", "--seed", "1", "--no-journal"]

    assert main([*game, "--player-folders", str(tmp_path)]) == 0

    owners = re.findall(r" \d \((\w+)\)", capsys.readouterr().err)
    assert set(owners) == {"playera", "playerb"}
    own = re.findall(r" \d \(([\w ]+)\)", (tmp_path / "playera" / "board.txt").read_text().rpartition("play\n")[2])
    assert set(own) == {"you", "player 2"}
    assert len(own) in (len(owners), len(owners) - 1), "but for what was taken after its last turn"
