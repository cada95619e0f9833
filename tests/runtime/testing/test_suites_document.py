"""The page on the suites: its tests run as they stand there, and pass."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "conformance-suites.md"
CODES = re.findall(r"## (.*?)\n\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("code", [pytest.param(code, id=title) for title, code in CODES])
def test_a_test_of_the_page_passes(code: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)  # noqa: S102 (the page's own code is what is tested)

    names["test_it_conforms"]()


def test_the_page_has_a_test_for_each_suite_that_it_names() -> None:
    text = PAGE.read_text(encoding="utf-8")
    suites = re.findall(r"^\| .*`(runtime\.testing\.\w+)\.(check_\w+)` \|$", text, re.MULTILINE)

    assert suites
    for (module, name), (_, code) in zip(suites, CODES, strict=True):
        assert f"from {module} import {name}" in code
