"""The language server: what an editor sends and asks, and the answers, by pygls.

    editor ── didChange ──▶ texts ── after a moment ──▶ problems, in a thread ──▶ publishDiagnostics
           ── completion, hover, definition, rename, formatting ──▶ answered from the newest text

A spec is checked in a thread, one check of it at a time: what comes meanwhile is checked next, and only the newest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from machines.parser.mending import usable
from machines.problems import Place, Problem
from runtime.editor.completing import Candidate, candidates
from runtime.editor.hovering import shown_at
from runtime.editor.open_spec import OpenSpec, formatted
from runtime.editor.renaming import RenameError, renamable, renamed

QUIET_SECONDS: Final = 0.01  # without a further key, before a text is checked
OPEN_MAX: Final = 64  # texts that are checked; further ones are answered, and not checked
PROBLEMS_MAX: Final = 200  # that are shown of one text
MANUAL: Final = "accord explain "

_SORTS: Final = {
    "key": lsp.CompletionItemKind.Property,
    "state": lsp.CompletionItemKind.EnumMember,
    "machine": lsp.CompletionItemKind.Function,
    "message": lsp.CompletionItemKind.Event,
    "type": lsp.CompletionItemKind.Class,
    "setting": lsp.CompletionItemKind.Constant,
    "role": lsp.CompletionItemKind.Interface,
    "rule": lsp.CompletionItemKind.Module,
    "function": lsp.CompletionItemKind.Function,
    "value": lsp.CompletionItemKind.Variable,
}
_T = TypeVar("_T")


class SpecServer(LanguageServer):
    """A server of specs. ``rules`` are further modules that they may name.

    ``seen`` has the newest of each open text, ``_readable`` the last one that was YAML: its names are offered while
    the text is none.
    """

    def __init__(self, rules: tuple[str, ...] = ()) -> None:
        super().__init__("accord", "1")
        self.rules = rules
        self.seen: dict[str, OpenSpec] = {}
        self.problems: dict[str, tuple[Problem, ...]] = {}
        self._readable: dict[str, OpenSpec] = {}
        self._checks: dict[str, asyncio.Task[None]] = {}

    def spec(self, uri: str) -> OpenSpec:
        """Return the newest text of a file."""
        document = self.workspace.get_text_document(uri)
        known = self.seen.get(uri)
        if known is None or known.text != document.source:
            known = OpenSpec(document.source, _path(uri), self.rules)
            if uri in self.seen or len(self.seen) < OPEN_MAX:
                self.seen[uri] = known
        if known.tree is not None:
            self._readable[uri] = known
        return known

    def known(self, uri: str) -> OpenSpec | None:
        """Return the last text of a file that was YAML."""
        return self._readable.get(uri)

    def changed(self, uri: str) -> None:
        """Have a text checked soon; a check that is under way is of an older one, and is followed by another."""
        under_way = self._checks.get(uri)
        if under_way is None and len(self._checks) >= OPEN_MAX:
            return
        if under_way is None or under_way.done():
            self._checks[uri] = asyncio.get_running_loop().create_task(self._check(uri))

    async def _check(self, uri: str) -> None:
        checked: str | None = None
        while uri in self.workspace.text_documents and checked != self.workspace.get_text_document(uri).source:
            document = self.workspace.get_text_document(uri)
            text = document.source
            await asyncio.sleep(QUIET_SECONDS)
            if text != document.source:
                continue  # somebody is writing
            spec = self.spec(uri)
            problems = await asyncio.to_thread(spec.problems)
            checked = spec.text
            if uri in self.workspace.text_documents:
                self.problems[uri] = problems
                self._publish(uri, spec, problems, document.version)

    def _publish(self, uri: str, spec: OpenSpec, problems: tuple[Problem, ...], version: int | None) -> None:
        shown = [diagnostic(spec, problem) for problem in problems[:PROBLEMS_MAX]]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, version))

    def closed(self, uri: str) -> None:
        """Forget a text."""
        for known in (self.seen, self.problems, self._readable):
            known.pop(uri, None)
        task = self._checks.pop(uri, None)
        if task is not None:
            task.cancel()
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def _path(uri: str) -> Path:
    return Path(uris.to_fs_path(uri) or "spec.yaml")


# -- places: an editor counts from 0, in UTF-16 ------------------------------------------------------------------------


def position(spec: OpenSpec, line: int, column: int) -> lsp.Position:
    """Return where an editor has the place with ``line`` and ``column`` from 1."""
    text = spec.lines[line - 1] if 1 <= line <= len(spec.lines) else ""
    return lsp.Position(max(line - 1, 0), len(text[: column - 1].encode("utf-16-le")) // 2)


def place(spec: OpenSpec, at: lsp.Position) -> tuple[int, int]:
    """Return the line and the column, from 1, of an editor's position."""
    text = spec.lines[at.line] if at.line < len(spec.lines) else ""
    before = text.encode("utf-16-le")[: at.character * 2].decode("utf-16-le", "ignore")
    return at.line + 1, len(before) + 1


def span(spec: OpenSpec, where: Place, length: int) -> lsp.Range:
    """Return the range of so many letters from a place on."""
    start = position(spec, where.line, where.column)
    return lsp.Range(start, position(spec, where.line, where.column + length))


