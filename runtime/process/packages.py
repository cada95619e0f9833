"""Whether the packages of the extra ``web`` are installed. Imports nothing of ours: commands that need none ask too."""

from __future__ import annotations

from importlib.util import find_spec


def pages_can_be_served() -> bool:
    """Return whether the packages that serve pages are there."""
    return all(find_spec(name) is not None for name in ("starlette", "uvicorn", "websockets"))
