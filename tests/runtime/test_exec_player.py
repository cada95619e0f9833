"""Programs as players: one JSON value a line, whatever the program does."""

from __future__ import annotations

import json
import os
import select
import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from runtime.players import program as programs
from runtime.players import program_start
from runtime.players.base import DecisionError, UnknownPlayerError
from runtime.players.program import LINES_WAITING_MAX, SubprocessPlayer, open_program
from runtime.players.program_start import started

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


def command(code: str) -> str:
    """Return the command line of a Python program that has json, sys and ``read`` (the next line as a value)."""
    preamble = "import json, sys, os, time\nread = lambda: json.loads(sys.stdin.readline())\n"
    preamble += "def asked(): read(); return read()\ndef write(value): print(json.dumps(value), flush=True)\n"
    return f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(preamble + code)}"


ECHO = """
heard = []
while True:
    try: line = read()
    except ValueError: break
    if "ask" in line: write({"message": line["messages"][0], "holes": {"line": line, "before": heard}})
    else: heard.append(line)
"""


async def ask(program: SubprocessPlayer, question: str = "move", **values: Any) -> Any:
    return await program.decide(question, tuple(values.items()), ("MOVE", "PASS"), 2.0)


async def test_a_program_is_asked_with_names_values_messages_and_time() -> None:
    async with open_program(command(ECHO), "Ann") as program:
        program.heard("TOKEN", {"token": "red"})
        message, fields = await ask(program, board=((1, None),), token="red")

    assert message == "MOVE"
    assert fields["before"] == [{"player": "Ann"}, {"heard": "TOKEN", "holes": {"token": "red"}}]
    assert fields["line"] == {
        "ask": "move",
        "number": 1,
        "arguments": {"board": [[1, None]], "token": "red"},
        "messages": ["MOVE", "PASS"],
        "within": 2.0,
    }


@pytest.mark.parametrize("body", [["red", [1, 2]], {"message": "OTHER", "holes": {}}, {"x": 1}, None, "text", 3])
async def test_anything_else_is_the_messages_body(body: Any) -> None:
    code = f"asked(); write(json.loads({json.dumps(json.dumps(body))}))"
    async with open_program(command(code), "Ann") as program:
        assert await ask(program) == body


async def test_the_line_owed_to_a_cancelled_question_is_thrown_away() -> None:
    # It answers the first question only when it has read the second; `cancel` stands between them.
    code = """
read(); first = read(); cancel = read(); second = read()
write(["late", first["number"]]); write([cancel, second["number"]])
"""
    async with open_program(command(code), "Ann") as program:
        with anyio.move_on_after(0.05) as scope:
            await ask(program)
        assert scope.cancelled_caught

        assert await ask(program) == [{"cancel": 1}, 2]


async def test_what_it_wrote_before_it_was_asked_is_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    # Two lines for each question and the beginning of a third, in one write: they are there before the next question.
    code = """
print("a banner", flush=True)
read()
rest = b""
while True:
    number = read()["number"]
    os.write(1, rest + b"[%d]\\n[%d]\\nhalf" % (number, number * 100))
    rest = b" a line\\n"
"""
    async with open_program(command(code), "Ann") as program:
        await started(program)
        assert [await ask(program) for _ in range(3)] == [[1], [2], [3]]

    said = [record.getMessage().partition(": ")[2] for record in caplog.records]
    thrown = "a line that came before it was asked is no answer, and thrown away: "
    half = "4 bytes without a line end came before it was asked: no answer"
    assert said == [f"{thrown}'a banner'", f"{thrown}'[100]'", half, f"{thrown}'[200]'", half]


WRONG_NUMBER = (
    "a line that came for question 7 while question 1 was open is no answer, and thrown away: "
    """'{"number": 7, "answer": "wrong"}'"""
)


async def test_answers_with_a_number_answer_that_question_only(caplog: pytest.LogCaptureFixture) -> None:
    code = """
read(); read()
write({"number": 7, "answer": "wrong"}); write({"number": 1, "answer": {"number": 5}})
read()
write({"number": 2, "message": "PASS", "holes": {"why": 1}})
read(); read(); third = read()
write({"number": 4, "message": "OTHER", "holes": {}}); read()
"""
    async with open_program(command(code), "Ann") as program:
        assert await ask(program) == {"number": 5}
        assert await ask(program) == ("PASS", {"why": 1})
        with anyio.move_on_after(0.05) as scope:
            await ask(program)
        assert scope.cancelled_caught
        # It never writes the line that the third question is owed, and need not.
        assert await ask(program) == {"message": "OTHER", "holes": {}}

    assert [r.getMessage().partition(": ")[2] for r in caplog.records] == [WRONG_NUMBER]


