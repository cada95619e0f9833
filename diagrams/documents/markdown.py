"""A protocol's document as Markdown with tables (GitHub's). Nothing in a spec can become markup of it.

Texts of a spec stand in code spans or, where a span cannot hold them, as entities, which Markdown never reads as
markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from diagrams.documents.model import Document, MessageRow, Party
from diagrams.documents.wire_text import DIALOGUE, said_lines
from diagrams.rendering.labels import shorten, visible

CELL_CHARACTERS_MAX = 400  # of one text in a table; the JSON Schema and the spec have it whole
# What is markup anywhere in a line; an underscore within a word is none, nor a colon that begins no address.
_SPECIAL = re.compile(
    r"[\\`*\[\]<>|&~$@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\.|^[#+=-]|(?<=^[0-9])[.)]"
)


def markdown(document: Document) -> str:
    """Return the document as Markdown; it refers to the drawings as ``STEM.svg`` beside it."""
    return "\n".join(_lines(document)) + "\n"


def text(words: str) -> str:
    """Return a text that Markdown shows as it is."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", visible(shorten(words, CELL_CHARACTERS_MAX)))


def code(words: str) -> str:
    """Return a text as a code span that may stand in a table; one that holds what would end it, as entities."""
    shown = visible(shorten(words, CELL_CHARACTERS_MAX))
    if not shown.strip():
        return ""
    if re.search(r"[|`]|\\$|^ | $|  ", shown):
        return f"<code>{text(words)}</code>"
    return f"`{shown}`"


def fenced(block: str, language: str = "text") -> Iterator[str]:
    """Yield the lines of a block of text as they stand, behind a fence that it cannot close."""
    longest = max((len(run) for run in re.findall(r"`+", block)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield block.rstrip("\n")
    yield fence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; cells are Markdown without line ends."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell or ' ' for cell in row)} |"


def _lines(document: Document) -> Iterator[str]:
    yield f"# {text(document.title)}"
    yield ""
    source = f"{code(document.protocol)}, written from {code(document.file)} by `accord docs`"
    yield f"The protocol {source}: it says what runs."
    yield ""
    yield from _paragraphs(document.doc)
    yield f"On the wire: {document.framing}. {document.early}"
    yield ""
    for party in document.parties:
        yield f"- {code(party.name)} {text(party.does)}."
    yield from (f"- {code(name)} {text(does)}." for name, does in document.foreign)
    yield ""
    parts = ["phases", "messages", "fields", "types", "waits", "limits", "settings"]
    parts += ["dialogue"] if document.dialogues else []
    yield " · ".join(f"[{part.capitalize()}](#{part})" for part in parts)
    yield ""
    yield "## Phases"
    for party in document.parties:
        yield ""
        yield from _party(party)
    yield from _tables(document)
    yield from _dialogues(document)


def _tables(document: Document) -> Iterator[str]:
    yield ""
    yield "## Messages"
    yield ""
    yield from message_table(document)
    yield ""
    yield "## Fields"
    yield ""
    yield from field_table(document)
    yield ""
    yield "## Types"
    yield ""
    yield from type_table(document)
    yield ""
    yield "## Waits"
    yield ""
    yield "What is late, wrong or gone, and what that leads to."
    yield ""
    yield from wait_table(document)
    yield ""
    yield "## Limits"
    yield ""
    yield "Of one peer, except where it says otherwise. What is malformed counts as wrong in the table above."
    yield ""
    rows = ((code(row.name), code(row.value), row.means, row.broken) for row in document.limits)
    yield from table(("limit", "value", "of", "past it"), rows)
    yield ""
    yield "## Settings"
    yield ""
    yield from setting_table(document)


def _dialogues(document: Document) -> Iterator[str]:
    if document.dialogues:
        yield ""
        yield "## Dialogue"
        yield ""
        yield f"{DIALOGUE} To test a parser against: the same, in hexadecimal, with `accord docs --format wire`."
    for one in document.dialogues:
        yield ""
        yield f"{code(one.caller)} with {code(one.listener)}:"
        yield ""
        yield from fenced("\n".join(said_lines(one)))


def _paragraphs(doc: str) -> Iterator[str]:
    """Yield what a spec says in words: an empty line parts paragraphs, and a line its own lines."""
    for paragraph in filter(None, map(str.strip, doc.split("\n\n"))):
        yield " ".join(text(line.strip()) for line in paragraph.split("\n"))
        yield ""


def _named(name: str, doc: str) -> str:
    return code(name) + (f"<br>{text(' '.join(doc.split()))}" if doc else "")


def _party(party: Party) -> Iterator[str]:
    yield f"### {text(party.name)}"
    yield ""
    yield from _paragraphs(party.doc)
    yield f"![overview]({party.overview.stem}.svg)"
    for phase in party.phases:
        yield ""
        yield f"#### {text(party.name)}: {text(phase.title)}"
        yield ""
        if phase.run_by:
            yield f"Run by {', '.join(map(code, phase.run_by))}."
            yield ""
        yield from _paragraphs(phase.doc)
        if phase.states_docs:
            yield from (f"- {code(state)}: {text(' '.join(doc.split()))}" for state, doc in phase.states_docs)
            yield ""
        yield from fenced(phase.sequence.text("txt") or "")
        yield ""
        yield f"![sequence]({phase.sequence.stem}.svg)"
        yield ""
        yield f"![states]({phase.states.stem}.svg)"


def message_table(document: Document) -> Iterator[str]:
    """Yield the lines of the table of messages."""
    yield from table(
        ("message", "from", "to", "on the wire", "an example", "sent", "heard"), map(_message, document.messages)
    )


def _message(row: MessageRow) -> tuple[str, ...]:
    bodies = [code(row.body), *(f"also read: {code(body)}" for body in row.also)]
    bodies += [f"in parts: {code(row.parts)}"] if row.parts else []
    name = _named(row.name, row.doc) + (", urgent: heard before what came first" if row.urgent else "")
    cells = (name, ", ".join(map(code, row.senders)), ", ".join(map(code, row.receivers)), "<br>".join(bodies))
    return (
        *cells,
        "<br>".join(map(code, row.examples)),
        "<br>".join(map(text, row.sent)),
        "<br>".join(map(text, row.heard)),
    )


def field_table(document: Document) -> Iterator[str]:
    """Yield the lines of the table of the messages' fields."""
    rows = (
        (code(row.name), code(field.name), code(field.takes), code(field.default or ""))
        for row in document.messages
        for field in row.fields
    )
    yield from table(("message", "field", "takes", "if it is missing"), rows)


def type_table(document: Document) -> Iterator[str]:
    """Yield the lines of the table of types."""
    rows = (
        (
            _named(row.name, row.doc),
            code(row.takes),
            "<br>".join(map(code, row.examples)),
            ", ".join(map(code, row.used)),
        )
        for row in document.types
    )
    yield from table(("type", "takes", "an example", "used by"), rows)


def wait_table(document: Document) -> Iterator[str]:
    """Yield the lines of the table of waits."""
    rows = (
        (text(row.where), code(row.awaits), code(row.within), code(row.late), code(row.wrong), code(row.gone))
        for row in document.waits
    )
    yield from table(("role, machine, state", "awaits", "within", "late", "wrong", "gone"), rows)


def setting_table(document: Document) -> Iterator[str]:
    """Yield the lines of the table of settings."""
    rows = (
        (_named(row.name, row.doc), code(row.value), row.kind, "<br>".join(map(text, row.used)))
        for row in document.settings
    )
    yield from table(("setting", "value", "kind", "used"), rows)
