"""``docs/cookbook.md`` shows the recipes as they are, with their diagrams before and after."""

import re

from tests.diagrams.cookbook import BLOCK, FOLDER, PAGE, filled


def test_files_and_diagrams_are_those_of_today() -> None:
    text = PAGE.read_text()

    assert text == filled(text), "python -m tests.diagrams.cookbook writes them anew"


def test_every_recipe_has_its_file_and_a_before_and_an_after() -> None:
    blocks = [(kind, what.split()[0]) for kind, what in BLOCK.findall(PAGE.read_text())]

    for path in FOLDER.glob("*.yaml"):
        assert ("recipe", path.stem) in blocks, path.stem
        if not path.read_text().startswith("part:"):
            assert any((kind, path.stem) in blocks for kind in ("drawn", "wire", "settings")), path.stem


def test_a_block_that_is_wrong_is_found() -> None:
    text = PAGE.read_text()

    assert filled(text.replace("half a second", "half a minute")) == filled(text)
    assert filled(text) != text.replace("stateDiagram-v2", "stateDiagram")


def test_no_before_is_the_same_as_its_after() -> None:
    for found in BLOCK.finditer(PAGE.read_text()):
        if found[1] != "recipe":
            shown = re.findall(r"```\w*\n(.*?)```", found[0], re.DOTALL)
            assert len(shown) == len(set(shown)) == 2, found[2]


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE.read_text()):
        assert (PAGE.parent / target).exists(), target
