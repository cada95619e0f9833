"""On what the runtime's tests run: every way that bytes may take, over real sockets; or virtual time, in memory."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.virtual import virtual

WAYS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "asyncio": ("asyncio", {"use_uvloop": False}, False),
    "uvloop": ("asyncio", {"use_uvloop": True}, False),
    "asyncio-stock": ("asyncio", {"use_uvloop": False}, True),
    "trio": ("trio", {}, False),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "uvloop":
        pytest.importorskip("uvloop")
    return name


@pytest.fixture
def anyio_backend(way: str) -> tuple[str, dict[str, Any]]:
    backend, options, _ = WAYS[way]
    return backend, options


@pytest.fixture
def stock(way: str) -> bool:
    """Are anyio's own streams to be used where there is a choice?"""
    return WAYS[way][2]


@pytest.fixture(params=["asyncio", "trio"])
def virtual_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """A backend under virtual time: a test module that wants it makes this its ``anyio_backend``."""
    return virtual(request.param)
