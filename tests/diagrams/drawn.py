"""The pictures of a session: each is drawn once, however many tests look at it."""

from __future__ import annotations

from functools import cache

from diagrams.catalogue import Drawing, album
from diagrams.render import render
from machines.parser.loader import load

picture = cache(render)


@cache
def album_of(name: str) -> tuple[Drawing, ...]:
    """Return all drawings of a shipped spec."""
    return album(load(name))
