"""What a program that plays may take: whoever takes more is ended, with all that it started, and the reason is told."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from runtime.players import program_start
from runtime.players.base import DecisionError
from runtime.players.descendants import MARK, WARDEN, marked
from runtime.players.program import SubprocessPlayer, open_program
from runtime.players.program_limits import ProgramLimits
from runtime.players.program_start import started

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory and processes are seen in /proc"),
]
MIB = 1 << 20


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


def command(code: str) -> str:
    preamble = "import json, os, signal, sys\ndef asked(): return '\"ask\"' in sys.stdin.readline() or asked()\n"
    return f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(preamble + code)}"


async def ask(program: SubprocessPlayer) -> Any:
    with anyio.fail_after(60):
        return await program.decide("move", (), ("MOVE",), 50.0)


EATS = "held = bytearray(os.urandom(1 << 20)) * 200; signal.pause()"


@pytest.mark.parametrize(
    ("code", "limits", "kind", "reason"),
    [
        pytest.param(EATS, {"memory_bytes": 80 * MIB}, "memory", r"it held \d+ MiB of memory, and may hold 80 MiB"),
        pytest.param(
            f"if os.fork(): signal.pause()\n{EATS}",
            {"memory_bytes": 80 * MIB},
            "memory",
            r"it held \d+ MiB of memory, and may hold 80 MiB",
            id="a child",
        ),
        pytest.param(
            f"if os.fork(): signal.pause()\nos.setsid()\nif os.fork(): sys.exit()\n{EATS}",
            {"memory_bytes": 80 * MIB},
            "memory",
            r"it held \d+ MiB of memory, and may hold 80 MiB",
            id="a daemon",
        ),
        pytest.param(
            "for _ in range(9):\n    if not os.fork(): break\nsignal.pause()",
            {"processes": 5},
            "processes",
            "it had 10 processes at a time, and may have 5",
        ),
        pytest.param(
            "while True: os.write(2, b'x' * 4096 + b'\\n')",
            {"output_bytes": 3 * MIB},
            "flood",
            "it wrote more than 3 MiB, which is all that it may in a game",
        ),
        pytest.param(
            'asked()\nwhile True: os.write(1, b\'{"number": 99, "answer": 1}\\n\' * 100)',
            {"output_bytes": 3 * MIB},
            "flood",
            "it wrote more than 3 MiB, which is all that it may in a game",
        ),
    ],
)
async def test_a_program_that_takes_too_much_is_ended_and_told_why(
    code: str, limits: dict[str, int], kind: str, reason: str
) -> None:
    async with open_program(command(code), "Ann", limits=ProgramLimits(**limits)) as program:
        mark = f"{WARDEN.environment()[MARK].rpartition('-')[0]}-"
        with pytest.raises(DecisionError, match=f"^{reason}$") as caught:
            await ask(program)
        assert caught.value.kind == kind
        with pytest.raises(DecisionError, match=f"^{reason}$"):
            await ask(program)  # and it stays so

    assert marked(mark) == []


async def test_what_is_within_its_limits_plays_on() -> None:
    # Five processes that hold the same 60 MiB hold 60 MiB together, not 300.
    code = (
        "held = bytearray(os.urandom(1 << 20)) * 60\nfor _ in range(4):\n    if not os.fork(): signal.pause()\n"
        "asked()\nimport time\ntime.sleep(1)\nprint(7, flush=True)"
    )
    limits = ProgramLimits(memory_bytes=160 * MIB, processes=5, output_bytes=100)
    async with open_program(command(code), "Ann", limits=limits) as program:
        assert await ask(program) == 7


async def test_how_long_a_start_may_take_is_a_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_start, "START_SECONDS", 1000)
    async with open_program(command("signal.pause()"), "Ann", limits=ProgramLimits(start_seconds=0.05)) as program:
        with anyio.fail_after(60):
            await started(program)


async def test_lines_that_are_no_answer_are_told_in_the_log_so_often_and_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    code = "os.write(1, b'0\\n' * 1000 + b'{\"ready\": true}\\n')\nasked()\nprint(7, flush=True)"
    async with open_program(command(code), "Ann") as program:
        await started(program)
        assert await ask(program) == 7

    told = [record.message for record in caplog.records if "is no answer, and thrown away" in record.message]
    assert len(told) == 20
    assert any("further such lines are thrown away without a word" in record.message for record in caplog.records)
