"""Options that exclude one another, names that fit no message, journals without an end: each is told at once."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from machines.parser.loader import load
from runtime.cli import main
from runtime.commands.try_ import LINE_MAX
from runtime.journal.writing import Head, Journal, open_journal

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


JOIN = ("join", "tsuro", "127.0.0.1:1")
CONTRADICTIONS = [
    *((("check", "tsuro", "--json", "--format", form), f"--json and --format {form}") for form in ("text", "junit")),
    (("check", "tsuro", "--watch", "--json", "--format", "sarif"), "--json and --format sarif"),
    *(((*words, "--journal", "j", "--no-journal"), "--journal and --no-journal") for words in
      (("play", "tsuro", "-q"), ("serve", "tsuro"), JOIN)),
    *(((*words, "--journal-limit", "0"), "--journal-limit 0 is less than 1 MiB: --no-journal keeps none") for words in
      (("play", "tsuro", "-q"), ("serve", "tsuro"), JOIN)),
    (("docs", "--fill", "a.md", "--format", "html"), "--fill writes Markdown into the files that it names"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "text"), CONTRADICTIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_options_that_contradict_one_another_are_one_sentence(
    words: tuple[str, ...], text: str, accord: Run, tmp_path: Path
) -> None:
    code, out, err = accord(*words)

    assert (code, out) == (2, "")
    assert err.startswith(f"accord: {text}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("--json",), ("--format", "json"), ("--json", "--format", "json")])
def test_json_may_be_asked_for_twice(words: tuple[str, ...], accord: Run) -> None:
    code, out, _ = accord("check", "tsuro", "--clients", "0", *words)

    assert (code, json.loads(out)["ok"]) == (0, True)


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "name", "message"),
    [
        ("sticks", "Ann B", "HELLO"),
        ("trains", "player1", "name"),
        ("tsuro", "x" * 101, "JOIN"),
        ("santorini-rulecheck", "Ann", "player_name"),  # sent as `me`, which is `my.name`
    ],
)
def test_a_name_that_fits_no_message_is_told_before_anybody_connects(
    spec: str, name: str, message: str, accord: Run
) -> None:
    code, out, err = accord("join", spec, "127.0.0.1:1", "--name", name)

    assert (code, out) == (2, "")
    assert err.startswith(f"accord: --name {name!r} does not fit {message}: expected ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("spec", "name"), [("sticks", "ann"), ("smtp", "Ann B"), ("tsuro", "Ann B")])
def test_a_name_that_fits_comes_as_far_as_the_network(spec: str, name: str, accord: Run) -> None:
    code, _, err = accord("join", spec, "127.0.0.1:1", "--name", name)

    assert code == 4
    assert "connection refused" in err


RENAMED = """protocol: renamed
title: a client that may be given another name, and sends that
connects: {client: server}
types: {Short: {string: "[a-z]{1,3}"}}
messages:
  client:
    HI: {hi: $name string}
    IT: {it: $short Short}
  server:
    BE: {be: $other Short}
roles:
  server:
    main(client):
      named: {await: client, within: 5 s, receive: {HI: {send: BE('ann'), then: told}}, fault: gone}
      told: {await: client, within: 5 s, receive: {IT: gone}, fault: gone}
      gone: {return: null}
  client:
    main:
      always: {within: 10 s}
      come: {let: {me: my.name}, send: HI(me), then: waiting}
      waiting: {receive: {BE: {let: {me: other}, then: called}}}
      called: {send: IT(me), return: null}
"""


def test_a_name_that_is_another_by_then_is_not_held_against_the_person(accord: Run, tmp_path: Path) -> None:
    path = tmp_path / "renamed.yaml"
    path.write_text(RENAMED)
    assert load(str(path)).protocol == "renamed"

    assert accord("join", str(path), "127.0.0.1:1", "--name", "a long name")[0] == 4


# -- journals ----------------------------------------------------------------------------------------------------------


RULED = """protocol: ruled
rules: [NAME]
connects: {client: server}
messages: {client: {HI: hi}}
roles:
  server: {main(client): {start: {await: client, within: 5 s, receive: {HI: {return: null}}, fault: {return: null}}}}
  client: {main: {come: {send: HI, return: null}}}