async def test_who_is_silent_after_a_cancel_is_warned(caplog: pytest.LogCaptureFixture) -> None:
    code = "asked(); read(); read(); write('for the second'); read(); read()"
    async with open_program(command(code), "Ann") as program:
        with anyio.move_on_after(0.05):
            await ask(program)
        with anyio.move_on_after(10) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, program)
                while program._open != set():
                    await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()
        assert not scope.cancelled_caught

    assert "after question 2 the first line was taken for its answer to question 1, which was cancelled" in caplog.text


@pytest.mark.parametrize(
    ("code", "has_read"),
    [
        ("select.select([release], [], []); read(); read()", False),
        ("write({'ready': False}); read(); select.select([release], [], []); write({'ready': True}); read()", True),
    ],
)
async def test_a_program_has_started_when_it_reads_or_says_so(code: str, has_read: bool) -> None:
    release, let = os.pipe()
    held = f"import select; release = os.open('/proc/{os.getpid()}/fd/{release}', os.O_RDONLY)\n"
    with anyio.fail_after(30):
        async with open_program(command(held + code), "Ann") as program:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(started, program)
                while has_read and program._ready is None:
                    await anyio.sleep(0)
                assert not await program.has_started()
                os.write(let, b"x")
            assert await program.has_started()
    os.close(release)
    os.close(let)


async def test_a_program_that_reads_nothing_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_start, "START_SECONDS", 0.05)
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.01)
    with anyio.fail_after(10):
        async with open_program(command("time.sleep(60)"), "Ann") as program:
            await started(program)
            assert not await program.has_started()


async def test_a_program_that_ends_or_reads_no_more_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_start, "START_SECONDS", 60)
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.01)
    with anyio.fail_after(30):
        for code in ("sys.exit(1)", "sys.stdin.close(); os.close(0); time.sleep(60)"):
            async with open_program(command(code), "Ann") as program:
                await started(program)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9"),
        (
            "asked(); print('{nonsense', flush=True); time.sleep(9)",
            r"wrote a line that is no JSON: '\{nonsense'",
        ),
        ("asked(); os.write(1, b'\\xff\\n'); time.sleep(9)", "wrote a line that is no JSON"),
        ("asked(); print('[' * 100000, flush=True); time.sleep(9)", "wrote a line that is no JSON"),
        ("asked(); os.write(1, b'no line end'); os.close(1); time.sleep(9)", "closed its output"),
    ],
)
async def test_a_program_that_cannot_answer_is_told_of(code: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.1)
    async with open_program(command(code), "Ann") as program:
        with pytest.raises(DecisionError, match=text):
            await ask(program)


async def test_an_answer_that_lacks_its_line_end_is_told_of_when_it_is_late(caplog: pytest.LogCaptureFixture) -> None:
    async with open_program(command("asked(); os.write(1, b'12345'); time.sleep(60)"), "Ann") as program:
        with anyio.move_on_after(10) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, program)
                while len(program.output.partial) < 5:
                    await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()
        assert not scope.cancelled_caught

    assert "5 bytes without a line end had come for move" in caplog.text


async def test_a_line_without_end_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "LINE_BYTES_MAX", 100_000)
    async with open_program(command("while True: os.write(1, b'a' * 4096)"), "Ann") as program:
        with pytest.raises(DecisionError, match="wrote a line of more than 100000 bytes"):
            await ask(program)


async def test_a_program_that_does_not_read_is_not_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    async with open_program(command("time.sleep(60)"), "Ann") as program:
        for _ in range(LINES_WAITING_MAX + 10):
            program.heard("NEWS", {"text": "x" * 1000})
        with pytest.raises(DecisionError, match="does not read"):
            await ask(program)

    assert [r.message for r in caplog.records if "does not read" in r.message] != []


async def test_a_program_that_closes_its_input_may_still_answer() -> None:
    async with open_program(command("asked(); sys.stdin.close(); os.close(0); write(['pass'])"), "Ann") as program:
        assert await ask(program) == ["pass"]


