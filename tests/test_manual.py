"""Every code has a page in the manual, and each is true: its bad example has that problem alone, the mended none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from machines.checks import check
from machines.manual import FRAMES, Example, Page, PageError, pages, pages_in, read_page
from machines.parser.loader import load_text, rules_modules
from machines.problems import SpecError
from machines.verification.verify import verify
from runtime.manual import pages as all_pages
from tests.specs.reference.test_reference import BASES, SPECS, Block

MACHINES = Path(__file__).resolve().parents[1] / "machines"
RUNTIME = Path(__file__).resolve().parents[1] / "runtime"
CODE = re.compile(r'"(A[1-9]\d\d)"')


def spec_text(example: Example) -> str:
    """Return the whole spec that an example is, or is part of."""
    return Block("manual", 0, example.whole, example.frame, ()).spec()


def codes_of(example: Example) -> list[str]:
    text = spec_text(example)
    try:
        spec = load_text(text, "example.yaml", folder=SPECS)
        part = Block("manual", 0, example.whole, example.frame, ())
        return [str(problem) for problem in check(spec, rules_modules(spec)) if part.tells(problem.code)]
    except SpecError as error:
        return [str(problem) for problem in error.problems]


SINGLE = [page for page in pages().values() if not page.code.startswith("A5")]
TOGETHER = [page for page in pages().values() if page.code.startswith("A5")]


@pytest.mark.parametrize("page", SINGLE, ids=lambda page: page.code)
def test_the_bad_example_has_this_problem_alone_and_the_mended_none(page: Page) -> None:
    found = codes_of(page.bad)

    assert [text.split()[1] for text in found] == [page.code], "\n".join([*found, spec_text(page.bad)])
    assert codes_of(page.mended) == [], spec_text(page.mended)


@pytest.mark.parametrize("page", TOGETHER, ids=lambda page: page.code)
def test_the_bad_example_is_refuted_for_that_and_the_mended_one_proved(page: Page) -> None:
    assert codes_of(page.bad) == codes_of(page.mended) == []
    verdict = verify(load_text(spec_text(page.bad)))
    assert page.code in [finding.code for finding in (*verdict.findings, *verdict.dead)]
    assert verify(load_text(spec_text(page.mended))).state == "proved"


def test_every_code_that_is_told_has_a_page_and_no_other() -> None:
    files = [*MACHINES.rglob("*.py"), *RUNTIME.rglob("*.py")]
    told = {code for path in files for code in CODE.findall(path.read_text(encoding="utf-8"))}

    assert set(all_pages()) == told


def test_a_page_says_something_in_lines_that_fit() -> None:
    for page in all_pages().values():
        assert len(page.says) <= 118 - len(page.code), page.code
        assert page.why.endswith((".", ":")), page.code
        assert page.bad != page.mended, page.code


def test_frames_are_those_of_the_reference() -> None:
    assert set(FRAMES) == {path.stem for path in BASES.glob("*.yaml")} | {"messages"}


def test_no_docstring_holds_a_page_that_nobody_would_find() -> None:
    for path in [*MACHINES.rglob("*.py"), *RUNTIME.rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?m)^ *Mended(, in [a-z-]+)?:$", text), f"{path}: the page of a code is a file"


EXAMPLES = "## Bad, in server\n\n```yaml\na: 1\n```\n\n## Mended\n\n```yaml\na: 2\n```\n"


def test_a_file_with_the_parts_of_a_page_in_their_order_is_one() -> None:
    page = read_page("A999.md", f"# A999: wrong.\n\nWhy.\n\n{EXAMPLES}")

    assert page == Page("A999", "wrong", "Why.", Example("a: 1\n", "server"), Example("a: 2\n", "server"))


@pytest.mark.parametrize(
    "text",
    [
        "# A999: no example.\n\nWhy.\n",
        "# A999: nothing mended.\n\nWhy.\n\n## Bad\n\n```yaml\na: 1\n```\n",
        f"# A999: nowhere.\n\nWhy.\n\n{EXAMPLES.replace('server', 'nowhere')}",
        f"# A998: the code of another file.\n\nWhy.\n\n{EXAMPLES}",
        f"# A999: more than a page.\n\nWhy.\n\n{EXAMPLES}\nMore.\n",
    ],
)
def test_a_file_of_the_manual_must_be_a_page(text: str) -> None:
    with pytest.raises(PageError):
        read_page("A999.md", text)


def test_the_pages_of_games_lie_apart_from_those_of_specs() -> None:
    assert {code[:2] for code in pages_in("runtime.manual")} == {"A6"}
    assert "A6" not in {code[:2] for code in pages()}
