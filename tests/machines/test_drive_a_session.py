"""The page on driving a session by oneself: its code is run as it stands there, against a hand-written client."""

from __future__ import annotations

import re
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "drive-a-session.md"
SPEC = str(ROOT / "tests" / "specs" / "correct" / "ping-pong.yaml")


def serving() -> Any:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)  # noqa: S102 (the page's own code is what is tested)
    assert len(code.splitlines()) <= 50
    return names["serve_one"]


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        ([b'"ping"\n"pi', b'ng"\n', b'"bye"\n'], b'"pong"\n"pong"\n'),
        ([b'"bye"\n'], b""),
        ([b'"nobody says this"\n'], b""),  # the fault's branch: the server returns
    ],
)
def test_the_loop_of_the_page_serves_a_client(said: list[bytes], answers: bytes) -> None:
    serve_one = serving()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        results: list[object] = []
        thread = threading.Thread(target=lambda: results.append(serve_one(SPEC, "ponger", listener)))
        thread.start()
        with socket.create_connection(listener.getsockname(), timeout=10) as client:
            for data in said:
                client.sendall(data)
            received = b""
            while chunk := client.recv(4096):
                received += chunk
        thread.join(10)
    assert received == answers
    assert results == [None]
