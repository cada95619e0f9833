"""``accord docs``: documents are those of the specs; a change of a spec changes what it concerns and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.cli import main
from runtime.commands.docs import READ_BYTES_MAX

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "diagrams" / "gallery"
SEEDS = sorted((ROOT / "docs" / "seeds").glob("*.md"))
ALL = "md,html,schema,asyncapi,wire"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err + captured.out
        return code, captured.out, captured.err

    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_document_is_written_in_all_its_forms_and_can_be_checked(accord: Run, tmp_path: Path) -> None:
    code, out, _ = accord("docs", "tsuro", "-o", str(tmp_path), "--format", ALL, "--json")

    assert code == 0
    names = {Path(path).name for path in json.loads(out)["written"]}
    assert {"tsuro.md", "tsuro.html", "tsuro.schema.json", "tsuro-server.asyncapi.json"} <= names
    assert {"tsuro-server-main.svg", "tsuro-server-join-sequence.svg", "tsuro-client.svg"} <= names
    check = ("docs", "tsuro", "-o", str(tmp_path), "--check", "--format", ALL)
    assert accord(*check)[:2] == (0, "")
    page = tmp_path / "tsuro.html"
    page.write_text(page.read_text().replace("10 s", "11 s"))
    (tmp_path / "tsuro.schema.json").unlink()
    assert accord(*check)[:2] == (1, "tsuro.html is stale\ntsuro.schema.json is missing\n")


def test_the_gallery_s_documents_are_those_of_the_shipped_specs(accord: Run) -> None:
    assert accord("docs", "--all", "-o", str(GALLERY), "--check", "--format", ALL)[:2] == (0, "")


def test_what_further_lies_in_a_folder_is_kept_up_to_date_unasked(accord: Run, tmp_path: Path) -> None:
    there = ("docs", "--all", "-o", str(tmp_path))
    assert accord(*there, "--format", "asyncapi")[0] == 0
    assert accord(*there, "--format", "schema")[0] == 0
    (tmp_path / "tsuro-server.asyncapi.json").write_text("{}")

    index = (tmp_path / "README.md").read_text()
    found = accord(*there, "--check")[1].splitlines()

    assert "[JSON Schema](tsuro.schema.json) · [AsyncAPI of server](tsuro-server.asyncapi.json)" in index
    assert "tsuro.md is missing" in found
    assert [line for line in found if "asyncapi" in line or "schema" in line] == ["tsuro-server.asyncapi.json is stale"]
    assert not any("schema" in line for line in accord("docs", "--all", "-o", str(tmp_path / "new"), "--check")[1:2])


def test_the_pages_beside_the_protocol_documents_show_what_runs(accord: Run) -> None:
    assert len(SEEDS) == 5
    assert accord("docs", "--fill", *map(str, SEEDS), str(ROOT / "README.md"), "--check")[:2] == (0, "")


@pytest.mark.parametrize("page", SEEDS, ids=lambda path: str(path.stem))
def test_a_page_beside_a_protocol_document_has_a_chart_for_each_phase_and_its_differences(page: Path) -> None:
    text = page.read_text()

    phases = text.split("\n## ")[1:-2]
    assert len(phases) >= 3
    assert all("**The document**" in phase and "<!-- accord: c" in phase for phase in phases)
    assert "\n## Differences\n" in text
    assert text.count("<!-- accord: end -->") == text.count("<!-- accord: ") / 2


def test_a_stale_part_is_found_and_written_anew(accord: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Mine\n\n<!-- accord: course tsuro server join -->\nold\n<!-- accord: end -->\n")

    assert accord("docs", "--fill", str(page), "--check")[:2] == (1, "page.md is stale\n")
    assert accord("docs", "--fill", str(page))[0] == 0
    assert "|<-- JOIN from peer --|" in page.read_text()
    assert accord("docs", "--fill", str(page), "--check")[:2] == (0, "")


# One change in a file, and what may change: the stems of drawings, and words of the documents' lines that change.
CHANGES = [
    (
        "reply: 10 s\n", "reply: 12 s\n",
        {"tsuro-server-initial_placement", "tsuro-server-intermediate_placement",
         "tsuro-server-initial_placement-sequence", "tsuro-server-intermediate_placement-sequence", "tsuro-server"},
        "reply",
    ),
    (
        "STARTED:   started", "STARTED:   begun",
        set(),
        "STARTED",
    ),
    (
        "    playing: {receive: {INTER_REQ: intermediate}}",
        "    playing: {receive: {INTER_REQ: intermediate, STARTED: stay}}",
        {"tsuro-client-main", "tsuro-client-main-sequence", "tsuro-client"},
        "client",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "drawings", "word"), CHANGES, ids=["limit", "message", "state"])
def test_a_change_in_a_spec_changes_the_drawings_and_tables_it_concerns_and_nothing_else(
    before: str, after: str, drawings: set[str], word: str, accord: Run, tmp_path: Path
) -> None:
    spec = tmp_path / "tsuro.yaml"
    shutil.copy(ROOT / "specs" / "tsuro.yaml", spec)
    folders = tmp_path / "was", tmp_path / "now"
    for folder in folders:
        assert accord("draw", str(spec), "-o", str(folder), "--format", "dot,txt,mmd,puml")[0] == 0
        assert accord("docs", str(spec), "-o", str(folder), "--format", ALL)[0] == 0
        assert spec.read_text().count(before) == 1 or folder is folders[1]
        spec.write_text(spec.read_text().replace(before, after))

    was, now = map(contents, folders)
    assert was.keys() == now.keys()
    changed = {name for name in was if was[name] != now[name]}
    drawn = {name.partition(".")[0] for name in changed if name.endswith((".dot", ".svg", ".txt", ".mmd", ".puml"))}
    assert drawn == drawings
    assert {"tsuro.md", "tsuro.html"} <= changed
    for name in ("tsuro.md",):
        pairs = zip(was[name].decode().splitlines(), now[name].decode().splitlines(), strict=False)
        tables = [(old, new) for old, new in pairs if old != new and old.startswith("| ") and new.startswith("| ")]
        assert tables or word == "client"
        if len(was[name].splitlines()) == len(now[name].splitlines()):
            assert all(word in old for old, new in tables)
    schemas = {name for name in changed if name.endswith(".json")}
    assert schemas == ({"tsuro.schema.json", "tsuro-server.asyncapi.json"} if word == "STARTED" else set())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("docs",), "docs needs specs, or --all"),
        (("docs", "tsuro", "--all"), "docs takes either specs or --all, not both"),
        (("docs", "tsuro", "--format", "pdf"), "--format 'pdf' is none of md, html, schema, asyncapi"),
        (("docs", "tsuro", "--fill", "x.md"), "--fill names the specs in the files: leave them out here"),
        (("docs", "--fill", "./none.md"), "none.md"),
        (("docs", "tsuroo"), "did you mean 'tsuro'?"),
        (("docs", "--fill", "/dev/zero"), "/dev/zero: this is no file that a document could stand in"),
        (("docs", "--fill", "/dev/zero", "--check"), "/dev/zero: this is no file that a document could stand in"),
        (("docs", "--fill", str(ROOT)), f"{ROOT}: Is a directory"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(words: tuple[str, ...], text: str, accord: Run) -> None:
    code, out, err = accord(*words)

    assert (code, out) == (2, "")
    assert text in err
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_nothing_is_read_of_a_pipe_and_not_all_of_what_is_longer_than_a_document(accord: Run, tmp_path: Path) -> None:
    pipe, long = tmp_path / "pipe.md", tmp_path / "long.md"
    os.mkfifo(pipe)
    with long.open("wb") as file:
        file.truncate(READ_BYTES_MAX + 1)  # a field: it takes no room on the disk

    no_file = "this is no file that a document could stand in"
    too_long = f"the document is longer than {READ_BYTES_MAX} bytes"
    assert accord("docs", "--fill", str(pipe)) == (2, "", f"accord: {pipe}: {no_file}\n")
    assert accord("docs", "--fill", str(long)) == (2, "", f"accord: {long}: {too_long}\n")


def test_a_part_that_asks_for_what_there_is_not_names_its_file_and_line(accord: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- accord: types tsuroo -->\n<!-- accord: end -->\n")

    code, _, err = accord("docs", "--fill", str(page))
    assert code == 2
    assert str(page) in err
    assert "did you mean 'tsuro'?" in err
    assert page.read_text().count("\n") == 2, "nothing is written"


@pytest.mark.parametrize("command", ["draw", "docs"])
def test_two_specs_that_would_write_the_same_files_are_refused(accord: Run, tmp_path: Path, command: str) -> None:
    for folder, protocol in (("one", "chat"), ("two", "chat")):
        (tmp_path / folder).mkdir()
        text = (ROOT / "specs" / "sticks.yaml").read_text().replace("protocol: sticks", f"protocol: {protocol}")
        (tmp_path / folder / "chat.yaml").write_text(text)
    one, two = (str(tmp_path / folder / "chat.yaml") for folder in ("one", "two"))

    code, out, err = accord(command, one, two, "-o", str(tmp_path / "out"))

    assert (code, out) == (2, "")
    assert f"{one} and {two} would write the same files" in err
    assert not (tmp_path / "out").exists()
    assert accord(command, one, one, "-o", str(tmp_path / "out"))[0] == 0
