"""SOCKS 5 as ``specs/frames.md`` has it: curl asks for a connection in bytes, and for a page behind it in lines."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from machines.effects import Send
from machines.model import Spec
from machines.parser.loader import load_text
from machines.verification.verdict import PROVED
from tests.machines.verification.bench import verdict_of
from tests.runtime.test_shipped_servers import in_thread, serving
from tests.support.session_harness import Run

FRAMES = Path(__file__).resolve().parents[2] / "specs" / "frames.md"
CURL = shutil.which("curl")


def text() -> str:
    found = re.search(r"```yaml\n(protocol: socks\n.*?)```", FRAMES.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def spec() -> Spec:
    return load_text(text(), "socks.yaml")


def test_it_is_proved() -> None:
    verdict = verdict_of(text())

    assert verdict.state == PROVED, "\n".join(verdict.lines())


@pytest.mark.anyio
@pytest.mark.skipif(CURL is None, reason="curl is not installed")
async def test_curl_asks_through_it(stock: bool, tmp_path: Path) -> None:
    path = tmp_path / "socks.yaml"
    path.write_text(text())

    def ask(port: int, how: str, *pages: str) -> tuple[int, str]:
        words = [CURL or "", "-sS", "--max-time", "15", how, f"127.0.0.1:{port}", *pages]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout or done.stderr

    async with serving(str(path), stock) as (port, _):
        found = await in_thread(lambda: ask(port, "--socks5-hostname", "http://inside/a", "http://inside/b"))
        outside = await in_thread(lambda: ask(port, "--socks5-hostname", "http://outside/"))
        numbered = await in_thread(lambda: ask(port, "--socks5", "http://127.0.0.1/"))

    assert found == (0, "hello at /ahello at /b")
    assert outside[0] == numbered[0] == 97, "curl: can not complete the connection"
    assert outside[1].endswith("(4)\n")
    assert numbered[1].endswith("(2)\n")


@pytest.mark.parametrize("size", [1, 3, 100])
def test_bytes_and_lines_in_one_stream_are_told_apart_by_the_state(size: int) -> None:
    run = Run(spec(), "server")
    stream = b"\x05\x02\x01\x00" + b"\x05\x01\x00\x03\x06inside\x00\x50" + b"GET /x HTTP/1.1\r\nhost: inside\r\n\r\n"

    for at in range(0, len(stream), size):
        run.write(0, stream[at : at + size])

    sent = [effect.data for effect in run.effects if isinstance(effect, Send)]
    page = b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nhello at /x"
    assert sent == [b"\x05\x00", b"\x05\x00\x00\x01" + bytes(6), page]


@pytest.mark.parametrize(
    "raw", [b"\x04\x01", b"GET / HTTP/1.1\r\n", b"\x05\x01\x00\x05\x02", b"\x05\x01\x00\x05\x01\x00\x04"]
)
def test_what_is_no_socks_ends_at_once(raw: bytes) -> None:
    run = Run(spec(), "server")
    run.write(0, raw)

    assert 0 in run.dropped
    assert run.ended is not None
