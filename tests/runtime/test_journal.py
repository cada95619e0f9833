"""The journal: what is written can be read again, byte for byte, whatever came and however the host ended."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Note, Pause, Received, Resume, Send
from machines.values import Peer, Record
from runtime.journal.reading import read_journal
from runtime.journal.writing import (
    FLUSH_LINES,
    FLUSH_SECONDS,
    FORMAT,
    Head,
    Journal,
    JournalError,
    answer_of,
    answer_value,
    bytes_of,
    default_folder,
    open_journal,
    raw_of,
    settled,
    shorts,
)


def head(**facts: Any) -> Head:
    return Head(FORMAT, "1", "tsuro", "tsuro", "ab", "server", 7, **facts)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = open_journal(tmp_path / "run.jsonl", head())
    yield made
    made.close()


@given(st.binary(max_size=200))
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    assert bytes_of(json.loads(json.dumps(raw_of(data)))) == data


def test_bytes_that_are_text_are_readable_in_the_journal() -> None:
    assert raw_of('"Zoë"\n'.encode()) == '"Zoë"\n'
    assert raw_of(b"\xff") == {"b64": "/w=="}


EFFECTS: list[tuple[Effect, list[Any]]] = [
    (Send(1, b'"red"\n', "TOKEN"), ["send", 1, "TOKEN", '"red"\n']),
    (Send(1, b"\x00\xff", "TOKEN"), ["send", 1, "TOKEN", {"b64": "AP8="}]),
    (Drop(2, "it cheats"), ["drop", 2, "it cheats"]),
    (Pause(3), ["pause", 3]),
    (Resume(3), ["resume", 3]),
    (Ask(1, "move", (("x", ((1, None),)),), ("MOVE",), 2.5), ["ask", 1, "move", [["x", [[1, None]]]], ["MOVE"], 2.5]),
    (Cancel(1), ["cancel", 1]),
    (Note("info", "late", 4), ["note", "info", "late", 4]),
    (Ended(Peer(1, Record(a="b")), None), ["ended", {"number": 1, "fields": {"a": "b"}}, None]),
]


@pytest.mark.parametrize(("effect", "short"), EFFECTS, ids=lambda value: type(value).__name__)
def test_every_effect_has_a_short_form(effect: Effect, short: list[Any]) -> None:
    assert settled(shorts([effect])) == [short]


def test_what_was_heard_is_not_written_twice() -> None:
    assert shorts([Received(1, "MOVE", {"x": 1})]) == []


def test_a_run_is_read_as_it_was_written(journal: Journal) -> None:
    journal.write("start", 1.25, [], [], seed=7, my={"name": "Ann"})
    journal.write("connect", 1.5, [], [Note("info", "hello")], peer=0)
    journal.write("bytes", 2.0, [("main", "named", "JOIN", ".end")], [Drop(0, "no")], peer=0, data=b"\xff\n", lag=0.25)
    journal.write("answer", 3.0, [], [], number=1, value=("MOVE", {"x": 1}))
    journal.write("failed", 4.0, [], [], number=2, why="it crashed")
    journal.write("lost", 5.0, [], [], peer=0, session=3)
    journal.write("tick", 1 / 3, [], [Ended(None, "broken")])
    journal.close()

    recorded = read_journal(journal.path)

    assert recorded.complete
    assert (recorded.head.seed, recorded.head.role) == (7, "server")
    assert [line.kind for line in recorded.lines] == ["start", "connect", "bytes", "answer", "failed", "lost", "tick"]
    start, _, came, answer, failed, lost, tick = recorded.lines
    assert (start.seed, start.my) == (7, {"name": "Ann"})
    assert (bytes_of(cast(Any, came.raw)), came.took, came.out, came.lag) == (
        b"\xff\n",
        [["main", "named", "JOIN", ".end"]],
        [["drop", 0, "no"]],
        0.25,
    )
    assert answer_of(answer.value) == ("MOVE", {"x": 1})
    assert (failed.number, failed.why) == (2, "it crashed")
    assert lost.session == 3
    assert tick.t == 1 / 3


@pytest.mark.parametrize("value", [("MOVE", {"x": [1]}), ["MOVE", {"x": 1}], {"message": "MOVE"}, None, "text", 3])
def test_an_answer_keeps_its_form(value: Any) -> None:
    assert answer_of(json.loads(json.dumps(answer_value(value)))) == value


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, {(1, 2): 3}, 1 << 70, "\ud800", print], ids=lambda value: type(value).__name__
)
def test_an_answer_that_no_json_holds_does_not_break_the_journal(value: object, journal: Journal) -> None:
    journal.write("answer", 1.0, [], [], number=1, value=value)
    journal.write("tick", 2.0, [], [])
    journal.close()

    assert [line.kind for line in read_journal(journal.path).lines] == ["answer", "tick"]


def deep() -> Any:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    return value


def test_an_answer_of_any_depth_does_not_break_the_journal(journal: Journal) -> None:
    journal.write("answer", 1.0, [], [], number=1, value=deep())
    journal.close()

    assert read_journal(journal.path).complete


def test_lines_are_out_at_once_when_a_session_ends(journal: Journal) -> None:
    journal.write("start", 1.0, [], [])
    journal.write("tick", 1.1, [], [])
    assert [line.kind for line in read_journal(journal.path).lines] == ["start"]
    journal.write("tick", 1.2, [], [Ended(None, None)])

    assert [line.kind for line in read_journal(journal.path).lines] == ["start", "tick", "tick"]


@pytest.mark.parametrize(
    "moments",
    [[1.0, 1.1, 1.0 + FLUSH_SECONDS], [1.0] * (FLUSH_LINES + 1)],
    ids=["half a second later", "very many"],
)
def test_lines_do_not_wait_for_long(moments: list[float], journal: Journal) -> None:
    for moment in moments:
        journal.write("tick", moment, [], [])

    assert len(read_journal(journal.path).lines) == len(moments)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_passed_over(cut: int, journal: Journal) -> None:
    journal.write("start", 1.0, [], [])
    journal.write("bytes", 2.0, [], [], peer=0, data=b"a message that is longer than the cut" * 3)
    journal.flush()
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[:-cut])

    recorded = read_journal(journal.path)

    # The cut of one byte takes the line end only: the line itself is whole.
    assert [line.kind for line in recorded.lines] == (["start", "bytes"] if cut == 1 else ["start"])
    assert not recorded.complete


def test_a_line_damaged_in_the_middle_is_told_by_its_number(journal: Journal) -> None:
    journal.write("start", 1.0, [], [])
    journal.write("tick", 2.0, [], [])
    journal.close()
    lines = journal.path.read_bytes().split(b"\n")
    lines[1] = lines[1][:-5]
    journal.path.write_bytes(b"\n".join(lines))

    with pytest.raises(JournalError, match=r"run\.jsonl:2: this line is damaged"):
        read_journal(journal.path)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "this is no journal of a run"),
        (b"hello\n", "this is no journal of a run"),
        (b'{"a": 1}\n', "this is no journal of a run"),
        (b"\xff\xfe\n", "this is no journal of a run"),
        (
            b'{"journal":2,"accord":"9","protocol":"p","spec":"p","sha256":"","role":"r","seed":1}\n',
            "the journal has format 2, this program reads format 1",
        ),
    ],
)
def test_what_is_no_journal_is_refused(content: bytes, text: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)

    with pytest.raises(JournalError, match=text):
        read_journal(path)


def test_a_journal_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="No such file"):
        read_journal(tmp_path / "none")


def test_a_journal_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text("precious")

    with pytest.raises(JournalError, match="there is a file already"):
        open_journal(tmp_path / "run.jsonl", head())
    assert (tmp_path / "run.jsonl").read_text() == "precious"


def test_journals_of_one_second_in_one_folder_have_different_names(tmp_path: Path) -> None:
    journals = [open_journal(tmp_path, head()) for _ in range(3)]

    assert len({journal.path for journal in journals}) == 3
    assert all(journal.path.parent == tmp_path for journal in journals)
    for journal in journals:
        journal.close()


def test_the_first_line_is_dated(journal: Journal) -> None:
    journal.write("start", 1.0, [], [])
    journal.close()

    assert datetime.fromisoformat(read_journal(journal.path).head.started).tzinfo is not None


def test_journals_go_where_the_user_keeps_states(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "accord" / "journals"
    monkeypatch.setenv("XDG_STATE_HOME", "relative/paths/are/ignored")
    assert default_folder() == Path.home() / ".local" / "state" / "accord" / "journals"


def test_a_folder_that_cannot_be_made_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(JournalError, match="cannot be made"):
        open_journal(tmp_path / "file" / "run.jsonl", head())


class FullDisk:
    closed = False

    def write(self, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None:
        self.closed = True


def test_a_full_disk_ends_the_journal_and_not_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = Journal(tmp_path / "run.jsonl", cast(Any, FullDisk()), head())
    for moment in range(5):
        journal.write("tick", float(moment), [], [])
    journal.close()

    assert journal.broken is not None
    assert [record.message for record in caplog.records] == [f"the journal ends here: {journal.broken}"]


def test_at_its_limit_a_journal_ends_behind_a_whole_line_and_says_how_to_raise_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = open_journal(tmp_path / "run.jsonl", head(), limit_bytes=20_000)
    for moment in range(2000):
        journal.write("bytes", float(moment), [], [], peer=0, data=b"PING\r\n")
    journal.close()
    size = journal.path.stat().st_size
    recorded = read_journal(journal.path)

    assert 20_000 - 100 < size <= 20_000
    assert journal.path.read_bytes().endswith(b"}\n")
    assert [line.t for line in recorded.lines] == [float(moment) for moment in range(len(recorded.lines))]
    assert not recorded.complete
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", f"the journal ends here: {journal.cut}")
    ]
    why = "its limit of 20000 bytes is reached; the run goes on, and a greater --journal-limit keeps more"
    assert journal.cut == f"{journal.path}: {why}"


@pytest.mark.parametrize("spare", [0, -1])
def test_a_journal_that_just_fits_has_its_end_and_one_byte_less_takes_it(spare: int, tmp_path: Path) -> None:
    def written(name: str, **how: int) -> Journal:
        made = open_journal(tmp_path / name, head(), **how)
        for moment in range(600):
            made.write("bytes", float(moment), [], [], peer=0, data=b"PING\r\n")
        made.close()
        return made

    # Its own date is as long as any other.
    size = written("whole.jsonl").path.stat().st_size
    journal = written("limited.jsonl", limit_bytes=size + spare)

    assert read_journal(journal.path).complete is (spare == 0)
    assert len(read_journal(journal.path).lines) == 600
    assert (journal.cut is None) is (spare == 0)


class SlowDisk:
    """Takes three bytes at a time, as a nearly full disk may."""

    closed = False

    def __init__(self) -> None:
        self.content = b""

    def write(self, data: memoryview) -> int:
        self.content += bytes(data[:3])
        return len(data[:3])

    def close(self) -> None:
        self.closed = True


def test_a_write_that_takes_only_a_part_is_gone_on_with(tmp_path: Path) -> None:
    disk = SlowDisk()
    journal = Journal(tmp_path / "run.jsonl", cast(Any, disk), head())
    journal.write("tick", 1.0, [], [])
    journal.close()
    (tmp_path / "run.jsonl").write_bytes(disk.content)

    assert read_journal(tmp_path / "run.jsonl").complete


def test_a_run_that_never_began_leaves_no_journal(journal: Journal) -> None:
    journal.close()

    assert not journal.path.exists()


def test_a_journal_closed_twice_has_one_end(journal: Journal) -> None:
    journal.write("start", 1.0, [], [])
    journal.close()
    journal.close()

    assert journal.path.read_text().count('"end":true') == 1
