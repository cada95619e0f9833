"""`accord lsp`, as a client library speaks with it: over standard input and output, and what it costs."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pip install 'accord[lsp]': nothing here speaks to an editor without pygls")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from runtime.editor.open_spec import OpenSpec
from runtime.editor.server import QUIET_SECONDS, diagnostic, place, position
from tests.runtime.editor.test_names import TEXT

SECONDS = 30  # how long an answer may take where others use the machine too


class Editor:
    """An editor with one text: what it has been shown, and how it asks."""

    def __init__(self, client: LanguageClient, uri: str) -> None:
        self.client, self.uri, self.version = client, uri, 0
        self.shown: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.text = lsp.TextDocumentIdentifier(uri)

    def open(self, text: str) -> None:
        self.version = 1
        self.client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(self.uri, "yaml", self.version, text))
        )

    def write(self, text: str) -> None:
        self.version += 1
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))

    async def problems(self) -> list[lsp.Diagnostic]:
        """Return what is shown of the newest text."""
        while True:
            shown = await asyncio.wait_for(self.shown.get(), SECONDS)
            if shown.version == self.version:
                return list(shown.diagnostics)


@asynccontextmanager
async def editor(folder: Path) -> AsyncIterator[Editor]:
    client = LanguageClient("test", "1")
    one = Editor(client, (folder / "bids.yaml").as_uri())

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def shown(params: lsp.PublishDiagnosticsParams) -> None:
        one.shown.put_nowait(params)

    await client.start_io(sys.executable, "-m", "runtime", "lsp")
    try:
        await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
        client.initialized(lsp.InitializedParams())
        yield one
    finally:
        await asyncio.wait_for(client.shutdown_async(None), SECONDS)
        client.exit(None)
        await client.stop()  # type: ignore[no-untyped-call]


def spoken(talk: Callable[[Editor], Coroutine[Any, Any, None]], folder: Path) -> None:
    async def all_of_it() -> None:
        async with editor(folder) as one:
            await talk(one)

    asyncio.run(all_of_it())


def at(word: str, text: str = TEXT, nth: int = 1) -> lsp.Position:
    start = -1
    for _ in range(nth):
        start = text.index(word, start + 1)
    return lsp.Position(text.count("\n", 0, start), start - text.rfind("\n", 0, start) - 1)


def test_problems_come_as_one_types_and_go_when_they_are_mended(tmp_path: Path) -> None:
    async def talk(one: Editor) -> None:
        one.open(TEXT)
        assert await one.problems() == []
        for _ in range(5):  # several keys in a row: only the last text is told of
            one.write(TEXT.replace("then: round}", "then: rund}"))
        (problem,) = [each for each in await one.problems() if each.code == "A103"]
        assert problem.message == "unknown state 'rund' (did you mean 'round'?)"
        assert problem.range.start == at("rund", TEXT.replace("then: round}", "then: rund}"))
        one.write("protocol: [")
        assert [each.code for each in await one.problems()] == ["A100"]
        one.write(TEXT)
        assert await one.problems() == []

    spoken(talk, tmp_path)


def test_an_editor_is_answered_all_that_is_offered(tmp_path: Path) -> None:
    async def talk(one: Editor) -> None:
        one.open(TEXT)
        await one.problems()
        client, where = one.client, at("round}")
        offered = await client.text_document_completion_async(lsp.CompletionParams(one.text, where))
        assert isinstance(offered, lsp.CompletionList)
        assert {"door", "begin", "round", "stay"} <= {item.label for item in offered.items}
        hover = await client.text_document_hover_async(lsp.HoverParams(one.text, where))
        assert hover is not None
        assert "state **round** of host.main" in str(hover.contents)
        definition = await client.text_document_definition_async(lsp.DefinitionParams(one.text, where))
        assert isinstance(definition, lsp.Location)
        assert definition.range.start == at("round: {each")
        edit = await client.text_document_rename_async(lsp.RenameParams(one.text, where, "rounds"))
        assert edit is not None
        assert edit.changes is not None
        assert [each.range.start for each in edit.changes[one.uri]] == [where, at("round: {each")]
        with pytest.raises(JsonRpcException, match="there is a state 'door' already"):
            await client.text_document_rename_async(lsp.RenameParams(one.text, where, "door"))

    spoken(talk, tmp_path)


def test_what_was_meant_is_offered_as_a_quick_fix_and_written_by_formatting(tmp_path: Path) -> None:
    wrong = TEXT.replace("if: amount > best,", "if: amount > best && best < 9,")

    async def talk(one: Editor) -> None:
        one.open(wrong)
        (problem,) = [each for each in await one.problems() if each.code == "A254"]
        context = lsp.CodeActionContext([problem])
        actions = await one.client.text_document_code_action_async(
            lsp.CodeActionParams(one.text, problem.range, context)
        )
        assert [action.title for action in actions or ()] == ["Write and instead of &&"]
        edits = await one.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(one.text, lsp.FormattingOptions(2, True))
        )
        assert edits is not None
        assert edits[0].new_text == wrong.replace("&&", "and")

    spoken(talk, tmp_path)


def test_a_quick_fix_of_several_lines_replaces_all_of_them(tmp_path: Path) -> None:
    right = "    let: {best: 1}\n      send: ASK(best)\n      within: reply\n"
    wrong = "    send: ASK(best)\n      within: reply\n      let: {best: 1}\n"
    ordered, text = (TEXT.replace("    send: ASK(best)\n      within: reply\n", one) for one in (right, wrong))

    async def talk(one: Editor) -> None:
        one.open(text)
        problem = next(each for each in await one.problems() if each.code == "A317")
        context = lsp.CodeActionContext([problem])
        (action,) = (
            await one.client.text_document_code_action_async(lsp.CodeActionParams(one.text, problem.range, context))
            or ()
        )
        assert isinstance(action, lsp.CodeAction)
        assert action.title == "Write let: {best: 1}  above  send: ASK(best)"
        assert action.edit is not None
        assert action.edit.changes is not None
        (edit,) = action.edit.changes[one.uri]
        lines = text.splitlines(keepends=True)
        first, last = edit.range.start, edit.range.end
        assert (first.character, last.character) == (0, 0)
        assert "".join((*lines[: first.line], edit.new_text, *lines[last.line :])) == ordered

    spoken(talk, tmp_path)


def test_yaml_that_is_no_spec_is_left_alone(tmp_path: Path) -> None:
    async def talk(one: Editor) -> None:
        one.open("services:\n  web: {image: x}\n")
        assert await one.problems() == []
        one.write("protocol: x\nservices: {}\n")
        assert {"A111", "A113"} <= {str(each.code) for each in await one.problems()}

    spoken(talk, tmp_path)


def test_columns_are_counted_as_editors_do() -> None:
    spec = OpenSpec("title: '😀 é' # x\n", Path("a.yaml"))

    assert position(spec, 1, 10) == lsp.Position(0, 10)  # the first letter outside the first plane takes two
    assert place(spec, lsp.Position(0, 10)) == (1, 10)
    assert place(spec, position(spec, 1, 14)) == (1, 14)


def long_text(turns: int) -> str:
    """Return a spec in which a round is made of so many turns, each a machine of its own."""
    head, turn = TEXT.split("  host.turn(guest, best):\n")
    turn, rest = turn.split("  guest.main:\n")
    round_ = next(line for line in head.splitlines() if line.startswith("    round: "))
    each = "    {}: {{each: guest in guests, fold: best, run: turn{}(guest), then: {}}}"
    rounds = [each.format(f"r{n}" if n else "round", n, f"r{n + 1}") for n in range(turns)]
    rounds.append(f"    r{turns}: {{return: best}}")
    machines = "".join(f"  host.turn{n}(guest, best):\n{turn}" for n in range(turns))
    return f"{head.replace(round_, chr(10).join(rounds))}{machines}  guest.main:\n{rest}"


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("then: round}", "then: round%d}", "A103"),
        ("seats: 2,", "seats: f(%d,", "A257"),
        ("best: $best", "best: '%d $best", "A100"),
    ],
)
def test_a_change_in_a_spec_of_three_hundred_lines_is_answered_within_a_tenth_of_a_second(
    right: str, wrong: str, code: str
) -> None:
    text = long_text(32)
    assert len(text.splitlines()) > 300
    assert OpenSpec(text, Path("changed.yaml")).problems() == ()
    took = []
    for number in range(5):
        changed = text.replace(right, wrong % number, 1)
        begun = time.process_time()
        spec = OpenSpec(changed, Path("changed.yaml"))
        shown = [diagnostic(spec, problem) for problem in spec.problems()]
        took.append(time.process_time() - begun)
        assert code in {each.code for each in shown}

    assert min(took) + QUIET_SECONDS < 0.1, took
