"""Every code has a page in the manual, and each is true: its bad example has that problem alone, the mended none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from machines.checks import check
from machines.loader import load_text, rules_modules
from machines.manual import FRAMES, SOURCES, Example, Page, PageError, pages, read_pages
from machines.problems import SpecError
from machines.verification.verify import verify
from runtime.manual import pages as all_pages
from tests.specs.reference.test_reference import BASES, SPECS, Block

MACHINES = Path(__file__).resolve().parents[1] / "machines"
RUNTIME = Path(__file__).resolve().parents[1] / "runtime"
CODE = re.compile(r'"(A[1-9]\d\d)"')


def spec_text(example: Example) -> str:
    """Return the whole spec that an example is, or is part of."""
    return Block(0, example.whole, example.frame, ()).spec()


def codes_of(example: Example) -> list[str]:
    text = spec_text(example)
    try:
        spec = load_text(text, "example.yaml", folder=SPECS)
        return [str(problem) for problem in check(spec, rules_modules(spec))]
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
    assert page.code in [finding.code for finding in verify(load_text(spec_text(page.bad))).findings]
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


def test_every_file_with_pages_is_a_source() -> None:
    found = {
        str(path.relative_to(MACHINES))
        for path in MACHINES.rglob("*.py")
        if re.search(r"(?m)^ *(r?\"\"\")?A[1-9]\d\d: .+\.$", path.read_text())
    }

    assert found - {"manual.py"} == set(SOURCES)  # which shows the form


@pytest.mark.parametrize(
    "text",
    [
        "A999: no example.\n\nWhy.",
        "A999: nothing mended.\n\nWhy.\n\nBad:\n\n    a: 1\n",
        "A999: a frame that is none.\n\nWhy.\n\nBad, in nowhere:\n\n    a: 1\n\nMended:\n\n    a: 2\n",
    ],
)
def test_what_begins_like_a_page_must_be_one(text: str) -> None:
    with pytest.raises(PageError):
        list(read_pages(text))


def test_an_ordinary_docstring_is_no_page() -> None:
    assert list(read_pages("Return the sum.\n\nA302 is told elsewhere.")) == []
