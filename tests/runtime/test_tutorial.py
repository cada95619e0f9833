"""docs/tutorial.md: every command in it runs and prints what stands behind it."""

from pathlib import Path

import pytest

from tests.runtime.tutorial import BLOCK, PAGE, filled


@pytest.mark.parametrize("most", [4, pytest.param(1000, marks=pytest.mark.whole)], ids=["its beginning", "all of it"])
def test_every_command_of_the_tutorial_prints_what_it_says(most: int, tmp_path: Path) -> None:
    text = PAGE.read_text()
    ends = [found.end() for found in BLOCK.finditer(text) if found[2] == "console"]
    text = text[: ends[:most][-1]]

    done = filled(text, tmp_path)

    told = [found[3] for found in BLOCK.finditer(text) if found[2] == "console"]
    came = [found[3] for found in BLOCK.finditer(done) if found[2] == "console"]
    assert told == came, "python -m tests.runtime.tutorial writes them anew"
    assert len(told) == min(most, len(ends)) > 3


def test_an_output_that_is_wrong_is_found(tmp_path: Path) -> None:
    text = "```console\n$ echo one\ntwo\n```\n"

    assert filled(text, tmp_path) == "```console\n$ echo one\none\n```\n"


@pytest.mark.parametrize("language", ["yaml", "python"])
def test_every_file_of_the_tutorial_is_written_by_it(language: str) -> None:
    blocks = [found for found in BLOCK.finditer(PAGE.read_text()) if found[2] == language]

    assert blocks
    assert all(found[1] for found in blocks)