def whole(spec: OpenSpec) -> lsp.Range:
    """Return the range of the whole text."""
    return lsp.Range(lsp.Position(0, 0), position(spec, len(spec.lines), len(spec.lines[-1]) + 1))


def diagnostic(spec: OpenSpec, problem: Problem) -> lsp.Diagnostic:
    """Return a problem as an editor shows it; one in another file stands in the first line, with its place."""
    said = problem.text + (f" ({problem.hint})" if problem.hint else "")
    if problem.place.file != spec.file:
        first = lsp.Range(lsp.Position(0, 0), position(spec, 1, len(spec.lines[0]) + 1))
        return lsp.Diagnostic(
            first, f"{problem.place}: {said}", lsp.DiagnosticSeverity.Error, problem.code, source="accord"
        )
    line = spec.lines[problem.place.line - 1] if problem.place.line <= len(spec.lines) else ""
    rest = line[problem.place.column - 1 :]
    name = spec.at(problem.place.line, problem.place.column)
    length = len(name.name) if name is not None and name.place == problem.place else len(rest.split(" #")[0].rstrip())
    where = span(spec, problem.place, max(length, 1))
    return lsp.Diagnostic(where, said, lsp.DiagnosticSeverity.Error, problem.code, source="accord")


# -- answers -----------------------------------------------------------------------------------------------------------


def make_server(rules: tuple[str, ...] = ()) -> SpecServer:
    """Return a server that answers all that it offers; it is not started yet."""
    server = SpecServer(rules)
    for add in (_texts, _looking, _changing):
        add(server)
    return server


def _texts(server: SpecServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        for uri in list(server.seen):  # those that extend it have it below them
            server.seen.pop(uri)
            server.changed(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)


def _looking(server: SpecServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", " "]))
    def complete(params: lsp.CompletionParams) -> lsp.CompletionList:
        uri = params.text_document.uri
        spec = server.spec(uri)
        found = candidates(spec, *place(spec, params.position), server.known(uri))
        return lsp.CompletionList(False, [_item(one, index) for index, one in enumerate(found)])

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        spec = server.spec(uri)
        text = shown_at(spec, *place(spec, params.position), server.problems.get(uri, ()))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def define(params: lsp.DefinitionParams) -> lsp.Location | None:
        spec = server.spec(params.text_document.uri)
        name = spec.at(*place(spec, params.position))
        found = spec.declaration(name) if name is not None else None
        if found is None:
            return None
        where, declared = found
        uri = params.text_document.uri if where is spec else uris.from_fs_path(str(where.path.resolve()))
        return lsp.Location(uri or "", span(where, declared.place, len(declared.name)))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def refer(params: lsp.ReferenceParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        spec = server.spec(uri)
        name = spec.at(*place(spec, params.position))
        found = spec.used(name) if name is not None else []
        return [lsp.Location(uri, span(spec, one.place, len(one.name))) for one in found]


def _item(one: Candidate, index: int) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        one.label,
        kind=_SORTS[one.sort],
        detail=one.detail or None,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, one.doc) if one.doc else None,
        insert_text=one.insert or None,
        sort_text=f"{index:05}",
    )


def _changing(server: SpecServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: lsp.PrepareRenameParams) -> lsp.Range:
        spec = server.spec(params.text_document.uri)
        name = _or_told(lambda: renamable(spec, *place(spec, params.position)))
        return span(spec, name.place, len(name.name))

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        uri = params.text_document.uri
        spec = server.spec(uri)
        at = place(spec, params.position)
        places = _or_told(lambda: renamed(spec, *at, params.new_name))
        length = len(renamable(spec, *at).name)
        return lsp.WorkspaceEdit({uri: [lsp.TextEdit(span(spec, one, length), params.new_name) for one in places]})

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def reformat(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        spec = server.spec(params.text_document.uri)
        text = formatted(spec)
        return [lsp.TextEdit(whole(spec), text)] if text != spec.text else []

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    def act(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        spec = server.spec(uri)
        lines = range(params.range.start.line + 1, params.range.end.line + 2)
        here = (one for one in server.problems.get(uri, ()) if one.place.file == spec.file and one.place.line in lines)
        return [action for one in here if (action := _mend(spec, uri, one)) is not None]


def _mend(spec: OpenSpec, uri: str, problem: Problem) -> lsp.CodeAction | None:
    found = usable(spec.text, problem)
    if found is None:
        return None
    _, mend = found
    start, *further = mend.old.split("\n")
    end = position(spec, mend.place.line, mend.place.column + len(start))
    if further:
        end = position(spec, mend.place.line + len(further), 1 + len(further[-1]))
    edit = lsp.TextEdit(lsp.Range(position(spec, mend.place.line, mend.place.column), end), mend.new)
    title = f"Write {mend.shown or f'{mend.new.strip()} instead of {mend.old.strip()}'}"
    return lsp.CodeAction(
        title, lsp.CodeActionKind.QuickFix, [diagnostic(spec, problem)], edit=lsp.WorkspaceEdit({uri: [edit]})
    )


def _or_told(ask: Callable[[], _T]) -> _T:
    try:
        return ask()
    except RenameError as error:
        raise JsonRpcInvalidParams(str(error)) from None
