"""The whole manual: the pages of the core, and beside this module those of the games that are played with it (A6xx)."""

from __future__ import annotations

from functools import cache

from machines.manual import Page, pages_in
from machines.manual import pages as core_pages


@cache
def pages() -> dict[str, Page]:
    """Return every page by its code, in the order of the codes.

    Raises:
        PageError: a file is no page.
    """
    return core_pages() | pages_in("runtime.manual")
