"""Of a spec that is well a check says one line; the rest is told by --why, and in JSON."""

from __future__ import annotations

import json

import pytest

from runtime.cli import main


def test_a_spec_that_is_well_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["santorini-official", "sticks", "trains", "tsuro"]

    assert main(["check", *names]) == 0
    *lines, last = capsys.readouterr().err.splitlines()

    assert [line.partition(":")[0] for line in lines] == names
    assert all(": proved with 1, 2 and 3 clients" in line for line in lines)
    assert lines[-1].endswith("notes: --why")
    assert last == "no problems in 4 specs"


def test_the_rest_is_told_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "tsuro", "--why"]) == 0
    told = capsys.readouterr().err
    assert main(["check", "tsuro", "--json"]) == 0
    explored = json.loads(capsys.readouterr().out)["specs"][0]["explored"]

    for word, key in (("reduced", "reduced"), ("assumed", "assumed"), ("note", "notes"), ("rests on", "rests_on")):
        assert f"tsuro: {word}: " in told
        assert explored[key]
    assert told.splitlines()[-1] == "no problems in tsuro"


def test_what_is_not_known_is_told_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "tsuro", "--clients", "2"]) == 3

    err = capsys.readouterr().err
    assert "tsuro: unknown: no run gets past main.start_up" in err
    assert "reduced:" not in err
