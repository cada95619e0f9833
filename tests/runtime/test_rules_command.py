"""``accord rules``: harnesses over standard input and output."""

from __future__ import annotations

import io
import json
import sys

import pytest

from runtime.cli import main

MAP = '{"width":99,"height":99,"cities":[["A",[0,0]],["B",[1,1]],["C",[2,2]]],"connections":{"A":{"B":{"red":3}}}}'


def run(monkeypatch: pytest.MonkeyPatch, data: bytes, *words: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return main(("rules", *words))


@pytest.mark.parametrize("text", [f'"A" "B" {MAP}', f'\n"A""B"{MAP}\n\n', f'"A"\t"B"\r\n{MAP}'])
def test_values_one_after_another_are_read_with_and_without_blanks(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, text.encode(), "trains", "xmap") == 0
    assert capsys.readouterr().out == "true\n"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "3 values, not 0"),
        (b'"A" "Z" ' + MAP.encode(), "not cities of the map"),
        (b'"A" "B" {"width": 1}', "a map has width, height, cities and connections"),
        (b'"A"\n "B', "no JSON at line 2, column 2"),
        (b"\xff", "not UTF-8: byte 0"),
        (b"[" * 200_000, "nests too deep"),
        (b"1" * 10_000, "a number too long"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(
    data: bytes, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, data, "trains", "xmap") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert err.count("\n") == 1


def test_harnesses_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, b"", "trains") == 0
    out = capsys.readouterr().out
    assert [line.split()[1] for line in out.splitlines()[1:]] == [
        "xmap", "xlegal", "xstrategy", "xref", "xmanager", "xserver", "xbonus",
    ]  # fmt: skip
    assert run(monkeypatch, b"", "--json") == 0
    assert "trains" in json.loads(capsys.readouterr().out)["harnesses"]


@pytest.mark.parametrize(
    ("words", "told"),
    [(("chess",), "no rules of 'chess'"), (("../x",), "no rules of"), (("trains", "xfoo"), "has no harness 'xfoo'")],
)
def test_what_is_not_there_is_told_with_what_is(
    words: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, b"", *words) == 2
    assert told in capsys.readouterr().err
