"""Journals that are damaged, crafted or no journals at all: one clear sentence with the line, never a fault of ours."""

from __future__ import annotations

import os
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines.effects import Ended
from machines.engine.session import Program
from machines.parser.loader import RulesError, SpecNotFound, load, rules_modules
from machines.parser.settings import SettingError
from machines.problems import SpecError
from runtime.cli import main
from runtime.journal import reading as journal_reading
from runtime.journal.reading import NESTED_MAX, read_journal
from runtime.journal.replay import ReplayError, replay
from runtime.journal.writing import JournalError, fault_text, open_journal
from tests.runtime.test_replay import Recorder, head

TSURO = Program(load("tsuro"), "server", rules_modules(load("tsuro")))
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a game in which one of three players is heard once and bytes that are no text have come."""
    journal = open_journal(tmp_path_factory.mktemp("good") / "run.jsonl", head())
    run = Recorder(TSURO, journal)
    for peer in range(3):
        run.connect()
        run.say(peer, b'"player%d"\n' % peer)
    run.say(1, b"\xff\n")
    while run.session.ended is None:
        run.wait(30)
    journal.close()
    return journal.path


LINE = b'{"t":200.0,"in":"tick","took":[],"out":[]}'
DEEP = 200_000

DAMAGED = [
    (b'{"t":200.0,"in":"tick","took":5,"out":[]}', "took and out are lists"),
    (b'{"t":200.0,"in":"tick","took":[],"out":{}}', "took and out are lists"),
    (b'{"t":200.0,"in":"tick","took":[],"out":' + b"[" * DEEP + b"]" * DEEP + b"}", f"nested deeper than {NESTED_MAX}"),
    (b'{"t":200.0,"in":"answer","number":0,"value":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}", "nested deeper"),
    (b'{"t":200.0,"in":"bytes","peer":0,"raw":"\xff\xfe","took":[],"out":[]}', "this line is damaged"),
    (b'{"t":200.0,"in":"bytes","peer":-1,"raw":"x","took":[],"out":[]}', "Expected `int` >= 0"),
    (b'{"t":200.0,"in":"bytes","peer":0,"took":[],"out":[]}', "bytes needs what came, raw"),
    (b'{"t":200.0,"in":"bytes","peer":0,"raw":{"b64":"/w*="},"took":[],"out":[]}', "this line is damaged"),
    (b'{"t":200.0,"in":"bytes","peer":0,"raw":{"b65":"/w=="},"took":[],"out":[]}', "raw is neither"),
    (b'{"t":200.0,"in":"lost","took":[],"out":[]}', "lost needs a peer"),
    (b'{"t":200.0,"in":"answer","value":{"body":1},"took":[],"out":[]}', "answer needs the number"),
    (b'{"t":200.0,"in":"answer","number":0,"value":7,"took":[],"out":[]}', "the value of an answer is"),
    (b'{"t":200.0,"in":"jump","took":[],"out":[]}', "this line is damaged"),
    (b'{"t":1e999,"in":"tick","took":[],"out":[]}', "this line is damaged"),
    (b"[]", "this line is damaged"),
]


@pytest.mark.parametrize(("line", "text"), DAMAGED, ids=[f"{line[:40]!r}" for line, _ in DAMAGED])
def test_a_damaged_line_is_told_by_file_and_number(
    line: bytes, text: str, good: Path, tmp_path: Path, capsys: Capsys
) -> None:
    lines = good.read_bytes().splitlines()
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(b"\n".join([*lines[:4], line, *lines[4:]]) + b"\n")

    code = main(["replay", str(path)])
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    assert err.startswith(f"accord: {path}:5: ")
    assert text in err
    assert err.count("\n") == 1


def test_what_stands_after_an_end_is_told(good: Path, tmp_path: Path) -> None:
    lines = good.read_bytes().splitlines()
    path = tmp_path / "longer.jsonl"
    path.write_bytes(b"\n".join([*lines, LINE]) + b"\n")
    with pytest.raises(JournalError, match="there is a line after the one that ends the journal"):
        replay(path)

    path.write_bytes(b"\n".join([*lines[:-1], LINE]) + b"\n")
    with pytest.raises(ReplayError, match="this session has ended before"):
        replay(path)

    path.write_bytes(b"\n".join([*lines[:-1], lines[-1].replace(b'"lines":', b'"lines":1')]) + b"\n")
    with pytest.raises(ReplayError, match="its end says that it has 1"):
        replay(path)


def test_a_session_starts_once(good: Path, tmp_path: Path) -> None:
    lines = good.read_bytes().splitlines()
    path = tmp_path / "twice.jsonl"
    path.write_bytes(b"\n".join([*lines[:2], *lines[1:]]) + b"\n")

    with pytest.raises(ReplayError, match="line 3: this session has started before"):
        replay(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_what_is_no_file_is_no_journal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(JournalError, match=r"no file that a journal could stand in|Is a directory"):
            read_journal(path)
    with pytest.raises(JournalError, match="is no path"):
        read_journal(tmp_path / "a\0b")


def test_a_fault_of_the_runtime_is_recorded_and_told_plainly(tmp_path: Path, capsys: Capsys) -> None:
    journal = open_journal(tmp_path / "run.jsonl", head())
    run = Recorder(TSURO, journal)
    run.connect()
    why = fault_text(OSError("the kernel is out of sorts"))
    journal.write("fault", run.now, (), [Ended(None, why)], why=why)
    journal.close()

    code = main(["replay", str(journal.path)])
    out, err = capsys.readouterr()

    assert (code, err) == (0, "")
    assert "ended: a fault of this program, not of a peer: OSError: the kernel is out of sorts\n" in out


INSERTED = [*(line for line, _ in DAMAGED if len(line) < 1000), LINE, b"{}"]
NUMBERS = [b"-1", b"0", b"9", b"1e300", b"99999999999999999999", b"null", b'"x"', b"[]"]
CLEAN = (JournalError, ReplayError, SpecError, SpecNotFound, SettingError, RulesError)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_done_to_a_journal_has_a_clean_answer(data: st.DataObject, good: Path, tmp_path: Path) -> None:
    lines = good.read_bytes().splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        deed = data.draw(st.sampled_from(["drop", "double", "swap", "byte", "cut", "insert", "number"]))
        if deed == "drop" and len(lines) > 1:
            del lines[at]
        elif deed == "double":
            lines.insert(data.draw(st.integers(0, len(lines))), lines[at])
        elif deed == "swap":
            lines[at], lines[0] = lines[0], lines[at]
        elif deed == "byte" and lines[at]:
            index = data.draw(st.integers(0, len(lines[at]) - 1))
            changed = bytes([data.draw(st.integers(0, 255))])
            lines[at] = lines[at][:index] + changed + lines[at][index + 1 :]
        elif deed == "cut":
            lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
        elif deed == "insert":
            lines.insert(at, data.draw(st.sampled_from(INSERTED)))
        elif deed == "number":
            number = data.draw(st.sampled_from(NUMBERS))
            lines[at] = lines[at].replace(data.draw(st.sampled_from([b":0", b":1", b":100.0"])), b":" + number)
    path = tmp_path / "fuzzed.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")

    with suppress(*CLEAN):  # all that has a sentence of its own; anything else is a fault of ours
        str(replay(path, force=True).difference)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000, 1 << 20])
@pytest.mark.parametrize("cut", [0, 1, 40])
def test_a_journal_is_read_the_same_whatever_the_blocks(
    size: int, cut: int, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = good.read_bytes()
    path = tmp_path / "cut.jsonl"
    path.write_bytes(content[: len(content) - cut])
    whole = read_journal(path)
    monkeypatch.setattr(journal_reading, "BLOCK_BYTES", size)

    assert read_journal(path) == whole
    assert whole.complete is (cut < 2)


def test_a_line_without_end_is_not_read_for_ever(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "endless.jsonl"
    path.write_bytes(good.read_bytes() + b"x" * 5000)
    monkeypatch.setattr(journal_reading, "READ_BYTES_MAX", 4000)
    monkeypatch.setattr(journal_reading, "BLOCK_BYTES", 1000)

    with pytest.raises(JournalError, match="a line is longer than 4000 bytes"):
        replay(path)
    with pytest.raises(JournalError, match="the journal is longer than 4000 bytes"):
        read_journal(path)


def test_a_replay_keeps_no_more_of_a_long_journal_than_a_block(tmp_path: Path) -> None:
    """What is kept of 20,000 lines is what is kept of 2,000: it may be of any length."""
    kept = []
    for lines in (2_000, 20_000):
        journal = open_journal(tmp_path / f"{lines}.jsonl", head())
        run = Recorder(TSURO, journal)
        for _ in range(lines):
            run.wait(0)
        journal.close()
        tracemalloc.start()
        replay(journal.path)
        kept.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert kept[1] < kept[0] + journal_reading.BLOCK_BYTES * 4
