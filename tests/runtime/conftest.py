"""On what the runtime's tests run: every way that bytes may take, over real sockets; or virtual time, in memory."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
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


@pytest.fixture(scope="session")
def pem(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 by itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
    named = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", *words.split(), *named], check=True, capture_output=True)
    return certificate, key