async def test_what_a_program_complains_of_is_logged_up_to_a_limit(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "STDERR_BYTES_MAX", 50)
    caplog.set_level("INFO", "accord.players")
    code = "asked(); sys.stderr.write('one\\ntwo\\n' + 'x' * 100 + '\\n'); sys.stderr.close(); write(1)"
    async with open_program(command(code), "Ann") as program:
        await ask(program)

    said = [record.message.partition(": ")[2] for record in caplog.records if record.levelname == "INFO"]
    warned = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert said == ["one", "two", "x" * 42]
    assert [text.partition(" wrote ")[2] for text in warned] == [
        "more than 50 bytes to standard error: the rest is dropped"
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("1 / 0", r"ended with exit code 1; it said: ZeroDivisionError: division by zero$"),
        (
            "sys.stderr.write('x\\n' * 100_000 + 'the end\\n'); sys.exit(2)",
            r"ended with exit code 2; it said: the end$",
        ),
        ("sys.stderr.write('\\33[2Jred\\7'); sys.exit(2)", r"it said: \[2Jred$"),
        ("sys.stderr.write('y' * 1000); sys.exit(2)", r"it said: y{200}$"),
        ("sys.exit(3)", r"ended with exit code 3$"),
        (
            "sys.stderr.write('TypeError: x is not a function\\n    at main.js:1\\n\\nNode.js v20\\n'); sys.exit(1)",
            r"it said: TypeError: x is not a function$",
        ),
    ],
)
async def test_a_program_that_crashes_is_told_of_with_its_last_words(code: str, reason: str) -> None:
    async with open_program(command(code), "Ann") as program:
        with pytest.raises(DecisionError, match=reason):
            await ask(program)


async def test_a_line_that_is_no_json_is_told_of_with_the_last_lines_of_complaint() -> None:
    code = "asked(); os.write(2, b'a\\nb\\n\\nc\\nd\\n'); os.close(2); print('no', flush=True); read()"
    async with open_program(command(code), "Ann") as program:
        with pytest.raises(DecisionError, match=r"no JSON: 'no'; it said: b / c / d$"):
            await ask(program)


async def test_the_whole_process_group_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.05)
    # A child that ignores everything but SIGKILL, as a shell's background job might. It holds a pipe open, whose other
    # end tells when it is gone.
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    code = f"""
import signal
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    held = os.open({str(tmp_path / "alive")!r}, os.O_WRONLY)
    asked(); write("held")
    os.close(0); os.close(1); os.close(2)
    time.sleep(60)
time.sleep(60)
"""
    try:
        async with open_program(command(code), "Ann") as program:
            assert await ask(program) == "held"
            assert select.select([alive], [], [], 0)[0] == []

        assert select.select([alive], [], [], 30)[0] == [alive]
        assert os.read(alive, 1) == b""
    finally:
        os.close(alive)


async def test_a_program_that_ends_by_itself_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GRACE_SECONDS", 60)
    with anyio.fail_after(30):
        async with open_program(command(ECHO), "Ann") as program:
            await ask(program)


async def test_an_error_within_is_not_wrapped_in_a_group() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with open_program(command(ECHO), "Ann"):
            raise KeyError("mine")


@pytest.mark.parametrize("words", ["/no/such/program", "./no-such-program --fast", os.devnull])
async def test_a_command_that_cannot_be_started_is_refused(words: str) -> None:
    with pytest.raises(UnknownPlayerError, match="exec:"):
        async with open_program(words, "Ann"):
            pass


async def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    target = tmp_path / "made"
    async with open_program(f"{command('asked(); write(sys.argv[1:])')} ; touch {target} $HOME", "Ann") as program:
        assert await ask(program) == [";", "touch", str(target), "$HOME"]

    assert not target.exists()


async def test_what_waits_for_a_program_is_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[bytes] = []
    async with open_program(command(ECHO), "Ann") as program:
        while not await program.has_started():
            await anyio.lowlevel.checkpoint()
        stdin = program._process.stdin
        assert stdin is not None
        write = stdin.send

        async def counted(piece: bytes) -> None:
            pieces.append(piece)
            await write(piece)

        monkeypatch.setattr(stdin, "send", counted)
        program.heard("one", {})
        program.heard("two", {})
        await ask(program)

    assert [piece.count(b"\n") for piece in pieces] == [2, 1]  # before it asks, it looks at what was said unasked
