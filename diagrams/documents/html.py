"""A protocol's document as one page of HTML that needs nothing else: drawings inline, no script, no network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final
from xml.etree import ElementTree

from diagrams.documents.model import Document, MessageRow, Party, TypeRow
from diagrams.documents.wire_text import DIALOGUE, said_lines
from diagrams.rendering.labels import visible

SVG: Final = "http://www.w3.org/2000/svg"
XLINK: Final = "http://www.w3.org/1999/xlink"
STYLE: Final = """\
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --quiet: #666; --line: #c9d2de; --band: #e3e9f2; }
body { font: 16px/1.5 "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 1250px; margin: 2em auto; padding: 0 1em; overflow-wrap: break-word; }
nav > ul { columns: 3 16em; font-size: .85em; }
figure { margin: 1em 0; overflow-x: auto; border: 1px solid var(--band); padding: .5em; }
figcaption { color: var(--quiet); font-size: .85em; }
svg { height: auto; max-width: none; background: #fff; }
table { border-collapse: collapse; font-size: .85em; display: block; overflow-x: auto; }
td, th { border: 1px solid var(--line); padding: .25em .5em; vertical-align: top; text-align: left; min-width: 4em; }
th { background: var(--band); }
code { font-family: "DejaVu Sans Mono", Consolas, monospace; overflow-wrap: anywhere; }
pre { font: .85em/1.4 "DejaVu Sans Mono", Consolas, monospace; overflow-x: auto; border: 1px solid var(--band);
  padding: .5em; }
bdi { unicode-bidi: isolate; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dde3ea; --paper: #16191d; --quiet: #a3adb8; --line: #4a545f; --band: #2a3038; }
  a { color: #8ab8e6; }
  a:visited { color: #c3a6e0; }
}
@media print {
  :root { --ink: #222; --paper: #fff; --quiet: #666; --line: #c9d2de; --band: #e3e9f2; }
  body { font-size: 10pt; margin: 0; max-width: none; }
  h2, h3, h4, p:has(+ figure) { break-after: avoid; }
  h4:has(+ figure) + figure { break-before: avoid; }
  figure { border: 0; overflow: visible; break-inside: avoid; }
  svg { max-width: 100%; max-height: 20cm; }
  table { display: table; }
  tr { break-inside: avoid; }
}
"""
# Whatever slipped through could load nothing and run nothing.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page(document: Document, pictures: Mapping[str, bytes]) -> str:
    """Return the document as a page; ``pictures`` has the SVG of every drawing by its stem.

    Raises:
        KeyError: a picture is missing.
        xml.etree.ElementTree.ParseError: a picture is not XML.
    """
    return "\n".join(_lines(document, pictures)) + "\n"


def without_pictures(html: str) -> str:
    """Return a page without what depends on Graphviz's version: to compare two of them."""
    return re.sub(r"<svg\b[^>]*/>|<svg\b.*?</svg>", "<svg/>", html, flags=re.DOTALL)


def inline(svg: bytes, stem: str, stems: frozenset[str], label: str = "") -> str:
    """Return a picture for the inside of a page: its links lead to other pictures there, its ids are its own.

    Who cannot see it is read its ``label``.

    Links to what is not there are taken out, and so are ids that Graphviz gave by number.
    """
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(svg)
    if label:
        root.attrib.update({"role": "img", "aria-label": visible(label)})
    known = set()
    for node in root.iter():
        name = node.get("id")
        if name is not None and not name.startswith(f"{stem}-"):
            del node.attrib["id"]
        elif name is not None:
            known.add(name)
    for node in root.iter(f"{{{SVG}}}a"):
        target = node.attrib.pop(f"{{{XLINK}}}href", None)
        if target is not None and target.removesuffix(".svg") in stems:
            node.set(f"{{{XLINK}}}href", f"#{target.removesuffix('.svg')}")
        elif target is not None and target.removeprefix("#") in known:
            node.set(f"{{{XLINK}}}href", target)
    return ElementTree.tostring(root, encoding="unicode")


def _text(words: str) -> str:
    return f"<bdi>{escape(visible(words))}</bdi>"


def _code(words: str) -> str:
    return f"<code>{_text(words)}</code>" if words else ""


def _named(name: str, doc: str) -> str:
    return _code(name) + (f"<br>{_text(doc)}" if doc else "")


def _paragraphs(doc: str) -> Iterator[str]:
    """Yield what a spec says in words, a paragraph for each that an empty line parts from the next."""
    yield from (f"<p>{_text(paragraph.strip())}</p>" for paragraph in doc.split("\n\n") if paragraph.strip())


def _lines(document: Document, pictures: Mapping[str, bytes]) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>{escape(visible(document.protocol))}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"
    yield f"<h1>{_text(document.title)}</h1>"
    yield f"<p>The protocol {_code(document.protocol)}, written from {_code(document.file)}: it says what runs.</p>"
    yield from _paragraphs(document.doc)
    yield f"<p>On the wire: {_text(document.framing)}. {_text(document.early)}</p>"
    yield "<ul>"
    roles = [(party.name, party.does) for party in document.parties]
    yield from (f"<li>{_code(name)} {_text(does)}.</li>" for name, does in (*roles, *document.foreign))
    yield "</ul>\n<nav><ul>"
    for party in document.parties:
        yield f'<li><a href="#{party.overview.stem}">{_text(party.name)}</a><ul>'
        for phase in party.phases:
            yield f'<li><a href="#{phase.sequence.stem}">{_text(phase.title)}</a></li>'
        yield "</ul></li>"
    tables = ["messages", "fields", "types", "waits", "limits", "settings"]
    for name in [*tables, "dialogue"] if document.dialogues else tables:
        yield f'<li><a href="#{name}">{name.capitalize()}</a></li>'
    yield "</ul></nav>\n<h2>Phases</h2>"
    stems = frozenset(pictures)
    for party in document.parties:
        yield from _party(party, pictures, stems)
    yield from _tables(document)
    if document.dialogues:
        yield f'<h2 id="dialogue">Dialogue</h2>\n<p>{DIALOGUE}</p>'
    for one in document.dialogues:
        yield f"<p>{_code(one.caller)} with {_code(one.listener)}:</p>"
        yield f"<pre>{escape(chr(10).join(said_lines(one)))}</pre>"
    yield "</body>\n</html>"


def _party(party: Party, pictures: Mapping[str, bytes], stems: frozenset[str]) -> Iterator[str]:
    def figure(stem: str, caption: str, of: str = "") -> Iterator[str]:
        picture = inline(pictures[stem], stem, stems, f"{party.name}{of and ': '}{of}. {caption}")
        yield f'<figure id="{stem}">\n{picture}\n<figcaption>{caption}</figcaption>\n</figure>'

    yield f"<h3>{_text(party.name)}</h3>"
    yield from _paragraphs(party.doc)
    yield from figure(party.overview.stem, "All machines of the role")
    for phase in party.phases:
        yield f"<h4>{_text(party.name)}: {_text(phase.title)}</h4>"
        if phase.run_by:
            yield f"<p>Run by {', '.join(map(_code, phase.run_by))}.</p>"
        yield from _paragraphs(phase.doc)
        if phase.states_docs:
            said = (f"<li>{_code(state)}: {_text(doc)}</li>" for state, doc in phase.states_docs)
            yield f"<ul>{''.join(said)}</ul>"
        yield from figure(phase.sequence.stem, "What is said, and the cases", phase.title)
        yield from figure(phase.states.stem, "The states", phase.title)


def _tables(document: Document) -> Iterator[str]:
    yield '<h2 id="messages">Messages</h2>'
    yield from _table(
        ("message", "from", "to", "on the wire", "an example", "sent", "heard"),
        (
            (
                _named(row.name, row.doc) + (" urgent: heard before what came first" if row.urgent else ""),
                ", ".join(map(_code, row.senders)),
                ", ".join(map(_code, row.receivers)),
                "<br>".join(_bodies(row)),
                "<br>".join(map(_code, row.examples)),
                "<br>".join(map(_text, row.sent)),
                "<br>".join(map(_text, row.heard)),
            )
            for row in document.messages
        ),
    )
    yield '<h2 id="fields">Fields</h2>'
    fields = ((row, field) for row in document.messages for field in row.fields)
    yield from _table(
        ("message", "field", "takes", "if it is missing"),
        ((_code(row.name), _code(field.name), _code(field.takes), _code(field.default or "")) for row, field in fields),
    )
    yield '<h2 id="types">Types</h2>'
    yield from _table(
        ("type", "takes", "an example", "used by"),
        map(_type, document.types),
    )
    yield '<h2 id="waits">Waits</h2>\n<p>What is late, wrong or gone, and what that leads to.</p>'
    yield from _table(
        ("role, machine, state", "awaits", "within", "late", "wrong", "gone"),
        (
            (_text(row.where), *map(_code, (row.awaits, row.within, row.late, row.wrong, row.gone)))
            for row in document.waits
        ),
    )
    yield '<h2 id="limits">Limits</h2>\n<p>What is malformed counts as wrong in the table above.</p>'
    yield from _table(
        ("limit", "value", "of", "past it"),
        ((_code(row.name), _code(row.value), row.means, row.broken) for row in document.limits),
    )
    yield '<h2 id="settings">Settings</h2>'
    yield from _table(
        ("setting", "value", "kind", "used"),
        (
            (_named(row.name, row.doc), _code(row.value), row.kind, "<br>".join(map(_text, row.used)))
            for row in document.settings
        ),
    )


def _type(row: TypeRow) -> tuple[str, ...]:
    examples = "<br>".join(map(_code, row.examples))
    return _named(row.name, row.doc), _code(row.takes), examples, ", ".join(map(_code, row.used))


def _bodies(row: MessageRow) -> Iterator[str]:
    yield _code(row.body)
    yield from (f"also read: {_code(body)}" for body in row.also)
    if row.parts:
        yield f"in parts: {_code(row.parts)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "<table>\n<thead><tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr></thead>\n<tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
    yield "</tbody>\n</table>"
