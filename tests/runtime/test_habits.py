"""Habits of programs that play: what is harmless is taken, and of what is not the reason names the very bytes."""

from __future__ import annotations

import signal

import anyio
import pytest

from runtime.players import program as programs
from runtime.players.base import DecisionError
from runtime.players.program import open_program
from tests.runtime.test_exec_player import ask, command

pytestmark = pytest.mark.anyio
ANSWER = '{"message": "MOVE", "holes": {}}'


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def said(data: bytes) -> str:
    return f"asked(); os.write(1, {data!r}); time.sleep(60)"


@pytest.mark.parametrize(
    "code",
    [
        said(f"{ANSWER}\r\n".encode()),
        said(f"  {ANSWER} \n".encode()),
        f"asked(); os.write(2, b'x' * 79 + b'y' * 300_000); write({ANSWER}); time.sleep(60)",
        f"import signal; signal.signal({signal.SIGTERM:d}, signal.SIG_IGN); asked(); write({ANSWER}); time.sleep(60)",
        f"asked(); write({ANSWER}); sys.exit(0)",
    ],
    ids=["ends lines as Windows", "blanks", "complains at length", "is deaf", "leaves after its last word"],
)
async def test_what_is_harmless_is_taken(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.05)
    with anyio.fail_after(30):
        async with open_program(command(code), "Ann") as program:
            assert await ask(program) == ("MOVE", {})


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (f"\n{ANSWER}\n".encode(), "no JSON: ''"),
        (b'{\n "message": "MOVE"}\n', "no JSON: '{'"),
        (f"{ANSWER}\n".encode("utf-16"), "no JSON: "),
        (b"take 1 \xe2\x80\xa8\n", r"no JSON: 'take 1 \\u2028'"),
        (f"\ufeff{ANSWER}\n".encode(), "no JSON: "),
    ],
    ids=["an empty line", "over several lines", "UTF-16", "a line separator", "a byte order mark"],
)
async def test_what_is_no_line_of_json_is_shown(data: bytes, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.05)
    async with open_program(command(said(data)), "Ann") as program:
        with pytest.raises(DecisionError, match=shown) as told:
            await ask(program)
    assert told.value.kind == "malformed"