"""
BROKEN = [("raise RuntimeError('oh')", "RuntimeError: oh"), ("raise SystemExit(5)", "SystemExit: 5")]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_rules_that_cannot_be_imported_are_the_person_s_to_mend(
    text: str, said: str, accord: Run, tmp_path: Path
) -> None:
    name = f"broken{abs(hash(text))}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(text)
    (tmp_path / name / "inner.py").write_text("")
    (tmp_path / "ruled.yaml").write_text(RULED.replace("NAME", name))

    assert accord("check", "./ruled.yaml", "--rules", f"{name}.inner") == (
        2, "", f"accord: --rules {name}.inner: the package that it is in cannot be imported: {said}\n"
    )  # fmt: skip
    code, _, err = accord("check", "./ruled.yaml", "--rules", name)
    assert (code, f"the rules '{name}' can not be imported: {said}" in err) == (2, True)


def test_a_file_longer_than_memory_is_not_read_to_show_a_line_of_it(
    accord: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.yaml"
    with path.open("wb") as file:
        file.write(b"protocol: long\n")
        file.truncate(1 << 40)  # a field: it takes no room on the disk

    code, out, _ = accord("check", str(path))

    assert code == 2
    assert "long.yaml:1:1: A109 the file is longer than 1048576 bytes" in out
    assert "    1 | protocol: long" in out


def test_a_line_of_standard_input_without_an_end_is_one_sentence(accord: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x" * (LINE_MAX + 1)))

    code, _, err = accord("try", "sticks")

    assert code == 2
    assert err.endswith(f"accord: standard input: a line has at most {LINE_MAX} characters\n")


def test_a_game_that_can_keep_its_journal_no_more_says_so(accord: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runtime.journal.writing.Journal.write", full)

    code, _, err = accord("play", "sticks", "-q", "--player", "random", "--player", "random")

    assert code == 0
    assert "the journal failed and is not kept any more: OSError: [Errno 28] No space left on device" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--log", "warning"), "WARNING: the journal ends here: "), ((), "the journal has no end: ")],
    ids=["logged", "noted"],
)
def test_a_journal_cut_at_its_limit_is_told_of_once_whatever_is_logged(
    words: tuple[str, ...], said: str, accord: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limited(where: Path, head: Head, *, limit_bytes: int) -> Journal:
        assert limit_bytes == 3 << 20
        return open_journal(where, head, limit_bytes=4000)

    monkeypatch.setattr("runtime.commands.journals.open_journal", limited)
    journal = tmp_path / "game.jsonl"
    players = ("--player", "random") * 3
    kept = ("--journal", str(journal), "--journal-limit", "3")
    code, _, err = accord("play", "tsuro", "--seed", "1", "-q", *players, *kept, *words)

    assert code == 0
    limit = "its limit of 4000 bytes is reached; the run goes on, and a greater --journal-limit keeps more"
    assert [line for line in err.splitlines() if limit in line] == [f"{said}{journal}: {limit}"]
    code, out, _ = accord("replay", str(journal))
    assert code == 3
    assert "because it reached its limit, or " in out.splitlines()[-1]


def test_a_journal_without_its_end_is_undetermined(accord: Run, tmp_path: Path) -> None:
    journal = tmp_path / "game.jsonl"
    players = ("--player", "random") * 3
    assert accord("play", "tsuro", "--seed", "1", "-q", *players, "--journal", str(journal))[0] == 0
    assert accord("replay", str(journal))[0] == 0
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))

    code, out, _ = accord("replay", str(journal))
    assert code == 3
    assert "inputs, all agree\n" in out
    assert out.splitlines()[-1].startswith("undetermined: the journal has no end, because ")

    code, out, _ = accord("replay", str(journal), "--json")
    facts = json.loads(out)
    assert (code, facts["agrees"], facts["complete"]) == (3, True, False)

    journal.write_text("".join(lines[:-1]).replace('\\"white\\"', '\\"green\\"', 1))
    assert accord("replay", str(journal))[0] == 1, "a difference is one, with or without an end"


def test_whom_a_client_is_connected_with_has_its_name_in_the_log(accord: Run) -> None:
    code, _, err = accord("play", "sticks", "--players", "2", "--seed", "1", "--no-journal", "--log", "info")

    assert code == 0
    told = [line for line in err.splitlines() if line.startswith("INFO: player ")]
    assert told == [f"INFO: player {number}: host is dropped: the session is over" for number in (1, 2)]
