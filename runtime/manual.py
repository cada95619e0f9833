"""The whole manual: the pages of the core, and those of the games that are played with it."""

from __future__ import annotations

from functools import cache
from importlib import resources

from machines.manual import Page, pages_in
from machines.manual import pages as core_pages

SOURCE = "simulation/manual.py"


@cache
def pages() -> dict[str, Page]:
    """Return every page by its code, in the order of the codes.

    Raises:
        PageError: a docstring begins like a page and is none.
    """
    source = resources.files("runtime").joinpath(SOURCE).read_text(encoding="utf-8")
    return dict(sorted({**core_pages(), **{page.code: page for page in pages_in(source)}}.items()))
